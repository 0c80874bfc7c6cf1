// A browser for measurements of memory. Playwright has the browser keep the bodies of answers, up to 200 MB; here nothing listens to the network.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { browserPath } from "../../crates/view/page-tests/chromium.mjs";
import { largestRenderer } from "./browser.mjs";

/** Speaks the browser's protocol through its pipe: messages of JSON, each ended by a zero. */
function speak(child) {
  const [, , , to, from] = child.stdio;
  const waiting = new Map();
  let last = 0;
  let text = "";
  from.setEncoding("utf8");
  from.on("data", (part) => {
    const messages = (text + part).split("\0");
    text = messages.pop() ?? "";
    for (const message of messages) {
      const { id, result, error } = JSON.parse(message);
      const ends = waiting.get(id);
      waiting.delete(id);
      if (error) ends?.reject(new Error(error.message));
      else ends?.resolve(result);
    }
  });
  return (method, params = {}, sessionId = undefined) => new Promise((resolve, reject) => {
    last += 1;
    waiting.set(last, { resolve, reject });
    to.write(`${JSON.stringify({ id: last, method, params, sessionId })}\0`);
  });
}

/**
 * Opens a page of the size of a window.
 * @returns what evaluates functions in it, memory of its renderer in MiB, and its end
 */
export async function open({ width = 1920, height = 1080 } = {}) {
  const profile = mkdtempSync(join(tmpdir(), "tracesift-bench-"));
  const args = ["--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run", `--user-data-dir=${profile}`, `--window-size=${width},${height}`, "about:blank"];
  const child = spawn(browserPath(), args, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
  const send = speak(child);
  const { targetInfos } = await send("Target.getTargets");
  const { targetId } = targetInfos.find(({ type }) => type === "page");
  const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
  const evaluate = async (work, given = null) => {
    const expression = `(${work})(${JSON.stringify(given)})`;
    const { result, exceptionDetails } = await send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true }, sessionId);
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  const renderer = async () => largestRenderer((await send("SystemInfo.getProcessInfo")).processInfo);
  const close = async () => {
    const ended = new Promise((resolve) => child.on("exit", resolve));
    await send("Browser.close").catch(() => {});
    await ended;
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  return { go: (url) => send("Page.navigate", { url }, sessionId), evaluate, renderer, close };
}
