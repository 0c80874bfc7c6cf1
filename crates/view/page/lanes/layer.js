// What a canvas shows anew in each frame, in CSS pixels.
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

  /** @param {string} colour its name @param {Rect} box */
  fill(colour, ...box) {
    this.context.fillStyle = this.colour(colour);
    this.context.fillRect(...box);
  }

  /** Draws lines from top to bottom. @param {string} colour its name @param {number[]} places */
  lines(colour, places) {
    const { context } = this;
    context.strokeStyle = this.colour(colour);
    context.lineWidth = 1;
    context.beginPath();
    for (const place of places) {
      const x = Math.round(place) + 0.5;
      context.moveTo(x, 0);
      context.lineTo(x, this.height);
    }
    context.stroke();
  }

  /** Clears the canvas, and makes it as large as it is shown. @param {number} width CSS pixels @param {number} height */
  begin(width, height) {
    const scale = dpr.peek();
    sized(this.canvas, Math.round(width * scale), Math.round(height * scale));
    const context = this.above(width, height);
    context.clearRect(0, 0, width, height);
    return context;
  }

  /** Draws above of what is there. @param {number} width CSS pixels @param {number} height */
  above(width, height) {
    const { context } = this;
    const scale = dpr.peek();
    [this.width, this.height] = [width, height];
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.font = `11px ${this.font}`;
    context.textBaseline = "middle";
    return context;
  }
}

/** Makes a canvas so large; one that is so large stays as it is. @type {Sized} */
export function sized(canvas, width, height) {
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
}

/** Draws inside of a box alone. @type {Clipped} */
export function clipped(context, box, draw) {
  context.save();
  context.beginPath();
  context.rect(...box);
  context.clip();
  draw();
  context.restore();
}
