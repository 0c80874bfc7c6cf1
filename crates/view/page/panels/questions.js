// The questions of the panels, in the words of the command line.
import * as view from "../state/view.js";
import { rangeWord } from "../format.js";

/** Rows of a table at most; a command with another `--top` shows more. */
export const TOP = 2_000;

/** What the filter's patterns are made of. */
export const PATTERNS = [
  "Patterns as the command line has them; upper and lower case are the same.",
  "lock: all names that contain it, as *lock*. This is clock_gettime, too.",
  "*  any text        ?  one character",
  "a;b  a or b        !a  not a",
  "m*!*  functions of modules m*",
  "*lock*;!*clock*  with lock, but not with clock",
].join("\n");

/** @param {WordContext} context @param {string[]} more */
function common({ range, process }, more) {
  return [...(range ? ["--time", rangeWord(range)] : []), ...(process ? ["-p", process] : []), ...more];
}

/** @param {WordContext} context @returns {string[]} the chosen thread */
const ofThread = ({ tid }) => (tid === null ? [] : ["--tid", String(tid)]);

/** @param {string} text */
const pattern = (text) => (/[*?;!]/.test(text) ? text : `*${text}*`);

/** Whether names fit the patterns of a filter. @param {string} text @returns {(name: string) => boolean} */
export function fitting(text) {
  const all = pattern(text).split(";").filter(Boolean);
  const any = (/** @type {string[]} */ parts) => new RegExp(`^(?:${parts.map((part) => part.replace(/[.+^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*").replaceAll("?", ".")).join("|")})$`, "is");
  const wanted = all.filter((part) => part[0] !== "!");
  const unwanted = all.filter((part) => part[0] === "!").map((part) => part.slice(1));
  const [is, not] = [any(wanted), any(unwanted)];
  return (name) => (wanted.length === 0 || is.test(name)) && !(unwanted.length > 0 && not.test(name));
}

/** @param {WordContext} context @param {string} option @returns {string[]} the filter as the pattern of an option */
const filtered = ({ filter }, option) => (filter ? [option, pattern(filter)] : []);

/** The filter of rows of processes; the page filters those of one. @param {WordContext} context */
const ofProcesses = (context) => [...(context.process ? [] : filtered(context, "-p")), ...top(context)];

/** @param {WordContext} context */
const top = (context) => ["--top", String(context.top)];

/** Processes of a tree. */
const MOST = ["--top", "20"];

/** @param {WordContext} context @param {...string} more */
const stacks = (context, ...more) => ["dump", "stacks", ...ofThread(context), ...more, "--measure", context.measure, ...filtered(context, "--methods"), ...common(context, MOST)];

/** The words of `dump path`. @param {Pick<WordContext, "range" | "process" | "tid">} context */
export const windowWords = ({ range, process, tid }) => [...(process ? ["-p", process] : []), ...(range ? ["--window", rangeWord(range)] : []), ...(tid === null ? [] : ["--anchor", String(tid)])];

const CODE = ["samples", "switches"];

/** What most questions have. */
const USUAL = { view: "table", needs: /** @type {string[]} */ ([]), columns: "", sort: "", filter: "" };

