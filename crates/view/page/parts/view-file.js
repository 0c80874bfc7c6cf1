// The view as a file, and as a text that the reader can change.
import { h } from "../dom.js";
import { views } from "../state/saved.js";
import * as url from "../state/url.js";
import * as view from "../state/view.js";
import { copy, openDialog, toast } from "./menu.js";

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
export function showView(index) {
  const one = currentViews()[index];
  if (!one) return;
  const range = view.range.peek();
  applyText(one.text);
  if (!/^time /m.test(one.text)) view.range.value = range;
  toast(`View: ${one.name}`);
}

export const copyLink = () => copy(`${location.origin}/#${url.toFragment()}`, "link");

export function saveView() {
  const blob = new Blob([url.toText(view.recording.peek()?.name ?? "view")], { type: "text/plain" });
  const link = h("a", { download: "tracesift-view.txt", href: URL.createObjectURL(blob) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export function openView() {
  const input = h("input", { type: "file", accept: ".txt,text/plain" });
  input.addEventListener("change", async () => {
    const file = input.files?.[0];
    if (file && file.size <= 1 << 20) applyText(await file.text());
  });
  input.click();
}

export function showText() {
  openDialog("This view as text", (close) => {
    const area = h("textarea.wide", { rows: 14, "aria-label": "View as text" }, url.toText());
    return [h("h2", "This view as text"), h("p", "Change it, or keep it in a file for `tracesift view --view FILE`."), area,
      h("div.buttons",
        h("button.primary", { onclick: () => (applyText(area.value), close()) }, "Show"),
        h("button", { onclick: () => copy(area.value, "view") }, "Copy"),
        h("button", { onclick: saveView }, "Save as file"),
        h("button", { onclick: close }, "Close"))];
  });
}
