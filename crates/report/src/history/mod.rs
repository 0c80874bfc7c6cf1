//! The page of a history: the runs of a test in their order, its segments, and what changed between them.

mod change;
mod chart;
mod tables;

use crate::figures;
use crate::frame::{Head, framed};
use crate::html::Html;
use crate::model::history::{Case, FIGURES, History, Latest};
use crate::numbers::percent;

/// What a reader has to know, in the words of the documentation.
const METHOD: [&str; 6] = [
    "A run is one recording of a whole machine. Its window is the time of the test. Undisturbed is its duration without what others took \
     from it: a virus scanner, a checkpoint of the file system, another process that had the CPU. CPU time is that of the test.",
    "A series is cut where the ranks of the runs before and after differ most, if chance shows as much in at most one of a hundred orders \
     of the runs. Each part is cut again. A change needs four runs on either side, so that a run that stands apart is none. The limit \
     grows where runs are like the run before them.",
    "Several series tell of one change. The one that knows its place best tells the place. If builds changed at one possible place only, \
     the change is put there; if no build changed, and facts of the machine did at one place only, there.",
    "The figures of a change compare the whole segment before with the whole segment after. Their p is that of two segments which the \
     figures themselves have chosen: it says how clear a change is.",
    "The rows divide the difference of the means of the runs next to the change, because means add up. ± is half the width of the \
     interval of a row. A row with * is no chance.",
    "The documentation of tracesift has the details: docs/questions/history.md and docs/questions/numbers.md. tracesift history --format \
     json has all numbers of this page in ns.",
];

/// The page.
#[must_use]
pub fn page(history: &History) -> String {
    let head =
        Head { title: &title(history), command: "history", tool_version: &history.tool_version, notes: &history.notes };
    framed(&head, &METHOD, |html| {
        if history.cases.len() > 1 {
            add_index(html, history);
        }
        for (place, case) in history.cases.iter().enumerate() {
            add_case(html, case, place);
        }
    })
}

fn title(history: &History) -> String {
    match history.cases.as_slice() {
        [case] => format!("{}: {}", case.name, tables::counted(case.runs.len(), "run")),
        cases => format!("Histories of {} test cases", cases.len()),
    }
}

/// A row for each case, with the address of its section.
fn add_index(html: &mut Html, history: &History) {
    html.raw("<nav aria-label=\"Test cases\"><div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"All test cases\">");
    html.raw("<table class=\"index numbers\"><caption>Changes by test case; the last change of the undisturbed time</caption>");
    html.heads(&["Test case", "Runs", "Changes", "Last change", "From run", "Verdict"]);
    html.raw("<tbody>");
    for (place, case) in history.cases.iter().enumerate() {
        html.open("tr", &[("data-case", &place)]);
        html.raw("<th scope=\"row\">");
        html.element("a", &[("href", &format!("#case-{place}"))], &case.name);
        html.raw("</th>");
        html.number(Some(case.runs.len()), &case.runs.len().to_string());
        html.number(Some(case.changes.len()), &case.changes.len().to_string());
        let last = case.changes.last();
        let figure = last.and_then(|change| change.figures.iter().find(|figure| figure.word == "undisturbed"));
        html.number(figure.map(|of| 1.0 + of.change), &figure.map_or_else(String::new, |of| percent(of.change)));
        html.number(last.map(|of| of.run), &last.map_or_else(String::new, |of| (of.run + 1).to_string()));
        html.element("td", &[("class", &"word")], figure.map_or("", |figure| figure.verdict.as_str()));
        html.raw("</tr>");
    }
    html.raw("</tbody></table></div></nav>");
}

fn add_case(html: &mut Html, case: &Case, place: usize) {
    html.open("section", &[("class", &"case history"), ("id", &format!("case-{place}")), ("data-case", &case.name)]);
    html.element("h2", &[], &case.name);
    let class = format!("verdict v-{}", case.verdict);
    html.open("div", &[("class", &class)]);
    html.open("p", &[("class", &"sentence"), ("data-key", &"sentence")]);
    html.prose(&case.sentence);
    html.raw("</p></div>");
    html.raw("<h3>Runs in their order</h3>");
    for figure in (0..FIGURES.len()).filter(|figure| case.has(*figure)) {
        chart::add(html, case, figure);
    }
    add_latest(html, case);
    html.raw("<h3>Segments</h3>");
    tables::add_segments(html, case);
    case.changes.iter().for_each(|of| change::add(html, case, of));
    if !case.outliers.is_empty() {
        html.raw("<h3>Runs that stand apart</h3>");
        tables::add_outliers(html, case);
    }
    html.raw("<h3>Builds and facts that changed</h3>");
    tables::add_events(html, &case.events, "Builds and facts that changed at any run");
    html.raw("<h3>All series</h3>");
    tables::add_series(html, case);
    html.raw("<h3>Runs</h3>");
    tables::add_runs(html, case);
    html.raw("</section>");
}

fn add_latest(html: &mut Html, case: &Case) {
    let Some(Latest { run, before, figures }) = &case.latest else {
        html.raw("<h3>The last runs</h3><p>There are too few runs since the last change to compare the last ones with those before them.</p>");
        return;
    };
    let last = case.runs.len().saturating_sub(*run);
    html.element("h3", &[], &format!("The last {}", tables::counted(last, "run")));
    let labels = [format!("The {before} before"), format!("The last {last}")];
    html.raw("<div class=\"latest\">");
    figures::add(html, &labels, case.confidence, figures);
    html.raw("</div>");
}
