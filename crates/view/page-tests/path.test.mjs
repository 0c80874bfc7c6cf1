// The critical path: a lane of its segments, the way to their threads, and the command that has them.
import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { answer, recording } from "./mock/answers.mjs";
import { launch, open, settled } from "./browser.mjs";

/** @type {import("playwright-core").Browser} */
let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

/** @typedef {{ from: number, to: number, state: string, process: number, thread: number | null, name: string, what: string }} Segment */

/** @param {import("playwright-core").Page} page @returns {Promise<{ segments: Segment[], words: string[], command: string, missing: number }>} */
const shown = (page) => page.evaluate("tracesift.path.shown.value");

/** @param {import("playwright-core").Page} page */
async function drawn(page) {
  await page.waitForFunction(() => (/** @type {never} */ (window)["tracesift"]["path"]["shown"]["value"]) !== null);
  await settled(page);
}

test("the menu of a lane draws the path of the selection, and the panel has its rows", async () => {
  const it = await open(browser, { fragment: "open=processes&open=process:1&time=20s..20.5s&select=20.1s..20.3s" });
  const { page } = it;
  const worker = recording.threads.find((one) => one.process === 1 && one.name === "worker-0");
  const process = recording.processes[1];
  assert.ok(worker && process);
  const lane = page.locator(`.lanes.main [data-lane="thread:${worker.index}"]`);
  await lane.locator(".lane-more").click({ force: true });
  await page.getByRole("menuitem", { name: "Critical path of the selection" }).click();
  await drawn(page);
  const path = await shown(page);
  const words = ["dump", "path", "-p", `${process.name}(${process.pid})`, "--window", "20.1s..20.3s", "--anchor", String(worker.tid)];
  assert.deepEqual(path.words.slice(0, 8), words);
  const rows = /** @type {{ from_ns: number, to_ns: number, thread_key: number, state: string }[]} */ (answer(path.words));
  assert.deepEqual(path.segments.map(({ from, to, thread, state }) => [from, to, thread, state]), rows.map((row) => [row.from_ns, row.to_ns, row.thread_key, row.state]));
  assert.equal(path.missing, 0);
  assert.match(await page.locator('.lanes.pins [data-lane="path:0"]').innerText(), /Critical path/);
  // Corners are written when nothing moves.
  await page.locator('.lanes.pins [data-lane="path:0"] .corner', { hasText: "exact" }).waitFor();
  assert.equal(await page.evaluate("tracesift.view.panel.value"), "path");
  assert.deepEqual(await page.evaluate("tracesift.dock.rows"), answer([...words, "--top", "200"]));
  // The address follows a moment later.
  await page.waitForURL(/path=20\.1s\.\.20\.3s/, { timeout: 10_000 });

  // A click on a segment of another thread goes there, at this instant.
  const other = path.segments.find((one) => one.thread !== worker.index && one.to - one.from > 2e6);
  assert.ok(other);
  const ns = Math.round((other.from + other.to) / 2);
  const x = Number(await page.evaluate(`tracesift.xOf(${ns})`));
  await page.locator('.lanes.pins [data-lane="path:0"] .lane-time').click({ position: { x, y: 12 } });
  await page.waitForFunction((id) => /** @type {never} */ (window)["tracesift"]["view"]["chosen"]["value"]?.["lane"] === id, `thread:${other.thread}`);
  const span = /** @type {{ start_ns: number, end_ns: number }} */ (await page.evaluate("tracesift.view.chosen.value.at.span"));
  assert.ok(span.start_ns <= ns && ns < span.end_ns, "the span at the instant");
  assert.equal(await page.evaluate("tracesift.view.lane.value"), `thread:${other.thread}`);

  // The same command in the menu of the lane; then it goes away.
  await page.locator('.lanes.pins [data-lane="path:0"] .lane-more').click({ force: true });
  await page.getByRole("menuitem", { name: "Copy as command" }).click();
  assert.equal(await page.evaluate("tracesift.lastCopied.text"), path.command);
  assert.match(path.command, /dump path .*--segments/);
  await page.locator('.lanes.pins [data-lane="path:0"] .lane-more').click({ force: true });
  await page.getByRole("menuitem", { name: "Remove" }).click();
  assert.equal(await page.locator('[data-lane="path:0"]').count(), 0);
  assert.deepEqual(it.complaints, []);
  await it.close();
});

test("a link shows the path again, with its colours, and the keys go along it", async () => {
  const process = recording.processes[1];
  assert.ok(process);
  const it = await open(browser, { fragment: `time=20s..20.5s&path=20.1s..20.3s+-+${process.name}(${process.pid})` });
  const { page } = it;
  await drawn(page);
  const { segments } = await shown(page);
  const run = segments.reduce((best, one) => (one.state === "run" && one.to - one.from > best.to - best.from ? one : best), { from: 0, to: 0, process: 0, state: "" });
  assert.ok(run.to > run.from);
  const x = Number(await page.evaluate(`tracesift.xOf(${(run.from + run.to) / 2})`));
  const colour = await page.evaluate(`(() => {
    const canvas = document.querySelector("canvas.pixels");
    const [r, g, b] = canvas.getContext("2d").getImageData(${Math.round(x)}, 6, 1, 1).data;
    return "rgb(" + r + ", " + g + ", " + b + ")";
  })()`);
  const hue = await page.evaluate(`(() => {
    const context = document.createElement("canvas").getContext("2d");
    context.fillStyle = tracesift.hueOfProcess(${run.process});
    context.fillRect(0, 0, 1, 1);
    const [r, g, b] = context.getImageData(0, 0, 1, 1).data;
    return "rgb(" + r + ", " + g + ", " + b + ")";
  })()`);
  assert.equal(colour, hue, "a run has the colour of its process");
  await page.locator('[data-lane="path:0"]').focus();
  await page.keyboard.press(".");
  await page.waitForFunction(() => (/** @type {never} */ (window)["tracesift"]["view"]["chosen"]["value"]) !== null);
  const first = String(await page.evaluate("document.getElementById('said').textContent"));
  await page.keyboard.press(".");
  await page.waitForFunction((text) => document.getElementById("said")?.textContent !== text, first);
  assert.equal(await page.evaluate("tracesift.view.lane.value"), "path:0", "the path keeps the keyboard");
  assert.deepEqual(it.complaints, []);
  await it.close();
});

test("without a program there is no path, and the page says so", async () => {
  const it = await open(browser, {});
  await it.page.evaluate("tracesift.view.lane.value = null");
  await it.page.locator("body").press("Shift+C");
  await it.page.locator("#toast", { hasText: "program" }).waitFor();
  assert.equal(await it.page.evaluate("tracesift.view.path.value"), null);
  await it.close();
});
