// Everything that can be done, with its keys: the keyboard, the list of commands and the help have one source.
import { CLOCKS, CLOCK_NAMES, rangeWord } from "../format/time.js";
import { timeWidth } from "../lanes/geometry.js";
import { askable } from "../panels/questions.js";
import * as url from "../state/url.js";
import { views } from "../state/saved.js";
import * as view from "../state/view.js";
import { copy, openDialog, toast } from "./menu.js";
import { h } from "../dom/h.js";
import { zeroAtMark } from "../state/landmark.js";
import { stepOccurrence } from "./density.js";
import { back, followWaker, leave, stepSpan } from "./spans.js";
import { dropPath, showPathHere } from "./path.js";
import { zeroDialog } from "./zero.js";

/** @param {number} factor */
function zoomBy(factor) {
  const at = view.pointer.peek();
  const [from, to] = view.range.peek();
  const selection = view.selection.peek();
  const middle = selection && selection[1] > from && selection[0] < to ? (selection[0] + selection[1]) / 2 : (from + to) / 2;
  view.zoom(factor, at ?? middle);
}

function zoomToSelection() {
  if (view.selection.peek()) view.look(/** @type {TimeRange} */ (view.selection.peek()));
  else if (!followWaker()) toast("Nothing is selected: drag over the lanes first");
}

let fitted = false;
function fit() {
  const selection = view.selection.peek() ?? spanRange();
  const [from, to] = view.range.peek();
  const middle = selection ? (selection[0] + selection[1]) / 2 : null;
  const centred = middle !== null && Math.abs((from + to) / 2 - middle) < (to - from) / timeWidth.peek();
  if (selection && middle !== null && !centred) {
    view.look([middle - (to - from) / 2, middle + (to - from) / 2]);
    fitted = false;
  } else if (selection && !fitted) {
    const margin = (selection[1] - selection[0]) * 0.1;
    view.look([selection[0] - margin, selection[1] + margin]);
    fitted = true;
  } else {
    view.look(view.whole());
    fitted = false;
  }
}

/** @returns {TimeRange | null} */
function spanRange() {
  const span = view.chosen.peek()?.at.span;
  return span ? [span.start_ns, span.end_ns] : null;
}

/** @param {1 | -1} way */
function stepMark(way) {
  const [from, to] = view.range.peek();
  const now = view.pointer.peek() ?? (from + to) / 2;
  const all = view.marks.peek();
  const next = way > 0 ? all.find(({ ns }) => ns > now + 1) : [...all].reverse().find(({ ns }) => ns < now - 1);
  if (!next) return;
  view.look([next.ns - (to - from) / 2, next.ns + (to - from) / 2]);
  view.pointer.value = next.ns;
  view.said.value = `mark ${next.name}`;
}

function setMark() {
  const [from, to] = view.range.peek();
  const ns = view.pointer.peek() ?? view.selection.peek()?.[0] ?? Math.round((from + to) / 2);
  view.ownMarks.value = [...view.ownMarks.peek(), { ns, name: `mark ${view.ownMarks.peek().length + 1}` }];
}

function nextClock() {
  const at = CLOCKS.findIndex((clock) => clock === view.clock.peek());
  view.clock.value = CLOCKS[(at + 1) % CLOCKS.length] ?? "s";
  view.said.value = CLOCK_NAMES[view.clock.peek()] ?? "";
}

function escape() {
  if (view.chosen.peek()) leave();
  else if (view.selection.peek()) view.selection.value = null;
  else if (view.thread.peek()) view.thread.value = null;
  else view.processes.value = null;
}

/** Views that are shown by 1…9. */
export function currentViews() {
  return views(view.session.peek(), view.recording.peek());
}

/** @param {string} text */
export function applyText(text) {
  const { unknown } = url.apply(url.readText(text));
  if (unknown.length > 0) toast(`Not understood: ${[...new Set(unknown)].join(", ")}`);
}

/** @param {number} index */
function showView(index) {
  const one = currentViews()[index];
  if (!one) return;
  const range = view.range.peek();
  applyText(one.text);
  if (!/^time /m.test(one.text)) view.range.value = range;
  toast(`View: ${one.name}`);
}