/** @type {Asking[]} */
const ASKED = [
  {
    id: "processes", title: "Processes", about: "One row per process",
    words: (c) => ["dump", "cpu", ...common(c, ofProcesses(c))],
    columns: "process pid cpu_ns run_ns wait_ns ready_ns cores_used priority command_line",
    sort: "cpu_ns", filter: "process",
  },
  {
    id: "threads", title: "Threads", about: "One row per thread",
    // Who woke a thread can be 100 KB.
    words: (c) => ["dump", "threads", ...ofThread(c), ...common(c, [...ofProcesses(c), "--columns", "!wakers;!woken_by"])],
    columns: "process tid thread_name cpu_ns run_ns wait_ns ready_ns switches wait_reasons",
    sort: "cpu_ns", filter: "process",
  },
  {
    id: "methods", title: "Methods", about: "One row per process and function; a sample counts once per function of its stack", needs: CODE,
    words: (c) => ["dump", "cpu", "--methods", c.filter ? pattern(c.filter) : "*", ...common(c, ["--top-methods", "200", "--top", "20"])],
    columns: "method module process cpu_ns exclusive_cpu_ns wait_ns ready_ns samples",
    sort: "cpu_ns", filter: "method",
  },
  {
    id: "tags", title: "Stack tags", about: "One row per process and stack tag", needs: CODE,
    words: (c) => ["dump", "cpu", "--stacktags", c.filter ? pattern(c.filter) : "*", ...(c.tagFile ? ["--tag-file", c.tagFile] : []), ...common(c, ["--top-methods", "100", "--top", "50"])],
    columns: "stack_tag process pid cpu_ns wait_ns ready_ns samples",
    sort: "cpu_ns", filter: "tag",
  },
  {
    id: "tree", title: "Call tree", about: "From the outermost function to the functions that it calls", view: "tree", needs: CODE,
    words: (c) => stacks(c),
    filter: "method",
  },
  {
    id: "callers", title: "Callers", about: "From the function at the end of the stack to its callers", view: "tree", needs: CODE,
    words: (c) => stacks(c, "--callers"),
    filter: "method",
  },
  {
    id: "butterfly", title: "Butterfly", about: "Callers and callees of one function", view: "butterfly", needs: CODE,
    words: (c) => ["dump", "stacks", ...ofThread(c), "--root", c.method ?? "*", "--measure", c.measure, ...common(c, MOST)],
    filter: "method",
  },
  {
    id: "flame", title: "Flame graph", about: "The width of a box is the time of a function with all functions that it calls", view: "flame", needs: CODE,
    words: (c) => stacks(c),
    filter: "method",
  },
  {
    id: "waits", title: "Waits", about: "The longest waits, and who ended each", needs: ["switches"],
    words: (c) => ["dump", "waits", ...ofThread(c), ...filtered(c, "--methods"), ...common(c, ["--top", String(Math.min(c.top, 500))])],
    columns: "process tid thread_name wait_ns from_ns reason wait_method woken_by waker_method",
    sort: "wait_ns", filter: "method",
  },
  {
    id: "disk", title: "Disk", about: "One row per process and file; operations that completed in the range", needs: ["disk"],
    words: (c) => ["dump", "disk", "--by", "process,file", ...filtered(c, "--path"), ...common(c, top(c))],
    columns: "path process reads read_bytes writes write_bytes total_service_ns response_avg_ns response_max_ns",
    sort: "total_service_ns", filter: "path",
  },
  {
    id: "file", title: "Files", about: "One row per process and file; operations of the file system", needs: ["file"],
    words: (c) => ["dump", "file", "--by", "process,file", ...filtered(c, "--path"), ...common(c, top(c))],
    columns: "path process opens reads read_bytes writes write_bytes failed total_ns",
    sort: "total_ns", filter: "path",
  },
  {
    id: "events", title: "Events", about: "One row per provider and event", needs: ["events"],
    words: (c) => ["dump", "events", ...filtered(c, "--name"), ...common(c, top(c))],
    columns: "provider event id count first_ns last_ns", sort: "count", filter: "event",
  },
  {
    id: "path", title: "Path", about: "Which thread each nanosecond of the range was spent for; the rows add up to it", needs: ["switches"],
    words: (c) => ["dump", "path", ...windowWords(c), "--top", "200"],
    columns: "path_ns share state process thread site tag ended_by for_site disturbance",
    sort: "path_ns",
  },
  {
    id: "explain", title: "Explain", about: "Known causes, each with a command that shows its evidence", view: "explain",
    words: (c) => ["explain", ...windowWords({ ...c, tid: null })],
  },
];

/** @type {Question[]} */
export const QUESTIONS = ASKED.map((one) => ({ ...USUAL, ...one, columns: one.columns?.split(" ") ?? [] }));

/** Whether a panel can be about one thread. @param {string} id */
export const isByThread = (id) => /--tid|--anchor/.test(questionOf(id).words({ range: null, process: null, tid: 1, filter: "", measure: "", tagFile: "", method: null, top: 1 }).join());

/** @param {string} id */
export function questionOf(id) {
  return QUESTIONS.find((one) => one.id === id) ?? /** @type {Question} */ (QUESTIONS[0]);
}

/** Panels that the recording has an answer for. */
export const askable = (has = view.has) => QUESTIONS.filter(({ needs }) => needs.length === 0 || needs.some(has));
