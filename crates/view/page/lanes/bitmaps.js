import { bitmapOf } from "./paint.js";

/** Bytes of bitmaps that are kept. */
const MOST = 128 * 1024 * 1024;
const PER_LANE = 3;

/** The painter in its worker, or on this thread where a browser has no bitmaps in workers. */
class Painter {
  /** @param {(lane: string, bitmap: ImageBitmap, max: number, id: number) => void} done */
  constructor(done) {
    this.done = done;
    /** @type {Worker | null} */
    this.worker = null;
    try {
      this.worker = new Worker(/** @type {string} */ (workerUrl()), { type: "module" });
      this.worker.addEventListener("message", ({ data }) => done(data.lane, data.bitmap, data.max, data.id));
      this.worker.addEventListener("error", () => (this.worker = null));
    } catch {
      this.worker = null;
    }
  }

  /** @param {number} id @param {Paint[]} paints @param {Palette} palette */
  paint(id, paints, palette) {
    if (this.worker) {
      this.worker.postMessage({ id, paints, palette });
      return;
    }
    for (const paint of paints) void bitmapOf(paint, palette).then(({ lane, bitmap, max }) => this.done(lane, bitmap, max, id));
  }
}

/** The only script address that the page ever makes. */
function workerUrl() {
  const url = new URL("painter.js", import.meta.url).href;
  const types = /** @type {{ trustedTypes?: PolicyMaker }} */ (globalThis).trustedTypes;
  if (!types) return url;
  const policy = types.createPolicy("tracesift", {
    createScriptURL: (wanted) => {
      if (wanted !== url) throw new TypeError("not a script of this page");
      return wanted;
    },
  });
  return policy.createScriptURL(url);
}

export class Bitmaps {
  /** @param {() => void} changed */
  constructor(changed) {
    this.changed = changed;
    /** @type {Map<string, Picture[]>} */
    this.lanes = new Map();
    /** @type {Map<string, { paint: Paint, id: number }>} */
    this.waiting = new Map();
    this.bytes = 0;
    this.id = 0;
    this.clock = 0;
    this.painter = new Painter((lane, bitmap, max, id) => this.#take(lane, bitmap, max, id));
  }

  /** @param {Paint[]} paints @param {Palette} palette */
  paint(paints, palette) {
    this.id += 1;
    for (const paint of paints) this.waiting.set(paint.lane, { paint, id: this.id });
    this.painter.paint(this.id, paints, palette);
  }

  /** @param {string} lane @param {ImageBitmap} bitmap @param {number} max @param {number} id */
  #take(lane, bitmap, max, id) {
    const wanted = this.waiting.get(lane);
    if (!wanted || wanted.id !== id) {
      bitmap.close();
      return;
    }
    this.waiting.delete(lane);
    const { data, height } = wanted.paint;
    const list = (this.lanes.get(lane) ?? []).filter((one) => {
      const same = one.data.from === data.from && one.data.to === data.to;
      if (same) this.#drop(one);
      return !same;
    });
    list.unshift({ bitmap, data, max, height, used: (this.clock += 1) });
    for (const old of list.splice(PER_LANE)) this.#drop(old);
    this.lanes.set(lane, list);
    this.bytes += bitmap.width * bitmap.height * 4;
    this.#trim();
    this.changed();
  }

  /** @param {Picture} picture */
  #drop(picture) {
    this.bytes -= picture.bitmap.width * picture.bitmap.height * 4;
    picture.bitmap.close();
  }

  #trim() {
    while (this.bytes > MOST) {
      /** @type {[string, Picture] | null} */
      let oldest = null;
      for (const [lane, list] of this.lanes) {
        for (const one of list) if (!oldest || one.used < oldest[1].used) oldest = [lane, one];
      }
      if (!oldest) return;
      const [lane, picture] = oldest;
      this.#drop(picture);
      const rest = (this.lanes.get(lane) ?? []).filter((one) => one !== picture);
      if (rest.length > 0) this.lanes.set(lane, rest);
      else this.lanes.delete(lane);
    }
  }

  /** Forgets everything: other colours, another height, another recording. */
  clear() {
    for (const list of this.lanes.values()) for (const one of list) this.#drop(one);
    this.lanes.clear();
    this.waiting.clear();
  }

  /** @param {string} lane @param {TimeRange} range @returns {Picture | null} the finest of all of the range, else what has most of it */
  best(lane, [from, to]) {
    /** @type {Picture | null} */
    let best = null;
    let score = -Infinity;
    for (const one of this.lanes.get(lane) ?? []) {
      const { from: a, to: b } = one.data;
      const covers = Math.max(0, Math.min(b, to) - Math.max(a, from)) / (to - from);
      const rank = covers > 0.999999 ? 2 + 1 / (1 + (b - a) / (to - from)) : covers;
      if (covers > 0 && rank > score) {
        best = one;
        score = rank;
      }
    }
    if (best) best.used = this.clock += 1;
    return best;
  }
}
