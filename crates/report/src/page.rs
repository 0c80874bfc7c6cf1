//! The page: its parts in their order, its style and script, and the hashes that allow these and nothing else.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use crate::colours::HATCH;
use crate::html::Html;
use crate::model::{Case, Outcome, Report};
use crate::numbers::{percent, probability};
use crate::{bars, changes, flame, method, runs, strip, table, verdict, waterfall};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// Bytes of all tables of rows together. With them and all else a page of 2 × 50 runs has less than 1.5 MB.
const ROWS: usize = 600_000;

/// The page of a report.
#[must_use]
pub fn page(report: &Report) -> String {
    let mut html = Html::default();
    html.raw("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    let policy = format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; img-src data:; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    );
    html.raw(&format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">"));
    html.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
    html.raw("<meta name=\"color-scheme\" content=\"light dark\"><meta name=\"referrer\" content=\"no-referrer\">");
    html.raw("<link rel=\"icon\" href=\"data:,\">");
    html.element("title", &[], &title(report));
    html.raw(&format!("<style>{STYLE}</style></head><body>"));
    html.raw(HATCH);
    html.raw("<header>");
    html.element("h1", &[], &title(report));
    html.element("p", &[("class", &"made")], &format!("tracesift compare {}", report.tool_version));
    report.notes.iter().for_each(|note| html.element("p", &[("class", &"note")], note));
    html.raw("</header>");
    if report.cases.len() > 1 {
        add_index(&mut html, report);
    }
    html.raw("<main>");
    let room = ROWS / report.cases.len().max(1);
    for (place, case) in report.cases.iter().enumerate() {
        add_case(&mut html, case, place, room, report.cases.len() == 1);
    }
    html.raw("<section id=\"method\"><h2>How the numbers are made</h2>");
    method::add(&mut html);
    html.raw("</section></main><div id=\"tip\" role=\"status\" hidden></div>");
    html.raw(&format!("<script>{SCRIPT}</script></body></html>\n"));
    html.finish()
}

/// The hash that allows a text of the page, as a content security policy has it.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text.as_bytes())))
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
    waterfall::add(html, case, outcome);
    html.raw("<h3>Who took the time, run by run</h3>");
    bars::add(html, case);
    html.raw("<h3>The whole path</h3>");
    flame::add(html, case, outcome);
}

#[cfg(test)]
mod tests {
    use super::hash;

    #[test]
    fn the_hash_is_the_one_that_browsers_compute() {
        // The example of the specification of Content Security Policy, level 2.
        assert_eq!(hash("alert('Hello, world.');"), "sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng=");
    }
}
