// The page's numbers against the command that it copies, and its pixels against the truth of the recording.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { recording } from "./mock/answers.mjs";
import { sums } from "./mock/recording.mjs";
import { STRIP } from "../page/lanes/paint.js";
import { launch, open, settled } from "./browser.mjs";
import { read } from "./pixels.mjs";

/** @type {import("playwright-core").Browser} */
let browser;
/** @type {string} */
let bin;
before(async () => {
  browser = await launch();
  // What a shell finds as `tracesift`.
  bin = mkdtempSync(join(tmpdir(), "tracesift-"));
  writeFileSync(join(bin, "tracesift"), `#!/bin/sh\nexec "${process.execPath}" "${fileURLToPath(new URL("mock/cli.mjs", import.meta.url))}" "$@"\n`);
  chmodSync(join(bin, "tracesift"), 0o755);
});
after(async () => {
  await browser?.close();
  rmSync(bin, { recursive: true, force: true });
});

/** @param {string} command */
function shell(command) {
  return JSON.parse(execFileSync("/bin/sh", ["-c", `${command} --format json`], { env: { ...process.env, PATH: `${bin}:${process.env["PATH"]}` }, maxBuffer: 1 << 28 }).toString());
}

/** @param {number} seed */
function random(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

/** Rounded half up to one or three digits, with `,` between thousands: what the page documents. @param {number} ns @param {number} digits */
function ms(ns, digits) {
  const [whole = "", part] = (Math.round(ns / 10 ** (6 - digits)) / 10 ** digits).toFixed(digits).split(".");
  return `${whole.replace(/\B(?=(\d{3})+$)/g, ",")}.${part}`;
}

test("40 drags: cells are what the copied command prints", async () => {
  const it = await open(browser, { fragment: "open=processes&time=10s..30s" });
  const { page } = it;
  try {
    const next = random(40);
    const box = await page.locator(".lane-area").boundingBox();
    const head = Number(await page.evaluate("tracesift.headWidth.value"));
    assert.ok(box);
    const width = box.width - head - 20;
    const tabs = ["Processes", "Threads", "Waits", "Methods", "Disk", "Events"];
    for (let i = 0; i < 40; i += 1) {
      if (i % 7 === 0) await page.getByRole("tab", { name: tabs[(i / 7) % tabs.length] ?? "", exact: true }).click();
      const [a, b] = [head + next() * width, head + next() * width];
      const y = box.y + 30 + next() * 200;
      await page.mouse.move(box.x + a, y);
      await page.mouse.down();
      await page.mouse.move(box.x + b + (Math.abs(a - b) < 8 ? 12 : 0), y, { steps: 2 });
      await page.mouse.up();
      await settled(page);
      await page.locator("#copy-command").click();
      const command = String(await page.evaluate("tracesift.lastCopied.text"));
      const range = /** @type {number[]} */ (await page.evaluate("tracesift.view.selection.value"));
      assert.match(command, /--time /, command);
      const rows = /** @type {Record<string, unknown>[]} */ (shell(command)).filter((row) => row["idle"] !== true);
      const shown = /** @type {Record<string, unknown>[]} */ (await page.evaluate("tracesift.dock.rows"));
      assert.deepEqual(shown, rows, `${command} of ${range}`);
      // Cells carry the raw value; their text is the documented rounding of it.
      const cells = await page.evaluate(() => [...document.querySelectorAll(".table-row")].flatMap((row) => [...row.querySelectorAll(".cell")].map((cell) => ({ key: cell.getAttribute("data-key") ?? "", raw: cell.getAttribute("data-raw") ?? "", text: cell.textContent ?? "" }))));
      for (const { key, raw, text } of cells) {
        if (!key.endsWith("_ns") || /^(first|last|from|to)_ns$/.test(key) || raw === "null") continue;
        const most = Math.max(...rows.map((row) => Number(row[key] ?? 0)));
        assert.equal(text, ms(Number(raw), most < 10_000_000 ? 3 : 1), `${key} ${raw}`);
        assert.ok(rows.some((row) => row[key] === Number(raw)), `${key} ${raw} is in the answer`);
      }
    }
    assert.deepEqual(it.complaints, []);
  } finally {
    await it.close();
  }
});

test("call trees and flame graphs have the weights of the command", async () => {
  const it = await open(browser, { fragment: "panel=tree&select=20s..25s&process=browser.exe(404)" });
  try {
    await it.page.locator("#copy-command").click();
    const rows = shell(String(await it.page.evaluate("tracesift.lastCopied.text")));
    const total = rows.filter((/** @type {{ parent: number | null }} */ row) => row.parent === null).reduce((/** @type {number} */ sum, /** @type {{ total_ns: number }} */ row) => sum + row.total_ns, 0);
    assert.equal(await it.page.locator(".tree .root .cell[data-key=total_ns]").first().getAttribute("data-raw"), String(total));
    await it.page.getByRole("tab", { name: "Flame graph" }).click();
    await settled(it.page);
    assert.equal(await it.page.evaluate("tracesift.dock.shown.data.head.total"), total);
  } finally {
    await it.close();
  }
});

test("numbers of a lane are the answers of the commands that stand below them", async () => {
  for (const fragment of ["select=20s..25s", "select=20s..25s&zero-time=mark:Begin+writes"]) {
    const it = await open(browser, { fragment: `open=processes&open=process:1&${fragment}` });
    try {
      for (const lane of ["process:1", "thread:8"]) {
        await it.page.locator(`.lanes.main [data-lane="${lane}"] .lane-more`).click();
        await it.page.getByRole("menuitem", { name: "As table" }).click();
        await it.page.locator(".lane-numbers[aria-busy=false] .table-row").first().waitFor();
        const commands = await it.page.locator(".commands code").allInnerTexts();
        assert.ok(commands.length >= 3 && commands.every((command) => /^tracesift dump timeline .*--buckets 100/.test(command)), commands.join("\n"));
        const shown = await it.page.evaluate(() => [...document.querySelectorAll(".lane-numbers .table-row")].slice(0, 12).map((row) => Object.fromEntries([...row.querySelectorAll(".cell")].map((cell) => [cell.getAttribute("data-key"), Number(cell.getAttribute("data-raw"))]))));
        const tid = recording.threads[8]?.tid;
        for (const command of commands) {
          const measure = /--measure (\w+)/.exec(command)?.[1];
          const [row] = shell(command).filter((/** @type {{ tid?: number }} */ one) => lane === "process:1" || one.tid === tid);
          if (!row) continue;
          shown.forEach((cells, i) => {
            assert.equal(cells[`${measure}_ns`], row.values[i], command);
            assert.equal(cells["from_ns"], row.from_ns + i * row.bucket_ns);
          });
        }
        await it.page.keyboard.press("Escape");
      }
      assert.deepEqual(it.complaints, []);
    } finally {
      await it.close();
    }
  }
});

for (const scale of [1, 2]) {
  test(`run and waits of a thread are as high as the truth says, at ${scale}x`, async () => {
    const it = await open(browser, { fragment: "open=processes&open=process:1&time=18s..24s", scale });
    try {
      const thread = recording.threads.find((one) => one.process === 1);
      assert.ok(thread);
      const { height, columns } = await read(it.page, `thread:${thread.index}`, ["--run", "--wait"]);
      const strip = Math.max(1, Math.round(height * STRIP));
      const room = height - strip;
      const data = /** @type {{ from: number, per: number }} */ (await it.page.evaluate(`(() => { const d = tracesift.lanes.store.data.get("thread:${thread.index}")[0]; return { from: d.from, per: (d.to - d.from) / d.columns }; })()`));
      const first = Math.round((18e9 - data.from) / data.per);
      let bad = 0;
      for (let x = 1; x < columns.length - 2; x += 1) {
        const start = data.from + (first + x) * data.per;
        const { run = 0, wait = 0, ready = 0 } = sums(thread, start, start + data.per);
        const [seen = 0, line = 0] = columns[x] ?? [];
        const want = run === 0 ? 0 : Math.max(1, Math.round((run / data.per) * room));
        if (Math.abs(seen - want) > 1 + (ready > 0 && want === room ? 1 : 0)) bad += 1;
        if ((wait > 0) !== (line > 0)) bad += 1;
      }
      assert.equal(bad, 0, `${bad} of ${columns.length} columns differ`);
    } finally {
      await it.close();
    }
  });
}

test("a single run of 50 µs is seen at every zoom", async () => {
  const it = await open(browser, { fragment: "open=processes&open=process:8&sort=cpu&hide=cpus" });
  const { page } = it;
  try {
    const thread = recording.threads.find((one) => one.process === 8);
    assert.ok(thread);
    await page.evaluate(`tracesift.view.lane.value = "thread:${thread.index}"; tracesift.lanes.rows.focus("thread:${thread.index}")`);
    for (const size of [60e9, 20e9, 3e9, 0.2e9, 5e6, 2e5]) {
      await page.evaluate(`tracesift.view.look([${31e9 - size / 3}, ${31e9 + (size * 2) / 3}])`);
      await settled(page);
      const { columns } = await read(page, `thread:${thread.index}`, ["--run"]);
      assert.ok(columns.some(([run = 0]) => run > 0), `nothing is seen in ${size} ns`);
    }
  } finally {
    await it.close();
  }
});
