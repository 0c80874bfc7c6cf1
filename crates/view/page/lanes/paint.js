// Pixels of lanes: functions of numbers that a test can hold against a recording whose truth is known.
//
// A column of a lane with states has, from its foot: a line of a wait (STRIP of the height), run as high as its share, ready two thirds
// as high, hatched, and unknown half as high, dotted. What occurs has at least one pixel.

/** Part of a lane's height that the line of waits takes. */
export const STRIP = 0.09;
const READY = 2 / 3;
const UNKNOWN = 1 / 2;

/** Values of the columns that were asked for, from buckets that may lie otherwise. @type {OnColumns} */
export function onColumns({ frame, from, to, columns }, values, how) {
  const first = frame.head.first_ns ?? from;
  const per = (to - from) / columns;
  const bucket = frame.head.bucket_ns ?? per;
  if (first === from && bucket === per && values.length === columns) return values;
  const out = new Float64Array(columns).fill(NaN);
  for (let i = 0; i < columns; i += 1) {
    const start = from + i * per;
    const j0 = Math.max(0, Math.floor((start - first) / bucket));
    const j1 = Math.min(values.length, Math.ceil((start + per - first) / bucket));
    let sum = NaN;
    let weight = 0;
    for (let j = j0; j < j1; j += 1) {
      const value = values[j] ?? NaN;
      if (Number.isNaN(value)) continue;
      const begin = first + j * bucket;
      const overlap = Math.min(begin + bucket, start + per) - Math.max(begin, start);
      if (overlap <= 0) continue;
      if (how === "first") sum = Number.isNaN(sum) ? value : sum;
      else if (how === "peak") sum = Math.max(Number.isNaN(sum) ? 0 : sum, (value * per) / bucket);
      else sum = (Number.isNaN(sum) ? 0 : sum) + (how === "mean" ? value * overlap : (value * overlap) / bucket);
      weight += overlap;
    }
    out[i] = how === "mean" && weight > 0 ? sum / weight : sum;
  }
  return out;
}

/** Peaks: what a column would have if all of it was like its largest base bucket. @type {PeaksOn} */
export function peaksOn(data, name) {
  const values = data.frame.peaks[name];
  const { bucket_ns: bucket, peak_ns: base } = data.frame.head;
  if (!values || !bucket || !base) return null;
  return onColumns(data, Float64Array.from(values, (value) => (value * bucket) / base), "peak");
}

/** @type {PixelsOf} */
export function pixels(value, full, room) {
  if (!(value > 0) || room <= 0) return 0;
  return Math.max(1, Math.min(room, Math.round((value / full) * room)));
}

/** @param {FrameHead} head @param {string} [kind] of the lane: memory is a level, not a rate */
export function formOf(head, kind = "") {
  const series = head.series ?? [];
  if (series.includes("wait") || series.includes("ready")) return "states";
  if (head.unit === "khz" || head.unit === "value" || kind === "memory") return "line";
  return "load";
}

/** @type {PaintLane} */
export function paintLane(paint, palette) {
  const { data, height } = paint;
  const out = new Uint32Array(data.columns * height);
  const form = formOf(data.frame.head, paint.kind);
  if (form === "states") return { pixels: out, max: paintStates(out, paint, palette) };
  if (form === "line") return { pixels: out, max: paintLine(out, paint, palette) };
  return { pixels: out, max: paintLoad(out, paint, palette) };
}

/**
 * Fills a part of a column, upwards.
 * @param {Uint32Array} out
 * @param {number} at place of its lowest pixel
 * @param {number} count pixels
 * @param {number} width of the picture
 * @param {number} colour
 */
function bar(out, at, count, width, colour) {
  for (let n = 0; n < count; n += 1) out[at - n * width] = colour;
}

