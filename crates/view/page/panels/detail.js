// The chosen span: what it is, its stack, who ended it, and the chain of its wait.
import { effect, fill, h, icon, tool } from "../dom.js";
import { clean, didIn, length, ownName } from "../format.js";
import { copy } from "../parts/menu.js";
import { followWaker, leave, stepSpan } from "../parts/spans.js";
import { carried, commandLine } from "../state/command.js";
import * as view from "../state/view.js";
import { chainOf, goto, wayBack } from "./chain.js";

/** States of Linux threads. @type {Record<string, string>} */
const STATES = { S: "S: sleeps", D: "D: mostly for a disk", I: "I: idle" };

/** @param {string} frame @param {string | null} [named] a class */
function frameOf(frame, named = null) {
  const text = clean(frame, 300);
  const at = text.indexOf("!");
  return h("li", { title: text, class: named }, at > 0 ? h("span.dim", text.slice(0, at + 1)) : null, text.slice(at + 1));
}

/**
 * @param {string[] | null | undefined} stack leaf first
 * @param {string} label
 * @param {string | null | undefined} method the frame that tables name; the scheduler's frames above it are folded
 */
function stackOf(stack, label, method, none = "no stack was recorded") {
  if (!stack || stack.length === 0) return h("p.dim", none);
  const named = Math.max(0, stack.indexOf(method ?? ""));
  return h("div.stack",
    named > 0 ? h("details", h("summary", `${named} function${named > 1 ? "s" : ""} of the system`), h("ol", { "aria-label": `${label}: functions of the system` }, stack.slice(0, named).map((frame) => frameOf(frame)))) : null,
    h("ol", { "aria-label": label }, stack.slice(named).map((frame, i) => frameOf(frame, i === 0 ? "named" : null))));
}

/** @param {At} at who ended the wait, in a line */
function woken({ waker, device }) {
  if (!waker) return device ? h("p.woken", `Woken by ${clean(device, 60)}`) : null;
  const from = waker.method ?? waker.stack?.[0];
  return h("p.woken", "Woken by ", goto(waker.lane, waker.name, waker.ns), from ? h("span.dim", { title: clean(from, 300) }, ` from ${clean(from, 80)}`) : null);
}

export function detail() {
  const element = h("aside.detail", { "aria-label": "Chosen span" });
  effect(() => {
    const chosen = view.chosen.value;
    const trail = view.trail.value;
    const clock = view.clockNow();
    const span = chosen?.at.span;
    element.hidden = !span;
    if (!chosen || !span) {
      element.replaceChildren();
      return;
    }
    const { at, name } = chosen;
    const method = at.method ?? at.stack?.[0];
    const last = trail[trail.length - 1];
    fill(element,
      wayBack(trail),
      h("header",
        h("h3", h(`i.state.${span.state}.${span.kind ?? ""}`), clean(name, 80)),
        h("button.quiet", { "aria-label": "Previous span", title: "Previous span ( , )", onclick: () => stepSpan(-1) }, "‹"),
        h("button.quiet", { "aria-label": "Next span", title: "Next span ( . )", onclick: () => stepSpan(1) }, "›"),
        tool("Close", "close", leave)),
      h("p.what", h("strong", `${didIn(span)} ${length(span.end_ns - span.start_ns)}`), ownName(span, name),
        span.reason ? ` (${STATES[span.reason] ?? clean(span.reason, 60)})` : "", span.cpu !== null && span.cpu !== undefined && span.state === "run" ? ` on CPU ${span.cpu}` : ""),
      h("p.dim", `${clock.text(span.start_ns, 1000)} … ${clock.text(span.end_ns, 1000)}`),
      woken(at),
      chainOf(at.chain),
      // A running thread ends the way: the chain that led to it stays.
      at.chain.length === 0 && span.state === "run" && last && last.chosen.at.chain.length > 0 ? chainOf(last.chosen.at.chain, last.chosen.name) : null,
      span.state === "wait" && method ? h("p.waits-in", h("strong", "Waits in "), h("span", { title: clean(method, 300) }, clean(method, 200))) : null,
      h("div.buttons",
        h("button", { onclick: () => (view.selection.value = view.lasting([span.start_ns, span.end_ns])) }, "Select"),
        at.waker?.lane ? h("button", { onclick: () => followWaker() }, "Follow") : null,
        at.words.length > 0 ? h("button", { onclick: () => copy(commandLine(carried(at.words)), "command") }, icon("command"), "Copy command") : null),
      h("h4", span.state === "wait" ? "Stack of the wait" : "Stack"), stackOf(at.stack, "Stack", at.method, span.state === "run" ? "Select it: Methods has its samples, if no filter hides them" : undefined),
      at.waker ? [h("h4", "Stack of the wake-up"), stackOf(at.waker.stack, "Stack of the wake-up", at.waker.method)] : null);
    element.scrollTop = 0;
  });
  return element;
}
