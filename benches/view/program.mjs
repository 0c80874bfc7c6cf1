// `tracesift view`: its start, and its page.
import { spawn } from "node:child_process";
import { newPage } from "./browser.mjs";

/** Starts the program. */
export async function serve(program, archive) {
  const began = Date.now();
  const child = spawn(program, ["view", archive, "--no-open"], { stdio: ["ignore", "pipe", "pipe"] });
  const url = await new Promise((resolve, reject) => {
    let all = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => {
      all += part;
      const found = /http:\/\/127\.0\.0\.1:\d+\/#token=[0-9a-f]{64}/.exec(all);
      if (found) resolve(found[0]);
    });
    child.on("exit", () => reject(new Error(all)));
  });
  const stop = () => new Promise((resolve) => {
    child.on("exit", resolve);
    child.kill("SIGINT");
  });
  return { began, url, pid: child.pid, stop };
}

/** Runs in the page before its own scripts: tells when the first picture was complete. */
function watchStart() {
  const is = () => {
    const it = window.tracesift;
    return it && it.overview.loaded.peek() && it.model.loading.peek() === 0 && it.lanes.store.sight.lanes.length > 0 && it.lanes.store.complete;
  };
  let seen = false;
  const look = () => {
    if (seen) {
      window.complete = performance.timeOrigin + performance.now();
      return;
    }
    // The frame that follows has it.
    seen = Boolean(is());
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

/** Opens the page, in a page that is there or in its own. */
export async function open(browser, server, { fragment = "", width, height, empty } = {}) {
  const it = empty ?? (await newPage(browser, { width, height }));
  await it.page.addInitScript(watchStart);
  await it.page.goto(`${server.url}${fragment ? `&${fragment}` : ""}`, { waitUntil: "commit" });
  await it.page.waitForFunction(() => window.complete !== undefined, undefined, { timeout: 600_000, polling: 20 });
  return { ...it, complete: await it.page.evaluate(() => window.complete) };
}

/** Whether lanes and panel have their numbers; runs in the page. */
export function isSettled() {
  const it = window.tracesift;
  return Boolean(it?.lanes.store.complete && it.busy.peek() === 0 && document.querySelector(".dock")?.getAttribute("aria-busy") === "false");
}

/** Waits until lanes and panel have their numbers. */
export async function settled(page) {
  await page.waitForFunction(isSettled, undefined, { timeout: 600_000, polling: 20 });
}
