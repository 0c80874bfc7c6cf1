// What a reader does: zoom, select, highlight, follow a wait, search, pin, link, copy.
import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { recording } from "./mock/answers.mjs";
import { kindOf } from "./mock/lanes.mjs";
import { launch, open, settled, timeArea } from "./browser.mjs";

/** @type {import("playwright-core").Browser} */
let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

/** @param {import("playwright-core").Page} page */
const range = (page) => page.evaluate("tracesift.view.range.value");

/** @param {string} name @param {Parameters<typeof open>[1]} options @param {(page: import("playwright-core").Page, it: Awaited<ReturnType<typeof open>>) => Promise<void>} body */
function inPage(name, options, body) {
  test(name, async () => {
    const it = await open(browser, options);
    try {
      await body(it.page, it);
      assert.deepEqual(it.complaints, [], "the console is empty");
    } finally {
      await it.close();
    }
  });
}

inPage("the browser and the tests understand each other, and the token leaves the address", {}, async (page) => {
  assert.doesNotMatch(page.url(), /token/);
  assert.equal(await page.evaluate("crossOriginIsolated"), true);
  assert.match(await page.title(), /made-up/);
});

inPage("zoom about the pointer keeps the instant under it; undo and redo", {}, async (page) => {
  const area = await timeArea(page);
  const x = 300;
  await page.mouse.move(area.x + x, area.y + 60);
  const ns = Number(await page.evaluate(`tracesift.nsAt(${x})`));
  await page.keyboard.down("Control");
  for (let i = 0; i < 12; i += 1) await page.mouse.wheel(0, -120);
  await page.keyboard.up("Control");
  await settled(page);
  const [from, to] = /** @type {number[]} */ (await range(page));
  assert.ok(to - from < 10e9);
  assert.ok(Math.abs(Number(await page.evaluate(`tracesift.xOf(${ns})`)) - x) < 1, "the instant stays under the pointer");
  // Turns of the wheel that follow each other are one step, unless the machine is slow.
  let steps = 0;
  for (; steps < 12 && (/** @type {number[]} */ (await range(page)))[1] !== 60e9; steps += 1) await page.keyboard.press("z");
  assert.deepEqual(await range(page), [0, 60e9]);
  for (; steps > 0; steps -= 1) await page.keyboard.press("Shift+Z");
  assert.deepEqual(await range(page), [from, to]);
});

inPage("WASD, fit and the whole recording", {}, async (page) => {
  await page.keyboard.press("w");
  const [a, b] = /** @type {number[]} */ (await range(page));
  assert.ok(b - a < 60e9);
  await page.keyboard.press("d");
  assert.ok((/** @type {number[]} */ (await range(page)))[0] > a);
  await page.keyboard.press("0");
  assert.deepEqual(await range(page), [0, 60e9]);
});

inPage("drag selects, handles move, Enter zooms to the selection", {}, async (page) => {
  const area = await timeArea(page);
  await page.mouse.move(area.x + 200, area.y + 80);
  await page.mouse.down();
  await page.mouse.move(area.x + 400, area.y + 80, { steps: 4 });
  await page.mouse.up();
  const first = /** @type {number[]} */ (await page.evaluate("tracesift.view.selection.value"));
  assert.ok(first && first[0] < first[1]);
  await page.locator(".about", { hasText: "Selection" }).waitFor();
  const handle = await page.getByRole("slider", { name: "End of the selection" }).boundingBox();
  assert.ok(handle);
  await page.mouse.move(handle.x + 12, handle.y + 30);
  await page.mouse.down();
  await page.mouse.move(handle.x + 112, handle.y + 30, { steps: 3 });
  await page.mouse.up();
  const second = /** @type {number[]} */ (await page.evaluate("tracesift.view.selection.value"));
  assert.equal(second[0], first[0]);
  assert.ok(second[1] > first[1]);
  await page.getByRole("slider", { name: "Start of the selection" }).focus();
  await page.keyboard.press("ArrowRight");
  assert.ok((/** @type {number[]} */ (await page.evaluate("tracesift.view.selection.value")))[0] > first[0]);
  await page.locator("body").click({ position: { x: 5, y: 5 } });
  await page.keyboard.press("Enter");
  const third = /** @type {number[]} */ (await page.evaluate("tracesift.view.selection.value"));
  assert.deepEqual(await range(page), third);
});

