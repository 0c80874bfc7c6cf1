// Small elements that many parts have.
import { h } from "./h.js";

/** A button with an icon alone. @type {MakeTool} */
export const tool = (label, name, onclick, more = {}) => h("button.quiet", { "aria-label": label, title: label, onclick, ...more }, icon(name));

/** A choice that is a part of the view. @type {MakeChoice} */
export function choice(of, props, options) {
  const element = h("select", { value: () => of.value, ...props }, options.map(([value, text]) => h("option", { value }, text)));
  element.addEventListener("change", () => (of.value = element.value));
  return element;
}

/** @param {number} hue 0…11 */
export const swatch = (hue) => h(`i.swatch.hue-${hue}`);

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
