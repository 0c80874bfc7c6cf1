// What a reader who sees the page for the first time stumbles over.
import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { launch, open } from "./browser.mjs";

/** @type {import("playwright-core").Browser} */
let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

/** @param {string} name @param {Parameters<typeof open>[1]} options @param {(page: import("playwright-core").Page) => Promise<void>} body */
function inPage(name, options, body) {
  test(name, async () => {
    const it = await open(browser, options);
    try {
      await body(it.page);
      assert.deepEqual(it.complaints, [], "the console is empty");
    } finally {
      await it.close();
    }
  });
}

inPage("explain asks which process was tested, and a click answers", { fragment: "panel=explain&time=20s..21s" }, async (page) => {
  const names = page.locator(".candidates button");
  await names.first().waitFor();
  assert.match(await page.locator(".question").innerText(), /Which process was tested\?/);
  assert.doesNotMatch(await page.locator(".panel-body").innerText(), /-p/);
  const name = await names.first().innerText();
  await names.first().click();
  await page.locator(".explain").waitFor();
  assert.equal(await page.evaluate("tracesift.view.processes.value"), name);
});

inPage("losses are hatched in the overview and said, those at unknown times said alone", {}, async (page) => {
  const items = page.getByRole("list", { name: "Losses" }).getByRole("listitem");
  assert.deepEqual(await items.allTextContents(), ["The records of a CPU do not follow each other. 3 ×, the first at 12.000 s", "The recorder lost this many events. 40 ×, at times that are not known"]);
  assert.equal(await page.locator(".loss").count(), 1);
  assert.match(await page.locator(".loss").getAttribute("title") ?? "", /3 ×, the first at 12\.000 s/);
  const [strip, loss] = [await page.locator(".strip").boundingBox(), await page.locator(".loss").boundingBox()];
  const whole = Number(await page.evaluate("tracesift.view.whole()[1] - tracesift.view.whole()[0]"));
  assert.ok(strip && loss);
  assert.ok(Math.abs(loss.x + loss.width / 2 - strip.x - (12e9 / whole) * strip.width) < 2, `${loss.x} in ${strip.x} ${strip.width}`);
  await page.keyboard.press("t");
  await page.locator(".losses", { hasText: "the first at 10:00:12.123" }).waitFor({ state: "attached" });
});

inPage("a click on the lane of a process says where its waits are", {}, async (page) => {
  await page.locator('.lanes.main [data-lane="process:1"] .lane-time').click({ position: { x: 200, y: 10 } });
  await page.locator("#toast", { hasText: "open the lane to see the waits of its threads" }).waitFor();
});

inPage("the clicked row is chosen; others of its thread are only lit", { fragment: "panel=waits&time=20s..20.2s" }, async (page) => {
  const row = page.locator(".table-row").nth(1);
  await row.click();
  assert.equal(await page.locator(".table-row.picked").count(), 1);
  assert.match(await row.getAttribute("class") ?? "", /picked/);
});

inPage("shares say what they are parts of", {}, async (page) => {
  await page.locator('.lanes.main [data-lane="process:1"] .lane-time').hover({ position: { x: 300, y: 10 } });
  await page.locator(".readout", { hasText: / % of \d+ CPUs/ }).waitFor();
  assert.match(await page.locator(".readout").innerText(), /wait: .* = [\d.]+ threads/);
});

inPage("a process keeps its colour and its place in another recording", {}, async (page) => {
  const [before, after] = /** @type {string[][]} */ (await page.evaluate(async () => {
    const { orderHues, hueOf } = await import(String("/assets/lanes/palette.js"));
    const lane = (/** @type {string} */ id, /** @type {string} */ name) => ({ id, kind: "process", name, detail: null, children: true, start_ns: null, end_ns: null, totals: {}, measures: [] });
    const first = [lane("process:1", "a(1)"), lane("process:2", "b(2)"), lane("process:3", "b(3)")];
    const second = [lane("process:9", "b(7) +"), lane("process:1", "c(1)"), lane("process:2", "a(9)")];
    orderHues(first);
    const one = first.map(hueOf);
    orderHues(second);
    const two = second.map(hueOf);
    return [[one[0], one[1]], [two[2], two[0]]];
  }));
  assert.deepEqual(before, after);
});

inPage("threads are told by their ids, the main thread by that of its process", {}, async (page) => {
  const named = /** @type {unknown[][]} */ (await page.evaluate(async () => {
    const { nameOf, pidOf, threadOf } = await import(String("/assets/lanes/rows.js"));
    const names = ["slow-reader(14684)", "slow-reader(14684) reader", "slow-reader(14684) 14687 reader", "14687 reader", "App(7) -1"];
    return names.map((name) => {
      const lane = { id: "thread:1", kind: "thread", name, detail: null, children: false, start_ns: null, end_ns: null, totals: {}, measures: [] };
      return [nameOf({ lane, parent: "process:99", guest: false }), threadOf(lane).tid, pidOf(lane)];
    });
  }));
  assert.deepEqual(named, [
    ["14684 main thread", 14684, 14684], ["14684 reader", 14684, 14684], ["14687 reader", 14687, 14684], ["14687 reader", 14687, null],
    ["-1 (ending: it has lost its id)", -1, 7],
  ]);
});
