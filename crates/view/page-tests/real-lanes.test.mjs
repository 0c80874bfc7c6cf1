// Lanes of recordings whose truth is known, with the real program: pixels of the canvas against the truth.
import assert from "node:assert/strict";
import test from "node:test";
import { STRIP } from "../page/lanes/paint.js";
import { settled, timeArea } from "./browser.mjs";
import { read } from "./pixels.mjs";
import { extracted, running, scenario, skipScenarios as skip, truth } from "./program.mjs";

const program = running(skip, (place) => ["known.etl", "rare.etl"].flatMap((name) => extracted(scenario(name), place)));

/** @param {import("playwright-core").Page} page @param {number} pid @param {number} tid @returns {Promise<string>} the lane of a thread, which is in sight then */
async function laneOf(page, pid, tid) {
  const process = await page.evaluate((id) => [.../** @type {Map<string, { id: string, name: string }>} */ (/** @type {never} */ (window)["tracesift"]["model"]["known"]).values()].find((lane) => lane.id.startsWith("process:") && lane.name.endsWith(`(${id})`))?.id, pid);
  assert.ok(process, `a lane of process ${pid}`);
  await page.evaluate(`tracesift.view.opened.value = new Set(["processes", "${process}"]); tracesift.lanes.rows.focus("${process}")`);
  const find = () => page.evaluate((id) => [.../** @type {Map<string, { id: string, name: string }>} */ (/** @type {never} */ (window)["tracesift"]["model"]["known"]).values()].find((lane) => lane.id.startsWith("thread:") && new RegExp(`\\b${id}\\b`).test(lane.name))?.id, tid);
  for (let i = 0; i < 100 && !(await find()); i += 1) await page.waitForTimeout(20);
  const lane = await find();
  assert.ok(lane, `a lane of thread ${tid}`);
  await page.evaluate(`tracesift.view.lane.value = "${lane}"; tracesift.lanes.rows.focus("${lane}")`);
  await settled(page);
  return lane;
}

test("after undo, what lanes say is about what they show", { skip }, async () => {
  const it = await program.open("recording=r0&open=processes");
  const { page } = it;
  const corners = async () => {
    await settled(page);
    await page.evaluate("tracesift.lanes.rows.corners()");
    return page.locator(".lanes.main .lane .corner").allInnerTexts();
  };
  const before = await corners();
  assert.ok(before.some((text) => text.startsWith("top = ")), before.join());
  await page.evaluate("tracesift.view.look([1_000_000_000, 1_010_000_000])");
  await corners();
  await page.keyboard.press("z");
  assert.deepEqual(await corners(), before);
  // Lanes that are drawn anew, as with another height, are those of the range as well.
  await page.evaluate("tracesift.lanes.store.repaint()");
  assert.deepEqual(await corners(), before);
  const parts = await page.evaluate("tracesift.lanes.store.sight.lanes.map(({ id }) => tracesift.lanes.store.bitmaps.best(id, tracesift.view.range.value)?.data.from ?? 0).filter((from) => from > 0)");
  assert.deepEqual(parts, [], "pictures of all of the range");
  await it.close();
});

for (const scale of [1, 2]) {
  test(`states of threads are as high as the truth says, at ${scale}x`, { skip }, async () => {
    const { threads } = truth();
    assert.ok(threads.length > 3, "the truth has threads");
    const it = await program.open("recording=r0&open=processes", { scale, readsPixels: true });
    const { page } = it;
    let compared = 0;
    for (const [number, thread] of threads.slice(0, 4 / scale).entries()) {
      const lane = await laneOf(page, thread.pid, thread.tid);
      for (const [from = 0, to = 0] of [[0, 2e9], [0.3e9 + number * 1e7, 0.4e9 + number * 1e7], [1.2e9, 1.21e9]]) {
        // Whole columns per pixel: a picture that moves or is scaled by parts of a pixel would blur the edges of columns.
        const width = Number(await page.evaluate("document.querySelector('.axis-time').clientWidth")) * scale;
        const length = Math.floor((to - from) / width);
        const start = Math.ceil(from / length) * length;
        await page.evaluate(`tracesift.view.look([${start}, ${start + width * length}])`);
        await settled(page);
        const { height, columns } = await read(page, lane, ["--run", "--wait", "--ready"]);
        const room = height - Math.max(1, Math.round(height * STRIP));
        const data = /** @type {{ from: number, per: number, first: number }} */ (await page.evaluate(`(() => { const d = tracesift.lanes.store.data.get("${lane}")[0]; return { from: d.from, per: (d.to - d.from) / d.columns, first: tracesift.view.range.value[0] }; })()`));
        const left = Math.round((data.first - data.from) / data.per);
        /** @type {string[]} */
        const bad = [];
        for (let x = 1; x < columns.length - 2; x += 1) {
          const column = data.from + (left + x) * data.per;
          const sum = (/** @type {string} */ state) => thread.spans.reduce((all, [of, a, b]) => all + (of === state ? Math.max(0, Math.min(b, column + data.per) - Math.max(a, column)) : 0), 0);
          const [run, wait, ready] = [sum("run"), sum("wait"), sum("ready")];
          const [seen = 0, line = 0] = columns[x] ?? [];
          const want = run === 0 ? 0 : Math.max(1, Math.round((run / data.per) * room));
          if (Math.abs(seen - want) > 1 + (ready > 0 && want === room ? 1 : 0)) bad.push(`column ${x}: run ${seen} of ${want}`);
          if ((wait > 0) !== (line > 0)) bad.push(`column ${x}: wait ${wait} ns, ${line} pixels`);
          compared += 1;
        }
        assert.deepEqual(bad.slice(0, 5), [], `${lane} from ${from} to ${to}: ${bad.length} of ${columns.length} columns differ`);
      }
    }
    assert.ok(compared > 8_000, `${compared}`);
    assert.deepEqual(it.complaints, []);
    await it.close();
  });
}

test("a single run of 50 µs in a minute is seen at every step of the zoom", { skip }, async () => {
  const it = await program.open("recording=r1&open=processes", { readsPixels: true });
  const { page } = it;
  const lane = await laneOf(page, 44, 45);
  const at = 31.05e9;
  const area = await timeArea(page);
  let steps = 0;
  for (; steps < 90; steps += 1) {
    const [from = 0, to = 0] = /** @type {number[]} */ (await page.evaluate("tracesift.view.range.value"));
    assert.ok(from < at + 50_000 && to > at, "the zoom keeps the run in sight");
    const { columns } = await read(page, lane, ["--run"]);
    const seen = columns.flatMap(([run = 0], x) => (run > 0 ? [x] : []));
    assert.ok(seen.length > 0, `nothing is seen in ${to - from} ns`);
    const x = Number(await page.evaluate(`tracesift.xOf(${at})`));
    assert.ok(seen.every((column) => column >= Math.floor(x) - 1 && column <= Math.ceil(Number(x) + (50_000 / (to - from)) * columns.length) + 1), `${seen.slice(0, 5)}… is not ${x}`);
    if (to - from < 30_000) break;
    await page.mouse.move(area.x + x, area.y + 60);
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -120);
    await page.keyboard.up("Control");
    await settled(page);
  }
  assert.ok(steps > 20, `${steps} steps`);
  assert.deepEqual(it.complaints, []);
  await it.close();
});
