// Columns of the lanes in sight: one per pixel, given up when nobody looks at them any more.
import * as client from "../api/client.js";
import { Bitmaps } from "./bitmaps.js";
import { hueOf } from "./palette.js";
import * as view from "../state/view.js";

/** Part of the view range that is asked for on both sides while it moves. A zoom needs other columns at its next step. */
const MARGIN = 0.25;
/** Lanes that are painted while others are still under way. */
const AT_ONCE = 4;
const MOST_COLUMNS = 4_096;
/** A request that is younger may still serve the range that follows. */
const PATIENCE_MS = 80;
/** While the view moves, requests are this far apart; after its last move one follows soon. */
const MOVING_MS = 150;
const PAUSE_MS = 40;
const DATA_PER_LANE = 2;

/**
 * Columns as wide as whole buckets of the archive, where these are about as short: the next steps of a zoom need the same.
 * @param {number} per ns
 */
export function columnOf(per) {
  const shortest = view.recording.peek()?.bucket_ns ?? null;
  let wide = 1;
  while (wide < per) wide *= 2;
  return shortest !== null && wide >= shortest ? wide : per;
}

export class LaneStore {
  /** @param {() => void} changed @param {() => Palette} palette */
  constructor(changed, palette) {
    this.changed = changed;
    this.palette = palette;
    this.bitmaps = new Bitmaps(changed);
    /** @type {Map<string, LaneData[]>} */
    this.data = new Map();
    /** @type {Map<string, string>} */
    this.errors = new Map();
    /** @type {Sight} */
    this.sight = { lanes: [], width: 0, height: 0, scale: 1 };
    /** @type {{ stop: AbortController, began: number, grid: string } | null} */
    this.under = null;
    /** The columns that the server did not give; another range is asked again. */
    this.failed = "";
    /** Length of the view range, ns, and whether it was another one before. */
    this.length = 0;
    this.isZoom = true;
    this.timer = 0;
    this.steps = 0;
    this.moved = -Infinity;
    this.began = -Infinity;
  }

  /** @param {Sight} sight */
  show(sight) {
    const before = this.sight;
    this.sight = sight;
    if (before.height !== sight.height || before.scale !== sight.scale) this.repaint();
    this.want();
  }

  /** The view range is another one. */
  follow() {
    const [from, to] = view.range.peek();
    this.moved = performance.now();
    this.isZoom = Math.abs(to - from - this.length) > 1;
    this.length = to - from;
  }

  /** Paints all anew from the numbers that are here. */
  repaint() {
    this.bitmaps.clear();
    const lanes = new Map(this.sight.lanes.map((lane) => [lane.id, lane]));
    const fits = this.#fits();
    /** @type {Paint[]} */
    const paints = [];
    for (const [id, list] of this.data) {
      const lane = lanes.get(id);
      const data = list.find(fits) ?? list[0];
      if (lane && data) paints.push(this.#paintOf(lane, data));
      else this.data.delete(id);
    }
    if (paints.length > 0) this.bitmaps.paint(paints, this.palette());
  }

  forget() {
    this.under?.stop.abort();
    this.under = null;
    this.data.clear();
    this.errors.clear();
    this.bitmaps.clear();
  }

  grid() {
    const [from, to] = view.range.peek();
    const { width } = this.sight;
    if (width <= 0 || to <= from) return null;
    const shown = Math.min(width, MOST_COLUMNS);
    const per = columnOf(Math.max(1, Math.floor((to - from) / shown)));
    const margin = this.isZoom ? 0 : Math.floor(((to - from) * MARGIN) / per) * per;
    const [start, end] = view.whole();
    const first = Math.max(Math.floor((from - margin) / per) * per, Math.floor(start / per) * per);
    const last = Math.min(to + margin, end);
    const columns = Math.min(8_192, Math.max(1, Math.ceil((last - first) / per)));
    return { from: first, to: first + columns * per, columns, per };
  }

  /** Whether everything in sight has its numbers. */
  get complete() {
    return this.missing().length === 0 && this.bitmaps.waiting.size === 0;
  }

  missing() {
    const fits = this.#fits();
    return this.sight.lanes.filter((lane) => lane.kind !== "more" && !this.errors.has(lane.id) && !(this.data.get(lane.id) ?? []).some(fits));
  }

  /** Whether figures have the columns in sight. @returns {(one: LaneData) => boolean} */
  #fits() {
    const grid = this.grid();
    const [a, b] = view.range.peek();
    const [start, end] = view.whole();
    return ({ from, to, columns }) => !grid || ((to - from) / columns === grid.per && from <= Math.max(a, start) && to >= Math.min(b, end));
  }

