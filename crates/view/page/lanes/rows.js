// Rows of lanes: a treegrid with elements for the rows in sight. The pictures lie below, in one canvas.
import { around, effect, fill, h, handled, held, icon, swatch } from "../dom.js";
import { RowList } from "../dom/list.js";
import { clean, exact, fixed, group, length } from "../format.js";
import { formOf } from "./paint.js";
import { hueOf, hueOrder } from "./palette.js";
import * as model from "./model.js";
import * as path from "./path.js";
import * as view from "../state/view.js";
import { menuButton, openMenu } from "../parts/menu.js";
import { stepSpan } from "../parts/spans.js";

/** Empty until rest.js is there. @type {LaneMenu} */
let laneMenu = () => [];

/** @param {LaneMenu} menu */
export function offerMenu(menu) {
  laneMenu = menu;
}

/** Lanes in which the arrow keys go from span to span. */
const SPANS = new Set(["thread", "cpu", "disk", "path"]);

/** Totals, what they are, and the word behind them where lanes are sorted by it. @type {[keyof Totals, string, string][]} */
const TOTALS = [
  ["wait_ns", "Wait", "wait"], ["ready_ns", "Time ready without a CPU", "ready"], ["run_ns", "Run time, by context switches", "run"], ["cpu_ns", "CPU time, by samples", ""],
  ["run_ns", "Run time, by context switches", ""], ["busy_ns", "Time in which it worked", ""], ["bytes", "Bytes", ""], ["count", "Number", ""],
];

/** @param {Lane} lane @returns {[string, string]} what is shown of its totals, and what it is */
function figure({ totals }) {
  const found = TOTALS.find(([key, , order]) => typeof totals[key] === "number" && (order === "" || order === view.order.peek()));
  if (!found) return ["", ""];
  const [key, what, order] = found;
  const value = totals[key] ?? 0;
  return [key === "bytes" ? `${fixed(value / 1e6, 1)} MB` : key === "count" ? group(value) : `${length(value)} ${order}`.trim(), what];
}

/** @param {Lane} lane @returns {{ pattern: string, pid: number | null }} as `-p` takes it */
export function patternOf(lane) {
  // The signs behind the name say that it started or ended inside of the recording.
  const match = /^(.*)\((\d+)\)(?: [+-]{1,2})?$/s.exec(lane.name);
  return { pattern: match ? `${exact(match[1] ?? "")}(${match[2]})` : exact(lane.name), pid: match ? Number(match[2]) : null };
}

/** @param {Lane} lane */
export function threadOf(lane) {
  const own = threadName(lane);
  const match = /^(-?\d+)/.exec(own);
  return { tid: match ? Number(match[1]) : -1, name: own };
}

/** @param {Lane} lane a process or a thread @returns {number | null} the process id */
export function pidOf(lane) {
  if (lane.kind === "process") return patternOf(lane).pid;
  if (lane.kind !== "thread") return null;
  const owner = behind(lane);
  const above = (lane.path ?? []).map((id) => model.known.get(id)).find((one) => one?.kind === "process");
  return owner ? Number(owner[2]) : above ? patternOf(above).pid : null;
}

/** A thread behind its process. The main thread of a Linux process has the id of the process, and then no other one. */
const NAMED = /^(.*\((\d+)\)(?: [+-]{1,2})?)(?: (.*))?$/s;

/** @param {Lane} lane */
const behind = ({ name }) => (/^-?\d+(?: |$)/.test(name) ? null : NAMED.exec(name));

/** @param {Lane} lane a thread, named behind its process or alone */
function threadName(lane) {
  const match = behind(lane);
  if (!match) return lane.name;
  const [, , pid, own = ""] = match;
  return /^-?\d+(?: |$)/.test(own) ? own : `${pid} ${own || "main thread"}`;
}

/** @param {Row} row */
export function nameOf({ lane, parent, guest }) {
  if (lane.kind !== "thread" || parent === null) return clean(lane.name, 200);
  const own = threadName(lane);
  const above = model.known.get(parent);
  const other = above ? pidOf(above) !== pidOf(lane) : true;
  // The thread of a chain has its own name, and that of its process where it is another one.
  const process = behind(lane)?.[1];
  const told = own.startsWith("-1") ? `${own} (ending: it has lost its id)` : own;
  return clean(guest && other && process ? `${told} of ${process}` : told, 200);
}

/** What a head says of its lane. @param {Lane} lane @param {string} name */
export function headParts(lane, name) {
  const [text, what] = figure(lane);
  return [
    lane.kind === "process" || lane.kind === "tag" ? swatch(hueOf(lane)) : null,
    h("span.lane-name", name),
    lane.detail && lane.kind !== "process" ? h("span.lane-detail", clean(lane.detail, 120)) : null,
    h("span.lane-figure", { title: what ? `${what} in the ${view.hideInactive.peek() ? "range in sight" : "whole recording"}` : null }, text),
  ];
}

