// Figures as text, and random numbers that are the same ones every time.

/** @param {number[]} values */
export function quantile(values, part) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN;
}

const text = (value, digits) => (Number.isFinite(value) ? value.toFixed(digits) : "–");

/** Median, smallest and largest. */
export function spread(values, digits = 0) {
  return `${text(quantile(values, 0.5), digits)} (${text(Math.min(...values), digits)}..${text(Math.max(...values), digits)})`;
}

/** Quantiles of many. */
export function tail(values, digits = 0, parts = [0.5, 0.95, 0.99]) {
  return `${parts.map((part) => `p${part * 100} ${text(quantile(values, part), digits)}`).join(", ")}, most ${text(Math.max(...values), digits)} (${values.length})`;
}

/** @param {number} seed */
export function dice(seed) {
  let state = seed;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

export function say(name, value) {
  console.log(`  ${name}: ${value}`);
}
