// The page with the real server: TRACESIFT names the program. Its archives are those of `tracesift demo`.
import assert from "node:assert/strict";
import test from "node:test";
import { settled, timeArea } from "./browser.mjs";
import { demo, rowsOf, running, skip } from "./program.mjs";

const program = running(skip, (place) => demo(place, "Parallel_3135"));

test("every panel and every group of lanes has an answer", { skip }, async () => {
  const it = await program.open("process=FileWriter.exe*");
  const { page } = it;
  for (const name of await page.getByRole("tab").allInnerTexts()) {
    await page.getByRole("tab", { name, exact: true }).click();
    await settled(page);
    assert.equal(await page.locator(".panel-body [role=alert]").count(), 0, `${name}: ${await page.locator(".panel-body").innerText()}`);
  }
  await page.evaluate("tracesift.view.opened.value = new Set([...tracesift.model.known.values()].filter((lane) => lane.kind === 'group').map((lane) => lane.id))");
  await settled(page);
  for (let top = 0; top < 3000; top += 300) {
    await page.evaluate(`document.querySelector(".lanes.main").scrollTop = ${top}`);
    await page.waitForTimeout(30);
    await settled(page);
  }
  assert.equal(await page.evaluate("tracesift.trouble.value"), null);
  assert.deepEqual(it.complaints, []);
  await it.close();
});

test("cells are what the copied command prints", { skip }, async () => {
  const it = await program.open("open=processes&time=1s..3s");
  const { page } = it;
  const area = await timeArea(page);
  let at = 7;
  const next = () => (at = (at * 48271) % 2147483647) / 2147483647;
  for (const name of ["Processes", "Threads", "Methods", "Stack tags", "Waits", "Call tree", "Disk"]) {
    await page.getByRole("tab", { name, exact: true }).click();
    for (let i = 0; i < 3; i += 1) {
      const [a, b] = [next() * 1000, next() * 1000];
      await page.mouse.move(area.x + a, area.y + 100);
      await page.mouse.down();
      await page.mouse.move(area.x + (Math.abs(a - b) < 20 ? a + 40 : b), area.y + 100, { steps: 2 });
      await page.mouse.up();
      await settled(page);
      await page.locator("#copy-command").click();
      const command = String(await page.evaluate("tracesift.lastCopied.text"));
      const rows = rowsOf(command).filter((row) => row["idle"] !== true);
      assert.deepEqual(await page.evaluate("tracesift.dock.rows"), rows, command);
    }
  }
  assert.deepEqual(it.complaints, []);
  await it.close();
});

test("figures of lanes are those of their commands, with times from the start and from a mark", { skip }, async () => {
  for (const zero of ["", "&zero-time=process-start:FileWriter.exe"]) {
    const it = await program.open(`open=processes&open=cpus&open=disks&time=1s..1.4s${zero}`);
    const { page } = it;
    if (zero) await page.waitForFunction("tracesift.view.zero.value !== null");
    await settled(page);
    const lanes = /** @type {{ id: string, pid: number, cpu: number, name: string, unit: string, first: number, bucket: number, commands: Record<string, string>, series: Record<string, number[]> }[]} */ (await page.evaluate(`(async () => {
      const { carried, commandLine } = await import("/assets/state/command.js");
      const out = [];
      for (const id of ["process:1", "process:3", "process:6", "cpu:0", "cpu:5", "disk:0"]) {
        const data = tracesift.lanes.store.data.get(id)?.[0];
        const lane = tracesift.model.known.get(id);
        if (!data || !lane) continue;
        const { head, series } = data.frame;
        const words = Object.entries(head.words).filter(([name]) => series[name] && name !== "top");
        out.push({ id, pid: Number(/\\((\\d+)\\)/.exec(lane.name)?.[1] ?? -1), cpu: Number(id.slice(4)), name: lane.name, first: head.first_ns, bucket: head.bucket_ns, commands: Object.fromEntries(words.map(([name, list]) => [name, commandLine(carried(list))])), series: Object.fromEntries(words.map(([name]) => [name, [...series[name]]])) });
      }
      return out;
    })()`));
    const base = Number(await page.evaluate("tracesift.view.zero.value?.ns ?? 0"));
    assert.equal(base > 0, zero !== "");
    assert.ok(lanes.length >= 4);
    for (const lane of lanes) {
      for (const [name, command] of Object.entries(lane.commands)) {
        assert.equal(command.includes("--zero-time"), zero !== "", command);
        const rows = /** @type {{ pid: number, cpu: number, disk: string, from_ns: number, bucket_ns: number, values: number[] }[]} */ (rowsOf(command));
        const row = rows.find((one) => (lane.id.startsWith("process") ? one.pid === lane.pid : lane.id.startsWith("cpu") ? one.cpu === lane.cpu : one.disk === lane.id.slice(5)));
        // Rows without any figure are left out.
        const seen = (lane.series[name] ?? []).filter((value) => value !== null && !Number.isNaN(value));
        if (!row) {
          assert.ok(seen.every((value) => value === 0), command);
          continue;
        }
        assert.equal(row.from_ns + base, lane.first, command);
        assert.equal(row.bucket_ns, lane.bucket, command);
        assert.deepEqual(row.values, seen, command);
      }
    }
    assert.deepEqual(it.complaints, []);
    await it.close();
  }
});

