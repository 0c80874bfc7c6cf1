// A flame graph: boxes on one canvas, with the keyboard and a text for each box.
import * as client from "../api/client.js";
import { h, handled, held } from "../dom.js";
import { clean, fixed, group, length } from "../format.js";
import { clipped } from "../lanes/layer.js";
import { hueOfName } from "../lanes/paint.js";
import { css } from "../lanes/palette.js";
import { fitting, PATTERNS } from "./questions.js";
import * as view from "../state/view.js";

const ROW = 20;
const NONE = new Float64Array();

export class Flame {
  /** @param {(method: string) => void} onopen a box was opened with a double click or Enter */
  constructor(onopen) {
    this.onopen = onopen;
    this.canvas = h("canvas");
    this.scroll = h("div.flame-scroll", {
      tabindex: 0, role: "application", "aria-label": "Flame graph: arrow keys go from box to box, Enter comes nearer, Escape goes back",
      onpointermove: (event) => this.#go(this.#hit(event)), onpointerleave: () => this.#go(null), onclick: (event) => this.#zoom(this.#hit(event)),
      ondblclick: (event) => this.#open(this.#hit(event)), onkeydown: (event) => this.#key(event),
    }, this.canvas);
    this.tip = h("div.flame-tip", { role: "status" });
    this.find = h("input", { type: "search", placeholder: "Highlight…", "aria-label": "Highlight functions", title: PATTERNS, oninput: () => this.#light() });
    this.by = h("select", { "aria-label": "Colour by", onchange: () => this.draw() }, h("option", { value: "module" }, "Colour by module"), h("option", { value: "tag" }, "Colour by stack tag"), h("option", { value: "name" }, "Colour by function"));
    this.element = h("div.flame", h("div.flame-bar", this.find, this.by, this.tip), this.scroll);
    /** @type {Frame | null} */
    this.data = null;
    /** @type {Box[]} */
    this.boxes = [];
    /** Which of them are highlighted. @type {boolean[] | null} */
    this.hits = null;
    this.found = "";
    /** What is as wide as the graph, and what the pointer or the keyboard is at. @type {Box | null} */
    this.zoom = null;
    /** @type {Box | null} */
    this.at = null;
    new ResizeObserver(() => this.draw()).observe(this.scroll);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  /** @param {string[]} words @param {string} by @param {{ signal: AbortSignal, id: string }} options */
  async load(words, by, options) {
    await client.frames("flame", { words, by, tag_file: view.tagFile.peek() || view.session.peek()?.tag_files[0]?.id }, (frame) => (this.data = frame), { ...options, rank: 3 });
    const { depth = NONE, start = NONE, weight = NONE, self = NONE, parent = NONE, name = NONE, module = NONE, tag = NONE } = this.data?.series ?? {};
    const { names = [], modules = [], tags = [] } = this.data?.head ?? {};
    this.boxes = [...depth].map((level, i) => ({
      depth: level, start: start[i] ?? 0, weight: weight[i] ?? 0, self: self[i] ?? 0, parent: parent[i] ?? -1, name: names[name[i] ?? -1] ?? "", module: modules[module[i] ?? -1], tag: tags[tag[i] ?? -1],
    }));
    this.#light();
    return this.boxes.length;
  }

  #tell() {
    this.tip.textContent = this.at ? this.#text(this.at) : this.data ? `${this.found}${this.#amount(this.data.head.total ?? 0)} in ${group(this.data.head.frames ?? 0)} boxes` : "";
  }

  /** Finds what is highlighted. A box has the time of those above it, which count once. */
  #light() {
    const fits = this.find.value ? fitting(this.find.value) : null;
    /** @type {boolean[]} */
    const inside = [];
    let [sum, count] = [0, 0];
    this.hits = fits && this.boxes.map((box, i) => {
      const [hit, below] = [fits(nameOf(box)), inside[box.parent] ?? false];
      if (hit) count += 1;
      if (hit && !below) sum += box.weight;
      inside[i] = hit || below;
      return hit;
    });
    this.found = fits ? `${this.#amount(sum)} in ${group(count)} highlighted boxes, of ` : "";
    this.draw();
    this.#tell();
  }

  /** @param {number} value */
  #amount(value) {
    return (this.data?.head.unit ?? "ns") === "ns" ? length(value) : `${group(value)} ${this.data?.head.unit}`;
  }

