// Elements, their events, and signals.
export * from "./dom/controls.js";
export * from "./dom/events.js";
export * from "./dom/h.js";
export * from "./dom/signal.js";
