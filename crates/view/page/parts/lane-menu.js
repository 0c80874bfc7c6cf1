// What can be done with a lane.
import { h } from "../dom/h.js";
import { clean, shellLine } from "../format/text.js";
import { fixed, length } from "../format/time.js";
import { patternOf, threadOf } from "../lanes/rows.js";
import * as view from "../state/view.js";
import { copy, openDialog } from "./menu.js";

/**
 * @param {import("../types").Row} row
 * @param {import("../lanes/data.js").LaneStore} store
 * @returns {import("./menu.js").Item[]}
 */
export function laneMenu(row, store) {
  const { lane } = row;
  /** @type {import("./menu.js").Item[]} */
  const items = [{ name: view.pinned.peek().includes(lane.id) ? "Unpin" : "Pin above the lanes", keys: "P", run: () => view.togglePin(lane.id) }];
  items.push({ name: "Hide", run: () => view.hide(lane.id) });
  if (view.hidden.peek().size > 0) items.push({ name: `Show ${view.hidden.peek().size} hidden lanes`, run: () => (view.hidden.value = new Set()) });
  if (lane.kind === "process") {
    items.push("-", { name: "Panels: only this process", run: () => (view.processes.value = patternOf(lane).pattern) });
    const { pattern } = patternOf(lane);
    items.push({ name: "Panels: without this process", run: () => (view.processes.value = view.processes.peek()?.startsWith("!") ? `${view.processes.peek()};!${pattern}` : `!${pattern}`) });
  }
  if (lane.kind === "thread") items.push("-", { name: "Panels: only this thread", run: () => (view.thread.value = threadOf(lane)) });
  if (lane.start_ns !== null || lane.end_ns !== null) {
    const [start, end] = view.whole();
    items.push({ name: "Select its lifetime", run: () => (view.selection.value = [Math.max(start, lane.start_ns ?? start), Math.min(end, lane.end_ns ?? end)]) });
  }
  if (lane.start_ns !== null) items.push({ name: "Time zero at its start", run: () => (view.zero.value = { name: `start of ${lane.name}`, ns: lane.start_ns ?? 0 }) });
  items.push("-", { name: "As table", run: () => asTable(lane, store) });
  const command = commandOf(lane, store);
  if (command) items.push({ name: "Copy as command", run: () => void copy(command, "command") });
  return items;
}

/**
 * @param {import("../types").Lane} lane
 * @param {import("../lanes/data.js").LaneStore} store
 * @returns {string | null}
 */
export function commandOf(lane, store) {
  const words = store.data.get(lane.id)?.[0]?.frame.head.words;
  const first = Array.isArray(words) ? words : words ? Object.values(words)[0] : undefined;
  if (!first || first.length === 0) return null;
  const file = view.recording.peek()?.file ?? "X.sift";
  return shellLine(["tracesift", ...first, file], view.session.peek()?.platform ?? "linux");
}

/**
 * The numbers of a lane's picture.
 * @param {import("../types").Lane} lane
 * @param {import("../lanes/data.js").LaneStore} store
 */
function asTable(lane, store) {
  const data = store.data.get(lane.id)?.[0];
  openDialog(`Numbers of ${clean(lane.name)}`, (close) => {
    if (!data) return [h("p", null, "Nothing was read for this lane."), h("button", { type: "button", onclick: close }, "Close")];
    const { head, series } = data.frame;
    const names = Object.keys(series);
    const [from, to] = view.subject.peek();
    const first = head.first_ns ?? data.from;
    const bucket = head.bucket_ns ?? 1;
    const begin = Math.max(0, Math.floor((from - first) / bucket));
    const end = Math.min(head.columns ?? 0, Math.ceil((to - first) / bucket));
    const step = Math.max(1, Math.ceil((end - begin) / 200));
    const lines = [];
    for (let i = begin; i < end; i += step) {
      lines.push(h("tr", null, h("th", { scope: "row" }, `${fixed((first + i * bucket) / 1e9, 6)} s`), names.map((name) => {
        let sum = 0;
        for (let j = i; j < Math.min(end, i + step); j += 1) sum += series[name]?.[j] ?? NaN;
        return h("td", null, Number.isNaN(sum) ? "not read" : head.unit === "ns" ? fixed(sum / 1e6, 3) : fixed(sum, 0));
      })));
    }
    return [
      h("h2", null, clean(lane.name)),
      h("p", null, `${head.way === "tiles" ? "Sums of the archive’s buckets" : "Exact sums"}, one row for ${length(bucket * step)}. Times in ms.`),
      h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Numbers" }, h("table", { class: "plain" },
        h("thead", null, h("tr", null, h("th", { scope: "col" }, "From"), names.map((name) => h("th", { scope: "col" }, name)))), h("tbody", null, lines))),
      h("button", { type: "button", onclick: close }, "Close"),
    ];
  }, "large");
}
