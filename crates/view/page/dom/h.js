import { effect } from "./signal.js";

/**
 * Makes an element. The tag can have classes: `span.dim`. A property that is a function is read again after each change of the signals that
 * it reads; `on…` properties are handlers, `--…` custom properties of the style. Without properties the children follow the tag. Texts become
 * text nodes and nothing else.
 * @template {string} T
 * @param {T} tag
 * @param {Props | Child} [first]
 * @param {...Child} rest
 * @returns {ElementOf<T>}
 */
export function h(tag, first, ...rest) {
  const [name = "", ...classes] = tag.split(".");
  const element = document.createElement(name);
  if (classes.length > 0) element.className = classes.join(" ");
  if (name === "button") element.setAttribute("type", "button");
  // Names of recordings are no words of a language.
  if (name === "input" || name === "textarea") element.setAttribute("spellcheck", "false");
  if (name === "input") element.setAttribute("autocomplete", "off");
  // Pictures: a text beside them says what they show.
  if (name === "i" || name === "canvas") element.setAttribute("aria-hidden", "true");
  // A choice has its options before its value.
  append(element, isProps(first) ? rest : [first, ...rest]);
  for (const [key, value] of Object.entries(isProps(first) ? first : {})) {
    if (key.startsWith("on") && typeof value === "function") element.addEventListener(key.slice(2), /** @type {EventListener} */ (value));
    else if (typeof value === "function") effect(() => put(element, key, /** @type {() => Plain} */ (value)()));
    else put(element, key, value);
  }
  return /** @type {ElementOf<T>} */ (/** @type {unknown} */ (element));
}

/** @param {Props | Child} value @returns {value is Props} */
function isProps(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Node);
}

/** A button with an icon alone. @param {string} label @param {string} name of the icon @param {() => unknown} onclick @param {Props} [more] */
export const tool = (label, name, onclick, more = {}) => h("button.quiet", { "aria-label": label, title: label, onclick, ...more }, icon(name));

/**
 * A choice that is a part of the view.
 * @param {Signal<string>} of
 * @param {Props} props
 * @param {readonly (readonly [string, string | undefined])[]} options values and texts
 */
export function choice(of, props, options) {
  const element = h("select", { value: () => of.value, ...props }, options.map(([value, text]) => h("option", { value }, text)));
  element.addEventListener("change", () => (of.value = element.value));
  return element;
}

/** @param {number} hue 0…11 */
export const swatch = (hue) => h(`i.swatch.hue-${hue}`);

/**
 * Follows the pointer from a press to its end.
 * @param {HTMLElement} element
 * @param {PointerEvent} event
 * @param {(event: PointerEvent) => void} move
 * @param {(event: PointerEvent) => void} [end]
 */
export function drag(element, event, move, end) {
  const stop = new AbortController();
  const up = (/** @type {PointerEvent} */ last) => {
    stop.abort();
    end?.(last);
  };
  element.setPointerCapture(event.pointerId);
  element.addEventListener("pointermove", move, { signal: stop.signal });
  element.addEventListener("pointerup", up, { signal: stop.signal });
  element.addEventListener("pointercancel", up, { signal: stop.signal });
}

/** @param {Event} event @param {string} selector @returns {HTMLElement | null} the element around its target, or itself, that fits */
export function around({ target }, selector) {
  const found = target instanceof Element ? target.closest(selector) : null;
  return found instanceof HTMLElement ? found : null;
}

/** Whether the key is meant for the browser or the system. @param {KeyboardEvent} event */
export const held = (event) => event.ctrlKey || event.altKey || event.metaKey;

/** What a handler of keys ends with: nobody else obeys the key. @param {Event} event */
export function handled(event) {
  event.preventDefault();
  event.stopPropagation();
}

/** @param {HTMLElement} element @param {string} name @param {Plain} value */
function put(element, name, value) {
  if (name === "value" && (element instanceof HTMLInputElement || element instanceof HTMLSelectElement)) {
    element.value = String(value ?? "");
  } else if (name === "checked" && element instanceof HTMLInputElement) {
    element.checked = value === true;
  } else if (name.startsWith("--")) {
    element.style.setProperty(name, String(value));
  } else if (value === null || value === undefined || value === false) {
    element.removeAttribute(name);
  } else {
    element.setAttribute(name, value === true ? "" : String(value));
  }
}

/** @param {Element} element @param {Child[]} children */
export function append(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(element, child);
    else if (typeof child === "function") element.append(live(child));
    else element.append(child instanceof Node ? child : String(child));
  }
}

/** @param {() => string | number | null} text */
function live(text) {
  const node = document.createTextNode("");
  effect(() => {
    node.data = String(text() ?? "");
  });
  return node;
}

/** @param {Element} element @param {...Child} children */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

/** @param {string} name one of the icons below */
export function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", ICONS[name] ?? "");
  svg.append(path);
  return svg;
}

/** @type {Record<string, string>} */
const ICONS = {
  more: "M3 8h.01M8 8h.01M13 8h.01",
  open: "M6 4l4 4-4 4",
  pin: "M6 2h4l-.5 4 2 2.5h-7L6.500 6zM8 8.500V14",
  close: "M4 4l8 8M12 4l-8 8",
  search: "M7 2.500a4.500 4.500 0 1 0 0 9 4.500 4.500 0 0 0 0-9M10.500 10.500L14 14",
  copy: "M5 5h8v9H5zM3 11V2h8",
  command: "M3 4l4 4-4 4M8 12h5",
  undo: "M6 3L3 6l3 3M3 6h6a4 4 0 0 1 0 8H7",
  redo: "M10 3l3 3-3 3M13 6H7a4 4 0 0 0 0 8h2",
  warning: "M8 2l6.500 12h-13zM8 6.500v3.500M8 12h.01",
  link: "M7 9a3 3 0 0 0 4 .3l2-2A3 3 0 0 0 9 3L8 4M9 7a3 3 0 0 0-4-.3l-2 2A3 3 0 0 0 7 13l1-1",
  columns: "M2 3h12v10H2zM6 3v10M10 3v10",
  help: "M6 6a2 2 0 1 1 2.700 1.900c-.5.3-.7.6-.7 1.300M8 11.500h.01",
  theme: "M8 2a6 6 0 1 0 0 12zM8 2a6 6 0 0 1 0 12",
  fit: "M2 8h12M2 8l3-3M2 8l3 3M14 8l-3-3M14 8l-3 3",
};
