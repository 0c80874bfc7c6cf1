// Puts the bitmaps of the lanes in sight where they belong: one `drawImage` per lane, no layout.
import { dpr } from "./geometry.js";
import { css } from "./palette.js";
import * as view from "../state/view.js";

/** What the last frame did, and the worst one, for tests. */
export const drawn = { frames: 0, images: 0, most: 0 };

export class Compositor {
  /** @param {HTMLCanvasElement} canvas @param {LaneStore} store */
  constructor(canvas, store) {
    this.canvas = canvas;
    this.store = store;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { alpha: false }));
    this.surface = "";
    /** @type {CanvasPattern | null} */
    this.hatch = null;
    this.retheme();
  }

  retheme() {
    this.surface = css("--surface");
    const tile = document.createElement("canvas");
    const size = Math.round(8 * dpr.peek());
    tile.width = size;
    tile.height = size;
    const context = tile.getContext("2d");
    if (!context) return;
    context.strokeStyle = css("--unread");
    context.lineWidth = Math.max(1, dpr.peek() * 0.8);
    context.beginPath();
    for (const shift of [-size, 0, size]) {
      context.moveTo(shift, 0);
      context.lineTo(shift + size, size);
    }
    context.stroke();
    this.hatch = this.context.createPattern(tile, "repeat");
  }

  /** @param {Place[]} places */
  draw(places) {
    const { context, canvas } = this;
    const { width } = canvas;
    const [from, to] = view.range.peek();
    const [start, end] = view.whole();
    const perPixel = (to - from) / width;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = this.surface;
    context.fillRect(0, 0, width, canvas.height);
    context.imageSmoothingEnabled = false;
    let images = 0;
    const [a, b] = [Math.max(from, start), Math.min(to, end)];
    for (const { id, y, clipTop, clipBottom } of places) {
      const picture = this.store.errors.has(id) ? null : this.store.bitmaps.best(id, [a, b]);
      const height = this.store.sight.height;
      const top = Math.max(y, clipTop);
      const bottom = Math.min(y + height, clipBottom);
      if (bottom <= top) continue;
      if (!picture) {
        if (!this.store.errors.has(id)) this.#unread(0, width, top, bottom);
        continue;
      }
      const { bitmap, data } = picture;
      const per = (data.to - data.from) / data.columns;
      // Where a column is a pixel wide the bitmap moves by whole pixels and stays as it was painted.
      const even = Math.abs(per / perPixel - 1) < 0.001;
      const x0 = (data.from - from) / perPixel;
      const dx = even ? Math.round(x0) : x0;
      const dw = even ? data.columns : data.columns * (per / perPixel);
      const s0 = Math.max(0, Math.floor((-dx / dw) * data.columns));
      const s1 = Math.min(data.columns, Math.ceil(((width - dx) / dw) * data.columns));
      if (s1 > s0) {
        const shown = Math.max(0, top - y);
        const part = bottom - top;
        const sy = (shown / height) * bitmap.height;
        const sh = (part / height) * bitmap.height;
        const tx = dx + (s0 / data.columns) * dw;
        const tw = ((s1 - s0) / data.columns) * dw;
        context.drawImage(bitmap, s0, sy, s1 - s0, sh, tx, top, tw, part);
        images += 1;
      }
      const rx0 = Math.max(0, Math.round((a - from) / perPixel));
      const rx1 = Math.min(width, Math.round((b - from) / perPixel));
      if (dx > rx0 + 1) this.#unread(rx0, Math.min(rx1, dx), top, bottom);
      if (dx + dw < rx1 - 1) this.#unread(Math.max(rx0, dx + dw), rx1, top, bottom);
    }
    drawn.frames += 1;
    drawn.images = images;
    drawn.most = Math.max(drawn.most, images);
  }

  /** @param {number} x0 @param {number} x1 @param {number} y0 @param {number} y1 */
  #unread(x0, x1, y0, y1) {
    if (!this.hatch || x1 <= x0) return;
    this.context.fillStyle = this.hatch;
    this.context.fillRect(x0, y0, x1 - x0, y1 - y0);
  }
}
