// What a reader does, over recordings of the demo with the real program: zoom, undo, handles, highlight, waits, search, pins, clocks, links,
// view files, copies; and axe on eight states in light and dark.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import test from "node:test";
import { settled, timeArea } from "./browser.mjs";
import { demo, rowsOf, running, serve, skip, visit } from "./program.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const WRITER = "process=FileWriter.exe*";

const program = running(skip, demo, (place) => {
  writeFileSync(join(place, "mine.txt"), "# tracesift view\nname mine\ntime 2s..3s\npanel waits\nprocess FileWriter.exe*\n");
  return ["--view", join(place, "mine.txt")];
});

/** @param {string} name @param {string} fragment @param {(page: import("playwright-core").Page) => Promise<void>} body */
function inPage(name, fragment, body) {
  test(name, { skip }, async () => {
    const it = await program.open(fragment);
    try {
      await body(it.page);
      assert.deepEqual([it.complaints, it.foreign], [[], []], "the console is empty, and nothing is loaded from elsewhere");
    } finally {
      await it.close();
    }
  });
}

/** @param {import("playwright-core").Page} page @returns {Promise<string>} the file of the recording that is shown */
const file = (page) => page.evaluate("tracesift.view.recording.value.file");
/** @param {import("playwright-core").Page} page @returns {Promise<[number, number]>} */
const range = (page) => page.evaluate("tracesift.view.range.value");
/** @param {import("playwright-core").Page} page @returns {Promise<[number, number]>} */
const selection = (page) => page.evaluate("tracesift.view.selection.value");
inPage("zoom about the pointer keeps the instant under it; undo", "open=processes", async (page) => {
  const area = await timeArea(page);
  const whole = await range(page);
  for (const x of [120, 640, 30]) {
    await page.mouse.move(area.x + x, area.y + 60);
    const ns = Number(await page.evaluate(`tracesift.nsAt(${x})`));
    await page.keyboard.down("Control");
    for (let i = 0; i < 6; i += 1) await page.mouse.wheel(0, -120);
    await page.keyboard.up("Control");
    await settled(page);
    assert.ok(Math.abs(Number(await page.evaluate(`tracesift.xOf(${ns})`)) - x) < 1, "the instant stays under the pointer");
  }
  const near = await range(page);
  assert.ok(near[1] - near[0] < (whole[1] - whole[0]) / 20);
  let steps = 0;
  for (; steps < 40 && (await range(page))[1] !== whole[1]; steps += 1) await page.keyboard.press("z");
  assert.deepEqual(await range(page), whole);
  for (; steps > 0; steps -= 1) await page.keyboard.press("Shift+Z");
  assert.deepEqual(await range(page), near);
});

inPage("handles move the ends of a selection, and the panel follows", `open=processes&select=1s..2s&panel=threads&${WRITER}`, async (page) => {
  for (const [name, by] of /** @type {const} */ ([["End of the selection", 90], ["Start of the selection", -60]])) {
    const before = await selection(page);
    const handle = await page.getByRole("slider", { name }).boundingBox();
    assert.ok(handle);
    await page.mouse.move(handle.x + handle.width / 2, handle.y + handle.height / 2);
    await page.mouse.down();
    await page.mouse.move(handle.x + handle.width / 2 + by, handle.y + handle.height / 2, { steps: 3 });
    await page.mouse.up();
    await settled(page);
    const after = await selection(page);
    assert.ok(by > 0 ? after[1] > before[1] && after[0] === before[0] : after[0] < before[0] && after[1] === before[1]);
    await page.locator("#copy-command").click();
    const command = String(await page.evaluate("tracesift.lastCopied.text"));
    assert.deepEqual(await page.evaluate("tracesift.dock.rows"), rowsOf(command), command);
  }
});

inPage("a row lights its lane, and a lane its row", "open=processes&panel=processes", async (page) => {
  await page.locator(".table-row", { hasText: "FileWriter.exe" }).first().hover();
  assert.match(await page.locator(".lane.lit").first().innerText(), /FileWriter\.exe/);
  await page.locator(".lane", { hasText: "MsMpEng.exe" }).first().locator(".lane-time").hover({ position: { x: 300, y: 8 } });
  assert.match(await page.locator(".table-row.lit").first().innerText(), /MsMpEng\.exe/);
});

