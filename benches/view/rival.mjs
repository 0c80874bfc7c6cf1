// The rival: the Perfetto UI of the package, served as the package serves it.
import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { newPage } from "./browser.mjs";

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".json": "application/json", ".png": "image/png", ".woff2": "font/woff2" };

/** Serves the page with one recording. */
export async function serve(page, recording) {
  const began = Date.now();
  const server = createServer((asked, response) => {
    const path = new URL(asked.url, "http://127.0.0.1").pathname;
    if (path === "/vizviewer_info" || path === "/file_info") {
      response.writeHead(200, { "Content-Type": "application/json" });
      response.end("{}");
      return;
    }
    const file = path === "/localtrace" ? recording : join(page, normalize(path === "/" ? "/index.html" : path));
    if (!existsSync(file) || !statSync(file).isFile()) {
      response.writeHead(404);
      response.end();
      return;
    }
    response.writeHead(200, { "Content-Type": TYPES[extname(file)] ?? "application/octet-stream", "Content-Length": statSync(file).size, "Cache-Control": "no-store" });
    createReadStream(file).pipe(response);
  });
  // The address that the page asks is the one that it came from.
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return { began, url: `http://127.0.0.1:${server.address().port}/`, stop };
}

/** Opens it; it is complete when it has tracks and loads nothing any more. That is before the tracks have their content. */
export async function open(browser, server, { width, height, empty } = {}) {
  const it = empty ?? (await newPage(browser, { width, height }));
  await it.page.goto(server.url, { waitUntil: "commit" });
  await it.page.waitForFunction(() => {
    const omnibox = document.querySelector(".pf-omnibox input, input.pf-omnibox__input")?.getAttribute("placeholder") ?? "";
    return document.querySelectorAll(".pf-track").length > 2 && !/loading/i.test(omnibox) && (window.complete = performance.timeOrigin + performance.now());
  }, undefined, { timeout: 900_000, polling: 20 });
  return { ...it, complete: await it.page.evaluate(() => window.complete) };
}
