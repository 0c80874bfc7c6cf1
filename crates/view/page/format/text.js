// Text of recordings is foreign: it is shown, and never obeyed.

/**
 * @param {string} text
 * @param {number} [most] characters that are kept
 * @returns {string} without control characters and marks of direction, which could make a name look like another one
 */
export function clean(text, most = 512) {
  const short = text.length > most ? `${text.slice(0, most)}…` : text;
  return short.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g, "�");
}

/**
 * @param {string[]} words
 * @param {string} platform of the machine whose shell gets them
 * @returns {string}
 */
export function shellLine(words, platform) {
  return words.map((word) => shellWord(word, platform)).join(" ");
}

/**
 * @param {string} word
 * @param {string} platform
 */
function shellWord(word, platform) {
  if (/^[\p{L}\p{N}\-_./:=,+%@]+$/u.test(word)) return word;
  if (platform === "windows" || !/["$`\\!]/.test(word)) return `"${word.replaceAll('"', '\\"')}"`;
  return `'${word.replaceAll("'", "'\\''")}'`;
}
