// Call trees of `dump stacks`: rows that name their parents, opened and closed.
import { around, h, handled, held } from "../dom.js";
import { RowList } from "../dom/list.js";
import { clean, fixed, group } from "../format.js";

const HEIGHT = 24;

/** @param {Cell | undefined} value */
const number = (value) => (typeof value === "number" ? value : 0);

/** @param {TableRow[]} rows @returns {TreeNode[]} the roots: a heading per process or thread */
export function treeOf(rows) {
  /** @type {Map<string, TreeNode>} */
  const heads = new Map();
  /** @type {Map<string, TreeNode>} */
  const byRow = new Map();
  for (const row of rows) {
    const file = String(row.file ?? "");
    const owner = `${file}|${row.process}|${row.pid}|${row.tid ?? ""}`;
    let head = heads.get(owner);
    if (!head) {
      const thread = row.tid === null || row.tid === undefined ? "" : ` ${row.tid} ${row.thread_name ?? ""}`;
      head = { row, key: owner, name: `${row.process}(${row.pid})${thread}`, depth: 0, total: 0, self: 0, share: null, below: [], open: true };
      heads.set(owner, head);
    }
    const parent = row.parent === null || row.parent === undefined ? head : byRow.get(`${file}|${row.parent}`) ?? head;
    const module = typeof row.module === "string" && row.module ? `${row.module}!` : "";
    const more = row.kind === "more" ? `… ${row.more ?? ""} more` : null;
    const node = {
      row, key: `${owner}|${row.row}`, name: more ?? (row.kind === "no stack" ? "[no stack]" : `${module}${row.method ?? ""}`), depth: parent.depth + 1,
      total: number(row.total_ns ?? row.total_bytes ?? row.total), self: number(row.self_ns ?? row.self_bytes ?? row.self),
      share: typeof row.share === "number" ? row.share : null, below: [], open: false,
    };
    if (parent === head) head.total += node.total;
    parent.below.push(node);
    byRow.set(`${file}|${row.row}`, node);
  }
  const roots = [...heads.values()].sort((a, b) => b.total - a.total);
  const sort = (/** @type {TreeNode} */ node) => {
    node.below.sort((a, b) => b.total - a.total);
    node.below.forEach(sort);
  };
  roots.forEach((root) => {
    sort(root);
    hotPath(root);
  });
  return roots;
}

/** Opens the lines that have most of what the line above has. @param {TreeNode} node */
function hotPath(node) {
  node.open = true;
  const [first] = node.below;
  if (first && (first.total >= node.total * 0.5 || node.depth === 0) && first.depth < 60) hotPath(first);
}

