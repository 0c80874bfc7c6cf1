// Answers of the made-up recording to the command line's words: what `tracesift … --format json` would print.
import { CPUS, HOSTILE, LENGTH, makeRecording, MS, S, sums, within } from "./recording.mjs";

export const recording = makeRecording();
const { processes, threads, code } = recording;

/** Sampled CPU: a sample each ms of the clock counts 1 ms for who ran then. */
export function samples(/** @type {import("./recording.mjs").Thread} */ thread, /** @type {number} */ from, /** @type {number} */ to, /** @type {(time: number, stack: number) => void} */ each) {
  for (const one of within(thread, from, to)) {
    if (one.state !== "run") continue;
    for (let time = Math.ceil(Math.max(from, one.start) / MS) * MS; time < Math.min(to, one.end); time += MS) each(time, one.stack);
  }
}

/** @param {string} text */
function ns(text) {
  const match = /^(-?\d+)(?:\.(\d{1,9}))?s$/.exec(text);
  if (!match) throw new Error(`time ${text}`);
  return Number(match[1]) * S + Number((match[2] ?? "").padEnd(9, "0") || 0);
}

/** @param {string} pattern */
export function matcher(pattern) {
  const parts = pattern.split(";").filter(Boolean);
  const test = (/** @type {string} */ one) => new RegExp(`^${one.replace(/[.+^${}()|[\]\\<>]/g, "\\$&").replaceAll("*", ".*").replaceAll("?", ".")}$`, "is");
  const yes = parts.filter((part) => !part.startsWith("!")).map(test);
  const no = parts.filter((part) => part.startsWith("!")).map((part) => test(part.slice(1)));
  return (/** @type {string[]} */ ...names) => (yes.length === 0 || yes.some((one) => names.some((name) => one.test(name)))) && !no.some((one) => names.some((name) => one.test(name)));
}

const OPTIONS = new Set(["--time", "-p", "--top", "--top-methods", "--methods", "--stacktags", "--measure", "--root", "--by", "--path", "--name", "--window", "--tag-file", "--sort", "--min-share", "--anchor", "--tid", "--lane", "--buckets", "--bucket", "--zero-time", "--zero-process", "--columns"]);

/** @param {string[]} words */
export function parse(words) {
  /** @type {Record<string, string>} */
  const options = {};
  const names = [];
  for (let i = 0; i < words.length; i += 1) {
    const word = words[i] ?? "";
    if (word === "--callers") options["--callers"] = "yes";
    else if (word === "--segments") options["--segments"] = "yes";
    else if (OPTIONS.has(word)) options[word] = words[(i += 1)] ?? "";
    else if (word.startsWith("-")) throw new Error(`option ${word} is not known`);
    else names.push(word);
  }
  const zero = zeroOf(options["--zero-time"] ?? "");
  const [from = 0, to = LENGTH] = (options["--time"] ?? options["--window"] ?? "").includes("..") ? (options["--time"] ?? options["--window"] ?? "").split("..").map((one) => ns(one) + zero) : [0, LENGTH];
  const match = matcher(options["-p"] ?? "*");
  const isIn = (/** @type {{ name: string, pid: number }} */ one) => match(one.name, `${one.name}(${one.pid})`, String(one.pid));
  const isThread = (/** @type {{ tid: number }} */ one) => options["--tid"] === undefined || String(one.tid) === options["--tid"];
  return { options, question: names.slice(0, names[0] === "dump" ? 2 : 1).join(" "), from, to, zero, isIn, isThread };
}

/** @param {string} landmark */
function zeroOf(landmark) {
  const [kind, name = ""] = landmark.split(":");
  if (kind === "mark") return recording.marks.find((mark) => matcher(name)(mark.name))?.ns ?? 0;
  return kind === "process-start" ? recording.processes.find((one) => matcher(name)(one.name, `${one.name}(${one.pid})`))?.start ?? 0 : 0;
}

