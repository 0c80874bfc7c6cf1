// `explain`: the answer in a sentence, where the time went, and known causes.
import { h } from "../dom.js";
import { clean, fixed } from "../format.js";
import { copy } from "../parts/menu.js";
import { wayTo } from "../parts/findings.js";
import * as view from "../state/view.js";

/** @param {Cell | undefined} value */
const record = (value) => (typeof value === "object" && value !== null && !Array.isArray(value) ? value : null);
/** @param {Cell | undefined} value */
const list = (value) => (Array.isArray(value) ? value : []);
/** @param {Cell | undefined} value */
const records = (value) => list(value).map(record).filter((one) => one !== null);
/** @param {Cell | undefined} value */
const text = (value) => (typeof value === "string" ? clean(value, 600) : "");

/** @param {TableRow[]} rows whether no explanation knows which process was tested */
export function isOpen(rows) {
  return records(rows[0]?.explanations).every((one) => !one.account);
}

/** @param {TableRow} row @param {TimeRange | null} of */
function findingOf(row, of) {
  const range = (/** @type {TableRow | null} */ one) => (typeof one?.from_ns === "number" && typeof one.to_ns === "number" ? /** @type {TimeRange} */ ([one.from_ns, one.to_ns]) : null);
  return { rule: text(row.rule), sentence: text(row.sentence), range: range(row), longest: list(row.longest).map((one) => range(record(one))).filter((one) => one !== null), of };
}

/** @param {TableRow[]} rows the answer's one object @param {TimeRange | null} of the range that was asked for */
export function explained(rows, of) {
  return h("div.explain", { tabindex: 0, role: "region", "aria-label": "Explanation" }, records(rows[0]?.explanations).map((one) => {
    const account = record(one.account);
    const length = account?.window_ns;
    const findings = records(one.findings);
    /** @type {Mark[]} */
    const marks = [];
    if (account && typeof account.window_from_ns === "number" && typeof length === "number") {
      marks.push({ ns: account.window_from_ns, name: "explained from" }, { ns: account.window_from_ns + length, name: "explained to" });
    }
    const known = findings.map((finding) => findingOf(finding, of));
    for (const finding of known) if (finding.range) marks.push({ ns: finding.range[0], name: finding.rule, finding });
    view.findings.value = marks;
    return h("article",
      h("p.answer", text(one.sentence)),
      one.no_account ? h("p.dim", text(one.no_account)) : null,
      account ? h("div.shares", records(account.shares).map((share) => {
        const value = typeof share.path_ns === "number" ? share.path_ns : 0;
        return h("div.share", h("i.bar", { "--share": typeof length === "number" && length > 0 ? value / length : 0 }), h("span", text(share.state) || text(share.disturbance)), h("span.number", `${fixed(value / 1e6, 1)} ms`));
      })) : null,
      h("h3", `Findings (${findings.length})`),
      h("ul.findings", findings.map((finding, i) => h("li", { "data-rule": text(finding.rule), tabindex: -1, class: view.finding.peek()?.rule === text(finding.rule) ? "chosen" : null },
        h("strong", text(finding.rule)), " ", text(finding.sentence), wayTo(/** @type {Finding} */ (known[i])),
        typeof finding.command === "string" ? h("button.quiet", { onclick: () => copy(String(finding.command), "command") }, "Copy command") : null))),
      h("details", h("summary", "Not looked at"), h("ul", records(one.not_looked_at).map((rule) => h("li", h("strong", text(rule.rule)), " ", text(rule.why))))));
  }));
}