inPage("a row of a table lights its lane, and a lane its rows", {}, async (page) => {
  await page.locator(".table-row", { hasText: "browser.exe" }).first().hover();
  assert.equal(await page.locator(".lane.lit").count(), 1);
  assert.match(await page.locator(".lane.lit").innerText(), /browser\.exe\(404\)/);
  await page.locator(".lane", { hasText: "MsMpEng.exe(660)" }).locator(".lane-time").hover();
  await page.mouse.move(700, 330);
  await page.locator(".lane", { hasText: "MsMpEng.exe(660)" }).locator(".lane-time").hover({ position: { x: 200, y: 8 } });
  assert.match(await page.locator(".table-row.lit").first().innerText(), /MsMpEng\.exe/);
  await page.getByRole("tab", { name: "Threads", exact: true }).click();
  await page.evaluate("tracesift.view.toggleOpen('process:1')");
  await settled(page);
  await page.locator(".lane.kind-thread", { hasText: "540" }).first().locator(".lane-time").hover({ position: { x: 240, y: 9 } });
  assert.deepEqual(await page.locator(".table-row.lit [data-key=tid]").allInnerTexts(), ["540"]);
});

inPage("a wait shows its stack, who ended it, and an arrow to the right lane and instant", { fragment: "open=processes&open=process:1&time=20s..20.5s" }, async (page) => {
  const thread = recording.threads.find((one) => one.process === 1 && one.name === "worker-0");
  assert.ok(thread);
  const wait = thread.spans.find((one) => one.state === "wait" && one.start > 20.05e9 && one.end < 20.45e9 && one.waker !== null && one.end - one.start > 2e6);
  assert.ok(wait && wait.waker !== null);
  const lane = page.locator(`.lanes.main [data-lane="thread:${thread.index}"] .lane-time`);
  const x = Number(await page.evaluate(`tracesift.xOf(${(wait.start + wait.end) / 2})`));
  await lane.click({ position: { x, y: 10 } });
  await page.locator(".detail .woken", { hasText: "Woken by" }).waitFor();
  assert.match(await page.locator(".detail .what").innerText(), /^waits/);
  const arrows = /** @type {{ from: string, to: string, ns: number }[]} */ (await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(tracesift.arrows.last))))"));
  assert.deepEqual(arrows[0], { from: `thread:${wait.waker}`, to: `thread:${thread.index}`, ns: wait.end });
  const below = page.locator(`.lane.guest[data-lane="thread:${wait.waker}"]`);
  await below.waitFor();
  assert.match(await page.locator("#said").textContent() ?? "", /waits .* woken by/);
  const links = /** @type {{ run_ns: number, wait_ns: number }[]} */ (await page.evaluate("tracesift.view.chosen.value.at.chain"));
  const did = await page.locator(".detail .chain .did").first().innerText();
  assert.match(did, /^ran [\d.]+ \S+/);
  assert.equal(did.includes("waited"), (links[0]?.wait_ns ?? 0) > 0, "the figures of the link, not one state for all of it");
  // The woken-by line stands above the chain, and the chain above the stacks, none of which has a scroll bar.
  const order = await page.locator(".detail").evaluate((detail) => [".woken", ".chain", ".waits-in", ".stack"].map((one) => detail.querySelector(one)?.getBoundingClientRect().top ?? 0));
  assert.deepEqual(order, [...order].sort((a, b) => a - b));
  await page.locator(".detail").evaluate((detail) => (detail.scrollTop = 60));
  await page.keyboard.press("Shift+Enter");
  await page.waitForFunction((id) => document.querySelector(".lane.current")?.getAttribute("data-lane") === id, `thread:${wait.waker}`);
  await page.locator(".way-back").waitFor();
  assert.equal(await page.locator(".detail").evaluate((detail) => detail.scrollTop), 0, "the next span begins at the top");
  const landed = /** @type {{ start_ns: number, end_ns: number }} */ (await page.evaluate("tracesift.view.chosen.value.at.span"));
  assert.ok(landed.start_ns < wait.end && landed.end_ns >= wait.end, "it lands at the wake-up");
  assert.match(await page.locator(".way-back").innerText(), /worker-0|54/);
  // Another span of the lane keeps the way back.
  await page.keyboard.press(",");
  await page.waitForFunction((start) => (/** @type {never} */ (window))["tracesift"]["view"]["chosen"]["value"]["at"]["span"]["start_ns"] < start, landed.start_ns);
  assert.match(await page.locator(".way-back").innerText(), /worker-0|54/);
  await page.keyboard.press("Backspace");
  await page.waitForFunction((start) => (/** @type {never} */ (window))["tracesift"]["view"]["chosen"]["value"]["at"]["span"]["start_ns"] === start, wait.start);
  assert.equal(await page.locator(".way-back").count(), 0);
});

