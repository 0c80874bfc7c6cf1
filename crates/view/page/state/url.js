// The view as text: lines of a word and its value, as on the command line. The address joins them with `&`.
import { batch } from "../dom.js";
import { CLOCK_NAMES, rangeWord, readRange, readWord, wordOf } from "../format.js";
import { HUES } from "../lanes/palette.js";
import { isLandmark, zeroAtLandmark } from "./landmark.js";
import * as view from "./view.js";

export const FIRST = "# tracesift view";

/** Words whose value is the text of a signal, which is left out at the start of the page. @type {Record<string, TextWord>} */
const TEXTS = {
  process: { of: view.processes, start: null },
  filter: { of: view.filter, start: "" },
  measure: { of: view.measure, start: "cpu", fits: (value) => ["cpu", "wait", "ready"].includes(value) },
  method: { of: view.method, start: null },
  "tag-file": { of: view.tagFile, start: "" },
  "time-format": { of: view.clock, start: "s", fits: (value) => Object.hasOwn(CLOCK_NAMES, value) },
  sort: { of: view.order, start: "cpu", fits: (value) => Object.hasOwn(view.ORDERS, value) },
  lanes: { of: view.laneMeasure, start: "states", fits: (value) => value === "cpu" },
};

/** What names a lane. */
const ID = /^[a-z]{1,20}(?::[^\u0000-\u001f]{1,300})?$/;

export function pairs() {
  /** @type {Pairs} */
  const out = [];
  const put = (/** @type {string} */ word, /** @type {string} */ value) => out.push([word, value]);
  const range = view.range.value;
  if (view.hasMany()) put("recording", view.recordingId.value);
  if (!view.isSame(range, view.whole())) put("time", rangeWord(range));
  if (view.selection.value) put("select", rangeWord(view.selection.value));
  if (view.thread.value) put("thread", `${view.thread.value.tid} ${view.thread.value.name}`);
  for (const [word, { of, start }] of Object.entries(TEXTS)) if (of.value !== start) put(word, of.value ?? "");
  put("panel", view.panel.value);
  if (view.dock.value !== view.DOCK) put("panel-height", `${Math.round(view.dock.value * 100)}%`);
  for (const [id, { sort, down, chosen }] of view.tables.value) put("table", `${id} ${down ? "-" : "+"}${sort}${chosen ? ` ${chosen.join(",")}` : ""}`);
  const zero = view.zero.value;
  if (zero) put("zero-time", zero.landmark ? zero.landmark.at : `${wordOf(zero.ns)} ${zero.name}`);
  if (zero?.landmark?.of) put("zero-process", zero.landmark.of);
  if (view.hideInactive.value) put("inactive", "hide");
  for (const id of view.opened.value) put("open", id);
  for (const id of view.pinned.value) put("pin", id);
  for (const id of view.hidden.value) put("hide", id);
  for (const [key, hue] of view.colours.value) put("colour", `${HUES[hue]} ${key}`);
  for (const mark of view.ownMarks.value) put("mark", `${wordOf(mark.ns)} ${mark.name}`);
  if (view.path.value) put("path", [rangeWord(view.path.value.range), view.path.value.tid ?? "-", view.path.value.process ?? ""].join(" "));
  if (view.chosen.value?.at.span) put("span", `${wordOf(view.chosen.value.at.span.start_ns)} ${view.chosen.value.lane}`);
  return out;
}

/** @returns {string} the file of a view */
export function toText(name = "view") {
  return `${FIRST}\nname ${name}\n${pairs().map(([word, value]) => `${word} ${value.replace(/[\r\n]/g, " ")}`).join("\n")}\n`;
}

/** @returns {string} what stands behind `#` */
export function toFragment() {
  return pairs().map(([word, value]) => `${word}=${encodeURIComponent(value).replaceAll("%3A", ":").replaceAll("%2C", ",").replaceAll("%20", "+")}`).join("&");
}

