// A made-up recording whose truth is known: each CPU runs its threads one after the other, so that every span follows from a seed.

export const S = 1_000_000_000;
export const MS = 1_000_000;
export const CPUS = 8;
export const LENGTH = 60 * S;

/** Names that try to be markup, to turn text around, or to be endless. */
export const HOSTILE = ["<img src=x onerror=alert(1)>", "evil\u202egpj.exe\u0007", `long-${"x".repeat(65_536)}`];

/** @param {number} seed */
function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

const KINDS = [
  { name: "browser.exe", threads: 6, burst: 4, pause: 12, command: "browser.exe --profile work" },
  { name: "FileWriter.exe", threads: 5, burst: 9, pause: 5, command: "FileWriter.exe --mode parallel --threads 4" },
  { name: "MsMpEng.exe", threads: 4, burst: 7, pause: 20, command: "MsMpEng.exe" },
  { name: "sqlservr.exe", threads: 6, burst: 3, pause: 30, command: "sqlservr.exe -sINSTANCE" },
  { name: "System", threads: 5, burst: 1.5, pause: 25, command: "" },
  { name: "explorer.exe", threads: 4, burst: 2, pause: 90, command: "C:\\Windows\\explorer.exe" },
  { name: "svchost.exe", threads: 4, burst: 1, pause: 60, command: "svchost.exe -k netsvcs" },
  { name: "python", threads: 2, burst: 20, pause: 40, command: "python train.py --epochs 3" },
  { name: "idle-service", threads: 3, burst: 0, pause: 0, command: "idle-service" },
  ...HOSTILE.map((name) => ({ name, threads: 1, burst: 2, pause: 400, command: name })),
];

const CODE = [
  ["kernel", ["KiSwapThread", "KeWaitForSingleObject", "NtWaitForSingleObject", "KiSystemCall"]],
  ["ntfs.sys", ["NtfsCommonWrite", "NtfsCommonCreate", "NtfsCheckpoint"]],
  ["app", ["main", "Worker::run", "Parser::parse", "Cache::lookup", "Lock::acquire", "Encoder::encode", "Tree::insert<int, std::less<int>>"]],
  ["ucrt", ["memcpy", "malloc", "free"]],
];

/** @returns {{ names: string[], modules: string[], stacks: number[][], tags: string[] }} stacks leaf first */
function makeStacks() {
  const names = CODE.flatMap(([, list]) => /** @type {string[]} */ (list));
  const modules = CODE.flatMap(([module, list]) => /** @type {string[]} */ (list).map(() => /** @type {string} */ (module)));
  const at = (/** @type {string} */ name) => names.indexOf(name);
  const tree = "Tree::insert<int, std::less<int>>";
  const stacks = [
    ["Parser::parse", "Worker::run", "main"], ["Cache::lookup", "Parser::parse", "Worker::run", "main"], ["memcpy", "Encoder::encode", "Worker::run", "main"],
    ["Encoder::encode", "Worker::run", "main"], ["malloc", tree, "Cache::lookup", "Parser::parse", "Worker::run", "main"], [tree, "Cache::lookup", "Parser::parse", "Worker::run", "main"],
    ["free", "Parser::parse", "Worker::run", "main"], ["NtfsCommonWrite", "KiSystemCall", "Encoder::encode", "Worker::run", "main"],
    ["KiSwapThread", "KeWaitForSingleObject", "NtWaitForSingleObject", "Lock::acquire", "Cache::lookup", "Worker::run", "main"],
    ["KiSwapThread", "NtfsCommonWrite", "KiSystemCall", "Encoder::encode", "Worker::run", "main"],
    ["KiSwapThread", "KeWaitForSingleObject", "NtWaitForSingleObject", "Worker::run", "main"],
  ].map((list) => list.map(at));
  const tags = ["Parsing", "Cache", "Encoding", "Encoding", "Memory\\Heap", "Cache\\Tree", "Memory\\Heap", "File system\\NTFS", "Waits\\Lock", "File system\\NTFS", "Waits\\Idle worker"];
  return { names, modules, stacks, tags };
}

