// Single operations, events, marks, regions and kinds of waits, where few are in sight.
import * as client from "../api/client.js";
import { paused, watch } from "../dom.js";
import { clean } from "../format.js";
import { xOf } from "./geometry.js";
import { clipped } from "./layer.js";
import * as view from "../state/view.js";

const KINDS = new Set(["disk", "event", "mark", "region", "gc", "jit", "thread"]);
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
    this.lanes = lanes.filter(({ kind }) => KINDS.has(kind)).slice(0, 60);
    this.later();
  }

  #missing() {
    const [from, to] = view.range.peek();
    return this.lanes.filter(({ id }) => {
      const had = this.known.get(id);
      // What is whole for a range is whole for a part of it; what was too much may be less.
      return !had || (had.frame ? had.from > from || had.to < to : had.from !== from || had.to !== to);
    });
  }

  /** Whether all lanes in sight are known. */
  get complete() {
    return this.#missing().length === 0;
  }

  async #load() {
    this.stop.abort();
    this.stop = new AbortController();
    const { signal } = this.stop;
    const [from, to] = view.range.peek();
    const wanted = this.#missing();
    const threads = wanted.filter(({ kind }) => kind === "thread").map(({ id }) => id);
    // One reading has all threads.
    for (const lanes of [...wanted.filter(({ kind }) => kind !== "thread").map(({ id }) => [id]), threads]) {
      if (lanes.length === 0) return;
      try {
        await client.frames("spans", { lanes, from, to, most: MOST }, (frame) => {
          const whole = frame.head.count !== null && frame.head.count !== undefined && frame.head.more !== true;
          this.known.set(frame.head.lane ?? "", { from, to, frame: whole ? frame : null });
        }, { signal, rank: 4 });
        this.changed();
      } catch (error) {
        if (client.isAbort(error)) return;
        // The density stays: single ones are an extra.
        for (const id of lanes) this.known.set(id, { from, to, frame: null });
      }
    }
  }

  /** @param {string} lane of a thread @param {number} ns @returns {string | null} the kind of the wait at an instant, where it is drawn */
  waitAt(lane, ns) {
    const { head, series } = this.known.get(lane)?.frame ?? {};
    const { start, end, kind } = series ?? {};
    const place = start?.findIndex((from, i) => from <= ns && ns < (end?.[i] ?? 0)) ?? -1;
    return head?.kinds?.[kind?.[place] ?? -1] ?? null;
  }

  /** Waits for disks are thicker; sleeps have dots above. @param {Layer} layer @param {Band} band @param {Frame} frame */
  #waits(layer, { bottom }, { head, series: { start, end, kind } }) {
    const [from, to] = view.range.peek();
    kind?.forEach((place, i) => {
      const [a, b, word] = [start?.[i] ?? 0, end?.[i] ?? 0, head.kinds?.[place]];
      if ((word !== "disk" && word !== "sleep") || b <= from || a >= to) return;
      const [x, right] = [Math.max(0, Math.ceil(xOf(a))), Math.min(layer.width, Math.floor(xOf(b)))];
      if (right - x < 3) return;
      if (word === "disk") layer.fill("wait-disk", x, bottom - 8, right - x, 5);
      else for (let dot = x + 1; dot < right - 1; dot += 6) layer.fill("wait", dot, bottom - 8, 2, 2);
    });
  }

  forget() {
    this.known.clear();
  }

  /** @param {Layer} layer whose origin is the left of the time area @param {Band} band */
  draw(layer, band) {
    const frame = this.known.get(band.id)?.frame;
    const { start, end, state, name } = frame?.series ?? {};
    if (!frame || !start || !end) return;
    if (band.id.startsWith("thread:")) {
      this.#waits(layer, band, frame);
      return;
    }
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
