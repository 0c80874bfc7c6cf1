// Single operations, events and marks: drawn where few enough are in sight, instead of their density alone.
import * as client from "../api/client.js";
import { paused, watch } from "../dom.js";
import { clean } from "../format.js";
import { xOf } from "./geometry.js";
import { clipped } from "./layer.js";
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
    this.later = paused(STILL_MS, () => this.#load());
    watch([view.range], () => this.later());
  }

  /** @param {Lane[]} lanes in sight */
  show(lanes) {
    this.lanes = lanes.filter(({ kind }) => KINDS.has(kind)).slice(0, 30);
    this.later();
  }

  async #load() {
    this.stop.abort();
    this.stop = new AbortController();
    const { signal } = this.stop;
    const [from, to] = view.range.peek();
    for (const lane of this.lanes) {
      const had = this.known.get(lane.id);
      // What is whole for a larger range is whole for a part of it; what was too much may be less.
      if (had && (had.frame ? had.from <= from && had.to >= to : had.from === from && had.to === to)) continue;
      try {
        await client.frames("spans", { lane: lane.id, from, to, most: MOST }, (frame) => {
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

  /** @param {Layer} layer whose origin is the left of the time area @param {Band} band */
  draw(layer, band) {
    const frame = this.known.get(band.id)?.frame;
    const { start, end, state, name } = frame?.series ?? {};
    if (!frame || !start || !end) return;
    const { context, width } = layer;
    const [from, to] = view.range.peek();
    const { states = [], names = [] } = frame.head;
    const top = band.top + 3;
    const height = band.bottom - band.top - 6;
    for (let i = 0; i < start.length; i += 1) {
      const [a, b] = [start[i] ?? 0, end[i] ?? 0];
      if (b < from || a > to) continue;
      const x = xOf(a);
      const w = xOf(b) - x;
      const kind = states[state?.[i] ?? -1] ?? "";
      context.fillStyle = layer.colour({ read: "wait", write: "ready", flush: "line", mark: "mark" }[kind] ?? "cpu");
      const dot = b <= a;
      if (dot) {
        context.beginPath();
        context.arc(x, top + height / 2, 3.5, 0, Math.PI * 2);
        context.fill();
      } else context.fillRect(x, top + height * 0.25, Math.max(1.5, w), height * 0.75);
      const text = names[name?.[i] ?? -1] ?? kind;
      const left = dot ? x + 6 : Math.max(0, x);
      const room = dot ? (i + 1 < start.length ? xOf(start[i + 1] ?? 0) : width) - x - 12 : Math.min(width, x + w) - left - 6;
      if (room < 30 || !text) continue;
      clipped(context, [left, top, room, height], () => {
        context.fillStyle = layer.colour(dot ? "ink" : "surface");
        context.fillText(clean(text, 60), left + (dot ? 2 : 4), top + height * (dot ? 0.5 : 0.63));
      });
    }
  }
}
