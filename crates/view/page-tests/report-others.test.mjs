// The reports of `history` and `explain` in a browser, made by the real program: numbers read back, hover, search, axe, hostile names.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { launch } from "./browser.mjs";
import { demo, extracted, folder, run, scenario, skipScenarios as skip } from "./program.mjs";
import { accessible, inReport, values } from "./reports.mjs";

/** @type {import("playwright-core").Browser} */
let browser;
const place = skip ? null : folder();
const file = (/** @type {string} */ name) => join(place?.path ?? "", name);
const json = (/** @type {string} */ name) => JSON.parse(readFileSync(file(name), "utf8"));

/** Answers as pages and as objects. @param {string} command @param {string} name */
function told(command, name) {
  for (const kind of ["html", "json"]) run(`${command} -o ${file(`${name}.${kind}`)}`);
}

before(async () => {
  if (!place) return;
  run(`tracesift extract -q '${scenario("history")}' -o ${file("runs")}`);
  told(`tracesift history ${file("runs")} -p app`, "history");
  const [archive = ""] = demo(file("demo"));
  const sets = [["fast", "7066"], ["slow", "12695"]].map(([label, ms]) => `${label}='${file("demo")}/*Serial_${ms}*'`);
  told(`tracesift compare ${sets.join(" ")} -p FileWriter --stacks`, "stacks");
  told(`tracesift explain '${archive}' -p FileWriter`, "explain");
  const [hostile = ""] = extracted(scenario("hostile.etl"), place.path);
  told(`tracesift history '${hostile}' -p '*script*'`, "hostile-history");
  told(`tracesift explain '${hostile}' -p '*script*'`, "hostile-explain");
  browser = await launch();
});
after(async () => {
  await browser?.close();
  place?.drop();
});

/** @param {string} name @param {string} of @param {Parameters<typeof inReport>[2]} body @param {Parameters<typeof inReport>[3]} [how] */
const onPage = (name, of, body, how) => test(name, { skip }, () => inReport(browser, file(of), body, how));

const FIGURES = ["duration_ns", "undisturbed_ns", "cpu_ns"];

/** A figure of two sets as its row has it. @param {any} of */
const figure = (of) => [of.before_median_ns, of.after_median_ns, of.ratio, of.low, of.p];

onPage("every number of a history is one of the JSON", "history.html", async (page) => {
  const { cases: [it] } = json("history.json");
  assert.deepEqual(it.changes.map((/** @type {any} */ of) => of.run), [10], "the change is at the eleventh run");
  assert.match(await page.locator(".sentence").innerText(), /^1 change in 20 runs\. .* from run 11 on/);
  const segments = await values(page, ".segments tbody tr");
  assert.deepEqual(segments.map((row) => row.slice(1)), it.segments.map((/** @type {any} */ of) => FIGURES.map((key) => of[key])));
  for (const [at, change] of it.changes.entries()) {
    const turn = `.turn >> nth=${at} >> `;
    assert.deepEqual((await values(page, `${turn}.figures tbody tr`)).map((row) => row.slice(0, 5)), change.figures.map(figure));
    const steps = (await values(page, `${turn}.waterfall .step`)).map((row) => row.slice(0, 2));
    assert.deepEqual(steps, change.shown.map((/** @type {any} */ of) => [of.delta_ns, of.half_width_ns]));
    assert.equal(steps.reduce((sum, [delta]) => sum + (delta ?? 0), 0), change.difference_ns);
  }
  assert.deepEqual((await values(page, ".latest tbody tr")).map((row) => row.slice(0, 5)), it.latest.figures.map(figure));
  assert.deepEqual((await values(page, ".outliers tbody tr")).map((row) => row[2]), it.outliers.map((/** @type {any} */ of) => of.ratio));
  const cpu = it.series.find((/** @type {any} */ of) => of.kind === "cpu");
  assert.deepEqual((await values(page, ".runs tbody tr")).map((row) => row.slice(2)), it.runs.map((/** @type {any} */ of, /** @type {number} */ at) => [of.duration_ns, of.undisturbed_ns, cpu.values_ns[at]]));
  const median = (/** @type {number[]} */ list) => {
    const sorted = list.toSorted((a, b) => a - b);
    return ((sorted[(sorted.length - 1) >> 1] ?? 0) + (sorted[sorted.length >> 1] ?? 0)) / 2;
  };
  assert.deepEqual((await values(page, ".all-series tbody tr")).map((row) => row.slice(0, 2)), it.series.map((/** @type {any} */ of) => [median(of.values_ns), of.p_corrected]));
});

onPage("the picture of a history has each run at its value, and each segment at its median", "history.html", async (page) => {
  const { cases: [it] } = json("history.json");
  const marks = await page.locator(".series").first().evaluate((picture) => Array.from(picture.querySelectorAll(".dot"), (dot) => {
    const box = /** @type {SVGGraphicsElement} */ (dot).getBBox();
    return { run: Number(dot.getAttribute("data-run")), value: Number(dot.getAttribute("data-v")), x: box.x + box.width / 2, y: box.y + box.height / 2, apart: dot.classList.contains("b") };
  }));
  assert.deepEqual(marks.map(({ value }) => value), it.runs.map((/** @type {any} */ of) => of.duration_ns));
  assert.deepEqual(marks.filter(({ apart }) => apart).map(({ run }) => run), it.outliers.map((/** @type {any} */ of) => of.run));
  const inside = marks.filter(({ apart }) => !apart).toSorted((a, b) => a.value - b.value);
  const [low, high] = [inside[0], inside.at(-1)];
  const perNs = ((high?.y ?? 0) - (low?.y ?? 0)) / ((high?.value ?? 0) - (low?.value ?? 0));
  assert.ok(perNs < 0, "more is higher");
  for (const { value, y } of inside) assert.ok(Math.abs(y - (low?.y ?? 0) - (value - (low?.value ?? 0)) * perNs) < 0.2, `${value} at ${y}`);
  marks.forEach(({ x }, at) => assert.ok(at === 0 || x > (marks[at - 1]?.x ?? 0), "runs are in their order"));
  const lines = await page.locator(".series").first().locator("line.median").evaluateAll((all) => all.map((line) => Number(line.getAttribute("data-v"))));
  assert.deepEqual(lines, it.segments.map((/** @type {any} */ of) => of.duration_ns));
});

