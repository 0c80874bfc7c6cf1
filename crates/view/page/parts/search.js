// Search: hits by kind in a list, their density on the axis, and next and previous.
import * as client from "../api/client.js";
import { fill, h, handled, icon, paused } from "../dom.js";
import { clean, exact, group, length } from "../format.js";
import * as model from "../lanes/model.js";
import { patternOf } from "../lanes/rows.js";
import { commandLine } from "../state/command.js";
import * as view from "../state/view.js";
import { densityOf } from "./density.js";
import { choose } from "./spans.js";

const KINDS = ["process", "thread", "module", "method", "tag", "file", "mark", "event", "command"];
/** @type {Record<string, string>} */
const NAMES = { process: "Processes", thread: "Threads", module: "Modules", method: "Methods", tag: "Stack tags", file: "Files", mark: "Marks", event: "Events", command: "Command lines" };

export class Search {
  constructor() {
    this.input = h("input", {
      id: "search", type: "search", role: "combobox", "aria-expanded": "false", "aria-controls": "hits", "aria-label": "Search processes, threads, methods, tags, files, marks, events",
      placeholder: "Search processes, methods, files   /",
    });
    this.count = h("span.hit-count", { role: "status" });
    this.before = h("button.quiet", { "aria-label": "Previous hit", onclick: () => this.step(-1) }, "‹");
    this.after = h("button.quiet", { "aria-label": "Next hit", onclick: () => this.step(1) }, "›");
    this.list = h("div.hits", { id: "hits", role: "listbox", "aria-label": "Hits", hidden: true });
    this.element = h("div.search", { role: "search" }, icon("search"), this.input, this.count, this.before, this.after, this.list);
    /** @type {Hit[]} */
    this.hits = [];
    /** @type {Density[]} */
    this.densities = [];
    this.at = -1;
    this.stop = new AbortController();
    this.asking = new AbortController();
    /** Whether hits that came will be shown in the next frame. */
    this.drawing = false;
    this.input.addEventListener("input", paused(150, () => this.run(this.input.value.trim())));
    this.input.addEventListener("focus", () => this.#show(this.hits.length > 0));
    this.input.addEventListener("keydown", (event) => this.#key(event));
    this.element.addEventListener("focusout", (event) => {
      if (!(event.relatedTarget instanceof Node) || !this.element.contains(event.relatedTarget)) this.#show(false);
    });
    this.before.hidden = true;
    this.after.hidden = true;
  }

  /** @param {string} text */
  async run(text) {
    this.stop.abort();
    this.asking.abort();
    this.stop = new AbortController();
    const { signal } = this.stop;
    this.hits = [];
    this.densities = [];
    this.at = -1;
    view.density.value = null;
    if (text.length < 1) {
      this.#draw();
      return;
    }
    const [from, to] = view.whole();
    try {
      await client.search({ text, kinds: KINDS, from, to }, (line) => {
        if (signal.aborted) return;
        if ("density" in line) this.densities.push(line.density);
        else if ("figures" in line) {
          const { figures } = line;
          const hit = this.hits.find((one) => one.name === figures.name && one.kind === figures.kind);
          if (hit) Object.assign(hit, figures);
          this.#soon(signal);
        } else {
          this.hits.push(line);
          this.#soon(signal);
        }
      }, signal);
      if (signal.aborted) return;
      this.#sort();
      this.#draw();
      void this.#density();
    } catch (error) {
      client.report(error);
    }
  }

  #sort() {
    const chosen = this.hits[this.at];
    this.hits.sort((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) || b.count - a.count);
    this.at = chosen ? this.hits.indexOf(chosen) : -1;
  }

  /** Shows the hits that are here while others are under way. @param {AbortSignal} signal */
  #soon(signal) {
    if (this.drawing) return;
    this.drawing = true;
    requestAnimationFrame(() => {
      this.drawing = false;
      if (signal.aborted) return;
      this.#sort();
      this.#draw();
    });
  }