function saveView() {
  const blob = new Blob([url.toText(view.recording.peek()?.name ?? "view")], { type: "text/plain" });
  const link = h("a", { download: "tracesift-view.txt" });
  link.href = URL.createObjectURL(blob);
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function openView() {
  const input = /** @type {HTMLInputElement} */ (h("input", { type: "file", accept: ".txt,text/plain" }));
  input.addEventListener("change", async () => {
    const file = input.files?.[0];
    if (file && file.size <= 1 << 20) applyText(await file.text());
  });
  input.click();
}

function showText() {
  openDialog("This view as text", (close) => {
    const area = h("textarea.wide", { rows: 14, "aria-label": "View as text", spellcheck: "false" }, url.toText());
    return [h("h2", "This view as text"), h("p", "Change it, or keep it in a file for `tracesift view --view FILE`."), area,
      h("div.buttons",
        h("button.primary", { onclick: () => (applyText(area.value), close()) }, "Show"),
        h("button", { onclick: () => void copy(area.value, "view") }, "Copy"),
        h("button", { onclick: saveView }, "Save as file"),
        h("button", { onclick: close }, "Close"))];
  });
}

function pinCurrent() {
  const lane = view.lane.peek();
  if (lane) view.togglePin(lane);
}

/** Places of the page that the keyboard goes to, one after the other. */
const PARTS = ["#search", ".lanes.main [role=row][tabindex='0']", "[role=tab][aria-selected=true]", ".panel-body [tabindex='0']", ".detail button"];

/** @param {1 | -1} way */
function nextPart(way) {
  const all = PARTS.map((part) => document.querySelector(part)).filter((one) => one instanceof HTMLElement && one.offsetParent !== null);
  const now = document.activeElement;
  const homes = [".search", ".lane-area", ".tabs", ".panel-body", ".detail"];
  const at = all.findIndex((one) => homes.some((home) => one?.closest(home) && now?.closest(home)));
  const next = all[at < 0 ? 1 : (at + way + all.length) % all.length];
  if (next instanceof HTMLElement) next.focus();
}

const focusSearch = () => document.getElementById("search")?.focus();

/** @type {Action[]} */
export const ACTIONS = [
  { group: "Time", name: "Zoom in", keys: ["w", "ArrowUp"], run: () => zoomBy(0.7) },
  { group: "Time", name: "Zoom out", keys: ["s", "ArrowDown"], run: () => zoomBy(1 / 0.7) },
  { group: "Time", name: "Pan left", keys: ["a", "ArrowLeft"], run: () => view.pan(-0.15) },
  { group: "Time", name: "Pan right", keys: ["d", "ArrowRight"], run: () => view.pan(0.15) },
  { group: "Time", name: "Zoom to the selection, or follow the chain to who ended the wait", keys: ["Enter"], run: zoomToSelection },
  { group: "Time", name: "Centre; again: fit", keys: ["f"], run: fit },
  { group: "Time", name: "Undo zoom or filter", keys: ["z", "Ctrl+z"], run: view.undo },
  { group: "Time", name: "Redo zoom or filter", keys: ["Shift+z", "Ctrl+Shift+z"], run: view.redo },
  { group: "Time", name: "Whole recording", keys: ["0"], run: () => view.look(view.whole()) },
  { group: "Time", name: "Next time format", keys: ["t"], run: nextClock },
  { group: "Spans and marks", name: "Next span of the lane", keys: ["."], run: () => stepSpan(1) },
  { group: "Spans and marks", name: "Previous span of the lane", keys: [","], run: () => stepSpan(-1) },
  { group: "Spans and marks", name: "Select the span", keys: ["r"], run: () => { const span = spanRange(); if (span) view.selection.value = span; } },
  { group: "Spans and marks", name: "Next mark", keys: ["]"], run: () => stepMark(1) },
  { group: "Spans and marks", name: "Previous mark", keys: ["["], run: () => stepMark(-1) },
  { group: "Spans and marks", name: "Set a mark", keys: ["m"], run: setMark },
  { group: "Spans and marks", name: "Time zero at the pointer or selection", keys: ["Shift+m"], run: () => { const ns = view.pointer.peek() ?? view.selection.peek()?.[0]; if (ns !== undefined && ns !== null) view.zero.value = { name: "reader", ns, landmark: null }; } },
  { group: "Spans and marks", name: "Time zero at the start of the recording", keys: [], run: () => (view.zero.value = null) },
  { group: "Spans and marks", name: "Time zero at a mark, process, method or event…", keys: [], run: () => zeroDialog() },
  { group: "Spans and marks", name: "Follow the chain to who ended the wait", keys: ["Shift+Enter"], run: () => void followWaker() },
  { group: "Spans and marks", name: "Back along the followed chain", keys: ["Backspace"], run: () => void back() },
  { group: "Lanes", name: "Critical path of the selection", keys: ["Shift+c"], run: showPathHere },
  { group: "Lanes", name: "Remove the critical path", keys: [], run: dropPath },
  { group: "Lanes", name: "Pin the lane", keys: ["p"], run: pinCurrent },
  { group: "Lanes", name: "Hide inactive processes and threads", keys: ["i"], run: () => (view.hideInactive.value = !view.hideInactive.peek()) },
  { group: "Lanes", name: "Show hidden lanes", keys: [], run: () => (view.hidden.value = new Set()) },
  { group: "Page", name: "Search", keys: ["/"], run: focusSearch },
  { group: "Page", name: "Next part: search, lanes, panels, rows, span", keys: ["F6"], run: () => nextPart(1) },
  { group: "Page", name: "Previous part", keys: ["Shift+F6"], run: () => nextPart(-1) },
  { group: "Page", name: "Copy the command of the panel", keys: ["c"], run: () => document.getElementById("copy-command")?.click() },
  { group: "Page", name: "Larger or smaller panels", keys: ["q"], run: () => (view.dock.value = view.dock.peek() > 0.5 ? view.DOCK : 0.72) },
  { group: "Spans and marks", name: "Next part of the recording with the hit of the search", keys: ["n"], run: () => void stepOccurrence(1) },
  { group: "Spans and marks", name: "Previous part with the hit of the search", keys: ["Shift+n"], run: () => void stepOccurrence(-1) },
  { group: "Page", name: "Commands", keys: ["Ctrl+Shift+p"], run: () => void palette() },
  { group: "Page", name: "Keys", keys: ["?"], run: () => void help() },
  { group: "Page", name: "Clear: span, selection, thread, process", keys: ["Escape"], run: escape },
  { group: "Page", name: "Copy link to this view", keys: [], run: () => void copy(`${location.origin}/#${url.toFragment()}`, "link") },
  { group: "Page", name: "Copy the selection as --time", keys: [], run: () => void copy(`--time ${rangeWord(view.subject.peek())}`, "range") },
  { group: "Page", name: "This view as text", keys: [], run: showText },
  { group: "Page", name: "Save the view as file", keys: ["Ctrl+s"], run: saveView },
  { group: "Page", name: "Open a view file", keys: ["Ctrl+o"], run: openView },
  { group: "Page", name: "Light colours", keys: [], run: () => (view.theme.value = "light") },
  { group: "Page", name: "Dark colours", keys: [], run: () => (view.theme.value = "dark") },
  { group: "Page", name: "High contrast", keys: [], run: () => (view.theme.value = "contrast") },
  { group: "Page", name: "Colours of the system", keys: [], run: () => (view.theme.value = "auto") },
  { group: "Page", name: "Print", keys: ["Ctrl+p"], run: () => print() },
];

/** @returns {Action[]} with those of the recording */
function all() {
  return [
    ...ACTIONS,
    ...currentViews().map(({ name }, i) => ({ group: "Views", name: `View: ${name}`, keys: i < 9 ? [String(i + 1)] : [], run: () => showView(i) })),
    ...askable(view.recording.peek()).map(({ id, title }) => ({ group: "Panels", name: `Panel: ${title}`, keys: [], run: () => (view.panel.value = id) })),
    ...CLOCKS.map((clock) => ({ group: "Time", name: `Times: ${CLOCK_NAMES[clock]}`, keys: [], run: () => (view.clock.value = clock) })),
    ...view.ORDERS.map((order) => ({ group: "Lanes", name: `Sort lanes by ${order}`, keys: [], run: () => (view.order.value = order) })),
    ...(view.recording.peek()?.marks ?? []).slice(0, 50).map((mark) => ({ group: "Time", name: `Time zero at mark ${mark.name}`, keys: [], run: () => zeroAtMark(mark) })),
  ];
}

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
    if (typing && event.key !== "Escape" && event.key !== "F6") {
      if (!(event.ctrlKey && event.shiftKey)) return;
    }
    if (document.querySelector("dialog[open]")) return;
    const name = chord(event);
    const onButton = target instanceof Element && target.closest("button, a, summary, [role=tab], [role=row].table-row, [role=treeitem]");
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

export function palette() {
  const dialog = openDialog("Commands", (close) => {
    const input = /** @type {HTMLInputElement} */ (h("input", { type: "text", role: "combobox", "aria-label": "Command", "aria-controls": "commands", "aria-expanded": "true", "aria-autocomplete": "list", placeholder: "Command…", autocomplete: "off", spellcheck: "false" }));
    const list = h("div", { id: "commands", role: "listbox", "aria-label": "Commands" });
    let shown = all();
    let at = 0;
    const draw = () => {
      list.replaceChildren(...shown.slice(0, 60).map((action, i) => h("div.item", {
        role: "option", id: `command-${i}`, "aria-selected": String(i === at), onclick: () => (close(), action.run()),
      }, h("span.dim", action.group), h("span", action.name), action.keys[0] ? h("kbd", keyText(action.keys[0])) : null)));
      input.setAttribute("aria-activedescendant", shown.length > 0 ? `command-${at}` : "");
      list.children[at]?.scrollIntoView({ block: "nearest" });
    };
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      shown = all().filter(({ name, group }) => words.every((word) => `${group} ${name}`.toLowerCase().includes(word)));
      at = 0;
      draw();
    });
    input.addEventListener("keydown", (event) => {
      const action = shown[at];
      if (event.key === "ArrowDown") at = Math.min(shown.length - 1, at + 1);
      else if (event.key === "ArrowUp") at = Math.max(0, at - 1);
      else if (event.key === "Enter" && action) {
        close();
        action.run();
      } else return;
      event.preventDefault();
      draw();
    });
    draw();
    return [input, list];
  }, "palette");
  dialog.querySelector("input")?.focus();
}

