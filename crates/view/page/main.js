// Starts the page: reads the session, makes the first picture, keeps the address. Then rest.js makes the rest.
import "./api/early.js";
import * as client from "./api/client.js";
import { calm, choice, drag, effect, fill, h, handled, paused, tool, untracked } from "./dom.js";
import { clean, CLOCK_NAMES, CLOCKS, group, length, messageOf, rangeWord } from "./format.js";
import { drawn } from "./lanes/compositor.js";
import { xOf, nsAt, headWidth, rowHeight } from "./lanes/geometry.js";
import * as model from "./lanes/model.js";
import { hueOfIndex } from "./lanes/paint.js";
import { css, hueOrder } from "./lanes/palette.js";
import { arrows } from "./lanes/overlay.js";
import { Overview } from "./lanes/overview.js";
import { LanesView } from "./lanes/view.js";
import { applyText, currentViews } from "./parts/view-file.js";
import { banner, troubleBar } from "./parts/banner.js";
import { lastCopied } from "./parts/menu.js";
import { choose } from "./parts/spans.js";
import * as path from "./lanes/path.js";
import * as url from "./state/url.js";
import * as view from "./state/view.js";

const THEME = "tracesift-theme";

async function start() {
  try {
    view.theme.value = localStorage.getItem(THEME) ?? "auto";
  } catch {
    // A browser that keeps nothing begins with the system's colours.
  }
  const app = /** @type {HTMLElement} */ (document.getElementById("app"));
  try {
    view.session.value = await client.session();
  } catch (error) {
    const hint = error instanceof client.ServerError ? error.status === 401 ? "Open the address that tracesift printed when it started." : error.hint : null;
    fill(app, h("div.empty", { role: "alert" }, h("h1", "tracesift"), h("p", clean(messageOf(error))), hint ? h("p.dim", hint) : null));
    app.ariaBusy = "false";
    return;
  }
  effect(() => {
    document.documentElement.dataset.theme = view.theme.value;
    try {
      localStorage.setItem(THEME, view.theme.value);
    } catch {
      // See above.
    }
  });
  begin();
  build(app);
  app.ariaBusy = "false";
}

/** Takes the view from the address, else from the command line. */
function begin() {
  const from = view.session.peek()?.start ?? null;
  if (from) view.recordingId.value = from.recording;
  view.range.value = view.whole();
  const list = url.readFragment(location.hash);
  if (list.length > 0) {
    showPairs(list);
    return;
  }
  const named = from?.view ? currentViews().find(({ name }) => name.toLowerCase() === from.view?.toLowerCase()) : null;
  if (named) applyText(named.text);
  else {
    const { has = {} } = view.recording.peek() ?? {};
    const cpu = has.samples || has.switches;
    // A recording without CPU begins with what it has.
    view.opened.value = new Set(["processes", "cpus", ...(cpu ? [] : ["disks", "files", "memory", "events"])]);
    if (!cpu) view.panel.value = ["disk", "file", "events"].find((id) => has[id]) ?? "processes";
  }
  if (from?.time) view.range.value = view.fitted(from.time);
  if (from?.process) view.processes.value = from.process;
  if (from?.panel) view.panel.value = { stacks: "tree", cpu: "processes", tag: "tags", files: "file" }[from.panel] ?? from.panel;
}

/** @param {Pairs} list */
function showPairs(list) {
  const { span } = url.apply(list);
  if (span) void choose(span.lane, span.ns);
}

/** @param {HTMLElement} app */
function build(app) {
  const axisCanvas = h("canvas.axis-canvas");
  const overview = new Overview();
  const top = topBar();
  const head = axisHead();
  const time = h("div.axis-time", axisCanvas);
  const axis = h("div.axis", head, time);
  const lanes = new LanesView(axisCanvas);
  const dock = h("section.dock", { "aria-busy": "true" });
  fill(app, top, banner(), troubleBar(), overview.element, crumbs(), axis, lanes.area, divider(), dock);
  model.start();
  path.start();
  const said = document.getElementById("said");
  effect(() => {
    app.style.setProperty("--dock", `${Math.round(view.dock.value * 1000) / 10}%`);
    document.title = `${view.recording.value?.name ?? ""} – tracesift`;
    if (said) said.textContent = view.said.value;
  });
  let fragment = "";
  const written = paused(150, () => {
    if (location.hash !== `#${fragment}`) history.replaceState(null, "", `#${fragment}`);
  });
  effect(() => {
    fragment = url.toFragment();
    written();
  });
  addEventListener("hashchange", () => {
    client.takeToken();
    const list = url.readFragment(location.hash);
    if (list.length > 0) showPairs(list);
  });
  // What tests look at.
  const seen = { view, model, lanes, overview, path, hueOfProcess: (/** @type {number} */ index) => css(`--hue-${hueOfIndex(index, hueOrder.peek())}`), drawn, arrows, counts: client.counts, busy: client.busy, lastCopied, xOf, nsAt, headWidth, rowHeight, url, trouble: client.trouble };
  Object.assign(window, { tracesift: seen });
  void pictured(lanes, overview).then(() => import("./rest.js")).then(({ rest }) => Object.assign(seen, rest({ app, top, head, time, axis, lanes, dock }))).catch(client.report);
}

/** Waits for the first picture: other parts would take its CPUs. @param {LanesView} lanes @param {Overview} overview */
async function pictured({ store }, { loaded }) {
  const last = performance.now() + 600;
  const is = () => loaded.peek() && model.loading.peek() === 0 && store.sight.lanes.length > 0 && store.complete;
  while (!is() && performance.now() < last) await new Promise((resolve) => setTimeout(resolve, 15));
}

