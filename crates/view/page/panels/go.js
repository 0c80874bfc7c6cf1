// From a row of a table to the lanes: what it is about is lit, and a wait is shown.
import * as client from "../api/client.js";
import { exact } from "../format.js";
import * as model from "../lanes/model.js";
import { hueOf, processLanes } from "../lanes/palette.js";
import { patternOf, threadOf } from "../lanes/rows.js";
import { choose } from "../parts/spans.js";
import * as view from "../state/view.js";

/** @type {HueOfCell} */
export function hueOfCell(row, key) {
  if (key === "stack_tag" && typeof row[key] === "string") {
    return hueOf(model.laneOf("", "tag", row[key]));
  }
  if (key !== "process" || typeof row.pid !== "number") return null;
  const lane = processLanes.value.get(`${row.process}(${row.pid})`);
  return lane ? hueOf(lane) : null;
}

/** @param {TableRow} row @returns {string | null} its process as `-p` takes it */
export function processOf({ process, pid }) {
  return typeof process === "string" && typeof pid === "number" ? `${exact(process)}(${pid})` : null;
}

/** @param {TableRow} row */
export function threadOfRow({ tid, thread_name: name }) {
  return typeof tid === "number" ? { tid, name: `${tid} ${name ?? ""}`.trim() } : null;
}

/** @param {TableRow} row @returns {string} `module!method` */
export const methodOf = ({ module, method }) => `${module ? `${module}!` : ""}${method}`;

/** @param {TableRow | null} row @param {number} base what its instants count from */
export function light(row, base) {
  // A wait is lit; from the first to the last sample of a function would be nearly all there is.
  const [from, to] = [row?.from_ns, row?.to_ns];
  view.lit.value = row === null ? null : {
    pid: typeof row.pid === "number" ? row.pid : null, tid: typeof row.tid === "number" ? row.tid : null,
    range: typeof from === "number" && typeof to === "number" ? [from + base, to + base] : null,
  };
}

/** @param {TableRow} row of `dump waits` @param {number} base what its instants count from */
export async function showWait(row, base) {
  const from = row.from_ns;
  if (typeof from !== "number") return;
  const ns = from + base;
  const named = processOf(row);
  const is = (/** @type {Lane} */ lane) => lane.kind === "process" && patternOf(lane).pattern === named;
  const process = [...model.known.values()].find(is) ?? (await client.lanesOf("processes")).find(is);
  if (!process) return;
  const lane = (await client.lanesOf(process.id, "wait")).find((one) => one.kind === "thread" && threadOf(one).tid === row.tid);
  if (!lane) return;
  view.open(["processes", process.id]);
  await model.find([lane.id]);
  view.lane.value = lane.id;
  await choose(lane.id, ns, true);
}

/**
 * Chooses the process of the same name in another recording: there it has another id.
 * @param {string} pattern of the process in the recording before
 */
export async function keepProcess(pattern) {
  const name = (/** @type {string} */ text) => text.replace(/\(\d+\)$/, "");
  view.processes.value = name(pattern);
  const recording = view.recording.peek();
  const same = (await client.lanesOf("processes")).map((lane) => patternOf(lane).pattern).filter((one) => name(one) === name(pattern));
  if (view.recording.peek() !== recording || view.processes.peek() !== name(pattern)) return;
  // Of several processes the panels are about all; where there is none, about all processes.
  if (same.length < 2) view.processes.value = same[0] ?? null;
}
