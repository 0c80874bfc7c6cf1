// How long the lanes take behind a step of the zoom.
import { writeFileSync } from "node:fs";
import { sleep } from "./browser.mjs";
import { dice, say, tail } from "./figures.mjs";
import { settled } from "./program.mjs";

/** Tells in the page how long it takes from the last input until the lanes are drawn with all their numbers. */
function watch() {
  window.step_ = { at: 0, took: null };
  const took = () => {
    const it = window.step_;
    if (it.at > 0 && it.took === null && window.tracesift.lanes.store.complete) {
      const { at } = it;
      it.at = 0;
      // Drawn in this frame, or in the next one.
      requestAnimationFrame(() => (it.took = performance.now() - at));
    }
    requestAnimationFrame(took);
  };
  requestAnimationFrame(took);
  addEventListener("wheel", () => Object.assign(window.step_, { at: performance.now(), took: null }), { passive: true });
}

/** Drops what the system has in its cache of files. */
export function forget() {
  try {
    writeFileSync("/proc/sys/vm/drop_caches", "1");
    return true;
  } catch {
    return false;
  }
}

/** Steps of the wheel at random places, nearer and farther, through all lengths of time. */
export async function zoomSteps(page, count, { cold = false, box }) {
  const next = dice(cold ? 11 : 7);
  const times = [];
  const long = [];
  await page.evaluate(watch);
  await page.keyboard.down("Control");
  let nearer = 0;
  for (let step = 0; step < count; step += 1) {
    // Forty steps nearer, then forty back.
    const far = Math.floor(nearer / 40) % 2 === 1;
    nearer += 1;
    await page.mouse.move(box.x + next() * box.width, box.y);
    if (cold && !forget()) return { times, long };
    await page.evaluate(() => (window.step_.took = null));
    await page.mouse.wheel(0, far ? 120 : -120);
    await page.waitForFunction(() => window.step_.took !== null, undefined, { timeout: 60_000, polling: 10 });
    const [took, range] = await page.evaluate(() => [window.step_.took, window.tracesift.view.range.peek()]);
    times.push(took);
    if (took > 150) long.push(`${Math.round(took)} ms at ${((range[1] - range[0]) / 1e9).toFixed(3)} s`);
    await sleep(60);
  }
  await page.keyboard.up("Control");
  return { times, long };
}

/** The same with ranges that have nothing to do with those before. */
export async function jumps(page, count) {
  const next = dice(5);
  const times = [];
  for (let step = 0; step < count; step += 1) {
    const share = 10 ** (-4 * next());
    const took = await page.evaluate(async ([share, at]) => {
      const { view, lanes } = window.tracesift;
      const [start, end] = view.whole();
      const size = (end - start) * share;
      const from = start + (end - start - size) * at;
      const began = performance.now();
      view.look([from, from + size]);
      while (!lanes.store.complete) await new Promise(requestAnimationFrame);
      await new Promise(requestAnimationFrame);
      return performance.now() - began;
    }, [share, next()]);
    times.push(took);
    await sleep(100);
  }
  return times;
}

export async function measured(page, box, count) {
  for (const cold of [false, true]) {
    await page.evaluate(() => window.tracesift.view.look(window.tracesift.view.whole()));
    await settled(page);
    const { times, long } = await zoomSteps(page, cold ? Math.min(count, 80) : count, { cold, box });
    say(`end of a zoom step to lanes complete, ${cold ? "cold" : "warm"}, ms`, times.length > 0 ? tail(times) : "the cache of files cannot be dropped");
    if (long.length > 0) say("steps above 150 ms", `${long.length}: ${long.slice(0, 12).join(", ")}`);
  }
  say("jumps to any range, ms", tail(await jumps(page, count)));
}
