// The real program for the tests of the page: TRACESIFT names it, TRACESIFT_RECORDINGS a directory with what
// `cargo run -p tracesift-scenario --example page -- DIRECTORY` writes.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { launch, settled } from "./browser.mjs";
import { files, PAGE } from "./page-files.mjs";
import { HEADERS } from "./mock/serve.mjs";

export const PROGRAM = process.env["TRACESIFT"] ?? "";
export const RECORDINGS = process.env["TRACESIFT_RECORDINGS"] ?? "";
const SHARED = fileURLToPath(new URL("../../../../shared/cases/", import.meta.url));
const TYPES = { js: "text/javascript", css: "text/css", svg: "image/svg+xml", html: "text/html; charset=utf-8" };

/** Why tests are skipped. */
export const skip = PROGRAM === "" ? "TRACESIFT names no program" : false;
export const skipScenarios = skip || (RECORDINGS === "" ? "TRACESIFT_RECORDINGS names no directory" : false);

/** A directory that goes when `drop` is called. */
export function folder() {
  const path = mkdtempSync(join(tmpdir(), "tracesift-view-"));
  return { path, drop: () => rmSync(path, { recursive: true, force: true }) };
}

/** @param {string} path @returns {string[]} the archives in a directory */
const archivesIn = (path) => readdirSync(path).filter((name) => name.endsWith(".sift")).map((name) => join(path, name));

/** @param {string} path @param {string} [third] a part of the name of one more @returns {string[]} two archives of the demo, the serial one first */
export function demo(path, third) {
  execFileSync(PROGRAM, ["demo", path], { stdio: "ignore" });
  const all = archivesIn(path).sort((a, b) => Number(b.includes("Serial_12695")) - Number(a.includes("Serial_12695")) || (a < b ? -1 : 1));
  return all.filter((name, i) => i < 2 || (third !== undefined && name.includes(third)));
}

/** @param {string} file @param {string} path @returns {string[]} the archives of a recording, below the directory */
export function extracted(file, path) {
  const own = join(path, basename(file).replaceAll(".", "-"));
  execFileSync(PROGRAM, ["extract", file, "-o", own], { stdio: "ignore" });
  return archivesIn(own);
}

/** @param {string[]} names @param {string} path @returns {string[]} archives of shared recordings; none, with a word, where they are absent */
export function shared(names, path) {
  return names.flatMap((name) => {
    if (existsSync(SHARED + name)) return extracted(SHARED + name, path);
    console.log(`skipped: ../shared/cases/${name} is absent`);
    return [];
  });
}

/** @param {string} name @returns {string} the file of a recording of the scenarios */
export const scenario = (name) => join(RECORDINGS, name);

/** What is true of `known.etl`. @returns {{ end: number, threads: { pid: number, tid: number, spans: [string, number, number][] }[] }} */
export const truth = () => JSON.parse(readFileSync(scenario("known.json"), "utf8"));

/**
 * The files of the page as they stand in the repository, and the data of the program.
 * @param {string} port
 * @returns {Promise<{ origin: string, close: () => void }>}
 */
function pageBefore(port) {
  return new Promise((resolve) => {
    const it = createServer(async (asked, response) => {
      const path = new URL(asked.url ?? "/", "http://127.0.0.1").pathname;
      if (!path.startsWith("/api/")) {
        const name = path === "/" ? "index.html" : path.slice(8);
        try {
          response.writeHead(200, { ...HEADERS, "Content-Type": TYPES[/** @type {keyof typeof TYPES} */ (name.split(".").pop())] });
          response.end(await readFile(PAGE + name));
        } catch {
          response.end();
        }
        return;
      }
      const headers = { ...asked.headers, host: `127.0.0.1:${port}`, ...(asked.headers.origin ? { origin: `http://127.0.0.1:${port}` } : {}) };
      const out = request({ host: "127.0.0.1", port, path: asked.url, method: asked.method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      });
      out.on("error", () => response.destroy());
      response.on("close", () => out.destroy());
      asked.pipe(out);
    });
    it.listen(0, "127.0.0.1", () => {
      const own = it.address();
      resolve({ origin: `http://127.0.0.1:${typeof own === "object" && own ? own.port : 0}`, close: () => (it.close(), it.closeAllConnections()) });
    });
  });
}

/** Whether the program has the page of the repository, to the byte. @param {string} port */
async function hasThisPage(port) {
  for (const name of files().filter((one) => !one.endsWith(".d.ts"))) {
    const answer = await fetch(`http://127.0.0.1:${port}/${name === "index.html" ? "" : `assets/${name}`}`);
    if (answer.status !== 200 || !Buffer.from(await answer.arrayBuffer()).equals(readFileSync(PAGE + name))) return false;
  }
  return true;
}

