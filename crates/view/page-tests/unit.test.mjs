// Parts of the page that need no browser.
import assert from "node:assert/strict";
import test from "node:test";
import { readFrame, readFrames } from "../page/api/frames.js";
import { batch, computed, effect, signal } from "../page/dom/signal.js";
import { cellText, columnOf, copied } from "../page/format/table.js";
import { clean, exact, shellLine } from "../page/format/text.js";
import { clockOf, length, rangeWord, readRange, ticks, wordOf } from "../page/format/time.js";
import { onColumns, paintLane, peaksOn, pixels, STRIP } from "../page/lanes/paint.js";
import { carried, commandLine } from "../page/state/command.js";
import * as view from "../page/state/view.js";
import { askable, fitting, isByThread, QUESTIONS } from "../page/panels/questions.js";
import { frame } from "./mock/lanes.mjs";

test("instants are written and read to the nanosecond", () => {
  for (const ns of [0, 1, 999, 1_000_000_000, 1_234_567_891, -500_000_000, 86_400_000_000_001, 9_007_199_254_740_991]) {
    const range = readRange(rangeWord([ns, ns + 1]));
    if (ns < 9_007_199_254_740_991) assert.deepEqual(range, [ns, ns + 1], String(ns));
  }
  assert.equal(wordOf(1_500_000_000), "1.5s");
  assert.equal(readRange("2s..1s"), null);
  assert.equal(readRange("1s..x"), null);
});

test("a name becomes a pattern of this name alone", () => {
  for (const [name, pattern] of [["a.exe", "a.exe"], ["a;b*", "a?b?"], ["!a!b", "?a!b"], ["-bash", "?bash"], [" a ", "?a?"], ["\u001b[2J\u202ex\n", "?[2J?x?"], ["?", "?"], ["x".repeat(600), `${"x".repeat(500)}*`]]) assert.equal(exact(name ?? ""), pattern);
});

test("a filter fits names as the command line's patterns do", () => {
  const fits = (/** @type {string} */ text) => ["WdFilter.sys!MpPreCreate", "ntdll.dll!RtlpAllocate", "a+b(c)"].map(fitting(text));
  assert.deepEqual(fits("mppre"), [true, false, false]);
  assert.deepEqual(fits("*!Mp*"), [true, false, false]);
  assert.deepEqual(fits("Mp*"), [false, false, false]);
  assert.deepEqual(fits("*.sys!*;a+b(c)"), [true, false, true]);
  assert.deepEqual(fits("!*dll*"), [true, false, true]);
  assert.deepEqual(fits("*.*;!*Mp*"), [false, true, false]);
  assert.deepEqual(fits("a?b*"), [false, false, true]);
});

test("panels that cannot be about one thread are known", () => {
  const all = QUESTIONS.map(({ id }) => id).filter((id) => !isByThread(id));
  for (const id of ["methods", "tags", "processes", "disk", "explain"]) assert.ok(all.includes(id), id);
  for (const id of ["threads", "tree", "callers", "butterfly", "flame", "waits", "path"]) assert.ok(!all.includes(id), id);
});

test("neither cmd nor PowerShell obeys a word", () => {
  const word = (/** @type {string} */ text) => shellLine([text], "windows");
  for (const [text = "", expected] of [["a.sift", "a.sift"], ["a,b", '"a,b"'], ["a&b|c", '"a&b|c"'], ["C:\\a b\\", '"C:\\a b\\\\"'], ["C:/$x's", "'C:/$x''s'"], ["%PATH%", '"?PATH?"'], ['" & calc & "', '"? & calc & ?"'], ["$(calc) & x", '"?(calc) & x"'], ["a\u201d; calc\n", '"a?; calc?"']]) assert.equal(word(text), expected);
});

test("clocks of an axis", () => {
  const recording = /** @type {never} */ ({ wall_start: "2026-03-04T09:00:00.123456789Z", offset_minutes: 60 });
  assert.equal(clockOf(recording, "utc", 0).text(1_000_000_000, 1), "09:00:01.123456789Z");
  assert.equal(clockOf(recording, "local", 0).text(1_000_000_000, 1_000_000), "10:00:01.123");
  assert.equal(clockOf(recording, "s", 500_000_000).text(2_000_000_000, 100_000_000), "1.5 s");
  assert.equal(clockOf(null, "utc", 0).text(2_000_000_000, 1_000_000_000), "2 s");
});

test("lengths and ticks", () => {
  assert.equal(length(12_345), "12.35 µs");
  assert.equal(length(1_234_567_890), "1.235 s");
  assert.deepEqual(ticks([0, 10_000], 5), { step: 2_000, first: 0 });
  for (let size = 1_000; size < 1e15; size *= 7) assert.ok(size / ticks([0, size], 10).step <= 10.01);
});

