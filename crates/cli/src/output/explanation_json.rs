//! Explanations as one JSON object: a stable contract, in ns and percent.

use tracesift_ask::asked::Amount;
use tracesift_ask::explain::findings::FoundFigure;
use tracesift_ask::explain::{ExplainedAccount, Explanation, Finding};
use tracesift_json::Writer;

/// Version of the object.
const FORMAT: u32 = 1;

/// The text.
pub(crate) fn text(explanations: &[Explanation]) -> String {
    let mut out = String::new();
    let mut json = Writer::new(&mut out);
    json.begin_object();
    json.key("format");
    json.value(FORMAT);
    json.key("tool_version");
    json.text(env!("CARGO_PKG_VERSION"));
    json.key("explanations");
    json.begin_array();
    explanations.iter().for_each(|explanation| write_one(&mut json, explanation));
    json.end_array();
    json.end_object();
    out.push('\n');
    out
}

type Json<'a> = Writer<&'a mut String>;

fn write_one(json: &mut Json<'_>, explanation: &Explanation) {
    json.begin_object();
    for (key, text) in [("file", &explanation.file), ("id", &explanation.id), ("sentence", &explanation.sentence)] {
        json.key(key);
        json.text(text);
    }
    json.key("rules_version");
    json.value(explanation.rules_version);
    json.key("disturbances_version");
    json.value(explanation.disturbances_version);
    json.key("account");
    match &explanation.account {
        Ok(account) => write_account(json, account),
        Err(_) => json.null(),
    }
    json.key("no_account");
    optional_text(json, explanation.account.as_ref().err().map(String::as_str));
    json.key("findings");
    json.begin_array();
    explanation.findings.iter().for_each(|finding| write_finding(json, finding));
    json.end_array();
    json.key("not_looked_at");
    json.begin_array();
    for unlooked in &explanation.unlooked {
        json.begin_object();
        json.key("rule");
        json.text(&unlooked.rule);
        json.key("why");
        json.text(&unlooked.why);
        json.end_object();
    }
    json.end_array();
    json.key("warnings");
    json.texts(explanation.warnings.iter().map(String::as_str));
    json.end_object();
}

fn write_account(json: &mut Json<'_>, account: &ExplainedAccount) {
    json.begin_object();
    json.key("level");
    json.text(account.level);
    json.key("process");
    optional_text(json, account.process.as_deref());
    json.key("thread");
    optional_text(json, account.thread.as_deref());
    for (key, value) in
        [("window_from_ns", account.from), ("window_ns", account.length), ("undisturbed_ns", account.undisturbed)]
    {
        json.key(key);
        json.value(value);
    }
    json.key("shares");
    json.begin_array();
    for share in &account.shares {
        json.begin_object();
        json.key("state");
        optional_text(json, share.state);
        json.key("disturbance");
        optional_text(json, share.disturbance);
        json.key("path_ns");
        json.value(share.time);
        json.end_object();
    }
    json.end_array();
    json.key("rows");
    json.value(account.rows);
    json.key("largest");
    json.begin_array();
    for row in &account.largest {
        json.begin_object();
        json.key("path_ns");
        json.value(row.time());
        json.key("state");
        json.text(row.state());
        const KEYS: [&str; 7] = ["process", "thread", "ended_by", "tag", "site", "for_tag", "for_site"];
        for (key, text) in KEYS.into_iter().zip(row.names()) {
            json.key(key);
            optional_text(json, text);
        }
        json.key("disturbance");
        optional_text(json, row.disturbance());
        json.key("text");
        json.text(&row.text);
        json.end_object();
    }
    json.end_array();
    json.end_object();
}

fn write_finding(json: &mut Json<'_>, finding: &Finding) {
    json.begin_object();
    json.key("rule");
    json.text(&finding.rule);
    json.key("sentence");
    json.text(&finding.sentence);
    json.key("time_ns");
    json.optional(finding.time);
    json.key("on_path");
    json.value(finding.is_on_path);
    let span = finding.place.as_ref().map(|place| place.span);
    json.key("from_ns");
    json.optional(span.map(|span| span.start));
    json.key("to_ns");
    json.optional(span.map(|span| span.end));
    json.key("longest");
    json.begin_array();
    for span in finding.place.iter().flat_map(|place| &place.longest) {
        json.begin_object();
        json.key("from_ns");
        json.value(span.start);
        json.key("to_ns");
        json.value(span.end);
        json.end_object();
    }
    json.end_array();
    json.key("figures");
    json.begin_array();
    finding.figures.iter().for_each(|figure| write_figure(json, figure));
    json.end_array();
    json.key("command");
    json.text(&finding.command);
    json.end_object();
}

fn write_figure(json: &mut Json<'_>, figure: &FoundFigure) {
    json.begin_object();
    json.key("value");
    match figure.amount {
        Amount::Time(number) | Amount::Count(number) | Amount::Bytes(number) => json.value(number),
        Amount::Number(number) => json.float(number),
    }
    json.key("unit");
    json.text(figure.amount.unit());
    json.key("percent");
    match figure.share {
        Some(share) => json.float(share),
        None => json.null(),
    }
    json.key("threshold");
    json.text(&figure.threshold);
    json.end_object();
}

fn optional_text(json: &mut Json<'_>, text: Option<&str>) {
    match text {
        Some(text) => json.text(text),
        None => json.null(),
    }
}
