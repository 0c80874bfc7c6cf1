// The panels: tabs, what they are about, filter, columns, copies, and the answer.
import * as client from "../api/client.js";
import { fill, h, handled, icon } from "../dom/h.js";
import { calm, computed, effect, signal, untracked } from "../dom/signal.js";
import { columnOf, copied } from "../format/table.js";
import { clean, exact, messageOf } from "../format/text.js";
import { clockOf, group, length, readRange } from "../format/time.js";
import { hueOrder } from "../lanes/palette.js";
import { heldWindow } from "../parts/findings.js";
import { copy, openMenu } from "../parts/menu.js";
import { baseOf, carried, commandLine } from "../state/command.js";
import * as view from "../state/view.js";
import { detail } from "./detail.js";
import { explained, isOpen } from "./explain.js";
import { Flame } from "./flame.js";
import { hueOfCell, light, showWait } from "./go.js";
import { askable, PATTERNS, questionOf, TOP } from "./questions.js";
import { rowMenu } from "./row-menu.js";
import { Table } from "./table.js";
import { Tree } from "./tree.js";
import { which } from "./which.js";

const STILL_MS = 140;

export class Dock {
  constructor() {
    this.tabs = h("div.tabs", { role: "tablist", "aria-label": "Panels" });
    this.about = h("div.about");
    this.filter = h("input.filter", { type: "search", placeholder: "Filter: name, *part*, a;!b", "aria-label": "Filter rows, with the patterns of the command line", title: PATTERNS, autocomplete: "off", spellcheck: "false" });
    this.measure = h("select", { "aria-label": "Measure" }, ["cpu", "wait", "ready"].map((one) => h("option", { value: one }, { cpu: "CPU", wait: "Waits", ready: "Ready" }[one] ?? one)));
    this.tags = h("select", { "aria-label": "Rules of stack tags" });
    this.columnsButton = h("button.quiet", { "aria-haspopup": "menu", title: "Columns", onclick: () => this.#columns() }, icon("columns"), "Columns");
    this.copyButton = h("button.quiet", { "aria-haspopup": "menu", title: "Copy", onclick: () => this.#copies() }, icon("copy"), "Copy");
    this.commandButton = h("button.quiet", { id: "copy-command", title: "Copy the command with these numbers", onclick: () => void copy(this.command, "command") }, icon("command"), "Copy command");
    this.body = h("div.panel-body", { role: "tabpanel", id: "panel", "aria-live": "off" });
    this.foot = h("div.panel-foot");
    this.bar = h("div.progress", { hidden: true });
    this.element = h("section.dock", { "aria-label": "Panels" }, this.tabs,
      h("div.panel-bar", this.about, h("div.tools", this.measure, this.tags, this.filter, this.columnsButton, this.copyButton, this.commandButton)),
      h("div.panel-row", h("div.panel-main", this.bar, this.body, this.foot), detail()));
    this.command = "";
    /** What instants of the rows count from, in ns since the start of the recording. */
    this.base = 0;
    /** The words whose explanation is shown. */
    this.explained = "";
    /** @type {Shown} */
    this.shown = null;
    /** @type {Table | null} */
    this.table = null;
    /** @type {TableRow[]} */
    this.rows = [];
    /** @type {Map<string, TableState>} */
    this.states = new Map();
    /** What is shown, as a text: tests wait for it. */
    this.ready = signal("");
    let still = 0;
    this.filter.addEventListener("input", () => {
      clearTimeout(still);
      still = window.setTimeout(() => (view.filter.value = this.filter.value.trim()), 250);
    });
    this.measure.addEventListener("change", () => (view.measure.value = this.measure.value));
    this.tags.addEventListener("change", () => (view.tagFile.value = this.tags.value));
    this.#follow();
  }

  #follow() {
    // Another landmark makes other words; where only the page knows the instant, texts alone change.
    const zeroKey = computed(() => (view.zero.value?.landmark ? `${view.zero.value.landmark.at}|${view.zero.value.landmark.of}|${view.zero.value.ns}` : ""));
    effect(() => {
      const wanted = view.tables.value;
      for (const [id, state] of this.states) {
        const next = wanted.get(id) ?? usual(id);
        if (JSON.stringify(next) === JSON.stringify(state)) continue;
        Object.assign(state, next);
        if (this.table?.state !== state) continue;
        this.table.list.forget();
        this.table.set(this.rows, questionOf(id).columns);
      }
    });
    effect(() => {
      for (const one of [view.clock, view.zero, hueOrder]) void one.value;
      untracked(() => this.table?.again(this.#instant()));
    });
    effect(() => {
      const tabs = askable(view.recording.value);
      const now = view.panel.value;
      untracked(() => fill(this.tabs, tabs.map(({ id, title, about }) => {
        const tab = /** @type {HTMLElement} */ (h("button", { role: "tab", id: `tab-${id}`, "aria-selected": String(id === now), "aria-controls": "panel", tabindex: id === now ? 0 : -1, title: about, onclick: () => (view.panel.value = id) }, title));
        return tab;
      })));
      this.body.setAttribute("aria-labelledby", `tab-${now}`);
    });
    this.tabs.addEventListener("keydown", (event) => {
      const tabs = askable(view.recording.peek());
      const at = tabs.findIndex(({ id }) => id === view.panel.peek());
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1 + tabs.length, Home: 0, End: tabs.length - 1 }[event.key];
      const next = to === undefined ? null : tabs[to % tabs.length];
      if (!next) return;
      view.panel.value = next.id;
      document.getElementById(`tab-${next.id}`)?.focus();
      handled(event);
    });
    calm(() => this.#head());
    effect(() => {
      if (document.activeElement !== this.filter) this.filter.value = view.filter.value;
      this.measure.value = view.measure.value;
      const files = view.session.value?.tag_files ?? [];
      fill(this.tags, h("option", { value: "" }, "built-in tags"), files.filter(({ id }) => id !== "builtin").map(({ id, name }) => h("option", { value: id }, clean(name, 60))));
      this.tags.value = view.tagFile.value;
      const kind = view.panel.value;
      this.measure.hidden = !["tree", "callers", "flame", "butterfly"].includes(kind);
      this.tags.hidden = kind !== "tags" || files.filter(({ id }) => id !== "builtin").length === 0;
      this.filter.hidden = questionOf(kind).filter === "" || kind === "butterfly";
      this.columnsButton.hidden = questionOf(kind).view !== "table";
    });
    effect(() => {
      const lit = view.lit.value;
      this.table?.light((row) => {
        if (lit === null || (lit.pid === null && lit.tid === null) || (lit.pid !== null && row["pid"] !== lit.pid)) return false;
        const tid = row["tid"] ?? null;
        return lit.tid === null || tid === lit.tid || (tid === null && lit.pid !== null);
      });
    });
    // Shows at once what a drag has ended with.
    let now = () => {};
    let dragged = false;
    /** @type {TimeRange | null} */
    let before = null;
    effect(() => {
      const ended = dragged && !view.dragging.value;
      dragged = view.dragging.value;
      if (ended) untracked(now);
    });
    effect(() => {
      const recording = view.recording.value;
      const id = view.panel.value;
      const [from, to] = view.subject.value;
      for (const one of [view.processes, view.thread, view.finding, view.filter, view.measure, view.method, view.tagFile]) void one.value;
      void zeroKey.value;
      if (!recording) return undefined;
      const stop = new AbortController();
      const whole = view.whole();
      const range = from <= whole[0] && to >= whole[1] ? null : /** @type {TimeRange} */ ([from, to]);
      this.element.setAttribute("aria-busy", "true");
      // Rows that go away tell no pointer that leaves them.
      untracked(() => view.lit.peek()?.range && (view.lit.value = null));
      const load = () => {
        now = () => {};
        clearTimeout(timer);
        void untracked(() => this.#load(recording, id, range, stop.signal));
      };
      // Ranges that follow the wheel or the pointer are many; whatever else changes is asked for at once.
      const moves = view.dragging.peek() || (view.selection.peek() === null && before !== view.subject.peek());
      before = view.subject.peek();
      const timer = setTimeout(load, moves ? STILL_MS : 0);
      now = load;
      return () => {
        now = () => {};
        clearTimeout(timer);
        stop.abort();
      };
    });
  }

  /** What the panels are about: the range, how long it is, and whose. */
  #head() {
    const recording = view.recording.value;
    const [from, to] = view.subject.value;
    const clock = clockOf(recording, view.clock.value, view.zero.value?.ns ?? 0);
    const step = Math.max(1, (to - from) / 1000);
    const selected = view.selection.value !== null;
    const only = view.processes.value;
    const thread = view.thread.value;
    const chip = (/** @type {string} */ text, /** @type {string} */ what, /** @type {() => void} */ drop) => h("span.chip", { title: clean(text) }, h("span.chip-text", clean(text, 200)), h("button", { "aria-label": `${what}: show all again`, onclick: drop }, icon("close")));
    const method = view.panel.value === "butterfly" ? view.method.value : null;
    return () => untracked(() => fill(this.about,
      h("strong", selected ? "Selection" : "View range"),
      h("span.when", ` ${clock.text(from, step)} – ${clock.text(to, step)}`), h("span.long", length(to - from)),
      only ? chip(only, "Process", () => (view.processes.value = null)) : h("span.dim", "all processes"),
      thread ? chip(thread.name, "Thread", () => (view.thread.value = null)) : null,
      method ? chip(method, "Function", () => (view.method.value = null)) : null,
      selected ? h("button.quiet", { onclick: () => (view.selection.value = null) }, "Clear") : null));
  }

  /** @param {string} id */
  #state(id) {
    let state = this.states.get(id);
    if (!state) {
      state = view.tables.peek().get(id) ?? usual(id);
      this.states.set(id, state);
    }
    return state;
  }

  /** Tells the view how the reader wants the tables. */
  #told() {
    view.tables.value = new Map([...this.states].filter(([id, state]) => JSON.stringify(state) !== JSON.stringify(usual(id))).map(([id, state]) => [id, { ...state }]));
  }

  /** @param {RecordingInfo} recording @param {string} id @param {TimeRange | null} range @param {AbortSignal} aborted */
  async #load(recording, id, range, aborted) {
    const question = questionOf(id);
    const held = id === "explain" ? heldWindow() : undefined;
    const context = {
      range: held === undefined ? range : held, process: view.processes.peek(), tid: view.thread.peek()?.tid ?? null, filter: view.filter.peek(), measure: view.measure.peek(), tagFile: view.tagFile.peek(), method: view.method.peek(), top: TOP,
    };
    const request = `p${Math.random().toString(36).slice(2, 12)}`;
    const watch = this.#watch(request);
    try {
      this.rows = [];
      const words = carried(question.words(context));
      this.base = baseOf(words);
      if ((id === "path" && !context.process && (context.tid === null || !range)) || (id === "explain" && !context.process && range)) {
        [this.shown, this.table, this.command] = [null, null, ""];
        fill(this.body, h("div.empty", which(recording, id === "path" ? "Whose path?" : "Which process was tested?", aborted)));
        fill(this.foot);
      } else if (question.view === "explain" && this.explained === [recording.id, ...words].join(" ") && this.body.querySelector(".explain")) this.#atFinding();
      else if (question.view === "flame") await this.#flame(recording, words, request, aborted);
      else if (question.view === "butterfly") await this.#butterfly(recording, context, request, aborted);
      else await this.#ask(recording, question, words, request, aborted);
      if (aborted.aborted) return;
      this.ready.value = `${id} ${words.join(" ")}`;
      this.element.dataset["ready"] = this.ready.peek();
      this.element.setAttribute("aria-busy", "false");
    } catch (error) {
      if (client.isAbort(error) || aborted.aborted) return;
      this.element.setAttribute("aria-busy", "false");
      this.shown = null;
      this.table = null;
      const hint = error instanceof client.ServerError ? error.hint : null;
      fill(this.body, h("div.empty", { role: "alert" }, h("p", clean(messageOf(error), 400)), hint ? h("p.dim", clean(hint, 400)) : null));
      fill(this.foot);
    } finally {
      watch();
    }
  }

  /**
   * Shows progress from 200 ms on.
   * @param {string} id
   */
  #watch(id) {
    let ended = false;
    const look = async () => {
      if (ended) return;
      this.bar.hidden = false;
      const now = await client.progress(id);
      if (ended) return;
      if (now) this.bar.style.setProperty("--done", String(now.done));
      timer = window.setTimeout(() => void look(), 200);
    };
    let timer = window.setTimeout(() => void look(), 150);
    return () => {
      ended = true;
      clearTimeout(timer);
      this.bar.hidden = true;
      this.bar.style.setProperty("--done", "0");
    };
  }

  /** @param {RecordingInfo} recording @param {Question} question @param {string[]} words @param {string} id @param {AbortSignal} signal */
  async #ask(recording, question, words, id, signal) {
    const answer = await client.question([recording.id], words, { signal, id, rank: 3 });
    this.command = answer.command || commandLine(words);
    const thread = view.thread.peek();
    const all = answer.rows.filter((row) => row["idle"] !== true);
    const few = thread ? all.filter((row) => row["tid"] === undefined || row["tid"] === null || row["tid"] === thread.tid) : all;
    const text = view.filter.peek().toLowerCase();
    this.rows = text && question.filter === "process" && view.processes.peek() ? few.filter((row) => JSON.stringify(row).toLowerCase().includes(text.replaceAll("*", ""))) : few;
    if (question.view === "explain") {
      this.shown = null;
      this.table = null;
      const at = words.indexOf("--window");
      const text = explained(answer.rows, at < 0 ? null : readRange(words[at + 1] ?? ""));
      // Without an account the command names no process itself.
      const open = !view.processes.peek() && isOpen(answer.rows);
      fill(this.body, open ? h("div.asked", which(recording, "Which process was tested?", signal), text) : text);
      this.explained = [recording.id, ...words].join(" ");
      this.#atFinding();
    } else if (question.view === "tree") this.#tree(question);
    else this.#fillTable(question, answer.notes);
    this.#tell(answer, all.length, this.rows.length < all.length);
  }

