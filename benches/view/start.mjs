// From the command to the first complete picture, of both programs in turn.
import { anonymous, cpuOf, emptyPage, launch } from "./browser.mjs";
import { say, spread } from "./figures.mjs";
import * as program from "./program.mjs";
import * as rival from "./rival.mjs";

/** Starts of the program with one recording; the first is not counted. */
export async function ours(path, archive, runs) {
  const wall = [];
  const cpu = [];
  const page = [];
  const memory = [];
  let counts = {};
  for (let run = 0; run <= runs; run += 1) {
    const { browser, cpu: ofBrowser, renderer } = await launch();
    const empty = await emptyPage(browser, ofBrowser);
    const before = await ofBrowser();
    const server = await program.serve(path, archive);
    const one = await program.open(browser, server, { empty });
    const told = await one.page.evaluate(() => ({ requests: window.tracesift.counts.requests, lanes: window.tracesift.lanes.store.sight.lanes.length }));
    const spent = (await ofBrowser()) - before + cpuOf(server.pid);
    await program.settled(one.page);
    const bytes = await one.page.evaluate(() => performance.getEntriesByType("resource").reduce((sum, { transferSize }) => sum + transferSize, 0));
    counts = { ...told, bytes };
    if (run > 0) {
      wall.push(one.complete - server.began);
      cpu.push(spent);
      page.push(one.complete - await one.page.evaluate(() => performance.timeOrigin));
      memory.push(await renderer());
    }
    say("run", `${Math.round(one.complete - server.began)} ms${run === 0 ? ", not counted" : ""}; server ${Math.round(anonymous(server.pid).now)} MiB`);
    await one.close();
    await server.stop();
    await browser.close();
  }
  say("command to first complete picture, ms", spread(wall));
  say("of that in the page, ms", spread(page));
  say("processor time of server and browser, s", spread(cpu, 2));
  say("memory of the renderer, MiB", spread(memory));
  say("first picture", `${counts.requests} requests, ${counts.lanes} lanes; with the panel ${(counts.bytes / 1024).toFixed(0)} KiB with the page's files`);
  return wall;
}

/** Starts of the rival. */
export async function theirs(page, recording, runs) {
  const wall = [];
  const cpu = [];
  const memory = [];
  for (let run = 0; run < runs; run += 1) {
    const { browser, cpu: ofBrowser, renderer } = await launch();
    const empty = await emptyPage(browser, ofBrowser);
    const before = await ofBrowser();
    const server = await rival.serve(page, recording);
    const one = await rival.open(browser, server, { empty });
    cpu.push((await ofBrowser()) - before);
    wall.push(one.complete - server.began);
    memory.push(await renderer());
    await one.close();
    server.stop();
    await browser.close();
  }
  say("Perfetto UI: to its tracks, ms", spread(wall));
  say("processor time of the browser, s", spread(cpu, 1));
  say("memory of the renderer, MiB", spread(memory));
  return wall;
}