  /** The density of the chosen hit, else of the first one: that of its lane, else of its kind. */
  async #density() {
    const hit = this.hits[Math.max(0, this.at)];
    const of = (/** @type {Density} */ one) => one.name === hit?.name && one.kind === hit.kind;
    const known = this.densities.find(of) ?? this.densities.find(({ name, kind }) => name === null && kind === hit?.kind) ?? null;
    view.density.value = known;
    this.asking.abort();
    this.asking = new AbortController();
    const { signal } = this.asking;
    if (known || !hit) return;
    try {
      const density = await densityOf(hit, signal);
      if (signal.aborted || !density) return;
      this.densities.push(density);
      view.density.value = density;
    } catch (error) {
      client.report(error);
    }
  }

  /** @param {boolean} on */
  #show(on) {
    this.list.hidden = !on;
    this.input.ariaExpanded = String(on);
  }

  #draw() {
    const text = this.input.value.trim();
    this.count.textContent = text === "" ? "" : this.at >= 0 ? `${this.at + 1}/${this.hits.length}` : `${group(this.hits.length)} hit${this.hits.length === 1 ? "" : "s"}`;
    this.before.hidden = this.hits.length === 0;
    this.after.hidden = this.hits.length === 0;
    const clock = view.clockNow();
    const groups = KINDS.filter((kind) => this.hits.some((hit) => hit.kind === kind));
    const option = (/** @type {Hit} */ hit, /** @type {number} */ i) => h("div.item", {
      role: "option", id: `hit-${i}`, "aria-selected": String(i === this.at), onpointerdown: (event) => event.preventDefault(), onclick: () => this.go(i),
    }, h("span.hit-name", { title: `${clean(hit.name)}\n${clean(commandLine(hit.words), 400)}` }, clean(hit.name, 160)), h("span.dim", figure(hit, clock.text)));
    fill(this.list, groups.length === 0 && text !== "" ? h("div.none", { role: "option", "aria-selected": "false", "aria-disabled": "true" }, "nothing has this name") : null,
      groups.map((kind) => h("div", { role: "group", "aria-label": NAMES[kind] ?? kind }, h("div.kind", { "aria-hidden": "true" }, NAMES[kind] ?? kind), this.hits.map((hit, i) => (hit.kind === kind ? option(hit, i) : null)).slice(0, 400))));
    this.#show(document.activeElement === this.input && text !== "");
    this.input.setAttribute("aria-activedescendant", this.at >= 0 ? `hit-${this.at}` : "");
    this.list.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }

  /** @param {1 | -1} way @returns {number} the place behind the last one is the first */
  #next(way) {
    return (this.at + way + this.hits.length) % this.hits.length;
  }

  /** @param {1 | -1} way */
  step(way) {
    if (this.hits.length === 0) return;
    this.go(this.#next(way), false);
  }

  /** @param {number} index @param {boolean} [close] */
  go(index, close = true) {
    const hit = this.hits[index];
    if (!hit) return;
    this.at = index;
    this.#draw();
    void this.#density();
    if (close) this.#show(false);
    const [from, to] = view.range.peek();
    if (Number.isFinite(hit.first_ns) && hit.first_ns !== null && (hit.first_ns >= to || hit.last_ns < from)) view.centre(hit.first_ns);
    const { lane: id } = hit;
    if (id) void model.reveal(id).then(() => (hit.kind === "thread" ? choose(id, hit.first_ns) : undefined));
    if (hit.kind === "process" && hit.lane) {
      const lane = model.known.get(hit.lane);
      view.processes.value = lane ? patternOf(lane).pattern : exact(hit.name);
    } else if (hit.kind === "method") view.method.value = exact(hit.name);
    else if (hit.kind === "tag" || hit.kind === "file") view.filter.value = exact(hit.name);
    const panel = { method: "butterfly", tag: "tags", file: view.has("file") ? "file" : "disk", event: "events" }[hit.kind];
    if (panel) view.panel.value = panel;
    view.said.value = `${hit.kind} ${hit.name}`;
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (this.hits.length === 0) return;
      this.at = this.#next(event.key === "ArrowDown" ? 1 : -1);
      this.#show(true);
      this.#draw();
      void this.#density();
    } else if (event.key === "Enter") this.go(Math.max(0, this.at));
    else if (event.key === "Escape") {
      if (this.list.hidden || this.input.value === "") this.input.blur();
      else {
        this.input.value = "";
        void this.run("");
      }
    } else return;
    handled(event);
  }
}

/** @param {Hit} hit @param {(ns: number, step: number) => string} clock */
function figure(hit, clock) {
  const time = hit.time_ns === null || hit.time_ns === undefined ? "" : `${length(hit.time_ns)} · `;
  const count = hit.count > 1 ? `${group(hit.count)} × · ` : "";
  return `${time}${count}${hit.first_ns === null ? "" : clock(hit.first_ns, 1e6)}`;
}
