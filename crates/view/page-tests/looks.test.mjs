// How the page looks: six views of the made-up recording, light and dark, at one and two pixels, against the pictures in `looks/`.
// TRACESIFT_LOOKS=1 writes them anew. A picture that differs is written beside its own, as NAME.now.png.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import test, { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { open, settled } from "./browser.mjs";
import { start } from "./chromium.mjs";
import { encode } from "./png.mjs";
import { serve } from "./mock/serve.mjs";

const FOLDER = fileURLToPath(new URL("looks/", import.meta.url));
const FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf";
const RENEW = process.env["TRACESIFT_LOOKS"] === "1";
/** Levels of a colour by which a pixel may differ, and the share of pixels that may differ more. */
const LEVELS = 48;
const SHARE = 0.002;
/** Another version of Chromium may draw edges of letters otherwise. */
const OTHER_SHARE = 0.03;
const skip = existsSync(FONT) ? false : `${FONT} is absent: install fonts-dejavu-core`;

const VIEWS = /** @type {const} */ ([
  { name: "start", fragment: "open=processes&open=cpus" },
  { name: "threads", fragment: "select=20.1s..20.3s&panel=threads&time=20s..20.5s&open=processes&open=process:1&pin=thread:7&process=FileWriter.exe(532)" },
  { name: "wait", fragment: "panel=waits&time=20s..20.5s&open=processes&open=process:1&span=20.2s+thread:7" },
  { name: "tree", fragment: "panel=tree&time=20s..22s&open=disks&open=events" },
  { name: "flame", fragment: "panel=flame&time=20s..22s&zero-time=mark:Begin+writes&colour=gold+process+browser.exe" },
  { name: "butterfly", fragment: "panel=butterfly&method=Cache::lookup&time=20s..22s&open=frequencies" },
]);

/** @type {import("playwright-core").Browser} */
let browser;
/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
/** @type {import("playwright-core").Page} */
let lab;
before(async () => {
  if (skip) return;
  browser = await start(["--font-render-hinting=none", "--disable-lcd-text", "--force-color-profile=srgb", "--disable-font-subpixel-positioning"]);
  server = await serve();
  lab = await (await browser.newContext()).newPage();
});
after(async () => {
  await browser?.close();
  server?.close();
});

/**
 * The picture in steps of 32 levels, so that it is small, and how many of its pixels differ from another one.
 * @param {Buffer} shot
 * @param {Buffer | null} base
 */
async function read(shot, base) {
  const { width, height, palette, indices, differ } = await lab.evaluate(async ([now, then, levels]) => {
    const pixelsOf = async (/** @type {string} */ text) => {
      const image = new Image();
      image.src = `data:image/png;base64,${text}`;
      await image.decode();
      const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
      const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { willReadFrequently: true }));
      context.drawImage(image, 0, 0);
      return context.getImageData(0, 0, image.width, image.height);
    };
    const picture = await pixelsOf(/** @type {string} */ (now));
    const { data, width: wide, height: high } = picture;
    /** @type {Map<number, number>} */
    const counts = new Map();
    const key = (/** @type {number} */ at) => (Math.round((data[at] ?? 0) / 32) << 8) | (Math.round((data[at + 1] ?? 0) / 32) << 4) | Math.round((data[at + 2] ?? 0) / 32);
    for (let at = 0; at < data.length; at += 4) counts.set(key(at), (counts.get(key(at)) ?? 0) + 1);
    const colours = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, 256).map(([one]) => one);
    /** @type {Map<number, number>} */
    const places = new Map(colours.map((one, i) => [one, i]));
    const far = (/** @type {number} */ a, /** @type {number} */ b) => Math.abs((a >> 8) - (b >> 8)) + Math.abs(((a >> 4) & 15) - ((b >> 4) & 15)) + Math.abs((a & 15) - (b & 15));
    let out = "";
    for (let at = 0; at < data.length; at += 4) {
      const one = key(at);
      let place = places.get(one);
      if (place === undefined) {
        place = 0;
        for (let i = 1; i < colours.length; i += 1) if (far(colours[i] ?? 0, one) < far(colours[place] ?? 0, one)) place = i;
        places.set(one, place);
      }
      out += String.fromCharCode(place);
    }
    let count = -1;
    if (then) {
      const old = await pixelsOf(String(then));
      if (old.width === wide && old.height === high) {
        count = 0;
        for (let at = 0; at < data.length; at += 4) {
          if ([0, 1, 2].some((k) => Math.abs((data[at + k] ?? 0) - (old.data[at + k] ?? 0)) > Number(levels))) count += 1;
        }
      }
    }
    const full = (/** @type {number} */ part) => Math.min(255, part * 32);
    return { width: wide, height: high, palette: colours.flatMap((one) => [full(one >> 8), full((one >> 4) & 15), full(one & 15)]), indices: btoa(out), differ: count };
  }, /** @type {const} */ ([shot.toString("base64"), base?.toString("base64") ?? "", LEVELS]));
  return { png: encode(width, height, Buffer.from(palette), Buffer.from(indices, "base64")), share: differ < 0 ? 1 : differ / (width * height) };
}

for (const scale of [1, 2]) {
  for (const { name, fragment } of VIEWS) {
    test(`looks: ${name} at ${scale}x`, { skip }, async (context) => {
      const version = browser.version().split(".")[0] ?? "";
      const known = existsSync(`${FOLDER}chromium.txt`) ? readFileSync(`${FOLDER}chromium.txt`, "utf8").trim() : "";
      const allowed = version === known ? SHARE : OTHER_SHARE;
      if (version !== known && !RENEW) context.diagnostic(`pictures are of Chromium ${known}, this is ${version}: ${OTHER_SHARE * 100} % may differ`);
      const it = await open(browser, { server, fragment, width: 800, height: 500, scale });
      try {
        const { page } = it;
        // One font for all texts, and nothing that tells how fast the machine is.
        await page.evaluate(`document.documentElement.style.setProperty("--text", '12.5px/1.35 "DejaVu Sans"');
          document.documentElement.style.setProperty("--mono", '11.5px/1.4 "DejaVu Sans Mono"');
          document.querySelector(".panel-foot").style.visibility = "hidden"`);
        if (/panel=(?:tree|flame|butterfly)/.test(fragment)) await page.evaluate("tracesift.view.dock.value = 0.6; scrollTo(0, 1000)");
        if (fragment.includes("zero-time")) await page.waitForFunction("tracesift.view.zero.value !== null");
        for (const scheme of /** @type {const} */ (["light", "dark"])) {
          await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
          await page.evaluate("tracesift.lanes.retheme()");
          await settled(page);
          await page.waitForTimeout(150);
          const shot = await page.screenshot({ animations: "disabled", clip: { x: scale === 1 ? 0 : 130, y: 0, width: scale === 1 ? 800 : 400, height: 500 } });
          const path = `${FOLDER}${name}-${scheme}-${scale}x.png`;
          const { png, share } = await read(shot, existsSync(path) ? readFileSync(path) : null);
          if (RENEW) {
            mkdirSync(FOLDER, { recursive: true });
            if (share > SHARE) writeFileSync(path, png);
            writeFileSync(`${FOLDER}chromium.txt`, `${version}\n`);
            continue;
          }
          if (share > allowed) writeFileSync(path.replace(".png", ".now.png"), png);
          assert.ok(share <= allowed, `${name}, ${scheme}, ${scale}x: ${(share * 100).toFixed(2)} % of the pixels differ`);
        }
        assert.deepEqual(it.complaints, []);
      } finally {
        await it.close();
      }
    });
  }
}
