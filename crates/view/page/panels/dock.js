// The panels: they ask, and show the answer of the question that is chosen.
import * as client from "../api/client.js";
import { computed, effect, fill, h, icon, signal, untracked, watch } from "../dom.js";
import { clean, columnOf, copied, exact, group, messageOf, readRange } from "../format.js";
import { hueOrder } from "../lanes/palette.js";
import { heldWindow } from "../parts/findings.js";
import { copy, menuButton, openMenu } from "../parts/menu.js";
import { baseOf, carried, commandLine } from "../state/command.js";
import * as view from "../state/view.js";
import { about, filters, tabs } from "./bar.js";
import { detail } from "./detail.js";
import { explained, isOpen } from "./explain.js";
import { Flame } from "./flame.js";
import { commandOf, footOf, limitOf } from "./foot.js";
import { hueOfCell, light, methodOf, processOf, showWait, threadOfRow } from "./go.js";
import { questionOf, TOP } from "./questions.js";
import { rowMenu } from "./row-menu.js";
import { Table } from "./table.js";
import { Tree } from "./tree.js";
import { which } from "./which.js";

const STILL_MS = 300;
const NO_STACKS = "No stacks in this range.";

export class Dock {
  constructor() {
    /** The buttons that need a table. */
    this.columnsButton = menuButton({ title: "Columns", hidden: () => questionOf(view.panel.value).view !== "table" }, () => this.#columns(), icon("columns"), "Columns");
    this.body = h("div.panel-body", { role: "tabpanel", id: "panel", "aria-live": "off" });
    this.foot = h("div.panel-foot");
    this.bar = h("div.progress", { hidden: true });
    this.element = h("section.dock", { "aria-label": "Panels" }, tabs(this.body),
      h("div.panel-bar", about(), h("div.tools", filters(), this.columnsButton,
        menuButton({ title: "Copy" }, () => this.#copies(), icon("copy"), "Copy"),
        h("button.quiet", { id: "copy-command", title: "Copy the command with these numbers", onclick: () => copy(this.command, "command") }, icon("command"), "Copy command"))),
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
    watch([view.clock, view.zero, hueOrder], () => {
      this.table?.again(this.#instant());
      this.#times();
    });
    effect(() => {
      const lit = view.lit.value;
      this.table?.light((row) => {
        if (lit === null || (lit.pid === null && lit.tid === null) || (lit.pid !== null && row.pid !== lit.pid)) return false;
        const tid = row.tid ?? null;
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
      const id = view.panel.value;
      const [from, to] = view.subject.value;
      for (const one of [view.processes, view.thread, view.finding, view.filter, view.measure, view.method, view.tagFile]) void one.value;
      void zeroKey.value;
      if (!view.recording.value) return undefined;
      const stop = new AbortController();
      const whole = view.whole();
      const range = from <= whole[0] && to >= whole[1] ? null : /** @type {TimeRange} */ ([from, to]);
      this.element.ariaBusy = "true";
      // Rows that go away tell no pointer that leaves them.
      untracked(() => view.lit.peek()?.range && (view.lit.value = null));
      const load = () => {
        now = () => {};
        clearTimeout(timer);
        void untracked(() => this.#load(id, range, stop.signal));
      };
      // Ranges that follow the pointer are many; whatever else changes is asked for at once.
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

  /** @param {string} id @param {TimeRange | null} range @param {AbortSignal} aborted */
  async #load(id, range, aborted) {
    const question = questionOf(id);
    const held = id === "explain" ? heldWindow() : undefined;
    const context = {
      range: held === undefined ? range : held, process: view.processes.peek(), tid: view.thread.peek()?.tid ?? null, filter: view.filter.peek(), measure: view.measure.peek(), tagFile: view.tagFile.peek(), method: view.method.peek(), top: TOP,
    };
    const request = client.freshId();
    const ended = this.#watch(request);
    try {
      this.rows = [];
      const words = carried(question.words(context));
      this.base = baseOf(words);
      if ((id === "path" && !context.process && (context.tid === null || !range)) || (id === "explain" && !context.process && range)) {
        this.command = "";
        this.#empty(which(id === "path" ? "Whose path?" : "Which process was tested?", aborted));
      } else if (question.view === "explain" && this.explained === [view.recordingId.peek(), ...words].join(" ") && this.body.querySelector(".explain")) this.#atFinding();
      else if (question.view === "flame") await this.#flame(words, request, aborted);
      else if (question.view === "butterfly") await this.#butterfly(context, request, aborted);
      else await this.#ask(question, words, request, aborted);
      if (aborted.aborted) return;
      this.ready.value = `${id} ${words.join(" ")}`;
      this.element.dataset.ready = this.ready.peek();
      this.element.ariaBusy = "false";
    } catch (error) {
      if (client.isAbort(error) || aborted.aborted) return;
      this.element.ariaBusy = "false";
      const hint = error instanceof client.ServerError ? error.hint : null;
      this.#empty(h("p", { role: "alert" }, clean(messageOf(error), 400)), hint ? h("p.dim", clean(hint, 400)) : null);
    } finally {
      ended();
    }
  }

  /** Shows a text where there is no answer. @param {...Child} children */
  #empty(...children) {
    this.shown = null;
    this.table = null;
    fill(this.body, h("div.empty", children));
    fill(this.foot);
  }

  /** Shows progress from 200 ms on. @param {string} id */
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

  /** @param {Question} question @param {string[]} words @param {string} id @param {AbortSignal} signal */
  async #ask(question, words, id, signal) {
    const answer = await client.question(words, { signal, id, rank: 3 });
    this.command = answer.command || commandLine(words);
    const thread = view.thread.peek();
    const all = answer.rows.filter((row) => row.idle !== true);
    const few = thread ? all.filter((row) => row.tid === undefined || row.tid === null || row.tid === thread.tid) : all;
    const text = view.filter.peek().toLowerCase();
    this.rows = text && question.filter === "process" && view.processes.peek() ? few.filter((row) => JSON.stringify(row).toLowerCase().includes(text.replaceAll("*", ""))) : few;
    if (question.view === "explain") {
      [this.shown, this.table] = [null, null];
      const at = words.indexOf("--window");
      const text = explained(answer.rows, at < 0 ? null : readRange(words[at + 1] ?? ""));
      // Without an account the command names no process itself.
      const open = !view.processes.peek() && isOpen(answer.rows);
      fill(this.body, open ? h("div.asked", which("Which process was tested?", signal), text) : text);
      this.explained = [view.recordingId.peek(), ...words].join(" ");
      this.#times();
      this.#atFinding();
    } else if (question.view === "tree") this.#tree(question);
    else this.#fillTable(question, answer.notes);
    fill(this.foot, ["processes", "threads"].includes(question.id) ? h("span.dim", "Double click: only this one") : null, footOf(answer, this.command, this.rows.length, all.length));
  }

  /** Writes the instants of segments by the clock in use. */
  #times() {
    const clock = view.clockNow();
    for (const element of this.body.querySelectorAll("[data-ns]")) element.textContent = ` at ${clock.text(Number(element.getAttribute("data-ns")), 1000)}`;
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

  /** @returns {(ns: number) => string} text of an instant of a row */
  #instant() {
    const clock = view.clockNow();
    const { base } = this;
    return (ns) => clock.text(ns + base, 1000);
  }

  /** @param {Question} question @param {string[]} notes what the command says beside its rows */
  #fillTable(question, notes) {
    if (this.rows.length === 0) {
      this.#empty(h("p", "Nothing in this range."), notes.slice(0, 3).map((note) => h("p", clean(note, 300))), h("p.dim", question.about));
      return;
    }
    const instant = this.#instant();
    const old = this.table?.element.dataset.of === question.id && this.body.contains(this.table.element) ? this.table : null;
    const table = old ?? new Table({
      label: question.title, unions: question.id === "methods" || question.id === "tags", path: question.id === "path", state: this.#state(question.id), instant,
      onpick: (row, open) => this.#pick(question, row, open), onlight: (row) => light(row, this.base), onstate: () => this.#told(), hue: hueOfCell,
      onmenu: (row, element, x) => this.table && openMenu(element, rowMenu(row, this.table, this.base, butterflyOf), x),
    });
    table.instant = instant;
    if (!old) {
      table.element.dataset.of = question.id;
      fill(this.body, table.element);
    }
    this.table = table;
    this.shown = table;
    table.set(this.rows, question.columns);
  }

  /** @param {Tree | Flame} shown */
  #show(shown) {
    this.table = null;
    this.shown = shown;
    fill(this.body, shown.element);
  }

  /** @param {Question} question */
  #tree(question) {
    if (this.rows.length === 0) {
      this.#empty(h("p", NO_STACKS));
      return;
    }
    const tree = new Tree({ label: question.title, self: question.id !== "callers", onpick: pickNode });
    this.#show(tree);
    tree.set(this.rows);
  }

  /** @param {string[]} words @param {string} id @param {AbortSignal} signal */
  async #flame(words, id, signal) {
    const flame = new Flame(butterflyOf);
    const boxes = await flame.load(words, view.measure.peek(), { signal, id });
    if (signal.aborted) return;
    // The graph leaves out less than the command does by itself.
    const own = flame.data?.head.words;
    this.command = commandLine(Array.isArray(own) && own.length > 0 ? own : words);
    if (boxes === 0) this.#empty(h("p", NO_STACKS));
    else {
      this.#show(flame);
      flame.draw();
    }
    fill(this.foot, h("span", `${group(boxes)} boxes`), limitOf(words, boxes), commandOf(this.command));
  }

  /** @param {WordContext} context @param {string} id @param {AbortSignal} signal */
  async #butterfly(context, id, signal) {
    if (!context.method) {
      const input = h("input.filter", { type: "text", placeholder: "module!function", "aria-label": "Function", onchange: () => void (view.method.value = input.value.trim() || null) });
      this.#empty(h("p", "Callers and callees of one function."), h("p.dim", "Double click a function in the call tree or the methods, or name one here."), input);
      return;
    }
    const words = carried(questionOf("butterfly").words(context));
    const [below, above] = await Promise.all([
      client.question(words, { signal, id, rank: 3 }),
      client.question([...words.slice(0, 2), "--callers", ...words.slice(2)], { signal, rank: 3 }),
    ]);
    const make = (/** @type {string} */ label, /** @type {boolean} */ self, /** @type {Answer} */ answer) => {
      const tree = new Tree({ label, self, narrow: true, onpick: pickNode });
      return { tree, box: h("div.half", h("h3", label), tree.element), answer };
    };
    const parts = [make("Callers", false, above), make("Callees", true, below)];
    fill(this.body, h("div.butterfly", parts.map(({ box }) => box)));
    for (const { tree, answer } of parts) tree.set(answer.rows);
    this.shown = parts[1]?.tree ?? null;
    this.table = null;
    this.rows = below.rows;
    this.command = below.command;
    fill(this.foot, footOf(below, this.command, below.rows.length, below.rows.length));
  }

  /** @param {Question} question @param {TableRow} row @param {boolean} open */
  #pick(question, row, open) {
    if (question.id === "waits" && typeof row.tid === "number" && typeof row.from_ns === "number") void showWait(row, this.base).catch(client.report);
    else if (open && (question.id === "methods" || question.id === "tree")) butterflyOf(methodOf(row));
    else if (open && processOf(row)) view.narrow({ processes: processOf(row), ...(question.id === "threads" ? { thread: threadOfRow(row) } : {}) });
    else light(row, this.base);
  }

