// What the page is made of: files, sizes, forbidden words, and colours that can be told apart.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import test from "node:test";
import { files, PAGE } from "./page-files.mjs";

const all = files();
const text = (/** @type {string} */ name) => readFileSync(PAGE + name, "utf8");

test("modules are short, all of it small", () => {
  for (const name of all.filter((one) => one.endsWith(".js"))) assert.ok(text(name).split("\n").length <= 501, `${name} has more than 500 lines`);
  assert.ok(text("dom/signal.js").split("\n").length + text("dom/h.js").split("\n").length + text("dom/list.js").split("\n").length < 420);
  const bytes = all.filter((name) => !name.endsWith(".d.ts")).reduce((sum, name) => sum + statSync(PAGE + name).size, 0);
  assert.ok(bytes <= 350 * 1024, `${bytes} bytes`);
});

test("nothing comes from elsewhere, nothing is inline", () => {
  for (const name of all) {
    const source = text(name).replaceAll("http://www.w3.org/2000/svg", "");
    assert.doesNotMatch(source, /https?:/, name);
    if (name.endsWith(".js")) assert.doesNotMatch(source, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|@ts-ignore|@ts-expect-error|\bany\b[}>\])]/, name);
  }
  assert.doesNotMatch(text("index.html"), /<style|style="|<script(?! type="module" src=)/);
});

test("modules that are imported exist", () => {
  for (const name of all.filter((one) => one.endsWith(".js"))) {
    for (const [, path = ""] of text(name).matchAll(/from "(\.[^"]+)"/g)) {
      const target = new URL(path, new URL(name, "file:///")).pathname.slice(1);
      assert.ok(all.includes(target), `${name} imports ${path}`);
    }
  }
});

/** Colours of the style sheet as [light, dark]. */
const colours = Object.fromEntries([...text("css/theme.css").matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g)].map(([, name, light, dark]) => [name, [light ?? "", dark ?? ""]]));

