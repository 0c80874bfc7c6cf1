//! The page of explanations: a section for each recording, with its parts in their order. Each other file draws some of the parts.

mod account;
mod findings;
mod method;
mod span;

use tracesift_export::escape::shorten;

use crate::frame::{Head, framed};
use crate::html::Html;
use crate::model::explanation::{Account, Explanation, Report};
use crate::numbers::ms;

/// A sentence with longer names is cut.
const SENTENCE: usize = 2_000;

/// The page.
#[must_use]
pub fn page(report: &Report) -> String {
    let head = Head { title: &title(report), command: "explain", tool_version: &report.tool_version, notes: &[] };
    let is_single = report.explanations.len() == 1;
    framed(&head, &method::TEXTS, |html| {
        if report.explanations.len() > 1 {
            add_index(html, report);
        }
        for (place, explanation) in report.explanations.iter().enumerate() {
            add_section(html, explanation, place, is_single);
        }
    })
}

fn title(report: &Report) -> String {
    match report.explanations.as_slice() {
        [one] => format!("{} explained", one.name),
        all => format!("{} recordings explained", all.len()),
    }
}

/// A row for each recording, with the address of its section.
fn add_index(html: &mut Html, report: &Report) {
    html.raw("<nav aria-label=\"Recordings\"><div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"All recordings\">");
    html.raw("<table class=\"index numbers\"><caption>The windows of all recordings, and the part of each that is not disturbed</caption>");
    html.heads(&["Recording", "Window ms", "Undisturbed ms", "%", "Largest disturbance", "First finding"]);
    html.raw("<tbody>");
    for (place, explanation) in report.explanations.iter().enumerate() {
        html.open("tr", &[("data-case", &place)]);
        html.raw("<th scope=\"row\">");
        html.element("a", &[("href", &format!("#case-{place}"))], &explanation.name);
        html.raw("</th>");
        let account = explanation.account.as_ref().ok();
        for time in [account.map(|account| account.length), account.map(|account| account.undisturbed)] {
            html.number(time, &time.map_or_else(String::new, |time| ms(time as f64)));
        }
        let part = account.map(|account| part(account.undisturbed, account.length));
        html.number(part, &part.map_or_else(String::new, percent));
        let disturbances = account.iter().flat_map(|account| &account.shares).filter(|share| share.kind.is_disturbance);
        let largest = disturbances.max_by_key(|share| share.time).map(|share| share.kind.word.as_str());
        html.element("td", &[("class", &"word")], largest.unwrap_or_default());
        let first = explanation.findings.first().map(|finding| finding.rule.as_str());
        html.element("td", &[("class", &"word")], first.unwrap_or_default());
        html.raw("</tr>");
    }
    html.raw("</tbody></table></div></nav>");
}

fn add_section(html: &mut Html, explanation: &Explanation, place: usize, is_single: bool) {
    html.open("section", &[("class", &"case"), ("id", &format!("case-{place}")), ("data-case", &explanation.name)]);
    html.element("h2", &[], if is_single { "What was found" } else { &explanation.name });
    html.raw("<div class=\"verdict\">");
    html.open("p", &[("class", &"sentence"), ("data-key", &"sentence")]);
    html.prose(&shorten(&explanation.sentence, SENTENCE));
    html.close("p");
    if let Ok(account) = &explanation.account {
        html.element("p", &[("class", &"runs-of")], &origin(account));
    }
    html.raw("</div><h3>Where the time went</h3>");
    match &explanation.account {
        Ok(account) => {
            account::add_shares(html, account);
            html.raw("<h3>The largest rows</h3>");
            account::add_rows(html, account);
        }
        Err(why) => html.element("p", &[("data-key", &"no-account")], &format!("There is no account: {why}")),
    }
    html.raw("<h3>Findings</h3>");
    findings::add(html, explanation);
    findings::add_unlooked(html, &explanation.unlooked);
    if !explanation.warnings.is_empty() {
        html.raw("<h3>Warnings</h3><ul class=\"warnings\">");
        explanation.warnings.iter().for_each(|warning| html.element("li", &[("class", &"note")], warning));
        html.raw("</ul>");
    }
    html.raw("</section>");
}

/// Where the account starts, and what it is made of.
fn origin(account: &Account) -> String {
    let who =
        [&account.process, &account.thread].into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" ");
    let who = if who.is_empty() { "an unknown thread".to_owned() } else { who };
    let level = match account.level {
        "samples" => "of samples",
        "switches" => "of context switches without ready events, so waits have no cause",
        _ => "of context switches and ready events",
    };
    let from = ms(account.from as f64);
    format!("The window begins at {from} ms of the recording. The account starts from {who}, and is made {level}.")
}

/// The ratio of a time to the window.
fn part(time: i64, length: i64) -> f64 {
    time as f64 / length.max(1) as f64
}

/// A ratio in percent without the unit, as the text of `explain` has it.
fn percent(ratio: f64) -> String {
    format!("{:.1}", 100.0 * ratio)
}
