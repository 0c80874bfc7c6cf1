// What can be done with a row of a table: narrow the panels to it, look at its time, copy it.
import { copied } from "../format/table.js";
import { clean, exact } from "../format/text.js";
import { copy } from "../parts/menu.js";
import * as view from "../state/view.js";
import { methodOf, processOf, threadOfRow } from "./go.js";

/** @param {string} process as `-p` takes it @returns {string} what panels are about without it */
export function without(process) {
  const now = view.processes.peek();
  return now?.startsWith("!") ? `${now};!${process}` : `!${process}`;
}

/**
 * @param {TableRow} row
 * @param {Table} table
 * @param {number} base what its instants count from
 * @param {(method: string) => void} butterfly
 * @returns {Item[]}
 */
export function rowMenu(row, table, base, butterfly) {
  /** @type {Item[]} */
  const items = [];
  const named = processOf(row);
  const thread = threadOfRow(row);
  if (named) {
    items.push({ name: `Only this process: ${clean(named, 60)}`, run: () => view.narrow({ processes: named }) });
    items.push({ name: `Without ${clean(named, 60)}`, run: () => view.narrow({ processes: without(named) }) });
    const all = String(row.process);
    items.push({ name: `All of this name: ${clean(all, 60)}`, run: () => view.narrow({ processes: exact(all) }) });
  }
  if (named && thread) items.push({ name: `Only this thread: ${thread.tid}`, run: () => view.narrow({ processes: named, thread }) });
  if (typeof row.method === "string") items.push({ name: "Callers and callees", run: () => butterfly(methodOf(row)) });
  const [from, to] = [row.from_ns ?? row.first_ns, row.to_ns ?? row.last_ns];
  if (typeof from === "number" && typeof to === "number" && to > from) {
    items.push("-", { name: "Select its time", run: () => view.narrow({ selection: [from + base, to + base] }) });
    items.push({ name: "Zoom to its time", run: () => view.look([from + base, to + base]) });
  }
  items.push("-", { name: "Copy the row", run: () => {
    const { titles } = table.copied();
    void copy(copied(titles, [table.columns.map((column) => table.text(row, column))], "tsv"), "row");
  } });
  return items;
}
