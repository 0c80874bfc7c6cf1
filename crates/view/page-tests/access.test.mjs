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
  { name: "numbers of a lane, parents in sight", fragment: "open=processes&open=process:1&select=20s..21s", act: async (page) => {
    await page.evaluate("document.querySelector('.lanes.main').scrollTop = 120");
    await page.locator(".lanes.main .kind-thread .lane-more").nth(3).click();
    await page.getByRole("menuitem", { name: "As table" }).click();
    await page.locator(".lane-numbers[aria-busy=false] .table-row").first().waitFor();
  } },
  { name: "time zero", act: async (page) => {
    await page.locator(".zero").click();
    await page.getByRole("menuitem", { name: /Mark, process, method/ }).click();
  } },
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

test("F6 goes from part to part, and back", async () => {
  const it = await open(browser, { server, fragment: "open=processes&panel=waits" });
  const { page } = it;
  const part = () => page.evaluate("[['.search', 'search'], ['.lane-area', 'lanes'], ['.tabs', 'panels'], ['.panel-body', 'rows']].find(([home]) => document.activeElement?.closest(home))?.[1] ?? 'none'");
  try {
    const seen = [];
    for (let i = 0; i < 5; i += 1) {
      await page.keyboard.press("F6");
      seen.push(await part());
    }
    assert.deepEqual(seen, ["lanes", "panels", "rows", "search", "lanes"]);
    await page.keyboard.press("Shift+F6");
    assert.equal(await part(), "search");
    await page.keyboard.press("F6");
    await page.keyboard.press("c");
    assert.match(String(await page.evaluate("tracesift.lastCopied.text")), /^tracesift dump waits/);
    const height = Number(await page.evaluate("document.querySelector('.dock').clientHeight"));
    await page.keyboard.press("q");
    await settled(page);
    assert.ok(Number(await page.evaluate("document.querySelector('.dock').clientHeight")) > height * 1.3);
    const foot = await page.locator(".panel-foot").boundingBox();
    assert.ok(foot && foot.y + foot.height <= 900, "the foot stays inside of the window");
    assert.deepEqual(it.complaints, []);
  } finally {
    await it.close();
  }
});

test("the system's few colours: pictures keep the colours of states, texts and edges follow the system", async () => {
  const it = await open(browser, { server, fragment: "open=processes&open=process:1&panel=threads&process=FileWriter.exe(532)&select=10s..20s" });
  const { page } = it;
  try {
    await page.emulateMedia({ forcedColors: "active" });
    await settled(page);
    const colours = /** @type {Record<string, string>} */ (await page.evaluate(`Object.fromEntries(["run", "ready", "wait", "unknown", "surface"].map((name) => {
      const probe = document.getElementById("probe");
      probe.style.color = "var(--" + name + ")";
      return [name, getComputedStyle(probe).color];
    }))`));
    assert.equal(new Set(Object.values(colours)).size, 5, JSON.stringify(colours));
    for (const name of [".brush-bar", ".grip", ".table-row .bar"]) assert.equal(await page.locator(name).first().evaluate((one) => getComputedStyle(one).forcedColorAdjust), "none", name);
    const [back, front] = await page.locator(".lane.chosen > .lane-head").first().evaluate((one) => [getComputedStyle(one).backgroundColor, getComputedStyle(one).color]);
    assert.notEqual(back, front);
    await page.evaluate(AXE);
    const { violations } = /** @type {{ violations: { id: string }[] }} */ (await page.evaluate("axe.run(document, { runOnly: ['wcag2a', 'wcag2aa'] })"));
    assert.deepEqual(violations.map(({ id }) => id), []);
  } finally {
    await it.close();
  }
});

for (const scale of [1, 1.5, 2, 3]) {
  test(`at ${scale} pixels a pixel, canvases have as many pixels as the screen`, async () => {
    const it = await open(browser, { server, scale, width: 1000, height: 700 });
    try {
      const sizes = /** @type {{ name: string, own: number[], shown: number[] }[]} */ (await it.page.evaluate(() => [...document.querySelectorAll("canvas")].filter((one) => one.offsetParent !== null).map((one) => {
        const box = one.getBoundingClientRect();
        return { name: one.className, own: [one.width, one.height], shown: [box.width * devicePixelRatio, box.height * devicePixelRatio] };
      })));
      assert.ok(sizes.length >= 3);
      for (const { name, own, shown } of sizes) own.forEach((size, i) => assert.ok(Math.abs(size - (shown[i] ?? 0)) <= 1.5, `${name}: ${own} for ${shown}`));
    } finally {
      await it.close();
    }
  });
}

test("at 3,840 × 2,160 all of the window is used", async () => {
  const it = await open(browser, { server, width: 3840, height: 2160, fragment: "open=processes&open=cpus" });
  try {
    const box = await it.page.locator("#app").boundingBox();
    assert.deepEqual([box?.width, box?.height], [3840, 2160]);
    assert.equal(await it.page.evaluate("document.documentElement.scrollWidth"), 3840);
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
    // Lanes and panels keep their room: the page scrolls.
    assert.ok(Number(await it.page.evaluate("document.querySelector('.lanes.main').clientHeight")) >= 80);
    await it.page.locator(".table-row").nth(3).scrollIntoViewIfNeeded();
    const box = await it.page.locator(".table-row").nth(3).boundingBox();
    assert.ok(box && box.y >= 0 && box.y < 450);
    for (const name of ["Order of lanes", "What lanes show"]) assert.ok(((await it.page.getByLabel(name).boundingBox())?.width ?? 0) >= 50, name);
  } finally {
    await it.close();
  }
});
