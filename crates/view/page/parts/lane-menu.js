// What can be done with a lane.
import { clean } from "../format.js";
import { HUES, colourKey } from "../lanes/palette.js";
import { shown } from "../lanes/path.js";
import { patternOf, threadOf } from "../lanes/rows.js";
import { without } from "../panels/row-menu.js";
import { carried, commandLine } from "../state/command.js";
import { zeroAtLandmark } from "../state/landmark.js";
import * as view from "../state/view.js";
import { asTable } from "./lane-table.js";
import { copy, openMenu } from "./menu.js";
import { dropPath, showPath } from "./path.js";

/** @type {LaneMenu} */
export function laneMenu(row, store, anchor) {
  const { lane } = row;
  if (lane.kind === "path") return pathMenu();
  /** @type {Item[]} */
  const items = [];
  const add = (/** @type {string} */ name, /** @type {() => unknown} */ run, keys = "") => items.push({ name, keys, run });
  add(view.pinned.peek().includes(lane.id) ? "Unpin" : "Pin above the lanes", () => view.togglePin(lane.id), "P");
  add("Hide", () => view.hide(lane.id));
  const hidden = view.hidden.peek().size;
  if (hidden > 0) add(`Show ${hidden} hidden lanes`, () => (view.hidden.value = new Set()));
  if (lane.kind === "process" || lane.kind === "thread") items.push("-");
  if (lane.kind === "process") {
    const { pattern } = patternOf(lane);
    add("Panels: only this process", () => view.narrow({ processes: pattern }));
    add("Panels: without this process", () => view.narrow({ processes: without(pattern) }));
  }
  if (lane.kind === "thread") add("Panels: only this thread", () => view.narrow({ thread: threadOf(lane) }));
  if ((lane.kind === "process" || lane.kind === "thread") && view.has("switches")) add(`Critical path of the ${view.selection.peek() ? "selection" : "view range"}`, () => showPath(lane));
  const [start, end] = view.whole();
  if (lane.start_ns !== null || lane.end_ns !== null) add("Select its lifetime", () => (view.selection.value = [Math.max(start, lane.start_ns ?? start), Math.min(end, lane.end_ns ?? end)]));
  if (lane.start_ns !== null) add("Time zero at its start", () => zeroAtStart(lane));
  items.push("-");
  if (lane.kind === "process" || lane.kind === "tag") add("Colour…", () => openMenu(anchor, colours(lane)));
  add("As table", () => asTable(lane, store));
  for (const { name, command } of commandsOf(lane, store)) add(name, () => copy(command, "command"));
  return items;
}

/** @param {Lane} lane */
async function zeroAtStart(lane) {
  const ns = lane.start_ns ?? 0;
  const name = `start of ${lane.name}`;
  view.zeroAt(name, ns);
  // The words of the command line name it if they find the same instant.
  const at = `process-start:${patternOf(lane).pattern}`;
  if (lane.kind !== "process" || /[*?;!]/.test(at)) return;
  await zeroAtLandmark({ at, of: "" });
  if (view.zero.peek()?.ns !== ns) view.zeroAt(name, ns);
}

/** @param {Lane} lane @returns {Item[]} */
function colours(lane) {
  const key = colourKey(lane);
  const now = view.colours.peek().get(key);
  return [
    { name: "As the page chooses", checked: now === undefined, run: () => view.giveColour(key, null) }, "-",
    ...HUES.map((name, hue) => ({ name, swatch: hue, checked: now === hue, run: () => view.giveColour(key, hue) })),
  ];
}

/** @returns {Item[]} of the critical path */
function pathMenu() {
  const command = shown.peek()?.command;
  /** @type {Item[]} */
  const items = [
    { name: "Remove", run: dropPath },
    { name: "Select its range", run: () => (view.selection.value = view.path.peek()?.range ?? null) },
    { name: "As table: the rows of the account", run: () => (view.panel.value = "path") },
  ];
  if (command) items.push({ name: "Copy as command", run: () => copy(command, "command") });
  return items;
}

/** The commands with the numbers of a lane's picture, named by their series. @type {CommandsOf} */
export function commandsOf(lane, store) {
  const head = store.data.get(lane.id)?.[0]?.frame.head;
  const words = head?.words;
  const all = Array.isArray(words) ? { "": words } : words ?? {};
  /** @type {Map<string, string[]>} */
  const series = new Map();
  const add = (/** @type {string} */ name, /** @type {string[]} */ own) => {
    if (own.length === 0) return;
    const command = commandLine(carried(own));
    series.set(command, [...(series.get(command) ?? []), name]);
  };
  for (const [name, own] of Object.entries(all)) add(name, own);
  const own = series.size;
  for (const [name, peak] of Object.entries(head?.peak_words ?? {})) add(`peak of ${name}`, peak);
  return [...series].map(([command, names], i) => ({ name: own === 1 && i === 0 ? "Copy as command" : `Copy as command: ${clean(names.join(", "), 60)}`, command }));
}
