// Command lines: the file where a shell wants it, and times counted from the chosen landmark.
import { rangeWord, readRange, readWord, shellLine } from "../format.js";
import * as view from "./view.js";

/** Questions whose windows are named by themselves; they take no `--zero-time`. */
const WITHOUT_ZERO = new Set(["dump path", "explain"]);

/** @param {readonly string[]} words */
const nameWords = (words) => (words[0] === "dump" || words[0] === "symbols" ? 2 : 1);

/** @param {readonly string[]} words @returns {string} for a shell */
export function commandLine(words) {
  const count = nameWords(words);
  // Behind the options a file could be taken for the value of one.
  return shellLine(["tracesift", ...words.slice(0, count), view.recording.peek()?.file ?? "X.sift", ...words.slice(count)], view.session.peek()?.platform ?? "linux");
}

/** @param {Landmark} landmark */
export function zeroWords({ at, of }) {
  return ["--zero-time", at, ...(of ? ["--zero-process", of] : [])];
}

/** @type {Carried} */
export function carried(words, zero = view.zero.peek()) {
  if (!zero?.landmark || WITHOUT_ZERO.has(words.slice(0, nameWords(words)).join(" "))) return [...words];
  const whole = view.whole();
  let range = whole;
  const out = [];
  for (let i = 0; i < words.length; i += 1) {
    const [word = "", after = ""] = [words[i], words[i + 1]];
    const own = word === "--time" ? readRange(after) : word.startsWith("--time=") ? readRange(word.slice(7)) : null;
    if (own) {
      range = own;
      const text = rangeWord([own[0] - zero.ns, own[1] - zero.ns]);
      out.push(...(word === "--time" ? ["--time", text] : [`--time=${text}`]));
      i += word === "--time" ? 1 : 0;
    } else if (word === "--bucket") {
      // Such buckets begin at time zero. A number of buckets keeps them, if the recording cuts none.
      const length = readWord(after) ?? 0;
      const count = (range[1] - range[0]) / length;
      if (zero.ns % length === 0) out.push(word, after);
      else if (Number.isInteger(count) && range[0] >= whole[0] && range[1] <= whole[1]) out.push("--buckets", String(count));
      else return [...words];
      i += 1;
    } else out.push(word);
  }
  return [...out, ...zeroWords(zero.landmark)];
}

/** What instants of rows count from, in ns since the start of the recording. @param {readonly string[]} words */
export function baseOf(words) {
  return words.includes("--zero-time") ? view.zero.peek()?.ns ?? 0 : 0;
}
