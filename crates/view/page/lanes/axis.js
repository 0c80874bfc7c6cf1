// The axis: ticks, marks, the cursor's time, and hits of a search.
import { dpr, timeWidth, xOf } from "./geometry.js";
import { css } from "./palette.js";
import { clockOf, length, ticks } from "../format/time.js";
import { clean } from "../format/text.js";
import * as view from "../state/view.js";

export class Axis {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    /** @type {Record<string, string>} */
    this.colours = {};
    this.font = "";
    this.retheme();
  }

  retheme() {
    this.font = getComputedStyle(document.body).fontFamily;
    for (const name of ["ink", "dim", "rule", "mark", "accent", "surface", "raised", "finding", "hit", "on-accent"]) this.colours[name] = css(`--${name}`);
  }

  /** @param {number} height CSS pixels */
  draw(height) {
    const scale = dpr.peek();
    const width = timeWidth.peek();
    const { context, canvas } = this;
    const [w, h] = [Math.round(width * scale), Math.round(height * scale)];
    if (canvas.width !== w) canvas.width = w;
    if (canvas.height !== h) canvas.height = h;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = `11px ${this.font}`;
    context.textBaseline = "middle";
    this.#density(height);
    this.#ticks(width, height);
    this.#marks(width, height);
    this.#cursor(width, height);
  }

  /**
   * @param {number} width
   * @param {number} height
   */
  #ticks(width, height) {
    const [from, to] = view.range.peek();
    const zero = view.zero.peek()?.ns ?? 0;
    const { step, first } = ticks([from - zero, to - zero], width / 110);
    const clock = clockOf(view.recording.peek(), view.clock.peek(), zero);
    const { context } = this;
    context.fillStyle = this.colours["rule"] ?? "";
    for (let i = 0; ; i += 1) {
      const at = first - step + (i * step) / 5;
      if (at > to - zero) break;
      const x = Math.round(xOf(at + zero));
      context.fillRect(x, height - (i % 5 === 0 ? 8 : 4), 1, i % 5 === 0 ? 8 : 4);
    }
    context.fillStyle = this.colours["dim"] ?? "";
    context.textAlign = "left";
    for (let at = first; at <= to - zero; at += step) {
      const x = xOf(at + zero);
      if (x > width - 30) break;
      context.fillText(clock.text(at + zero, step), x + 4, height - 10);
    }
  }

  /**
   * @param {number} width
   * @param {number} height
   */
  #marks(width, height) {
    const { context } = this;
    const own = new Set(view.findings.peek());
    let free = -Infinity;
    for (const mark of view.marks.peek()) {
      const x = xOf(mark.ns);
      if (x < -2 || x > width + 2) continue;
      const colour = (own.has(mark) ? this.colours["finding"] : this.colours["mark"]) ?? "";
      context.fillStyle = colour;
      context.beginPath();
      context.moveTo(x, 2);
      context.lineTo(x + 6, 6);
      context.lineTo(x, 10);
      context.fill();
      context.fillRect(Math.round(x), 2, 1, height);
      if (x + 9 < free) continue;
      const text = clean(mark.name, 28);
      context.textAlign = "left";
      context.fillText(text, x + 9, 8);
      free = x + 14 + context.measureText(text).width;
    }
  }

  /** @param {number} height */
  #density(height) {
    const density = view.density.peek();
    if (!density) return;
    const max = Math.max(...density.values, 1);
    const { context } = this;
    context.fillStyle = this.colours["hit"] ?? "";
    density.values.forEach((value, i) => {
      if (value <= 0) return;
      const x0 = xOf(density.first_ns + i * density.bucket_ns);
      const x1 = xOf(density.first_ns + (i + 1) * density.bucket_ns);
      const h = Math.max(2, (value / max) * (height - 4));
      context.fillRect(x0, height - h, Math.max(1, x1 - x0), h);
    });
  }

  /**
   * @param {number} width
   * @param {number} height
   */
  #cursor(width, height) {
    const at = view.pointer.peek();
    if (at === null) return;
    const x = xOf(at);
    if (x < 0 || x > width) return;
    const [from, to] = view.range.peek();
    const anchor = view.selection.peek()?.[0] ?? view.zero.peek()?.ns ?? null;
    const clock = clockOf(view.recording.peek(), view.clock.peek(), view.zero.peek()?.ns ?? 0);
    const away = anchor === null ? "" : `  ${at >= anchor ? "+" : "−"}${length(Math.abs(at - anchor))}`;
    const text = `${clock.text(at, (to - from) / width)}${away}`;
    const { context } = this;
    const wide = context.measureText(text).width + 12;
    const left = Math.min(Math.max(0, x - wide / 2), width - wide);
    context.fillStyle = this.colours["ink"] ?? "";
    context.beginPath();
    context.roundRect(left, height - 20, wide, 18, 4);
    context.fill();
    context.fillStyle = this.colours["surface"] ?? "";
    context.textAlign = "left";
    context.fillText(text, left + 6, height - 10.5);
  }
}