/** @type {Painting} */
function paintStates(out, { data, height, scale, hue, kind }, palette) {
  const width = data.columns;
  const per = (data.to - data.from) / width;
  const series = (/** @type {string} */ name) => {
    const values = data.frame.series[name];
    return values ? onColumns(data, values, "sum") : null;
  };
  const [run, ready, wait, open, unknown] = ["run", "ready", "wait", "open", "unknown"].map(series);
  const peak = peaksOn(data, "run");
  const full = per * top(data.frame.head.at_once ?? 1, per, run, ready, peak);
  const strip = Math.max(1, Math.round(height * STRIP));
  const room = height - strip;
  const period = Math.max(3, Math.round(3 * scale));
  const own = kind === "process" ? (palette.hues[hue] ?? palette.run) : palette.run;
  const ownPeak = kind === "process" ? (palette.peaks[hue] ?? palette.runPeak) : palette.runPeak;
  for (let x = 0; x < width; x += 1) {
    const r = run?.[x] ?? 0;
    const w = wait?.[x] ?? 0;
    if (Number.isNaN(r) || Number.isNaN(w)) {
      unread(out, x, width, height, scale, palette.unread);
      continue;
    }
    const y = ready?.[x] || 0;
    const u = unknown?.[x] || 0;
    const least = (y > 0 ? 1 : 0) + (u > 0 ? 1 : 0);
    const hRun = Math.min(pixels(r, full, room), room - least);
    const hReady = Math.min(pixels(y, full / READY, room), room - hRun - (u > 0 ? 1 : 0));
    const hUnknown = Math.min(pixels(u, full / UNKNOWN, room), room - hRun - hReady);
    let at = room - 1;
    if (peak) bar(out, at * width + x, pixels(peak[x] ?? 0, full, room), width, ownPeak);
    bar(out, at * width + x, hRun, width, own);
    at -= hRun;
    for (let n = 0; n < hReady; n += 1, at -= 1) {
      const gap = hReady > 2 && (x + at) % (period + 1) >= period - 1;
      out[at * width + x] = gap ? 0 : palette.ready;
    }
    for (let n = 0; n < hUnknown; n += 1, at -= 1) {
      const dot = hUnknown < 3 || ((x >> 1) % 2 === 0 && (at >> 1) % 2 === 0);
      out[at * width + x] = dot ? palette.unknown : 0;
    }
    const foot = (height - 1) * width + x;
    if (w > 0) bar(out, foot, strip, width, palette.wait);
    else if ((open?.[x] ?? 0) > 0 && (x >> 1) % 2 === 0) bar(out, foot, strip, width, palette.open);
  }
  return full;
}

/**
 * How many at a time the full height of a lane means: the least power of two. On a scale of 64 CPUs, one would be a pixel.
 * @param {number} atOnce
 * @param {number} per ns of a column
 * @param {...(Numbers | null | undefined)} series
 */
function top(atOnce, per, ...series) {
  let most = 0;
  for (const values of series) if (values) most = Math.max(most, largest(values));
  let enough = 1;
  while (enough < atOnce && enough * per < most) enough *= 2;
  return Math.min(atOnce, enough);
}

/** @type {Painting} */
function paintLoad(out, { data, height, scale, hue, kind }, palette) {
  const width = data.columns;
  const names = (data.frame.head.series ?? []).filter((name) => name !== "top" && data.frame.series[name]);
  const [first] = names;
  if (first === undefined) return 0;
  const parts = names.map((name) => onColumns(data, data.frame.series[name] ?? new Float64Array(), "sum"));
  const all = parts.length === 1 ? parts[0] ?? new Float64Array(width) : Float64Array.from({ length: width }, (_, x) => parts.reduce((sum, part) => sum + (part[x] ?? 0), 0));
  const per = (data.to - data.from) / width;
  const atOnce = data.frame.head.at_once ?? null;
  const topValues = data.frame.series.top;
  const peak = peaksOn(data, data.frame.head.peaks?.[0] ?? "");
  const full = atOnce === null ? Math.max(largest(all), peak ? largest(peak) : 0) : per * (kind === "group" ? atOnce : top(atOnce, per, all, peak));
  const who = topValues ? onColumns(data, topValues, "first") : null;
  const named = kind === "process" || kind === "tag";
  const plain = named ? (palette.hues[hue] ?? palette.cpu) : first === "run" ? palette.run : palette.cpu;
  const light = named ? (palette.peaks[hue] ?? palette.cpuPeak) : first === "run" ? palette.runPeak : palette.cpuPeak;
  for (let x = 0; x < width; x += 1) {
    if (Number.isNaN(all[x] ?? NaN)) {
      unread(out, x, width, height, scale, palette.unread);
      continue;
    }
    if (peak) bar(out, (height - 1) * width + x, pixels(peak[x] ?? 0, full, height), width, light);
    const most = who?.[x] ?? -1;
    let foot = height - 1;
    parts.forEach((part, i) => {
      const own = OWN[names[i] ?? ""]?.(palette);
      const colour = most >= 0 ? (palette.hues[hueOfIndex(most, palette.order)] ?? plain) : own ?? (i === 0 ? plain : (SERIES[i % SERIES.length]?.(palette) ?? plain));
      const tall = Math.min(pixels(part[x] ?? 0, full, height), foot + 1);
      bar(out, foot * width + x, tall, width, colour);
      foot -= tall;
    });
  }
  return full;
}