function topBar() {
  const names = h("select.recording", { "aria-label": "Recording", onchange: (event) => {
    const process = view.processes.peek();
    showPairs([["recording", /** @type {HTMLSelectElement} */ (event.target).value], ["panel", view.panel.peek()], ["open", "processes"], ["open", "cpus"]]);
    if (process) void import("./panels/go.js").then(({ keepProcess }) => keepProcess(process)).catch(client.report);
  } });
  effect(() => {
    const all = view.session.value?.recordings ?? [];
    fill(names, all.map(({ id, name }) => h("option", { value: id }, clean(name, 90))));
    names.value = view.recordingId.value;
    names.hidden = !view.hasMany();
  });
  const title = h("h1.title");
  effect(() => {
    const one = view.recording.value;
    fill(title, h("span", { class: view.hasMany() ? "unseen" : "", title: clean(one?.file ?? "") }, clean(one?.name ?? "", 90)),
      h("span.dim.facts", [one?.machine ? clean(one.machine, 40) : "", `${one?.cpus ?? 0} CPU${one?.cpus === 1 ? "" : "s"}`, length((one?.end_ns ?? 0) - (one?.start_ns ?? 0)), one?.wall_start ? `${one.wall_start.slice(0, 19).replace("T", " ")}Z` : "", rowsOf(one)].filter(Boolean).join(" · ")));
  });
  const busy = h("span.busy", { "aria-hidden": "true" });
  effect(() => void busy.classList.toggle("on", client.busy.value > 0));
  return h("header.top", h("span.logo", { "aria-hidden": "true" }, h("i"), h("i"), h("i")), names, title, busy);
}

/** @param {RecordingInfo | null} one */
function rowsOf(one) {
  const switches = one?.rows.context_switches;
  const samples = one?.rows.cpu_samples;
  return [switches ? `${group(switches)} switches` : "", samples ? `${group(samples)} samples` : ""].filter(Boolean).join(", ");
}

/** Ranges that were looked at, and undo. */
function crumbs() {
  const trail = h("ol.trail");
  calm(() => {
    const past = view.past.value.filter((one) => !one.about).slice(-4).map((one) => one.range);
    const now = view.range.value;
    return () => untracked(() => fill(trail, h("li", h("button.link", { onclick: () => view.look(view.whole()) }, "whole recording")),
      past.filter((one) => !view.isSame(one, view.whole())).map((one) => h("li", h("button.link", { title: rangeWord(one), onclick: () => view.look(one) }, length(one[1] - one[0])))),
      h("li", { "aria-current": "true" }, h("strong", length(now[1] - now[0])))));
  });
  const order = choice(view.order, { "aria-label": "Order of lanes", title: "Order of lanes" }, Object.entries(view.ORDERS).map(([id, name]) => [id, `by ${name}`]));
  const shown = choice(view.laneMeasure, {
    "aria-label": "What lanes show", title: "What lanes of processes and threads show: states by context switches, or CPU by samples",
    hidden: () => !view.has("samples") || !view.has("switches"),
  }, [["states", "states"], ["cpu", "sampled CPU"]]);
  const key = (/** @type {string} */ state, /** @type {string} */ name) => h("span.key", h(`i.state.${state}`), name);
  return h("nav.crumbs", { "aria-label": "Ranges" },
    h("div.crumbs-head", shown, order, h("label.check", { title: "Hide processes and threads that did nothing in the range (I)" }, h("input", { type: "checkbox", checked: () => view.hideInactive.value, onchange: () => (view.hideInactive.value = !view.hideInactive.peek()) }), "hide inactive")),
    tool("Undo zoom or filter (Z)", "undo", view.undo, { disabled: () => view.past.value.length === 0 }), tool("Redo (Shift+Z)", "redo", view.redo, { disabled: () => view.future.value.length === 0 }), tool("Whole recording (0)", "fit", () => view.look(view.whole())), trail,
    h("div.state-keys", { role: "group", "aria-label": "States", hidden: () => !view.has("switches") }, key("run", "run"), key("ready", "ready, no CPU"), key("wait", "wait"), key("wait.disk", "for a disk"), key("wait.sleep", "sleep, timer"), key("unknown", "unknown"), key("unread", "not read yet")));
}

function axisHead() {
  const clock = choice(view.clock, { "aria-label": "Clock of the axis" }, CLOCKS.map((one) => [one, CLOCK_NAMES[one]]));
  effect(() => {
    const recording = view.recording.value;
    for (const option of clock.options) option.disabled = option.value !== "s" && (!recording?.wall_start || (option.value === "local" && recording.offset_minutes === null));
  });
  return h("div.axis-head", clock);
}

/** Between lanes and panels. */
function divider() {
  const element = h("div.divider", { role: "separator", tabindex: 0, "aria-orientation": "horizontal", "aria-label": "Height of the panels", "aria-valuemin": 10, "aria-valuemax": 80, "aria-valuenow": () => Math.round(view.dock.value * 100) });
  element.addEventListener("pointerdown", (event) => drag(element, event, ({ clientY }) => view.resize(1 - clientY / innerHeight)));
  element.addEventListener("keydown", (event) => {
    const by = { ArrowUp: 0.04, ArrowDown: -0.04, Home: 1, End: -1 }[event.key];
    if (by === undefined) return;
    view.resize(view.dock.peek() + by);
    handled(event);
  });
  return element;
}

void start();
