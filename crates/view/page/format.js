// Values as texts.
export * from "./format/table.js";
export * from "./format/text.js";
export * from "./format/time.js";
