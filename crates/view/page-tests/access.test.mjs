// Accessibility: axe on eight states in light and dark, the tree of roles, and an investigation by the keyboard alone.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import test, { after, before } from "node:test";
import { serve } from "./mock/serve.mjs";
import { launch, open, settled } from "./browser.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** @type {import("playwright-core").Browser} */
let browser;
/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => {
  browser = await launch();
  server = await serve();
});
after(async () => {
  await browser?.close();
  server?.close();
});

/** @type {{ name: string, fragment?: string, act?: (page: import("playwright-core").Page) => Promise<unknown> }[]} */
const STATES = [
  { name: "start" },
  { name: "selection, threads", fragment: "select=10s..20s&panel=threads&open=processes&open=process:1&pin=thread:7&process=FileWriter.exe(532)" },
  { name: "wait with its chain", fragment: "panel=waits&time=20s..20.5s&open=processes&open=process:1&span=20.2s+thread:7" },
  { name: "call tree", fragment: "panel=tree&time=20s..22s" },
  { name: "flame graph", fragment: "panel=flame&time=20s..22s" },
  { name: "search", act: async (page) => {
    await page.keyboard.press("/");
    await page.keyboard.type("worker");
    await page.locator(".hits [role=option]").first().waitFor();
  } },
  { name: "keys", act: (page) => page.keyboard.press("?") },
  { name: "menu, banner, butterfly", fragment: "panel=butterfly&method=Cache::lookup&time=20s..22s", act: async (page) => {
    await page.locator(".banner summary").click();
    await page.locator(".lane-more").first().click();
  } },
];

for (const dark of [false, true]) {
  for (const { name, fragment = "", act } of STATES) {
    test(`axe: ${name}, ${dark ? "dark" : "light"}`, async () => {
      const it = await open(browser, { server, dark, fragment });
      try {
        await act?.(it.page);
        await it.page.evaluate(AXE);
        const { violations } = /** @type {{ violations: { id: string, help: string, nodes: { html: string, failureSummary: string }[] }[] }} */ (await it.page.evaluate("axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] })"));
        assert.deepEqual(violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.slice(0, 3).map(({ html, failureSummary }) => `${html.slice(0, 160)} ${failureSummary.slice(0, 240)}`).join(" | ")}`), []);
      } finally {
        await it.close();
      }
    });
  }
}

test("lanes are a treegrid that says levels and places", async () => {
  const it = await open(browser, { server, fragment: "open=processes&open=process:1" });
  try {
    const tree = it.page.getByRole("treegrid", { name: "Lanes" });
    assert.ok(Number(await tree.getAttribute("aria-rowcount")) > 10);
    const snapshot = await tree.ariaSnapshot();
    assert.match(snapshot, /row "Close Processes Processes/);
    assert.match(snapshot, /rowheader "Close FileWriter\.exe\(532\)/);
    assert.match(snapshot, /gridcell "536 main: timeline/);
  } finally {
    await it.close();
  }
});

test("the keyboard alone finds who holds up a thread", async () => {
  const it = await open(browser, { server, fragment: "open=processes&time=20s..22s" });
  const { page } = it;
  try {
    for (let i = 0; i < 60 && !(await page.evaluate("document.activeElement?.closest('.lanes.main') !== null && document.activeElement?.getAttribute('role') === 'row'")); i += 1) await page.keyboard.press("Tab");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowRight");
    await page.locator(".kind-thread").first().waitFor();
    await page.keyboard.press("ArrowDown");
    assert.equal(await page.evaluate("document.activeElement?.classList.contains('kind-thread')"), true);
    for (let i = 0; i < 40; i += 1) {
      const before = await page.locator("#said").textContent();
      await page.keyboard.press(".");
      await page.waitForFunction((text) => document.getElementById("said")?.textContent !== text, before);
      if (/waits .*woken by [A-Za-z]+\.?[a-z]*\(/.test(await page.locator("#said").textContent() ?? "")) break;
    }
    assert.match(await page.locator("#said").textContent() ?? "", /waits [\d.]+ (ms|µs|s) in .*, woken by /);
    const lane = await page.evaluate("tracesift.view.lane.value");
    await page.keyboard.press("Shift+Enter");
    await page.waitForFunction((id) => /** @type {never} */ (window)["tracesift"]["view"]["lane"]["value"] !== id, lane);
    assert.deepEqual(it.complaints, []);
  } finally {
    await it.close();
  }
});

test("at twice the size nothing runs out of the window", async () => {
  const it = await open(browser, { server, width: 720, height: 450, scale: 2 });
  try {
    assert.equal(await it.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), true);
    for (const name of ["Threads", "Waits"]) {
      await it.page.getByRole("tab", { name, exact: true }).click();
      await settled(it.page);
    }
  } finally {
    await it.close();
  }
});