/** Colours of the series of one lane, by their place. @type {((palette: Palette) => number)[]} */
const SERIES = [(palette) => palette.line, (palette) => palette.ready, (palette) => palette.run, (palette) => palette.wait, (palette) => palette.unknown];

/** Colours of what disks do, as single operations have them. @type {Record<string, (palette: Palette) => number>} */
const OWN = { "read-bytes": (palette) => palette.wait, reads: (palette) => palette.wait, "write-bytes": (palette) => palette.ready, writes: (palette) => palette.ready, busy: (palette) => palette.disk, queue: (palette) => palette.disk };

/** @type {Painting} */
function paintLine(out, { data, height, scale, kind, hue }, palette) {
  const width = data.columns;
  const names = data.frame.head.series ?? [];
  const parts = names.map((name) => onColumns(data, data.frame.series[name] ?? new Float64Array(), "mean"));
  const full = parts.reduce((most, part) => Math.max(most, largest(part)), 0);
  const thick = Math.max(1, Math.round(1.5 * scale));
  parts.forEach((values, i) => {
    const colour = kind === "counter" ? (palette.hues[hue] ?? palette.line) : SERIES[i % SERIES.length]?.(palette) ?? palette.line;
    let before = -1;
    for (let x = 0; x < width; x += 1) {
      const value = values[x] ?? NaN;
      if (Number.isNaN(value)) {
        before = -1;
        if (i === 0) unread(out, x, width, height, scale, palette.unread);
        continue;
      }
      const y = Math.min(height - thick, Math.round((1 - (full > 0 ? value / full : 0)) * (height - thick)));
      if (parts.length === 1) bar(out, (height - 1) * width + x, height - y, width, palette.cpuPeak);
      const a = before < 0 ? y : Math.min(before, y);
      const b = before < 0 ? y : Math.max(before, y);
      for (let p = a; p < Math.min(height, b + thick); p += 1) out[p * width + x] = colour;
      before = y;
    }
  });
  return full;
}

/** @type {ImageOf} */
export const imageOf = (pixels, width, height) => new ImageData(new Uint8ClampedArray(/** @type {ArrayBuffer} */ (pixels.buffer)), width, height);

/** @param {Paint} paint @param {Palette} palette */
export async function bitmapOf(paint, palette) {
  const { pixels, max } = paintLane(paint, palette);
  return { lane: paint.lane, bitmap: await createImageBitmap(imageOf(pixels, paint.data.columns, paint.height)), max };
}

/** @param {Numbers} values */
export function largest(values) {
  let max = 0;
  for (const value of values) if (value > max) max = value;
  return max;
}

/** @type {Unread} */
function unread(out, x, width, height, scale, colour) {
  const period = Math.round(8 * scale);
  const thick = Math.max(1, Math.round(scale));
  for (let y = 0; y < height; y += 1) if ((((x - y) % period) + period) % period < thick) out[y * width + x] = colour;
}

/** @type {HueOfIndex} */
export function hueOfIndex(index, order = []) {
  return order[Math.round(index)] ?? Math.abs(Math.round(index) * 5) % 12;
}

/** @param {string} name @returns {number} 0…11 */
export function hueOfName(name) {
  let hash = 2166136261;
  for (let i = 0; i < name.length; i += 1) hash = Math.imul(hash ^ name.charCodeAt(i), 16777619);
  return (hash >>> 0) % 12;
}

/** @param {Lane} lane @param {number[]} [order] */
export function hueOfLane(lane, order = []) {
  const index = /^process:(\d+)$/.exec(lane.id);
  return index ? hueOfIndex(Number(index[1]), order) : hueOfName(lane.name);
}
