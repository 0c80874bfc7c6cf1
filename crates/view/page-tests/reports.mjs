// Reports in a browser: pages that are files.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/**
 * Opens a report. It may write nothing on the console, and ask nothing from a network.
 * @param {import("playwright-core").Browser} browser
 * @param {string} path
 * @param {(page: import("playwright-core").Page) => Promise<void>} body
 * @param {{ dark?: boolean, script?: boolean }} [how]
 */
export async function inReport(browser, path, body, { dark = false, script = true } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme: dark ? "dark" : "light", javaScriptEnabled: script });
  const page = await context.newPage();
  /** @type {string[]} */
  const complaints = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error.stack ?? error)));
  page.on("dialog", (dialog) => {
    complaints.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (asked) => /^(file|data):/.test(asked.url()) || complaints.push(`asks ${asked.url()}`));
  try {
    await page.goto(pathToFileURL(path).href);
    await body(page);
    assert.deepEqual(complaints, [], "the console is empty, and nothing was asked from a network");
  } finally {
    await context.close();
  }
}

/** The raw values of the cells of each row of a table. @param {import("playwright-core").Page} page @param {string} rows @returns {Promise<(number | null)[][]>} */
export const values = (page, rows) => page.locator(rows).evaluateAll((found) => found.map((row) => Array.from(row.querySelectorAll("td"), (cell) => (cell.dataset["v"] === undefined ? null : Number(cell.dataset["v"])))));

/** axe finds nothing, and the page has the colours that were asked for. @param {import("playwright-core").Page} page @param {boolean} dark */
export async function accessible(page, dark) {
  await page.evaluate(AXE);
  const { violations } = /** @type {{ violations: { id: string, nodes: { html: string, failureSummary: string }[] }[] }} */ (await page.evaluate("axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] })"));
  assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`), []);
  const background = await page.evaluate("getComputedStyle(document.body).backgroundColor");
  assert.equal(background, dark ? "rgb(15, 18, 22)" : "rgb(244, 245, 248)");
}
