// Which lanes there are and which of them have rows: the tree of the server, as a list.
import * as client from "../api/client.js";
import { effect, signal, untracked, watch } from "../dom.js";
import { LANE as PATH } from "./path.js";
import * as view from "../state/view.js";

/** Rows that are in sight together in nearly every window. */
const NEAR = 8;
const PAGE = 500;
/** Groups stand in this order, whatever lanes are sorted by. */
const GROUPS = ["processes", "cpus", "disks", "files", "network", "memory", "gc", "jit", "regions", "tags", "marks", "events", "frequencies", "counters"];

/** @type {Map<string, Lane>} */
export const known = new Map();
/** @type {Map<string, Children>} */
const children = new Map();
/** Counts what the server has told, so that lists are made anew. */
const version = signal(0);
/** The rows of lanes, and those that are pinned. */
export const rows = signal(/** @type {Row[]} */ ([]));
export const pinnedRows = signal(/** @type {Row[]} */ ([]));
export const loading = signal(0);
let epoch = 0;

/** Starts to follow the view. */
export function start() {
  let shown = "";
  effect(() => {
    const id = view.recording.value?.id ?? "";
    // Ids of lanes are those of one recording.
    if (id !== shown) known.clear();
    shown = id;
    void view.order.value;
    const quiet = view.hideInactive.value;
    if (quiet) void view.range.value;
    untracked(() => {
      epoch += 1;
      children.clear();
      void load("", 0);
    });
  });
  watch([version, view.opened], () => view.opened.peek().forEach((id) => known.has(id) && !children.has(id) && void load(id, 0)));
  effect(() => {
    const missing = [...view.pinned.value, ...(view.guests.value?.lanes ?? [])].filter((id) => !known.has(id));
    if (missing.length > 0) untracked(() => void find(missing));
  });
  effect(() => {
    void version.value;
    // Lanes below closed groups are out of sight a moment later, and may cost seconds.
    if (loading.value > 0 && rows.peek().length === 0) return;
    rows.value = listed();
    const path = pathLane();
    pinnedRows.value = (path ? [path.id, ...view.pinned.value] : view.pinned.value).flatMap((id) => {
      const lane = known.get(id);
      return lane ? [rowOf(lane, 0, "pin", null, { pinned: true })] : [];
    });
  });
}

/** @param {string} parent empty: the groups @param {number} from */
async function load(parent, from) {
  const now = epoch;
  const had = children.get(parent) ?? { total: 0, lanes: [], loading: false };
  if (had.loading) return;
  had.loading = true;
  children.set(parent, had);
  loading.value = loading.peek() + 1;
  try {
    /** @type {Record<string, string | number>} */
    const query = { sort: view.order.peek(), from };
    if (parent) query.parent = parent;
    if (view.hideInactive.peek()) query.time = view.range.peek().join("..");
    const answer = await client.lanes(query);
    if (now !== epoch) return;
    for (const lane of answer.lanes) known.set(lane.id, lane);
    children.set(parent, { total: answer.total, lanes: inOrder(parent, [...had.lanes.slice(0, from), ...answer.lanes]), loading: false });
    version.value = version.peek() + 1;
  } catch (error) {
    if (now === epoch) children.delete(parent);
    client.report(error);
  } finally {
    loading.value = loading.peek() - 1;
  }
}

/** @param {string} parent @param {Lane[]} lanes */
function inOrder(parent, lanes) {
  const place = (/** @type {Lane} */ lane) => (parent === "" ? (GROUPS.indexOf(lane.id) + 100) % 100 : Number(lane.id.split(":")[1]));
  return parent === "" || parent === "cpus" || parent === "disks" || parent === "frequencies" ? [...lanes].sort((a, b) => place(a) - place(b)) : lanes;
}

/** Learns lanes of which only the id is known. @param {string[]} ids */
export async function find(ids) {
  const missing = ids.filter((id) => !known.has(id)).slice(0, PAGE);
  if (missing.length === 0) return;
  try {
    const answer = await client.lanes({ ids: missing.join(",") });
    for (const lane of answer.lanes) known.set(lane.id, lane);
    if (answer.lanes.length > 0) version.value = version.peek() + 1;
  } catch (error) {
    client.report(error);
  }
}

