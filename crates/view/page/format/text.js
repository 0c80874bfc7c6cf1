// Text of recordings is foreign: it is shown, and never obeyed.

/** @type {Clean} */
export function clean(text, most = 512) {
  const short = text.length > most ? `${text.slice(0, most)}…` : text;
  return short.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g, "�");
}

/** What threads do, by the states of their spans and the kinds of their waits. @type {Record<string, string>} */
export const DID = { run: "runs", wait: "waits", disk: "waits for a disk", sleep: "sleeps, or waits for a timer", ready: "is ready, without a CPU", open: "is off the CPU, not seen yet", unknown: "unknown: switches are missing" };

/** @param {Span} span */
export const didIn = ({ state, kind }) => (state === "wait" ? DID[kind ?? ""] : null) ?? DID[state] ?? state;

/** @param {Span} span @param {string} lane @returns {string} its own name, where that is not the name of its lane */
export const ownName = ({ name }, lane) => (name && name !== lane ? ` ${clean(name, 120)}` : "");

/** @param {unknown} error */
export const messageOf = (error) => (error instanceof Error ? error.message : String(error));

/** Characters of a name that a pattern keeps; a longer one ends with a wildcard. */
const LONGEST = 500;

/** A name as a pattern: signs that patterns or terminals obey become `?`. @param {string} name */
export function exact(name) {
  const short = name.length > LONGEST ? `${name.slice(0, LONGEST)}*` : name;
  const kept = clean(short, LONGEST + 1).replaceAll("\ufffd", "?").replaceAll(";", "?");
  return (name.length > LONGEST ? kept : kept.replaceAll("*", "?")).replace(/^[!\s-]/, "?").replace(/\s$/, "?");
}

/** @param {string[]} words @param {string} platform of the machine whose shell gets them */
export function shellLine(words, platform) {
  return words.map((word) => shellWord(word, platform)).join(" ");
}

/** @param {string} word @param {string} platform */
function shellWord(word, platform) {
  if (platform === "windows") return /^[\p{L}\p{N}\-_./:=+]+$/u.test(word) ? word : windowsWord(word);
  if (/^[\p{L}\p{N}\-_./:=,+%@]+$/u.test(word)) return word;
  if (!/["$`\\!]/.test(word)) return `"${word}"`;
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** A word that neither cmd nor PowerShell can take for more than a word, as the program quotes it. @param {string} word */
function windowsWord(word) {
  const obeyed = /["\u2018-\u201e\u0000-\u001f\u007f-\u009f$`%]/g;
  if (/[$`]/.test(word) && !/["\u2018-\u201e\u0000-\u001f\u007f-\u009f&|<>^%]/.test(word)) return `'${word.replaceAll("'", "''")}'`;
  const safe = word.replace(obeyed, "?");
  return `"${safe}${/\\*$/.exec(safe)?.[0] ?? ""}"`;
}
