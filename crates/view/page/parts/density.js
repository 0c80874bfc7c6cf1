// How dense the hits of a search are on the axis, and the way from one to the next.
import * as client from "../api/client.js";
import * as view from "../state/view.js";

/** Columns of a density. */
const COLUMNS = 512;

/** The figures of a hit's lane over the whole recording, in few columns. @type {DensityOf} */
export async function densityOf(hit, signal) {
  if (!hit.lane) return null;
  const [start, end] = view.whole();
  const per = Math.max(1, Math.ceil((end - start) / COLUMNS));
  /** @type {Density | null} */
  let found = null;
  const measure = (hit.kind === "process" || hit.kind === "command") && view.has("samples") ? "cpu" : null;
  const body = { from: start, to: start + per * COLUMNS, columns: COLUMNS, lanes: [hit.lane], measure };
  await client.frames("columns", body, ({ head, series }) => {
    // Of a thread its run time: the first of its states.
    const values = series[head.series?.[0] ?? ""];
    if (head.error === undefined && values) found = { name: hit.name, kind: hit.kind, first_ns: head.first_ns ?? start, bucket_ns: head.bucket_ns ?? per, values: [...values].map((value) => value || 0) };
  }, { signal, rank: 4 });
  return found;
}

/** Goes to the next or the previous hit. @param {1 | -1} way @returns {boolean} whether there is one */
export function stepOccurrence(way) {
  const density = view.density.peek();
  if (!density) return false;
  const [from, to] = view.range.peek();
  const now = view.pointer.peek() ?? (from + to) / 2;
  const { first_ns: first, bucket_ns: bucket, values } = density;
  for (let i = Math.floor((now - first) / bucket) + way; i >= 0 && i < values.length; i += way) {
    if ((values[i] ?? 0) <= 0) continue;
    const middle = first + (i + 0.5) * bucket;
    view.centre(middle);
    view.pointer.value = middle;
    view.said.value = `${density.kind} ${density.name} at ${middle / 1e9} s`;
    return true;
  }
  return false;
}