inPage("next and previous span of a lane", { fragment: "open=processes&open=process:1&time=20s..20.5s" }, async (page) => {
  const thread = recording.threads.find((one) => one.process === 1);
  assert.ok(thread);
  await page.locator(`.lanes.main [data-lane="thread:${thread.index}"] .lane-time`).click({ position: { x: 300, y: 10 } });
  await page.locator(".detail").waitFor();
  const now = async () => (/** @type {{ start_ns: number, end_ns: number }} */ (await page.evaluate("tracesift.view.chosen.value.at.span")));
  const first = await now();
  await page.keyboard.press(".");
  await page.waitForFunction((end) => (/** @type {never} */ (window))["tracesift"]["view"]["chosen"]["value"]["at"]["span"]["start_ns"] === end, first.end_ns);
  await page.keyboard.press(",");
  await page.waitForFunction((start) => (/** @type {never} */ (window))["tracesift"]["view"]["chosen"]["value"]["at"]["span"]["start_ns"] === start, first.start_ns);
});

inPage("search lists by kind, shows density, and goes to a hit", {}, async (page) => {
  await page.keyboard.press("/");
  await page.keyboard.type("worker-1");
  await page.locator(".hits [role=option]").first().waitFor();
  assert.match(await page.locator(".hit-count").innerText(), /hits?$/);
  await page.waitForFunction(() => (/** @type {never} */ (window))["tracesift"]["view"]["density"]["value"] !== null);
  await page.keyboard.press("Enter");
  await page.locator(".lane.current.kind-thread").waitFor();
  assert.match(await page.locator(".lane.current").innerText(), /worker-1/);
});

inPage("pins stay above, and come back with the address", { fragment: "open=processes" }, async (page, it) => {
  await page.locator('.lanes.main [data-lane="process:2"] .lane-head').click();
  await page.keyboard.press("p");
  await page.locator('.pins [data-lane="process:2"]').waitFor();
  await page.waitForTimeout(300);
  const address = page.url();
  assert.match(address, /pin=process:2/);
  await page.reload();
  await settled(page);
  await page.locator('.pins [data-lane="process:2"]').waitFor();
  assert.ok(it.mock.log.length > 0);
});

inPage("a link shows the same view", { fragment: "time=10s..20s&select=12s..13s&panel=threads&process=browser.exe(404)&time-format=utc&sort=wait&open=processes&open=process:0&hide=process:3&mark=15s+mine&table=threads+-wait_ns+process,tid,wait_ns&panel-height=60%25" }, async (page) => {
  const text = String(await page.evaluate("tracesift.url.toText()"));
  for (const line of ["time 10s..20s", "select 12s..13s", "panel threads", "process browser.exe(404)", "time-format utc", "sort wait", "open process:0", "hide process:3", "mark 15s mine", "table threads -wait_ns process,tid,wait_ns", "panel-height 60%"]) assert.ok(text.includes(`\n${line}\n`), `${line} in ${text}`);
  assert.equal(await page.locator('[data-lane="process:3"]').count(), 0);
  assert.deepEqual(await page.locator(".table-head .cell").evaluateAll((all) => all.map((one) => one.getAttribute("data-key"))), ["process", "tid", "wait_ns"]);
  await page.waitForTimeout(300);
  const address = page.url();
  await page.reload();
  await settled(page);
  await page.waitForTimeout(300);
  assert.equal(page.url(), address);
  assert.equal(await page.evaluate("tracesift.url.toText()"), text);
});

inPage("a damaged link shows what can be read", { fragment: "time=5s..1s&panel=%zz&open=%3Cscript%3E&sort=evil&span=x&time-format=utc" }, async (page) => {
  assert.deepEqual(await range(page), [0, 60e9]);
  assert.equal(await page.evaluate("tracesift.view.clock.value"), "utc");
});

inPage("a saved view is taken from the shell's file", {}, async (page) => {
  await page.getByRole("button", { name: "Views" }).click();
  await page.getByRole("menuitem", { name: /Mine/ }).click();
  assert.deepEqual(await range(page), [10e9, 20e9]);
  assert.equal(await page.locator("[role=tab][aria-selected=true]").innerText(), "Waits");
});