/**
 * Starts the server of the page.
 * @param {string[]} archives
 * @param {string[]} [options]
 * @returns {Promise<{ address: string, token: string, port: string, close: () => void }>}
 */
export async function serve(archives, options = []) {
  const child = spawn(PROGRAM, ["view", ...archives, ...options, "--no-open"], { stdio: ["ignore", "pipe", "pipe"] });
  const [, port = "", token = ""] = /** @type {string[]} */ (await new Promise((resolve, reject) => {
    let all = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => {
      all += part;
      const match = /:(\d+)\/#token=([0-9a-f]{64})/.exec(all);
      if (match) resolve(match);
    });
    child.on("exit", () => reject(new Error(all)));
  }));
  // A program that was built before the page changed serves its data alone.
  const front = (await hasThisPage(port)) ? null : await pageBefore(port);
  return { address: `${front?.origin ?? `http://127.0.0.1:${port}`}/#token=${token}`, token, port, close: () => (front?.close(), child.kill("SIGINT")) };
}

/**
 * @param {import("playwright-core").Browser} browser
 * @param {string} address
 * @param {string} fragment
 * @param {{ dark?: boolean, scale?: number, readsPixels?: boolean }} [options]
 */
export async function visit(browser, address, fragment, { dark = false, scale = 1, readsPixels = false } = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, deviceScaleFactor: scale, colorScheme: dark ? "dark" : "light", permissions: ["clipboard-read", "clipboard-write"], timezoneId: "Europe/Vienna" });
  const page = await context.newPage();
  /** @type {string[]} */
  const complaints = [];
  /** @type {string[]} */
  const foreign = [];
  // Some tests read pixels back, the page does not.
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && !(readsPixels && message.text().includes("willReadFrequently")) && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error.stack ?? error)));
  page.on("dialog", (dialog) => {
    complaints.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (asked) => new URL(asked.url()).origin === new URL(address).origin || asked.url().startsWith("blob:") || foreign.push(asked.url()));
  await page.goto(`${address}${fragment ? `&${fragment}` : ""}`);
  await settled(page);
  return { page, complaints, foreign, close: () => context.close() };
}

/**
 * A server of archives and a browser, from the first test of a file to its last one.
 * @param {string | false} skipped why the tests are skipped
 * @param {(place: string) => string[]} archives makes them in a directory
 * @param {(place: string) => string[]} [options]
 */
export function running(skipped, archives, options = () => []) {
  const place = skipped ? null : folder();
  const it = {
    browser: /** @type {import("playwright-core").Browser} */ (/** @type {unknown} */ (null)),
    server: /** @type {Awaited<ReturnType<typeof serve>>} */ (/** @type {unknown} */ (null)),
    archives: /** @type {string[]} */ ([]),
    place: place?.path ?? "",
    /** @param {string} fragment @param {Parameters<typeof visit>[3]} [how] */
    open: (fragment, how) => visit(it.browser, it.server.address, fragment, how),
  };
  before(async () => {
    if (!place) return;
    it.archives = archives(place.path);
    it.server = await serve(it.archives, options(place.path));
    it.browser = await launch();
  });
  after(async () => {
    await it.browser?.close();
    it.server?.close();
    place?.drop();
  });
  return it;
}

let shell = "";
process.on("exit", () => shell && rmSync(shell, { recursive: true, force: true }));

/** @param {string} line what a shell gets @param {boolean} [mayFail] a question without rows ends with 1, and prints an empty list @returns {string} */
export function run(line, mayFail = false) {
  if (!shell) {
    // What a shell finds as `tracesift`.
    shell = mkdtempSync(join(tmpdir(), "tracesift-"));
    writeFileSync(join(shell, "tracesift"), `#!/bin/sh\nexec "${PROGRAM}" "$@"\n`);
    chmodSync(join(shell, "tracesift"), 0o755);
  }
  return execFileSync("/bin/sh", ["-c", `${line}${mayFail ? " || true" : ""}`], { env: { ...process.env, PATH: `${shell}:${process.env["PATH"]}` }, maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] }).toString();
}

/** @param {string} command @returns {Record<string, any>[]} the rows that a copied command prints */
export function rowsOf(command) {
  const text = run(`${command} --format json`, true).trim();
  const rows = text === "" ? [] : JSON.parse(text);
  assert.ok(Array.isArray(rows), command);
  return rows;
}

/** @param {number} seed @returns {() => number} numbers from 0 to 1 */
export function random(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}
