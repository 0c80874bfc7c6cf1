// Findings of `explain` that have a place in time: marks on the axis that can be clicked.
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

test("a click on the mark of a finding selects its time and opens the panel at it", async () => {
  const process = recording.processes[1];
  assert.ok(process);
  const it = await open(browser, { fragment: `time=10s..30s&process=${process.name}(${process.pid})&panel=explain` });
  const { page } = it;
  const asked = () => it.mock.log.filter(({ body }) => /** @type {{ words?: string[] } | null} */ (body)?.words?.[0] === "explain").length;
  await page.locator("[data-rule]").first().waitFor();
  await settled(page);
  assert.equal(await page.locator("[data-rule]").count(), 2);
  assert.equal(await page.locator(".finding-mark").count(), 1, "a finding without a place has no mark");
  const before = asked();
  await page.getByRole("button", { name: /^Finding antivirus/ }).click();
  await settled(page);
  assert.deepEqual(await page.evaluate("tracesift.view.selection.value"), [14e9, 18e9]);
  assert.match(await page.locator("[data-rule].chosen").innerText(), /^antivirus/);
  assert.match(String(await page.evaluate("tracesift.dock.command")), /--window/);
  assert.equal(asked(), before, "the explanation stays the one in which the finding stands");

  // From another panel the mark leads back; then another selection is explained.
  await page.getByRole("tab", { name: "Threads", exact: true }).click();
  await settled(page);
  await page.getByRole("button", { name: /^Finding antivirus/ }).click();
  await page.locator("[data-rule].chosen").waitFor();
  await settled(page);
  assert.match(String(await page.evaluate("tracesift.dock.command")), /10s\.\.30s/);
  await page.evaluate("tracesift.view.selection.value = [11e9, 12e9]");
  await page.waitForTimeout(300);
  await settled(page);
  assert.match(String(await page.evaluate("tracesift.dock.command")), /11s\.\.12s/);
  assert.deepEqual(it.complaints, []);
  await it.close();
});

test("the longest segments of a finding are one click away", async () => {
  const process = recording.processes[1];
  assert.ok(process);
  const it = await open(browser, { fragment: `time=10s..30s&process=${process.name}(${process.pid})&panel=explain` });
  const { page } = it;
  const asked = () => it.mock.log.filter(({ body }) => /** @type {{ words?: string[] } | null} */ (body)?.words?.[0] === "explain").length;
  await page.locator(".findings summary").first().click();
  const segment = page.locator(".findings details li").first();
  assert.match(await segment.innerText(), /^1\.000 s at 15\.0* s?/);
  const before = asked();
  await segment.locator(".link").click();
  assert.deepEqual(await page.evaluate("tracesift.view.selection.value"), [15e9, 16e9]);
  await page.waitForTimeout(300);
  await settled(page);
  assert.equal(asked(), before, "the explanation stays the one in which the finding stands");
  assert.deepEqual(it.complaints, []);
  await it.close();
});
