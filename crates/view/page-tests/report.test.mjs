// The report of `compare` in a browser, made by the real program: numbers read back, hover, zoom, search, keys, print, axe, hostile names.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { launch } from "./browser.mjs";
import { demo, extracted, folder, run, scenario, skip, skipScenarios } from "./program.mjs";
import { accessible, inReport, values } from "./reports.mjs";

const MB = 1_000_000;

/** @type {import("playwright-core").Browser} */
let browser;
const place = skip ? null : folder();
const file = (/** @type {string} */ name) => join(place?.path ?? "", name);

/** The runs of files of baselines as one set, each with an id of its own. @param {string} name @param {string[]} parts the names of their files */
function joined(name, parts) {
  const read = parts.map((part) => JSON.parse(readFileSync(file(part), "utf8")));
  const runs = read.flatMap((base, copy) => base.runs.map((/** @type {Record<string, any>} */ of) => ({ ...of, id: `${of.id}-${name}-${copy}` })));
  writeFileSync(file(name), JSON.stringify({ ...read[0], runs }));
}

before(async () => {
  if (!place) return;
  demo(place.path);
  for (const [name, pattern] of [["fast", "*Serial_7066*"], ["slow", "*Serial_12695*"], ["checkpoint", "*Serial_14527*"]]) {
    run(`tracesift compare '${place.path}/${pattern}' -p FileWriter --save-baseline ${file(`${name}.json`)}`);
  }
  // One run of the second set is of another kind: some rows are no chance, and others are.
  joined("a.json", ["fast.json", "fast.json", "fast.json", "fast.json", "fast.json"]);
  joined("b.json", ["slow.json", "slow.json", "slow.json", "slow.json", "checkpoint.json"]);
  const compare = `tracesift compare good=${file("a.json")} bad=${file("b.json")} -p FileWriter --fail-if 'duration > +5%'`;
  run(`${compare} -o ${file("sets.html")}`, true);
  run(`${compare} -o ${file("sets.json")}`, true);
  run(`tracesift compare fast=${file("fast.json")} slow=${file("slow.json")} -p FileWriter -o ${file("single.html")}`);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  place?.drop();
});

/** @param {string} name @param {Parameters<typeof inReport>[2]} body @param {Parameters<typeof inReport>[3]} [how] */
const inPage = (name, body, how) => inReport(browser, file(name), body, how);

/** @param {string} name @param {string} of @param {Parameters<typeof inReport>[2]} body */
const onPage = (name, of, body) => test(name, { skip }, () => inPage(of, body));

onPage("every number of the page is one of the JSON", "sets.html", async (page) => {
  const { cases: [it] } = JSON.parse(readFileSync(file("sets.json"), "utf8"));
  assert.equal(await page.locator(".sentence").textContent(), it.verdict.sentence);
  assert.deepEqual((await values(page, ".figures tbody tr")).map((row) => row.slice(0, 5)), it.figures.map((/** @type {any} */ of) => [of.a_median_ns, of.b_median_ns, of.ratio, of.low, of.p]));
  assert.deepEqual((await values(page, ".waterfall .step")).map((row) => row.slice(0, 2)), it.shown.map((/** @type {any} */ of) => [of.delta_ns, of.half_width_ns]));
  const key = (/** @type {any[]} */ row) => JSON.stringify(row);
  assert.deepEqual((await values(page, ".rows tbody tr")).map((row) => key(row.slice(0, 5))).sort(), it.rows.map((/** @type {any} */ of) => key([of.a_ns, of.b_ns, of.delta_ns, of.half_width_ns, of.p_family])).sort());
  const runs = it.sets.flatMap((/** @type {any} */ set) => set.runs);
  assert.deepEqual((await values(page, ".runs tbody tr")).map((row) => row.slice(2, 4)), runs.map((/** @type {any} */ of) => [of.duration_ns, of.undisturbed_ns]));
  assert.deepEqual((await values(page, ".metrics tbody tr")).map((row) => row.slice(0, 4)), it.metrics.map((/** @type {any} */ of) => [of.a_mean, of.b_mean, of.ratio, of.p_family]));
  assert.deepEqual((await values(page, ".counters tbody tr")).flat(), [it.by_counters.instructions_ns, it.by_counters.cycles_ns, it.by_counters.clock_ns]);
  assert.deepEqual(await page.locator(".gates td.state").allTextContents(), it.gates.map((/** @type {any} */ of) => of.state));
  assert.deepEqual(await page.locator(".strip .dot").evaluateAll((dots) => dots.length), 4 * runs.length);
});