/**
 * @typedef {{ start: number, end: number, state: string, cpu: number | null, reason: string | null, waker: number | null, device: string | null, stack: number }} Span
 * @typedef {{ index: number, process: number, pid: number, tid: number, name: string, cpu: number, spans: Span[] }} Thread
 */

export function makeRecording(seed = 7) {
  const next = random(seed);
  const code = makeStacks();
  const processes = KINDS.map((kind, index) => ({ index, pid: 400 + index * 128 + 4, ...kind }));
  /** @type {Thread[]} */
  const threads = [];
  for (const process of processes) {
    for (let i = 0; i < process.threads; i += 1) {
      threads.push({ index: threads.length, process: process.index, pid: process.pid, tid: process.pid + 4 + i * 4, name: i === 0 ? "main" : `worker-${i - 1}`, cpu: threads.length % CPUS, spans: [] });
    }
  }
  const blip = threads.find((thread) => processes[thread.process]?.burst === 0);
  for (let cpu = 0; cpu < CPUS; cpu += 1) simulate(cpu, threads.filter((thread) => thread.cpu === cpu), processes, next, threads.length);
  if (blip) blip.spans = [span(0, 31 * S, "wait", null, 10), span(31 * S, 31 * S + 50_000, "run", blip.cpu, 0), span(31 * S + 50_000, LENGTH, "wait", null, 10)];
  for (const thread of threads) {
    if (thread.spans.length === 0) thread.spans = [span(0, LENGTH, "wait", null, 10)];
  }
  // A broken chain of switches: the time is unknown.
  const broken = threads.find((thread) => processes[thread.process]?.name === "explorer.exe");
  if (broken) {
    const [from, to] = [20 * S, 26 * S];
    broken.spans = [...broken.spans.filter((one) => one.end <= from), span(broken.spans.filter((one) => one.end <= from).at(-1)?.end ?? 0, broken.spans.find((one) => one.start >= to)?.start ?? to, "unknown", null, -1), ...broken.spans.filter((one) => one.start >= to)];
  }
  return { processes, threads, code, disk: makeDisk(threads, next), events: makeEvents(threads, next), marks: [{ ns: 5 * S, name: "Begin writes" }, { ns: 42 * S, name: "End writes" }, { ns: 50 * S, name: HOSTILE[0] ?? "" }] };
}

/**
 * @param {number} start
 * @param {number} end
 * @param {string} state
 * @param {number | null} cpu
 * @param {number} stack
 * @returns {Span}
 */
function span(start, end, state, cpu, stack) {
  return { start, end, state, cpu, reason: state === "wait" ? "WrQueue" : null, waker: null, device: null, stack };
}

/**
 * @param {number} cpu
 * @param {Thread[]} threads
 * @param {{ burst: number, pause: number, name: string }[]} processes
 * @param {() => number} next
 * @param {number} all
 */