onPage("hovering a run of a history tells its row, and runs are searched", "history.html", async (page) => {
  await page.locator(".series .dot").nth(12).hover();
  const row = page.locator('.runs tr[data-run="12"]');
  const tip = await page.locator("#tip").innerText();
  assert.ok(tip.includes(`Duration: ${await row.locator("td").nth(2).innerText()} ms`), tip);
  assert.match(await row.getAttribute("class") ?? "", /lit/);
  await page.getByLabel("Search the series").fill("prepare");
  assert.ok((await page.locator(".all-series tbody tr:not([hidden])").allTextContents()).every((text) => /prepare/i.test(text)));
});

onPage("every number of an explanation is one of the JSON, and its shares add up", "explain.html", async (page) => {
  const { explanations: [it] } = json("explain.json");
  assert.equal(await page.locator(".sentence").first().textContent(), it.sentence);
  const raw = new Set((await page.locator("td[data-v]").evaluateAll((all) => all.map((cell) => cell instanceof HTMLElement ? cell.dataset["v"] : undefined))).map(Number));
  for (const share of it.account.shares) assert.ok(raw.has(share.path_ns), `${share.state} ${share.disturbance} ${share.path_ns}`);
  for (const row of it.account.largest) assert.ok(raw.has(row.path_ns), row.text);
  assert.equal(it.account.shares.reduce((/** @type {number} */ sum, /** @type {any} */ of) => sum + of.path_ns, 0), it.account.window_ns);
  assert.ok(raw.has(it.account.window_ns) && raw.has(it.account.undisturbed_ns));
  const commands = await page.locator("code").allTextContents();
  assert.ok(it.findings.length > 0 && it.findings.every((/** @type {any} */ of) => commands.includes(of.command)), String(commands));
  const text = await page.locator("main").innerText();
  for (const { sentence, rule } of it.findings) assert.ok(text.includes(sentence) && text.includes(rule), rule);
});

onPage("the flame graph of a comparison shows the path or the CPU time, with the numbers of the JSON", "stacks.html", async (page) => {
  const { cases: [it] } = json("stacks.json");
  const views = page.locator("figure[data-view]");
  assert.deepEqual(await views.evaluateAll((all) => all.map((figure) => figure instanceof HTMLElement && figure.hidden)), [false, true]);
  await page.getByRole("button", { name: "CPU time by stack" }).click();
  assert.deepEqual(await views.evaluateAll((all) => all.map((figure) => figure instanceof HTMLElement && figure.hidden)), [true, false]);
  const drawn = await page.locator('figure[data-view="cpu"] .f').evaluateAll((all) => all.slice(1).map((frame) => {
    const { name, a, b, delta, half } = /** @type {SVGGElement} */ (frame).dataset;
    return JSON.stringify([name, Number(a), Number(b), Number(delta), half ? Number(half) : null]);
  }));
  const known = new Set(it.cpu_stacks.map((/** @type {any} */ of) => JSON.stringify([of.name, of.a_ns, of.b_ns, of.delta_ns, of.half_width_ns])));
  assert.ok(drawn.length > 20 && drawn.every((frame) => known.has(frame)), `${drawn.length} frames`);
  await page.locator('figure[data-view="cpu"] .f').nth(2).hover();
  assert.match(await page.locator("#tip").innerText(), /ms → [^]*difference/);
  await page.getByRole("button", { name: "The path" }).press("Enter");
  assert.ok(await views.first().isVisible());
});

for (const name of ["history.html", "explain.html", "stacks.html"]) {
  for (const dark of [false, true]) onPage(`axe finds nothing: ${name}, ${dark ? "dark" : "light"}`, name, (page) => accessible(page, dark), { dark });
  onPage(`it prints: ${name}`, name, async (page) => {
    const pdf = await page.pdf({ format: "A4", printBackground: true });
    assert.ok(pdf.length > 20_000);
  });
  onPage(`without script all is there: ${name}`, name, async (page) => {
    assert.ok(await page.locator("main svg").first().isVisible());
    assert.equal(await page.locator("input, button").count(), 0, "nothing that does nothing");
  }, { script: false });
}

for (const name of ["hostile-history.html", "hostile-explain.html"]) {
  onPage(`hostile names stay text: ${name}`, name, async (page) => {
    const text = readFileSync(file(name), "utf8");
    assert.equal(text.match(/<script/g)?.length, 1, "its own");
    assert.doesNotMatch(text, /[\u0000-\u0009\u000b-\u001f\u200e\u200f\u202a-\u202e\u2066-\u2069]|<img|<b>/);
    assert.equal(await page.locator("main img, main script").count(), 0);
    assert.match(await page.locator("main").innerText(), /<script>alert\(2\)<\/script>|hostile/);
  });
}

test("reports have the numbers of runs that are there", { skip }, () => {
  assert.equal(json("history.json").cases[0].runs.length, readdirSync(file("runs")).filter((name) => name.endsWith(".sift")).length);
});
