// Moves in time: nearer and farther, to the selection, from mark to mark.
import { CLOCK_NAMES, CLOCKS } from "../format.js";
import { timeWidth } from "../lanes/geometry.js";
import * as view from "../state/view.js";
import { toast } from "./menu.js";
import { followWaker } from "./spans.js";

/** @param {number} factor */
export function zoomBy(factor) {
  const at = view.pointer.peek();
  const [from, to] = view.range.peek();
  const selection = view.selection.peek();
  const middle = selection && selection[1] > from && selection[0] < to ? (selection[0] + selection[1]) / 2 : (from + to) / 2;
  view.zoom(factor, at ?? middle);
}

export function zoomToSelection() {
  const selection = view.selection.peek();
  if (selection) view.look(selection);
  else if (!followWaker()) toast("Nothing is selected: drag over the lanes first");
}

let fitted = false;
export function fit() {
  const selection = view.selection.peek() ?? spanRange();
  const [from, to] = view.range.peek();
  const middle = selection ? (selection[0] + selection[1]) / 2 : null;
  const centred = middle !== null && Math.abs((from + to) / 2 - middle) < (to - from) / timeWidth.peek();
  if (selection && middle !== null && !centred) {
    view.centre(middle);
    fitted = false;
  } else if (selection && !fitted) {
    view.frame(selection);
    fitted = true;
  } else {
    view.look(view.whole());
    fitted = false;
  }
}

/** @returns {TimeRange | null} */
export function spanRange() {
  const span = view.chosen.peek()?.at.span;
  return span ? [span.start_ns, span.end_ns] : null;
}

/** @param {1 | -1} way */
export function stepMark(way) {
  const [from, to] = view.range.peek();
  const now = view.pointer.peek() ?? (from + to) / 2;
  const all = view.marks.peek();
  const next = way > 0 ? all.find(({ ns }) => ns > now + 1) : [...all].reverse().find(({ ns }) => ns < now - 1);
  if (!next) return;
  view.centre(next.ns);
  view.pointer.value = next.ns;
  view.said.value = `mark ${next.name}`;
}

export function setMark() {
  const [from, to] = view.range.peek();
  const ns = view.pointer.peek() ?? view.selection.peek()?.[0] ?? Math.round((from + to) / 2);
  view.ownMarks.value = [...view.ownMarks.peek(), { ns, name: `mark ${view.ownMarks.peek().length + 1}` }];
}

export function nextClock() {
  const at = CLOCKS.findIndex((clock) => clock === view.clock.peek());
  view.clock.value = CLOCKS[(at + 1) % CLOCKS.length] ?? "s";
  view.said.value = CLOCK_NAMES[view.clock.peek()] ?? "";
}