  /** Asks for what is missing, now or when the request that is under way has ended. */
  want() {
    const grid = this.grid();
    const lanes = this.missing();
    if (!grid || lanes.length === 0) return;
    const key = `${grid.from},${grid.per},${grid.columns}`;
    if (key === this.failed) return;
    const now = performance.now();
    const pause = Math.min(PAUSE_MS - (now - this.moved), MOVING_MS - (now - this.began));
    if (pause > 0) {
      this.#again(pause + 1);
      return;
    }
    if (this.under) {
      if (this.under.grid === key) return;
      const age = now - this.under.began;
      if (age < PATIENCE_MS) {
        this.#again(PATIENCE_MS - age + 1);
        return;
      }
      this.under.stop.abort();
    }
    void this.#ask(grid, lanes.slice(0, 500), key);
  }

  /** @param {number} ms until it asks again */
  #again(ms) {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.want(), ms);
  }

  /** @param {Grid} grid @param {Lane[]} lanes @param {string} key */
  async #ask({ from, to, columns }, lanes, key) {
    const stop = new AbortController();
    const mine = { stop, began: performance.now(), grid: key };
    this.under = mine;
    this.began = mine.began;
    this.steps += 1;
    const byId = new Map(lanes.map((lane) => [lane.id, lane]));
    const body = { from, to, columns, lanes: lanes.map(({ id }) => id), measure: view.laneMeasure.peek() === "cpu" ? "cpu" : null };
    /** @type {Paint[]} */
    let paints = [];
    const flush = () => {
      if (paints.length > 0) this.bitmaps.paint(paints, this.palette());
      paints = [];
    };
    try {
      await client.frames("columns", body, (frame) => {
        const lane = byId.get(frame.head.lane ?? "");
        if (!lane || mine.stop.signal.aborted) return;
        if (frame.head.error !== undefined || (frame.head.columns ?? 0) === 0) {
          this.errors.set(lane.id, frame.head.error ?? "");
          return;
        }
        const data = { frame, from, to, columns };
        this.data.set(lane.id, [data, ...(this.data.get(lane.id) ?? []).slice(0, DATA_PER_LANE - 1)]);
        paints.push(this.#paintOf(lane, data));
        if (paints.length >= AT_ONCE) flush();
      }, { signal: stop.signal, rank: 1 });
      flush();
      // A lane that got no answer is not asked again and again.
      for (const lane of lanes) if (!this.data.has(lane.id) && !this.errors.has(lane.id)) this.errors.set(lane.id, "");
    } catch (error) {
      if (!client.isAbort(error)) this.failed = key;
      client.report(error);
    }
    this.#trim();
    if (this.under === mine) {
      this.under = null;
      this.changed();
      this.want();
    }
  }

  #trim() {
    const seen = new Set(this.sight.lanes.map((lane) => lane.id));
    for (const id of this.data.keys()) {
      if (this.data.size <= 300) return;
      if (!seen.has(id)) this.data.delete(id);
    }
  }

  /** @param {Lane} lane @param {LaneData} data */
  #paintOf(lane, data) {
    const { height, scale } = this.sight;
    return { lane: lane.id, kind: lane.kind, name: lane.name, data, height, hue: hueOf(lane), scale };
  }

  /** @param {string} lane @param {number} ns @returns {{ data: LaneData, index: number, from: number, to: number } | null} the bucket at an instant */
  at(lane, ns) {
    const data = (this.data.get(lane) ?? []).find((one) => ns >= one.from && ns < one.to);
    if (!data) return null;
    const first = data.frame.head.first_ns ?? data.from;
    const bucket = data.frame.head.bucket_ns ?? (data.to - data.from) / data.columns;
    const index = Math.floor((ns - first) / bucket);
    return { data, index, from: first + index * bucket, to: first + (index + 1) * bucket };
  }
}