test("cells are rounded half up, and never by the locale", () => {
  const how = { digits: 1, instant: (/** @type {number} */ ns) => wordOf(ns) };
  assert.equal(cellText(7_438_450_000, columnOf("cpu_ns", 1), how), "7,438.5");
  assert.equal(cellText(null, columnOf("cpu_ns", 1), how), "");
  assert.equal(cellText(4711, columnOf("pid", 1), how), "4711");
  assert.equal(cellText("a\u202eb\u0000", columnOf("process", ""), how), "a�b�");
});

test("copies guard formulas and quote", () => {
  assert.equal(copied(["a"], [["=1+2"], ['x"y,z'], ["-5"]], "csv"), "a\r\n'=1+2\r\n\"x\"\"y,z\"\r\n-5");
  assert.equal(copied(["a", "b"], [["x\ty", "|"]], "tsv"), "a\tb\nx y\t|");
  assert.equal(copied(["a"], [["|"]], "md"), "| a |\n|---|\n| \\| |");
});

test("commands carry the landmark, with times since it", () => {
  view.session.value = /** @type {never} */ ({ platform: "linux", recordings: [{ id: "r0", file: "a b.sift", start_ns: 0, end_ns: 10_000_000_000 }] });
  const zero = { name: "mark:x", ns: 1_500_000_000, landmark: { at: "mark:x", of: "App*" } };
  assert.deepEqual(carried(["dump", "waits", "--time", "1s..2s"], zero), ["dump", "waits", "--time", "-0.5s..0.5s", "--zero-time", "mark:x", "--zero-process", "App*"]);
  assert.deepEqual(carried(["dump", "cpu", "--top", "5"], zero).slice(0, 6), ["dump", "cpu", "--top", "5", "--zero-time", "mark:x"]);
  // Buckets that begin at the start of the recording are given by their number, where that is the same.
  assert.deepEqual(carried(["dump", "timeline", "--time=2s..8s", "--bucket", "2000000000ns"], zero).slice(2, 5), ["--time=0.5s..6.5s", "--buckets", "3"]);
  assert.deepEqual(carried(["dump", "timeline", "--time=2s..8s", "--bucket", "500000000ns"], zero).slice(2, 5), ["--time=0.5s..6.5s", "--bucket", "500000000ns"]);
  const cut = ["dump", "timeline", "--time=8s..12s", "--bucket", "2000000000ns"];
  assert.deepEqual(carried(cut, zero), cut);
  for (const words of [["dump", "path", "--window", "1s..2s"], ["explain", "--window", "1s..2s"]]) assert.deepEqual(carried(words, zero), words);
  assert.deepEqual(carried(["dump", "cpu"], { ...zero, landmark: null }), ["dump", "cpu"]);
  assert.equal(commandLine(["dump", "cpu", "-p", "x"]), 'tracesift dump cpu "a b.sift" -p x');
  view.session.value = null;
});

test("names are cleaned and cut", () => {
  assert.equal(clean("\u200fa\u0007", 10), "�a�");
  assert.equal(clean("x".repeat(600)).length, 513);
  assert.equal(shellLine(["tracesift", "a b", "$x", "it's!"], "linux"), `tracesift "a b" '$x' 'it'\\''s!'`);
});

test("signals tell their readers, once for a batch", () => {
  const a = signal(1);
  const double = computed(() => a.value * 2);
  /** @type {number[]} */
  const seen = [];
  const stop = effect(() => void seen.push(double.value));
  batch(() => {
    a.value = 2;
    a.value = 3;
  });
  stop();
  a.value = 4;
  assert.deepEqual(seen, [2, 6]);
});

test("frames are read in pieces, and damaged frames refused", async () => {
  const one = frame({ lane: "thread:1", columns: 3, series: ["run"], peaks: [] }, [Float64Array.of(1, NaN, 3)]);
  assert.equal(one.length % 4, 0);
  const both = Buffer.concat([one, one]);
  const stream = new ReadableStream({ start: (out) => {
    for (let i = 0; i < both.length; i += 5) out.enqueue(new Uint8Array(both.subarray(i, i + 5)));
    out.close();
  } });
  /** @type {Frame[]} */
  const got = [];
  await readFrames(stream, (each) => got.push(each));
  assert.equal(got.length, 2);
  assert.deepEqual([...(got[1]?.series["run"] ?? [])], [1, NaN, 3]);
  assert.throws(() => readFrame(new Uint8Array(one.subarray(4, one.length - 8))), /arrays are missing/);
  const short = new ReadableStream({ start: (out) => (out.enqueue(new Uint8Array(one.subarray(0, 20))), out.close()) });
  await assert.rejects(readFrames(short, () => {}), /ended early/);
});

/**
 * @param {Record<string, number[]>} series
 * @param {Record<string, unknown>} head
 */
