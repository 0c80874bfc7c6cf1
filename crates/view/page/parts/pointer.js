// The pointer over the lanes: wheel, drag, click, and the handles of the selection.
import { around, drag, effect, h, handled } from "../dom.js";
import { headWidth, nsAt, nsPerPixel, shift, timeWidth, xOf } from "../lanes/geometry.js";
import { length, wordOf } from "../format.js";
import { choose } from "./spans.js";
import * as view from "../state/view.js";

/** @param {HTMLElement} area @param {HTMLElement} axis */
export function followPointer(area, axis) {
  area.addEventListener("wheel", (event) => wheel(event, area), { passive: false });
  axis.addEventListener("wheel", (event) => wheel(event, area, true), { passive: false });
  for (const element of [area, axis]) {
    element.addEventListener("pointermove", (event) => {
      const x = place(event, area);
      view.pointer.value = x >= 0 && x <= timeWidth.peek() ? nsAt(x) : null;
    });
    element.addEventListener("pointerleave", () => (view.pointer.value = null));
    element.addEventListener("pointerdown", (event) => press(event, area, element));
  }
  area.addEventListener("dblclick", (event) => {
    const span = view.chosen.peek()?.at.span;
    if (span && place(event, area) >= 0) view.selection.value = view.lasting([span.start_ns, span.end_ns]);
  });
}

/** @param {MouseEvent} event @param {HTMLElement} area */
function place(event, area) {
  return event.clientX - area.getBoundingClientRect().left - headWidth.peek();
}

/** @param {Event} event */
function laneOf(event) {
  return around(event, "[data-lane-time]")?.dataset.laneTime ?? null;
}

/** @type {Wheel} */
function wheel(event, area, always = false) {
  const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
  if (event.ctrlKey || event.metaKey || always) {
    event.preventDefault();
    const x = Math.min(timeWidth.peek(), Math.max(0, place(event, area)));
    view.zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY * unit * 0.0022))), nsAt(x));
  } else if (event.deltaX !== 0 || event.shiftKey) {
    event.preventDefault();
    view.pan(((event.deltaX || event.deltaY) * unit) / timeWidth.peek());
  }
}

/** @param {PointerEvent} event @param {HTMLElement} area @param {HTMLElement} element */
function press(event, area, element) {
  const x0 = place(event, area);
  if (x0 < 0 || x0 > timeWidth.peek()) return;
  if (around(event, "button, .handle")) return;
  const pan = event.button === 1 || (event.button === 0 && event.shiftKey);
  if (event.button !== 0 && !pan) return;
  const lane = laneOf(event);
  const range = view.range.peek();
  const per = nsPerPixel();
  const first = nsAt(x0);
  let moved = false;
  if (pan) event.preventDefault();
  if (lane) {
    view.lane.value = lane;
    around(event, "[role=row]")?.focus({ preventScroll: true });
  }
  drag(element, event, (now) => {
    const x = place(now, area);
    if (!moved && Math.abs(x - x0) < 4) return;
    moved = true;
    if (pan) view.look([range[0] - (x - x0) * per, range[1] - (x - x0) * per], "move");
    else {
      view.dragging.value = true;
      selectBetween(first, nsAt(Math.min(timeWidth.peek(), Math.max(0, x))));
    }
  }, () => {
    view.dragging.value = false;
    if (moved || pan) return;
    if (lane) void choose(lane, first);
    else view.selection.value = null;
  });
}

/** @param {number} a @param {number} b */
function selectBetween(a, b) {
  const [start, end] = view.whole();
  const from = Math.max(start, Math.min(a, b));
  const to = Math.min(end, Math.max(a, b));
  if (to > from) view.selection.value = [from, to];
}

/** The two ends of the selection, on the axis. */
export function handles() {
  const ends = ["start", "end"].map((name, i) => {
    const handle = h("div", { class: `handle ${name}`, role: "slider", tabindex: 0, "aria-label": i === 0 ? "Start of the selection" : "End of the selection", "aria-orientation": "horizontal" });
    const put = (/** @type {number} */ ns) => {
      const now = view.selection.peek();
      if (!now) return;
      const [start, end] = view.whole();
      const at = Math.min(end, Math.max(start, Math.round(ns)));
      view.selection.value = i === 0 ? [Math.min(at, now[1] - 1), now[1]] : [now[0], Math.max(at, now[0] + 1)];
    };
    handle.addEventListener("pointerdown", (event) => {
      event.stopPropagation();
      view.dragging.value = true;
      drag(handle, event, ({ clientX }) => put(nsAt(clientX - box.getBoundingClientRect().left)), () => (view.dragging.value = false));
    });
    handle.addEventListener("keydown", (event) => {
      const step = nsPerPixel() * (event.shiftKey ? 20 : 1);
      const by = { ArrowLeft: -step, ArrowRight: step, PageDown: -20 * step, PageUp: 20 * step }[event.key];
      if (by === undefined) return;
      put((view.selection.peek()?.[i] ?? 0) + by);
      handled(event);
    });
    return handle;
  });
  const text = h("div.between", { "aria-hidden": "true" });
  const bar = h("i.between-bar");
  const box = h("div.handles", bar, text, ...ends);
  effect(() => {
    const range = view.selection.value;
    const [from, to] = view.range.value;
    void timeWidth.value;
    box.hidden = range === null;
    if (!range) return;
    const [start, end] = view.whole();
    range.forEach((ns, i) => {
      const handle = ends[i];
      if (!handle) return;
      shift(handle, xOf(ns));
      handle.classList.toggle("away", ns < from || ns > to);
      handle.ariaValueMin = String(start);
      handle.ariaValueMax = String(end);
      handle.ariaValueNow = String(ns);
      handle.ariaValueText = wordOf(ns);
    });
    const [a, b] = [Math.max(0, xOf(range[0])), Math.min(timeWidth.peek(), xOf(range[1]))];
    text.classList.toggle("away", b - a < 60);
    shift(bar, a, b - a);
    shift(text, (a + b) / 2 - 50);
    const long = length(range[1] - range[0]);
    if (text.textContent !== long) text.textContent = long;
  });
  return box;
}