inPage("times by four clocks", {}, async (page) => {
  const area = await timeArea(page);
  await page.mouse.move(area.x + 100, area.y + 50);
  for (const clock of ["local", "utc", "here", "s"]) {
    await page.keyboard.press("t");
    assert.equal(await page.evaluate("tracesift.view.clock.value"), clock);
  }
  await page.keyboard.press("t");
  await page.locator(".about", { hasText: "10:00:00" }).waitFor();
  await page.keyboard.press("t");
  await page.locator(".about", { hasText: /09:00:00.*Z/ }).waitFor();
});

inPage("sort, columns, and copies", {}, async (page) => {
  await page.getByRole("columnheader", { name: "Process" }).getByRole("button").click();
  assert.equal(await page.getByRole("columnheader", { name: "Process" }).getAttribute("aria-sort"), "ascending");
  const names = await page.locator(".table-row .cell[data-key=process]").allInnerTexts();
  assert.deepEqual(names, [...names].sort());
  await page.getByRole("button", { name: "Columns" }).click();
  await page.getByRole("menuitemcheckbox", { name: "Priority" }).click();
  assert.equal(await page.locator(".table-head [data-key=priority]").count(), 0);
  assert.match(String(await page.evaluate("tracesift.url.toText()")), /\ntable processes \+process process,pid,/);
  await page.getByRole("button", { name: "Copy", exact: true }).click();
  await page.getByRole("menuitem", { name: /TSV/ }).click();
  const copied = await page.evaluate("navigator.clipboard.readText()");
  assert.match(String(copied), /^Process\tPID\tCPU ms\t/);
  assert.match(String(copied), /\nbrowser\.exe\t404\t/);
});

inPage("the filter takes patterns and becomes words", {}, async (page, it) => {
  await page.getByRole("searchbox", { name: /Filter rows/ }).fill("browser*;!x");
  await page.waitForFunction(() => document.querySelectorAll(".table-row").length === 1);
  await settled(page);
  assert.match(await page.locator(".table-row").innerText(), /browser\.exe/);
  assert.ok(it.mock.log.some(({ path, body }) => path === "ask" && JSON.stringify(body).includes("browser*;!x")));
});

inPage("butterfly of a function, and only these", { fragment: "panel=methods" }, async (page) => {
  await page.locator(".table-row", { hasText: "Encoder::encode" }).first().dblclick();
  await page.locator(".butterfly").waitFor();
  await settled(page);
  assert.match(await page.locator(".butterfly .half").nth(1).innerText(), /memcpy/);
  assert.match(await page.locator(".butterfly .half").nth(0).innerText(), /Worker::run/);
  await page.getByRole("tab", { name: "Processes" }).click();
  await settled(page);
  await page.locator(".table-row", { hasText: "browser.exe" }).first().dblclick();
  await settled(page);
  assert.equal(await page.locator(".table-row").count(), 1);
  await page.getByRole("button", { name: /show all again/ }).click();
  await settled(page);
  assert.ok(await page.locator(".table-row").count() > 5);
});

inPage("tree, flame graph and other panels answer", {}, async (page) => {
  for (const name of ["Threads", "Stack tags", "Call tree", "Callers", "Disk", "Files", "Events", "Path", "Explain", "Flame graph"]) {
    await page.getByRole("tab", { name, exact: true }).click();
    await settled(page);
    assert.equal(await page.locator(".panel-body [role=alert]").count(), 0, name);
    assert.notEqual(await page.locator(".panel-body").innerHTML(), "", name);
    // A tree leaves out small processes; nobody must take it for all of them.
    const isOfStacks = ["Call tree", "Callers", "Flame graph"].includes(name);
    assert.equal(/the 20 largest processes at most/.test(await page.locator(".panel-foot").innerText()), isOfStacks, name);
    // An explanation is no table: there is nothing to copy, and no empty menu.
    if (name !== "Explain") continue;
    await page.getByRole("button", { name: "Copy", exact: true }).click();
    assert.equal(await page.locator(".menu").count(), 0);
  }
  const tip = page.locator(".flame-tip");
  const [, total = ""] = /^(.+) in [\d,]+ boxes$/.exec(await tip.innerText()) ?? [];
  assert.ok(total);
  // Each box counts once, and not again with what is above it.
  await page.getByRole("searchbox", { name: "Highlight functions" }).fill("*");
  assert.ok((await tip.innerText()).startsWith(`${total} in `), await tip.innerText());
  await page.getByRole("searchbox", { name: "Highlight functions" }).fill("*no such function*");
  assert.match(await tip.innerText(), /^0 ns in 0 highlighted boxes, of /);
  await page.locator(".flame-scroll").focus();
  await page.keyboard.press("ArrowDown");
  assert.match(await page.locator(".flame-tip").innerText(), /%/);
});

