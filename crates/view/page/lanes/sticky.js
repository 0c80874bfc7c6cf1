// Parents of the first row in sight stay above it when they are scrolled away, with their pictures.
import { fill, h, icon } from "../dom.js";
import { rowHeight } from "./geometry.js";
import { nameOf, headParts } from "./rows.js";
import * as view from "../state/view.js";

/** More levels than so many would leave no room for what is below them. */
const MOST = 4;

export class Sticky {
  /** @param {LaneRows} rows */
  constructor(rows) {
    this.rows = rows;
    this.element = h("div.sticky", { hidden: true, "aria-hidden": "true" });
    /** @type {Row[]} */
    this.chain = [];
  }

  /** @returns {boolean} whether other rows stand there than before */
  update() {
    const next = this.#parents();
    if (next.length === this.chain.length && next.every((row, i) => row === this.chain[i])) return false;
    this.chain = next;
    this.element.hidden = next.length === 0;
    this.rows.scroller.style.setProperty("--stuck", `${next.length * rowHeight.peek()}px`);
    this.rows.scroller.classList.toggle("under", next.length > 0);
    fill(this.element, next.map((row, i) => this.#make(row, i)));
    this.corners();
    return true;
  }

  /** @returns {Row[]} the outermost first */
  #parents() {
    const { items, height } = this.rows.list;
    const top = Math.floor(this.rows.scrollTop / height);
    /** @type {Row[]} */
    let chain = [];
    for (let room = 0; room <= MOST; room += 1) {
      chain = parentsOf(items, top + room).slice(0, MOST);
      if (chain.length <= room) break;
    }
    // At the very top nothing has been scrolled away.
    return this.rows.scrollTop > 0 ? chain.filter((row, i) => items.indexOf(row) < top + i + 1) : [];
  }

  /** @param {Row} row @param {number} place */
  #make(row, place) {
    const { lane } = row;
    const head = h("div.lane-head", { title: "Go to this lane", onclick: () => this.#go(row) },
      h("span.twisty", icon("open")), headParts(lane, nameOf(row)));
    const element = h("div", { class: `lane kind-${lane.kind}`, "data-stuck": lane.id, "aria-expanded": "true", "--depth": row.depth }, head,
      h("div.lane-time", { "data-lane-time": lane.id }, h("span.corner")));
    element.style.transform = `translateY(${place * rowHeight.peek()}px)`;
    return element;
  }

  /** @param {Row} row */
  #go(row) {
    const { items, height } = this.rows.list;
    this.rows.scroller.scrollTop = Math.max(0, (items.indexOf(row) - row.depth) * height);
    view.lane.value = row.lane.id;
  }

  corners() {
    this.chain.forEach(({ lane }, i) => {
      const corner = this.element.children[i]?.querySelector(".corner");
      if (corner instanceof HTMLElement) this.rows.corner(corner, lane);
    });
  }
}

/** @param {Row[]} items @param {number} index @returns {Row[]} rows above that row in the tree, the outermost first */
export function parentsOf(items, index) {
  const out = [];
  let depth = items[index]?.depth ?? 0;
  for (let i = index - 1; i >= 0 && depth > 0; i -= 1) {
    const row = items[i];
    if (row && row.depth < depth && row.lane.kind !== "more") {
      out.unshift(row);
      depth = row.depth;
    }
  }
  return out;
}