/** @param {Lane} lane @param {string} name */
function titleOf(lane, name) {
  const life = /\) ([+-]{1,2})$/.exec(lane.name)?.[1] ?? "";
  const said = [life.includes("+") ? "started" : "", life.includes("-") ? "ended" : ""].filter(Boolean).join(" and ");
  return [name, lane.detail ? clean(lane.detail) : "", said ? `${life}: ${said} during the recording` : ""].filter(Boolean).join("\n");
}

export class LaneRows {
  /** @param {HTMLElement} scroller @param {string} label @param {LaneStore} store @param {(changed: "rows" | "scroll") => void} moved */
  constructor(scroller, label, store, moved) {
    this.scroller = scroller;
    this.store = store;
    scroller.role = "treegrid";
    scroller.ariaLabel = label;
    /** @type {RowList<Row>} */
    this.list = new RowList({
      scroller, height: 28, above: ({ depth }) => Math.min(depth, 4), make: (row, index) => this.#make(row, index), key: (row) => row.key, onwindow: () => moved("rows"),
    });
    this.list.body.role = "rowgroup";
    /** Where it is scrolled to, so that a frame asks no layout for it. */
    this.scrollTop = 0;
    scroller.addEventListener("scroll", () => {
      this.scrollTop = scroller.scrollTop;
      moved("scroll");
    }, { passive: true });
    scroller.addEventListener("keydown", (event) => this.#key(event));
    scroller.addEventListener("focusin", (event) => {
      const id = around(event, "[data-lane]")?.dataset.lane;
      if (id && !this.list.refocusing) view.lane.value = id;
    });
    effect(() => {
      void hueOrder.value;
      for (const { element, item } of this.list.shown.values()) {
        element.querySelector(".swatch")?.replaceWith(swatch(hueOf(item.lane)));
      }
    });
    effect(() => {
      const lit = view.lit.value;
      const current = view.lane.value;
      const only = view.processes.value;
      for (const { element, item } of this.list.shown.values()) {
        const { pid } = item.lane.kind === "process" ? patternOf(item.lane) : { pid: null };
        element.classList.toggle("lit", lit !== null && ((pid !== null && pid === lit.pid) || (item.lane.kind === "thread" && lit.tid !== null && threadOf(item.lane).tid === lit.tid)));
        element.classList.toggle("current", item.lane.id === current);
        element.classList.toggle("chosen", item.lane.kind === "process" && only !== null && patternOf(item.lane).pattern === only);
      }
    });
  }

  /** @param {Row[]} rows */
  set(rows) {
    this.scroller.ariaRowCount = String(rows.length);
    this.list.set(rows);
    if (rows.length > 0 && !this.scroller.querySelector("[tabindex='0']")) this.scroller.querySelector("[role=row]")?.setAttribute("tabindex", "0");
  }

  inSight() {
    const { first, last, items } = this.list;
    return items.slice(first, last);
  }

  /** @param {Row} row @param {number} index */
  #make(row, index) {
    const { lane } = row;
    if (lane.kind === "more") return this.#more(row);
    const name = nameOf(row);
    const twisty = lane.children
      ? h("button.twisty", { tabindex: -1, "aria-label": `${row.open ? "Close" : "Open"} ${name}`, onclick: () => view.toggleOpen(lane.id) }, icon("open"))
      : h("span.twisty");
    const menu = menuButton({ class: "quiet lane-more", tabindex: -1, "aria-label": `Actions for ${name}` }, (button) => laneMenu(row, this.store, button), icon("more"));
    const head = h("div.lane-head", { role: "rowheader", title: titleOf(lane, name) },
      twisty, headParts(lane, name),
      row.pinned ? h("span.pinned", { title: "pinned" }, icon("pin")) : null,
      menu);
    head.addEventListener("click", (event) => {
      if (around(event, "button")) return;
      this.pick(lane);
    });
    const corner = h("span.corner");
    const cell = h("div.lane-time", { role: "gridcell", "data-lane-time": lane.id }, h("span.unseen", `${name}: timeline `), corner);
    const element = h("div", {
      class: `lane kind-${lane.kind}${row.guest ? " guest" : ""}`, role: "row", tabindex: view.lane.peek() === lane.id || (index === 0 && !view.lane.peek()) ? 0 : -1,
      "data-lane": lane.id, "data-key": row.key, "aria-level": row.depth + 1, "aria-posinset": row.position, "aria-setsize": row.siblings, "--depth": row.depth,
      "aria-expanded": lane.children ? String(row.open) : null,
    }, head, cell);
    this.corner(corner, lane);
    if (view.lane.peek() === lane.id) element.classList.add("current");
    if (lane.kind === "process" && view.processes.peek() === patternOf(lane).pattern) element.classList.add("chosen");
    return element;
  }

