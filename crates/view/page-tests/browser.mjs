// The browser of the tests: one for a file, a fresh context for each test.
import { start } from "./chromium.mjs";
import { serve } from "./mock/serve.mjs";

export const launch = () => start(["--enable-precise-memory-info", "--js-flags=--expose-gc"]);

/**
 * @param {import("playwright-core").Browser} browser
 * @param {{ fragment?: string, delay?: number, dark?: boolean, width?: number, height?: number, scale?: number, server?: Awaited<ReturnType<typeof serve>> }} [options]
 */
export async function open(browser, { fragment = "", delay = 0, dark = false, width = 1440, height = 900, scale = 1, server } = {}) {
  const mock = server ?? await serve({ delay });
  const context = await browser.newContext({ viewport: { width, height }, deviceScaleFactor: scale, colorScheme: dark ? "dark" : "light", permissions: ["clipboard-read", "clipboard-write"], timezoneId: "Europe/Vienna" });
  const page = await context.newPage();
  /** @type {string[]} */
  const complaints = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error.stack ?? error)));
  page.on("dialog", (dialog) => {
    complaints.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(`${mock.url}${fragment ? `&${fragment}` : ""}`);
  await settled(page);
  return { page, mock, complaints, close: async () => (await context.close(), server ? undefined : mock.close()) };
}

/**
 * Where the times of the lanes stand in the window.
 * @param {import("playwright-core").Page} page
 */
export async function timeArea(page) {
  const box = await page.locator(".lane-area").boundingBox();
  if (!box) throw new Error("there are no lanes");
  const head = Number(await page.evaluate("tracesift.headWidth.value"));
  return { x: box.x + head, y: box.y, width: Number(await page.evaluate("document.querySelector('.axis-time').clientWidth")), height: box.height };
}

/**
 * Waits until lanes and panel have their numbers.
 * @param {import("playwright-core").Page} page
 */
export async function settled(page) {
  await page.waitForFunction(() => {
    const it = /** @type {{ tracesift?: { lanes: { store: { complete: boolean }, singles: { complete: boolean } }, busy: { value: number } } }} */ (/** @type {unknown} */ (window)).tracesift;
    return it && it.lanes.store.complete && it.lanes.singles.complete && it.busy.value === 0 && document.querySelector(".dock")?.getAttribute("aria-busy") === "false";
  }, undefined, { timeout: 60_000 });
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
}