/** @param {string} parent */
export function loadMore(parent) {
  const had = children.get(parent);
  if (had && !had.loading && had.lanes.length < had.total) void load(parent, had.lanes.length);
}

/** @param {Lane} lane */
function isInactive(lane) {
  const { cpu_ns: cpu = 0, run_ns: run = 0, ready_ns: ready = 0, bytes = 0, count = 0 } = lane.totals;
  return (lane.kind === "thread" || lane.kind === "process") && cpu + run + ready + bytes + count === 0;
}

function listed() {
  /** @type {Row[]} */
  const out = [];
  const opened = view.opened.value;
  const hidden = view.hidden.value;
  const pinned = view.pinned.value;
  const guests = view.guests.value;
  const quiet = view.hideInactive.value;
  /** @param {string} parent @param {number} depth */
  const walk = (parent, depth) => {
    const list = children.get(parent);
    if (!list) return;
    const shown = list.lanes.filter((lane) => !hidden.has(lane.id) && !(quiet && isInactive(lane)));
    const without = list.lanes.filter((lane) => !hidden.has(lane.id)).length - shown.length;
    shown.forEach((lane, i) => {
      const open = lane.children && opened.has(lane.id);
      out.push(rowOf(lane, depth, "tree", parent || null, { position: i + 1, siblings: list.total, open, pinned: pinned.includes(lane.id) }));
      if (guests?.below === lane.id) {
        for (const id of guests.lanes) {
          const guest = known.get(id);
          if (guest && id !== lane.id) out.push(rowOf(guest, depth + 1, "guest", lane.id, { guest: true }));
        }
      }
      if (open) walk(lane.id, depth + 1);
    });
    const rest = list.total - list.lanes.length;
    if (rest > 0) out.push(moreRow(parent, depth, `${rest} more`, rest));
    if (without > 0) out.push(moreRow(`${parent}/inactive`, depth, `${without} inactive in this range, hidden`, 0));
  };
  walk("", 0);
  return withoutTwice(out);
}

/** Leaves out lanes of a chain that stand near in the list by themselves: the arrows go there. @param {Row[]} rows */
function withoutTwice(rows) {
  if (!rows.some(({ guest }) => guest)) return rows;
  /** @type {Map<string, number>} */
  const own = new Map();
  rows.forEach((row, i) => !row.guest && own.set(row.lane.id, i));
  return rows.filter((row, i) => !row.guest || Math.abs((own.get(row.lane.id) ?? Infinity) - i) > NEAR);
}

/** @type {RowOf} */
function rowOf(lane, depth, where, parent, more) {
  return { key: `${where}/${parent ?? ""}/${lane.id}`, lane, depth, open: false, pinned: false, guest: false, more: 0, parent, position: 1, siblings: 1, ...more };
}

/** A lane that the server does not tell. @type {LaneOf} */
export const laneOf = (id, kind, name, more = {}) => ({ id, kind, name, detail: null, children: false, start_ns: null, end_ns: null, totals: {}, measures: [], ...more });

/** @param {string} parent @param {number} depth @param {string} name @param {number} more */
function moreRow(parent, depth, name, more) {
  return rowOf(laneOf(`more:${parent}`, "more", name), depth, "more", parent, { more });
}

/** The lane of the critical path, which the server does not tell. */
function pathLane() {
  const of = view.path.value;
  known.delete(PATH);
  if (!of) return null;
  const [start, end] = of.range;
  const lane = laneOf(PATH, "path", `Critical path of ${of.process ?? ""}${of.tid === null ? "" : ` ${of.tid}`}`, { start_ns: start, end_ns: end });
  known.set(PATH, lane);
  return lane;
}

/** @param {string} id @returns {Lane | null} the lane above it, where the list has it */
export function parentOf(id) {
  const row = rows.peek().find(({ lane, parent }) => lane.id === id && parent !== null);
  return row?.parent ? known.get(row.parent) ?? null : null;
}

/** @param {string} id */
export async function reveal(id) {
  await find([id]);
  const lane = known.get(id);
  if (!lane) return;
  view.open(lane.path ?? []);
  view.lane.value = id;
}
