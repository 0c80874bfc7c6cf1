import { handled } from "./events.js";
import { h } from "./h.js";

/** A column of rows of one height of which only those in sight are elements. @template T */
export class RowList {
  /** @param {ListOptions<T>} options */
  constructor({ scroller, height, make, key, body, onwindow = () => {}, above = () => 0 }) {
    this.scroller = scroller;
    this.height = height;
    this.make = make;
    this.key = key;
    this.onwindow = onwindow;
    this.above = above;
    this.body = body ?? h("div.rows");
    if (!body) scroller.append(this.body);
    /** @type {T[]} */
    this.items = [];
    /** @type {Map<string, { element: HTMLElement, item: T, index: number }>} */
    this.shown = new Map();
    this.first = 0;
    this.last = 0;
    /** Whether a row gets the focus back that its older element had. */
    this.refocusing = false;
    scroller.addEventListener("scroll", () => this.draw(), { passive: true });
    new ResizeObserver(() => this.draw()).observe(scroller);
  }

  /** @param {T[]} items */
  set(items) {
    this.items = items;
    this.body.style.height = `${items.length * this.height}px`;
    this.draw(true);
  }

  /** Makes all rows anew at the next draw. */
  forget() {
    for (const { element } of this.shown.values()) element.remove();
    this.shown.clear();
  }

  /** @param {number} height */
  resize(height) {
    if (height === this.height) return;
    this.height = height;
    for (const { element, index } of this.shown.values()) this.#place(element, index);
    this.set(this.items);
  }

  /** @param {boolean} [again] makes the rows anew whose items are other objects */
  draw(again = false) {
    const top = this.scroller.scrollTop;
    const first = Math.max(0, Math.floor(top / this.height) - 2);
    const last = Math.min(this.items.length, Math.ceil((top + this.scroller.clientHeight) / this.height) + 2);
    if (!again && first === this.first && last === this.last) return;
    this.first = first;
    this.last = last;
    const keep = new Set();
    for (let index = first; index < last; index += 1) {
      const item = /** @type {T} */ (this.items[index]);
      const key = this.key(item, index);
      keep.add(key);
      const had = this.shown.get(key);
      if (had && had.item === item) {
        if (had.index !== index) this.#place(had.element, index);
        had.index = index;
        continue;
      }
      const element = this.make(item, index);
      this.#place(element, index);
      if (had) {
        const focused = had.element.contains(document.activeElement);
        had.element.replaceWith(element);
        this.refocusing = true;
        if (focused) element.focus({ preventScroll: true });
        this.refocusing = false;
      } else {
        this.body.append(element);
      }
      this.shown.set(key, { element, item, index });
    }
    for (const [key, row] of this.shown) {
      // A row that has the focus stays, else the keyboard loses its place.
      if (keep.has(key) || (row.index < this.items.length && row.element.contains(document.activeElement) && !again)) continue;
      row.element.remove();
      this.shown.delete(key);
    }
    this.onwindow();
  }

  /** @param {HTMLElement} element @param {number} index */
  #place(element, index) {
    element.style.transform = `translateY(${index * this.height}px)`;
    element.style.height = `${this.height}px`;
    element.ariaRowIndex = String(index + 1);
  }

  /** @param {number} index */
  reveal(index) {
    const top = index * this.height;
    const view = this.scroller.clientHeight;
    const item = this.items[index];
    const covered = item === undefined ? 0 : this.above(item) * this.height;
    if (top - covered < this.scroller.scrollTop) this.scroller.scrollTop = Math.max(0, top - covered);
    else if (top + this.height > this.scroller.scrollTop + view) this.scroller.scrollTop = top + this.height - view;
    this.draw();
  }

  /** Moves the keyboard to a row. @param {number} wanted its place; the nearest one where there is none */
  focus(wanted) {
    const index = Math.min(this.items.length - 1, Math.max(0, wanted));
    const item = this.items[index];
    if (item === undefined) return;
    this.reveal(index);
    for (const one of this.body.querySelectorAll("[role=row][tabindex='0']")) one.setAttribute("tabindex", "-1");
    const element = this.element(this.key(item, index));
    element?.setAttribute("tabindex", "0");
    element?.focus({ preventScroll: true });
  }

  /** @param {KeyboardEvent} event @param {number} index where the keyboard is @returns {boolean} whether the key moved it */
  moved(event, index) {
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / this.height) - 2);
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -this.items.length, End: this.items.length }[event.key];
    if (step === undefined) return false;
    this.focus(index + step);
    handled(event);
    return true;
  }

  /** @param {string} key */
  element(key) {
    return this.shown.get(key)?.element ?? null;
  }
}
