// The keyboard, and the help that names its keys.
import { around, h } from "../dom.js";
import { ACTIONS, keyText } from "./actions.js";
import { openDialog } from "./menu.js";
import { showView } from "./view-file.js";

/** @param {KeyboardEvent} event */
function chord(event) {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const shift = event.shiftKey && (event.ctrlKey || event.metaKey || /^[a-z]$/.test(key) || event.key.length > 1);
  return `${event.ctrlKey || event.metaKey ? "Ctrl+" : ""}${shift ? "Shift+" : ""}${key}`;
}

/** Starts to listen to the keyboard. */
export function followKeys() {
  addEventListener("keydown", (event) => {
    if (event.altKey || event.defaultPrevented) return;
    const target = event.target;
    const typing = target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
    if (typing && event.key !== "F6" && !(event.ctrlKey && event.shiftKey)) {
      if (event.key === "Escape" && !event.isComposing) target.blur();
      return;
    }
    if (document.querySelector("dialog[open]")) return;
    const name = chord(event);
    const onButton = around(event, "button, a, summary, [role=tab], [role=row].table-row, [role=treeitem]");
    if (onButton && (name === "Enter" || name.startsWith("Arrow"))) return;
    if (/^[1-9]$/.test(name)) showView(Number(name) - 1);
    else {
      const action = ACTIONS.find(({ keys }) => keys.includes(name));
      if (!action) return;
      action.run();
    }
    event.preventDefault();
  });
}

/** What is no action: pointer, lanes, and signs of the tables. @type {Record<string, Record<string, string>>} */
const OTHERS = {
  Pointer: {
    Drag: "select a range", "Ctrl + wheel, pinch": "zoom at the pointer", "Shift + drag, middle button": "pan", Wheel: "scroll the lanes",
    Click: "choose the span: its stack, and who ended it", "Double click": "select the span", "Click a lane’s head": "panels are about this process or thread",
  },
  "In the lanes": { "↑ ↓": "next lane", "→ ←": "open, close; else next and previous span", Space: "panels are about this lane", "Shift F10": "actions of the lane", "1 … 9": "views" },
  Signs: {
    "name +-": "a process that started (+) and ended (-) during the recording", "top = 4 CPUs": "what the full height of the lane means",
    sampled: "CPU by samples; other lanes by context switches", "1 ms buckets": "figures of the archive’s tables, as exact as its rows", "(union)": "times that overlap count once",
  },
};

/** @param {string} title */
function others(title) {
  const sign = title === "Signs" ? "span" : "kbd";
  return h("section", h("h3", title), h("dl", Object.entries(OTHERS[title] ?? {}).map(([key, what]) => [h("dt", h(sign, key)), h("dd", what)])));
}

export function help() {
  const groups = [...new Set(ACTIONS.map(({ group }) => group))];
  openDialog("Keys", (close) => [
    h("h2", "Keys and pointer"),
    h("div.keys-list", { tabindex: 0, role: "region", "aria-label": "Keys" }, others("Pointer"),
      groups.map((group) => h("section", h("h3", group), h("dl", ACTIONS.filter((one) => one.group === group && one.keys.length > 0).map(({ keys, name }) => [h("dt", keys.map((key) => h("kbd", keyText(key)))), h("dd", name)])))),
      others("In the lanes"), others("Signs")),
    h("button", { onclick: close }, "Close"),
  ], "large");
}