onPage("the bars of the waterfall add up to what is seen", "sets.html", async (page) => {
  const { cases: [it] } = JSON.parse(readFileSync(file("sets.json"), "utf8"));
  const bars = await page.locator(".waterfall .picture").evaluateAll((pictures) => pictures.map((picture) => {
    const places = Array.from(picture.querySelectorAll("path.link"), (link) => Number(/^M(\S+)/.exec(link.getAttribute("d") ?? "")?.[1]));
    const bar = picture.querySelector("rect")?.getBBox();
    return { places, left: bar?.x ?? 0, width: bar?.width ?? 0 };
  }));
  for (let at = 1; at < bars.length; at++) assert.equal(bars[at]?.places[0], bars[at - 1]?.places.at(-1), "a bar begins where the one before it ended");
  // The places of both means tell the scale; each bar is as long as its difference.
  const [first, last] = [bars[0], bars.at(-1)];
  const scale = ((last?.places[0] ?? 0) - (first?.places[0] ?? 0)) / it.difference_ns;
  it.shown.forEach((/** @type {any} */ of, /** @type {number} */ at) => {
    const [from = 0, to = 0] = bars[at + 1]?.places ?? [];
    assert.ok(Math.abs(to - from - of.delta_ns * scale) < 0.3, `${of.text}: ${to - from} for ${of.delta_ns}`);
    assert.ok(Math.abs((bars[at + 1]?.width ?? 0) - (of.delta_ns === 0 ? 0 : Math.max(1.5, Math.abs(to - from)))) < 0.3, of.text);
  });
});

onPage("hovering tells the run, the part and the frame", "sets.html", async (page) => {
  const tip = page.locator("#tip");
  const dot = page.locator(".strip .dot.b").first();
  await dot.hover();
  await tip.waitFor();
  const row = page.locator(`.runs tr[data-run="${await dot.getAttribute("data-run")}"]`);
  const [text, name] = [await tip.innerText(), await row.locator("th").innerText()];
  assert.ok(text.startsWith(name) && text.includes(`Duration: ${await row.locator("td").nth(2).innerText()} ms`), text);
  assert.match(await row.getAttribute("class") ?? "", /lit/);
  await page.locator(".bar").nth(2).hover();
  assert.match(await tip.innerText(), /Runs: [\d,.]+ ms/);
  await page.locator(".waterfall .step .picture").first().hover();
  const [step, part] = [await tip.innerText(), await page.locator(".waterfall .step th").first().innerText()];
  assert.ok(step.startsWith(part) && step.includes("± "), `${step} for ${part}`);
  await page.locator(".flame .f").nth(1).hover();
  assert.match(await tip.innerText(), /ms → [\d,.]+ ms[^]*difference/);
  await page.keyboard.press("Escape");
  assert.equal(await tip.isVisible(), false);
});

onPage("a frame zooms to the whole width, by mouse and by keys, and noise has no colour", "sets.html", async (page) => {
  const frames = page.locator(".flame .f");
  const width = (/** @type {number} */ at) => frames.nth(at).locator("rect").first().evaluate((rect) => Number(rect.getAttribute("width")));
  const whole = await width(0);
  const small = await frames.evaluateAll((all) => all.findIndex((frame) => frame instanceof SVGGElement && frame.dataset["level"] === "who"));
  assert.ok((await width(small)) < whole);
  await frames.nth(small).click();
  assert.ok(Math.abs((await width(small)) - whole) < 2);
  assert.match(await page.locator(".flame .info").innerText(), /difference/);
  await page.locator(".flame").focus();
  await page.keyboard.press("Escape");
  assert.ok((await width(small)) < whole);
  await page.keyboard.press("ArrowDown");
  const info = await page.locator(".flame .info").innerText();
  await page.keyboard.press("ArrowRight");
  assert.notEqual(await page.locator(".flame .info").innerText(), info);
  await page.keyboard.press("Enter");
  assert.ok(Math.abs(Number(await page.locator(".flame .f.on rect").first().getAttribute("width")) - whole) < 2);
  const wrong = await frames.evaluateAll((all) => all.filter((frame) => {
    if (!(frame instanceof SVGGElement) || frame.dataset["level"] === "all") return false;
    const [delta, half] = [Number(frame.dataset["delta"]), frame.dataset["half"] ? Number(frame.dataset["half"]) : 0];
    const isNoise = delta === 0 || Math.abs(delta) < half;
    const colour = /\b([rb])[1-4]\b/.exec(frame.getAttribute("class") ?? "")?.[1];
    return colour !== (isNoise ? undefined : delta > 0 ? "r" : "b");
  }).length);
  assert.equal(wrong, 0);
  const colours = await frames.evaluateAll((all) => new Set(all.map((frame) => /\b[rb][1-4]\b/.test(frame.getAttribute("class") ?? ""))).size);
  assert.equal(colours, 2, "some frames have a colour, and some have none");
});

