// The browser of the measurements, and what the system says about processes.
import { readFileSync } from "node:fs";
import { start } from "../../crates/view/page-tests/chromium.mjs";

/**
 * A browser without a GPU.
 * @returns the browser, and figures of its processes
 */
export async function launch() {
  const browser = await start(["--disable-gpu"]);
  const cdp = await browser.newBrowserCDPSession();
  const processes = async () => (await cdp.send("SystemInfo.getProcessInfo")).processInfo;
  const cpu = async () => (await processes()).filter(({ type }) => type !== "browser").reduce((sum, { cpuTime }) => sum + cpuTime, 0);
  const renderer = async () => largestRenderer(await processes());
  return { browser, cpu, renderer };
}

/**
 * @param {object} browser
 * @param {{ width?: number, height?: number }} [size]
 */
export async function newPage(browser, { width = 1920, height = 1080 } = {}) {
  const context = await browser.newContext({ viewport: { width, height } });
  const page = await context.newPage();
  page.on("pageerror", (error) => console.log(`  error of the page: ${error}`));
  return { page, close: () => context.close() };
}

/** An empty page of a browser that has come to rest, which is what a reader has before the command. */
export async function emptyPage(browser, cpu) {
  const it = await newPage(browser);
  let before = -1;
  for (let now = await cpu(); now - before > 0.01; now = await cpu()) {
    before = now;
    await sleep(300);
  }
  return it;
}

/** @returns {number} KiB of a line of a file below `/proc` */
function line(file, name) {
  try {
    return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(readFileSync(file, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** Memory of a process with its share of what it has with others, MiB. */
function pss(pid) {
  return line(`/proc/${pid}/smaps_rollup`, "Pss") / 1024;
}

/** Memory of the largest renderer among a browser's processes, MiB. */
export function largestRenderer(processes) {
  return Math.max(...processes.filter(({ type }) => type === "renderer").map(({ id }) => pss(id)));
}

/** Memory of a process that is no file, now, and all memory at most, MiB. */
export function anonymous(pid) {
  return { now: line(`/proc/${pid}/status`, "RssAnon") / 1024, most: line(`/proc/${pid}/status`, "VmHWM") / 1024 };
}

/** Processor time of a process, s. */
export function cpuOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
