// Instants and lengths of time as text. Numbers never follow the locale.

const S = 1_000_000_000;

/** @param {number} ns @returns {string} exact, as `--time` takes it: `1.5s` */
export function wordOf(ns) {
  const sign = ns < 0 ? "-" : "";
  const all = Math.abs(ns);
  const part = String(all % S).padStart(9, "0").replace(/0+$/, "");
  return `${sign}${Math.floor(all / S)}${part ? `.${part}` : ""}s`;
}

/** @param {string} word as {@link wordOf} writes it, with or without its unit */
export function readWord(word) {
  const match = /^(-?)(\d{1,16})(?:\.(\d{1,9}))?(s|ms|us|µs|ns)?$/.exec(word.trim());
  if (!match) return null;
  const unit = { s: 9, ms: 6, us: 3, "µs": 3, ns: 0 }[match[4] ?? "s"] ?? 9;
  const part = (match[3] ?? "").padEnd(unit, "0").slice(0, unit);
  const ns = Number(match[2]) * 10 ** unit + Number(part || 0);
  if (!Number.isSafeInteger(ns)) return null;
  return match[1] ? -ns : ns;
}

/** @param {[number, number]} range */
export function rangeWord([from, to]) {
  return `${wordOf(from)}..${wordOf(to)}`;
}

/** @param {string} text `a..b` @returns {[number, number] | null} */
export function readRange(text) {
  const [a, b, rest] = text.split("..");
  const from = a === undefined ? null : readWord(a);
  const to = b === undefined ? null : readWord(b);
  return from === null || to === null || rest !== undefined || to <= from ? null : [from, to];
}

/** @param {number} ns @returns {string} a length with the unit that suits it: `1.234 s`, `12.30 ms` */
export function length(ns) {
  const size = Math.abs(ns);
  if (size < 1_000) return `${Math.round(ns)} ns`;
  if (size < 1_000_000) return `${fixed(ns / 1_000, size < 100_000 ? 2 : 1)} µs`;
  if (size < S) return `${fixed(ns / 1_000_000, size < 100_000_000 ? 2 : 1)} ms`;
  if (size < 600 * S) return `${fixed(ns / S, size < 10 * S ? 3 : 2)} s`;
  return `${group(Math.floor(ns / (60 * S)))} min ${Math.round((size % (60 * S)) / S)} s`;
}

/** @param {number} value @param {number} digits @returns {string} with `,` between thousands */
export function fixed(value, digits) {
  const [whole = "0", part] = Math.abs(value).toFixed(digits).split(".");
  const text = whole.replace(/\B(?=(\d{3})+$)/g, ",") + (part ? `.${part}` : "");
  return value < 0 && Number(value.toFixed(digits)) !== 0 ? `−${text}` : text;
}

/** @param {number} value */
export function group(value) {
  return fixed(value, 0);
}

/** Clocks of the axis, in the order in which `T` goes through them. */
export const CLOCKS = /** @type {const} */ (["s", "local", "utc", "here"]);

/** @type {Record<string, string>} */
export const CLOCK_NAMES = {
  s: "Seconds since start",
  local: "Recorder’s local time",
  utc: "UTC",
  here: "Your local time",
};

/** Text of instants by one clock. @type {ClockOf} */
export function clockOf(recording, clock, zero) {
  const wall = recording?.wall_start ?? null;
  const base = wall === null ? null : wallNs(wall);
  const offset = recording?.offset_minutes ?? null;
  const usable = base !== null && (clock === "utc" || clock === "here" || (clock === "local" && offset !== null));
  if (!usable || base === null) {
    return { name: clock === "s" ? "s" : "s (no clock)", text: (/** @type {number} */ ns, /** @type {number} */ step) => seconds(ns - zero, step) };
  }
  const minutes = (/** @type {bigint} */ at) => {
    if (clock === "utc") return 0;
    if (clock === "local") return offset ?? 0;
    return -new Date(Number(at / 1_000_000n)).getTimezoneOffset();
  };
  const text = (/** @type {number} */ ns, /** @type {number} */ step) => {
    const at = base + BigInt(Math.round(ns));
    const shown = at + BigInt(minutes(at)) * 60_000_000_000n;
    const day = ((shown % 86_400_000_000_000n) + 86_400_000_000_000n) % 86_400_000_000_000n;
    const whole = Number(day / 1_000_000_000n);
    const pad = (/** @type {number} */ n) => String(n).padStart(2, "0");
    const digits = digitsOf(step);
    const part = digits === 0 ? "" : `.${String(day % 1_000_000_000n).padStart(9, "0").slice(0, digits)}`;
    return `${pad(Math.floor(whole / 3600))}:${pad(Math.floor(whole / 60) % 60)}:${pad(whole % 60)}${part}${clock === "utc" ? "Z" : ""}`;
  };
  return { name: clock, text };
}

/** @param {number} ns @param {number} step the smallest length that two texts must tell apart */
function seconds(ns, step) {
  return `${fixed(ns / S, digitsOf(step))} s`;
}

/** @param {number} step */
function digitsOf(step) {
  if (step >= S) return 0;
  return Math.min(9, Math.max(0, Math.ceil(9 - Math.log10(Math.max(1, step)) - 1e-9)));
}

/** @param {string} text `2020-01-02T03:04:05.123456789Z` @returns {bigint | null} ns since 1970 */
export function wallNs(text) {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z$/.exec(text);
  if (!match) return null;
  const ms = Date.parse(`${match[1]}Z`);
  return Number.isNaN(ms) ? null : BigInt(ms) * 1_000_000n + BigInt((match[2] ?? "").padEnd(9, "0"));
}

/** @type {Ticks} */
export function ticks([from, to], most) {
  const least = Math.max(1, (to - from) / Math.max(1, most));
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= least * 0.999999) ?? power * 10;
  return { step, first: Math.ceil(from / step) * step };
}