  /** Goes to the chosen finding. */
  #atFinding() {
    const rule = view.finding.peek()?.rule;
    for (const element of this.body.querySelectorAll("[data-rule]")) {
      const is = rule !== undefined && element.getAttribute("data-rule") === rule;
      element.classList.toggle("chosen", is);
      if (is) element.scrollIntoView({ block: "nearest" });
    }
  }

  /** @param {Answer} answer @param {number} count @param {boolean} narrowed */
  #tell(answer, count, narrowed) {
    const warnings = [...new Set([...answer.notes, ...answer.rows.flatMap((row) => (Array.isArray(row["warnings"]) ? row["warnings"].map(String) : []))])];
    fill(this.foot,
      h("span", `${group(this.rows.length)} row${this.rows.length === 1 ? "" : "s"}${narrowed ? ` of the ${group(count)} of the command` : ""}`),
      limitOf(answer.words, count),
      h("span.dim", `${answer.read !== null ? `${group(answer.read)} rows read · ` : ""}${length(answer.ms * 1e6)}`),
      warnings.length > 0 ? h("span.warn", { title: warnings.join("\n") }, icon("warning"), clean(warnings[0] ?? "", 140), warnings.length > 1 ? ` (+${warnings.length - 1})` : "") : null,
      h("code.command", { title: clean(this.command, 4_000) }, clean(this.command, 400)));
  }

  /** @returns {(ns: number) => string} text of an instant of a row */
  #instant() {
    const clock = view.clockNow();
    const { base } = this;
    return (ns) => clock.text(ns + base, 1000);
  }

  /** @param {Question} question @param {string[]} notes what the command says beside its rows */
  #fillTable(question, notes) {
    if (this.rows.length === 0) {
      this.table = null;
      this.shown = null;
      fill(this.body, h("div.empty", h("p", "Nothing in this range."), notes.slice(0, 3).map((note) => h("p", clean(note, 300))), h("p.dim", question.about)));
      return;
    }
    const instant = this.#instant();
    const same = this.table !== null && this.body.contains(this.table.element) && this.table.element.dataset["of"] === question.id;
    const table = same && this.table ? this.table : new Table({
      label: question.title, unions: question.id === "methods" || question.id === "tags", path: question.id === "path", state: this.#state(question.id), instant,
      onpick: (row, open) => this.#pick(question, row, open), onlight: (row) => light(row, this.base), onstate: () => this.#told(), hue: hueOfCell,
      onmenu: (row, element, x) => this.table && openMenu(element, rowMenu(row, this.table, this.base, butterflyOf), x),
    });
    table.instant = instant;
    if (!same) {
      table.element.dataset["of"] = question.id;
      fill(this.body, table.element);
    }
    this.table = table;
    this.shown = table;
    table.set(this.rows, question.columns);
  }

  /** @param {Question} question */
  #tree(question) {
    this.table = null;
    if (this.rows.length === 0) {
      this.shown = null;
      fill(this.body, h("div.empty", h("p", "No stacks in this range.")));
      return;
    }
    const tree = new Tree({ label: question.title, self: question.id !== "callers", onpick: (node, open) => open && node.depth > 0 && butterflyOf(node.name) });
    this.shown = tree;
    fill(this.body, tree.element);
    tree.set(this.rows);
  }

  /** @param {RecordingInfo} recording @param {string[]} words @param {string} id @param {AbortSignal} signal */
  async #flame(recording, words, id, signal) {
    const flame = new Flame((name) => butterflyOf(name));
    const boxes = await flame.load([recording.id], words, view.measure.peek(), { signal, id });
    if (signal.aborted) return;
    // The graph leaves out less than the command does by itself.
    const own = flame.data?.head.words;
    this.command = commandLine(Array.isArray(own) && own.length > 0 ? own : words);
    this.table = null;
    this.shown = flame;
    if (boxes === 0) fill(this.body, h("div.empty", h("p", "No stacks in this range.")));
    else fill(this.body, flame.element);
    flame.draw();
    fill(this.foot, h("span", `${group(boxes)} boxes`), h("code.command", { title: clean(this.command, 4_000) }, clean(this.command, 400)));
  }

  /** @param {RecordingInfo} recording @param {WordContext} context @param {string} id @param {AbortSignal} signal */
  async #butterfly(recording, context, id, signal) {
    if (!context.method) {
      const input = /** @type {HTMLInputElement} */ (h("input.filter", { type: "text", placeholder: "module!function", "aria-label": "Function", spellcheck: "false", onchange: () => (view.method.value = input.value.trim() || null) }));
      fill(this.body, h("div.empty", h("p", "Callers and callees of one function."), h("p.dim", "Double click a function in the call tree or the methods, or name one here."), input));
      fill(this.foot);
      this.shown = null;
      return;
    }
    const words = carried(questionOf("butterfly").words(context));
    const [below, above] = await Promise.all([
      client.question([recording.id], words, { signal, id, rank: 3 }),
      client.question([recording.id], [...words.slice(0, 2), "--callers", ...words.slice(2)], { signal, rank: 3 }),
    ]);
    const make = (/** @type {string} */ label, /** @type {boolean} */ self, /** @type {Answer} */ answer) => {
      const tree = new Tree({ label, self, narrow: true, onpick: (node, open) => open && node.depth > 0 && butterflyOf(node.name) });
      const box = h("div.half", h("h3", label), tree.element);
      return { tree, box, answer };
    };
    const parts = [make("Callers", false, above), make("Callees", true, below)];
    fill(this.body, h("div.butterfly", parts.map(({ box }) => box)));
    for (const { tree, answer } of parts) tree.set(answer.rows);
    this.shown = parts[1]?.tree ?? null;
    this.table = null;
    this.rows = below.rows;
    this.command = below.command;
    this.#tell(below, below.rows.length, false);
  }

  /** @param {Question} question @param {TableRow} row @param {boolean} open */
  #pick(question, row, open) {
    if (question.id === "waits" && typeof row["tid"] === "number" && typeof row["from_ns"] === "number") void showWait(row, this.base);
    else if (open && (question.id === "methods" || question.id === "tree")) butterflyOf(`${row["module"] ? `${row["module"]}!` : ""}${row["method"]}`);
    else if (open && typeof row["process"] === "string" && typeof row["pid"] === "number") {
      const own = question.id === "threads" && typeof row["tid"] === "number" ? { thread: { tid: row["tid"], name: `${row["tid"]} ${row["thread_name"] ?? ""}`.trim() } } : {};
      view.narrow({ processes: `${exact(row["process"])}(${row["pid"]})`, ...own });
    } else light(row, this.base);
  }

  #columns() {
    const table = this.table;
    if (!table) return;
    const state = table.state;
    const shown = new Set(table.columns.map(({ key }) => key));
    const keys = Object.keys(this.rows[0] ?? {}).filter((key) => !["file", "warnings"].includes(key));
    openMenu(this.columnsButton, keys.map((key) => ({
      name: columnOf(key, this.rows[0]?.[key], table.unions, table.path).title, checked: shown.has(key), stay: true,
      run: () => {
        const now = table.columns.map((one) => one.key);
        state.chosen = now.includes(key) ? now.filter((one) => one !== key) : [...now, key];
        this.#told();
        table.list.forget();
        table.set(this.rows, questionOf(view.panel.peek()).columns);
      },
    })));
  }

  #copies() {
    const shown = this.shown;
    if (!shown) return;
    const give = (/** @type {string} */ form, /** @type {string} */ name) => ({ name, run: () => {
      const { titles, cells } = shown.copied();
      void copy(copied(titles, cells, form), name);
    } });
    openMenu(this.copyButton, [give("tsv", "TSV, for a spreadsheet"), give("csv", "CSV"), give("md", "Markdown table"), "-", { name: "Command", run: () => void copy(this.command, "command") }]);
  }
}

/**
 * Says it where the command keeps the largest rows only.
 * @param {string[]} words
 * @param {number} count rows of the answer
 * @returns {HTMLElement | null}
 */
function limitOf(words, count) {
  const after = (/** @type {string} */ word) => Number(words[words.indexOf(word) + 1] ?? NaN);
  const [top, each] = [words.includes("--top") ? after("--top") : NaN, words.includes("--top-methods") ? after("--top-methods") : NaN];
  if (each > 0) return h("span.dim", `the ${group(each)} largest of each of the ${group(top)} largest processes at most`);
  return count >= top ? h("span.dim", `the ${group(top)} largest; the command has more with a larger --top`) : null;
}

/** @param {string} id @returns {TableState} */
function usual(id) {
  return { sort: questionOf(id).sort, down: true, chosen: null };
}

/** @param {string} name */
function butterflyOf(name) {
  view.method.value = exact(name);
  view.panel.value = "butterfly";
}
