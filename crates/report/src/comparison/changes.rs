//! What differs between the sets beside their time.

use crate::html::Html;
use crate::model::comparison::{Case, Change};
use crate::numbers::ms;

/// More values of one set are counted only.
const VALUES: usize = 4;

/// The table of changes.
pub(crate) fn add(html: &mut Html, case: &Case) {
    let [same, unknown] = case.modules;
    if case.changes.is_empty() {
        html.raw("<p>No fact, no module and no process tells the sets apart.</p>");
    } else {
        html.raw(
            "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"What changed\"><table class=\"changes\">",
        );
        html.raw("<caption>Facts of the machine and the recorder, builds of modules, processes</caption>");
        let [a, b] = &case.labels;
        html.heads(&["Kind", "Name", "Change", a, b, "Time on the paths ms"]);
        html.raw("<tbody>");
        case.changes.iter().for_each(|change| add_change(html, change));
        html.raw("</tbody></table></div>");
    }
    let modules = |count: usize| if count == 1 { "1 module has".to_owned() } else { format!("{count} modules have") };
    let mut text = format!("{} the same build in all runs.", modules(same));
    if unknown > 0 {
        text.push_str(&format!(" The recordings do not tell the build of {unknown} more."));
    }
    html.element("p", &[("class", &"remark")], &text);
}

fn add_change(html: &mut Html, change: &Change) {
    html.open("tr", &[("class", &change.change)]);
    html.element("td", &[], change.group);
    html.element("th", &[("scope", &"row")], &change.name);
    html.element("td", &[], change.change);
    for values in &change.values {
        let shown: Vec<&str> = values.iter().take(VALUES).map(String::as_str).collect();
        let more = match values.len().saturating_sub(VALUES) {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        html.element("td", &[], &format!("{}{more}", shown.join(", ")));
    }
    html.number(change.time, &change.time.map_or_else(String::new, |time| ms(time as f64)));
    html.raw("</tr>");
}
