//! What stands first: the sentence, whether the sets can be compared, the gates, and the figures with their intervals.

use tracesift_export::escape::shorten;

use crate::figures;
use crate::html::Html;
use crate::model::comparison::Case;

/// A sentence with longer names is cut.
const SENTENCE: usize = 2_000;

/// The head of a case.
pub(crate) fn add(html: &mut Html, case: &Case) {
    let verdict = case.outcome.as_ref().map_or("undecided", |outcome| outcome.verdict.as_str());
    let class = format!("verdict v-{verdict}");
    html.open("div", &[("class", &class)]);
    if let Some(outcome) = &case.outcome {
        html.open("p", &[("class", &"sentence"), ("data-key", &"sentence")]);
        html.prose(&shorten(&outcome.sentence, SENTENCE));
        html.close("p");
    }
    let runs = |count: usize| if count == 1 { "1 run".to_owned() } else { format!("{count} runs") };
    let [a, b] = case.counts();
    let [first, second] = &case.labels;
    let order = &case.order;
    html.element("p", &[("class", &"runs-of")], &format!("{} in {first}, {b} in {second}, {order}", runs(a)));
    html.close("div");
    add_comparable(html, case);
    add_gates(html, case);
    if let Some(outcome) = &case.outcome {
        figures::add(html, &case.labels, outcome.confidence, &outcome.figures);
    }
}

fn add_comparable(html: &mut Html, case: &Case) {
    let text = match case.comparable {
        "yes" => "Comparable",
        "no" => "Not comparable",
        _ => "Comparable with reservations",
    };
    let class = format!("comparable c-{}", case.comparable);
    html.open("div", &[("class", &class)]);
    html.element("h3", &[], text);
    if case.reasons.is_empty() {
        html.element(
            "p",
            &[],
            "The recordings tell of no difference between the machines, and none of the runs stands apart.",
        );
    } else {
        html.raw("<ul>");
        for reason in &case.reasons {
            html.open("li", &[("data-severity", &reason.severity)]);
            let word = match reason.severity {
                "stops" => "Stops the comparison: ",
                "confounds" => "May be the cause: ",
                _ => "",
            };
            if !word.is_empty() {
                html.element("strong", &[], word);
            }
            html.text(&reason.text);
            html.close("li");
        }
        html.raw("</ul>");
    }
    html.close("div");
}

fn add_gates(html: &mut Html, case: &Case) {
    if case.gates.is_empty() {
        return;
    }
    html.raw("<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Gates\"><table class=\"gates\">");
    html.raw("<caption>Gates</caption>");
    html.heads(&["State", "Gate", "Reason"]);
    html.raw("<tbody>");
    for gate in &case.gates {
        let class = format!("state g-{}", gate.state);
        html.raw("<tr>");
        html.element("td", &[("class", &class)], gate.state);
        html.element("th", &[("scope", &"row")], &gate.text);
        html.element("td", &[], &gate.reason);
        html.raw("</tr>");
    }
    html.raw("</tbody></table></div>");
}
