// The search: how dense a hit is on the axis, and the way from one part of the recording with it to the next.
import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { recording } from "./mock/answers.mjs";
import { launch, open, settled } from "./browser.mjs";

/** @type {import("playwright-core").Browser} */
let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

/** @param {import("playwright-core").Page} page @returns {Promise<{ name: string, kind: string, first_ns: number, bucket_ns: number, values: number[] }>} */
const density = (page) => page.evaluate("tracesift.view.density.value");

test("the axis has the figures of the chosen hit's lane, and keys lead from one part to the next", async () => {
  const it = await open(browser, { fragment: "time=0s..2s" });
  const { page } = it;
  await page.keyboard.press("/");
  await page.keyboard.type("worker-");
  await page.locator(".hits [role=option]").nth(2).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  const hit = /** @type {{ name: string, kind: string, lane: string }} */ (await page.evaluate("tracesift.search.hits[tracesift.search.at]"));
  assert.equal(hit.kind, "thread");
  await page.waitForFunction((name) => (/** @type {never} */ (window))["tracesift"]["view"]["density"]["value"]?.["name"] === name, hit.name);
  const found = await density(page);
  const thread = recording.threads.find(({ index }) => `thread:${index}` === hit.lane);
  assert.ok(thread);
  const run = thread.spans.filter((one) => one.state === "run").reduce((sum, one) => sum + one.end - one.start, 0);
  assert.equal(found.values.reduce((sum, value) => sum + value, 0), run, "all its run time");

  // From the pointer on, the next part with any of it.
  await page.keyboard.press("Enter");
  await settled(page);
  await page.evaluate("document.activeElement.blur(); tracesift.view.pointer.value = 1e9");
  await page.keyboard.press("n");
  const at = Number(await page.evaluate("tracesift.view.pointer.value"));
  const next = found.values.findIndex((value, i) => value > 0 && i > Math.floor((1e9 - found.first_ns) / found.bucket_ns));
  assert.equal(at, found.first_ns + (next + 0.5) * found.bucket_ns);
  const [from, to] = /** @type {[number, number]} */ (await page.evaluate("tracesift.view.range.value"));
  assert.ok(from <= at && at < to);
  await page.keyboard.press("n");
  await page.keyboard.press("Shift+N");
  assert.equal(await page.evaluate("tracesift.view.pointer.value"), at, "and back");
  assert.deepEqual(it.complaints, []);
  await it.close();
});

test("methods get their figures behind the names, and the largest is the first", async () => {
  const it = await open(browser, {});
  const { page } = it;
  await page.keyboard.press("/");
  await page.keyboard.type("re");
  await page.locator(".hits [role=option] .dim", { hasText: /12\d ×/ }).first().waitFor();
  const counts = /** @type {number[]} */ (await page.evaluate("tracesift.search.hits.filter(({ kind }) => kind === 'method').map(({ count }) => count)"));
  assert.ok(counts.length > 1 && counts.every((count, i) => count >= 120 && (i === 0 || count <= (counts[i - 1] ?? 0))), String(counts));
  assert.deepEqual(it.complaints, []);
  await it.close();
});
