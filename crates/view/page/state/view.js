// What the reader looks at. Everything here can be written as text: see `url.js`.
import { batch, computed, signal } from "../dom.js";
import { clockOf } from "../format.js";

/** The shortest range that can be looked at, in ns. */
export const SHORTEST = 1_000;
/** What lanes are sorted by. */
export const ORDERS = { cpu: "CPU", run: "run time", wait: "wait", ready: "ready", start: "start", name: "name" };

export const session = signal(/** @type {Session | null} */ (null));
export const recordingId = signal("r0");
export const recording = computed(() => named(session.value, recordingId.value));

/** @param {Session | null} of @param {string} id */
function named(of, id) {
  const all = of?.recordings ?? [];
  return all.find((one) => one.id === id) ?? all[0] ?? null;
}

/** @param {string} kind of data */
export const has = (kind) => recording.value?.has[kind] ?? false;

/** The range that lanes show. */
export const range = signal(/** @type {TimeRange} */ ([0, 1_000_000_000]));
/** The range that panels are about; without it they are about the view range. */
export const selection = signal(/** @type {TimeRange | null} */ (null));
/** Whether the selection follows the pointer just now. */
export const dragging = signal(false);
/** A pattern as `-p` takes it. */
export const processes = signal(/** @type {string | null} */ (null));
/** The one thread that rows of panels are of. */
export const thread = signal(/** @type {{ tid: number, name: string } | null} */ (null));
export const panel = signal("processes");
/** Tables of panels that the reader wants otherwise than they are at first. */
export const tables = signal(/** @type {ReadonlyMap<string, TableState>} */ (new Map()));
export const filter = signal("");
export const measure = signal("cpu");
export const method = signal(/** @type {string | null} */ (null));
export const tagFile = signal("");
export const clock = signal("s");
export const zero = signal(/** @type {Zero | null} */ (null));
export const order = signal("cpu");
/** What lanes of processes and threads show: states from context switches, or CPU by samples. */
export const laneMeasure = signal("states");
export const hideInactive = signal(false);
export const opened = signal(/** @type {ReadonlySet<string>} */ (new Set(["processes"])));
export const pinned = signal(/** @type {readonly string[]} */ ([]));
export const hidden = signal(/** @type {ReadonlySet<string>} */ (new Set()));
/** The critical path that is drawn as a lane. */
export const path = signal(/** @type {PathOf | null} */ (null));
/** Lanes of a wait chain, below the lane that waited. */
export const guests = signal(/** @type {{ below: string, lanes: string[] } | null} */ (null));
/** Hues that the reader gave to processes and stack tags, by what `colourKey` names them. */
export const colours = signal(/** @type {ReadonlyMap<string, number>} */ (new Map()));
/** Spans that the reader came from on the way along a chain, the first one first. */
export const trail = signal(/** @type {readonly Followed[]} */ ([]));
export const chosen = signal(/** @type {Chosen | null} */ (null));
/** The lane that has the keyboard. */
export const lane = signal(/** @type {string | null} */ (null));
/** Marks of the reader. */
export const ownMarks = signal(/** @type {readonly Mark[]} */ ([]));
/** Findings of `explain`, as marks. */
export const findings = signal(/** @type {readonly Mark[]} */ ([]));
/** The finding whose time is selected. */
export const finding = signal(/** @type {Finding | null} */ (null));
export const pointer = signal(/** @type {number | null} */ (null));
/** What the pointer is on in a panel or in the lanes, lit in both. */
export const lit = signal(/** @type {{ pid: number | null, tid: number | null, range: TimeRange | null } | null} */ (null));
export const density = signal(/** @type {Density | null} */ (null));
/** What the live region says. */
export const said = signal("");
export const THEMES = { auto: "Colours of the system", light: "Light colours", dark: "Dark colours", contrast: "High contrast" };
export const theme = signal("auto");
/** How much of the window the panels take. */
export const DOCK = 0.38;
export const dock = signal(DOCK);

/** The range that panels are about. */
export const subject = computed(() => selection.value ?? range.value);

/** Text of instants by the clock and the time zero in use. */
export const clockNow = () => clockOf(recording.value, clock.value, zero.value?.ns ?? 0);

/** @returns {TimeRange} */
export function whole() {
  // Not by the computed value, which follows at the end of a batch.
  const one = named(session.peek(), recordingId.peek());
  return one ? [one.start_ns, Math.max(one.end_ns, one.start_ns + SHORTEST)] : [0, 1_000_000_000];
}

/** @param {TimeRange} wanted @returns {TimeRange} the same inside of the recording, in whole ns */
export function fitted([from, to]) {
  const [start, end] = whole();
  const size = Math.min(end - start, Math.max(SHORTEST, Math.round(to - from)));
  const first = Math.min(Math.max(Math.round(from), start), end - size);
  return [first, first + size];
}