function data(series, head = {}) {
  const names = Object.keys(series);
  const count = series[names[0] ?? ""]?.length ?? 0;
  const arrays = Object.fromEntries(names.map((name) => [name, Float64Array.from(series[name] ?? [])]));
  return /** @type {LaneData} */ ({ frame: { head: { series: names, first_ns: 0, bucket_ns: 100, columns: count, at_once: 1, unit: "ns", ...head }, series: arrays, peaks: {} }, from: 0, to: count * 100, columns: count });
}

const PALETTE = /** @type {never} */ ({ run: 1, ready: 2, wait: 3, open: 4, unknown: 5, unread: 6, cpu: 7, cpuPeak: 8, runPeak: 9, line: 10, hues: Array(12).fill(11), peaks: Array(12).fill(12), disk: 13 });

test("a column is as high as its shares, and what occurs has a pixel", () => {
  const height = 40;
  const strip = Math.round(height * STRIP);
  const room = height - strip;
  const lane = data({ run: [100, 50, 0, 1, NaN, 0], ready: [0, 30, 100, 0, NaN, 0], wait: [0, 20, 0, 99, NaN, 0], open: [0, 0, 0, 0, NaN, 0], unknown: [0, 0, 0, 0, NaN, 100] });
  const { pixels: out } = paintLane({ lane: "t", kind: "thread", name: "t", data: lane, height, hue: 0, scale: 1 }, PALETTE);
  const count = (/** @type {number} */ x, /** @type {number} */ colour) => Array.from({ length: height }, (_, y) => out[y * 6 + x]).filter((one) => one === colour).length;
  assert.equal(count(0, 1), room);
  assert.equal(count(1, 1), Math.round(room / 2));
  assert.ok(count(1, 2) > 0 && count(1, 3) === strip);
  assert.equal(count(2, 1), 0);
  assert.equal(count(3, 1), 1, "a share of 1 % has a pixel");
  assert.ok(count(4, 6) > 0 && count(4, 1) === 0, "what was not read is hatched");
  assert.ok(count(5, 5) > 0, "unknown time is dotted");
});

test("the largest base bucket of a column stands behind its average", () => {
  const height = 20;
  const lane = data({ busy: [50, 10, 0] }, { peaks: ["busy"], peak_ns: 10 });
  lane.frame.peaks = { busy: Float64Array.of(10, 5, NaN) };
  const { pixels: out } = paintLane({ lane: "d", kind: "disk", name: "d", data: lane, height, hue: 0, scale: 1 }, PALETTE);
  const count = (/** @type {number} */ x, /** @type {number} */ colour) => Array.from({ length: height }, (_, y) => out[y * 3 + x]).filter((one) => one === colour).length;
  assert.deepEqual([count(0, 13), count(0, 8)], [10, 10], "half busy, and all busy for a tenth of it");
  assert.deepEqual([count(1, 13), count(1, 8)], [2, 8]);
  assert.deepEqual([count(2, 13), count(2, 8)], [0, 0], "no peak is known");
  lane.columns = 6;
  assert.deepEqual([...(peaksOn(lane, "busy") ?? [])].map((one) => Math.round(one)), [50, 50, 25, 25, NaN, NaN], "half as long, half as much");
  assert.equal(peaksOn(data({ busy: [1] }), "busy"), null);
});

test("reads and writes of a disk have colours of their own", () => {
  const height = 20;
  const lane = data({ "read-bytes": [50, 0], "write-bytes": [50, 25] }, { at_once: null, unit: "bytes" });
  const { pixels: out } = paintLane({ lane: "d", kind: "disk", name: "d", data: lane, height, hue: 0, scale: 1 }, PALETTE);
  const count = (/** @type {number} */ x, /** @type {number} */ colour) => Array.from({ length: height }, (_, y) => out[y * 2 + x]).filter((one) => one === colour).length;
  assert.deepEqual([count(0, 3), count(0, 2), count(1, 3), count(1, 2)], [10, 10, 0, 5]);
});

test("buckets that lie otherwise keep their sums", () => {
  const lane = data({ run: [10, 20, 30, 40] });
  lane.from = 0;
  lane.to = 400;
  lane.columns = 2;
  assert.deepEqual([...onColumns(lane, lane.frame.series["run"] ?? new Float64Array(), "sum")], [30, 70]);
  lane.columns = 8;
  assert.equal(onColumns(lane, lane.frame.series["run"] ?? new Float64Array(), "sum").reduce((a, b) => a + b), 100);
  assert.equal(pixels(1, 1e9, 20), 1);
  assert.equal(pixels(0, 1e9, 20), 0);
});

test("every question has words, and those without data are left out", () => {
  const context = { range: /** @type {[number, number]} */ ([1, 2]), process: "a(1)", filter: "", measure: "cpu", tagFile: "", method: null, top: 10 };
  for (const question of QUESTIONS) assert.ok(question.words(context).includes("-p"), question.id);
  const few = askable(() => false).map(({ id }) => id);
  assert.ok(few.includes("processes") && !few.includes("disk"));
});
