// Frames while somebody zooms and moves: the same input for both programs.
import { sleep } from "./browser.mjs";

/** Counts frames in the page from now on. */
function count() {
  const kept = { intervals: [], main: [], last: 0, on: true };
  window.frames_ = kept;
  let input = Infinity;
  addEventListener("wheel", () => (input = Math.min(input, performance.now())), { capture: true, passive: true });
  const channel = new MessageChannel();
  let began = 0;
  // The message comes when style, layout and painting of the frame are done.
  channel.port1.onmessage = () => {
    if (kept.on) kept.main.push(performance.now() - began);
  };
  const tick = (time) => {
    if (!kept.on) return;
    const now = performance.now();
    if (kept.last > 0) kept.intervals.push(time - kept.last);
    kept.last = time;
    began = Math.min(now, input);
    input = Infinity;
    channel.port2.postMessage(0);
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
}

/**
 * Zooms in and out with Ctrl and the wheel, and moves with Shift and the wheel.
 * @returns frame intervals, and times of the main thread per frame, ms
 */
export async function moved(page, seconds, { x, y }) {
  await page.mouse.move(x, y);
  await page.evaluate(count);
  const end = Date.now() + seconds * 1000;
  // In for 2 s, to the right for 1 s, out for 2 s, to the left for 1 s.
  const parts = [["Control", 0, -60, 2000], ["Shift", 0, 120, 1000], ["Control", 0, 60, 2000], ["Shift", 0, -120, 1000]];
  for (let at = 0; Date.now() < end; at += 1) {
    const [key, dx, dy, ms] = parts[at % parts.length];
    await page.keyboard.down(key);
    const until = Math.min(end, Date.now() + ms);
    while (Date.now() < until) {
      const began = Date.now();
      await page.mouse.wheel(dx, dy);
      await sleep(Math.max(0, 16 - (Date.now() - began)));
    }
    await page.keyboard.up(key);
  }
  return page.evaluate(() => {
    window.frames_.on = false;
    return { intervals: window.frames_.intervals, main: window.frames_.main };
  });
}

/**
 * Does the work, and has the browser tell of each frame how much processor time its main thread took. Other programs, and the other
 * threads of the browser, share the processors: the time on the clock has their time, too.
 * @returns ms per frame
 */
export async function processorTime(browser, page, work) {
  await browser.startTracing(page, { categories: ["cc"] });
  await work();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
  const frames = traceEvents.filter(({ name, tdur }) => name === "ProxyMain::BeginMainFrame" && tdur !== undefined);
  // The page is the one with the most frames.
  const byThread = new Map();
  for (const { pid, tid, tdur } of frames) byThread.set(`${pid}:${tid}`, [...(byThread.get(`${pid}:${tid}`) ?? []), tdur]);
  const [most = []] = [...byThread.values()].sort((a, b) => b.length - a.length);
  return most.map((us) => us / 1000);
}
