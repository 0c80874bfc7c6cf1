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
  return /** @type {ElementOf<T>} */ (element);
}

/** @param {Props | Child} value @returns {value is Props} */
function isProps(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Node);
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
