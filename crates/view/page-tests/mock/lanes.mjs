// Lanes, columns, spans and instants of the made-up recording, by the plainest code.
import { CPUS, LENGTH, sums, within } from "./recording.mjs";
import { recording, samples } from "./answers.mjs";

const { processes, threads, code } = recording;
/** @type {Map<number, Record<string, number>>} */
const totalsOf = new Map();
for (const thread of threads) {
  let cpu = 0;
  samples(thread, 0, LENGTH, () => (cpu += 1_000_000));
  totalsOf.set(thread.index, { ...sums(thread, 0, LENGTH), cpu });
}

const GROUPS = [["processes", "Processes", "CPU, run, ready and wait"], ["cpus", "CPUs", "who ran"], ["disks", "Disks", "operations"], ["frequencies", "CPU frequencies", null], ["events", "Events", null], ["marks", "Marks", null]];

/** @param {number[]} list of threads */
function totals(list) {
  const out = { cpu_ns: 0, run_ns: 0, wait_ns: 0, ready_ns: 0 };
  for (const index of list) {
    const one = totalsOf.get(index) ?? {};
    out.cpu_ns += one["cpu"] ?? 0;
    out.run_ns += one["run"] ?? 0;
    out.wait_ns += one["wait"] ?? 0;
    out.ready_ns += one["ready"] ?? 0;
  }
  return out;
}

const base = { detail: null, children: false, start_ns: null, end_ns: null, totals: {}, measures: [] };
const processLane = (/** @type {typeof processes[number]} */ one) => ({ ...base, id: `process:${one.index}`, kind: "process", name: `${one.name}(${one.pid})`, detail: one.command || null, children: true, totals: totals(threads.filter((thread) => thread.process === one.index).map(({ index }) => index)), measures: ["cpu", "run"], path: ["processes"] });
const threadLane = (/** @type {typeof threads[number]} */ one) => ({ ...base, id: `thread:${one.index}`, kind: "thread", name: `${one.tid} ${one.name}`, totals: totals([one.index]), measures: ["run"], path: ["processes", `process:${one.process}`] });

/** @param {URLSearchParams} query */
export function lanes(query) {
  const ids = query.get("ids");
  if (ids) return { total: 0, from: 0, lanes: ids.split(",").flatMap((id) => one(id)) };
  const parent = query.get("parent") ?? "";
  const from = Number(query.get("from") ?? 0);
  const sort = query.get("sort") ?? "cpu";
  let all = below(parent);
  const key = { cpu: "cpu_ns", run: "run_ns", wait: "wait_ns", ready: "ready_ns" }[sort];
  if (key && (parent === "processes" || parent.startsWith("process:"))) all = [...all].sort((a, b) => ((/** @type {Record<string, number>} */ (b.totals))[key] ?? 0) - ((/** @type {Record<string, number>} */ (a.totals))[key] ?? 0));
  else if (sort === "name") all = [...all].sort((a, b) => (a.name < b.name ? -1 : 1));
  return { total: all.length, from, lanes: all.slice(from, from + 500) };
}

/** @param {string} id */
function one(id) {
  const [kind, index] = id.split(":");
  if (kind === "process" && processes[Number(index)]) return [processLane(/** @type {typeof processes[number]} */ (processes[Number(index)]))];
  if (kind === "thread" && threads[Number(index)]) return [threadLane(/** @type {typeof threads[number]} */ (threads[Number(index)]))];
  const group = GROUPS.find(([name]) => name === id);
  if (group) return [groupLane(group)];
  return GROUPS.flatMap(([name]) => below(String(name)).filter((lane) => lane.id === id).map((lane) => ({ ...lane, path: [String(name)] })));
}

const groupLane = (/** @type {(string | null)[]} */ [id, name, detail]) => ({ ...base, id: String(id), kind: "group", name: String(name), detail: detail ?? null, children: true, path: /** @type {string[]} */ ([]) });

/** Length of a base bucket. */
const BASE = 10_000_000;

const DISK_PARTS = [["busy", "busy"], ["read", "reads"], ["write", "writes"]];

