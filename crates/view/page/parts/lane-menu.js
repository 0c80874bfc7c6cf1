// What can be done with a lane.
import { HUES, colourKey } from "../lanes/palette.js";
import { patternOf, threadOf } from "../lanes/rows.js";
import { without } from "../panels/row-menu.js";
import { carried, commandLine } from "../state/command.js";
import { zeroAtLandmark } from "../state/landmark.js";
import * as view from "../state/view.js";
import { asTable } from "./lane-table.js";
import { copy, openMenu } from "./menu.js";

/**
 * @param {import("../types").Row} row
 * @param {import("../lanes/data.js").LaneStore} store
 * @param {HTMLElement} anchor where its menus stand
 * @returns {import("./menu.js").Item[]}
 */
export function laneMenu(row, store, anchor) {
  const { lane } = row;
  /** @type {import("./menu.js").Item[]} */
  const items = [{ name: view.pinned.peek().includes(lane.id) ? "Unpin" : "Pin above the lanes", keys: "P", run: () => view.togglePin(lane.id) }];
  items.push({ name: "Hide", run: () => view.hide(lane.id) });
  if (view.hidden.peek().size > 0) items.push({ name: `Show ${view.hidden.peek().size} hidden lanes`, run: () => (view.hidden.value = new Set()) });
  if (lane.kind === "process") {
    items.push("-", { name: "Panels: only this process", run: () => view.narrow({ processes: patternOf(lane).pattern }) });
    const { pattern } = patternOf(lane);
    items.push({ name: "Panels: without this process", run: () => view.narrow({ processes: without(pattern) }) });
  }
  if (lane.kind === "thread") items.push("-", { name: "Panels: only this thread", run: () => view.narrow({ thread: threadOf(lane) }) });
  if (lane.start_ns !== null || lane.end_ns !== null) {
    const [start, end] = view.whole();
    items.push({ name: "Select its lifetime", run: () => (view.selection.value = [Math.max(start, lane.start_ns ?? start), Math.min(end, lane.end_ns ?? end)]) });
  }
  if (lane.start_ns !== null) items.push({ name: "Time zero at its start", run: () => void zeroAtStart(lane) });
  if (lane.kind === "process" || lane.kind === "tag") items.push("-", { name: "Colour…", run: () => openMenu(anchor, colours(lane)) });
  items.push("-", { name: "As table", run: () => asTable(lane, store) });
  const command = commandOf(lane, store);
  if (command) items.push({ name: "Copy as command", run: () => void copy(command, "command") });
  return items;
}

/** @param {import("../types").Lane} lane */
async function zeroAtStart(lane) {
  const ns = lane.start_ns ?? 0;
  view.zero.value = { name: `start of ${lane.name}`, ns, landmark: null };
  // The words of the command line name it if they find the same instant.
  const at = `process-start:${patternOf(lane).pattern}`;
  if (lane.kind !== "process" || /[*?;!]/.test(at)) return;
  await zeroAtLandmark({ at, of: "" });
  if (view.zero.peek()?.ns !== ns) view.zero.value = { name: `start of ${lane.name}`, ns, landmark: null };
}

/**
 * @param {import("../types").Lane} lane
 * @returns {import("./menu.js").Item[]}
 */
function colours(lane) {
  const key = colourKey(lane);
  const now = view.colours.peek().get(key);
  return [
    { name: "As the page chooses", checked: now === undefined, run: () => view.giveColour(key, null) }, "-",
    ...HUES.map((name, hue) => ({ name, swatch: hue, checked: now === hue, run: () => view.giveColour(key, hue) })),
  ];
}

/**
 * @param {import("../types").Lane} lane
 * @param {import("../lanes/data.js").LaneStore} store
 * @returns {string | null}
 */
export function commandOf(lane, store) {
  const words = store.data.get(lane.id)?.[0]?.frame.head.words;
  const first = Array.isArray(words) ? words : words ? Object.values(words)[0] : undefined;
  return !first || first.length === 0 ? null : commandLine(carried(first));
}