/** @param {unknown} row @param {number} zero */
function shifted(row, zero) {
  return zero === 0 ? row : Object.fromEntries(Object.entries(/** @type {object} */ (row)).map(([key, value]) => [key, /^(from|to|first|last|start|end)_ns$/.test(key) && typeof value === "number" ? value - zero : value]));
}

const FILE = "made-up.sift";
const common = { file: FILE, test: "made-up", test_ms: null, machine: "lab-7", date: "2026-03-04T10:00:00" };

/** @param {number} leaf */
const frames = (leaf) => (code.stacks[leaf] ?? []).map((frame) => `${code.modules[frame]}!${code.names[frame]}`);

/**
 * @param {string[]} words
 * @returns {unknown[]}
 */
export function answer(words) {
  const asked = parse(words);
  const top = Number(asked.options["--top"] ?? 1e9);
  const all = ANSWERS[asked.question]?.(asked);
  if (!all) throw new Error(`question ${asked.question} is not known`);
  const rows = asked.question === "dump stacks" || asked.question === "explain" ? all : all.slice(-top);
  return rows.map((row) => shifted(row, asked.zero));
}

/** @typedef {ReturnType<typeof parse>} Asked */

/** @param {Asked} asked */
function perProcess({ from, to, isIn }) {
  return processes.filter(isIn).map((process) => {
    const own = threads.filter((thread) => thread.process === process.index);
    const all = own.map((thread) => sums(thread, from, to));
    let cpu = 0;
    for (const thread of own) samples(thread, from, to, () => (cpu += MS));
    const sum = (/** @type {string} */ key) => all.reduce((total, one) => total + (one[key] ?? 0), 0);
    return { ...common, process: process.name, pid: process.pid, cpu_ns: cpu, samples: cpu / MS, cores_used: own.length, priority: 8, run_ns: sum("run"), wait_ns: sum("wait"), ready_ns: sum("ready"), open_ns: sum("open"), unknown_ns: sum("unknown"), idle: false, command_line: process.command, warnings: [] };
  }).filter((row) => row.cpu_ns + row.run_ns > 0).sort((a, b) => a.cpu_ns - b.cpu_ns || (a.process < b.process ? -1 : 1));
}