/** @param {string} text */
export function readFragment(text) {
  /** @type {Pairs} */
  const out = [];
  for (const part of text.replace(/^#/, "").split("&")) {
    const at = part.indexOf("=");
    if (at <= 0) continue;
    try {
      out.push([part.slice(0, at), decodeURIComponent(part.slice(at + 1).replaceAll("+", " "))]);
    } catch {
      // A damaged part of an address is left out.
    }
  }
  return out;
}

/** @param {string} text @returns {Pairs} */
export function readText(text) {
  return text.slice(0, 1 << 20).split(/\r?\n/).filter((line) => line && !line.startsWith("#")).map((line) => {
    const at = line.indexOf(" ");
    return at < 0 ? [line, ""] : [line.slice(0, at), line.slice(at + 1).trim()];
  });
}

/**
 * Shows what the pairs say; what they do not name becomes as it is at the start.
 * @param {Pairs} list
 * @returns {{ span: { lane: string, ns: number } | null, unknown: string[] }}
 */
export function apply(list) {
  /** @type {{ lane: string, ns: number } | null} */
  let span = null;
  /** @type {string[]} */
  const unknown = [];
  batch(() => {
    reset();
    const open = new Set(list.some(([word]) => word === "open") ? [] : view.opened.peek());
    const hidden = new Set();
    /** @type {string[]} */
    const pins = [];
    /** @type {Mark[]} */
    const marks = [];
    /** @type {Map<string, number>} */
    const colours = new Map();
    /** @type {Map<string, TableState>} */
    const tables = new Map();
    for (const [word, value] of list) {
      if (word === "open" && ID.test(value)) open.add(value);
      else if (word === "pin" && ID.test(value)) pins.push(value);
      else if (word === "hide" && ID.test(value)) hidden.add(value);
      else if (word === "colour") {
        const match = /^([a-z]+) ((?:process|tag) .+)$/.exec(value);
        const hue = HUES.indexOf(match?.[1] ?? "");
        if (hue < 0) unknown.push(word);
        else if (colours.size < 200) colours.set(match?.[2] ?? "", hue);
      } else if (word === "table") {
        const match = /^([a-z-]{1,20}) ([-+])(\w{0,60})(?: ([\w,]{1,2000}))?$/.exec(value);
        if (!match) unknown.push(word);
        else tables.set(match[1] ?? "", { sort: match[3] ?? "", down: match[2] === "-", chosen: match[4] ? match[4].split(",") : null });
      } else if (word === "mark") marks.push(...named(value));
      else if (word === "span") span = spanOf(value);
      else if (!one(word, value)) unknown.push(word);
    }
    view.opened.value = open;
    view.hidden.value = hidden;
    view.pinned.value = [...new Set(pins)].slice(0, 100);
    view.ownMarks.value = marks;
    view.colours.value = colours;
    view.tables.value = tables;
  });
  const at = list.find(([word, value]) => word === "zero-time" && isLandmark(value))?.[1];
  if (at) void zeroAtLandmark({ at, of: list.find(([word]) => word === "zero-process")?.[1] ?? "" });
  return { span, unknown };
}

function reset() {
  for (const { of, start } of Object.values(TEXTS)) of.value = start;
  view.range.value = view.whole();
  for (const one of [view.selection, view.thread, view.zero, view.guests, view.path, view.chosen, view.finding, view.density]) one.value = null;
  for (const one of [view.trail, view.findings, view.past, view.future]) one.value = [];
  view.dock.value = view.DOCK;
  view.hideInactive.value = false;
  view.opened.value = new Set(["processes"]);
}

/** @param {string} word @param {string} value @returns {boolean} whether the word is known and its value can be read */
function one(word, value) {
  const range = word === "time" || word === "select" ? readRange(value) : null;
  const text = TEXTS[word];
  if (text) {
    if (text.fits?.(value) ?? true) text.of.value = value || text.start;
    return true;
  }
  switch (word) {
    case "name": return true;
    case "recording": {
      const known = view.session.peek()?.recordings.some((recording) => recording.id === value) ?? false;
      if (known) view.recordingId.value = value;
      if (known) view.range.value = view.whole();
      return known;
    }
    case "time": if (range) view.range.value = view.fitted(range); return range !== null;
    case "select": if (range) view.selection.value = range; return range !== null;
    case "thread": {
      const match = /^(\d{1,10}) (.*)$/.exec(value);
      if (match) view.thread.value = { tid: Number(match[1]), name: match[2] ?? "" };
      return match !== null;
    }
    case "path": view.path.value = pathOf(value); return view.path.peek() !== null;
    case "panel": if (/^[a-z-]{1,20}$/.test(value)) view.panel.value = value; return true;
    case "panel-height": {
      const share = /^(\d{1,2})%$/.exec(value);
      if (share) view.resize(Number(share[1]) / 100);
      return share !== null;
    }
    case "zero-time": {
      const [own] = isLandmark(value) ? [] : named(value);
      view.zero.value = own ? { ...own, landmark: null } : null;
      return true;
    }
    case "zero-process": return true;
    case "inactive": view.hideInactive.value = value === "hide"; return true;
    default: return false;
  }
}

/** @param {string} value `1.5s some name` */
function named(value) {
  const [, at = "", name = ""] = /^(\S*) ?(.*)$/s.exec(value) ?? [];
  const ns = readWord(at);
  return ns === null ? [] : [{ ns, name }];
}

/** @param {string} value `1s..2s 4711 App.exe(99)`, with `-` for the main thread */
function pathOf(value) {
  const match = /^(\S+) (-|\d{1,10}) ?(.*)$/s.exec(value);
  const range = match ? readRange(match[1] ?? "") : null;
  const tid = match?.[2] === "-" ? null : Number(match?.[2]);
  return match && range && (tid !== null || match[3]) ? { range, tid, process: match[3] || null } : null;
}

/** @param {string} value */
function spanOf(value) {
  const [own] = named(value);
  return own && ID.test(own.name) ? { ns: own.ns, lane: own.name } : null;
}
