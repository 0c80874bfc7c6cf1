// The axis: ticks, marks, the cursor's time, and hits of a search.
import { timeWidth, xOf } from "./geometry.js";
import { Layer } from "./layer.js";
import { clean, length, ticks } from "../format.js";
import * as view from "../state/view.js";

export class Axis extends Layer {
  /** @param {number} height CSS pixels */
  draw(height) {
    this.begin(timeWidth.peek(), height);
    this.#density();
    this.#ticks();
    this.#marks();
    this.#cursor();
  }

  #ticks() {
    const { context, width, height } = this;
    const [from, to] = view.range.peek();
    const zero = view.zero.peek()?.ns ?? 0;
    const { step, first } = ticks([from - zero, to - zero], width / 110);
    const clock = view.clockNow();
    for (let i = 0; ; i += 1) {
      const at = first - step + (i * step) / 5;
      if (at > to - zero) break;
      const tall = i % 5 === 0 ? 8 : 4;
      this.fill("rule", Math.round(xOf(at + zero)), height - tall, 1, tall);
    }
    context.fillStyle = this.colour("dim");
    context.textAlign = "left";
    for (let at = first; at <= to - zero; at += step) {
      const x = xOf(at + zero);
      if (x > width - 30) break;
      context.fillText(clock.text(at + zero, step), x + 4, height - 10);
    }
  }

  #marks() {
    const { context, width, height } = this;
    const own = new Set(view.findings.peek());
    let free = -Infinity;
    for (const mark of view.marks.peek()) {
      const x = xOf(mark.ns);
      if (x < -2 || x > width + 2) continue;
      context.fillStyle = this.colour(own.has(mark) ? "finding" : "mark");
      context.beginPath();
      context.moveTo(x, 2);
      context.lineTo(x + 6, 6);
      context.lineTo(x, 10);
      context.fill();
      context.fillRect(Math.round(x), 2, 1, height);
      if (x + 9 < free) continue;
      const text = clean(mark.name, 28);
      const wide = context.measureText(text).width;
      // At the right end the name stands before its mark.
      const before = x + 9 + wide > width && x - 5 - wide > free;
      if (!before && x + 9 + wide > width) continue;
      context.textAlign = before ? "right" : "left";
      context.fillText(text, before ? x - 5 : x + 9, 8);
      context.textAlign = "left";
      free = before ? x + 9 : x + 14 + wide;
    }
  }

  #density() {
    const { height } = this;
    const density = view.density.peek();
    if (!density) return;
    const max = Math.max(...density.values, 1);
    density.values.forEach((value, i) => {
      if (value <= 0) return;
      const x0 = xOf(density.first_ns + i * density.bucket_ns);
      const x1 = xOf(density.first_ns + (i + 1) * density.bucket_ns);
      const h = Math.max(2, (value / max) * (height - 4));
      this.fill("hit", x0, height - h, Math.max(1, x1 - x0), h);
    });
  }

  #cursor() {
    const { context, width, height } = this;
    const at = view.pointer.peek();
    if (at === null) return;
    const x = xOf(at);
    if (x < 0 || x > width) return;
    const [from, to] = view.range.peek();
    const anchor = view.selection.peek()?.[0] ?? view.zero.peek()?.ns ?? null;
    const clock = view.clockNow();
    const away = anchor === null ? "" : `  ${at >= anchor ? "+" : "−"}${length(Math.abs(at - anchor))}`;
    const text = `${clock.text(at, (to - from) / width)}${away}`;
    const wide = context.measureText(text).width + 12;
    const left = Math.min(Math.max(0, x - wide / 2), width - wide);
    context.fillStyle = this.colour("ink");
    context.beginPath();
    context.roundRect(left, height - 20, wide, 18, 4);
    context.fill();
    context.fillStyle = this.colour("surface");
    context.textAlign = "left";
    context.fillText(text, left + 6, height - 10.5);
  }
}