/** @type {Record<string, (asked: Asked) => unknown[]>} */
const ANSWERS = {
  "dump cpu": (asked) => (asked.options["--methods"] ? methods(asked, "method") : asked.options["--stacktags"] ? methods(asked, "tag") : perProcess(asked)),
  "dump threads": ({ from, to, isIn, isThread }) => threads.filter((thread) => isThread(thread) && isIn(/** @type {{ name: string, pid: number }} */ (processes[thread.process]))).map((thread) => {
    const all = sums(thread, from, to);
    let cpu = 0;
    samples(thread, from, to, () => (cpu += MS));
    /** @type {Map<string, { reason: string, count: number, wait_ns: number }>} */
    const reasons = new Map();
    for (const one of within(thread, from, to)) {
      const part = Math.min(to, one.end) - Math.max(from, one.start);
      if (one.state !== "wait" || part <= 0) continue;
      const row = reasons.get(one.reason ?? "") ?? { reason: one.reason ?? "", count: 0, wait_ns: 0 };
      row.count += 1;
      row.wait_ns += part;
      reasons.set(one.reason ?? "", row);
    }
    return {
      ...common, process: processes[thread.process]?.name, pid: thread.pid, tid: thread.tid, thread_name: thread.name, cpu_ns: cpu, samples: cpu / MS, run_ns: all["run"], wait_ns: all["wait"], ready_ns: all["ready"], open_ns: all["open"], unknown_ns: all["unknown"],
      switches: thread.spans.filter((one) => one.state === "run" && one.start >= from && one.start < to).length, wait_reasons: [...reasons.values()].sort((a, b) => b.wait_ns - a.wait_ns), wakers: [], command_line: processes[thread.process]?.command, warnings: [],
    };
  }).filter((row) => row.cpu_ns + (row.run_ns ?? 0) + (row.wait_ns ?? 0) > 0).sort((a, b) => a.cpu_ns - b.cpu_ns || a.tid - b.tid),
  "dump waits": ({ from, to, isIn, isThread, options }) => {
    const match = matcher(options["--methods"] ?? "*");
    return threads.filter((thread) => isThread(thread) && isIn(/** @type {{ name: string, pid: number }} */ (processes[thread.process]))).flatMap((thread) => within(thread, from, to).filter((one) => one.state === "wait" && match(...frames(one.stack), ...(code.stacks[one.stack] ?? []).map((frame) => code.names[frame] ?? ""))).map((one) => {
      const waker = one.waker === null ? null : threads[one.waker];
      return {
        ...common, process: processes[thread.process]?.name, pid: thread.pid, tid: thread.tid, thread_name: thread.name, wait_ns: Math.min(to, one.end) - Math.max(from, one.start), from_ns: Math.max(from, one.start), to_ns: Math.min(to, one.end), reason: one.reason, still_open: one.end === LENGTH,
        wait_method: frames(one.stack).find((frame) => frame.startsWith("app!")) ?? null, woken_by: waker ? `${processes[waker.process]?.name}(${waker.pid}) ${waker.tid}` : one.device, waker_process: waker ? processes[waker.process]?.name : null, waker_pid: waker?.pid ?? null, waker_tid: waker?.tid ?? null,
        waker_method: waker ? "app!Lock::acquire" : null, wait_stack: frames(one.stack), waker_stack: waker ? frames(3) : null, chain: [], warnings: [],
      };
    })).sort((a, b) => a.wait_ns - b.wait_ns || a.tid - b.tid);
  },
  "dump timeline": ({ from, to, isIn, options }) => {
    const [lane = "process", measure = "cpu"] = [options["--lane"], options["--measure"]];
    const bucket = options["--bucket"] ? Number(options["--bucket"].replace("ns", "")) : Math.ceil((to - from) / Number(options["--buckets"] ?? 60));
    const own = threads.filter((thread) => isIn(/** @type {{ name: string, pid: number }} */ (processes[thread.process])));
    /** @type {Map<string, number[]>} */
    const lanes = new Map();
    for (const thread of own) {
      const process = processes[thread.process];
      const key = JSON.stringify(lane === "thread" ? { process: process?.name, pid: thread.pid, tid: thread.tid } : lane === "cpu" ? { cpu: thread.cpu } : { process: process?.name, pid: thread.pid });
      const values = lanes.get(key) ?? Array.from({ length: Math.ceil((to - from) / bucket) }, () => 0);
      for (let i = 0; i < values.length; i += 1) {
        const [a, b] = [from + i * bucket, Math.min(to, from + (i + 1) * bucket)];
        if (measure === "cpu") samples(thread, a, b, () => (values[i] = (values[i] ?? 0) + MS));
        else values[i] = (values[i] ?? 0) + (sums(thread, a, b)[measure] ?? 0);
      }
      lanes.set(key, values);
    }
    return [...lanes].map(([key, values]) => ({ ...common, lane: key, ...JSON.parse(key), measure, unit: "ns", total: values.reduce((a, b) => a + b), from_ns: from, bucket_ns: bucket, values, warnings: [] })).sort((a, b) => a.total - b.total);
  },
  "dump stacks": stacks,
  "dump disk": ({ from, to, isIn, options }) => {
    const match = matcher(options["--path"] ?? "*");
    /** @type {Map<string, Record<string, unknown> & { n: number, total_service_ns: number, response_max_ns: number, reads: number, writes: number, read_bytes: number, write_bytes: number, response_avg_ns: number }>} */
    const rows = new Map();
    for (const one of recording.disk) {
      const thread = threads[one.thread];
      const process = processes[thread?.process ?? 0];
      if (!process || one.end < from || one.end >= to || !isIn(process) || !match(one.file)) continue;
      const key = `${process.pid}|${one.file}`;
      const row = rows.get(key) ?? { ...common, process: process.name, pid: process.pid, path: one.file, n: 0, reads: 0, read_bytes: 0, writes: 0, write_bytes: 0, total_service_ns: 0, response_avg_ns: 0, response_max_ns: 0 };
      row.n += 1;
      row[one.operation === "read" ? "reads" : "writes"] += 1;
      row[one.operation === "read" ? "read_bytes" : "write_bytes"] += one.bytes;
      row.total_service_ns += one.end - one.start;
      row.response_max_ns = Math.max(row.response_max_ns, one.end - one.start);
      row.response_avg_ns = Math.floor(row.total_service_ns / row.n);
      rows.set(key, row);
    }
    return [...rows.values()].sort((a, b) => a.total_service_ns - b.total_service_ns);
  },
  "dump file": (asked) => ANSWERS["dump disk"]?.(asked) ?? [],
  "dump events": ({ from, to, isIn }) => recording.events.kinds.map(([provider, event, id], kind) => {
    const own = recording.events.rows.filter((one) => one.kind === kind && one.time >= from && one.time < to && isIn(/** @type {{ name: string, pid: number }} */ (processes[threads[one.thread]?.process ?? 0])));
    return { ...common, count: own.length, first_ns: own[0]?.time ?? null, last_ns: own.at(-1)?.time ?? null, provider, event, id, warnings: [] };
  }).filter((row) => row.count > 0).sort((a, b) => a.count - b.count),
  "dump mark": () => recording.marks.map(({ ns, name }) => ({ file: "made-up.sift", time_ns: ns, name, process: processes[0]?.name ?? "", pid: processes[0]?.pid ?? 0 })),
  "dump path": ({ from, to, isIn, options }) => {
    if (options["--segments"]) return pathSegments({ from, to, isIn, anchor: options["--anchor"] });
    const thread = threads.find((one) => isIn(/** @type {{ name: string, pid: number }} */ (processes[one.process])));
    const all = thread ? sums(thread, from, to) : {};
    return Object.entries(all).filter(([, value]) => value > 0).map(([state, value]) => ({ ...common, window: 1, window_from_ns: from, window_ns: to - from, level: "full", path_ns: value, share: value / (to - from), disturbance: null, process: processes[thread?.process ?? 0]?.name, thread: thread?.name, state, ended_by: null, tag: "Parsing", site: "app!Parser::parse", for_site: null, warnings: [] })).sort((a, b) => a.path_ns - b.path_ns);
  },
  "explain": ({ from, to }) => [{
    format: 1, tool_version: "0.0.0", explanations: [{
      file: FILE, id: "made-up", sentence: `The test took ${(to - from) / MS} ms; 18 % of it were not its own.`, no_account: null,
      account: { level: "full", process: "FileWriter", thread: "main", window_from_ns: from, window_ns: to - from, shares: [{ state: "run", disturbance: null, path_ns: Math.floor((to - from) * 0.6) }, { state: null, disturbance: "antivirus", path_ns: (to - from) - Math.floor((to - from) * 0.6) }], rows: 2, largest: [] },
      findings: [{ rule: "antivirus", sentence: `A scanner took 40 % ${HOSTILE[0]}`, command: "tracesift dump path made-up.sift", time_ns: 1, on_path: true, from_ns: from + Math.floor((to - from) * 0.2), to_ns: from + Math.floor((to - from) * 0.4), longest: [{ from_ns: from + Math.floor((to - from) * 0.25), to_ns: from + Math.floor((to - from) * 0.3) }], figures: [] }, { rule: "lost-events", sentence: "The recorder lost 2 events", command: "tracesift dump stats made-up.sift", time_ns: null, on_path: false, from_ns: null, to_ns: null, longest: [], figures: [] }], not_looked_at: [{ rule: "dns-time-outs", why: "no events of DNS" }], warnings: [],
    }],
  }],
};

