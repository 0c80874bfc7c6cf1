// Memory of the page and of the program while somebody works with them.
import * as bare from "./bare.mjs";
import { anonymous, sleep } from "./browser.mjs";
import { dice, say } from "./figures.mjs";
import * as program from "./program.mjs";

const PANELS = ["processes", "threads", "methods", "tree", "flame", "waits"];

/** Something that a reader does, chosen by random numbers; runs in the page. */
function act([kind, a, b, panel]) {
  const { view, model } = window.tracesift;
  const [from, to] = view.range.peek();
  const [start, end] = view.whole();
  if (to - from < 50_000 || kind > 0.95) view.look(view.whole());
  else if (kind < 0.4) view.zoom(0.6, from + (to - from) * a);
  else if (kind < 0.55) view.zoom(1.5, from + (to - from) * a);
  else if (kind < 0.75) view.pan(a - 0.5);
  else if (kind < 0.85) view.selection.value = [from + (to - from) * Math.min(a, b), Math.min(end, from + (to - from) * Math.max(a, b) + 1)].map(Math.round);
  else if (kind < 0.9) {
    const processes = [...model.known.values()].filter((lane) => lane.kind === "process");
    view.toggleOpen(processes[Math.floor(a * Math.min(40, processes.length))]?.id ?? "processes");
  } else view.panel.value = panel;
}

/** Works with the page for some minutes: zooms, moves, selects, opens processes and panels. */
export async function worked(path, archive, minutes) {
  const page = await bare.open();
  const empty = await page.renderer();
  const server = await program.serve(path, archive);
  await page.go(server.url);
  const settled = async () => {
    while (!(await page.evaluate(program.isSettled))) await sleep(50);
  };
  await settled();
  const start = await page.renderer();
  const next = dice(9);
  const end = Date.now() + minutes * 60_000;
  let steps = 0;
  let most = 0;
  for (; Date.now() < end; steps += 1) {
    await page.evaluate(act, [next(), next(), next(), PANELS[Math.floor(next() * PANELS.length)]]);
    await sleep(250);
    if (steps % 40 === 0) most = Math.max(most, await page.renderer());
  }
  await settled();
  const after = await page.renderer();
  const { now, most: peak } = anonymous(server.pid);
  say("renderer, MiB", `${Math.round(empty)} with an empty page, ${Math.round(start)} at the start, ${Math.round(after)} after ${minutes} minutes and ${steps} steps, ${Math.round(Math.max(most, after))} at most`);
  say("server, MiB", `${Math.round(now)} anonymous, ${Math.round(peak)} resident at most, files among them`);
  await page.close();
  await server.stop();
  return after;
}
