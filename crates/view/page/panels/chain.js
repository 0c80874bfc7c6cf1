// The chain of a wait: what each thread of it did, and the way that the reader took along it.
import { h } from "../dom.js";
import { clean, length } from "../format.js";
import { back, followTo } from "../parts/spans.js";

/** @param {ChainLink} link @returns {string} what the thread did while the wait lasted, as `dump waits` has it */
export function didOf({ run_ns: run, ready_ns: ready, wait_ns: wait, unknown_ns: unknown }) {
  const parts = [["ran", run], ["ready", ready], ["waited", wait], ["unknown", unknown]];
  const told = parts.filter(([name, ns]) => typeof ns === "number" && (ns > 0 || name === "ran"));
  return told.map(([name, ns]) => `${name} ${length(Number(ns))}`).join(", ");
}

/** A thread as a link to the end of what it did. @type {LinkTo} */
export function goto(lane, name, end) {
  const text = clean(name, 80);
  if (!lane) return h("span", text);
  return h("button.link", { title: "Go to the wake-up in its lane", onclick: () => void followTo(lane, end) }, text);
}

/** @param {ChainLink} link */
function linkOf(link) {
  const longest = typeof link.longest_wait_ns === "number" && link.longest_wait_ns > 0 ? link.longest_wait_ns : null;
  const by = link.by ?? link.woken_by ?? null;
  const frame = link.longest_wait_method ? ` in ${clean(link.longest_wait_method, 120)}` : "";
  return h("li",
    goto(link.lane, link.name, link.end_ns),
    h("span.did", didOf(link)),
    longest === null ? null : h("span.dim.longest", `longest wait ${length(longest)}${frame}${by ? `, ended by ${clean(by, 60)}` : ""}`));
}

/** @type {ChainOf} */
export function chainOf(chain, of) {
  if (chain.length === 0) return null;
  return [h("h4", { title: "Each thread while the wait above it lasted. The next thread is the one that ended the longest wait." }, of ? `Wait chain of ${clean(of, 60)}` : "Wait chain"), h("ol.chain", chain.map(linkOf))];
}

/** Where the reader came from, the first span first. @param {readonly Followed[]} trail */
export function wayBack(trail) {
  if (trail.length === 0) return null;
  return h("nav.way-back", { "aria-label": "Way along the chain" },
    h("button.back", { title: "Back along the chain (Backspace)", onclick: () => void back() }, "‹ Back"),
    trail.map(({ chosen }, i) => h("button.link", { onclick: () => void back(trail.length - i) }, clean(chosen.name, 60))));
}
