//! A change: its place, its figures, what changed there, and the rows of the difference.

use super::tables::{add_events, date};
use crate::figures;
use crate::html::Html;
use crate::model::history::{Case, Change};
use crate::waterfall::{self, Way};

/// The part of the page.
pub(super) fn add(html: &mut Html, case: &Case, change: &Change) {
    html.open("div", &[("class", &"turn"), ("data-run", &change.run)]);
    let from = case.runs.get(change.run).map_or_else(String::new, |run| format!(", {}", date(run)));
    html.element("h3", &[], &format!("From run {} on{from}", change.run + 1));
    let (earliest, latest) = change.between;
    if earliest != latest {
        let text = format!("By the figures, it is between run {} and run {}.", earliest + 1, latest + 1);
        html.element("p", &[("class", &"remark")], &text);
    }
    let labels = ["Before".to_owned(), "After".to_owned()];
    figures::add(html, &labels, case.confidence, &change.figures);
    html.raw("<h4>What changed there</h4>");
    add_events(html, &change.events, "Builds and facts that changed at a possible place");
    if !change.seen.is_empty() {
        html.raw("<h4>Seen in</h4><ul class=\"seen\">");
        change.seen.iter().for_each(|text| html.element("li", &[], text));
        html.raw("</ul>");
    }
    html.raw("<h4>Where the difference went</h4>");
    for note in &change.notes {
        html.element("p", &[("class", &"note")], note);
    }
    match &change.difference {
        Some(difference) => {
            let [before, after] = difference.runs;
            let labels = [format!("the {before} runs before"), format!("the {after} runs after")];
            let (means, steps) = (difference.means, &difference.steps);
            waterfall::add(html, Way { labels: &labels, means, steps, difference: difference.total });
        }
        None => html.raw("<p>The runs next to it cannot be compared.</p>"),
    }
    html.raw("</div>");
}