  /** @param {Row} row */
  #more(row) {
    if (row.more > 0) queueMicrotask(() => model.loadMore(row.parent ?? ""));
    return h("div.lane.kind-more", { role: "row", "aria-level": row.depth + 1, tabindex: -1, "--depth": row.depth }, h("div.lane-head", { role: "rowheader" }, row.lane.name), h("div.lane-time", { role: "gridcell" }));
  }

  /** Writes how exact the lanes in sight are and what their full height is. */
  corners() {
    for (const { element, item } of this.list.shown.values()) {
      const corner = element.querySelector(".corner");
      if (corner instanceof HTMLElement) this.corner(corner, item.lane);
    }
  }

  /** @param {HTMLElement} corner @param {Lane} lane */
  corner(corner, lane) {
    if (lane.kind === "path") {
      if (corner.textContent !== path.corner()) corner.textContent = path.corner();
      return;
    }
    // What is drawn: newer figures may be those of another range.
    const picture = this.store.bitmaps.best(lane.id, view.range.peek());
    if (!picture) {
      const error = this.store.errors.get(lane.id);
      const text = !error || lane.kind === "group" ? "" : /has nothing for/.test(error) ? "not recorded" : clean(error, 120);
      if (corner.textContent !== text) corner.textContent = text;
      return;
    }
    const { data, max } = picture;
    const { head } = data.frame;
    const per = (data.to - data.from) / data.columns;
    const parts = [];
    if (formOf(head, lane.kind) === "line") parts.push(`top = ${head.unit === "khz" ? `${fixed(max / 1e6, 2)} GHz` : head.unit === "bytes" ? `${fixed(max / 1e6, 1)} MB` : group(Math.round(max))}`);
    else if (head.at_once === null && max > 0) {
      const each = (max / per) * 1e9;
      if (head.series?.[0] === "queue") parts.push(`top = ${fixed(max / per, 1)} under way`);
      else parts.push(head.unit === "bytes" ? `top = ${fixed(each / 1e6, 1)} MB/s` : head.unit === "ns" ? "" : `top = ${group(Math.round(each))}/s`);
    } else if ((head.at_once ?? 1) > 1 && lane.kind !== "group") parts.push(`top = ${Math.max(1, Math.round(max / per))} CPU${max / per > 1.5 ? "s" : ""}`);
    if (head.series?.[0] === "cpu") parts.push("sampled");
    else if (lane.kind === "process" && (lane.totals.cpu_ns ?? 0) > 0 && lane.totals.run_ns === 0) parts.splice(0, 1, "no context switches: see sampled CPU");
    if (head.way === "tiles") parts.push(`${length(head.bucket_ns ?? per)} buckets`);
    const text = parts.filter((part) => part).join(" · ");
    if (corner.dataset.text === text) return;
    corner.dataset.text = text;
    fill(corner, text, head.way !== "tiles" && lane.kind !== "group" ? h("span.exact", " exact") : null);
  }

  /** @param {Lane} lane a click on its head makes the panels be about it, another one about all */
  pick(lane) {
    view.lane.value = lane.id;
    if (lane.kind === "process") {
      const { pattern } = patternOf(lane);
      view.narrow({ thread: null, processes: view.processes.peek() === pattern ? null : pattern });
    } else if (lane.kind === "thread") {
      const one = threadOf(lane);
      const parent = model.parentOf(lane.id);
      // Another process can have had a thread with this id.
      view.narrow(view.thread.peek()?.tid === one.tid ? { thread: null } : { thread: one, ...(parent ? { processes: patternOf(parent).pattern } : {}) });
    } else if (lane.kind === "path") {
      view.narrow({ selection: view.path.peek()?.range ?? null });
      view.panel.value = "path";
    } else if (lane.children) {
      view.toggleOpen(lane.id);
    }
  }

  /** @param {string} id */
  focus(id) {
    const index = this.list.items.findIndex((row) => row.lane.id === id);
    if (index >= 0) this.list.focus(index);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (held(event)) return;
    const target = around(event, "[role=row]");
    const key = target?.dataset.key;
    const index = this.list.items.findIndex((row) => row.key === key);
    const row = this.list.items[index];
    if (!row) return;
    const { lane } = row;
    if (this.list.moved(event, index)) return;
    if (event.key === "ArrowRight" && lane.children && !row.open) view.toggleOpen(lane.id);
    else if (event.key === "ArrowLeft" && lane.children && row.open) view.toggleOpen(lane.id);
    else if (event.key === "ArrowRight" && SPANS.has(lane.kind)) stepSpan(1);
    else if (event.key === "ArrowLeft" && SPANS.has(lane.kind)) stepSpan(-1);
    else if (event.key === "ArrowLeft" && row.parent) this.focus(row.parent);
    else if (event.key === " ") this.pick(lane);
    else if (event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey)) {
      const anchor = target?.querySelector(".lane-more");
      if (anchor instanceof HTMLElement) openMenu(anchor, laneMenu(row, this.store, anchor));
    } else return;
    handled(event);
  }
}
