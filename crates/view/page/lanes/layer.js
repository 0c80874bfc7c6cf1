// A canvas that is drawn anew in each frame, in CSS pixels, with the colours of the style sheet.
import { dpr } from "./geometry.js";
import { css } from "./palette.js";

export class Layer {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    /** Of what is drawn on, in CSS pixels. */
    this.width = 0;
    this.height = 0;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    /** @type {Record<string, string>} */
    this.colours = {};
    this.font = "";
    this.retheme();
  }

  retheme() {
    this.font = getComputedStyle(document.body).fontFamily;
    this.colours = {};
  }

  /** @param {string} name of a custom property, without its dashes */
  colour(name) {
    return (this.colours[name] ??= css(`--${name}`));
  }

  /** Adds a line from top to bottom to the path. @param {number} x */
  line(x) {
    this.context.moveTo(x, 0);
    this.context.lineTo(x, this.height);
  }

  /** Clears the canvas, and makes it as large as it is shown. @param {number} width CSS pixels @param {number} height */
  begin(width, height) {
    const { canvas, context } = this;
    const scale = dpr.peek();
    [this.width, this.height] = [width, height];
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

/**
 * Draws inside of a box alone.
 * @param {CanvasRenderingContext2D} context
 * @param {[x: number, y: number, width: number, height: number]} box
 * @param {() => void} draw
 */
export function clipped(context, box, draw) {
  context.save();
  context.beginPath();
  context.rect(...box);
  context.clip();
  draw();
  context.restore();
}
