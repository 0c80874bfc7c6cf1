// The numbers of a lane: the answer of its command for the range of the panels.
import * as client from "../api/client.js";
import { fill, h, icon } from "../dom.js";
import { clean, copied, length, messageOf, rangeWord } from "../format.js";
import { patternOf, threadOf } from "../lanes/rows.js";
import { Table } from "../panels/table.js";
import { baseOf, carried, commandLine } from "../state/command.js";
import * as view from "../state/view.js";
import { copy, openDialog } from "./menu.js";

const BUCKETS = 100;

/** @type {WordsAbout} */
export function about(words, range) {
  const out = [];
  for (let i = 0; i < words.length; i += 1) {
    const word = words[i] ?? "";
    if (word === "--time" || word === "--bucket" || word === "--buckets") i += 1;
    else if (!word.startsWith("--time=")) out.push(word);
  }
  const timeline = out[1] === "timeline";
  return [...out, "--time", rangeWord(range), ...(timeline ? ["--buckets", String(Math.min(BUCKETS, range[1] - range[0]))] : [])];
}

/** @param {Lane} lane @returns {(row: TableRow) => boolean} whether a row of `dump timeline` is of the lane */
function isOf(lane) {
  const number = Number(lane.id.split(":")[1]);
  if (lane.kind === "process") return (row) => row.pid === patternOf(lane).pid;
  if (lane.kind === "thread") return (row) => row.tid === threadOf(lane).tid;
  if (lane.kind === "cpu" || lane.kind === "frequency") return (row) => row.cpu === number;
  if (lane.kind === "disk") return (row) => String(row.disk) === String(number);
  return (row) => row.lane === lane.name;
}

/**
 * @param {{ name: string, answer: Answer }[]} parts
 * @param {Lane} lane
 * @param {string} unit
 * @returns {TableRow[] | null} a row for each bucket; null where not each part has one row of the lane
 */
function bucketsOf(parts, lane, unit) {
  const fits = isOf(lane);
  /** @type {TableRow[]} */
  const out = [];
  for (const { name, answer } of parts) {
    const rows = answer.rows.filter(fits);
    if (rows.length > 1) return null;
    const [row] = rows;
    // The command leaves out rows without any figure.
    if (!row) continue;
    const { values, from_ns: from, bucket_ns: bucket } = row;
    if (!Array.isArray(values) || typeof from !== "number" || typeof bucket !== "number") return null;
    values.forEach((value, i) => {
      const at = (out[i] ??= { from_ns: from + i * bucket });
      at[unit === "ns" ? `${name}_ns` : name] = value;
    });
  }
  return out.length > 0 ? out : null;
}

/** @param {Lane} lane @param {LaneStore} store */
export function asTable(lane, store) {
  const { words, unit = "" } = store.data.get(lane.id)?.[0]?.frame.head ?? {};
  const [a, b] = view.subject.peek();
  const [start, end] = view.whole();
  const range = /** @type {TimeRange} */ ([Math.max(a, start), Math.max(Math.max(a, start) + 1, Math.min(b, end))]);
  const named = (Array.isArray(words) ? [[lane.kind, words]] : Object.entries(words ?? {})).filter(([name, list]) => name !== "top" && (list?.length ?? 0) > 0);
  /** @type {{ name: string, words: string[] }[]} */
  const asked = named.map(([name, list]) => ({ name: String(name), words: carried(about(/** @type {string[]} */ (list), range)) }));
  const stop = new AbortController();
  const body = h("div.lane-numbers", { "aria-busy": "true" }, h("p.dim", "Reading…"));
  const dialog = openDialog(`Numbers of ${clean(lane.name)}`, (close) => [
    h("h2", clean(lane.name)), body, h("div.buttons", h("button", { onclick: close }, "Close")),
  ], "large");
  dialog.addEventListener("close", () => stop.abort());
  const ended = () => body.ariaBusy = "false";
  if (asked.length === 0) {
    fill(body, h("p", "No command has numbers of this lane."));
    ended();
    return;
  }
  const once = [...new Map(asked.map((one) => [one.words.join("\n"), one])).values()];
  void Promise.all(once.map(async (one) => ({ ...one, answer: await client.question(one.words, { signal: stop.signal, rank: 2 }) }))).then((parts) => {
    const buckets = once[0]?.words[1] === "timeline" ? bucketsOf(parts, lane, unit) : null;
    const rows = buckets ?? parts[0]?.answer.rows ?? [];
    const base = baseOf(once[0]?.words ?? []);
    const clock = view.clockNow();
    const table = new Table({
      label: "Numbers", state: { sort: buckets ? "from_ns" : "", down: false, chosen: null }, instant: (ns) => clock.text(ns + base, Math.max(1, (range[1] - range[0]) / BUCKETS / 10)), onpick: () => {}, onlight: () => {},
    });
    const shown = buckets ? parts : parts.slice(0, 1);
    fill(body, h("p", `${clock.text(range[0], 1000)} – ${clock.text(range[1], 1000)}, ${length(range[1] - range[0])}${buckets ? `, a row for each of ${buckets.length} parts` : ""}`),
      rows.length === 0 ? h("p", "Nothing in this range.") : table.element,
      h("ul.commands", shown.map(({ name, answer, words: own }) => {
        const command = answer.command || commandLine(own);
        return h("li", h("span.dim", shown.length > 1 ? `${name}: ` : ""), h("button.quiet", { "aria-label": `Copy command of ${name}`, onclick: () => copy(command, "command") }, icon("command")), h("code", clean(command, 600)));
      })),
      rows.length === 0 ? null : h("button", { onclick: () => {
        const { titles, cells } = table.copied();
        void copy(copied(titles, cells, "tsv"), "TSV");
      } }, icon("copy"), "Copy as TSV"));
    if (rows.length > 0) table.set(rows, buckets ? Object.keys(buckets[0] ?? {}) : []);
    ended();
  }, (error) => {
    if (client.isAbort(error)) return;
    fill(body, h("p", { role: "alert" }, clean(messageOf(error), 400)));
    ended();
  });
}
