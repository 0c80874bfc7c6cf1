// Time zero at what happened: the program tells the instant, as it does for a command.
import * as client from "../api/client.js";
import { zeroWords } from "./command.js";
import * as view from "./view.js";
import { messageOf } from "../format.js";

/** Kinds of landmarks, in the words of `--zero-time`. */
export const LANDMARKS = [
  { kind: "mark", name: "Mark", example: "text of the mark" },
  { kind: "process-start", name: "Start of a process", example: "name.exe" },
  { kind: "process-end", name: "End of a process", example: "name.exe" },
  { kind: "first", name: "A method is first seen", example: "module!method" },
  { kind: "last", name: "A method is last seen", example: "module!method" },
  { kind: "event", name: "First event", example: "provider/event" },
];
const WORD = new RegExp(`^(?:${LANDMARKS.map(({ kind }) => kind).join("|")}):.`);

/** @param {string} text */
export const isLandmark = (text) => WORD.test(text);

/** @param {string} text that is no pattern */
const plain = (text) => text !== "" && !/[*?;!]/.test(text);

/** Counts times from a mark. Its name becomes the landmark if the program finds this mark by it. @param {Mark} mark */
export function zeroAtMark(mark) {
  const first = (view.recording.peek()?.marks ?? []).find(({ name }) => name.toLowerCase() === mark.name.toLowerCase());
  view.zero.value = { name: mark.name, ns: mark.ns, landmark: first?.ns === mark.ns && plain(mark.name) ? { at: `mark:${mark.name}`, of: "" } : null };
}

let turn = 0;

/** @param {Landmark} landmark @returns {Promise<string | null>} why there is none */
export async function zeroAtLandmark(landmark) {
  const recording = view.recording.peek();
  if (!recording) return "no recording";
  const mine = (turn += 1);
  try {
    const words = ["dump", "timeline", "--buckets", "1", "--top", "1", ...zeroWords(landmark)];
    const { rows } = await client.question(words, { rank: 0 });
    if (mine !== turn || view.recording.peek()?.id !== recording.id) return null;
    const from = rows[0]?.from_ns;
    if (typeof from !== "number") return "The recording has no CPU time to count from.";
    // What is not there leaves times as they are.
    if (from === recording.start_ns) return `The recording does not have ${landmark.at}${landmark.of ? ` of ${landmark.of}` : ""}.`;
    view.zero.value = { name: landmark.at, ns: recording.start_ns - from, landmark };
    return null;
  } catch (error) {
    return messageOf(error);
  }
}
