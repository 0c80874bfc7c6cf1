// Elements and signals.
export * from "./dom/h.js";
export * from "./dom/signal.js";