inPage("a wait's arrow comes from the thread that ended it, at the instant at which it did", `open=processes&panel=waits&${WRITER}&time=1s..3s`, async (page) => {
  const wait = rowsOf(`tracesift dump waits '${await file(page)}' -p 'FileWriter.exe*' --time 1s..3s --top 500`).filter((row) => row["waker_tid"] !== null && row["from_ns"] > 1e9 && row["to_ns"] < 3e9).at(-1);
  assert.ok(wait);
  const row = (await page.evaluate("tracesift.dock.rows.map((row) => [row.tid, row.from_ns])")).findIndex((/** @type {number[]} */ [tid, from]) => tid === wait["tid"] && from === wait["from_ns"]);
  assert.ok(row >= 0, "the page has the wait");
  const text = page.locator(".table-row").filter({ has: page.locator(`.cell[data-key=from_ns][data-raw="${wait["from_ns"]}"]`) });
  for (let i = 0; i < 100 && (await text.count()) === 0; i += 1) {
    await page.locator(".table-row").last().hover();
    await page.mouse.wheel(0, 100);
    await page.waitForTimeout(30);
  }
  await text.first().click();
  await page.locator(".detail .woken").waitFor();
  await settled(page);
  const at = /** @type {{ lane: string, at: { span: { start_ns: number, end_ns: number }, waker: { lane: string, ns: number, name: string } } }} */ (await page.evaluate("tracesift.view.chosen.value"));
  assert.deepEqual([at.at.span.start_ns, at.at.span.end_ns], [wait["from_ns"], wait["to_ns"]]);
  const arrows = /** @type {{ from: string, to: string, ns: number }[]} */ (await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(tracesift.arrows.last))))"));
  assert.deepEqual(arrows[0], { from: at.at.waker.lane, to: at.lane, ns: wait["ready_ns"] ?? at.at.waker.ns });
  const lanes = /** @type {[string, string][]} */ (await page.evaluate("[...tracesift.model.known.values()].map((lane) => [lane.id, lane.name])"));
  assert.match(lanes.find(([id]) => id === at.at.waker.lane)?.[1] ?? "", new RegExp(`\\b${wait["waker_tid"]}\\b`));
  await page.locator(`.lane[data-lane="${at.at.waker.lane}"]`).first().waitFor();
});

inPage("search finds what the recording names, and goes there", "open=processes", async (page) => {
  for (const [text, kind] of [["MsMpEng", "process"], ["Ntfs", "module"], ["FileWriter.Program", "method"]]) {
    await page.keyboard.press("/");
    await page.locator("#search").fill(text ?? "");
    await page.locator(".hits [role=option]").first().waitFor();
    assert.match(await page.locator(".hit-count").innerText(), /[1-9]\d* hits?$/, `${kind} ${text}`);
    await page.keyboard.press("Escape");
  }
  await page.keyboard.press("/");
  await page.locator("#search").fill("MsMpEng");
  await page.locator(".hits [role=option]").first().waitFor();
  await page.keyboard.press("Enter");
  await page.locator(".lane.current", { hasText: "MsMpEng" }).waitFor();
});

inPage("pins stay above, and come back with the address", "open=processes", async (page) => {
  const lane = page.locator(".lanes.main .lane.kind-process").nth(1);
  const id = await lane.getAttribute("data-lane");
  await lane.locator(".lane-head").click();
  await page.keyboard.press("p");
  await page.locator(`.pins [data-lane="${id}"]`).waitFor();
  await page.waitForTimeout(300);
  await page.reload();
  await settled(page);
  await page.locator(`.pins [data-lane="${id}"]`).waitFor();
});

inPage("four clocks tell the instants that `tracesift time` tells", "open=processes", async (page) => {
  for (const ns of [0, 1, 1_234_567_891, 2_500_000_000, 9_000_000_007]) {
    const [told] = rowsOf(`tracesift time '${await file(page)}' --at ${(ns / 1e9).toFixed(9)}s`);
    assert.ok(told);
    const shown = /** @type {Record<string, string>} */ (await page.evaluate(async (at) => {
      const { clockOf } = await import(/** @type {string} */ ("/assets/format/time.js"));
      const recording = /** @type {never} */ (window)["tracesift"]["view"]["recording"]["value"];
      return Object.fromEntries(["s", "local", "utc"].map((clock) => [clock, clockOf(recording, clock, 0).text(at, 1)]));
    }, ns));
    // The command tells days and microseconds, the axis nanoseconds of a day.
    const clock = (/** @type {string} */ key) => told[key].slice(11);
    assert.deepEqual([told["time_ns"], shown["utc"]?.slice(0, 15), shown["local"]?.slice(0, 15)], [ns, clock("utc"), clock("local")]);
    assert.equal(shown["s"], `${(ns / 1e9).toFixed(9)} s`);
  }
});

inPage("a link shows the same view", `recording=r1&time=1s..2s&select=1.2s..1.4s&panel=threads&${WRITER}&time-format=utc&sort=wait&open=processes&mark=1.5s+mine`, async (page) => {
  const state = () => page.evaluate("[tracesift.url.toText(), JSON.stringify(tracesift.dock.rows), [...document.querySelectorAll('.lane-name')].map((one) => one.textContent).join()]");
  const before = await state();
  await page.waitForTimeout(300);
  const address = page.url();
  await page.reload();
  await settled(page);
  await page.waitForTimeout(300);
  assert.equal(page.url(), address);
  assert.deepEqual(await state(), before);
});

