// A canvas that is drawn anew in each frame, in CSS pixels, with the colours of the style sheet.
import { dpr } from "./geometry.js";
import { css } from "./palette.js";

export class Layer {
  /** @param {HTMLCanvasElement} canvas @param {string[]} names custom properties that it draws with */
  constructor(canvas, names) {
    this.canvas = canvas;
    this.names = names;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    /** @type {Record<string, string>} */
    this.colours = {};
    this.font = "";
    this.retheme();
  }

  retheme() {
    this.font = getComputedStyle(document.body).fontFamily;
    for (const name of this.names) this.colours[name] = css(`--${name}`);
  }

  /** @param {string} name */
  colour(name) {
    return this.colours[name] ?? "";
  }

  /**
   * Clears the canvas, and makes it as large as it is shown.
   * @param {number} width CSS pixels
   * @param {number} height
   */
  begin(width, height) {
    const { canvas, context } = this;
    const scale = dpr.peek();
    const [w, h] = [Math.round(width * scale), Math.round(height * scale)];
    if (canvas.width !== w) canvas.width = w;
    if (canvas.height !== h) canvas.height = h;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = `11px ${this.font}`;
    context.textBaseline = "middle";
    return context;
  }
}
