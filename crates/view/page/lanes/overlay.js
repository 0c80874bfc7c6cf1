// Above the pictures: grid, marks, selection, cursor, the chosen span and its arrows.
import { timeWidth, xOf } from "./geometry.js";
import { clipped, Layer } from "./layer.js";
import { LANE, draw } from "./path.js";
import { ticks } from "../format.js";
import * as view from "../state/view.js";

/** Arrows that the last frame drew, for tests. */
export const arrows = { last: /** @type {{ from: string, to: string, ns: number }[]} */ ([]) };

export class Overlay extends Layer {
  /** @param {HTMLCanvasElement} canvas @param {Singles} singles */
  constructor(canvas, singles) {
    super(canvas);
    this.singles = singles;
  }

  /** @param {Band[]} bands lanes in sight @param {number} height CSS pixels */
  draw(bands, height) {
    const context = this.above(timeWidth.peek(), height);
    this.#grid();
    this.#selection();
    this.#marks();
    for (const band of bands) {
      if (band.top >= band.clipTop) this.singles.draw(this, band);
      else clipped(context, [0, band.clipTop, this.width, height], () => this.singles.draw(this, band));
    }
    const path = bands.find(({ id }) => id === LANE);
    if (path) draw(this, path);
    this.#lit();
    this.#chosen(bands);
    this.#cursor();
  }

  #grid() {
    const [from, to] = view.range.peek();
    const zero = view.zero.peek()?.ns ?? 0;
    const { step, first } = ticks([from - zero, to - zero], this.width / 110);
    const places = [];
    for (let at = first; at <= to - zero; at += step) places.push(xOf(at + zero));
    this.lines("grid", places);
  }

  #selection() {
    const { width, height } = this;
    const range = view.selection.peek();
    if (!range) return;
    const [x0, x1] = [xOf(range[0]), xOf(range[1])];
    this.fill("shade", 0, 0, Math.max(0, x0), height);
    this.fill("shade", Math.min(width, x1), 0, Math.max(0, width - x1), height);
    this.fill("accent", Math.round(x0) - 1, 0, 1.5, height);
    this.fill("accent", Math.round(x1), 0, 1.5, height);
  }

  #marks() {
    const { context } = this;
    const [from, to] = view.range.peek();
    const all = view.marks.peek().filter(({ ns }) => ns >= from && ns <= to);
    if (all.length > 400) return;
    context.setLineDash([4, 3]);
    const own = new Set(view.findings.peek());
    for (const mark of all) this.lines(own.has(mark) ? "finding" : "mark", [xOf(mark.ns)]);
    context.setLineDash([]);
  }

  #lit() {
    const range = view.lit.peek()?.range;
    if (!range) return;
    const x0 = xOf(range[0]);
    this.fill("lit", x0, 0, Math.max(2, xOf(range[1]) - x0), this.height);
  }

  /** @param {Band[]} bands */
  #chosen(bands) {
    arrows.last = [];
    const chosen = view.chosen.peek();
    // The chain that the reader follows stays in sight.
    for (const { chosen: one } of view.trail.peek()) this.#span(one, bands, true);
    if (chosen) this.#span(chosen, bands, false);
  }

  /** @param {Chosen} chosen @param {Band[]} bands @param {boolean} left whether the reader went on from it */
  #span(chosen, bands, left) {
    if (!chosen.at.span) return;
    const { context } = this;
    const band = (/** @type {string | null} */ id) => bands.find((one) => one.id === id && one.key !== "head") ?? null;
    const own = band(chosen.lane);
    const { start_ns: start, end_ns: end } = chosen.at.span;
    if (own) {
      const x0 = xOf(start);
      context.strokeStyle = this.colour("accent");
      context.lineWidth = left ? 1 : 2;
      context.strokeRect(Math.round(x0) - 1, own.top + 1, Math.max(3, Math.round(xOf(end) - x0) + 2), own.bottom - own.top - 2);
    }
    const waker = chosen.at.waker;
    if (waker) this.#arrow(band(waker.lane), own, waker.ns, waker.lane ?? waker.name, chosen.lane);
    let to = waker?.lane ?? null;
    for (const link of chosen.at.chain) {
      const lane = link.lane;
      const here = band(lane);
      if (here) {
        const x0 = xOf(link.start_ns);
        this.fill("lit", x0, here.top + 1, Math.max(2, xOf(link.end_ns) - x0), here.bottom - here.top - 2);
      }
      if (lane && to && lane !== to) this.#arrow(here, band(to), link.end_ns, lane, to);
      to = lane;
    }
  }

  /** @param {Band | null} from @param {Band | null} to @param {number} ns @param {string} fromId @param {string} toId */
  #arrow(from, to, ns, fromId, toId) {
    arrows.last.push({ from: fromId, to: toId, ns });
    if (!to) return;
    const { context } = this;
    const x = Math.round(xOf(ns)) + 0.5;
    const y1 = (to.top + to.bottom) / 2;
    const y0 = from ? (from.top + from.bottom) / 2 : to.bottom + 16;
    const down = y1 > y0 ? 1 : -1;
    const far = Math.abs(y1 - y0) > 70;
    // Light below dark, so that it is seen on every lane.
    for (const [colour, wide] of /** @type {[string, number][]} */ ([[this.colour("surface"), 6], [this.colour("arrow"), 2.5]])) {
      const more = (wide - 2.5) / 2;
      context.strokeStyle = colour;
      context.fillStyle = colour;
      context.lineWidth = wide;
      context.beginPath();
      context.moveTo(x, y0);
      if (far) context.bezierCurveTo(x + 16, y0 + down * 20, x + 16, y1 - down * 24, x, y1 - down * 8);
      else context.lineTo(x, y1 - down * 8);
      context.stroke();
      context.beginPath();
      context.moveTo(x, y1 + down * more);
      context.lineTo(x - 5.5 - more, y1 - down * (9 + more));
      context.lineTo(x + 5.5 + more, y1 - down * (9 + more));
      context.fill();
      context.beginPath();
      context.arc(x, y0, 3.5 + more, 0, Math.PI * 2);
      context.fill();
    }
  }

  #cursor() {
    const { context, width } = this;
    const at = view.pointer.peek();
    if (at === null) return;
    const x = xOf(at);
    if (x < -0.5 || x > width) return;
    context.globalAlpha = 0.55;
    this.lines("ink", [x]);
    context.globalAlpha = 1;
  }
}