inPage("a panel about all threads says so", { fragment: "panel=waits" }, async (page) => {
  await page.evaluate(`tracesift.view.thread.value = { tid: 532, name: "532 main" }`);
  await settled(page);
  const about = page.locator(".about");
  assert.equal(await about.locator(".chip.off").count(), 0);
  await page.getByRole("tab", { name: "Methods", exact: true }).click();
  await settled(page);
  assert.equal((await about.locator(".chip.off").innerText()).trim(), "532 main");
  assert.match(await about.innerText(), /all threads/);
});

inPage("the overview's brush and the list of commands", {}, async (page) => {
  const strip = await page.locator(".strip").boundingBox();
  assert.ok(strip);
  await page.mouse.move(strip.x + 200, strip.y + 20);
  await page.mouse.down();
  await page.mouse.move(strip.x + 500, strip.y + 20, { steps: 5 });
  await page.mouse.up();
  const [from, to] = /** @type {number[]} */ (await range(page));
  assert.ok(from > 5e9 && to < 40e9);
  await page.keyboard.press("Control+Shift+P");
  await page.keyboard.type("dark colours");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate("document.documentElement.dataset.theme"), "dark");
});

inPage("inactive lanes are hidden and counted; order of lanes", { fragment: "open=processes&open=process:8" }, async (page) => {
  await page.keyboard.press("i");
  await page.locator(".kind-more", { hasText: "inactive" }).waitFor();
  assert.equal(await page.locator('[data-lane="process:8"]').count(), 1, "one run of 50 µs is active");
  await page.getByLabel("Order of lanes").selectOption("name");
  await settled(page);
  const names = (await page.locator(".lane.kind-process .lane-name").allInnerTexts()).slice(0, 4);
  assert.deepEqual(names, [...names].sort());
});

