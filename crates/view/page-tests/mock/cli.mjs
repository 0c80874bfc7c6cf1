// The command that the page copies, of the made-up recording: `tracesift WORDS… made-up.sift --format json`.
import { answer, FILE } from "./answers.mjs";

const words = process.argv.slice(2).filter((word, i, all) => word !== FILE && word !== "--format" && all[i - 1] !== "--format");
process.stdout.write(JSON.stringify(answer(words)));
