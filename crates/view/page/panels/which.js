// Panels about one program ask for it: processes that set marks, and those with most CPU.
import * as client from "../api/client.js";
import { fill, h, swatch } from "../dom.js";
import { clean, length } from "../format.js";
import { hueOf } from "../lanes/palette.js";
import { patternOf } from "../lanes/rows.js";
import * as view from "../state/view.js";

const MOST = 12;

/** @param {string} question what is asked @param {AbortSignal} stop */
export function which(question, stop) {
  const list = h("ul.candidates");
  const element = h("section.which", h("p.question", question), h("p.dim", "Choose it here, or click the head of its lane."), list);
  void candidates(stop).then((all) => fill(list, all), client.report);
  return element;
}

/** @param {AbortSignal} stop */
async function candidates(stop) {
  const measure = view.has("samples") ? "cpu" : "run";
  const marked = await markers(stop);
  const lanes = await client.lanesOf("processes", measure);
  const own = (/** @type {Lane} */ lane) => marked.has(patternOf(lane).pattern);
  const busy = lanes.filter((lane) => patternOf(lane).pid !== 0);
  return [...busy.filter(own), ...busy.filter((lane) => !own(lane))].slice(0, MOST).map((lane) => {
    const { pattern } = patternOf(lane);
    const time = measure === "cpu" ? lane.totals.cpu_ns : lane.totals.run_ns;
    return h("li",
      h("button", { onclick: () => view.narrow({ processes: pattern, thread: null }) }, swatch(hueOf(lane)), clean(pattern, 80)),
      h("span.dim", ` ${typeof time === "number" ? `${length(time)} ${measure === "cpu" ? "CPU" : "run"}` : ""}${own(lane) ? ", has marks" : ""}`));
  });
}

/** @param {AbortSignal} stop @returns {Promise<Set<string>>} processes that set marks */
async function markers(stop) {
  if (!view.has("marks")) return new Set();
  try {
    const { rows } = await client.question(["dump", "mark"], { signal: stop, rank: 3 });
    return new Set(rows.filter((row) => typeof row.process === "string" && typeof row.pid === "number").map((row) => `${row.process}(${row.pid})`));
  } catch (error) {
    if (client.isAbort(error)) throw error;
    return new Set();
  }
}
