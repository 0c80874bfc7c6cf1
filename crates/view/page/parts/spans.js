// The span under the pointer or the cursor: what it is, and who ended it.
import * as client from "../api/client.js";
import { batch } from "../dom.js";
import { clean, didIn, length, ownName } from "../format.js";
import * as model from "../lanes/model.js";
import { LANE } from "../lanes/path.js";
import * as view from "../state/view.js";
import { toast } from "./menu.js";
import { goto, stepPath } from "./path.js";

let stop = new AbortController();

/** Lanes whose spans can be chosen. */
const KINDS = new Set(["thread", "cpu", "disk", "gc", "jit", "region", "mark"]);

/** The longest way along a chain that is kept. */
const STEPS = 64;

/** Leaves the span and the way to it. */
export function leave() {
  batch(() => {
    view.chosen.value = null;
    view.guests.value = null;
    view.trail.value = [];
  });
}

/** @type {Choose} */
export async function choose(lane, ns, show = false, along = false) {
  if (lane === LANE) {
    goto(ns);
    return;
  }
  await model.find([lane]);
  const known = model.known.get(lane);
  if (!known || !KINDS.has(known.kind)) {
    leave();
    if (known?.kind === "process") toast(`${clean(known.name, 60)}: open the lane to see the waits of its threads`);
    return;
  }
  const from = along ? view.chosen.peek() : null;
  const before = from ? { chosen: from, guests: view.guests.peek(), range: view.range.peek() } : null;
  stop.abort();
  stop = new AbortController();
  try {
    const at = await client.at({ lane, ns: Math.round(ns) }, stop.signal);
    batch(() => {
      // Other spans of the lane do not leave the way to it.
      if (!at.span || (!before && view.chosen.peek()?.lane !== lane)) view.trail.value = [];
      else if (before) view.trail.value = [...view.trail.peek(), before].slice(-STEPS);
      view.chosen.value = at.span ? { lane, name: known.name, at } : null;
      view.guests.value = guestsOf(lane, at);
      if (show && at.span) follow([at.span.start_ns, at.span.end_ns]);
    });
    view.said.value = sentence(known.name, at);
  } catch (error) {
    client.report(error);
  }
}

/** Lanes of the chain, below the lane at which the reader began to follow it. @param {string} lane @param {At} at */
function guestsOf(lane, at) {
  const chains = [...view.trail.peek().map(({ chosen }) => chosen), { lane, at }];
  const below = chains[0]?.lane ?? lane;
  const lanes = chains.flatMap((one) => [one.lane, one.at.waker?.lane, ...one.at.chain.map((link) => link.lane)]);
  const others = [...new Set(lanes)].filter((id) => typeof id === "string" && id !== below);
  return others.length > 0 ? { below, lanes: /** @type {string[]} */ (others).slice(0, 20) } : null;
}

/** Goes back along the followed chain. @param {number} [steps] */
export function back(steps = 1) {
  const all = view.trail.peek();
  const to = all[Math.max(0, all.length - steps)];
  if (!to) return false;
  stop.abort();
  batch(() => {
    view.trail.value = all.slice(0, Math.max(0, all.length - steps));
    view.chosen.value = to.chosen;
    view.guests.value = to.guests;
    view.lane.value = to.chosen.lane;
    view.look(to.range);
  });
  const { name, at } = to.chosen;
  view.said.value = sentence(name, at);
  return true;
}

/** Goes to a thread of the chain, to its last span before it ended the wait. @type {FollowTo} */
export function followTo(lane, end) {
  if (view.guests.peek()?.lanes.includes(lane)) view.lane.value = lane;
  else void model.reveal(lane);
  return choose(lane, end - 1, true, true);
}

/** @param {TimeRange} span */
function follow([start, end]) {
  const [from, to] = view.range.peek();
  if (end > from && start < to) return;
  const size = Math.max(to - from, (end - start) * 1.2);
  view.look([(start + end) / 2 - size / 2, (start + end) / 2 + size / 2]);
}

/** What a screen reader says of a span. @param {string} name @param {At} at */
function sentence(name, { span, waker, device, stack }) {
  if (!span) return `${clean(name)}: nothing here`;
  const when = view.clockNow().text(span.start_ns, 1000);
  const where = stack?.[0] ? ` in ${clean(stack[0], 120)}` : "";
  const by = waker ? `, woken by ${clean(waker.name, 80)}` : device ? `, woken by ${device}` : "";
  return `${clean(name)}, ${when}, ${didIn(span)} ${length(span.end_ns - span.start_ns)}${ownName(span, name)}${where}${by}`;
}

/** @param {1 | -1} way to the next or the previous span of the lane */
export function stepSpan(way) {
  const chosen = view.chosen.peek();
  const lane = view.lane.peek() ?? chosen?.lane ?? null;
  if (!lane) return;
  if (lane === LANE) {
    stepPath(way);
    return;
  }
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
  void followTo(waker.lane, waker.ns);
  return true;
}
