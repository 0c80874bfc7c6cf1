// A table of an answer: rows in sight are elements, sorted, with the chosen columns.
import { around, h, handled, held, swatch } from "../dom.js";
import { RowList } from "../dom/list.js";
import { cellText, columnOf } from "../format.js";

const HEIGHT = 24;

export class Table {
  /** @param {TableOptions} options */
  constructor({ label, instant, onpick, onlight, onmenu, onstate = () => {}, hue = () => null, state, unions = false, path = false }) {
    this.unions = unions;
    this.path = path;
    this.instant = instant;
    this.onpick = onpick;
    this.onlight = onlight;
    this.onmenu = onmenu;
    this.onstate = onstate;
    this.hue = hue;
    this.state = state;
    this.head = h("div.table-head", { role: "row", "aria-rowindex": 1 });
    this.body = h("div.rows", { role: "rowgroup" });
    this.element = h("div.table", { role: "grid", "aria-label": label, "aria-readonly": "true", onkeydown: (event) => this.#key(event), onpointerleave: () => this.onlight(null) }, h("div.head-group", { role: "rowgroup" }, this.head), this.body);
    /** @type {TableRow[]} */
    this.rows = [];
    /** @type {TableRow[]} */
    this.shown = [];
    /** @type {Column[]} */
    this.columns = [];
    /** Whether a row is lit. @type {(row: TableRow) => boolean} */
    this.fits = () => false;
    /** The row that the reader clicked. @type {TableRow | null} */
    this.picked = null;
    /** @type {Record<string, number>} */
    this.digits = {};
    /** @type {Record<string, number>} */
    this.largest = {};
    /** @type {RowList<TableRow>} */
    this.list = new RowList({ scroller: this.element, body: this.body, height: HEIGHT, make: (row, i) => this.#row(row, i), key: (_, i) => String(i) });
  }

  /** @param {TableRow[]} rows @param {string[]} defaults */
  set(rows, defaults) {
    this.rows = rows;
    const keys = Object.keys(rows[0] ?? {});
    const wanted = this.state.chosen ?? defaults;
    const sample = (/** @type {string} */ key) => rows.find((row) => !isEmpty(row[key]))?.[key];
    const usable = wanted.filter((key) => keys.includes(key) && (this.state.chosen !== null || sample(key) !== undefined));
    this.columns = (usable.length > 0 ? usable : keys.filter((key) => !["file", "test", "test_ms", "machine", "date", "warnings"].includes(key)).slice(0, 8)).map((key) => columnOf(key, sample(key), this.unions, this.path));
    for (const { key, kind } of this.columns) {
      let max = 0;
      for (const row of rows) {
        const value = row[key];
        if (typeof value === "number" && Math.abs(value) > max) max = Math.abs(value);
      }
      this.largest[key] = max;
      this.digits[key] = kind === "ns" && max < 10_000_000 ? 3 : 1;
    }
    this.sort();
  }

  sort() {
    const { sort, down } = this.state;
    const sign = down ? -1 : 1;
    this.shown = [...this.rows];
    if (sort) {
      this.shown.sort((a, b) => {
        const [x, y] = [a[sort] ?? null, b[sort] ?? null];
        if (x === y) return 0;
        if (x === null) return 1;
        if (y === null) return -1;
        if (typeof x === "number" && typeof y === "number") return sign * (x - y);
        const [s, t] = [typeof x === "object" ? JSON.stringify(x) : String(x), typeof y === "object" ? JSON.stringify(y) : String(y)];
        return sign * (s < t ? -1 : s > t ? 1 : 0);
      });
    }
    this.draw();
  }

  draw() {
    // Texts grow with the window, but not so far that figures stand away from their names.
    const last = this.columns.length - 1;
    const template = this.columns.map(({ width, kind }, i) => (kind === "text" || kind === "list" ? `minmax(${Math.round(width * 0.7)}px, ${i === last ? "1fr" : `${width * 2}px`})` : `${width}px`)).join(" ");
    this.element.style.setProperty("--columns", template);
    this.element.style.setProperty("--least", `${this.columns.reduce((sum, { width, kind }) => sum + (kind === "text" || kind === "list" ? width * 0.7 : width), 0) + 16}px`);
    this.element.ariaRowCount = String(this.shown.length + 1);
    this.element.ariaColCount = String(this.columns.length);
    this.head.replaceChildren(...this.columns.map((column) => {
      const sorted = this.state.sort === column.key;
      const button = h("button.sort", { onclick: () => this.#by(column) }, h("span.name", column.title), h("span.way", { "aria-hidden": "true" }, sorted ? (this.state.down ? "▾" : "▴") : ""));
      return h("div", { role: "columnheader", class: `cell ${isNumber(column) ? "number" : ""}`, "aria-sort": sorted ? (this.state.down ? "descending" : "ascending") : "none", "data-key": column.key, title: `${column.title} (${column.key})` }, button);
    }));
    this.list.set(this.shown.slice());
  }

  /** @param {(ns: number) => string} instant by another clock */
  again(instant) {
    this.instant = instant;
    this.list.forget();
    this.draw();
  }

  /** @param {Column} column */
  #by(column) {
    this.state.down = this.state.sort === column.key ? !this.state.down : isNumber(column);
    this.state.sort = column.key;
    this.sort();
    this.onstate();
    const again = this.head.querySelector(`[data-key="${CSS.escape(column.key)}"] button`);
    if (again instanceof HTMLElement) again.focus();
  }

  /** @param {TableRow} row @param {Column} column */
  text(row, column) {
    return cellText(row[column.key], column, { digits: this.digits[column.key] ?? 1, instant: this.instant });
  }

  /** @param {TableRow} row @param {number} index */
  #row(row, index) {
    const element = h("div", {
      class: `table-row${index % 2 ? " odd" : ""}${this.fits(row) ? " lit" : ""}${row === this.picked ? " picked" : ""}`, role: "row", tabindex: index === 0 ? 0 : -1, "data-index": index,
      onclick: () => this.#pick(row, false), ondblclick: () => this.#pick(row, true), onpointerenter: () => this.onlight(row), onfocus: () => this.onlight(row),
    },
      this.columns.map((column, i) => {
        const value = row[column.key];
        const text = this.text(row, column);
        const cell = h("div", {
          role: i === 0 ? "rowheader" : "gridcell", class: `cell ${isNumber(column) ? "number" : ""}`, title: text.length > 24 ? text : null,
          "data-key": column.key, "data-raw": typeof value === "object" ? JSON.stringify(value ?? null) : String(value),
        }, h("span.text", text));
        const hue = this.hue(row, column.key);
        if (hue !== null) cell.prepend(swatch(hue));
        if (column.kind === "ns" && typeof value === "number" && value > 0 && (this.largest[column.key] ?? 0) > 0) {
          cell.prepend(h("i.bar", { "--share": value / (this.largest[column.key] ?? 1) }));
        }
        return cell;
      }));
    element.addEventListener("contextmenu", (event) => {
      if (!this.onmenu || String(getSelection()) !== "") return;
      event.preventDefault();
      this.onmenu(row, element, event.clientX);
    });
    return element;
  }

  /** @param {TableRow} row @param {boolean} open */
  #pick(row, open) {
    this.picked = row;
    for (const { element, item } of this.list.shown.values()) element.classList.toggle("picked", item === row);
    this.onpick(row, open);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const row = around(event, ".table-row");
    if (!row || held(event) || (event.shiftKey && event.key === "Enter")) return;
    const index = Number(row.dataset.index);
    if (this.list.moved(event, index)) return;
    if (this.onmenu && (event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey))) this.onmenu(/** @type {TableRow} */ (this.shown[index]), row);
    else if (event.key === "Enter" || event.key === " ") this.#pick(/** @type {TableRow} */ (this.shown[index]), event.key === "Enter");
    else return;
    handled(event);
  }

  /** Lights the rows that fit. @param {(row: TableRow) => boolean} fits */
  light(fits) {
    this.fits = fits;
    for (const { element, item } of this.list.shown.values()) element.classList.toggle("lit", fits(item));
  }

  /** @returns {Copied} what is shown, whole */
  copied() {
    return { titles: this.columns.map(({ title }) => title), cells: this.shown.map((row) => this.columns.map((column) => this.text(row, column))) };
  }
}

/** @param {Cell | undefined} value whether a cell of it shows nothing */
function isEmpty(value) {
  return value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0);
}

/** @param {Column} column */
export function isNumber({ kind }) {
  return kind !== "text" && kind !== "list";
}
