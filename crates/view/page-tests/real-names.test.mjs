// A recording whose every name is hostile, with the real program: names are text and nothing else.
import assert from "node:assert/strict";
import test from "node:test";
import { settled } from "./browser.mjs";
import { extracted, rowsOf, running, scenario, skipScenarios as skip } from "./program.mjs";

const program = running(skip, (place) => extracted(scenario("hostile.etl"), place));

/** Elements that a name would have made, marks of direction that are shown (cells carry the raw value beside), and names so long that the page is wide. @param {import("playwright-core").Page} page @param {string} where */
async function harmless(page, where) {
  const found = await page.evaluate(() => ({
    elements: [...document.querySelectorAll("img, b, iframe, object, script:not([src])")].map((one) => one.outerHTML.slice(0, 80)),
    marks: [...document.querySelectorAll("body *")].flatMap((one) => [...one.childNodes, ...one.attributes].map((node) => node.nodeType === 1 || node.nodeName.startsWith("data-") ? "" : node.nodeValue ?? "")).filter((text) => /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(text)).map((text) => JSON.stringify(text.slice(0, 60))),
    long: [...document.querySelectorAll("body *")].flatMap((one) => [...one.childNodes].filter((node) => node.nodeType === 3 && (node.nodeValue?.length ?? 0) > 4_200)).length,
    wide: document.documentElement.scrollWidth > innerWidth,
  }));
  assert.deepEqual(found, { elements: [], marks: [], long: 0, wide: false }, where);
}

test("hostile names in every place that shows a name", { skip }, async () => {
  const it = await program.open("open=processes&open=cpus&open=disks&open=marks&open=events&open=tags&open=files");
  const { page } = it;
  await harmless(page, "start");
  await page.evaluate("tracesift.view.opened.value = new Set([...tracesift.model.known.values()].filter((lane) => lane.children).map((lane) => lane.id))");
  await settled(page);
  for (const name of await page.getByRole("tab").allInnerTexts()) {
    await page.getByRole("tab", { name, exact: true }).click();
    await settled(page);
    assert.equal(await page.locator(".panel-body [role=alert]").count(), 0, `${name}: ${await page.locator(".panel-body").innerText()}`);
    await harmless(page, name);
    const row = page.locator(".table-row").first();
    if ((await row.count()) > 0) await row.click();
    await harmless(page, `${name}, a row`);
  }
  // Only these: the process becomes a word of the command and of the address.
  await page.getByRole("tab", { name: "Processes", exact: true }).click();
  await settled(page);
  const count = await page.locator(".table-row").count();
  for (let row = 0; row < count; row += 1) {
    const pid = await page.locator(".table-row").nth(row).locator(".cell[data-key=pid]").getAttribute("data-raw");
    await page.locator(".table-row").nth(row).dblclick();
    await settled(page);
    assert.deepEqual(await page.locator(".table-row .cell[data-key=pid]").evaluateAll((cells) => cells.map((cell) => cell.getAttribute("data-raw"))), [pid], "the process alone");
    await harmless(page, `only row ${row}`);
    await page.locator("#copy-command").click();
    const command = String(await page.evaluate("tracesift.lastCopied.text"));
    assert.deepEqual(await page.evaluate("tracesift.dock.rows"), rowsOf(command), command);
    await page.waitForTimeout(200);
    await page.reload();
    await settled(page);
    await harmless(page, `row ${row} from the address`);
    await page.getByRole("button", { name: /show all again/ }).click();
    await settled(page);
  }
  for (const text of ["img", "exe", "touch", "script", "x<b>"]) {
    await page.keyboard.press("/");
    await page.locator("#search").fill(text);
    await page.locator(".hits [role=option]").first().waitFor();
    await harmless(page, `search ${text}`);
    await page.keyboard.press("Escape");
  }
  assert.deepEqual([it.foreign, it.complaints], [[], []]);
  await it.close();
});

test("a wait, its chain, the menus and copies have hostile names", { skip }, async () => {
  const it = await program.open("open=processes&panel=waits");
  const { page } = it;
  await page.locator(".table-row").first().click();
  await page.locator(".detail h4").first().waitFor();
  await harmless(page, "a wait");
  await page.locator(".lane-more").nth(1).click();
  await harmless(page, "the menu of a lane");
  await page.keyboard.press("Escape");
  for (let row = 1; row < 5; row += 1) {
    await page.locator(".lanes.main .lane-head").nth(row).hover();
    await harmless(page, `lane ${row}`);
  }
  await page.getByRole("tab", { name: "Processes", exact: true }).click();
  await settled(page);
  await page.getByRole("button", { name: "Copy", exact: true }).click();
  await page.getByRole("menuitem", { name: /TSV/ }).click();
  const lines = String(await page.evaluate("navigator.clipboard.readText()")).trimEnd().split("\n");
  const columns = new Set(lines.map((line) => line.split("\t").length));
  assert.equal(columns.size, 1, "a name ends no line and no cell");
  assert.equal(lines.length, Number(await page.evaluate("tracesift.dock.rows.length")) + 1);
  await page.evaluate("dispatchEvent(new Event('beforeprint'))");
  await harmless(page, "paper");
  assert.deepEqual([it.foreign, it.complaints], [[], []]);
  await it.close();
});
