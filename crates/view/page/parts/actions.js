// All actions with their keys, for the keyboard, the list of commands and the help.
import { CLOCK_NAMES, CLOCKS, rangeWord } from "../format.js";
import { askable } from "../panels/questions.js";
import { zeroAtMark } from "../state/landmark.js";
import * as view from "../state/view.js";
import { stepOccurrence } from "./density.js";
import { help } from "./keys.js";
import { copy } from "./menu.js";
import { fit, nextClock, setMark, spanRange, stepMark, zoomBy, zoomToSelection } from "./moves.js";
import { palette } from "./palette.js";
import { dropPath, showPathHere } from "./path.js";
import { back, followWaker, leave, stepSpan } from "./spans.js";
import { copyLink, currentViews, openView, saveView, showText, showView } from "./view-file.js";
import { zeroDialog } from "./zero.js";

function escape() {
  if (view.chosen.peek()) leave();
  else if (view.selection.peek()) view.selection.value = null;
  else if (view.thread.peek()) view.thread.value = null;
  else view.processes.value = null;
}

function pinCurrent() {
  const lane = view.lane.peek();
  if (lane) view.togglePin(lane);
}

/** Places of the page that the keyboard goes to, one after the other. */
const PARTS = ["#search", ".lanes.main [role=row][tabindex='0']", "[role=tab][aria-selected=true]", ".panel-body [tabindex='0']", ".detail button"];

/** @param {1 | -1} way */
function nextPart(way) {
  const all = PARTS.map((part) => document.querySelector(part)).filter((one) => one instanceof HTMLElement && one.offsetParent !== null);
  const now = document.activeElement;
  const homes = [".search", ".lane-area", ".tabs", ".panel-body", ".detail"];
  const at = all.findIndex((one) => homes.some((home) => one?.closest(home) && now?.closest(home)));
  const next = all[at < 0 ? 1 : (at + way + all.length) % all.length];
  if (next instanceof HTMLElement) next.focus();
}

/** @param {string} name @param {() => unknown} run @returns {Entry} without a key */
const action = (name, run) => [name, "", run];

/** Names, keys and what they do, by group. @type {Record<string, Entry[]>} */
const GROUPS = {
  Time: [
    ["Zoom in", "w ArrowUp", () => zoomBy(0.7)],
    ["Zoom out", "s ArrowDown", () => zoomBy(1 / 0.7)],
    ["Pan left", "a ArrowLeft", () => view.pan(-0.15)],
    ["Pan right", "d ArrowRight", () => view.pan(0.15)],
    ["Zoom to the selection, or follow the chain to who ended the wait", "Enter", zoomToSelection],
    ["Centre; again: fit", "f", fit],
    ["Undo zoom or filter", "z Ctrl+z", view.undo],
    ["Redo zoom or filter", "Shift+z Ctrl+Shift+z", view.redo],
    ["Whole recording", "0", () => view.look(view.whole())],
    ["Next time format", "t", nextClock],
  ],
  "Spans and marks": [
    ["Next span of the lane", ".", () => stepSpan(1)],
    ["Previous span of the lane", ",", () => stepSpan(-1)],
    ["Select the span", "r", () => { const span = spanRange(); if (span) view.selection.value = span; }],
    ["Next mark", "]", () => stepMark(1)],
    ["Previous mark", "[", () => stepMark(-1)],
    ["Set a mark", "m", setMark],
    ["Time zero at the pointer or selection", "Shift+m", () => { const ns = view.pointer.peek() ?? view.selection.peek()?.[0]; if (ns !== undefined && ns !== null) view.zeroAt("reader", ns); }],
    ["Time zero at the start of the recording", "", () => (view.zero.value = null)],
    ["Time zero at a mark, process, method or event…", "", () => zeroDialog()],
    ["Follow the chain to who ended the wait", "Shift+Enter", () => followWaker()],
    ["Back along the followed chain", "Backspace", () => back()],
    ["Next part of the recording with the hit of the search", "n", () => stepOccurrence(1)],
    ["Previous part with the hit of the search", "Shift+n", () => stepOccurrence(-1)],
  ],
  Lanes: [
    ["Critical path of the selection", "Shift+c", showPathHere],
    ["Remove the critical path", "", dropPath],
    ["Pin the lane", "p", pinCurrent],
    ["Hide inactive processes and threads", "i", () => (view.hideInactive.value = !view.hideInactive.peek())],
    ["Show hidden lanes", "", () => (view.hidden.value = new Set())],
  ],
  Page: [
    ["Search", "/", () => document.getElementById("search")?.focus()],
    ["Next part: search, lanes, panels, rows, span", "F6", () => nextPart(1)],
    ["Previous part", "Shift+F6", () => nextPart(-1)],
    ["Copy the command of the panel", "c", () => document.getElementById("copy-command")?.click()],
    ["Larger or smaller panels", "q", () => (view.dock.value = view.dock.peek() > 0.5 ? view.DOCK : 0.72)],
    ["Commands", "Ctrl+Shift+p", palette],
    ["Keys", "?", help],
    ["Clear: span, selection, thread, process", "Escape", escape],
    ["Copy link to this view", "", copyLink],
    ["Copy the selection as --time", "", () => copy(`--time ${rangeWord(view.subject.peek())}`, "range")],
    ["This view as text", "", showText],
    ["Save the view as file", "Ctrl+s", saveView],
    ["Open a view file", "Ctrl+o", openView],
    ...Object.entries(view.THEMES).map(([id, name]) => action(name, () => (view.theme.value = id))),
    ["Print", "Ctrl+p", () => print()],
  ],
};

/** @param {Record<string, Entry[]>} groups */
const listed = (groups) => Object.entries(groups).flatMap(([group, entries]) => entries.map(([name, keys, run]) => ({ group, name, keys: keys.split(" ").filter(Boolean), run })));

export const ACTIONS = listed(GROUPS);

/** @returns {Action[]} with those of the recording */
export function allActions() {
  return [
    ...ACTIONS,
    ...listed({
      Views: currentViews().map(({ name }, i) => [`View: ${name}`, i < 9 ? String(i + 1) : "", () => showView(i)]),
      Panels: askable().map(({ id, title }) => action(`Panel: ${title}`, () => (view.panel.value = id))),
      Lanes: Object.keys(view.ORDERS).map((order) => action(`Sort lanes by ${order}`, () => (view.order.value = order))),
      Time: [
        ...CLOCKS.map((clock) => action(`Times: ${CLOCK_NAMES[clock]}`, () => (view.clock.value = clock))),
        ...(view.recording.peek()?.marks ?? []).slice(0, 50).map((mark) => action(`Time zero at mark ${mark.name}`, () => zeroAtMark(mark))),
      ],
    }),
  ];
}

/** @param {string} key */
export function keyText(key) {
  return key.split("+").map((part) => ({ ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Escape: "Esc" })[part] ?? (part.length === 1 ? part.toUpperCase() : part)).join(" ");
}
