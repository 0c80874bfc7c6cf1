// The list of all commands, which a few letters of a name shorten.
import { h } from "../dom.js";
import { allActions, keyText } from "./actions.js";
import { openDialog } from "./menu.js";

export function palette() {
  const dialog = openDialog("Commands", (close) => {
    const input = h("input", { type: "text", role: "combobox", "aria-label": "Command", "aria-controls": "commands", "aria-expanded": "true", "aria-autocomplete": "list", placeholder: "Command…" });
    const list = h("div", { id: "commands", role: "listbox", "aria-label": "Commands" });
    let shown = allActions();
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
      shown = allActions().filter(({ name, group }) => words.every((word) => `${group} ${name}`.toLowerCase().includes(word)));
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
