//! The page of a comparison: its parts in their order. Each other file draws one part.

mod bars;
mod changes;
mod flame;
mod method;
mod runs;
mod strip;
mod table;
mod verdict;

use crate::frame::{Head, framed};
use crate::html::Html;
use crate::model::comparison::{Case, Outcome, Report};
use crate::numbers::{percent, probability};
use crate::waterfall::{self, Way};

/// Bytes of all tables of rows together. With them and all else a page of 2 × 50 runs has less than 1.5 MB.
const ROWS: usize = 600_000;

/// The page.
#[must_use]
pub fn page(report: &Report) -> String {
    let head =
        Head { title: &title(report), command: "compare", tool_version: &report.tool_version, notes: &report.notes };
    framed(&head, &method::TEXTS, |html| {
        if report.cases.len() > 1 {
            add_index(html, report);
        }
        let room = ROWS / report.cases.len().max(1);
        for (place, case) in report.cases.iter().enumerate() {
            add_case(html, case, place, room, report.cases.len() == 1);
        }
    })
}

fn title(report: &Report) -> String {
    match report.cases.as_slice() {
        [case] => format!("{}: {} → {}", case.name, case.labels[0], case.labels[1]),
        cases => format!("{} test cases compared", cases.len()),
    }
}

/// A row for each case, with the address of its section.
fn add_index(html: &mut Html, report: &Report) {
    html.raw("<nav aria-label=\"Test cases\"><div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"All test cases\">");
    html.raw("<table class=\"index numbers\"><caption>Changes by test case; p of the undisturbed time, also corrected for the number of cases</caption>");
    html.heads(&["Test case", "Duration", "Undisturbed", "p", "corrected", "Verdict", "Gates"]);
    html.raw("<tbody>");
    for (place, case) in report.cases.iter().enumerate() {
        html.open("tr", &[("data-case", &place)]);
        html.raw("<th scope=\"row\">");
        let text = format!("{} ({} → {})", case.name, case.labels[0], case.labels[1]);
        html.element("a", &[("href", &format!("#case-{place}"))], &text);
        html.raw("</th>");
        let figure = |place: usize| case.outcome.as_ref().and_then(|outcome| outcome.figures.get(place));
        for place in [0, 1] {
            let change = figure(place).map(|figure| figure.change);
            html.number(change.map(|change| 1.0 + change), &change.map_or_else(String::new, percent));
        }
        for p in [figure(1).and_then(|figure| figure.p), case.p_corrected] {
            html.number(p, &p.map_or_else(String::new, probability));
        }
        let verdict = figure(1).map_or("not comparable", |figure| figure.verdict.as_str());
        html.element("td", &[("class", &"word")], verdict);
        let gates = |state: &str| case.gates.iter().filter(|gate| gate.state == state).count();
        let gates = ["failed", "undecided", "passed"].map(|state| (gates(state), state));
        let gates = gates.iter().filter(|(count, _)| *count > 0).map(|(count, state)| format!("{count} {state}"));
        html.element("td", &[("class", &"word")], &gates.collect::<Vec<_>>().join(", "));
        html.raw("</tr>");
    }
    html.raw("</tbody>");
    if let Some(changes) = report.mean_changes {
        html.raw("<tfoot><tr class=\"sum\"><th scope=\"row\">Geometric mean</th>");
        changes.iter().for_each(|change| html.number(Some(1.0 + change), &percent(*change)));
        html.raw("<td></td><td></td><td></td><td></td></tr></tfoot>");
    }
    html.raw("</table></div></nav>");
}

fn add_case(html: &mut Html, case: &Case, place: usize, room: usize, is_single: bool) {
    html.open("section", &[("class", &"case"), ("id", &format!("case-{place}")), ("data-case", &case.name)]);
    let [a, b] = &case.labels;
    let head = if is_single { "What was found".to_owned() } else { format!("{}: {a} → {b}", case.name) };
    html.element("h2", &[], &head);
    verdict::add(html, case);
    if let Some(outcome) = &case.outcome {
        add_outcome(html, case, outcome);
    }
    html.raw("<h3>What changed</h3>");
    changes::add(html, case);
    if let Some(outcome) = &case.outcome {
        html.raw("<h3>Metrics</h3>");
        table::add_metrics(html, case, outcome);
        html.raw("<h3>All rows</h3>");
        table::add_rows(html, case, outcome, room);
    }
    html.raw("<h3>Runs</h3>");
    runs::add(html, case);
    html.raw("</section>");
}

fn add_outcome(html: &mut Html, case: &Case, outcome: &Outcome) {
    html.raw("<h3>Runs at a glance</h3>");
    outcome.figures.iter().for_each(|figure| strip::add(html, case, figure));
    method::add_tests(html, outcome);
    html.raw("<h3>Where the difference went</h3>");
    let Outcome { means, steps, difference, .. } = outcome;
    waterfall::add(html, Way { labels: &case.labels, means: *means, steps, difference: *difference });
    html.raw("<h3>Who took the time, run by run</h3>");
    bars::add(html, case);
    html.raw("<h3>The whole path</h3>");
    flame::add(html, case, outcome);
}
