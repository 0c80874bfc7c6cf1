import { readFrames } from "./frames.js";
import { signal } from "../dom.js";
import * as view from "../state/view.js";
import { messageOf } from "../format.js";

/** A browser keeps six connections to a server; two stay free for what a reader asks next. */
const AT_ONCE = 4;
const KEPT = "tracesift-token";

/** A name of a request that no other one has. */
export const freshId = () => Math.random().toString(36).slice(2, 12);

/** How many requests are under way or wait for their turn. */
export const busy = signal(0);
/** What went wrong last, with what to do about it. */
export const trouble = signal(/** @type {{ text: string, hint: string | null } | null} */ (null));
/** How often the server was asked, for tests. */
export const counts = { requests: 0, bytes: 0 };

/** @type {{ rank: number, start: () => void }[]} */
const queue = [];
let under = 0;
let token = "";

/** Takes the token out of the address, where nobody shall copy it from. */
export function takeToken() {
  const parts = location.hash.slice(1).split("&");
  const found = parts.find((part) => /^token=[0-9a-f]{64}$/.test(part));
  if (found) {
    token = found.slice(6);
    try {
      sessionStorage.setItem(KEPT, token);
    } catch {
      // A browser that keeps nothing needs the address again after a reload.
    }
  } else {
    token = sessionStorage.getItem(KEPT) ?? "";
  }
  const rest = parts.filter((part) => !part.startsWith("token=")).join("&");
  history.replaceState(null, "", `${location.pathname}${rest ? `#${rest}` : ""}`);
}

export class ServerError extends Error {
  /** @param {number} status @param {string} text @param {string | null} hint */
  constructor(status, text, hint) {
    super(text);
    this.status = status;
    this.hint = hint;
  }
}

/** @param {unknown} error @returns {boolean} whether the page itself gave the request up */
export function isAbort(error) {
  return error instanceof DOMException && error.name === "AbortError";
}

/** @param {unknown} error */
export function report(error) {
  if (isAbort(error)) return;
  if (error instanceof ServerError) trouble.value = { text: error.message, hint: error.hint };
  else trouble.value = { text: messageOf(error), hint: null };
}

/**
 * @param {string} path behind `/api/1/`
 * @param {Asked & { body?: unknown }} options rank: the smallest goes first
 * @param {(response: Response) => Promise<T>} read
 * @template T
 * @returns {Promise<T>}
 */
async function ask(path, options, read) {
  await turn(options.rank ?? 5, options.signal);
  try {
    counts.requests += 1;
    /** @type {Record<string, string>} */
    const headers = { "Tracesift-Token": token };
    if (options.id) headers["Tracesift-Id"] = options.id;
    if (options.body !== undefined) headers["Content-Type"] = "application/json";
    const body = options.body === undefined ? null : JSON.stringify(options.body);
    const response = await fetch(`/api/1/${path}`, {
      method: body === null ? "GET" : "POST", headers, body, signal: options.signal ?? null, cache: "no-store", credentials: "omit", redirect: "error",
    });
    if (!response.ok) throw await failure(response);
    return await read(response);
  } catch (error) {
    if (error instanceof TypeError) throw new ServerError(0, "tracesift does not answer", "Is it still running? Start it again with `tracesift view`.");
    throw error;
  } finally {
    under -= 1;
    busy.value = busy.peek() - 1;
    next();
  }
}

/** @param {Response} response */
async function failure(response) {
  const text = await response.text();
  try {
    const { error, hint } = JSON.parse(text);
    return new ServerError(response.status, String(error), typeof hint === "string" ? hint : null);
  } catch {
    return new ServerError(response.status, `the server answered ${response.status}`, null);
  }
}

/** @param {number} rank @param {AbortSignal | undefined} aborted @returns {Promise<void>} */
function turn(rank, aborted) {
  return new Promise((resolve, reject) => {
    const given = () => reject(new DOMException("given up", "AbortError"));
    if (aborted?.aborted) {
      given();
      return;
    }
    const entry = {
      rank,
      start: () => {
        aborted?.removeEventListener("abort", drop);
        under += 1;
        resolve();
      },
    };
    function drop() {
      const at = queue.indexOf(entry);
      if (at < 0) return;
      queue.splice(at, 1);
      busy.value = busy.peek() - 1;
      given();
    }
    aborted?.addEventListener("abort", drop, { once: true });
    busy.value = busy.peek() + 1;
    queue.push(entry);
    next();
  });
}

function next() {
  while (under < AT_ONCE && queue.length > 0) {
    let best = 0;
    queue.forEach((entry, i) => {
      if (entry.rank < (queue[best]?.rank ?? 0)) best = i;
    });
    queue.splice(best, 1)[0]?.start();
  }
}

/** Answers that are under way, and those that are kept, by their path. @type {Map<string, Promise<unknown>>} */
const answers = new Map();

/** Who asks for the same at the same time gets the same answer. @param {string} path @param {number} rank @param {boolean} [keep] @returns {Promise<T>} @template T */
function get(path, rank, keep = false) {
  const same = answers.get(path);
  if (same) return /** @type {Promise<T>} */ (same);
  /** @type {Promise<T>} */
  const answer = ask(path, { rank }, (response) => response.json());
  answers.set(path, answer);
  // Who needs it is told that it failed, and may ask again.
  const forget = () => answers.delete(path);
  answer.then(() => keep || forget(), forget);
  return answer;
}

/** Asks for what a page mostly begins with, while its files are still on the way. It stays the same. */
export function begin() {
  for (const path of ["session", ...["", "parent=processes&", "parent=cpus&"].map((parent) => `lanes?from=0&of=r0&${parent}sort=cpu`)]) void get(path, 0, true);
}

/** @returns {Promise<Session>} */
export function session() {
  return get("session", 0);
}

/** The recording that is shown: each question is about it. */
const own = () => view.recording.peek()?.id ?? "";

/** @param {Record<string, string | number>} query @returns {Promise<LanesAnswer>} */
export function lanes(query) {
  return get(`lanes?${new URLSearchParams(Object.entries({ of: own(), ...query }).map(([key, value]) => [key, String(value)]).sort())}`, 1);
}

/** @param {string} parent @param {string} [sort] @returns {Promise<Lane[]>} the first lanes below it */
export const lanesOf = async (parent, sort = "cpu") => (await lanes({ parent, sort, from: 0 })).lanes;

/** @type {AskFrames} */
export function frames(what, body, each, options = {}) {
  return ask(what, { ...options, body: { ...(what === "flame" ? { recordings: [own()] } : { recording: own() }), ...body } }, async (response) => {
    if (response.body) await readFrames(response.body, each);
  });
}

/** @param {object} body @param {AbortSignal} aborted @returns {Promise<At>} */
export function at(body, aborted) {
  return ask("at", { body: { recording: own(), ...body }, rank: 0, signal: aborted }, (response) => response.json());
}

/** @param {string[]} words @param {Asked} [options] */
export async function question(words, options = {}) {
  const began = performance.now();
  return ask("ask", { ...options, body: { recordings: [own()], words } }, async (response) => {
    const text = await response.text();
    /** @type {unknown} */
    const value = text.trim() === "" ? [] : JSON.parse(text);
    const rows = /** @type {TableRow[]} */ (Array.isArray(value) ? value : [value]);
    const read = response.headers.get("Tracesift-Rows");
    return {
      rows, words,
      command: decoded(response.headers.get("Tracesift-Command")) ?? "",
      read: read === null ? null : Number(read),
      notes: notesOf(response.headers.get("Tracesift-Notes")),
      ms: performance.now() - began,
    };
  });
}

/** @param {string | null} text */
function decoded(text) {
  try {
    return text === null ? null : decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** @param {string | null} text */
function notesOf(text) {
  try {
    const value = JSON.parse(decoded(text) ?? "[]");
    return Array.isArray(value) ? value.map(String) : [];
  } catch {
    return [];
  }
}

/** @type {AskSearch} */
export function search(body, each, aborted) {
  return ask("search", { body: { recording: own(), ...body }, rank: 2, signal: aborted }, async (response) => {
    if (!response.body) return;
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let held = "";
    for (;;) {
      const { done, value } = await reader.read();
      held += value ?? "";
      const lines = held.split("\n");
      held = lines.pop() ?? "";
      for (const line of lines) if (line.trim()) each(JSON.parse(line));
      if (done) break;
    }
    if (held.trim()) each(JSON.parse(held));
  });
}

/** @param {string} id @returns {Promise<{ done: number, rows: number, of: number } | null>} */
export async function progress(id) {
  try {
    return await ask(`progress?id=${encodeURIComponent(id)}`, { rank: 0 }, (response) => response.json());
  } catch {
    return null;
  }
}
