// How long panels take behind a selection, and what a search takes.
import { sleep } from "./browser.mjs";
import { dice, say, spread, tail } from "./figures.mjs";
import { settled } from "./program.mjs";

/** Selects a range and waits for the panel: time until then, and until the first progress was seen. */
function selected([from, to]) {
  const { view, dock } = window.tracesift;
  const began = performance.now();
  const bar = document.querySelector(".dock .progress");
  let progress = null;
  dock.ready.value = "";
  view.selection.value = [from, to];
  return new Promise((resolve) => {
    const look = () => {
      if (progress === null && !bar.hidden) progress = performance.now() - began;
      if (dock.ready.peek() === "") {
        requestAnimationFrame(look);
        return;
      }
      requestAnimationFrame(() => resolve({ took: performance.now() - began, progress, rows: dock.rows.length }));
    };
    look();
  });
}

async function show(page, panel) {
  await page.evaluate((id) => {
    window.tracesift.view.selection.value = null;
    window.tracesift.view.panel.value = id;
  }, panel);
  await settled(page);
}

/** Tables of processes and threads of any range; few of threads, since these have the stacks of all wakers. */
export async function tables(page, counts) {
  const whole = await page.evaluate(() => window.tracesift.view.whole());
  for (const [panel, count] of Object.entries(counts)) {
    await show(page, panel);
    const next = dice(3);
    const times = [];
    for (let at = 0; at < count; at += 1) {
      const [a, b] = [next(), next()].sort((one, other) => one - other).map((share) => Math.round(whole[0] + share * (whole[1] - whole[0])));
      times.push((await page.evaluate(selected, [a, b + 1])).took);
      await sleep(200);
    }
    say(`selection to ${panel}, ms`, tail(times));
  }
}

/** Methods, call tree and flame graph of nearly the whole recording, per 10 million samples. */
export async function stacks(page, runs, samples) {
  const whole = await page.evaluate(() => window.tracesift.view.whole());
  for (const panel of ["methods", "tree", "flame"]) {
    await show(page, panel);
    const took = [];
    const progress = [];
    for (let run = 0; run <= runs; run += 1) {
      const one = await page.evaluate(selected, [whole[0] + 1 + run, whole[1] - 1]);
      if (run > 0) took.push((one.took * 1e7) / samples);
      if (run > 0 && one.progress !== null) progress.push(one.progress);
      await sleep(200);
    }
    say(`selection to ${panel}, ms per 10 million samples`, spread(took));
    if (progress.length > 0) say("  first progress, ms", spread(progress));
  }
}

/** Time until two calculations that nobody waits for any more have given way. */
export async function cancels(page, runs) {
  const waits = await page.evaluate(async (runs) => {
    const { view } = window.tracesift;
    const token = sessionStorage.getItem("tracesift-token");
    const ask = (path, body, signal) => fetch(`/api/1/${path}`, { method: "POST", headers: { "Tracesift-Token": token, "Content-Type": "application/json" }, body: JSON.stringify(body), signal });
    const recording = view.recordingId.peek();
    const [from, to] = view.whole();
    const small = () => ask("columns", { recording, from, to, columns: 4, lanes: ["cpu:0"], measure: null }).then((it) => it.arrayBuffer());
    const times = [];
    const alone = [];
    const timed = async (into) => {
      const began = performance.now();
      await small();
      into.push(performance.now() - began);
    };
    for (let run = 0; run < runs; run += 1) {
      if (run === 0) await small();
      await timed(alone);
      const stop = new AbortController();
      const words = ["dump", "stacks", `--time=${1 + run}ns..${to - 1}ns`];
      for (let at = 0; at < 2; at += 1) ask("ask", { recordings: [recording], words }, stop.signal).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 400));
      stop.abort();
      await timed(times);
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    return { times, alone };
  }, runs);
  say("given up, to the next answer, ms", spread(waits.times));
  say("  the same answer where nothing was under way, ms", spread(waits.alone));
}

/** A process whose threads are shown: until they have rows, and until all of them in sight have their numbers. */
export async function opened(page, runs) {
  const ids = await page.evaluate(() => [...window.tracesift.model.known.values()].filter(({ kind }) => kind === "process").slice(0, 12).map(({ id }) => id));
  const listed = [];
  const complete = [];
  for (const id of ids.slice(0, runs)) {
    const one = await page.evaluate(async (id) => {
      const { view, model, lanes } = window.tracesift;
      const began = performance.now();
      view.opened.value = new Set(["processes", id]);
      while (!model.rows.peek().some((row) => row.parent === id)) await new Promise(requestAnimationFrame);
      const listed = performance.now() - began;
      while (model.loading.peek() > 0 || !lanes.store.sight.lanes.some(({ kind }) => kind === "thread") || !lanes.store.complete) await new Promise(requestAnimationFrame);
      await new Promise(requestAnimationFrame);
      return { listed, complete: performance.now() - began };
    }, id);
    listed.push(one.listed);
    complete.push(one.complete);
    await sleep(200);
  }
  say("process opened to its list of threads, ms", tail(listed, 0, [0.5, 0.95]));
  say("process opened to their figures, ms", tail(complete, 0, [0.5, 0.95]));
}

/** Search of a method. */
export async function searches(page, runs, texts) {
  const first = [];
  const density = [];
  for (let run = 0; run < runs; run += 1) {
    const one = await page.evaluate(async (text) => {
      const { search, view } = window.tracesift;
      search.input.focus();
      search.input.value = text;
      const began = performance.now();
      let hits = null;
      let density = null;
      void search.run(text);
      while (density === null && performance.now() - began < 30_000) {
        if (hits === null && document.querySelector("#hits .item")) hits = performance.now() - began;
        if (view.density.peek()) density = performance.now() - began;
        await new Promise(requestAnimationFrame);
      }
      if (density === null) throw new Error(`search: nothing has the name ${text}`);
      await search.run("");
      return { hits: hits ?? density, density };
    }, texts[run % texts.length]);
    first.push(one.hits);
    density.push(one.density);
    await sleep(200);
  }
  say("search to first hits, ms", spread(first));
  say("search to the density, ms", spread(density));
}
