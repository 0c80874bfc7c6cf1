// The lanes: two areas of rows (pinned and all) above one canvas.
import { computed, h, paused, watch } from "../dom.js";
import { Axis } from "./axis.js";
import { Compositor } from "./compositor.js";
import { LaneStore } from "./data.js";
import { dpr, headWidth, rowHeight, timeWidth } from "./geometry.js";
import { sized } from "./layer.js";
import { Overlay } from "./overlay.js";
import { hueOrder, readPalette } from "./palette.js";
import { LaneRows } from "./rows.js";
import { Singles } from "./singles.js";
import { Sticky } from "./sticky.js";
import * as model from "./model.js";
import * as path from "./path.js";
import * as view from "../state/view.js";

/** The axis, without the line below it. */
const AXIS = 35;
/** Rows in sight at most, so that a frame has few pictures to move; larger windows get taller rows. */
const MOST_ROWS = 54;
const LEAST_HEIGHT = 26;

export class LanesView {
  /** @param {HTMLElement} axisCanvas */
  constructor(axisCanvas) {
    this.pixels = h("canvas.pixels");
    this.pinScroller = h("div.lanes.pins");
    this.scroller = h("div.lanes.main");
    const main = h("div.main-area", this.scroller);
    this.area = h("div.lane-area", this.pixels, this.pinScroller, main);
    this.palette = readPalette();
    this.store = new LaneStore(() => this.later(true), () => this.palette);
    this.pinRows = new LaneRows(this.pinScroller, "Pinned lanes", this.store, (what) => this.#moved(what));
    this.rows = new LaneRows(this.scroller, "Lanes", this.store, (what) => this.#moved(what));
    this.sticky = new Sticky(this.rows);
    main.append(this.sticky.element);
    this.compositor = new Compositor(this.pixels, this.store);
    this.singles = new Singles(() => this.later());
    this.overlay = new Overlay(this.pixels, this.singles);
    this.axis = new Axis(/** @type {HTMLCanvasElement} */ (axisCanvas));
    this.frame = 0;
    this.fresh = false;
    this.height = 0;
    this.pinned = 0;
    this.timer = 0;
    this.patience = 0;
    /** Whether lanes had the keyboard last. */
    this.keyboard = false;
    /** Texts of corners would be most of a frame. */
    this.corners = paused(90, () => [this.rows, this.pinRows, this.sticky].forEach((rows) => rows.corners()));
    new ResizeObserver(() => this.#resize()).observe(this.area);
    this.#follow();
  }

  #follow() {
    const recordingId = computed(() => view.recording.value?.id);
    watch([model.rows], () => this.rows.set(model.rows.peek()));
    watch([model.pinnedRows], () => {
      const rows = model.pinnedRows.peek();
      this.pinScroller.hidden = rows.length === 0;
      this.#pinHeight(rows.length);
      this.pinRows.set(rows);
    });
    watch([view.lane, model.rows], () => {
      const id = view.lane.peek();
      // The keyboard goes along when a chain is followed to another lane.
      const now = document.activeElement;
      const row = now?.closest(".lanes [data-lane]");
      if (id && this.keyboard && (now === document.body || (row && row.getAttribute("data-lane") !== id))) this.rows.focus(id);
    });
    document.addEventListener("focusin", ({ target }) => {
      this.keyboard = target instanceof Element && target.closest(".lanes") !== null;
    });
    watch([model.loading], () => {
      if (model.loading.peek() === 0) this.#want();
    });
    watch([recordingId, view.laneMeasure], () => {
      this.store.forget();
      this.singles.forget();
      this.#want();
    });
    watch([view.range], () => {
      this.store.follow();
      this.#want();
      this.later();
    });
    watch([view.selection, view.pointer, view.marks, view.chosen, view.trail, view.lit, view.density, view.zero, view.clock, view.guests], () => this.later());
    watch([path.shown], () => this.later(true));
    watch([hueOrder], () => {
      this.palette = readPalette();
      this.store.repaint();
      this.sticky.chain = [];
      this.later();
    });
    watch([view.theme], () => this.retheme());
    for (const query of ["(prefers-color-scheme: dark)", "(prefers-contrast: more)", "(forced-colors: active)"]) {
      matchMedia(query).addEventListener("change", () => this.retheme());
    }
  }

  retheme() {
    this.palette = readPalette();
    this.compositor.retheme();
    this.overlay.retheme();
    this.axis.retheme();
    this.store.repaint();
    this.later(true);
  }

  /** Draws axis and marks anew at once, for paper; pictures keep the colours that they were painted with. */
  redraw() {
    this.overlay.retheme();
    this.axis.retheme();
    this.compositor.retheme();
    this.#draw();
  }

  /** @param {number} count */
  #pinHeight(count) {
    const most = Math.max(rowHeight.peek(), Math.floor(this.height / 2));
    this.pinned = Math.min(most, count * rowHeight.peek());
    this.pinScroller.style.height = `${this.pinned}px`;
    // The line below the pinned lanes.
    if (this.pinned > 0) this.pinned += 2;
  }

  #resize() {
    const { clientWidth: width, clientHeight: height } = this.area;
    if (width === 0 || height === 0) return;
    const bar = this.scroller.offsetWidth - this.scroller.clientWidth;
    dpr.value = window.devicePixelRatio || 1;
    headWidth.value = Math.round(Math.min(340, Math.max(190, width * 0.22)));
    const { style } = document.documentElement;
    style.setProperty("--head", `${headWidth.peek()}px`);
    style.setProperty("--gutter", `${bar}px`);
    timeWidth.value = Math.max(50, width - headWidth.peek() - bar);
    this.height = height;
    rowHeight.value = Math.max(LEAST_HEIGHT, Math.ceil(height / MOST_ROWS));
    style.setProperty("--row", `${rowHeight.peek()}px`);
    this.rows.list.resize(rowHeight.peek());
    this.pinRows.list.resize(rowHeight.peek());
    this.#pinHeight(model.pinnedRows.peek().length);
    sized(this.pixels, Math.round(timeWidth.peek() * dpr.peek()), Math.round(height * dpr.peek()));
    this.compositor.retheme();
    this.#want();
    this.#draw();
  }

