// Colours of the style sheet as numbers for the painter, and who has which.
import { computed, signal } from "../dom.js";
import { hueOfLane } from "./paint.js";
import * as view from "../state/view.js";

/** Names of the twelve hues, as a view's text has them. */
export const HUES = ["rose", "red", "orange", "gold", "olive", "green", "teal", "cyan", "blue", "indigo", "violet", "magenta"];

/** Processes, the one with most CPU first. */
const ranked = signal(/** @type {Lane[]} */ ([]));

/** Hues by the number of a process: those with most CPU differ. The reader's choice goes first. */
export const hueOrder = computed(() => {
  /** @type {number[]} */
  const order = [];
  const chosen = view.colours.value;
  ranked.value.forEach((lane, rank) => {
    const index = /^process:(\d{1,7})$/.exec(lane.id);
    if (index) order[Number(index[1])] = chosenHue(lane, chosen) ?? places.value.get(lane.id) ?? (rank * 5 + 5) % 12;
  });
  return order;
});

/** Lanes of processes by `name(pid)`. */
export const processLanes = computed(() => new Map(ranked.value.map((lane) => [lane.name.replace(/ [+-]{1,2}$/, ""), lane])));

/** Hues by the id of a lane, of the processes in `ranked`. */
const places = signal(/** @type {ReadonlyMap<string, number>} */ (new Map()));
/** Hues that names have got: the same ones in each recording. Other processes with a name get the next ones. */
const named = new Map();

/** @param {Lane[]} lanes processes, the one with most CPU first */
export function orderHues(lanes) {
  const seen = new Map();
  const next = new Map();
  for (const { id, name } of lanes) {
    const own = name.replace(/\(\d+\)(?: [+-]{1,2})?$/, "");
    const count = seen.get(own) ?? 0;
    seen.set(own, count + 1);
    const key = `${count} ${own}`;
    if (!named.has(key)) named.set(key, (named.size * 5 + 5) % 12);
    next.set(id, named.get(key));
  }
  places.value = next;
  ranked.value = lanes;
}

/** The lane in a view's text; without a process id it has its colour in other recordings, too. @param {Lane} lane */
export function colourKey({ kind, name }) {
  return `${kind} ${name.replace(/ [+-]{1,2}$/, "")}`;
}

/** @param {Lane} lane @param {ReadonlyMap<string, number>} chosen */
function chosenHue(lane, chosen) {
  if (chosen.size === 0 || (lane.kind !== "process" && lane.kind !== "tag")) return undefined;
  const key = colourKey(lane);
  return chosen.get(key) ?? chosen.get(key.replace(/\(\d+\)$/, ""));
}

/** @param {Lane} lane @returns {number} 0…11 */
export function hueOf(lane) {
  return chosenHue(lane, view.colours.peek()) ?? hueOfLane(lane, hueOrder.peek());
}

/** @type {CanvasRenderingContext2D | null} */
let context = null;

/** @param {string} css any colour @returns {number} bytes R, G, B, A as they lie in an ImageData */
export function rgba(css) {
  context ??= document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  if (!context) return 0xff000000;
  context.clearRect(0, 0, 1, 1);
  context.fillStyle = css;
  context.fillRect(0, 0, 1, 1);
  const [r = 0, g = 0, b = 0, a = 255] = context.getImageData(0, 0, 1, 1).data;
  return ((a << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

/** @param {string} name of a custom property; `--hue-3` is `--hue` of hue 3 @returns {string} its colour in the theme in use */
export function css(name) {
  const probe = document.getElementById("probe");
  if (!probe) return "#000";
  const [, property = name, hue = 0] = /^(.*)-(\d+)$/.exec(name) ?? [];
  probe.style.setProperty("--angle", String(Number(hue) * 30));
  probe.style.color = `var(${property})`;
  return getComputedStyle(probe).color;
}

export function readPalette() {
  const of = (/** @type {string} */ name) => rgba(css(name));
  const hues = Array.from({ length: 12 }, (_, i) => of(`--hue-${i}`));
  return {
    run: of("--run"), runPeak: of("--run-peak"), ready: of("--ready"), wait: of("--wait"), disk: of("--wait-disk"),
    open: of("--open"), unknown: of("--unknown"), unread: of("--unread"), cpu: of("--cpu"), cpuPeak: of("--cpu-peak"), line: of("--line"),
    hues, order: hueOrder.peek(), peaks: Array.from({ length: 12 }, (_, i) => of(`--hue-peak-${i}`)),
  };
}
