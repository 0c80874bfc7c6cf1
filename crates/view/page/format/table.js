import { clean } from "./text.js";
import { fixed, group } from "./time.js";

/** Titles that their keys do not tell. @type {Record<string, string>} */
const TITLES = {
  cpu_ns: "CPU", exclusive_cpu_ns: "Self CPU", exclusive_run_ns: "Self run", cores_used: "Cores", pid: "PID", tid: "TID",
  thread_name: "Thread", start_method: "Started in", wait_method: "Waits in", total_service_ns: "Service", response_avg_ns: "Average",
  response_max_ns: "Longest", write_bytes: "Written", total_ns: "Time", total_bytes: "Bytes", thread_start_ns: "Start",
  thread_end_ns: "End", for_site: "For", site: "In", waker_method: "Woken from", parent_pid: "Parent PID", wait_count: "Waits",
  samples_without_stack: "No stack",
};

/** Keys with an instant, not a length. */
const INSTANTS = new Set("first_ns last_ns start_ns end_ns thread_start_ns thread_end_ns from_ns to_ns time_ns longest_from_ns peak_at_ns window_from_ns start".split(" "));

/** Keys of texts that are long. */
const WIDE = new Set("method command_line path stack_tag wait_method woken_by start_method site tag for_site event".split(" "));

/** @type {ColumnOf} */
export function columnOf(key, sample, unions = false, path = false) {
  const title = TITLES[key] ?? key.replace(/_(ns|bytes)$/, "").replaceAll("_", " ").replace(/^./, (c) => c.toUpperCase());
  let kind = "text";
  if (INSTANTS.has(key)) kind = "instant";
  else if (key.endsWith("_ns")) kind = "ns";
  else if (key.endsWith("bytes")) kind = "bytes";
  else if (key === "pid" || key === "tid" || key.endsWith("_pid") || key.endsWith("_tid")) kind = "id";
  else if (key === "share" && path) kind = "share";
  else if (key === "share" || key === "percent" || key === "utilisation") kind = "number";
  else if (typeof sample === "number") kind = "integer";
  else if (Array.isArray(sample) || (typeof sample === "object" && sample !== null)) kind = "list";
  const union = unions && (key === "wait_ns" || key === "ready_ns");
  const width = kind === "text" || kind === "list" ? (WIDE.has(key) ? 340 : 160) : kind === "id" ? 78 : union ? 144 : 104;
  return { key, title: kind === "ns" ? `${union ? `${title} (union)` : title} ms` : kind === "share" || key === "share" ? `${title} %` : kind === "bytes" && !/bytes$/i.test(title) ? `${title} bytes` : title, kind, width };
}

/** Text of a cell: lengths are ms with one digit, or three where all are below 10 ms. @type {CellText} */
export function cellText(value, column, how) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") {
    if (column.kind === "ns") return fixed(Math.round(value / 10 ** (6 - how.digits)) / 10 ** how.digits, how.digits);
    if (column.kind === "instant") return how.instant(value);
    if (column.kind === "id") return String(value);
    if (column.kind === "share") return fixed(Math.round(value * 1000) / 10, 1);
    if (column.kind === "bytes" || column.kind === "integer") return Number.isInteger(value) ? group(value) : fixed(value, 2);
    return Number.isInteger(value) ? group(value) : fixed(value, 2);
  }
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string") return clean(value);
  if (Array.isArray(value)) return clean(value.map((one) => listText(one)).join("; "));
  return clean(Object.entries(value).map(([key, one]) => `${key} ${listText(one)}`).join("; "));
}

/** @param {Cell} one @returns {string} */
function listText(one) {
  if (one === null) return "";
  if (typeof one !== "object") return String(one);
  if (Array.isArray(one)) return one.map((part) => listText(part)).join(" ");
  if (typeof one.reason === "string") {
    return `${one.reason} ${typeof one.wait_ns === "number" ? `${fixed(one.wait_ns / 1e6, 1)} ms` : ""} (${one.count ?? ""})`;
  }
  if (typeof one.woken_by === "string") return `${one.woken_by} (${one.count ?? ""})`;
  return Object.values(one).filter((part) => typeof part !== "object").join(" ");
}

/** @type {CopiedAs} */
export function copied(titles, rows, form) {
  const all = [titles, ...rows];
  if (form === "tsv") return all.map((row) => row.map((cell) => guard(cell).replace(/[\t\r\n]/g, " ")).join("\t")).join("\n");
  if (form === "csv") {
    const quoted = (/** @type {string} */ cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
    return all.map((row) => row.map((cell) => quoted(guard(cell))).join(",")).join("\r\n");
  }
  const line = (/** @type {string[]} */ row) => `| ${row.map((cell) => cell.replaceAll("\\", "\\\\").replaceAll("|", "\\|").replace(/[\r\n]/g, " ")).join(" | ")} |`;
  return [line(titles), `|${titles.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}

/** A spreadsheet takes a cell that begins so as a formula. @param {string} cell */
function guard(cell) {
  return /^[=+@\-\t\r]/.test(cell) && !/^-?[\d.,]+$/.test(cell) ? `'${cell}` : cell;
}
