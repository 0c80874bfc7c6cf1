// Findings of `explain` on the axis: a click selects the time of one and opens its panel.
import { batch, fill, h, watch } from "../dom.js";
import { clean, length } from "../format.js";
import { shift, timeWidth, xOf } from "../lanes/geometry.js";
import * as view from "../state/view.js";

/** @returns {Finding[]} those that have a place in time, in its order */
function placed() {
  return view.findings.peek().flatMap(({ finding }) => (finding?.range ? [finding] : [])).sort((a, b) => (a.range?.[0] ?? 0) - (b.range?.[0] ?? 0));
}

/** @param {Finding} finding */
export function showFinding(finding) {
  const { range } = finding;
  if (!range) return;
  batch(() => {
    view.finding.value = finding;
    view.narrow({ selection: view.lasting(range) });
    view.panel.value = "explain";
    const [from, to] = view.range.peek();
    if (range[1] < from || range[0] > to) view.frame(range);
  });
  view.said.value = `${clean(finding.rule)}: ${clean(finding.sentence)}`;
}

/** @returns {TimeRange | null | undefined} the window of the chosen finding, while its time or a segment of it is selected */
export function heldWindow() {
  const finding = view.finding.peek();
  const now = view.selection.peek();
  if (!finding?.range || !now) return undefined;
  return [finding.range, ...finding.longest].some((range) => view.isSame(now, view.lasting(range))) ? finding.of : undefined;
}

/** @returns {HTMLElement} the buttons on the axis */
export function findingMarks() {
  const box = h("div.finding-marks", { role: "group", "aria-label": "Findings" });
  /** @type {{ button: HTMLElement, bar: HTMLElement, range: TimeRange }[]} */
  let shown = [];
  const place = () => {
    const width = timeWidth.peek();
    // No button lies on another one: the bar tells where the finding begins.
    let free = 0;
    for (const { button, bar, range } of shown) {
      const [a, b] = [xOf(range[0]), xOf(range[1])];
      const away = b < 0 || a > width;
      const at = Math.max(a, free);
      const hidden = away || a < 0 || at > width;
      if (!hidden) free = at + 50;
      button.classList.toggle("away", hidden);
      bar.classList.toggle("away", away);
      shift(button, at);
      const [x0, x1] = [Math.max(0, a), Math.min(width, b)];
      shift(bar, x0, Math.max(1, x1 - x0));
    }
  };
  watch([view.findings], () => {
    shown = placed().map((finding) => ({
      range: /** @type {TimeRange} */ (finding.range),
      bar: h("i.finding-bar"),
      button: h("button.finding-mark", { "aria-label": `Finding ${clean(finding.rule, 60)}: select its time`, title: `${clean(finding.rule, 60)}: ${clean(finding.sentence, 300)}`, onclick: () => showFinding(finding) }),
    }));
    fill(box, shown.map(({ bar }) => bar), shown.map(({ button }) => button));
    box.hidden = shown.length === 0;
    place();
  });
  watch([view.range, timeWidth], place);
  return box;
}

/** @param {Finding} finding @returns {HTMLElement | null} the way to its time, and to its longest segments */
export function wayTo(finding) {
  if (!finding.range) return null;
  const select = (/** @type {TimeRange} */ range) => batch(() => {
    view.finding.value = finding;
    view.narrow({ selection: view.lasting(range) });
    view.frame([range[0] - view.SHORTEST, range[1] + view.SHORTEST]);
  });
  return h("span.ways", h("button.quiet", { onclick: () => showFinding(finding) }, "Show on the axis"),
    finding.longest.length > 0 ? h("details", h("summary", `Its longest segments (${finding.longest.length})`), h("ul", [...finding.longest].sort(([a, b], [c, d]) => d - c - (b - a)).map((range) => h("li",
      h("button.link", { onclick: () => select(range) }, length(range[1] - range[0])), h("span.dim", { "data-ns": range[0] }))))) : null);
}