/** @param {string} parent */
function below(parent) {
  if (parent === "") return GROUPS.map((group) => groupLane(group));
  if (parent === "processes") return processes.map(processLane);
  if (parent.startsWith("process:")) return threads.filter((thread) => thread.process === Number(parent.slice(8))).map(threadLane);
  if (parent === "cpus") return Array.from({ length: CPUS }, (_, i) => ({ ...base, id: `cpu:${i}`, kind: "cpu", name: `CPU ${i}`, path: ["cpus"] }));
  if (parent === "disks") return [0, 1].map((i) => ({ ...base, id: `disk:${i}`, kind: "disk", name: `Disk ${i}`, children: true, totals: { bytes: recording.disk.filter(({ disk }) => disk === i).reduce((sum, { bytes }) => sum + bytes, 0) }, path: ["disks"] }));
  if (parent.startsWith("disk:")) return DISK_PARTS.map(([part, name]) => ({ ...base, id: `${parent}:${part}`, kind: "disk", name: `Disk ${parent.slice(5)}: ${name}`, path: ["disks", parent] }));
  if (parent === "frequencies") return [0, 1].map((i) => ({ ...base, id: `frequency:${i}`, kind: "frequency", name: `CPU ${i} frequency`, path: ["frequencies"] }));
  if (parent === "events") return recording.events.kinds.map(([provider, event], i) => ({ ...base, id: `event:${i}`, kind: "event", name: `${provider} ${event}`, totals: { count: recording.events.rows.filter(({ kind }) => kind === i).length }, path: ["events"] }));
  if (parent === "marks") return [{ ...base, id: "mark:0", kind: "mark", name: "Marks", totals: { count: recording.marks.length }, path: ["marks"] }];
  return [];
}

/**
 * @param {Record<string, unknown>} head
 * @param {Float64Array[]} arrays
 */
export function frame(head, arrays) {
  const written = arrays.map((array) => {
    if (array.some((value) => !Object.is(value, value | 0))) return { word: "f64", array };
    return array.some((value) => value !== 0) ? { word: "i32", array: Int32Array.from(array) } : { word: "zero", array: new Int32Array(0) };
  });
  let text = JSON.stringify({ ...head, arrays: written.map(({ word }) => word) });
  // The arrays begin at multiples of 8 of the frame.
  while ((Buffer.byteLength(text) + 8) % 8 !== 0) text += " ";
  const bytes = Buffer.from(text);
  const body = Buffer.concat(written.map(({ array }) => Buffer.concat([Buffer.from(array.buffer, array.byteOffset, array.byteLength), Buffer.alloc(array.byteLength % 8)])));
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32LE(4 + bytes.length + body.length, 0);
  lengths.writeUInt32LE(bytes.length, 4);
  return Buffer.concat([lengths, bytes, body]);
}

/** @param {number} t */
const frequency = (t) => 1_200_000 + Math.round(1_000_000 * (1 + Math.sin(Math.floor(t / 3e9)))) * 1;