onPage("the table of rows is searched and sorted", "sets.html", async (page) => {
  const rows = page.locator(".rows tbody tr");
  const all = await rows.count();
  await page.getByLabel("Search the rows").fill("ANTIVIRUS filewriter");
  const found = await page.locator(".rows tbody tr:not([hidden])").allTextContents();
  assert.ok(found.length > 0 && found.length < all && found.every((text) => /antivirus/i.test(text) && /filewriter/i.test(text)), String(found));
  assert.equal(await page.locator(".search [role=status]").first().innerText(), `${found.length} of ${all} rows`);
  await page.getByLabel("Search the rows").fill("");
  const head = page.locator(".rows thead th").nth(1);
  await head.getByRole("button").press("Enter");
  assert.equal(await head.getAttribute("aria-sort"), "descending");
  const means = (await values(page, ".rows tbody tr")).map((row) => row[0] ?? 0);
  assert.deepEqual(means, means.toSorted((a, b) => b - a));
  await head.getByRole("button").press("Enter");
  assert.equal(await head.getAttribute("aria-sort"), "ascending");
  assert.equal(await rows.count(), all);
});

for (const dark of [false, true]) {
  for (const name of ["sets.html", "single.html"]) {
    test(`axe finds nothing: ${name}, ${dark ? "dark" : "light"}`, { skip }, () => inPage(name, async (page) => {
      await accessible(page, dark);
    }, { dark }));
  }
}

test("without script all pictures and tables are there", { skip }, () => inPage("sets.html", async (page) => {
  for (const part of [".strip svg", ".waterfall svg", ".bars svg", ".flame svg", ".rows tbody tr", ".runs tbody tr", "#method p"]) assert.ok(await page.locator(part).first().isVisible(), part);
  assert.equal(await page.locator("input, button").count(), 0, "nothing that does nothing");
}, { script: false }));

onPage("it prints as a light document of some pages", "sets.html", async (page) => {
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  assert.equal(await page.evaluate("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)");
  assert.equal(await page.locator(".search").first().isVisible(), false);
  const pdf = await page.pdf({ format: "A4", printBackground: true });
  const pages = pdf.toString("latin1").match(/\/Type\s*\/Page\b/g)?.length ?? 0;
  assert.ok(pages >= 3 && pages < 40, `${pages} pages`);
  assert.ok(pdf.length > 20_000);
});

test("hostile names stay text", { skip: skipScenarios }, async () => {
  const [archive = ""] = extracted(scenario("hostile.etl"), place?.path ?? "");
  assert.ok(existsSync(archive));
  run(`tracesift compare '${archive}' -p '*script*' --save-baseline ${file("hostile.json")}`);
  joined("x.json", ["hostile.json", "hostile.json"]);
  joined("y.json", ["hostile.json", "hostile.json"]);
  run(`tracesift compare x=${file("x.json")} y=${file("y.json")} -p '*script*' -o ${file("hostile.html")}`, true);
  const text = readFileSync(file("hostile.html"), "utf8");
  assert.equal(text.match(/<script/g)?.length, 1, "its own");
  assert.doesNotMatch(text, /[\u0000-\u0009\u000b-\u001f\u200e\u200f\u202a-\u202e\u2066-\u2069]|<img|<b>/);
  assert.ok(text.length < 1.5 * MB);
  await inPage("hostile.html", async (page) => {
    assert.match(await page.locator("main").innerText(), /<script>alert\(2\)<\/script>/);
    await page.locator(".strip .dot").first().hover();
    await page.locator(".flame .f").nth(2).hover();
    assert.match(await page.locator("#tip").innerText(), /ms/);
    assert.equal(await page.locator("main img, main script").count(), 0);
  });
});
