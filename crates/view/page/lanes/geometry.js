// Where an instant stands: the time area is the same for overview, axis and lanes.
import { signal } from "../dom.js";
import * as view from "../state/view.js";

/** Width of the heads and of the time area, in CSS pixels, and device pixels per CSS pixel. */
export const headWidth = signal(300);
export const timeWidth = signal(800);
export const dpr = signal(1);
export const rowHeight = signal(28);

/** @param {number} ns @returns {number} CSS pixels from the left of the time area */
export function xOf(ns) {
  const [from, to] = view.range.peek();
  return ((ns - from) / (to - from)) * timeWidth.peek();
}

/** @param {number} x @returns {number} ns, whole */
export function nsAt(x) {
  const [from, to] = view.range.peek();
  return Math.round(from + (x / timeWidth.peek()) * (to - from));
}

/** Moves and stretches an element: a frame of a zoom lays nothing out. @type {Shift} */
export function shift(element, x, wide = 1) {
  if (element) element.style.transform = `translateX(${x}px) scaleX(${Math.max(0, wide)})`;
}

export function nsPerPixel() {
  const [from, to] = view.range.peek();
  return (to - from) / Math.max(1, timeWidth.peek());
}