/** @param {{ from: number, to: number, columns: number, lanes: string[], measure: string | null }} body */
export function* columns({ from, to, columns: count, lanes: ids, measure }) {
  const per = (to - from) / count;
  const fill = () => {
    const array = new Float64Array(count);
    for (let i = 0; i < count; i += 1) if (from + (i + 1) * per <= 0 || from + i * per >= LENGTH) array[i] = NaN;
    return array;
  };
  const spread = (/** @type {Float64Array} */ array, /** @type {number} */ a, /** @type {number} */ b) => {
    for (let i = Math.max(0, Math.floor((a - from) / per)); i < count; i += 1) {
      const start = from + i * per;
      if (start >= b) break;
      const part = Math.min(b, start + per) - Math.max(a, start);
      if (part > 0) array[i] = (array[i] ?? 0) + part;
    }
  };
  const point = (/** @type {Float64Array} */ array, /** @type {number} */ at, /** @type {number} */ value) => {
    const i = Math.floor((at - from) / per);
    if (i >= 0 && i < count) array[i] = (array[i] ?? 0) + value;
  };
  for (const id of ids) {
    const [kind = "", text = ""] = id.split(":");
    const index = Number(text);
    const head = { lane: id, way: "rows", first_ns: from, bucket_ns: per, columns: count, unit: "ns", peaks: /** @type {string[]} */ ([]) };
    const time = ["--time", `${from / 1e9}s..${to / 1e9}s`];
    if (kind === "processes" || kind === "cpus") {
      const array = fill();
      for (const thread of threads) {
        if (kind === "processes" && measure === "cpu") samples(thread, from, to, (t) => point(array, t, 1_000_000));
        else for (const span of within(thread, from, to)) if (span.state === "run") spread(array, span.start, span.end);
      }
      yield frame({ ...head, at_once: CPUS, series: [kind === "processes" ? measure ?? "run" : "run"], words: [] }, [array]);
    } else if (kind === "process" || kind === "thread") {
      const own = kind === "thread" ? threads.filter((one) => one.index === index) : threads.filter((one) => one.process === index);
      if (measure === "cpu") {
        const array = fill();
        for (const thread of own) samples(thread, from, to, (t) => point(array, t, 1_000_000));
        yield frame({ ...head, at_once: CPUS, series: ["cpu"], words: ["dump", "timeline", ...time] }, [array]);
        continue;
      }
      const states = ["run", "ready", "wait", "open", "unknown"];
      const arrays = states.map(() => fill());
      for (const thread of own) for (const span of within(thread, from, to)) spread(/** @type {Float64Array} */ (arrays[states.indexOf(span.state)]), span.start, span.end);
      yield frame({ ...head, at_once: kind === "thread" ? 1 : CPUS, series: states, words: Object.fromEntries(states.map((state) => [state, ["dump", "timeline", "--lane", kind, "--measure", state, `--time=${time[1]}`, "--bucket", `${per}ns`, "-p", String(kind === "thread" ? threads[index]?.pid : processes[index]?.pid)]])) }, arrays);
    } else if (kind === "cpu") {
      const run = fill();
      const top = new Float64Array(count).fill(-1);
      const most = new Float64Array(count);
      for (const process of processes) {
        const own = fill();
        const list = threads.filter((thread) => thread.process === process.index && thread.cpu === index);
        if (list.length === 0) continue;
        for (const thread of list) for (const span of within(thread, from, to)) if (span.state === "run") spread(own, span.start, span.end);
        own.forEach((value, i) => {
          run[i] = (run[i] ?? 0) + value;
          if (value > (most[i] ?? 0)) {
            most[i] = value;
            top[i] = process.index;
          }
        });
      }
      yield frame({ ...head, at_once: 1, series: ["run", "top"], words: ["dump", "timeline", "--lane", "cpu", ...time] }, [run, top]);
    } else if (kind === "disk") {
      const part = id.split(":")[2];
      const command = (/** @type {string} */ measure) => ["dump", "timeline", "--lane", "disk", "--measure", measure, ...time];
      const own = recording.disk.filter((one) => one.disk === index);
      if (part === "busy") {
        const array = fill();
        // Operations of a disk follow each other in this recording.
        for (const one of own) spread(array, one.start, one.end);
        const whole = { ...head, at_once: 1, series: ["busy"], words: { busy: command("busy") } };
        if (per < 2 * BASE) {
          yield frame(whole, [array]);
          continue;
        }
        const sums = new Float64Array(Math.ceil(LENGTH / BASE));
        for (const one of own) {
          for (let i = Math.floor(one.start / BASE); i * BASE < one.end; i += 1) sums[i] = (sums[i] ?? 0) + Math.min(one.end, (i + 1) * BASE) - Math.max(one.start, i * BASE);
        }
        const peak = array.map((value, i) => {
          if (Number.isNaN(value)) return NaN;
          const inside = sums.slice(Math.ceil((from + i * per) / BASE), Math.floor((from + (i + 1) * per) / BASE));
          return inside.reduce((most, sum) => Math.max(most, sum), 0);
        });
        yield frame({ ...whole, peaks: ["busy"], peak_ns: BASE, peak_words: { busy: [...command("busy"), "--bucket", `${BASE}ns`] } }, [array, peak]);
        continue;
      }
      const kinds = part ? [part] : ["read", "write"];
      const arrays = kinds.map((kind) => {
        const array = fill();
        for (const one of own) if (one.operation === kind) point(array, one.end, one.bytes);
        return array;
      });
      yield frame({ ...head, at_once: null, unit: "bytes", series: kinds.map((kind) => `${kind}-bytes`), words: Object.fromEntries(kinds.map((kind) => [`${kind}-bytes`, command(`${kind}-bytes`)])) }, arrays);
    } else if (kind === "frequency") {
      const array = fill();
      array.forEach((value, i) => (array[i] = Number.isNaN(value) ? NaN : frequency(from + i * per + index * 1e9)));
      yield frame({ ...head, at_once: null, unit: "khz", series: ["frequency"], words: [] }, [array]);
    } else if (kind === "event" || kind === "mark") {
      const array = fill();
      for (const at of kind === "mark" ? recording.marks.map(({ ns }) => ns) : recording.events.rows.filter((one) => one.kind === index).map((one) => one.time)) point(array, at, 1);
      yield frame({ ...head, at_once: null, unit: "count", series: ["count"], words: ["dump", "timeline", "--lane", "event", ...time] }, [array]);
    } else yield frame({ lane: id, error: "a group has no columns", columns: 0, series: [] }, []);
  }
}

/** @param {{ lane?: string, lanes?: string[], from: number, to: number, most: number }} body */
export function spans({ lane, lanes = lane === undefined ? [] : [lane], from, to, most }) {
  return Buffer.concat(lanes.map((id) => spansOf(id, from, to, most)));
}

