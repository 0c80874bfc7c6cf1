// Drags of the mouse over recordings of the demo and over shared ones: the tables have what the copied command prints.
import assert from "node:assert/strict";
import test from "node:test";
import { settled, timeArea } from "./browser.mjs";
import { demo, random, rowsOf, running, shared, skip } from "./program.mjs";

/** Drags over the lanes; TRACESIFT_DRAGS names another number. */
const DRAGS = Number(process.env["TRACESIFT_DRAGS"] ?? 40);
/** Recordings of both systems, with and without switches, of which the demo has none. */
const SHARED = ["etl/net.4.5.2.x64.etl.zip", "etl/Tx-Process.etl", "perf/single-event-multi-process.perf.data", "perf/perf.data.busy.0-3.8"];

const program = running(skip, (place) => [...demo(place), ...shared(SHARED, place)]);

/** Rounded half up to one or three digits, with `,` between thousands: what the page documents. @param {number} ns @param {number} digits */
function ms(ns, digits) {
  const [whole = "", part] = (Math.round(ns / 10 ** (6 - digits)) / 10 ** digits).toFixed(digits).split(".");
  return `${whole.replace(/\B(?=(\d{3})+$)/g, ",")}.${part}`;
}

test(`${DRAGS} drags over all recordings: cells are what the copied command prints`, { skip }, async () => {
  const next = random(40);
  for (const [number] of program.archives.entries()) {
    const it = await program.open(`recording=r${number}&open=processes`);
    const { page } = it;
    const area = await timeArea(page);
    const tabs = (await page.getByRole("tab").allInnerTexts()).filter((name) => !["Flame graph", "Butterfly", "Path", "Explain"].includes(name));
    for (let i = 0; i < Math.ceil(DRAGS / program.archives.length); i += 1) {
      const tab = tabs[Math.floor(next() * tabs.length)] ?? "";
      await page.getByRole("tab", { name: tab, exact: true }).click();
      const [a, b] = [next() * (area.width - 60), next() * (area.width - 60)];
      const y = area.y + 30 + next() * 100;
      await page.mouse.move(area.x + a, y);
      await page.mouse.down();
      await page.mouse.move(area.x + (Math.abs(a - b) < 20 ? a + 40 : b), y, { steps: 2 });
      await page.mouse.up();
      await settled(page);
      assert.equal(await page.locator(".panel-body [role=alert]").count(), 0, `${tab}: ${await page.locator(".panel-body").innerText()}`);
      await page.locator("#copy-command").click();
      const command = String(await page.evaluate("tracesift.lastCopied.text"));
      const [from, to] = /** @type {[number, number]} */ (await page.evaluate("tracesift.view.selection.value"));
      assert.match(command, /--time /, `${from} ${to}`);
      const rows = rowsOf(command).filter((row) => row["idle"] !== true);
      assert.deepEqual(await page.evaluate("tracesift.dock.rows"), rows, command);
      // Cells carry the raw value; their text is the documented rounding of it.
      const cells = await page.evaluate(() => [...document.querySelectorAll(".table-row:not(.root)")].flatMap((row) => [...row.querySelectorAll(".cell")].map((cell) => ({ key: cell.getAttribute("data-key") ?? "", raw: cell.getAttribute("data-raw") ?? "", text: cell.textContent ?? "" }))));
      for (const { key, raw, text } of cells) {
        if (!key.endsWith("_ns") || /^(first|last|from|to)_ns$/.test(key) || raw === "null" || raw === "") continue;
        const most = Math.max(...rows.map((row) => Number(row[key] ?? 0)));
        assert.equal(text, ms(Number(raw), most < 10_000_000 ? 3 : 1), `${command}: ${key} ${raw}`);
        assert.ok(rows.some((row) => row[key] === Number(raw)), `${key} ${raw} is in the answer`);
      }
    }
    assert.deepEqual(it.complaints, []);
    await it.close();
  }
});