/** @param {string} key */
export function keyText(key) {
  return key.split("+").map((part) => ({ ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Escape: "Esc" })[part] ?? (part.length === 1 ? part.toUpperCase() : part)).join(" ");
}

export function help() {
  openDialog("Keys", (close) => {
    const groups = [...new Set(ACTIONS.map(({ group }) => group))];
    return [
      h("h2", "Keys and pointer"),
      h("div.keys-list", { tabindex: 0, role: "region", "aria-label": "Keys" },
        h("section", h("h3", "Pointer"), h("dl", [["Drag", "select a range"], ["Ctrl + wheel, pinch", "zoom at the pointer"], ["Shift + drag, middle button", "pan"], ["Wheel", "scroll the lanes"], ["Click", "choose the span: its stack, and who ended it"], ["Double click", "select the span"], ["Click a lane’s head", "panels are about this process or thread"]].map(([key, what]) => [h("dt", h("kbd", key)), h("dd", what)]))),
        groups.map((group) => h("section", h("h3", group), h("dl", ACTIONS.filter((one) => one.group === group && one.keys.length > 0).map(({ keys, name }) => [h("dt", keys.map((key) => h("kbd", keyText(key)))), h("dd", name)])))),
        h("section", h("h3", "In the lanes"), h("dl", [["↑ ↓", "next lane"], ["→ ←", "open, close; else next and previous span"], ["Space", "panels are about this lane"], ["Shift F10", "actions of the lane"], ["1 … 9", "views"]].map(([key, what]) => [h("dt", h("kbd", key)), h("dd", what)]))),
        h("section", h("h3", "Signs"), h("dl", [["name +-", "a process that started (+) and ended (-) during the recording"], ["top = 4 CPUs", "what the full height of the lane means"], ["sampled", "CPU by samples; other lanes by context switches"], ["1 ms buckets", "figures of the archive’s tables, as exact as its rows"], ["(union)", "times that overlap count once"]].map(([sign, what]) => [h("dt", h("span", sign ?? "")), h("dd", what ?? "")])))),
      h("button", { onclick: close }, "Close"),
    ];
  }, "large");
}

