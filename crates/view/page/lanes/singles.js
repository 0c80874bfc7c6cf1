// Single operations, events and marks: drawn where few enough are in sight, instead of their density alone.
import * as client from "../api/client.js";
import { effect } from "../dom/signal.js";
import { clean } from "../format/text.js";
import { xOf, timeWidth } from "./geometry.js";
import { css } from "./palette.js";
import * as view from "../state/view.js";

const KINDS = new Set(["disk", "event", "mark", "region", "gc", "jit"]);
/** More than so many are a density. */
const MOST = 600;
const STILL_MS = 160;

export class Singles {
  /** @param {() => void} changed */
  constructor(changed) {
    this.changed = changed;
    /** @type {Map<string, Known>} */
    this.known = new Map();
    /** @type {Lane[]} */
    this.lanes = [];
    this.stop = new AbortController();
    this.timer = 0;
    effect(() => {
      void view.range.value;
      this.later();
    });
  }

  /** @param {Lane[]} lanes in sight */
  show(lanes) {
    this.lanes = lanes.filter(({ kind }) => KINDS.has(kind)).slice(0, 30);
    this.later();
  }

  later() {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.#load(), STILL_MS);
  }

  async #load() {
    const recording = view.recording.peek();
    if (!recording) return;
    this.stop.abort();
    this.stop = new AbortController();
    const { signal } = this.stop;
    const [from, to] = view.range.peek();
    for (const lane of this.lanes) {
      const had = this.known.get(lane.id);
      // What is whole for a larger range is whole for a part of it; what was too much may be less.
      if (had && (had.frame ? had.from <= from && had.to >= to : had.from === from && had.to === to)) continue;
      try {
        await client.frames("spans", { recording: recording.id, lane: lane.id, from, to, most: MOST }, (frame) => {
          const whole = frame.head.count !== null && frame.head.count !== undefined && frame.head.more !== true;
          this.known.set(lane.id, { from, to, frame: whole ? frame : null });
        }, { signal, rank: 4 });
        this.changed();
      } catch (error) {
        if (client.isAbort(error)) return;
        // The density stays: single ones are an extra.
        this.known.set(lane.id, { from, to, frame: null });
      }
    }
  }

  forget() {
    this.known.clear();
  }

  /** @param {CanvasRenderingContext2D} context whose origin is the left of the time area @param {Band[]} bands */
  draw(context, bands) {
    const [from, to] = view.range.peek();
    const width = timeWidth.peek();
    /** @type {Record<string, string>} */
    const colours = {};
    const colour = (/** @type {string} */ name) => (colours[name] ??= css(name));
    for (const band of bands) {
      const frame = this.known.get(band.id)?.frame;
      if (!frame) continue;
      const { start, end, state, name } = frame.series;
      if (!start || !end) continue;
      const { states = [], names = [] } = frame.head;
      const top = band.top + 3;
      const height = band.bottom - band.top - 6;
      for (let i = 0; i < start.length; i += 1) {
        const [a, b] = [start[i] ?? 0, end[i] ?? 0];
        if (b < from || a > to) continue;
        const x = xOf(a);
        const w = xOf(b) - x;
        const kind = states[state?.[i] ?? -1] ?? "";
        context.fillStyle = colour(kind === "read" ? "--wait" : kind === "write" ? "--ready" : kind === "flush" ? "--line" : kind === "mark" ? "--mark" : "--cpu");
        if (b <= a) {
          context.beginPath();
          context.arc(x, top + height / 2, 3.5, 0, Math.PI * 2);
          context.fill();
        } else {
          context.fillRect(x, top + height * 0.25, Math.max(1.5, w), height * 0.75);
        }
        const text = names[name?.[i] ?? -1] ?? kind;
        const room = b <= a ? (i + 1 < start.length ? xOf(start[i + 1] ?? 0) : width) - x - 12 : Math.min(width, x + w) - Math.max(0, x) - 6;
        if (room < 30 || !text) continue;
        context.save();
        context.beginPath();
        context.rect(b <= a ? x + 6 : Math.max(0, x), top, room, height);
        context.clip();
        context.fillStyle = b <= a ? colour("--ink") : colour("--surface");
        context.fillText(clean(text, 60), b <= a ? x + 8 : Math.max(0, x) + 4, top + height * (b <= a ? 0.5 : 0.63));
        context.restore();
      }
    }
  }
}
