// The whole recording on a strip: who had the CPUs, marks, and the view range as a brush.
import * as client from "../api/client.js";
import { drag, effect, fill, h, handled, held, signal, swatch, watch } from "../dom.js";
import { clean, group, length, wordOf } from "../format.js";
import { columnOf } from "./data.js";
import { dpr, shift, timeWidth } from "./geometry.js";
import { sized } from "./layer.js";
import { imageOf, onColumns } from "./paint.js";
import { hueOf, hueOrder, orderHues, readPalette } from "./palette.js";
import { patternOf } from "./rows.js";
import * as view from "../state/view.js";

const TOP = 5;
const HEIGHT = 44;

export class Overview {
  constructor() {
    this.canvas = h("canvas");
    this.left = h("div.shade");
    this.right = h("div.shade");
    this.window = h("div.brush", { role: "slider", tabindex: 0, "aria-label": "View range", "aria-valuemin": 0, "aria-valuemax": 1000 });
    this.bar = h("i.brush-bar");
    this.grips = [h("i.grip.start"), h("i.grip.end")];
    this.losses = h("div.losses", { role: "list", "aria-label": "Losses" });
    this.strip = h("div.strip", this.canvas, this.left, this.right, this.losses, this.bar, this.window, this.grips);
    this.legend = h("div.legend");
    this.element = h("section.overview", { "aria-label": "Overview of the recording" }, h("div.over-head", this.legend), this.strip);
    /** @type {{ lane: Lane, data: LaneData }[]} */
    this.parts = [];
    /** @type {LaneData | null} */
    this.machine = null;
    this.loaded = signal(false);
    /** The recording whose processes have their hues. */
    this.ordered = "";
    effect(() => {
      const recording = view.recording.value;
      const width = timeWidth.value;
      const only = view.processes.value;
      if (!recording) return undefined;
      const stop = new AbortController();
      const timer = setTimeout(() => void this.#load(recording, width, only, stop.signal), 60);
      return () => {
        clearTimeout(timer);
        stop.abort();
      };
    });
    watch([view.range, timeWidth], () => this.#place());
    watch([view.recording, view.clock, view.zero, timeWidth], () => this.#showLosses());
    watch([view.theme, view.marks, hueOrder], () => {
      this.paint();
      if (this.machine) this.#legend();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.paint());
    this.#drag();
  }

  #place() {
    const [start, end] = view.whole();
    const [from, to] = view.range.peek();
    const width = timeWidth.peek();
    const x0 = ((from - start) / (end - start)) * width;
    const x1 = Math.max(x0 + 2, ((to - start) / (end - start)) * width);
    shift(this.left, 0, x0);
    shift(this.right, x1, width - x1);
    shift(this.bar, x0, x1 - x0);
    shift(this.window, (x0 + x1) / 2 - 14);
    [x0, x1].forEach((x, i) => shift(this.grips[i], x));
    this.window.ariaValueNow = String(Math.round(((from - start) / (end - start)) * 1000));
    this.window.ariaValueText = `from ${wordOf(from)} to ${wordOf(to)}, ${length(to - from)}`;
  }

  /** Hatches the first loss of each kind. Those whose time the archive does not have are said alone. */
  #showLosses() {
    const { losses = [] } = view.recording.peek() ?? {};
    const [start, end] = view.whole();
    const clock = view.clockNow();
    fill(this.losses, losses.map(({ ns, count, text }) => {
      const said = `${clean(text)} ${group(count)} ×, ${ns === null ? "at times that are not known" : `the first at ${clock.text(ns, 1e6)}`}`;
      const item = h(ns === null ? "span.unseen" : "span.loss", { role: "listitem", title: said }, h("span.unseen", said));
      if (ns !== null) shift(item, ((ns - start) / (end - start)) * timeWidth.peek() - 4);
      return item;
    }));
    this.losses.hidden = losses.length === 0;
  }

  /** @param {RecordingInfo} recording @param {number} width @param {string | null} only @param {AbortSignal} aborted */
  async #load(recording, width, only, aborted) {
    const measure = view.has("samples") ? "cpu" : "run";
    try {
      const lanes = await client.lanesOf("processes", measure);
      if (aborted.aborted) return;
      if (this.ordered !== recording.id) {
        this.ordered = recording.id;
        orderHues(lanes);
      }
      const own = only ? lanes.filter((lane) => patternOf(lane).pattern === only) : [];
      const shown = own.length > 0 ? own.slice(0, 1) : lanes.slice(0, TOP);
      const [start, end] = view.whole();
      const per = columnOf(Math.max(1, Math.ceil((end - start) / Math.max(1, Math.min(4096, Math.round(width * dpr.peek()))))));
      const from = Math.floor(start / per) * per;
      const columns = Math.ceil((end - from) / per);
      const to = from + per * columns;
      const parts = new Map(shown.map((lane) => [lane.id, lane]));
      /** @type {{ lane: Lane, data: LaneData }[]} */
      const got = [];
      /** @type {LaneData | null} */
      let machine = null;
      const body = { from, to, columns, lanes: ["processes", ...parts.keys()], measure };
      await client.frames("columns", body, (frame) => {
        if (frame.head.error !== undefined || (frame.head.columns ?? 0) === 0) return;
        const data = { frame, from, to, columns };
        const lane = parts.get(frame.head.lane ?? "");
        if (frame.head.lane === "processes") machine = data;
        else if (lane) got.push({ lane, data });
      }, { signal: aborted, rank: 0 });
      this.parts = got;
      this.machine = machine;
      this.paint();
      this.#legend();
      this.loaded.value = true;
    } catch (error) {
      client.report(error);
    }
  }

  #legend() {
    const cpus = view.recording.peek()?.cpus ?? 1;
    if (!this.machine) {
      this.legend.replaceChildren(h("span.dim", "No CPU time was recorded"));
      return;
    }
    this.legend.replaceChildren(
      h("span.keys", h("strong", { title: "How much of the time of all CPUs each process used" }, `${cpus} CPU${cpus === 1 ? "" : "s"}`),
        this.parts.slice(0, TOP).map(({ lane }) => h("span.key", { title: clean(lane.name) }, swatch(hueOf(lane)), clean(lane.name.replace(/\(\d+\)( [+-]{1,2})?$/, ""), 14))),
        h("span.key", h("i.swatch.others"), "others")));
  }

  paint() {
    const scale = dpr.peek();
    const width = Math.round(timeWidth.peek() * scale);
    const height = Math.round(HEIGHT * scale);
    sized(this.canvas, width, height);
    const context = this.canvas.getContext("2d");
    const machine = this.machine;
    if (!context || width === 0) return;
    context.clearRect(0, 0, width, height);
    const palette = readPalette();
    const [start, end] = view.whole();
    if (machine) {
      const { columns } = machine;
      const all = sumsOf(machine);
      const each = this.parts.map(({ data }) => sumsOf(data));
      const full = ((machine.to - machine.from) / columns) * (machine.frame.head.at_once ?? view.recording.peek()?.cpus ?? 1);
      const pixels = new Uint32Array(columns * height);
      for (let x = 0; x < columns; x += 1) {
        let foot = 0;
        let sum = 0;
        const bar = (/** @type {number} */ value, /** @type {number} */ colour) => {
          sum += value;
          const top = Math.min(height, Math.max(Math.round((sum / full) * height), value > 0 && foot < height ? foot + 1 : foot));
          for (; foot < top; foot += 1) pixels[(height - 1 - foot) * columns + x] = colour;
        };
        this.parts.forEach((part, i) => bar(each[i]?.[x] || 0, palette.hues[hueOf(part.lane)] ?? 0));
        const rest = (all[x] || 0) - sum;
        if (rest > 0) bar(rest, palette.open);
      }
      const sheet = document.createElement("canvas");
      sheet.width = columns;
      sheet.height = height;
      sheet.getContext("2d")?.putImageData(imageOf(pixels, columns, height), 0, 0);
      context.imageSmoothingEnabled = false;
      // The first and the last column may reach beyond the recording.
      const scaled = width / (end - start);
      context.drawImage(sheet, (machine.from - start) * scaled, 0, (machine.to - machine.from) * scaled, height);
    }
    for (const mark of view.marks.peek().slice(0, 500)) {
      const x = Math.round(((mark.ns - start) / (end - start)) * width);
      context.fillStyle = getComputedStyle(this.element).getPropertyValue("--mark-plain") || "#b5179e";
      context.fillRect(x, 0, Math.max(1, scale), height);
    }
  }

  #drag() {
    this.strip.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      const box = this.strip.getBoundingClientRect();
      const [start, end] = view.whole();
      const per = (end - start) / timeWidth.peek();
      const at = (/** @type {PointerEvent} */ e) => start + (e.clientX - box.left) * per;
      const [from, to] = view.range.peek();
      const first = at(event);
      const near = 7 * per;
      const whole = from <= start && to >= end;
      const kind = Math.abs(first - from) < near && !whole ? "start" : Math.abs(first - to) < near && !whole ? "end" : first > from && first < to && !whole ? "move" : "new";
      event.preventDefault();
      this.window.focus({ preventScroll: true });
      drag(this.strip, event, (moved) => {
        const now = at(moved);
        if (kind === "start") view.look([Math.min(now, to - view.SHORTEST), to], "move");
        else if (kind === "end") view.look([from, Math.max(now, from + view.SHORTEST)], "move");
        else if (kind === "move") view.look([from + now - first, to + now - first], "move");
        else if (Math.abs(now - first) > 3 * per) view.look([Math.min(first, now), Math.max(first, now)], "move");
      }, (last) => {
        // A click beside the brush puts its centre there.
        if (last.type === "pointerup" && kind === "new" && Math.abs(at(last) - first) <= 3 * per && !whole) view.centre(first);
      });
    });
    this.window.addEventListener("keydown", (event) => {
      const act = { ArrowLeft: () => view.pan(-0.1), ArrowRight: () => view.pan(0.1), ArrowUp: () => zoomBy(0.8), ArrowDown: () => zoomBy(1.25), Home: () => view.look(view.whole()) }[event.key];
      if (!act || held(event)) return;
      act();
      handled(event);
    });
  }
}

/** @param {LaneData} data @returns {Numbers} its first series by columns */
const sumsOf = (data) => onColumns(data, data.frame.series[data.frame.head.series?.[0] ?? ""] ?? new Float64Array(data.columns), "sum");

/** @param {number} factor */
function zoomBy(factor) {
  const [from, to] = view.range.peek();
  view.zoom(factor, (from + to) / 2);
}
