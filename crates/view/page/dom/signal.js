// Values that tell who read them when they change. An effect runs again when a value that it read changes.

/** @type {Set<() => void>} */
const waiting = new Set();
let depth = 0;
/** @type {{ run: () => void, sources: Set<Set<() => void>> } | null} */
let current = null;

/** @param {() => void} work Changes inside of it tell their readers once, at the end. */
export function batch(work) {
  depth += 1;
  try {
    work();
  } finally {
    depth -= 1;
    if (depth === 0) flush();
  }
}

function flush() {
  let rounds = 0;
  while (waiting.size > 0 && rounds < 100) {
    const now = [...waiting];
    waiting.clear();
    depth += 1;
    for (const run of now) run();
    depth -= 1;
    rounds += 1;
  }
}

/** @template T @param {T} start @returns {Signal<T>} */
export function signal(start) {
  let value = start;
  /** @type {Set<() => void>} */
  const readers = new Set();
  return {
    get value() {
      if (current) {
        readers.add(current.run);
        current.sources.add(readers);
      }
      return value;
    },
    set value(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const run of readers) waiting.add(run);
      if (depth === 0) flush();
    },
    peek: () => value,
  };
}

/**
 * @param {() => void | (() => void)} work Runs now and after each change of what it read; what it returns runs before the next time.
 * @returns {() => void} stops it
 */
export function effect(work) {
  /** @type {void | (() => void)} */
  let clean;
  let stopped = false;
  const self = { run, sources: /** @type {Set<Set<() => void>>} */ (new Set()) };
  function run() {
    if (stopped) return;
    if (clean) clean();
    clean = undefined;
    for (const source of self.sources) source.delete(run);
    self.sources.clear();
    const before = current;
    current = self;
    try {
      clean = work();
    } finally {
      current = before;
    }
  }
  function stop() {
    stopped = true;
    if (clean) clean();
    for (const source of self.sources) source.delete(run);
    waiting.delete(run);
  }
  run();
  return stop;
}

/** @template T @param {() => T} make @returns {{ readonly value: T, peek: () => T }} */
export function computed(make) {
  const held = signal(/** @type {T} */ (/** @type {unknown} */ (undefined)));
  effect(() => {
    held.value = make();
  });
  return held;
}

/** @template T @param {() => T} work Reads inside of it make no reader of the effect around it. @returns {T} */
export function untracked(work) {
  const before = current;
  current = null;
  try {
    return work();
  } finally {
    current = before;
  }
}

/**
 * Does the work now and after each change of the signals. What else it reads does not matter.
 * @param {{ readonly value: unknown }[]} signals
 * @param {() => void | (() => void)} work
 */
export function watch(signals, work) {
  return effect(() => {
    for (const one of signals) void one.value;
    return untracked(work);
  });
}

/** An effect that reads at once, and writes when changes have paused. @param {() => () => void} read */
export function calm(read) {
  let first = true;
  let write = () => {};
  const written = paused(90, () => write());
  return effect(() => {
    write = read();
    if (first) write();
    else written();
    first = false;
  });
}

/** @param {number} ms @param {() => void} work @returns {() => void} does the work when its calls have paused */
export function paused(ms, work) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = window.setTimeout(work, ms);
  };
}
