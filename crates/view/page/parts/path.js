// The critical path: what it is asked of, and the way from a segment to its thread.
import { batch } from "../dom.js";
import * as model from "../lanes/model.js";
import { LANE, placeAt, shown, textAt } from "../lanes/path.js";
import { patternOf, threadOf } from "../lanes/rows.js";
import * as view from "../state/view.js";
import { toast } from "./menu.js";
import { choose } from "./spans.js";

/** Shows the path of the selection, or of the view range, that ends in a process or thread. @param {Lane | null} lane */
export function showPath(lane) {
  const of = lane?.kind === "thread" ? ofThread(lane) : lane?.kind === "process" ? { process: patternOf(lane).pattern, tid: null } : { process: view.processes.peek(), tid: view.thread.peek()?.tid ?? null };
  if (!of.process && of.tid === null) {
    toast("A path starts from one program: choose the lane of a process or thread first");
    return;
  }
  const [from, to] = view.subject.peek();
  batch(() => {
    view.path.value = { ...of, range: [from, to] };
    view.narrow({ selection: [from, to], processes: of.process });
    view.panel.value = "path";
    view.lane.value = LANE;
  });
}

/** @param {Lane} lane */
function ofThread(lane) {
  const { tid } = threadOf(lane);
  const parent = model.parentOf(lane.id);
  const process = parent ? patternOf(parent).pattern : /^(.*\(\d+\))(?: [+-]{1,2})? \d+/s.exec(lane.name)?.[1] ?? null;
  return { process, tid: tid >= 0 ? tid : null };
}

/** The command list: of the lane that has the keyboard, else of the process and thread that panels are about. */
export function showPathHere() {
  const lane = view.lane.peek();
  showPath(lane ? model.known.get(lane) ?? null : null);
}

let place = -1;

/** Goes from a segment to its thread at its instant. @type {GoAlong} */
export function goto(ns, along = false) {
  place = placeAt(ns);
  const one = shown.peek()?.segments[place];
  view.said.value = textAt(ns) ?? "";
  if (!one || one.thread === null) return;
  const id = `thread:${one.thread}`;
  if (!along) void model.reveal(id);
  void choose(id, Math.min(Math.max(ns, one.from), one.to - 1), true);
}

/** @param {1 | -1} way to the next or the previous segment */
export function stepPath(way) {
  const all = shown.peek()?.segments ?? [];
  const [from] = view.range.peek();
  const next = place >= 0 ? place + way : Math.max(0, all.findIndex((one) => one.to > from));
  const one = all[next];
  if (one) goto(one.from, true);
}

/** Takes the lane away. */
export function dropPath() {
  place = -1;
  view.path.value = null;
}