/** @param {{ state: string, device: string | null, reason: string | null }} span @returns {string | null} */
export const kindOf = ({ state, device, reason }) => (state !== "wait" ? null : device === "disk" ? "disk" : reason === "UserRequest" ? "sleep" : "other");

/** @param {string} lane @param {number} from @param {number} to @param {number} most */
function spansOf(lane, from, to, most) {
  const [kind, text] = lane.split(":");
  const index = Number(text);
  const states = ["read", "write", "event", "mark", "run", "ready", "wait", "open", "unknown"];
  const kinds = ["disk", "sleep", "other"];
  /** @type {{ start: number, end: number, state: number, name: string, kind?: string | null }[]} */
  let all = [];
  const part = lane.split(":")[2];
  if (kind === "disk") all = recording.disk.filter((one) => one.disk === index && (part === undefined || part === "busy" || one.operation === part)).map((one) => ({ start: one.start, end: one.end, state: states.indexOf(one.operation), name: one.file }));
  if (kind === "event") all = recording.events.rows.filter((one) => one.kind === index).map((one) => ({ start: one.time, end: one.time, state: 2, name: String(recording.events.kinds[one.kind]?.[1]) }));
  if (kind === "mark") all = recording.marks.map((one) => ({ start: one.ns, end: one.ns, state: 3, name: one.name }));
  if (kind === "thread") all = (threads[index]?.spans ?? []).map((one) => ({ start: one.start, end: one.end, state: states.indexOf(one.state), name: "", kind: kindOf(one) }));
  all = all.filter((one) => one.end >= from && one.start < to);
  if (all.length > most) return frame({ lane, count: null, more: true, series: [] }, []);
  const list = [...new Set(all.map((one) => one.name))];
  return frame({ lane, count: all.length, more: false, series: ["start", "end", "state", "name", "kind"], states, kinds, names: list, words: [] }, [Float64Array.from(all, (one) => one.start), Float64Array.from(all, (one) => one.end), Float64Array.from(all, (one) => one.state), Float64Array.from(all, (one) => list.indexOf(one.name)), Float64Array.from(all, (one) => (one.kind ? kinds.indexOf(one.kind) : NaN))]);
}

const names = (/** @type {number} */ stack) => (stack < 0 ? null : (code.stacks[stack] ?? []).map((frame) => `${code.modules[frame]}!${code.names[frame]}`));

/** @param {{ lane: string, ns: number }} body */
export function at({ lane, ns }) {
  const [kind, text] = lane.split(":");
  const nothing = { span: null, stack: null, waker: null, device: null, chain: [], words: [] };
  const thread = kind === "thread" ? threads[Number(text)] : kind === "cpu" ? threads.find((one) => one.cpu === Number(text) && one.spans.some((span) => span.state === "run" && span.start <= ns && ns < span.end)) : null;
  const span = thread?.spans.find((one) => one.start <= ns && ns < one.end);
  if (!thread || !span) return nothing;
  const label = (/** @type {typeof threads[number]} */ one) => `${processes[one.process]?.name}(${one.pid}) ${one.tid} ${one.name}`;
  const waker = span.state === "wait" && span.waker !== null ? threads[span.waker] : null;
  const chain = [];
  let link = waker;
  for (let n = 0; link && n < 3; n += 1) {
    const own = link.spans.filter((one) => one.end > span.start && one.start < span.end).sort((a, b) => b.end - b.start - (a.end - a.start))[0];
    if (!own) break;
    const by = own.state === "wait" && own.waker !== null ? threads[own.waker] : null;
    const did = sums(link, span.start, span.end);
    chain.push({ lane: `thread:${link.index}`, name: label(link), start_ns: span.start, end_ns: span.end, state: own.state, by: by ? label(by) : own.device, run_ns: did["run"], ready_ns: did["ready"], wait_ns: did["wait"], unknown_ns: did["unknown"], longest_wait_ns: own.state === "wait" ? Math.min(own.end, span.end) - Math.max(own.start, span.start) : 0, longest_wait_method: own.state === "wait" ? names(own.stack)?.[0] ?? null : null });
    link = by && by.index !== thread.index && !chain.some((one) => one.lane === `thread:${by.index}`) ? by : null;
  }
  return {
    span: { start_ns: span.start, end_ns: span.end, state: span.state, cpu: span.cpu, reason: span.reason, kind: kindOf(span) }, stack: names(span.stack), method: names(span.stack)?.[1] ?? null, device: span.device,
    waker: waker ? { lane: `thread:${waker.index}`, name: label(waker), ns: span.end, stack: names(3) } : null, chain,
    words: ["dump", "waits", "--time", `${span.start / 1e9}s..${span.end / 1e9}s`, "-p", `${processes[thread.process]?.name}(${thread.pid})`],
  };
}