test("the keyboard alone finds the lock that holds up the file writer", { skip }, async () => {
  const it = await program.open("");
  const { page } = it;
  const id = await page.evaluate("tracesift.view.session.value.recordings.find(({ name }) => name.includes('Parallel_3135')).id");
  await page.evaluate(`location.hash = "recording=${id}"`);
  await settled(page);
  const press = async (/** @type {string[]} */ ...keys) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  // Whose time: the search finds the program, and the panels are about it.
  await press("/");
  await page.keyboard.type("FileWriter");
  await page.locator(".hits [role=option]").first().waitFor();
  await press("Enter");
  await page.locator(".chip", { hasText: "FileWriter.exe(9872)" }).waitFor();
  // What it waits for.
  await press("Control+Shift+P");
  await page.keyboard.type("panel waits");
  await press("Enter");
  await page.locator("[role=tab][aria-selected=true]", { hasText: "Waits" }).waitFor();
  await settled(page);
  const rowHas = (/** @type {RegExp} */ wanted) => page.evaluate((text) => new RegExp(text).test(document.activeElement?.textContent ?? ""), wanted.source);
  for (let i = 0; i < 6 && !(await page.evaluate("document.activeElement?.classList.contains('table-row')")); i += 1) await press("F6");
  assert.equal(await page.evaluate("document.activeElement?.classList.contains('table-row')"), true, "F6 leads to the rows");
  for (let i = 0; i < 60 && !(await rowHas(/NtfsAcquire.*\(\d+\) \d+/)); i += 1) await press("ArrowDown");
  assert.ok(await rowHas(/NtfsAcquire.*\(\d+\) \d+/), `a wait for a lock that a thread ended: ${await page.evaluate("document.activeElement?.textContent")}`);
  await press("Enter");
  await page.locator(".detail .woken", { hasText: "Woken by" }).waitFor();
  assert.match(await page.locator("#said").textContent() ?? "", /waits [\d.,]+ (ms|µs|s).*woken by /);
  // The lock, by the stack; who had it, by the thread that ended the wait.
  assert.match(await page.locator(".detail .stack").first().textContent() ?? "", /ExAcquireResource\w+Lite[\s\S]*NtfsAcquire/);
  const waited = await page.evaluate("tracesift.view.chosen.value.lane");
  const waker = await page.evaluate("tracesift.view.chosen.value.at.waker.lane");
  await press("Shift+Enter");
  await page.waitForFunction((id) => (/** @type {never} */ (window))["tracesift"]["view"]["chosen"]["value"]?.["lane"] === id, waker);
  assert.notEqual(waker, waited);
  // The evidence, for a shell.
  await press("c");
  assert.match(String(await page.evaluate("tracesift.lastCopied.text")), /^tracesift dump waits .*-p "?FileWriter\.exe\(9872\)"?/);
  assert.deepEqual(it.complaints, []);
  await it.close();
});

test("the first complete picture takes at most 12 requests and 2 MiB", { skip }, async () => {
  const context = await program.browser.newContext({ viewport: { width: 1920, height: 1080 } });
  const page = await context.newPage();
  /** @type {Promise<number>[]} */
  const sizes = [];
  page.on("response", (response) => sizes.push(response.body().then((body) => body.length, () => 0)));
  await page.goto(program.server.address);
  await settled(page);
  const requests = Number(await page.evaluate("tracesift.counts.requests"));
  assert.ok(requests <= 12, `${requests} requests`);
  const all = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  assert.ok(all > 300_000 && all <= 2 * 1024 * 1024, `${all} bytes`);
  await context.close();
});

test("a wait leads to the thread that ended it", { skip }, async () => {
  const it = await program.open("open=processes&panel=waits&process=FileWriter.exe*&time=1s..3s");
  const { page } = it;
  await page.locator(".table-row", { hasText: "MsMpEng" }).first().click();
  await page.locator(".detail .woken", { hasText: "Woken by" }).waitFor();
  assert.match(await page.locator(".detail").innerText(), /MsMpEng\.exe/);
  await page.locator(".lane.guest", { hasText: "MsMpEng" }).waitFor();
  assert.deepEqual(it.complaints, []);
  await it.close();
});