function simulate(cpu, threads, processes, next, all) {
  const live = threads.filter((thread) => (processes[thread.process]?.burst ?? 0) > 0).map((thread) => ({ thread, kind: processes[thread.process], wake: Math.floor(next() * 200) * MS, since: 0 }));
  let now = 0;
  let before = -1;
  while (now < LENGTH && live.length > 0) {
    live.sort((a, b) => a.wake - b.wake || a.thread.index - b.thread.index);
    const one = live[0];
    if (!one || one.wake >= LENGTH) break;
    const start = Math.max(now, one.wake);
    if (start >= LENGTH) break;
    const busy = start > 12 * S && start < 34 * S ? 1.6 : 1;
    const length = Math.max(20_000, Math.floor((one.kind?.burst ?? 1) * 3 * busy * MS * (0.2 + 1.6 * next() ** 2)));
    const end = Math.min(LENGTH, start + length);
    const { spans } = one.thread;
    if (one.wake > one.since) {
      const stack = 8 + Math.floor(next() * 3);
      const device = stack === 9 ? "disk" : null;
      spans.push({ start: one.since, end: one.wake, state: spans.length === 0 ? "open" : "wait", cpu: null, reason: stack === 8 ? "UserRequest" : stack === 9 ? "Executive" : "WrQueue", device, waker: device ? null : before >= 0 && before !== one.thread.index ? before : (one.thread.index + 1) % all, stack });
    }
    if (start > one.wake) spans.push({ start: one.wake, end: start, state: "ready", cpu, reason: null, waker: null, device: null, stack: -1 });
    spans.push({ start, end, state: "run", cpu, reason: null, waker: null, device: null, stack: Math.floor(next() * 8) });
    before = one.thread.index;
    now = end;
    one.since = end;
    one.wake = end + Math.floor((one.kind?.pause ?? 10) * 3 * MS * (0.1 + 2.2 * next() ** 2));
  }
  for (const { thread, since, wake } of live) {
    if (wake < LENGTH && since < LENGTH && wake > since) {
      thread.spans.push(span(since, wake, "wait", null, 10), { start: wake, end: LENGTH, state: "ready", cpu, reason: null, waker: null, device: null, stack: -1 });
    } else if (since < LENGTH) thread.spans.push(span(since, LENGTH, "wait", null, 10));
  }
}

/**
 * @param {Thread[]} threads
 * @param {() => number} next
 */
function makeDisk(threads, next) {
  const files = ["C:\\data\\out-1.bin", "C:\\data\\out-2.bin", "C:\\pagefile.sys", "D:\\db\\main.mdf", HOSTILE[1] ?? ""];
  const out = [];
  for (let at = 2 * S; at < 58 * S; at += Math.floor((1 + 30 * next() ** 3) * MS)) {
    const service = Math.floor((0.1 + 6 * next() ** 4) * MS);
    out.push({ start: at, end: at + service, disk: next() < 0.7 ? 0 : 1, operation: next() < 0.6 ? "write" : "read", bytes: 4096 * (1 + Math.floor(next() * 64)), file: files[Math.floor(next() * files.length)] ?? "", thread: threads[Math.floor(next() * 20)]?.index ?? 0 });
    at = Math.max(at, at + service - 1);
  }
  return out;
}

/**
 * @param {Thread[]} threads
 * @param {() => number} next
 */
function makeEvents(threads, next) {
  const kinds = [["Microsoft-Windows-Kernel-File", "Create", 12], ["Microsoft-Windows-DotNETRuntime", "GC/Start", 1], [HOSTILE[0] ?? "", "Tick", 7]];
  const out = [];
  for (let at = S; at < 59 * S; at += Math.floor((2 + 120 * next() ** 2) * MS)) out.push({ time: at, kind: next() < 0.8 ? 0 : next() < 0.6 ? 1 : 2, thread: threads[Math.floor(next() * threads.length)]?.index ?? 0 });
  return { kinds, rows: out };
}

/**
 * @param {Thread} thread
 * @param {number} from
 * @param {number} to
 * @returns {Span[]} those that touch the range; spans of a thread follow each other
 */
export function within(thread, from, to) {
  const { spans } = thread;
  const first = (/** @type {(span: Span) => boolean} */ is) => {
    let [low, high] = [0, spans.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (is(/** @type {Span} */ (spans[middle]))) high = middle;
      else low = middle + 1;
    }
    return low;
  };
  return spans.slice(first((one) => one.end > from), first((one) => one.start >= to));
}

/**
 * Sums of a thread's states in a range, by the plainest code.
 * @param {Thread} thread
 * @param {number} from
 * @param {number} to
 */
export function sums(thread, from, to) {
  /** @type {Record<string, number>} */
  const out = { run: 0, ready: 0, wait: 0, open: 0, unknown: 0 };
  for (const one of within(thread, from, to)) {
    const part = Math.min(to, one.end) - Math.max(from, one.start);
    if (part > 0) out[one.state] = (out[one.state] ?? 0) + part;
  }
  return out;
}