  #columns() {
    const table = this.table;
    if (!table) return [];
    const shown = table.columns.map(({ key }) => key);
    const keys = Object.keys(this.rows[0] ?? {}).filter((key) => !["file", "warnings"].includes(key));
    return keys.map((key) => ({
      name: columnOf(key, this.rows[0]?.[key], table.unions, table.path).title, checked: shown.includes(key), stay: true,
      run: () => {
        const now = table.columns.map((one) => one.key);
        table.state.chosen = now.includes(key) ? now.filter((one) => one !== key) : [...now, key];
        this.#told();
        table.list.forget();
        table.set(this.rows, questionOf(view.panel.peek()).columns);
      },
    }));
  }

  /** @returns {Item[]} */
  #copies() {
    const shown = this.shown;
    if (!shown) return [];
    const give = (/** @type {string} */ form, /** @type {string} */ name) => ({ name, run: () => {
      const { titles, cells } = shown.copied();
      void copy(copied(titles, cells, form), name);
    } });
    return [give("tsv", "TSV, for a spreadsheet"), give("csv", "CSV"), give("md", "Markdown table"), "-", { name: "Command", run: () => copy(this.command, "command") }];
  }
}

/** @param {string} id */
function usual(id) {
  return { sort: questionOf(id).sort, down: true, chosen: null };
}

/** @param {TreeNode} node @param {boolean} open */
const pickNode = (node, open) => open && node.depth > 0 && butterflyOf(node.name);

/** @param {string} name */
function butterflyOf(name) {
  view.method.value = exact(name);
  view.panel.value = "butterfly";
}
