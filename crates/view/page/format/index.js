export * from "./table.js";
export * from "./text.js";
export * from "./time.js";