  /** @param {Box} box */
  #text(box) {
    const total = this.data?.head.total || 1;
    const tag = this.by.value === "tag" && box.tag ? ` (${clean(box.tag, 100)})` : "";
    return `${clean(nameOf(box), 200)}${tag} — ${this.#amount(box.weight)}, ${fixed((box.weight / total) * 100, 1)} %, self ${this.#amount(box.self)}`;
  }

  /** @returns {[number, number]} the weights at the left and the right end */
  #window() {
    return this.zoom ? [this.zoom.start, this.zoom.start + this.zoom.weight] : [0, this.data?.head.total || 1];
  }

  draw() {
    const scale = window.devicePixelRatio || 1;
    const width = this.scroll.clientWidth;
    if (!this.data || width === 0) {
      this.canvas.width = 1;
      this.canvas.height = 1;
      return;
    }
    const deepest = this.boxes.reduce((most, { depth }) => Math.max(most, depth), 0);
    const height = Math.min(16_000 / scale, Math.max((deepest + 1) * ROW, this.scroll.clientHeight));
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    const context = this.canvas.getContext("2d");
    if (!context) return;
    context.scale(scale, scale);
    context.font = `11px ${getComputedStyle(this.scroll).fontFamily}`;
    context.textBaseline = "middle";
    const hues = Array.from({ length: 12 }, (_, i) => css(`--flame-${i}`));
    const [ink, plain, accent, found, surface] = ["--flame-ink", "--bar", "--accent", "--finding", "--surface"].map(css);
    const [from, to] = this.#window();
    for (const [i, box] of this.boxes.entries()) {
      const x0 = ((box.start - from) / (to - from)) * width;
      const w = (box.weight / (to - from)) * width;
      if (x0 + w < 0 || x0 > width || w < 0.4) continue;
      const y = box.depth * ROW;
      const left = Math.max(0, x0);
      const wide = Math.min(width, x0 + w) - left;
      // Boxes of processes and threads have no module and no tag.
      const label = box[/** @type {"name" | "tag" | "module"} */ (this.by.value)];
      const hit = this.hits?.[i] ?? false;
      context.globalAlpha = this.hits && !hit ? 0.35 : 1;
      context.fillStyle = (hit ? found : label === undefined ? plain : hues[hueOfName(label)]) ?? "";
      context.fillRect(left, y, Math.max(0.6, wide - (wide > 3 ? 1 : 0)), ROW - 1);
      if (box === this.at) {
        context.strokeStyle = accent ?? "";
        context.lineWidth = 2;
        context.strokeRect(left + 1, y + 1, Math.max(1, wide - 3), ROW - 3);
      }
      if (wide <= 34) continue;
      clipped(context, [left, y, wide - 4, ROW], () => {
        context.fillStyle = (hit ? surface : ink) ?? "";
        context.fillText(clean(box.name, 120), left + 5, y + ROW / 2);
      });
    }
    context.globalAlpha = 1;
  }

  /** @param {MouseEvent} event */
  #hit(event) {
    const place = this.canvas.getBoundingClientRect();
    const [from, to] = this.#window();
    const at = from + ((event.clientX - place.left) / place.width) * (to - from);
    const row = Math.floor((event.clientY - place.top) / ROW);
    return this.boxes.find(({ depth, start, weight }) => depth === row && at >= start && at < start + weight) ?? null;
  }

  /** @param {Box | null} box */
  #go(box) {
    if (box === this.at) return;
    this.at = box;
    this.#tell();
    this.draw();
  }

  /** @param {Box | null} box */
  #zoom(box) {
    this.zoom = box === this.zoom ? null : box;
    this.draw();
  }

  /** @param {Box | null} box */
  #open(box) {
    if (box) this.onopen(nameOf(box));
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const now = this.at ?? this.zoom ?? this.boxes[0];
    if (!now || held(event)) return;
    const row = this.boxes.filter(({ depth }) => depth === now.depth).sort((a, b) => a.start - b.start);
    const place = this.boxes.indexOf(now);
    /** @type {Box | undefined} */
    let next = now;
    if (event.key === "ArrowRight") next = row[row.indexOf(now) + 1];
    else if (event.key === "ArrowLeft") next = row[row.indexOf(now) - 1];
    else if (event.key === "ArrowDown") next = this.boxes.filter(({ parent }) => parent === place).sort((a, b) => b.weight - a.weight)[0];
    else if (event.key === "ArrowUp") next = this.boxes[now.parent];
    else if (event.key === "Enter" && event.shiftKey) this.#open(now);
    else if (event.key === "Enter") this.#zoom(now);
    else if (event.key === "Escape" && this.zoom) this.#zoom(null);
    else return;
    if (next) this.#go(next);
    handled(event);
  }

  copied() {
    return { titles: ["Depth", "Method", "Total", "Self"], cells: this.boxes.map((box) => [String(box.depth), clean(nameOf(box)), String(box.weight), String(box.self)]) };
  }
}

/** @param {Box} box */
const nameOf = ({ module, name }) => `${module ? `${module}!` : ""}${name}`;
