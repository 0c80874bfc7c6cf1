// Above the answer of a panel: the tabs, what the panels are about, and the filters.
import { calm, choice, effect, fill, h, handled, icon, paused, untracked } from "../dom.js";
import { clean, length } from "../format.js";
import * as view from "../state/view.js";
import { askable, isByThread, PATTERNS, questionOf } from "./questions.js";

/** @param {HTMLElement} panel that the tabs choose */
export function tabs(panel) {
  const element = h("div.tabs", { role: "tablist", "aria-label": "Panels" });
  effect(() => {
    const all = askable();
    const now = view.panel.value;
    untracked(() => fill(element, all.map(({ id, title, about }) => h("button", {
      role: "tab", id: `tab-${id}`, "aria-selected": String(id === now), "aria-controls": panel.id, tabindex: id === now ? 0 : -1, title: about, onclick: () => (view.panel.value = id),
    }, title))));
    panel.setAttribute("aria-labelledby", `tab-${now}`);
  });
  element.addEventListener("keydown", (event) => {
    const all = askable();
    const at = all.findIndex(({ id }) => id === view.panel.peek());
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1 + all.length, Home: 0, End: all.length - 1 }[event.key];
    const next = to === undefined ? null : all[to % all.length];
    if (!next) return;
    view.panel.value = next.id;
    document.getElementById(`tab-${next.id}`)?.focus();
    handled(event);
  });
  return element;
}

/** What the panels are about: the range, how long it is, and whose. */
export function about() {
  const element = h("div.about");
  const chip = (/** @type {string} */ text, /** @type {string} */ what, /** @type {Signal<unknown>} */ of, on = true) => h(on ? "span.chip" : "span.chip.off", { title: on ? clean(text) : "This panel cannot choose a thread" },
    h("span.chip-text", clean(text, 200)), h("button", { "aria-label": `${what}: show all again`, onclick: () => (of.value = null) }, icon("close")));
  calm(() => {
    const [from, to] = view.subject.value;
    const clock = view.clockNow();
    const step = Math.max(1, (to - from) / 1000);
    const selected = view.selection.value !== null;
    const only = view.processes.value;
    const thread = view.thread.value;
    const byThread = isByThread(view.panel.value);
    const method = view.panel.value === "butterfly" ? view.method.value : null;
    return () => untracked(() => fill(element,
      h("strong", selected ? "Selection" : "View range"),
      h("span.when", ` ${clock.text(from, step)} – ${clock.text(to, step)}`), h("span.long", length(to - from)),
      only ? chip(only, "Process", view.processes) : h("span.dim", "all processes"),
      thread ? [chip(thread.name, "Thread", view.thread, byThread), byThread ? null : h("strong", "all threads")] : null,
      method ? chip(method, "Function", view.method) : null,
      selected ? h("button.quiet", { onclick: () => (view.selection.value = null) }, "Clear") : null));
  });
  return element;
}

/** @returns {HTMLElement[]} the choices that change the question */
export function filters() {
  const filter = h("input.filter", { type: "search", placeholder: "Filter: name, *part*, a;!b", "aria-label": "Filter rows, with the patterns of the command line", title: PATTERNS, oninput: paused(250, () => (view.filter.value = filter.value.trim())) });
  const measure = choice(view.measure, { "aria-label": "Measure" }, [["cpu", "CPU"], ["wait", "Waits"], ["ready", "Ready"]]);
  const tags = choice(view.tagFile, { "aria-label": "Rules of stack tags" }, []);
  effect(() => {
    const kind = view.panel.value;
    const files = (view.session.value?.tag_files ?? []).filter(({ id }) => id !== "builtin");
    fill(tags, h("option", { value: "" }, "built-in tags"), files.map(({ id, name }) => h("option", { value: id }, clean(name, 60))));
    tags.value = view.tagFile.value;
    tags.hidden = kind !== "tags" || files.length === 0;
    measure.hidden = !["tree", "callers", "flame", "butterfly"].includes(kind);
    if (document.activeElement !== filter) filter.value = view.filter.value;
    filter.hidden = questionOf(kind).filter === "" || kind === "butterfly";
  });
  return [measure, tags, filter];
}