/**
 * A wait for another thread is what that thread did meanwhile, one link deep.
 * @param {{ from: number, to: number, isIn: Asked["isIn"], anchor: string | undefined }} asked
 */
function pathSegments({ from, to, isIn, anchor }) {
  const thread = threads.find((one) => (anchor === undefined || String(one.tid) === anchor) && isIn(/** @type {{ name: string, pid: number }} */ (processes[one.process])));
  if (!thread) return [];
  /** @type {Record<string, unknown>[]} */
  const rows = [];
  const put = (/** @type {typeof thread} */ of, /** @type {number} */ start, /** @type {number} */ end, /** @type {string} */ state, /** @type {number} */ depth) => {
    if (end > start) rows.push({ ...common, window: 1, window_from_ns: from, window_ns: to - from, from_ns: start, to_ns: end, path_ns: end - start, state, process: processes[of.process]?.name, pid: of.pid, process_key: of.process, tid: of.tid, thread_name: of.name, thread_key: of.index, ended_by: state === "wait" ? "disk 0 read" : null, wait_method: null, had_cpu: state === "ready" ? "idle" : null, tag: null, disturbance: null, for_tag: null, for_site: depth > 0 ? "app!Lock::acquire" : null, depth, chain: [], warnings: [] });
  };
  for (const one of within(thread, from, to)) {
    const [a, b] = [Math.max(from, one.start), Math.min(to, one.end)];
    const waker = one.state === "wait" && one.waker !== null ? threads[one.waker] : null;
    if (!waker) put(thread, a, b, one.state === "open" ? "unknown" : one.state, 0);
    else {
      let at = a;
      for (const meanwhile of within(waker, a, b)) {
        const [c, d] = [Math.max(at, meanwhile.start), Math.min(b, meanwhile.end)];
        put(waker, at, c, "unknown", 1);
        put(waker, c, d, meanwhile.state === "open" ? "unknown" : meanwhile.state, 1);
        at = Math.max(at, d);
      }
      put(waker, at, b, "unknown", 1);
    }
  }
  return rows;
}

