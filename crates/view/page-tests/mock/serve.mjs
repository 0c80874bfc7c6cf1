// A server with the made-up recording: the headers and refusals of the real one, and the same page.
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { answer, parse, recording, weights } from "./answers.mjs";
import { at, columns, frame, lanes, spans } from "./lanes.mjs";
import { CPUS, HOSTILE, LENGTH } from "./recording.mjs";

const PAGE = new URL("../../page/", import.meta.url);
const TYPES = { js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8", svg: "image/svg+xml", html: "text/html; charset=utf-8" };
export const HEADERS = {
  "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types tracesift",
  "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp", "Cross-Origin-Resource-Policy": "same-origin",
  "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
};

const { processes, threads, code } = recording;
const session = {
  version: "0.0.0", platform: "linux",
  recordings: [{
    id: "r0", file: "made-up.sift", name: "made-up", machine: "lab-7", format: "etl", cpus: CPUS, start_ns: 0, end_ns: LENGTH, wall_start: "2026-03-04T09:00:00.123456789Z", offset_minutes: 60,
    has: { samples: true, switches: true, disk: true, file: true, events: true, memory: false, network: false, gc: false, jit: false, faults: false, frequencies: true, counters: false, marks: true, syscalls: false, regions: false },
    losses: [{ ns: 12_000_000_000, count: 3, text: "The records of a CPU do not follow each other." }, { ns: null, count: 40, text: "The recorder lost this many events." }],
    rows: { cpu_samples: 204_000, context_switches: threads.reduce((sum, one) => sum + one.spans.length, 0) },
    health: [{ level: "warning", text: `1,204 events were lost (${HOSTILE[0]})` }, { level: "note", text: "2 % of the samples have no stack" }],
    missing: [{ what: "network", why: "no events of TCP and UDP were recorded", cure: "tracesift record --profile Network" }], marks: recording.marks,
  }],
  tag_files: [{ id: "builtin", name: "built-in" }, { id: "t0", name: "my.stacktags" }], views: [{ name: "Mine", text: "panel waits\ntime 10s..20s" }],
  start: { recording: "r0", time: null, process: null, panel: null, view: null },
};

/** @param {string[]} words */
function flame(words, /** @type {string} */ by) {
  const asked = parse([...words, "--measure", by]);
  /** @type {{ depth: number, start: number, weight: number, self: number, name: number, module: number, parent: number }[]} */
  const boxes = [];
  const nameList = ["all", ...processes.map(({ name }) => name), ...code.names];
  const moduleList = [...new Set(code.modules)];
  let start = 0;
  for (const [process, own] of weights(asked)) {
    const root = { depth: 0, start, weight: 0, self: 0, name: 1 + process, module: -1, parent: -1 };
    boxes.push(root);
    const open = [boxes.length - 1];
    /** @type {number[]} */
    let before = [];
    for (const [stack, weight] of [...own].sort(([a], [b]) => ([...(code.stacks[a] ?? [])].reverse().join() < [...(code.stacks[b] ?? [])].reverse().join() ? -1 : 1))) {
      const path = [...(code.stacks[stack] ?? [])].reverse();
      let same = 0;
      while (same < before.length && before[same] === path[same]) same += 1;
      open.length = same + 1;
      for (let depth = same; depth < path.length; depth += 1) {
        const frameIndex = path[depth] ?? 0;
        boxes.push({ depth: depth + 1, start, weight: 0, self: 0, name: 1 + processes.length + frameIndex, module: moduleList.indexOf(code.modules[frameIndex] ?? ""), parent: open[depth] ?? 0 });
        open.push(boxes.length - 1);
      }
      for (const index of open) if (boxes[index]) boxes[index].weight += weight;
      const leaf = boxes[open.at(-1) ?? 0];
      if (leaf) leaf.self += weight;
      before = path;
      start += weight;
    }
  }
  const series = /** @type {const} */ (["depth", "start", "weight", "self", "name", "module", "parent"]);
  return frame({ frames: boxes.length, total: start, unit: "ns", names: nameList, modules: moduleList, words, series }, series.map((key) => Float64Array.from(boxes, (box) => box[key])));
}

/** @param {string} text */
function search(text) {
  const wanted = text.toLowerCase().replaceAll("*", "");
  const fits = (/** @type {string} */ name) => name.toLowerCase().includes(wanted);
  const lines = [];
  for (const one of processes) if (fits(`${one.name}(${one.pid})`)) lines.push({ kind: "process", name: `${one.name}(${one.pid})`, lane: `process:${one.index}`, count: 1, time_ns: 1e9, first_ns: 0, last_ns: LENGTH, words: [] });
  for (const one of threads) if (fits(`${one.tid} ${one.name}`)) lines.push({ kind: "thread", name: `${one.tid} ${one.name}`, lane: `thread:${one.index}`, count: 1, time_ns: null, first_ns: 1e9, last_ns: LENGTH, words: [] });
  code.names.forEach((name, i) => fits(name) && lines.push({ kind: "method", name: `${code.modules[i]}!${name}`, lane: null, count: null, time_ns: null, first_ns: null, last_ns: null, words: [] }));
  for (const one of recording.marks) if (fits(one.name)) lines.push({ kind: "mark", name: one.name, lane: "mark:0", count: 1, time_ns: null, first_ns: one.ns, last_ns: one.ns, words: [] });
  for (const file of new Set(recording.disk.map(({ file: name }) => name))) if (fits(file)) lines.push({ kind: "file", name: file, lane: null, count: 3, time_ns: null, first_ns: 3e9, last_ns: 5e9, words: [] });
  const first = lines[0];
  // Figures of methods come behind all names.
  const figures = lines.filter(({ kind }) => kind === "method").map(({ kind, name }, i) => ({ figures: { kind, name, count: 120 + i, time_ns: 3e9, first_ns: 2e9, last_ns: 58e9 } }));
  return [...lines, ...figures, ...(first ? [{ density: { name: first.name, kind: first.kind, first_ns: 0, bucket_ns: 1e9, values: Array.from({ length: 60 }, (_, i) => (i * 7) % 11) } }] : [])].map((line) => JSON.stringify(line)).join("\n");
}

/**
 * @param {{ token?: string, port?: number, delay?: number }} [options]
 * @returns {Promise<{ url: string, origin: string, log: { path: string, body: unknown }[], close: () => void, session: typeof session }>}
 */
export async function serve({ token = "a".repeat(64), port = 0, delay = 0 } = {}) {
  /** @type {{ path: string, body: unknown }[]} */
  const log = [];
  const server = createServer(async (request, response) => {
    const send = (/** @type {number} */ status, /** @type {string | Buffer} */ body, /** @type {string} */ type, /** @type {Record<string, string>} */ more = {}) => {
      response.writeHead(status, { ...HEADERS, "Content-Type": type, ...more });
      response.end(body);
    };
    const json = (/** @type {unknown} */ value, /** @type {Record<string, string>} */ more = {}) => send(200, JSON.stringify(value), "application/json", more);
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    try {
      if (url.pathname === "/" || url.pathname.startsWith("/assets/")) {
        const name = url.pathname === "/" ? "index.html" : url.pathname.slice(8);
        if (!/^[a-z\-]+(\/[a-z\-]+)?\.(js|css|svg|html)$/.test(name)) throw new Error("404");
        return send(200, await readFile(fileURLToPath(new URL(name, PAGE))), TYPES[/** @type {keyof typeof TYPES} */ (name.split(".").pop())]);
      }
      if (request.headers["tracesift-token"] !== token) return send(401, JSON.stringify({ error: "token: missing or wrong", hint: null }), "application/json");
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      const body = chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) : null;
      const path = url.pathname.replace("/api/1/", "");
      log.push({ path, body });
      if (delay > 0 && path !== "progress") await new Promise((resolve) => setTimeout(resolve, delay));
      if (path === "session") return json(session);
      if (path === "lanes") return json(lanes(url.searchParams));
      if (path === "at") return json(at(body));
      if (path === "progress") return json({ done: 0.4, rows: 4, of: 10 });
      if (path === "search") return send(200, search(body.text), "application/x-ndjson");
      if (path === "spans") return send(200, spans(body), "application/octet-stream");
      if (path === "flame") return send(200, flame(body.words, body.by), "application/octet-stream");
      if (path === "ask") {
        return json(answer(body.words), { "Tracesift-Command": encodeURIComponent(`tracesift ${body.words.map((/** @type {string} */ word) => (/^[\w\-./:=,+%@]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ")} made-up.sift`), "Tracesift-Rows": "1234", "Tracesift-Notes": encodeURIComponent("[]") });
      }
      if (path === "columns") {
        response.writeHead(200, { ...HEADERS, "Content-Type": "application/octet-stream" });
        for (const part of columns(body)) {
          if (response.destroyed) return undefined;
          response.write(part);
        }
        return response.end();
      }
      throw new Error("404");
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      return send(text === "404" ? 404 : 400, JSON.stringify({ error: text, hint: null }), "application/json");
    }
  });
  await new Promise((resolve) => server.listen(port, "127.0.0.1", () => resolve(undefined)));
  const address = server.address();
  const origin = `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`;
  return { origin, url: `${origin}/#token=${token}`, log, session, close: () => (server.closeAllConnections(), server.close()) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log((await serve({ port: Number(process.argv[2] ?? 0) })).url);
