// The numbers under the pointer.
import { around, h } from "../dom.js";
import { clean, DID, fixed, group, length } from "../format.js";
import { headWidth, nsAt, timeWidth } from "../lanes/geometry.js";
import * as model from "../lanes/model.js";
import { textAt } from "../lanes/path.js";
import { pidOf, threadOf } from "../lanes/rows.js";
import * as view from "../state/view.js";

/** @type {Record<string, string>} */
const NAMES = { run: "run", ready: "ready, no CPU", wait: "wait", open: "off the CPU, not seen yet", unknown: "unknown, switches are missing", cpu: "CPU (sampled)", busy: "busy", bytes: "bytes", operations: "operations", count: "events", "read-bytes": "read", "write-bytes": "written", queue: "under way on average" };

/** @param {HTMLElement} area @param {LaneStore} store @param {Singles} singles */
export function readout(area, store, singles) {
  const element = h("div.readout", { "aria-hidden": "true", hidden: true });
  area.append(element);
  area.addEventListener("pointerleave", () => {
    element.hidden = true;
    view.lit.value = null;
  });
  area.addEventListener("pointerdown", () => (element.hidden = true));
  area.addEventListener("pointermove", (event) => {
    const id = around(event, "[data-lane-time]")?.dataset.laneTime ?? null;
    const box = area.getBoundingClientRect();
    const x = event.clientX - box.left - headWidth.peek();
    if (!id || event.buttons !== 0 || x < 0 || x > timeWidth.peek()) {
      element.hidden = true;
      return;
    }
    const lane = model.known.get(id);
    const text = lane?.kind === "path" ? textAt(nsAt(x)) : lane ? textOf(lane, store, nsAt(x), singles.waitAt(id, nsAt(x))) : null;
    element.hidden = text === null;
    if (!lane || text === null) return;
    element.textContent = text;
    const left = event.clientX - box.left + 14;
    const top = event.clientY - box.top + 16;
    element.style.left = `${left + element.offsetWidth > box.width ? left - element.offsetWidth - 26 : left}px`;
    element.style.top = `${top + element.offsetHeight > box.height ? top - element.offsetHeight - 28 : top}px`;
    const pid = pidOf(lane);
    const tid = lane.kind === "thread" ? threadOf(lane).tid : null;
    const now = view.lit.peek();
    if (pid !== (now?.pid ?? null) || tid !== (now?.tid ?? null)) view.lit.value = pid === null && tid === null ? null : { pid, tid, range: null };
  });
}

/** @param {Lane} lane @param {LaneStore} store @param {number} ns @param {string | null} wait its kind */
function textOf(lane, store, ns, wait) {
  const found = store.at(lane.id, ns);
  if (!found) return null;
  const { head, series, peaks } = found.data.frame;
  const bucket = found.to - found.from;
  const lines = [`${clean(lane.name, 60)}   ${view.clockNow().text(found.from, bucket)} +${length(bucket)}`];
  if (wait === "disk" || wait === "sleep") lines.push(DID[wait] ?? "");
  for (const name of head.series ?? []) {
    const value = series[name]?.[found.index] ?? NaN;
    if (name === "top") {
      if (value >= 0) lines.push(`most: ${clean(model.known.get(`process:${value}`)?.name ?? `process ${value}`, 60)}`);
    } else if (Number.isNaN(value)) lines.push(`${NAMES[name] ?? name}: not read`);
    else if (value > 0 || (head.series ?? []).length === 1) lines.push(`${NAMES[name] ?? clean(name, 40)}: ${name === "queue" ? fixed(value / bucket, 2) : amount(value, head.unit ?? "")}${shareOf(name, value, bucket, head.at_once ?? null, lane)}`);
  }
  for (const name of head.peaks ?? []) {
    const peak = peaks[name]?.[found.index] ?? NaN;
    const base = head.peak_ns ?? 0;
    const all = series[name]?.[found.index] ?? (head.series ?? []).reduce((sum, one) => sum + (series[one]?.[found.index] ?? 0), 0);
    if (base <= 0 || !(peak / base > (all / bucket) * 1.05)) continue;
    lines.push(`peak: ${name === "queue" ? fixed(peak / base, 2) : amount(peak, head.unit ?? "")} in ${length(base)}${head.at_once ? `  ${fixed((peak / base / head.at_once) * 100, 1)} %` : ""}`);
  }
  return lines.join("\n");
}

/** What a figure is a part of: CPU time alone has a most that can be. @type {ShareOf} */
export function shareOf(name, value, bucket, atOnce, lane) {
  if (!atOnce) return "";
  if (lane.kind === "process" && ["ready", "wait", "open", "unknown"].includes(name)) return `  = ${fixed(value / bucket, 1)} threads`;
  const of = lane.kind === "thread" ? " of the time" : atOnce > 1 ? ` of ${atOnce} CPUs` : ["run", "cpu"].includes(name) ? " of one CPU" : "";
  return `  ${fixed((value / (bucket * atOnce)) * 100, 1)} %${of}`;
}

/** @param {number} value @param {string} unit */
function amount(value, unit) {
  if (unit === "ns") return length(value);
  if (unit === "bytes") return `${group(value)} bytes`;
  if (unit === "khz") return `${fixed(value / 1e6, 3)} GHz`;
  return Number.isInteger(value) ? group(value) : fixed(value, 2);
}
