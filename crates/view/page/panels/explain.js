// `explain`: the answer in a sentence, where the time went, and known causes.
/** @import { Cell, Finding, Mark, Range, TableRow } from '../types' */
import { h } from "../dom/h.js";
import { clean } from "../format/text.js";
import { fixed } from "../format/time.js";
import { copy } from "../parts/menu.js";
import { wayTo } from "../parts/findings.js";
import * as view from "../state/view.js";

/** @param {Cell | undefined} value */
const record = (value) => (typeof value === "object" && value !== null && !Array.isArray(value) ? value : null);
/** @param {Cell | undefined} value */
const list = (value) => (Array.isArray(value) ? value : []);
/** @param {Cell | undefined} value */
const text = (value) => (typeof value === "string" ? clean(value, 600) : "");

/**
 * @param {{ [key: string]: Cell }} row
 * @param {Range | null} of
 * @returns {Finding}
 */
function findingOf(row, of) {
  const range = (/** @type {{ [key: string]: Cell } | null} */ one) => (typeof one?.["from_ns"] === "number" && typeof one["to_ns"] === "number" ? /** @type {Range} */ ([one["from_ns"], one["to_ns"]]) : null);
  return { rule: text(row["rule"]), sentence: text(row["sentence"]), range: range(row), longest: list(row["longest"]).map((one) => range(record(one))).filter((one) => one !== null), of };
}

/**
 * @param {TableRow[]} rows the answer's one object
 * @param {Range | null} of the range that was asked for
 * @returns {HTMLElement}
 */
export function explained(rows, of) {
  const all = list(rows[0]?.["explanations"]).map(record).filter((one) => one !== null);
  return h("div", { class: "explain", tabindex: 0, role: "region", "aria-label": "Explanation" }, all.map((one) => {
    const account = record(one["account"]);
    const length = account?.["window_ns"];
    const findings = list(one["findings"]).map(record).filter((finding) => finding !== null);
    /** @type {Mark[]} */
    const marks = [];
    if (account && typeof account["window_from_ns"] === "number" && typeof length === "number") {
      marks.push({ ns: account["window_from_ns"], name: "explained from" }, { ns: account["window_from_ns"] + length, name: "explained to" });
    }
    const known = findings.map((finding) => findingOf(finding, of));
    for (const finding of known) if (finding.range) marks.push({ ns: finding.range[0], name: finding.rule, finding });
    view.findings.value = marks;
    return h("article", null,
      h("p", { class: "answer" }, text(one["sentence"])),
      one["no_account"] ? h("p", { class: "dim" }, text(one["no_account"])) : null,
      account ? h("div", { class: "shares" }, list(account["shares"]).map(record).filter((share) => share !== null).map((share) => {
        const value = typeof share["path_ns"] === "number" ? share["path_ns"] : 0;
        const bar = h("i", { class: "bar", "aria-hidden": "true" });
        bar.style.transform = `scaleX(${typeof length === "number" && length > 0 ? value / length : 0})`;
        return h("div", { class: "share" }, bar, h("span", null, text(share["state"]) || text(share["disturbance"])), h("span", { class: "number" }, `${fixed(value / 1e6, 1)} ms`));
      })) : null,
      h("h3", null, `Findings (${findings.length})`),
      h("ul", { class: "findings" }, findings.map((finding, i) => h("li", { "data-rule": text(finding["rule"]), tabindex: -1, class: view.finding.peek()?.rule === text(finding["rule"]) ? "chosen" : null },
        h("strong", null, text(finding["rule"])), " ", text(finding["sentence"]), wayTo(/** @type {Finding} */ (known[i])),
        typeof finding["command"] === "string" ? h("button", { type: "button", class: "quiet", onclick: () => void copy(String(finding["command"]), "command") }, "Copy command") : null))),
      h("details", null, h("summary", null, "Not looked at"), h("ul", null, list(one["not_looked_at"]).map(record).filter((rule) => rule !== null).map((rule) => h("li", null, h("strong", null, text(rule["rule"])), " ", text(rule["why"]))))));
  }));
}
