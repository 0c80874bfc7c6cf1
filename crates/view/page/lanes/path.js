// The critical path of a range as a lane: who ran, or what was waited for. Its segments are those of
// `dump path --segments`.
import * as client from "../api/client.js";
import { effect, signal, untracked } from "../dom.js";
import { clean, DID, group, length, messageOf } from "../format.js";
import { windowWords } from "../panels/questions.js";
import { xOf } from "./geometry.js";
import { clipped } from "./layer.js";
import { hueOfIndex } from "./paint.js";
import { hueOrder } from "./palette.js";
import * as view from "../state/view.js";

export const LANE = "path:0";
/** More than so many are the longest ones alone; the lane says how many are missing. */
const MOST = 20_000;

/** What is shown; null while it is asked for. */
export const shown = signal(/** @type {Path | null} */ (null));

/** Starts to follow the view. */
export function start() {
  effect(() => {
    const of = view.path.value;
    const recording = view.recording.value;
    shown.value = null;
    if (!of || !recording) return undefined;
    const stop = new AbortController();
    void untracked(() => load(of, stop.signal));
    return () => stop.abort();
  });
}

/** @param {PathOf} of @param {AbortSignal} aborted */
async function load(of, aborted) {
  const words = ["dump", "path", ...windowWords(of), "--segments", "--top", String(MOST)];
  try {
    const answer = await client.question(words, { signal: aborted, id: client.freshId(), rank: 3 });
    const segments = answer.rows.map(segmentOf).filter((one) => one !== null);
    const drawn = segments.reduce((sum, one) => sum + one.to - one.from, 0);
    const whole = answer.rows[0]?.window_ns;
    if (aborted.aborted) return;
    shown.value = { segments, words, command: answer.command, error: segments.length === 0 ? answer.notes[0] ?? "nothing is known of this range" : null, missing: typeof whole === "number" ? whole - drawn : 0 };
  } catch (error) {
    if (client.isAbort(error) || aborted.aborted) return;
    shown.value = { segments: [], words, command: "", error: messageOf(error), missing: 0 };
  }
}

/** @param {TableRow} row */
function segmentOf(row) {
  const [from, to, process, thread] = [row.from_ns, row.to_ns, row.process_key, row.thread_key];
  if (typeof from !== "number" || typeof to !== "number") return null;
  const text = (/** @type {string} */ key) => (typeof row[key] === "string" ? clean(String(row[key]), 120) : "");
  const name = [`${text("process")}(${row.pid ?? "?"})`, row.tid ?? "", text("thread_name")].filter((part) => part !== "").join(" ");
  const state = text("state");
  const reason = state === "wait" ? [text("ended_by") && `for ${text("ended_by")}`, text("wait_method") && `in ${text("wait_method")}`] : state === "ready" ? [text("had_cpu") ? `while ${text("had_cpu")} had the CPU` : text("tag")] : [text("tag")];
  const whom = text("for_site") ? [`for the wait in ${text("for_site")}`] : [];
  return { from, to, state, process: typeof process === "number" ? process : -1, thread: typeof thread === "number" ? thread : null, name, what: [...reason, ...whom].filter(Boolean).join(", ") };
}

/** @param {number} ns @returns {number} place of the first segment that ends behind it */
function firstBehind(ns) {
  const all = shown.peek()?.segments ?? [];
  let [low, high] = [0, all.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((all[middle]?.to ?? 0) <= ns) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** @param {number} ns @returns {number} place of the segment at an instant, −1: none */
export function placeAt(ns) {
  const place = firstBehind(ns);
  return (shown.peek()?.segments[place]?.from ?? Infinity) <= ns ? place : -1;
}

/** @param {number} ns @returns {string | null} the segment at an instant, in words */
export function textAt(ns) {
  const one = shown.peek()?.segments[placeAt(ns)];
  return one ? `${one.name} ${DID[one.state] ?? one.state} ${length(one.to - one.from)}${one.what ? `\n${one.what}` : ""}` : null;
}

/** @returns {string} what the corner of the lane says */
export function corner() {
  const path = shown.peek();
  if (!path) return "";
  if (path.error) return clean(path.error, 120);
  return path.missing > 0 ? `the ${group(path.segments.length)} longest segments; ${length(path.missing)} not shown` : "exact";
}

/**
 * Draws the segments in sight. Those narrower than a pixel share it by their times.
 * @param {Layer} layer whose origin is the left of the time area
 * @param {Band} band
 */
export function draw(layer, band) {
  const all = shown.peek()?.segments ?? [];
  const { width } = layer;
  const [from, to] = view.range.peek();
  const [top, height] = [band.top + 3, band.bottom - band.top - 6];
  /** @type {Map<number, Map<string, number>>} */
  const narrow = new Map();
  const order = hueOrder.peek();
  for (let i = firstBehind(from); i < all.length; i += 1) {
    const one = /** @type {Segment} */ (all[i]);
    if (one.from >= to) break;
    const [a, b] = [Math.max(0, xOf(one.from)), Math.min(width, xOf(one.to))];
    const hue = `hue-${hueOfIndex(Math.max(0, one.process), order)}`;
    const own = one.state === "run" ? hue : one.state === "ready" || one.state === "wait" ? one.state : "unknown";
    if (b - a < 1.5) share(narrow, a, b, own);
    else {
      form(layer, one.state, [a, b, top, height], [hue, own]);
      if (b - a > 60) label(layer, one, [a, b, top, height]);
    }
  }
  for (const [x, parts] of narrow) {
    let foot = top + height;
    const whole = Math.max(1, [...parts.values()].reduce((sum, part) => sum + part, 0));
    for (const [name, part] of parts) {
      const tall = (part / whole) * height;
      layer.fill(name, x, foot - tall, 1, tall);
      foot -= tall;
    }
  }
}

/** @type {Share} */
function share(narrow, a, b, name) {
  for (let x = Math.floor(a); x < b; x += 1) {
    const parts = narrow.get(x) ?? new Map();
    parts.set(name, (parts.get(name) ?? 0) + Math.min(b, x + 1) - Math.max(a, x));
    narrow.set(x, parts);
  }
}

/**
 * States differ in form: a run has the full height, ready two thirds, a wait is a line, the unknown are dots.
 * @param {Layer} layer
 * @param {string} state
 * @param {Rect} box left, right, top, height
 * @param {[string, string]} colours of the process, of the state
 */
function form(layer, state, [a, b, top, height], [hue, own]) {
  const bottom = top + height;
  if (state === "run") layer.fill(hue, a, top, b - a, height);
  else if (state === "wait") layer.fill(hue, a, bottom - 4, b - a, 4);
  else if (state === "ready") {
    layer.fill(hue, a, bottom - 3, b - a, 3);
    for (let x = Math.ceil(a / 4) * 4; x < b; x += 4) layer.fill(own, x, bottom - (height * 2) / 3, 2, (height * 2) / 3 - 3);
  } else {
    for (let x = Math.ceil(a / 6) * 6; x < b; x += 6) layer.fill(own, x, bottom - 5, 2, 2);
  }
}

/** @param {Layer} layer @param {Segment} one @param {Rect} box left, right, top, height */
function label(layer, one, [a, b, top, height]) {
  const { context } = layer;
  clipped(context, [a, top, b - a, height], () => {
    context.fillStyle = layer.colour(one.state === "run" ? "surface" : "ink");
    context.fillText(one.state === "wait" && one.what ? `${one.name}: ${one.what}` : one.name, a + 4, top + height * (one.state === "run" ? 0.5 : 0.4));
  });
}
