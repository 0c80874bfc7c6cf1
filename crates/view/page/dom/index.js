export * from "./h.js";
export * from "./signal.js";
