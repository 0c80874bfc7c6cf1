// The menu of a row: narrow the panels to it, look at its time, copy it.
import { clean, copied, exact } from "../format.js";
import { copy } from "../parts/menu.js";
import * as view from "../state/view.js";
import { methodOf, processOf, threadOfRow } from "./go.js";

/** @param {string} process as `-p` takes it @returns {string} what panels are about without it */
export function without(process) {
  const now = view.processes.peek();
  return now?.startsWith("!") ? `${now};!${process}` : `!${process}`;
}

/** @type {RowMenu} */
export function rowMenu(row, table, base, butterfly) {
  /** @type {Item[]} */
  const items = [];
  const add = (/** @type {string} */ name, /** @type {() => unknown} */ run) => items.push({ name, run });
  const named = processOf(row);
  const thread = threadOfRow(row);
  if (named) {
    const all = String(row.process);
    add(`Only this process: ${clean(named, 60)}`, () => view.narrow({ processes: named }));
    add(`Without ${clean(named, 60)}`, () => view.narrow({ processes: without(named) }));
    add(`All of this name: ${clean(all, 60)}`, () => view.narrow({ processes: exact(all) }));
    if (thread) add(`Only this thread: ${thread.tid}`, () => view.narrow({ processes: named, thread }));
  }
  if (typeof row.method === "string") add("Callers and callees", () => butterfly(methodOf(row)));
  const [from, to] = [row.from_ns ?? row.first_ns, row.to_ns ?? row.last_ns];
  if (typeof from === "number" && typeof to === "number" && to > from) {
    items.push("-");
    add("Select its time", () => view.narrow({ selection: [from + base, to + base] }));
    add("Zoom to its time", () => view.look([from + base, to + base]));
  }
  items.push("-");
  add("Copy the row", () => copy(copied(table.copied().titles, [table.columns.map((column) => table.text(row, column))], "tsv"), "row"));
  return items;
}