/** @param {string} hex */
const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255);
/** @param {number} c */
const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
/** @param {string} hex */
function luminance(hex) {
  const [r = 0, g = 0, b = 0] = rgb(hex).map(linear);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
/** @param {string} a @param {string} b */
function contrast(a, b) {
  const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
  return ((x ?? 0) + 0.05) / ((y ?? 0) + 0.05);
}

test("texts have a contrast of 4.5, states one of 3", () => {
  for (const side of [0, 1]) {
    const of = (/** @type {string} */ name) => colours[name]?.[side] ?? "";
    for (const ground of ["surface", "raised"]) {
      for (const name of ["ink", "dim", "accent", "mark", "finding"]) assert.ok(contrast(of(name), of(ground)) >= 4.5, `${name} on ${ground} ${side}: ${contrast(of(name), of(ground))}`);
      for (const name of ["run", "ready", "wait", "open", "unknown", "cpu", "line"]) assert.ok(contrast(of(name), of(ground)) >= 3, `${name} on ${ground} ${side}: ${contrast(of(name), of(ground))}`);
    }
  }
});

/** Colours of processes and tags as [light, dark] luminances: the angles of the hues in the formula of them all. */
const formula = /--hue: light-dark\(oklch\(([\d.]+) ([\d.]+) var\(--angle\)\), oklch\(([\d.]+) ([\d.]+) var\(--angle\)\)\)/.exec(text("css/theme.css"))?.slice(1).map(Number) ?? [];
const hues = [...text("css/theme.css").matchAll(/\.hue-\d+ \{ --angle: (\d+); \}/g)].map(([, angle]) => [0, 2].map((at) => oklch(formula[at] ?? 0, formula[at + 1] ?? 0, Number(angle))));

/** @param {number} l @param {number} c @param {number} degrees @returns {number} luminance */
function oklch(l, c, degrees) {
  const [a, b] = [c * Math.cos((degrees * Math.PI) / 180), c * Math.sin((degrees * Math.PI) / 180)];
  const [x, y, z] = [(l + 0.3963377774 * a + 0.2158037573 * b) ** 3, (l - 0.1055613458 * a - 0.0638541728 * b) ** 3, (l - 0.0894841775 * a - 1.291485548 * b) ** 3];
  const [red = 0, green = 0, blue = 0] = [4.0767416621 * x - 3.3077115913 * y + 0.2309699292 * z, -1.2684380046 * x + 2.6097574011 * y - 0.3413193965 * z, -0.0041960863 * x - 0.7034186147 * y + 1.707614701 * z].map((one) => Math.min(1, Math.max(0, one)));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

test("colours of processes and tags have a contrast of 3 to the ground", () => {
  assert.equal(hues.length, 12);
  hues.forEach((pair, i) => pair.forEach((own, side) => {
    for (const ground of ["surface", "raised"]) {
      const [x = 0, y = 0] = [own, luminance(colours[ground]?.[side] ?? "")].sort((p, q) => q - p);
      assert.ok((x + 0.05) / (y + 0.05) >= 3, `hue ${i} on ${ground}, ${side === 0 ? "light" : "dark"}`);
    }
  }));
});

test("high contrast has texts of 7 and states of 4.5", () => {
  const own = Object.fromEntries([...(/data-theme="contrast"\] \{([^}]*)\}/.exec(text("css/theme.css"))?.[1] ?? "").matchAll(/--([\w-]+): (#[0-9a-f]{6})/g)].map(([, name, value]) => [name, value ?? ""]));
  for (const name of ["ink", "dim", "accent"]) assert.ok(contrast(own[name] ?? "", own["surface"] ?? "") >= 7, name);
  for (const name of ["run", "ready", "wait", "unknown"]) assert.ok(contrast(own[name] ?? "", own["surface"] ?? "") >= 4.5, name);
  for (const [kind, matrix] of Object.entries(BLIND)) {
    for (const [a, b] of /** @type {const} */ ([["run", "ready"], ["run", "wait"], ["ready", "wait"], ["run", "unknown"], ["ready", "unknown"], ["wait", "unknown"]])) {
      const d = distance(lab(own[a] ?? "", matrix), lab(own[b] ?? "", matrix));
      assert.ok(d >= 12, `${a} and ${b}, ${kind}: ${d.toFixed(1)}`);
    }
  }
});

/** Machado, Oliveira and Fernandes 2009, severity 1. */
const BLIND = {
  none: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  protanopia: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  deuteranopia: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
  tritanopia: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
};

/** @param {string} hex @param {number[]} m */
function lab(hex, m) {
  const c = rgb(hex).map(linear);
  const [r = 0, g = 0, b = 0] = [0, 1, 2].map((i) => Math.min(1, Math.max(0, (m[i * 3] ?? 0) * (c[0] ?? 0) + (m[i * 3 + 1] ?? 0) * (c[1] ?? 0) + (m[i * 3 + 2] ?? 0) * (c[2] ?? 0))));
  const f = (/** @type {number} */ t) => (t > 216 / 24389 ? Math.cbrt(t) : (24389 / 27 * t + 16) / 116);
  const x = f((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047);
  const y = f(0.2126729 * r + 0.7151522 * g + 0.072175 * b);
  const z = f((0.0193339 * r + 0.119192 * g + 0.9503041 * b) / 1.08883);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/** CIEDE2000. @param {number[]} p @param {number[]} q */
function distance([l1 = 0, a1 = 0, b1 = 0], [l2 = 0, a2 = 0, b2 = 0]) {
  const rad = Math.PI / 180;
  const mean = (Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2;
  const g = 0.5 * (1 - Math.sqrt(mean ** 7 / (mean ** 7 + 25 ** 7)));
  const [p1, p2] = [a1 * (1 + g), a2 * (1 + g)];
  const [c1, c2] = [Math.hypot(p1, b1), Math.hypot(p2, b2)];
  const hue = (/** @type {number} */ b, /** @type {number} */ a) => (Math.atan2(b, a) / rad + 360) % 360;
  const [h1, h2] = [hue(b1, p1), hue(b2, p2)];
  let dh = c1 * c2 === 0 ? 0 : h2 - h1;
  if (dh > 180) dh -= 360;
  if (dh < -180) dh += 360;
  const dH = 2 * Math.sqrt(c1 * c2) * Math.sin((dh / 2) * rad);
  const [lm, cm] = [(l1 + l2) / 2, (c1 + c2) / 2];
  let hm = c1 * c2 === 0 ? h1 + h2 : (h1 + h2) / 2;
  if (c1 * c2 !== 0 && Math.abs(h1 - h2) > 180) hm += hm < 180 ? 180 : -180;
  const t = 1 - 0.17 * Math.cos((hm - 30) * rad) + 0.24 * Math.cos(2 * hm * rad) + 0.32 * Math.cos((3 * hm + 6) * rad) - 0.2 * Math.cos((4 * hm - 63) * rad);
  const sl = 1 + (0.015 * (lm - 50) ** 2) / Math.sqrt(20 + (lm - 50) ** 2);
  const sc = 1 + 0.045 * cm;
  const sh = 1 + 0.015 * cm * t;
  const rt = -Math.sin(2 * 30 * Math.exp(-(((hm - 275) / 25) ** 2)) * rad) * 2 * Math.sqrt(cm ** 7 / (cm ** 7 + 25 ** 7));
  const [l, c, h] = [(l2 - l1) / sl, (c2 - c1) / sc, dH / sh];
  return Math.sqrt(l * l + c * c + h * h + rt * c * h);
}

test("states can be told apart without some colours", () => {
  const states = ["run", "ready", "wait", "open", "unknown"];
  for (const side of [0, 1]) {
    for (const [kind, matrix] of Object.entries(BLIND)) {
      for (let i = 0; i < states.length; i += 1) {
        for (let j = i + 1; j < states.length; j += 1) {
          const [a = "", b = ""] = [states[i], states[j]];
          const d = distance(lab(colours[a]?.[side] ?? "", matrix), lab(colours[b]?.[side] ?? "", matrix));
          assert.ok(d >= 12, `${a} and ${b}, ${kind}, ${side === 0 ? "light" : "dark"}: ${d.toFixed(1)}`);
        }
      }
    }
  }
});
