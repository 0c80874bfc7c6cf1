//! All rows of the difference, and the metrics.

use crate::html::Html;
use crate::model::comparison::{Case, Metric, Outcome, Row};
use crate::numbers::{ms, percent, probability, signed};

/// All rows, as far as they fit into so many bytes; the others are one row, so that the rows add up.
pub(crate) fn add_rows(html: &mut Html, case: &Case, outcome: &Outcome, room: usize) {
    let [a, b] = case.labels.each_ref().map(|label| format!("{label} ms"));
    html.raw("<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"All rows\">");
    html.raw("<table class=\"rows numbers searched\" data-search=\"Search the rows\">");
    html.raw(
        "<caption>All rows of the finest level: mean times in both sets. They add up to the difference.</caption>",
    );
    html.heads(&["Row", &a, &b, "Difference ms", "±", "p", ""]);
    html.raw("<tbody>");
    let end = html.len().saturating_add(room);
    let mut left = outcome.rows.iter();
    for row in left.by_ref() {
        add_row(html, row);
        if html.len() > end {
            break;
        }
    }
    html.raw("</tbody><tfoot>");
    let rest: Vec<&Row> = left.collect();
    if !rest.is_empty() {
        let sum = |set: usize| rest.iter().map(|row| row.means[set]).sum::<f64>();
        let delta: i128 = rest.iter().map(|row| row.delta).sum();
        let text = format!("{} smaller rows, which compare --format json has", rest.len());
        add_sum(html, &text, [sum(0), sum(1)], delta);
    }
    add_sum(html, "Sum", outcome.means, outcome.difference);
    html.raw("</tfoot></table></div>");
}

fn add_row(html: &mut Html, row: &Row) {
    html.raw("<tr>");
    html.element("th", &[("scope", &"row")], &row.text);
    row.means.iter().for_each(|mean| html.number(Some(mean), &ms(*mean)));
    html.number(Some(row.delta), &signed(row.delta as f64));
    html.number(row.half_width, &row.half_width.map_or_else(String::new, ms));
    html.number(row.p, &row.p.map_or_else(String::new, probability));
    let mark = [row.is_flagged.then_some("*"), row.mark].into_iter().flatten().collect::<Vec<_>>().join(" ");
    html.element("td", &[], &mark);
    html.raw("</tr>");
}

fn add_sum(html: &mut Html, text: &str, means: [f64; 2], delta: i128) {
    html.raw("<tr class=\"sum\">");
    html.element("th", &[("scope", &"row")], text);
    means.iter().for_each(|mean| html.number(Some(mean), &ms(*mean)));
    html.number(Some(delta), &signed(delta as f64));
    html.raw("<td></td><td></td><td></td></tr>");
}

/// Figures beside the time.
pub(crate) fn add_metrics(html: &mut Html, case: &Case, outcome: &Outcome) {
    if outcome.metrics.is_empty() && outcome.unknown_metrics.is_empty() {
        return;
    }
    let [a, b] = &case.labels;
    html.raw(
        "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Metrics\"><table class=\"metrics numbers\">",
    );
    html.raw("<caption>Means of both sets. * is no chance.</caption>");
    html.heads(&["Metric", a, b, "Change", "p", ""]);
    html.raw("<tbody>");
    outcome.metrics.iter().for_each(|metric| add_metric(html, metric));
    html.raw("</tbody></table></div>");
    if let Some(parts) = outcome.by_counters {
        add_counters(html, parts);
    }
    if !outcome.unknown_metrics.is_empty() {
        html.raw("<details><summary>Metrics that some run lacks</summary><dl>");
        for [name, why] in &outcome.unknown_metrics {
            html.element("dt", &[], name);
            html.element("dd", &[], why);
        }
        html.raw("</dl></details>");
    }
}

/// Parts of the difference of the CPU time.
fn add_counters(html: &mut Html, parts: [f64; 3]) {
    html.raw("<table class=\"counters numbers\"><caption>The difference of the CPU time, by counters</caption>");
    html.heads(&["Part", "ms"]);
    html.raw("<tbody>");
    for (text, part) in ["More instructions", "Slower instructions", "A lower clock"].into_iter().zip(parts) {
        html.raw("<tr>");
        html.element("th", &[("scope", &"row")], text);
        html.number(Some(part), &signed(part));
        html.raw("</tr>");
    }
    html.raw("</tbody></table>");
}

fn add_metric(html: &mut Html, metric: &Metric) {
    html.open("tr", &[("data-metric", &metric.name)]);
    html.element("th", &[("scope", &"row")], &metric.text);
    for (text, number) in metric.means.iter().zip(&metric.numbers) {
        html.number(Some(number), text);
    }
    match metric.change {
        Some(change) => html.number(Some(1.0 + change), &percent(change)),
        None => html.raw("<td>new</td>"),
    }
    html.number(metric.p, &metric.p.map_or_else(String::new, probability));
    html.raw(if metric.is_flagged { "<td>*</td>" } else { "<td></td>" });
    html.raw("</tr>");
}
