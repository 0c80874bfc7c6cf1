// A flame graph: boxes of a frame on one canvas, with the keyboard and a text for each box.
import * as client from "../api/client.js";
import { h, handled } from "../dom/h.js";
import { clean } from "../format/text.js";
import { fixed, group, length } from "../format/time.js";
import { hueOfName } from "../lanes/paint.js";
import { css } from "../lanes/palette.js";

const ROW = 20;

export class Flame {
  /** @param {(method: string) => void} onopen a box was opened with a double click or Enter */
  constructor(onopen) {
    this.onopen = onopen;
    this.canvas = h("canvas");
    this.scroll = h("div.flame-scroll", { tabindex: 0, role: "application", "aria-label": "Flame graph: arrow keys go from box to box, Enter comes nearer, Escape goes back" }, this.canvas);
    this.tip = h("div.flame-tip", { role: "status" });
    this.find = h("input", { type: "search", placeholder: "Highlight…", "aria-label": "Highlight functions", autocomplete: "off", spellcheck: "false" });
    this.by = h("select", { "aria-label": "Colour by" }, h("option", { value: "module" }, "Colour by module"), h("option", { value: "name" }, "Colour by function"));
    this.element = h("div.flame", h("div.flame-bar", this.find, this.by, this.tip), this.scroll);
    /** @type {Frame | null} */
    this.data = null;
    this.zoom = -1;
    this.at = -1;
    this.find.addEventListener("input", () => this.draw());
    this.by.addEventListener("change", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.scroll);
    this.scroll.addEventListener("pointermove", (event) => this.#hover(this.#hit(event)));
    this.scroll.addEventListener("pointerleave", () => this.#hover(-1));
    this.scroll.addEventListener("click", (event) => this.#zoom(this.#hit(event)));
    this.scroll.addEventListener("dblclick", (event) => this.#open(this.#hit(event)));
    this.scroll.addEventListener("keydown", (event) => this.#key(event));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  /** @param {string[]} recordings @param {string[]} words @param {string} by @param {{ signal: AbortSignal, id: string }} options */
  async load(recordings, words, by, options) {
    this.data = null;
    await client.frames("flame", { recordings, words, by }, (frame) => {
      this.data = frame;
    }, { ...options, rank: 3 });
    this.zoom = -1;
    this.at = -1;
    this.draw();
    this.#tell();
    return this.#series("depth").length;
  }

  /** @param {string} key */
  #series(key) {
    return this.data?.series[key] ?? new Float64Array(0);
  }

  /** @param {number} box */
  name(box) {
    const { names = [], modules = [] } = this.data?.head ?? {};
    const module = modules[this.#series("module")[box] ?? -1];
    return `${module ? `${module}!` : ""}${names[this.#series("name")[box] ?? -1] ?? ""}`;
  }

  #tell() {
    const total = this.data?.head.total ?? 0;
    this.tip.textContent = this.at >= 0 ? this.#text(this.at) : this.data ? `${this.#amount(total)} in ${group(this.data.head.frames ?? 0)} boxes` : "";
  }

  /** @param {number} value */
  #amount(value) {
    return (this.data?.head.unit ?? "ns") === "ns" ? length(value) : `${group(value)} ${this.data?.head.unit}`;
  }

  /** @param {number} box */
  #text(box) {
    const weight = this.#series("weight")[box] ?? 0;
    const total = this.data?.head.total || 1;
    return `${clean(this.name(box), 200)} — ${this.#amount(weight)}, ${fixed((weight / total) * 100, 1)} %, self ${this.#amount(this.#series("self")[box] ?? 0)}`;
  }

  /** @returns {[number, number]} what is as wide as the graph */
  #window() {
    if (this.zoom >= 0) {
      const start = this.#series("start")[this.zoom] ?? 0;
      return [start, start + (this.#series("weight")[this.zoom] ?? 1)];
    }
    return [0, this.data?.head.total || 1];
  }

  draw() {
    const scale = window.devicePixelRatio || 1;
    const width = this.scroll.clientWidth;
    if (!this.data || width === 0) {
      this.canvas.width = 1;
      this.canvas.height = 1;
      return;
    }
    const depth = this.#series("depth");
    let deepest = 0;
    for (const d of depth) if (d > deepest) deepest = d;
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
    const ink = css("--flame-ink");
    const plain = css("--bar");
    const accent = css("--accent");
    const found = css("--finding");
    const [from, to] = this.#window();
    const text = this.find.value.toLowerCase();
    const byName = this.by.value === "name";
    const start = this.#series("start");
    const weight = this.#series("weight");
    const { names = [], modules = [] } = this.data.head;
    for (let i = 0; i < depth.length; i += 1) {
      const x0 = (((start[i] ?? 0) - from) / (to - from)) * width;
      const w = ((weight[i] ?? 0) / (to - from)) * width;
      if (x0 + w < 0 || x0 > width || w < 0.4) continue;
      const y = (depth[i] ?? 0) * ROW;
      const left = Math.max(0, x0);
      const wide = Math.min(width, x0 + w) - left;
      // Boxes of processes and threads have no module.
      const label = byName ? names[this.#series("name")[i] ?? -1] : modules[this.#series("module")[i] ?? -1];
      const hit = text !== "" && this.name(i).toLowerCase().includes(text);
      context.globalAlpha = text !== "" && !hit ? 0.35 : 1;
      context.fillStyle = hit ? found : label === undefined ? plain : hues[hueOfName(label)] ?? "";
      context.fillRect(left, y, Math.max(0.6, wide - (wide > 3 ? 1 : 0)), ROW - 1);
      if (i === this.at) {
        context.strokeStyle = accent;
        context.lineWidth = 2;
        context.strokeRect(left + 1, y + 1, Math.max(1, wide - 3), ROW - 3);
      }
      if (wide > 34) {
        context.fillStyle = ink;
        context.save();
        context.beginPath();
        context.rect(left, y, wide - 4, ROW);
        context.clip();
        context.fillText(clean(names[this.#series("name")[i] ?? -1] ?? "", 120), left + 5, y + ROW / 2);
        context.restore();
      }
    }
    context.globalAlpha = 1;
  }

  /** @param {MouseEvent} event */
  #hit(event) {
    const box = this.canvas.getBoundingClientRect();
    const [from, to] = this.#window();
    const at = from + ((event.clientX - box.left) / box.width) * (to - from);
    const row = Math.floor((event.clientY - box.top) / ROW);
    const [depth, start, weight] = [this.#series("depth"), this.#series("start"), this.#series("weight")];
    for (let i = 0; i < depth.length; i += 1) {
      if (depth[i] === row && at >= (start[i] ?? 0) && at < (start[i] ?? 0) + (weight[i] ?? 0)) return i;
    }
    return -1;
  }

  /** @param {number} box */
  #hover(box) {
    if (box === this.at) return;
    this.at = box;
    this.#tell();
    this.draw();
  }

  /** @param {number} box */
  #zoom(box) {
    this.zoom = box === this.zoom ? -1 : box;
    this.draw();
  }

  /** @param {number} box */
  #open(box) {
    if (box >= 0) this.onopen(this.name(box));
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const [depth, start, parent] = [this.#series("depth"), this.#series("start"), this.#series("parent")];
    const now = this.at < 0 ? (this.zoom >= 0 ? this.zoom : 0) : this.at;
    const all = [...depth.keys()];
    const level = depth[now] ?? 0;
    const order = (/** @type {number} */ a, /** @type {number} */ b) => (start[a] ?? 0) - (start[b] ?? 0);
    const row = all.filter((i) => depth[i] === level).sort(order);
    /** @type {number | undefined} */
    let next = now;
    if (event.key === "ArrowRight") next = row[row.indexOf(now) + 1];
    else if (event.key === "ArrowLeft") next = row[row.indexOf(now) - 1];
    else if (event.key === "ArrowDown") next = all.filter((i) => parent[i] === now).sort((a, b) => (this.#series("weight")[b] ?? 0) - (this.#series("weight")[a] ?? 0))[0];
    else if (event.key === "ArrowUp") next = (parent[now] ?? -1) >= 0 ? parent[now] : undefined;
    else if (event.key === "Enter" && event.shiftKey) this.#open(now);
    else if (event.key === "Enter") this.#zoom(now);
    else if (event.key === "Escape" && this.zoom >= 0) this.#zoom(-1);
    else return;
    if (next !== undefined) {
      this.at = next;
      this.#tell();
      this.draw();
    }
    handled(event);
  }

  /** @returns {{ titles: string[], cells: string[][] }} */
  copied() {
    const [depth, weight, self] = [this.#series("depth"), this.#series("weight"), this.#series("self")];
    return { titles: ["Depth", "Method", "Total", "Self"], cells: [...depth.keys()].map((i) => [String(depth[i]), clean(this.name(i)), String(weight[i]), String(self[i])]) };
  }
}