export class Tree {
  /** @param {TreeOptions} options */
  constructor({ label, self, onpick, narrow = false }) {
    this.self = self;
    this.onpick = onpick;
    /** @type {TreeNode[]} */
    this.roots = [];
    /** @type {TreeNode[]} */
    this.shown = [];
    const head = h("div.table-head", { role: "row" },
      ["Method", "Total ms", ...(self ? ["Self ms"] : []), "Share %", "Count"].map((title, i) => h("div", { class: `cell ${i > 0 ? "number" : ""}`, role: "columnheader" }, h("span.text", title))));
    this.body = h("div.rows", { role: "rowgroup" });
    const [name, figure] = narrow ? ["minmax(150px, 1fr)", "76px"] : ["minmax(280px, 1fr)", "106px"];
    this.element = h("div.table.tree", { role: "treegrid", "aria-label": label, "aria-readonly": "true", "--columns": `${name} repeat(${self ? 4 : 3}, ${figure})`, "--least": narrow ? "400px" : "640px", onkeydown: (event) => this.#key(event) }, h("div.head-group", { role: "rowgroup" }, head), this.body);
    /** @type {RowList<TreeNode>} */
    this.list = new RowList({ scroller: this.element, body: this.body, height: HEIGHT, make: (node, i) => this.#row(node, i), key: (node) => node.key });
  }

  /** @param {TableRow[]} rows */
  set(rows) {
    this.roots = treeOf(rows);
    this.#flat();
  }

  #flat() {
    this.shown = [];
    const walk = (/** @type {TreeNode} */ node) => {
      this.shown.push(node);
      if (node.open) node.below.forEach(walk);
    };
    this.roots.forEach(walk);
    this.element.ariaRowCount = String(this.shown.length);
    this.list.set(this.shown.slice());
  }

  /** @param {TreeNode} node @param {number} index */
  #row(node, index) {
    const digits = 1;
    const ms = (/** @type {number} */ value) => fixed(Math.round(value / 10 ** (6 - digits)) / 10 ** digits, digits);
    const share = Math.min(1, node.total / (this.#rootOf(index)?.total || 1));
    const name = h("div.cell", { role: "rowheader", title: clean(node.name), "--depth": node.depth },
      h("span", { class: `twisty${node.open ? " open" : ""}`, "aria-hidden": "true", onclick: (event) => (event.stopPropagation(), this.toggle(node)) }, node.below.length > 0 ? (node.open ? "▾" : "▸") : ""),
      h("span.text", clean(node.name)));
    const count = node.row.count;
    const figure = (/** @type {string} */ text, /** @type {Props} */ props = {}, /** @type {Child} */ before = null) => h("div.cell.number", { role: "gridcell", ...props }, before, h("span.text", text));
    return h("div", {
      class: `table-row ${node.depth === 0 ? "root" : ""}`, role: "row", tabindex: index === 0 ? 0 : -1, "aria-level": node.depth + 1, "aria-expanded": node.below.length > 0 ? String(node.open) : null, "data-index": index,
      onclick: () => (this.onpick(node, false), node.depth === 0 && this.toggle(node)), ondblclick: () => this.onpick(node, true),
    }, name, figure(ms(node.total), { "data-key": "total_ns", "data-raw": node.total }, h("i.bar", { "--share": share })),
      this.self ? figure(node.depth === 0 ? "" : ms(node.self), { "data-key": "self_ns", "data-raw": node.self }) : null,
      figure(node.share === null ? "" : fixed(node.share, 1)), figure(node.depth > 0 && typeof count === "number" ? group(count) : ""));
  }

  /** @param {TreeNode} node */
  toggle(node) {
    if (node.below.length === 0) return;
    node.open = !node.open;
    // A row is made anew when its object is another one.
    const index = this.shown.indexOf(node);
    this.list.shown.get(node.key)?.element.remove();
    this.list.shown.delete(node.key);
    this.#flat();
    if (index >= 0) this.list.focus(index);
  }

  /** @param {number} index */
  #rootOf(index) {
    for (let i = index; i >= 0; i -= 1) if (this.shown[i]?.depth === 0) return this.shown[i];
    return this.shown[0];
  }

  /** @param {number} index */
  #parent(index) {
    const depth = this.shown[index]?.depth ?? 0;
    for (let i = index - 1; i >= 0; i -= 1) if ((this.shown[i]?.depth ?? 0) < depth) return i;
    return -1;
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const row = around(event, ".table-row");
    if (!row || held(event) || (event.shiftKey && event.key === "Enter")) return;
    const index = Number(row.dataset.index);
    const node = this.shown[index];
    if (!node) return;
    if (this.list.moved(event, index)) return;
    if (event.key === "ArrowRight" && !node.open) this.toggle(node);
    else if (event.key === "ArrowRight") this.list.focus(index + 1);
    else if (event.key === "ArrowLeft" && node.open && node.below.length > 0) this.toggle(node);
    else if (event.key === "ArrowLeft") this.list.focus(this.#parent(index));
    else if (event.key === "Enter") this.onpick(node, true);
    else return;
    handled(event);
  }

  copied() {
    return {
      titles: ["Depth", "Method", "Total ns", "Self ns", "Share %"],
      cells: this.shown.map(({ depth, name, total, self, share }) => [String(depth), clean(name), String(total), String(self), share === null ? "" : fixed(share, 1)]),
    };
  }
}