inPage("a view of the shell's file, and one that the page saves", "", async (page) => {
  // A view of the command line is there from the start, and by its name.
  await page.getByRole("button", { name: "Views" }).click();
  await page.getByRole("menuitem", { name: /^mine/ }).click();
  await settled(page);
  assert.deepEqual(await range(page), [2e9, 3e9]);
  assert.equal(await page.locator("[role=tab][aria-selected=true]").innerText(), "Waits");
  const text = String(await page.evaluate("tracesift.url.toText('again')"));
  writeFileSync(join(program.place, "again.txt"), text);
  const second = await serve([program.archives[0] ?? ""], ["--view", join(program.place, "again.txt")]);
  const it = await visit(program.browser, second.address, "");
  assert.deepEqual(await range(it.page), [2e9, 3e9]);
  assert.equal(await it.page.evaluate("tracesift.view.processes.value"), "FileWriter.exe*");
  assert.deepEqual(it.complaints, []);
  await it.close();
  second.close();
});

inPage("a copy as TSV has the cells of the answer", "panel=threads&time=1s..3s", async (page) => {
  await page.getByRole("button", { name: "Copy", exact: true }).click();
  await page.getByRole("menuitem", { name: /TSV/ }).click();
  const [titles = "", ...lines] = String(await page.evaluate("navigator.clipboard.readText()")).trimEnd().split("\n");
  const rows = /** @type {Record<string, unknown>[]} */ (await page.evaluate("tracesift.dock.rows"));
  const column = titles.split("\t").indexOf("TID");
  assert.ok(column >= 0, titles);
  assert.deepEqual(lines.map((line) => Number(line.split("\t")[column])).sort(), rows.map((row) => Number(row["tid"])).sort());
});

test("the policy of the page holds, and the token is in no link", { skip }, async () => {
  const it = await program.open("");
  const { page } = it;
  assert.equal(await page.evaluate("crossOriginIsolated"), true);
  const refused = /** @type {Record<string, boolean>} */ (await page.evaluate(async () => {
    const throws = async (/** @type {() => unknown} */ act) => {
      try {
        await act();
        return false;
      } catch {
        return true;
      }
    };
    return {
      html: await throws(() => (document.body.appendChild(document.createElement("p")).innerHTML = "<i>x</i>")),
      elsewhere: await throws(() => fetch("http://127.0.0.1:9/")),
      worker: await throws(() => new Worker("/assets/main.js")),
    };
  }));
  assert.deepEqual(refused, { html: true, elsewhere: true, worker: true });
  assert.ok(it.complaints.length > 0, "the browser reports what it refuses");
  await page.getByRole("button", { name: "Copy link to this view" }).click();
  const link = String(await page.evaluate("navigator.clipboard.readText()"));
  assert.ok(link.startsWith(new URL(program.server.address).origin) && !link.includes(program.server.token) && !page.url().includes(program.server.token), link);
  // Another page of the browser, which has no token, gets no data.
  const other = await (await program.browser.newContext()).newPage();
  await other.goto(link);
  await other.locator("[role=alert]").waitFor();
  await other.context().close();
  await it.close();
});

/** @type {{ name: string, fragment?: string, act?: (page: import("playwright-core").Page) => Promise<unknown> }[]} */
const STATES = [
  { name: "start" },
  { name: "selection, threads", fragment: `select=1s..2s&panel=threads&open=processes&${WRITER}` },
  { name: "a wait with its chain", fragment: `panel=waits&time=1s..3s&open=processes&${WRITER}`, act: async (page) => {
    await page.locator(".table-row").first().click();
    await page.locator(".detail h4").first().waitFor();
  } },
  { name: "call tree", fragment: `panel=tree&time=1s..3s&${WRITER}` },
  { name: "flame graph", fragment: "panel=flame&time=1s..3s" },
  { name: "search", act: async (page) => {
    await page.keyboard.press("/");
    await page.keyboard.type("Writer");
    await page.locator(".hits [role=option]").first().waitFor();
  } },
  { name: "keys", act: (page) => page.keyboard.press("?") },
  { name: "explanation", fragment: `panel=explain&${WRITER}` },
];

for (const dark of [false, true]) {
  test(`axe on ${STATES.length} states, ${dark ? "dark" : "light"}`, { skip }, async () => {
    for (const { name, fragment = "", act } of STATES) {
      const it = await program.open(fragment, { dark });
      await act?.(it.page);
      await it.page.evaluate(AXE);
      const { violations } = /** @type {{ violations: { id: string, help: string, nodes: { html: string, failureSummary: string }[] }[] }} */ (await it.page.evaluate("axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] })"));
      assert.deepEqual(violations.map(({ id, help, nodes }) => `${name}: ${id}: ${help}: ${nodes.slice(0, 3).map(({ html, failureSummary }) => `${html.slice(0, 160)} ${failureSummary.slice(0, 240)}`).join(" | ")}`), []);
      assert.deepEqual(it.complaints, []);
      await it.close();
    }
  });
}
