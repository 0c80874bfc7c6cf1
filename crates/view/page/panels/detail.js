// The chosen span: what it is, its stack, who ended it and from where, and the chain of its wait.
import { fill, h, icon } from "../dom/h.js";
import { effect } from "../dom/signal.js";
import { clean } from "../format/text.js";
import { length } from "../format/time.js";
import * as model from "../lanes/model.js";
import { copy } from "../parts/menu.js";
import { choose, followWaker, stepSpan } from "../parts/spans.js";
import { carried, commandLine } from "../state/command.js";
import * as view from "../state/view.js";

/** @type {Record<string, string>} */
const STATES = { run: "runs", wait: "waits", ready: "is ready, without a CPU", open: "not seen yet", unknown: "unknown: switches are missing" };

/** @param {string[] | null} stack leaf first @param {string} label */
function stackOf(stack, label) {
  if (!stack || stack.length === 0) return h("p.dim", "no stack was recorded");
  return h("ol.stack", { "aria-label": label, tabindex: 0 }, stack.map((frame) => {
    const text = clean(frame, 300);
    const at = text.indexOf("!");
    return h("li", { title: text }, at > 0 ? h("span.dim", text.slice(0, at + 1)) : null, text.slice(at + 1));
  }));
}

/** @returns {HTMLElement} */
export function detail() {
  const element = h("aside.detail", { "aria-label": "Chosen span" });
  effect(() => {
    const chosen = view.chosen.value;
    const clock = view.clockNow();
    element.hidden = !chosen?.at.span;
    if (!chosen?.at.span) {
      element.replaceChildren();
      return;
    }
    const { at, name } = chosen;
    const span = at.span;
    if (!span) return;
    const goto = (/** @type {string | null} */ id, /** @type {string} */ text, /** @type {number} */ ns) => (id
      ? h("button.link", { onclick: () => (void model.reveal(id), void choose(id, ns, true)) }, clean(text, 80))
      : h("span", clean(text, 80)));
    fill(element,
      h("header",
        h("h3", h("i", { class: `state ${span.state}` }), clean(name, 80)),
        h("button.quiet", { "aria-label": "Previous span", title: "Previous span ( , )", onclick: () => stepSpan(-1) }, "‹"),
        h("button.quiet", { "aria-label": "Next span", title: "Next span ( . )", onclick: () => stepSpan(1) }, "›"),
        h("button.quiet", { "aria-label": "Close", onclick: () => ((view.chosen.value = null), (view.guests.value = null)) }, icon("close"))),
      h("p.what", h("strong", `${STATES[span.state] ?? span.state} ${length(span.end_ns - span.start_ns)}`),
        span.reason ? ` (${clean(span.reason, 60)})` : "", span.cpu !== null && span.cpu !== undefined && span.state === "run" ? ` on CPU ${span.cpu}` : ""),
      h("p.dim", `${clock.text(span.start_ns, 1000)} … ${clock.text(span.end_ns, 1000)}`),
      h("div.buttons",
        h("button", { onclick: () => (view.selection.value = [span.start_ns, Math.max(span.start_ns + 1, span.end_ns)]) }, "Select"),
        at.waker?.lane ? h("button", { onclick: () => void followWaker() }, "Follow") : null,
        at.words.length > 0 ? h("button", { onclick: () => void copy(commandLine(carried(at.words)), "command") }, icon("command"), "Copy command") : null),
      h("h4", span.state === "wait" ? "Waits in" : "Stack"), stackOf(at.stack, "Stack"),
      at.waker ? [h("h4", "Woken by ", goto(at.waker.lane, at.waker.name, at.waker.ns - 1)), stackOf(at.waker.stack, "Stack of the wake-up")] : null,
      !at.waker && at.device ? h("h4", `Woken by ${at.device}`) : null,
      at.chain.length > 0 ? [h("h4", "Wait chain"), h("ol.chain", at.chain.map((link) => h("li",
        h("i", { class: `state ${link.state}` }), goto(link.lane, link.name, link.start_ns), ` ${STATES[link.state] ?? link.state} ${length(link.end_ns - link.start_ns)}`,
        h("span.dim", link.by ?? link.woken_by ? `, ended by ${clean(link.by ?? link.woken_by ?? "", 60)}` : ""))))] : null);
  });
  return element;
}