/**
 * @param {Asked} asked
 * @param {"method" | "tag"} what
 */
function methods({ from, to, isIn, options }, what) {
  const match = matcher((what === "method" ? options["--methods"] : options["--stacktags"]) ?? "*");
  const most = Number(options["--top-methods"] ?? 1e9);
  return processes.filter(isIn).flatMap((process) => {
    /** @type {Map<string, { cpu: number, own: number, wait: number, method: string, module: string | null }>} */
    const rows = new Map();
    const add = (/** @type {number} */ stack, /** @type {number} */ cpu, /** @type {number} */ wait) => {
      const keys = what === "tag" ? [{ method: code.tags[stack] ?? "Other", module: null }] : [...new Set(code.stacks[stack] ?? [])].map((frame) => ({ method: code.names[frame] ?? "", module: code.modules[frame] ?? "" }));
      keys.forEach(({ method, module }, i) => {
        const row = rows.get(`${module}!${method}`) ?? { cpu: 0, own: 0, wait: 0, method, module };
        row.cpu += cpu;
        row.wait += wait;
        if (i === 0) row.own += cpu;
        rows.set(`${module}!${method}`, row);
      });
    };
    for (const thread of threads.filter((one) => one.process === process.index)) {
      samples(thread, from, to, (_, stack) => add(stack, MS, 0));
      for (const one of within(thread, from, to)) if (one.state === "wait") add(one.stack, 0, Math.max(0, Math.min(to, one.end) - Math.max(from, one.start)));
    }
    return [...rows.values()].filter((row) => row.cpu + row.wait > 0 && match(row.method, `${row.module}!${row.method}`)).sort((a, b) => a.cpu - b.cpu || (a.method < b.method ? -1 : 1)).slice(-most).map((row) => ({
      ...common, process: process.name, pid: process.pid, cpu_ns: row.cpu, exclusive_cpu_ns: row.own, samples: row.cpu / MS, wait_ns: row.wait, ready_ns: 0, module: row.module, method: what === "method" ? row.method : null, stack_tag: what === "tag" ? row.method : null, warnings: [],
    }));
  });
}

