// Where times begin: the start, the selection, a mark or what happened, as `--zero-time` takes it.
import { h } from "../dom.js";
import { clean } from "../format.js";
import { LANDMARKS, zeroAtLandmark, zeroAtMark } from "../state/landmark.js";
import * as view from "../state/view.js";
import { menuButton, openDialog } from "./menu.js";

export function zeroButton() {
  return menuButton({ class: "quiet zero", title: () => `Time zero: ${view.zero.value ? clean(view.zero.value.name) : "start of the recording"}` }, () => [
    { name: "Start of the recording", checked: view.zero.peek() === null, run: () => (view.zero.value = null) },
    { name: "Start of the selection", off: view.selection.peek() === null, run: () => view.zeroAt("selection", view.selection.peek()?.[0] ?? 0) },
    { name: "Mark, process, method or event…", run: () => zeroDialog() },
    ...view.marks.peek().slice(0, 30).map((mark) => ({ name: `mark ${clean(mark.name, 60)}`, checked: view.zero.peek()?.ns === mark.ns, run: () => zeroAtMark(mark) })),
  ], () => (view.zero.value ? `0 = ${clean(view.zero.value.name, 40)}` : "0 = start"));
}

/** @param {string} [kind] @param {string} [text] */
export function zeroDialog(kind = view.zero.peek()?.landmark?.at.split(":")[0] ?? "mark", text = view.zero.peek()?.landmark?.at.replace(/^[^:]*:/, "") ?? "") {
  openDialog("Time zero", (close) => {
    const kinds = h("select", { "aria-label": "What happened", onchange: () => fresh() }, LANDMARKS.map((one) => h("option", { value: one.kind }, one.name)));
    const names = h("input.filter", { type: "text", "aria-label": "Its name, a pattern", value: text });
    const of = h("input.filter", { type: "text", "aria-label": "Only of these processes", placeholder: "of any process", value: view.zero.peek()?.landmark?.of ?? "" });
    const said = h("p.warn-text", { role: "alert" });
    const fresh = () => void (names.placeholder = LANDMARKS.find((one) => one.kind === kinds.value)?.example ?? "");
    kinds.value = kind;
    fresh();
    const form = h("form.zero-form", { onsubmit: async (event) => {
      event.preventDefault();
      if (!names.value.trim()) return;
      said.textContent = "…";
      const why = await zeroAtLandmark({ at: `${kinds.value}:${names.value.trim()}`, of: of.value.trim() });
      if (why === null) close();
      else said.textContent = clean(why, 300);
    } }, kinds, names, of, said, h("div.buttons", h("button.primary", { type: "submit" }, "Count from here"), h("button", { onclick: () => close() }, "Close")));
    return [h("h2", "Time zero"), h("p", "Times of the page and of its commands count from the first instant that fits: ", h("code", "--zero-time"), ". Names are patterns: ", h("code", "*"), " and ", h("code", "?"), "."), form];
  });
}