inPage("Shift and drag pans, a double click selects the span, Escape clears", { fragment: "open=processes&open=process:1&time=20s..20.5s" }, async (page) => {
  const area = await timeArea(page);
  await page.keyboard.down("Shift");
  await page.mouse.move(area.x + 500, area.y + 100);
  await page.mouse.down();
  await page.mouse.move(area.x + 400, area.y + 100, { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  const [from, to] = /** @type {number[]} */ (await range(page));
  assert.ok(Math.abs(to - from - 0.5e9) < 2 && from > 20.04e9, `${from} ${to}`);
  const thread = recording.threads.find((one) => one.process === 1);
  assert.ok(thread);
  const span = thread.spans.find((one) => one.state === "run" && one.start > from + 0.1e9 && one.end - one.start > 5e6);
  assert.ok(span);
  const x = Number(await page.evaluate(`tracesift.xOf(${(span.start + span.end) / 2})`));
  await page.locator(`.lanes.main [data-lane="thread:${thread.index}"] .lane-time`).click({ position: { x, y: 10 } });
  await page.locator(".detail").waitFor();
  await page.locator(`.lanes.main [data-lane="thread:${thread.index}"] .lane-time`).dblclick({ position: { x, y: 10 } });
  await page.waitForFunction((ends) => JSON.stringify(/** @type {never} */ (window)["tracesift"]["view"]["selection"]["value"]) === JSON.stringify(ends), [span.start, span.end]);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  assert.equal(await page.evaluate("tracesift.view.selection.value"), null);
});

inPage("single operations and events where few are in sight, a density elsewhere", { fragment: "open=disks&open=events&time=10s..10.1s" }, async (page) => {
  await page.waitForFunction(() => (/** @type {never} */ (window)["tracesift"]["lanes"]["singles"]["known"]["get"]("disk:0"))?.["frame"]);
  const starts = /** @type {number[]} */ (await page.evaluate("[...tracesift.lanes.singles.known.get('disk:0').frame.series.start]"));
  assert.deepEqual(starts, recording.disk.filter((one) => one.disk === 0 && one.end >= 10e9 && one.start < 10.1e9).map((one) => one.start));
  await page.keyboard.press("0");
  await page.waitForFunction(() => (/** @type {never} */ (window)["tracesift"]["lanes"]["singles"]["known"]["get"]("disk:0"))?.["frame"] === null);
});

inPage("waits for disks and sleeps differ from others: in form, under the pointer, in words", { fragment: "open=processes&open=process:1&time=20s..20.1s" }, async (page) => {
  const waits = recording.threads.filter(({ process }) => process === 1).flatMap((thread) => thread.spans.filter((one) => one.state === "wait" && one.end > 20e9 && one.start < 20.1e9).map((one) => ({ ...one, kind: kindOf(one), lane: `thread:${thread.index}`, middle: (Math.max(one.start, 20e9) + Math.min(one.end, 20.1e9)) / 2 })));
  const shown = new Set(/** @type {string[]} */ (await page.locator(".lanes.main .kind-thread").evaluateAll((all) => all.map((one) => one.getAttribute("data-lane")))));
  const inSight = waits.filter(({ lane }) => shown.has(lane));
  await page.waitForFunction((lane) => (/** @type {never} */ (window)["tracesift"]["lanes"]["singles"]["known"]["get"](lane))?.["frame"], inSight[0]?.lane);
  await settled(page);
  const kinds = new Map();
  for (const wait of inSight) {
    assert.equal(await page.evaluate(`tracesift.lanes.singles.waitAt("${wait.lane}", ${wait.middle})`), wait.kind);
    const width = Number(await page.evaluate(`tracesift.xOf(${Math.min(wait.end, 20.1e9)}) - tracesift.xOf(${Math.max(wait.start, 20e9)})`));
    if (width > 40 && !kinds.has(wait.kind)) kinds.set(wait.kind, wait);
  }
  assert.deepEqual([...kinds.keys()].sort(), ["disk", "other", "sleep"]);
  for (const [kind, { lane, middle }] of kinds) {
    const row = page.locator(`.lanes.main [data-lane="${lane}"] .lane-time`);
    const ink = await row.evaluate((element, ns) => {
      const { lanes, xOf } = /** @type {{ lanes: { pixels: HTMLCanvasElement, area: HTMLElement, overlay: { draw: () => void }, redraw: () => void }, xOf: (ns: number) => number }} */ (/** @type {never} */ (window)["tracesift"]);
      const bottom = element.getBoundingClientRect().bottom - lanes.area.getBoundingClientRect().top;
      const context = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d", { willReadFrequently: true }));
      const shot = () => {
        lanes.redraw();
        context.drawImage(lanes.pixels, Math.round(xOf(ns)) - 9, Math.round(bottom) - 7, 18, 1, 0, 0, 18, 1);
        const { data } = context.getImageData(0, 0, 18, 1);
        return Array.from({ length: 18 }, (_, i) => data.slice(i * 4, i * 4 + 4).join());
      };
      const all = shot();
      const { draw } = lanes.overlay;
      lanes.overlay.draw = () => {};
      const below = shot();
      lanes.overlay.draw = draw;
      lanes.redraw();
      return all.map((pixel, i) => (pixel === below[i] ? "" : pixel));
    }, middle);
    const full = ink.filter((pixel) => pixel !== "");
    if (kind === "disk") assert.deepEqual([...new Set(full)].length === 1 && full.length, 18, String(ink));
    if (kind === "sleep") assert.ok(full.length >= 4 && full.length <= 8, String(ink));
    if (kind === "other") assert.ok(full.length <= 2, String(ink));
    const x = Number(await page.evaluate(`tracesift.xOf(${middle})`));
    await row.hover({ position: { x, y: 10 } });
    const words = { disk: "waits for a disk", sleep: "sleeps, or waits for a timer", other: "" }[String(kind)] ?? "";
    assert.equal(/waits for|sleeps/.test(await page.locator(".readout").innerText()), words !== "");
    await row.click({ position: { x, y: 10 } });
    await page.waitForFunction((text) => document.getElementById("said")?.textContent?.includes(text), words || ", waits ");
    assert.match(await page.locator(".detail .what").innerText(), new RegExp(words || "^waits \\d"));
  }
  assert.match(await page.locator(".state-keys").innerText(), /for a disk\s*sleep, timer/);
});

inPage("parents stay above their children, with their pictures", { fragment: "open=processes&open=process:1&open=cpus", height: 640 }, async (page) => {
  const stuck = page.locator(".sticky .lane");
  assert.equal(await stuck.count(), 0);
  await page.evaluate(`document.querySelector(".lanes.main").scrollTop = tracesift.rowHeight.value * 4.5`);
  await page.waitForFunction(() => document.querySelectorAll(".sticky .lane").length === 2);
  await settled(page);
  assert.deepEqual(await stuck.evaluateAll((all) => all.map((one) => one.getAttribute("data-stuck"))), ["processes", "process:1"]);
  const ink = await page.evaluate(() => {
    const it = /** @type {{ lanes: { pixels: HTMLCanvasElement }, rowHeight: { value: number } }} */ (/** @type {never} */ (window)["tracesift"]);
    const row = it.rowHeight.value * devicePixelRatio;
    const { data } = /** @type {CanvasRenderingContext2D} */ (it.lanes.pixels.getContext("2d")).getImageData(0, row, 400, row);
    const colours = new Set(Array.from({ length: data.length / 4 }, (_, i) => data.slice(i * 4, i * 4 + 4).join()));
    // More than the ground and a line of the grid.
    return colours.size > 2;
  });
  assert.ok(ink, "the picture of the process");
  const area = await timeArea(page);
  await page.mouse.move(area.x + 300, area.y + 40);
  await page.locator(".readout", { hasText: "FileWriter.exe(532)" }).waitFor();
  // The keyboard goes to rows that can be seen.
  const thread = page.locator(".lanes.main .kind-thread").nth(2);
  await thread.focus();
  await page.keyboard.press("ArrowUp");
  const box = await page.locator(".lanes.main [role=row]:focus").boundingBox();
  assert.ok(box && box.y >= area.y + 50, "not below the parents");
  await stuck.nth(1).locator(".lane-head").click();
  await page.waitForFunction(() => document.querySelector(".lane.current")?.getAttribute("data-lane") === "process:1");
});

inPage("colours that the reader gives stay with the view", { fragment: "open=processes" }, async (page) => {
  const lane = page.locator('.lanes.main [data-lane="process:1"]');
  const other = await page.locator('.lanes.main [data-lane="process:2"] .swatch').getAttribute("class");
  await lane.locator(".lane-more").click();
  await page.getByRole("menuitem", { name: "Colour…" }).click();
  await page.getByRole("menuitemcheckbox", { name: "gold" }).click();
  await lane.locator(".swatch.hue-3").waitFor();
  await page.locator(".table-row", { hasText: "FileWriter.exe" }).locator(".swatch.hue-3").waitFor();
  assert.match(String(await page.evaluate("tracesift.url.toText()")), /\ncolour gold process FileWriter\.exe\(532\)\n/);
  await page.waitForTimeout(300);
  await page.reload();
  await settled(page);
  await lane.locator(".swatch.hue-3").waitFor();
  assert.equal(await page.locator('.lanes.main [data-lane="process:2"] .swatch').getAttribute("class"), other);
  await page.evaluate("location.hash = 'open=processes&colour=red+process+FileWriter.exe&colour=nocolour+process+x'");
  await lane.locator(".swatch.hue-1").waitFor();
});

inPage("times count from a mark, and so do the commands", { fragment: "panel=waits&time=10s..20s" }, async (page, it) => {
  const mark = recording.marks[0];
  assert.ok(mark);
  const before = /** @type {{ from_ns: number }[]} */ (await page.evaluate("tracesift.dock.rows"));
  await page.getByRole("button", { name: "0 = start" }).click();
  await page.getByRole("menuitemcheckbox", { name: `mark ${mark.name}` }).click();
  await settled(page);
  const command = String(await page.evaluate("tracesift.dock.command"));
  assert.ok(command.includes(`--time ${(10e9 - mark.ns) / 1e9}s..${(20e9 - mark.ns) / 1e9}s`) && command.includes(`--zero-time 'mark:${mark.name}'`), command);
  const after = /** @type {{ from_ns: number }[]} */ (await page.evaluate("tracesift.dock.rows"));
  assert.deepEqual(after.map((row) => row.from_ns + mark.ns), before.map((row) => row.from_ns));
  // A row still leads to its wait.
  await page.locator(".table-row").first().click();
  await page.locator(".detail .what", { hasText: "waits" }).waitFor();
  const words = /** @type {{ path: string, body: { words: string[] } }[]} */ (it.mock.log).filter(({ path }) => path === "ask").at(-1)?.body.words;
  assert.ok(words?.includes("--zero-time"));
  await page.waitForTimeout(300);
  const text = String(await page.evaluate("tracesift.url.toText()"));
  assert.ok(text.includes(`\nzero-time mark:${mark.name}\n`), text);
  await page.reload();
  await page.waitForFunction((ns) => (/** @type {never} */ (window))["tracesift"]?.["view"]["zero"]["value"]?.["ns"] === ns, mark.ns);
  await page.getByRole("button", { name: /^0 = / }).click();
  await page.getByRole("menuitem", { name: /Mark, process, method/ }).click();
  await page.getByLabel("Its name, a pattern").fill("nothing of this name");
  await page.getByRole("button", { name: "Count from here" }).click();
  await page.locator("dialog [role=alert]", { hasText: "does not have" }).waitFor();
});

inPage("the menu of a row narrows the panels, and selects its time", { fragment: "panel=waits&time=20s..21s" }, async (page) => {
  const row = page.locator(".table-row").nth(2);
  const [process, tid] = [await row.locator("[data-key=process]").innerText(), await row.locator("[data-key=tid]").innerText()];
  await row.click({ button: "right" });
  await page.getByRole("menuitem", { name: "Select its time" }).click();
  const from = Number(await row.locator("[data-key=from_ns]").getAttribute("data-raw"));
  assert.equal((/** @type {number[]} */ (await page.evaluate("tracesift.view.selection.value")))[0], from);
  await settled(page);
  await page.evaluate("tracesift.view.selection.value = null");
  await settled(page);
  await page.locator(".table-row").nth(2).focus();
  await page.keyboard.press("Shift+F10");
  await page.getByRole("menuitem", { name: /Only this thread/ }).click();
  await settled(page);
  await page.locator(".chip", { hasText: process }).first().waitFor();
  assert.deepEqual([...new Set(await page.locator(".table-row [data-key=tid]").allInnerTexts())], [tid]);
  // Escape in a field leaves the field alone; undo takes the choice back, and not the selection that came after it.
  await page.locator("input.filter").focus();
  await page.keyboard.press("Escape");
  assert.equal(await page.evaluate("document.activeElement === document.body"), true);
  await page.locator(".chip").first().waitFor();
  await page.evaluate("tracesift.view.selection.value = [20_000_000_000, 20_500_000_000]");
  await page.keyboard.press("z");
  await page.locator(".chip").first().waitFor({ state: "detached", timeout: 10_000 });
  assert.deepEqual(await page.evaluate("tracesift.view.selection.value"), [20_000_000_000, 20_500_000_000]);
});

inPage("instants of a table follow the clock", { fragment: "panel=waits" }, async (page) => {
  const cell = page.locator(".table-row .cell[data-key=from_ns]").first();
  assert.match(await cell.innerText(), / s$/);
  await page.evaluate("tracesift.view.clock.value = 'utc'");
  assert.match(await cell.innerText(), /Z$/);
});

inPage("disks have reads and writes apart, and peaks behind the average", { fragment: "open=disks&open=disk:0" }, async (page) => {
  await page.waitForFunction(() => (/** @type {never} */ (window)["tracesift"]["lanes"]["store"]["data"]["get"]("disk:0:busy")));
  assert.deepEqual(await page.evaluate("tracesift.lanes.store.data.get('disk:0:busy')[0].frame.head.peaks"), ["busy"]);
  assert.deepEqual(await page.evaluate("tracesift.lanes.store.data.get('disk:0')[0].frame.head.series"), ["read-bytes", "write-bytes"]);
  await page.locator('[data-lane="disk:0:busy"] .lane-more').click();
  await page.getByRole("menuitem", { name: "Copy as command: peak of busy" }).waitFor();
  await page.keyboard.press("Escape");
  await page.locator('[data-lane="disk:0"] .lane-more').click();
  for (const name of ["read-bytes", "write-bytes"]) await page.getByRole("menuitem", { name: `Copy as command: ${name}` }).waitFor();
});

inPage("paper gets the command and the whole table, in light colours", { dark: true, fragment: "panel=threads" }, async (page) => {
  await page.evaluate("dispatchEvent(new Event('beforeprint'))");
  await page.emulateMedia({ media: "print" });
  assert.match(await page.locator(".print-table code").innerText(), /^tracesift dump threads/);
  assert.equal(await page.locator(".print-table tbody tr").count(), Number(await page.evaluate("tracesift.dock.rows.length")));
  assert.equal(await page.evaluate("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)");
  await page.emulateMedia({ media: "screen" });
  await page.evaluate("dispatchEvent(new Event('afterprint'))");
  assert.notEqual(await page.evaluate("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)");
});

test("a server that has gone is said", async () => {
  const it = await open(browser, {});
  it.mock.close();
  await it.page.getByRole("tab", { name: "Threads" }).click();
  await it.page.locator(".panel-body [role=alert]").waitFor();
  assert.match(await it.page.locator(".panel-body").innerText(), /tracesift does not answer/);
  await it.close();
});

test("a wrong token is said", async () => {
  const it = await open(browser, {});
  const page = await (await browser.newContext()).newPage();
  await page.goto(`${it.mock.origin}/#token=${"b".repeat(64)}`);
  await page.locator("[role=alert]").waitFor();
  assert.match(await page.locator("#app").innerText(), /token/);
  await it.close();
});