/** For undo, and what was undone. */
export const past = signal(/** @type {readonly Step[]} */ ([]));
export const future = signal(/** @type {readonly Step[]} */ ([]));
/** When the last move was; moves that follow each other are one step. */
let settled = -Infinity;

/** Makes a step that can be undone. @param {Step} step */
function keep(step) {
  past.value = [...past.peek().slice(-99), step];
  future.value = [];
}

/** @type {Look} */
export function look(wanted, how = "step") {
  const next = fitted(wanted);
  const now = range.peek();
  if (isSame(next, now)) return;
  batch(() => {
    const moment = performance.now();
    if (how === "step" || moment - settled > 900) keep({ range: now, about: null });
    settled = how === "move" ? moment : -Infinity;
    range.value = next;
  });
}

/** @type {Record<string, Signal<unknown>>} */
const PARTS = { processes, thread, selection };
/** @param {About} of @returns {About} the same parts as they are now */
const about = (of) => Object.fromEntries(Object.keys(of).map((key) => [key, PARTS[key]?.peek()]));

/** @param {About} next what panels are about from now on; undo widens it again */
export function narrow(next) {
  batch(() => {
    keep({ range: range.peek(), about: about(next) });
    settled = -Infinity;
    show(next);
  });
}

/** @param {About} next */
function show(next) {
  for (const [key, value] of Object.entries(next)) if (PARTS[key]) PARTS[key].value = value;
}

/** @param {Signal<readonly Step[]>} from @param {Signal<readonly Step[]>} to */
function step(from, to) {
  const all = from.peek();
  const last = all[all.length - 1];
  if (!last) return;
  batch(() => {
    from.value = all.slice(0, -1);
    to.value = [...to.peek(), { range: range.peek(), about: last.about && about(last.about) }];
    if (last.about) show(last.about);
    else range.value = fitted(last.range);
    settled = -Infinity;
  });
}

export const undo = () => step(past, future);
export const redo = () => step(future, past);

/** Shows as long a range as now around an instant. @param {number} ns */
export function centre(ns) {
  const half = (range.peek()[1] - range.peek()[0]) / 2;
  look([ns - half, ns + half]);
}

/** Shows a range and a tenth of it on both sides. @param {TimeRange} range */
export function frame([from, to]) {
  const margin = (to - from) * 0.1;
  look([from - margin, to + margin]);
}

/** @param {TimeRange} a @param {TimeRange} b */
export const isSame = (a, b) => a[0] === b[0] && a[1] === b[1];

/** Whether the reader has a choice of recordings. */
export const hasMany = () => (session.value?.recordings.length ?? 0) > 1;

/** @param {string} name @param {number} ns an instant without a landmark */
export const zeroAt = (name, ns) => (zero.value = { name, ns, landmark: null });

/** @param {string[]} ids of lanes whose children are shown from now on, too */
export function open(ids) {
  if (ids.some((id) => !opened.peek().has(id))) opened.value = new Set([...opened.peek(), ...ids]);
}

/** @param {TimeRange} range @returns {TimeRange} the same, or the 1 ns of an instant */
export const lasting = ([from, to]) => [from, Math.max(to, from + 1)];

/** @param {number} share of the window that panels take */
export const resize = (share) => (dock.value = Math.min(0.8, Math.max(0.1, share)));

/** @type {Zoom} */
export function zoom(factor, around) {
  const [from, to] = range.peek();
  const [start, end] = whole();
  const size = Math.min(end - start, Math.max(SHORTEST, (to - from) * factor));
  const share = to > from ? (around - from) / (to - from) : 0.5;
  look([around - share * size, around - share * size + size], "move");
}

/** @param {number} share of the view range */
export function pan(share) {
  const [from, to] = range.peek();
  const by = (to - from) * share;
  look([from + by, to + by], "move");
}

/** @param {string} id */
export function toggleOpen(id) {
  const next = new Set(opened.peek());
  if (!next.delete(id)) next.add(id);
  opened.value = next;
}

/** @param {string} id */
export function togglePin(id) {
  const now = pinned.peek();
  pinned.value = now.includes(id) ? now.filter((one) => one !== id) : [...now, id];
}

/** @param {string} id */
export function hide(id) {
  hidden.value = new Set([...hidden.peek(), id]);
}

/** @param {string} key @param {number | null} hue null: the page chooses it */
export function giveColour(key, hue) {
  const next = new Map(colours.peek());
  if (hue === null) next.delete(key);
  else next.set(key, hue);
  colours.value = next;
}

/** All marks in the order of time. */
export const marks = computed(() => [...(recording.value?.marks ?? []), ...ownMarks.value, ...findings.value].sort((a, b) => a.ns - b.ns));
