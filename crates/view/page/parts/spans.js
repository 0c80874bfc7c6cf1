// The span under the pointer or the span cursor: what it is, who ended it, and the chain of its wait.
import * as client from "../api/client.js";
import { batch } from "../dom/signal.js";
import { clean } from "../format/text.js";
import { length } from "../format/time.js";
import * as model from "../lanes/model.js";
import * as view from "../state/view.js";

let stop = new AbortController();

/** Lanes whose spans can be chosen. */
const KINDS = new Set(["thread", "cpu", "disk", "gc", "jit", "region", "mark", "process"]);

/** @param {string} lane @param {number} ns @param {boolean} [show] whether the view follows the span */
export async function choose(lane, ns, show = false) {
  await model.find([lane]);
  const known = model.known.get(lane);
  const recording = view.recording.peek();
  if (!known || !recording || !KINDS.has(known.kind)) {
    view.chosen.value = null;
    view.guests.value = null;
    return;
  }
  stop.abort();
  stop = new AbortController();
  try {
    const at = await client.at({ recording: recording.id, lane, ns: Math.round(ns) }, stop.signal);
    batch(() => {
      view.chosen.value = at.span ? { lane, name: known.name, at } : null;
      const lanes = [at.waker?.lane, ...at.chain.map((link) => link.lane)].filter((id) => id !== null && id !== undefined && id !== lane);
      view.guests.value = lanes.length > 0 ? { below: lane, lanes: [...new Set(/** @type {string[]} */ (lanes))].slice(0, 20) } : null;
      if (show && at.span) follow([at.span.start_ns, at.span.end_ns]);
    });
    view.said.value = sentence(known.name, at);
  } catch (error) {
    client.report(error);
  }
}

/** @param {TimeRange} span */
function follow([start, end]) {
  const [from, to] = view.range.peek();
  if (end > from && start < to) return;
  const size = Math.max(to - from, (end - start) * 1.2);
  view.look([(start + end) / 2 - size / 2, (start + end) / 2 + size / 2]);
}

/**
 * What a screen reader says of a span.
 * @param {string} name
 * @param {At} at
 */
function sentence(name, { span, waker, device, stack }) {
  if (!span) return `${clean(name)}: nothing here`;
  const when = view.clockNow().text(span.start_ns, 1000);
  const did = { run: "runs", wait: "waits", ready: "is ready", open: "not seen yet", unknown: "unknown" }[span.state] ?? span.state;
  const where = stack?.[0] ? ` in ${clean(stack[0], 120)}` : "";
  const by = waker ? `, woken by ${clean(waker.name, 80)}` : device ? `, woken by ${device}` : "";
  return `${clean(name)}, ${when}, ${did} ${length(span.end_ns - span.start_ns)}${where}${by}`;
}

/** @param {1 | -1} way to the next or the previous span of the lane */
export function stepSpan(way) {
  const chosen = view.chosen.peek();
  const lane = view.lane.peek() ?? chosen?.lane ?? null;
  if (!lane) return;
  const span = chosen && chosen.lane === lane ? chosen.at.span : null;
  const [from] = view.range.peek();
  const [start, end] = view.whole();
  const ns = span ? (way > 0 ? span.end_ns : span.start_ns - 1) : from;
  if (ns >= start && ns < end) void choose(lane, ns, true);
}

/** Goes to who ended the chosen wait. */
export function followWaker() {
  const waker = view.chosen.peek()?.at.waker;
  if (!waker?.lane) return false;
  void model.reveal(waker.lane);
  void choose(waker.lane, waker.ns - 1, true);
  return true;
}