/** @param {Asked} asked */
export function weights({ from, to, isIn, isThread, options }) {
  const measure = options["--measure"] ?? "cpu";
  /** @type {Map<number, Map<number, number>>} */
  const out = new Map();
  for (const process of processes.filter(isIn)) {
    /** @type {Map<number, number>} */
    const own = new Map();
    for (const thread of threads.filter((one) => one.process === process.index && isThread(one))) {
      if (measure === "cpu") samples(thread, from, to, (_, stack) => own.set(stack, (own.get(stack) ?? 0) + MS));
      else for (const one of within(thread, from, to)) {
        const part = Math.min(to, one.end) - Math.max(from, one.start);
        if (one.state === measure && part > 0 && one.stack >= 0) own.set(one.stack, (own.get(one.stack) ?? 0) + part);
      }
    }
    if (own.size > 0) out.set(process.index, own);
  }
  return out;
}

/**
 * @param {Asked} asked
 * @returns {Record<string, unknown>[]}
 */
function stacks(asked) {
  const callers = asked.options["--callers"] === "yes";
  const root = asked.options["--root"] ? matcher(asked.options["--root"]) : null;
  const keep = matcher(asked.options["--methods"] ?? "*");
  const rows = /** @type {Record<string, unknown>[]} */ ([]);
  const order = [...weights(asked)].map(([process, own]) => ({ process, own, sum: [...own.values()].reduce((a, b) => a + b, 0) })).sort((a, b) => a.sum - b.sum).slice(-5);
  for (const { process: index, own, sum } of order) {
    const process = processes[index];
    /** @typedef {{ frame: number, total: number, self: number, count: number, below: Map<number, Node> }} Node */
    /** @type {Node} */
    const top = { frame: -1, total: 0, self: 0, count: 0, below: new Map() };
    for (const [stack, weight] of own) {
      const leafFirst = code.stacks[stack] ?? [];
      const name = (/** @type {number} */ frame) => [code.names[frame] ?? "", `${code.modules[frame]}!${code.names[frame]}`];
      if (!leafFirst.some((frame) => keep(...name(frame)))) continue;
      let path = callers ? leafFirst : [...leafFirst].reverse();
      if (root) {
        const at = path.findIndex((frame) => root(...name(frame)));
        if (at < 0) continue;
        path = path.slice(at);
      }
      let node = top;
      for (const frame of path) {
        const below = node.below.get(frame) ?? { frame, total: 0, self: 0, count: 0, below: new Map() };
        node.below.set(frame, below);
        below.total += weight;
        below.count += Math.max(1, Math.round(weight / MS));
        node = below;
      }
      node.self += weight;
    }
    const walk = (/** @type {Node} */ node, /** @type {number | null} */ parent, /** @type {number} */ depth) => {
      for (const below of [...node.below.values()].sort((a, b) => b.total - a.total)) {
        const row = rows.length;
        rows.push({ ...common, process: process?.name, pid: process?.pid, tid: null, thread_name: null, row, parent, depth, measure: "CPU", total_ns: below.total, self_ns: below.self, share: (below.total / sum) * 100, count: below.count, kind: "method", more: null, module: code.modules[below.frame], method: code.names[below.frame], warnings: [] });
        walk(below, row, depth + 1);
      }
    };
    walk(top, null, 0);
  }
  return rows;
}

export { CPUS, FILE };
