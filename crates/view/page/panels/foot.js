// Below an answer: how many rows, what is left out, warnings, and the command.
import { h, icon } from "../dom.js";
import { clean, group, length } from "../format.js";

/** @param {string} command */
export const commandOf = (command) => h("code.command", { title: clean(command, 4_000) }, clean(command, 400));

/** @type {FootOf} */
export function footOf(answer, command, shown, count) {
  const warnings = [...new Set([...answer.notes, ...answer.rows.flatMap((row) => (Array.isArray(row.warnings) ? row.warnings.map(String) : []))])];
  return [
    h("span", `${group(shown)} row${shown === 1 ? "" : "s"}${shown < count ? ` of the ${group(count)} of the command` : ""}`),
    limitOf(answer.words, count),
    h("span.dim", `${answer.read !== null ? `${group(answer.read)} rows read · ` : ""}${length(answer.ms * 1e6)}`),
    warnings.length > 0 ? h("span.warn", { title: warnings.join("\n") }, icon("warning"), clean(warnings[0] ?? "", 140), warnings.length > 1 ? ` (+${warnings.length - 1})` : "") : null,
    commandOf(command),
  ];
}

/** Says where a command keeps the largest. @param {string[]} words @param {number} count rows */
export function limitOf(words, count) {
  const after = (/** @type {string} */ word) => (words.includes(word) ? Number(words[words.indexOf(word) + 1] ?? NaN) : NaN);
  const [top, each] = [after("--top"), after("--top-methods")];
  const processes = `the ${group(top)} largest processes at most`;
  if (words[1] === "stacks") return h("span.dim", processes);
  if (each > 0) return h("span.dim", `the ${group(each)} largest of each of ${processes}`);
  return count >= top ? h("span.dim", `the ${group(top)} largest; the command has more with a larger --top`) : null;
}