  /** @param {"rows" | "scroll"} what */
  #moved(what) {
    if (what === "rows") this.#want();
    this.later();
  }

  #want() {
    // The lists tell of their first rows while this is made, or has no size yet.
    if (!this.rows || !this.pinRows || !this.sticky || this.height === 0) return;
    // While lists of lanes are under way, a request for few lanes waits for them.
    if (model.loading.peek() > 0 && this.patience < 4) {
      this.patience += 1;
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => this.#want(), 50);
      return;
    }
    this.patience = 0;
    const seen = new Set();
    const lanes = [...this.pinRows.inSight(), ...this.sticky.chain, ...this.rows.inSight()].map(({ lane }) => lane).filter(({ id, kind }) => kind !== "path" && !seen.has(id) && seen.add(id));
    const height = Math.round((rowHeight.peek() - 5) * dpr.peek());
    this.singles.show(lanes);
    this.store.show({ lanes, width: Math.round(timeWidth.peek() * dpr.peek()), height, scale: dpr.peek() });
  }

  /** @param {boolean} [fresh] whether other numbers came */
  later(fresh = false) {
    this.fresh ||= fresh;
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.#draw();
    });
  }

  #draw() {
    if (!this.compositor) return;
    const scale = dpr.peek();
    const row = rowHeight.peek();
    if (this.sticky.update()) this.#want();
    const pins = this.pinned;
    const under = pins + this.sticky.chain.length * row;
    const bands = [
      ...bandsOf(this.pinRows, 0, 0, pins, row),
      ...this.sticky.chain.map(({ lane, key }, i) => ({ id: lane.id, kind: lane.kind, key: `stuck ${key}`, top: pins + i * row, clipTop: pins + i * row, clipBottom: pins + (i + 1) * row })),
      ...bandsOf(this.rows, pins, under, this.height, row),
    ];
    this.compositor.draw(bands.filter(({ kind }) => kind !== "more" && kind !== "path").map(({ id, top, clipTop, clipBottom }) => ({
      id, y: Math.round((top + 2) * scale), clipTop: Math.round(clipTop * scale), clipBottom: Math.round(clipBottom * scale),
    })));
    this.overlay.draw(bands.map(({ id, top, key, clipTop }) => ({ id, top, bottom: top + row, key, clipTop })), this.height);
    this.axis.draw(AXIS);
    if (this.fresh) {
      this.fresh = false;
      this.corners();
    }
  }
}

/**
 * @param {LaneRows} rows
 * @param {number} top where the area begins
 * @param {number} clipTop where its rows begin to be seen
 * @param {number} clipBottom
 * @param {number} row
 */
function bandsOf(rows, top, clipTop, clipBottom, row) {
  const scroll = rows.scrollTop;
  const first = rows.list.first;
  return rows.inSight().map((one, i) => ({
    id: one.lane.id, kind: one.lane.kind, key: one.key, top: top + (first + i) * row - scroll, clipTop, clipBottom,
  })).filter((band) => band.top < band.clipBottom && band.top + row > band.clipTop);
}
