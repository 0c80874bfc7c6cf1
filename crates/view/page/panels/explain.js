// `explain`: the answer in a sentence, where the time went, and known causes.
import { h } from "../dom/h.js";
import { clean } from "../format/text.js";
import { fixed } from "../format/time.js";
import { copy } from "../parts/menu.js";
import * as view from "../state/view.js";

/** @param {import("../types").Cell | undefined} value */
const record = (value) => (typeof value === "object" && value !== null && !Array.isArray(value) ? value : null);
/** @param {import("../types").Cell | undefined} value */
const list = (value) => (Array.isArray(value) ? value : []);
/** @param {import("../types").Cell | undefined} value */
const text = (value) => (typeof value === "string" ? clean(value, 600) : "");

/**
 * @param {import("../types").TableRow[]} rows the answer's one object
 * @returns {HTMLElement}
 */
export function explained(rows) {
  const all = list(rows[0]?.["explanations"]).map(record).filter((one) => one !== null);
  return h("div", { class: "explain", tabindex: 0, role: "region", "aria-label": "Explanation" }, all.map((one) => {
    const account = record(one["account"]);
    const length = account?.["window_ns"];
    const findings = list(one["findings"]).map(record).filter((finding) => finding !== null);
    /** @type {import("../types").Mark[]} */
    const marks = [];
    if (account && typeof account["window_from_ns"] === "number" && typeof length === "number") {
      marks.push({ ns: account["window_from_ns"], name: "explained from" }, { ns: account["window_from_ns"] + length, name: "explained to" });
    }
    for (const finding of findings) {
      const at = finding["from_ns"] ?? finding["time_at_ns"];
      if (typeof at === "number") marks.push({ ns: at, name: text(finding["rule"]) });
    }
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
      h("ul", { class: "findings" }, findings.map((finding) => h("li", null,
        h("strong", null, text(finding["rule"])), " ", text(finding["sentence"]),
        typeof finding["command"] === "string" ? h("button", { type: "button", class: "quiet", onclick: () => void copy(String(finding["command"]), "command") }, "Copy command") : null))),
      h("details", null, h("summary", null, "Not looked at"), h("ul", null, list(one["not_looked_at"]).map(record).filter((rule) => rule !== null).map((rule) => h("li", null, h("strong", null, text(rule["rule"])), " ", text(rule["why"]))))));
  }));
}
