//! A comparison as one JSON object: a stable contract, in ns and ratios.

use tracesift_ask::compare::changes::Changes;
use tracesift_ask::compare::difference::{DifferenceRow, Part, ShownRow};
use tracesift_ask::compare::figures::ComparedFigure;
use tracesift_ask::compare::gates::GateOutcome;
use tracesift_ask::compare::graph::GraphNode;
use tracesift_ask::compare::run::Run;
use tracesift_ask::compare::stacks::CpuTree;
use tracesift_ask::compare::{Case, CaseResult, Compared, Side};
use tracesift_json::Writer;

use super::comparison::{is_flagged, verdict_word as word};

/// Version of the object.
const FORMAT: u32 = 1;

/// The text.
pub(crate) fn text(compared: &Compared, trees: &[Result<CpuTree, String>]) -> String {
    let mut out = String::new();
    let mut json = Writer::new(&mut out);
    json.begin_object();
    json.key("format");
    json.value(FORMAT);
    json.key("tool_version");
    json.text(env!("CARGO_PKG_VERSION"));
    json.key("cases");
    json.begin_array();
    for (place, (case, corrected)) in compared.cases.iter().zip(compared.corrected()).enumerate() {
        write_case(&mut json, case, corrected, trees.get(place));
    }
    json.end_array();
    json.key("unpaired");
    json.begin_array();
    for (case, label) in &compared.unpaired {
        json.begin_object();
        json.key("case");
        json.text(case);
        json.key("only_in");
        json.text(label);
        json.end_object();
    }
    json.end_array();
    json.key("failed");
    json.begin_array();
    compared.failed.iter().for_each(|name| json.text(name));
    json.end_array();
    json.key("left_out");
    json.begin_array();
    for failure in &compared.failures {
        json.begin_object();
        json.key("file");
        json.text(&failure.path.display().to_string());
        json.key("reason");
        json.text(&failure.reason);
        json.end_object();
    }
    json.end_array();
    json.key("in_neither_set");
    json.value(compared.neither);
    json.end_object();
    out.push('\n');
    out
}

type Json<'a> = Writer<&'a mut String>;

fn write_case(json: &mut Json<'_>, case: &Case, corrected: Option<f64>, tree: Option<&Result<CpuTree, String>>) {
    json.begin_object();
    json.key("case");
    json.text(&case.name);
    json.key("sets");
    json.begin_array();
    for (side, label) in [Side::A, Side::B].into_iter().zip(&case.labels) {
        json.begin_object();
        json.key("label");
        json.text(label);
        json.key("runs");
        json.begin_array();
        case.set(side).iter().for_each(|run| write_run(json, run));
        json.end_array();
        json.end_object();
    }
    json.end_array();
    json.key("order");
    json.text(case.order.word());
    json.key("comparable");
    json.begin_object();
    json.key("state");
    json.text(case.comparable.state());
    json.key("reasons");
    json.begin_array();
    for reason in &case.comparable.reasons {
        json.begin_object();
        for (key, text) in [
            ("severity", reason.severity.word()),
            ("key", &reason.key),
            ("a", &reason.a),
            ("b", &reason.b),
            ("text", &reason.text),
        ] {
            json.key(key);
            json.text(text);
        }
        json.end_object();
    }
    json.end_array();
    json.end_object();
    write_result(json, case.result.as_ref(), &case.runs);
    json.key("p_corrected");
    optional_float(json, corrected);
    write_changes(json, &case.changes);
    json.key("gates");
    json.begin_array();
    case.gates.iter().for_each(|gate| write_gate(json, gate));
    json.end_array();
    json.key("cpu_stacks");
    json.begin_array();
    let nodes = tree.and_then(|tree| tree.as_ref().ok()).map(|tree| tree.nodes.as_slice());
    nodes.unwrap_or_default().iter().for_each(|node| write_node(json, node));
    json.end_array();
    json.key("no_cpu_stacks");
    optional_text(json, tree.and_then(|tree| tree.as_ref().err()).map(String::as_str));
    json.end_object();
}

fn write_node(json: &mut Json<'_>, node: &GraphNode) {
    json.begin_object();
    json.key("depth");
    json.value(node.depth);
    json.key("level");
    json.text(node.level);
    json.key("name");
    json.text(&node.label);
    for (key, mean) in ["a_ns", "b_ns"].into_iter().zip(node.means) {
        json.key(key);
        json.float(mean);
    }
    json.key("delta_ns");
    json.value(node.delta);
    json.key("half_width_ns");
    optional_float(json, node.half_width);
    json.end_object();
}

fn write_gate(json: &mut Json<'_>, gate: &GateOutcome) {
    json.begin_object();
    for (key, text) in [("text", gate.text.as_str()), ("state", gate.state.word()), ("reason", &gate.reason)] {
        json.key(key);
        json.text(text);
    }
    json.key("runs_needed");
    json.optional(gate.runs_needed);
    json.key("unit");
    json.text(gate.unit.word());
    for (key, number) in [("change", gate.change), ("p", gate.p), ("p_corrected", gate.p_corrected)] {
        json.key(key);
        optional_float(json, number);
    }
    json.end_object();
}

fn write_changes(json: &mut Json<'_>, changes: &Changes) {
    let texts = |json: &mut Json<'_>, key: &str, texts: &[String]| {
        json.key(key);
        json.begin_array();
        texts.iter().for_each(|text| json.text(text));
        json.end_array();
    };
    json.key("facts");
    json.begin_array();
    for fact in &changes.facts {
        json.begin_object();
        json.key("key");
        json.text(&fact.key);
        json.key("change");
        json.text(fact.change.word());
        texts(json, "a", &fact.a);
        texts(json, "b", &fact.b);
        json.end_object();
    }
    json.end_array();
    json.key("modules");
    json.begin_array();
    for module in &changes.modules {
        json.begin_object();
        json.key("module");
        json.text(&module.module);
        json.key("change");
        json.text(module.change.word());
        texts(json, "a", &module.a);
        texts(json, "b", &module.b);
        json.key("path_ns");
        json.value(module.time);
        json.end_object();
    }
    json.end_array();
    json.key("same_modules");
    json.value(changes.same_modules);
    json.key("unknown_modules");
    json.value(changes.unknown_modules);
    json.key("processes");
    json.begin_array();
    for (process, place) in &changes.processes {
        json.begin_object();
        json.key("process");
        json.text(process);
        json.key("change");
        json.text(if *place == 0 { "gone" } else { "new" });
        json.end_object();
    }
    json.end_array();
}

fn write_run(json: &mut Json<'_>, run: &Run) {
    json.begin_object();
    json.key("file");
    json.text(&run.file);
    json.key("id");
    json.text(&run.id);
    json.key("time");
    optional_text(json, run.date.as_deref());
    json.key("duration_ns");
    json.value(run.duration());
    json.key("window_ns");
    json.value(run.window());
    json.key("reported_ns");
    json.optional(run.reported);
    json.key("undisturbed_ns");
    json.value(run.undisturbed());
    json.key("disturbances");
    json.begin_object();
    for (kind, time) in run.disturbances() {
        json.key(kind.word());
        json.value(time);
    }
    json.end_object();
    json.key("states");
    json.begin_object();
    for (state, time) in run.states() {
        json.key(state);
        json.value(time);
    }
    json.end_object();
    json.key("warnings");
    json.begin_array();
    run.warnings.iter().for_each(|warning| json.text(warning));
    json.end_array();
    json.end_object();
}

/// All keys are always there; without a result they are null or empty.
fn write_result(json: &mut Json<'_>, result: Option<&CaseResult>, runs: &[Run]) {
    json.key("figures");
    json.begin_array();
    if let Some(result) = result {
        [&result.duration, &result.undisturbed].into_iter().for_each(|figure| write_figure(json, figure));
    }
    json.end_array();
    json.key("difference_ns");
    json.optional(result.map(|result| result.difference.total));
    json.key("rows");
    json.begin_array();
    for row in result.into_iter().flat_map(|result| &result.difference.rows) {
        write_row(json, row);
    }
    json.end_array();
    json.key("shown");
    json.begin_array();
    for shown in result.into_iter().flat_map(|result| &result.difference.shown) {
        json.begin_object();
        write_shown(json, shown, runs);
        json.end_object();
    }
    json.end_array();
    write_metrics(json, result);
    json.key("speed_factor");
    optional_float(json, result.and_then(|result| result.difference.speed).map(|speed| speed.factor));
    json.key("verdict");
    json.begin_object();
    json.key("duration");
    optional_text(json, result.map(|result| word(result.duration.verdict)));
    json.key("undisturbed");
    optional_text(json, result.map(|result| word(result.undisturbed.verdict)));
    json.key("sentence");
    optional_text(json, result.map(|result| result.sentence.as_str()));
    json.end_object();
}

fn write_metrics(json: &mut Json<'_>, result: Option<&CaseResult>) {
    json.key("metrics");
    json.begin_array();
    for metric in result.into_iter().flat_map(|result| &result.metrics.compared) {
        json.begin_object();
        json.key("name");
        json.text(metric.name);
        json.key("unit");
        json.text(metric.means[0].unit());
        for (key, value) in [
            ("a_mean", Some(metric.means[0].number())),
            ("b_mean", Some(metric.means[1].number())),
            ("a_median", Some(metric.medians[0].number())),
            ("b_median", Some(metric.medians[1].number())),
            ("ratio", metric.change().map(|change| 1.0 + change)),
            ("p_family", metric.p),
        ] {
            json.key(key);
            optional_float(json, value);
        }
        json.key("flagged");
        json.value(metric.is_flagged);
        json.end_object();
    }
    json.end_array();
    json.key("by_counters");
    match result.and_then(|result| result.metrics.by_counters) {
        None => json.null(),
        Some(parts) => {
            json.begin_object();
            for (key, ns) in
                [("instructions_ns", parts.instructions), ("cycles_ns", parts.cycles), ("clock_ns", parts.clock)]
            {
                json.key(key);
                json.float(ns);
            }
            json.end_object();
        }
    }
    json.key("unknown_metrics");
    json.begin_object();
    for metric in result.into_iter().flat_map(|result| &result.metrics.missing) {
        json.key(metric.name);
        json.text(&metric.why);
    }
    json.end_object();
}

/// The word for what a row of the difference is.
pub(super) fn part_word(part: &Part) -> &'static str {
    match part {
        Part::Row(_) => "row",
        Part::Speed(_) => "speed",
        Part::Moved(_) => "moved",
        Part::Others => "others",
    }
}

fn write_shown(json: &mut Json<'_>, shown: &ShownRow, runs: &[Run]) {
    json.key("part");
    json.text(part_word(&shown.part));
    json.key("text");
    json.text(&shown.text());
    json.key("delta_ns");
    json.value(shown.delta);
    json.key("half_width_ns");
    optional_float(json, shown.row().and_then(|row| row.half_width));
    json.key("rows");
    json.value(shown.rows);
    json.key("flagged");
    json.value(is_flagged(shown));
    json.key("symptom");
    json.value(shown.is_symptom);
    json.key("disturbance");
    optional_text(json, shown.row().and_then(DifferenceRow::disturbance));
    json.key("most_in");
    json.begin_array();
    shown.most.iter().filter_map(|place| runs.get(*place)).for_each(|run| json.text(&run.file));
    json.end_array();
}

fn write_figure(json: &mut Json<'_>, figure: &ComparedFigure) {
    json.begin_object();
    json.key("name");
    json.text(figure.name);
    for (key, value) in [
        ("a_median_ns", Some(figure.medians[0])),
        ("b_median_ns", Some(figure.medians[1])),
        ("a_mean_ns", Some(figure.means[0])),
        ("b_mean_ns", Some(figure.means[1])),
        ("ratio", Some(1.0 + figure.change())),
        ("low", figure.interval().map(|(low, _)| 1.0 + low)),
        ("high", figure.interval().map(|(_, high)| 1.0 + high)),
        ("p", figure.p()),
        ("p_slower", figure.p().map(|_| figure.comparison.test.p_greater)),
        ("mde", figure.detectable),
    ] {
        json.key(key);
        optional_float(json, value);
    }
    json.key("runs_needed");
    json.optional(figure.runs_needed);
    json.key("test");
    json.text(figure.test_word());
    json.key("labellings");
    json.value(figure.comparison.test.labellings);
    json.key("exhaustive");
    json.value(figure.comparison.test.exhaustive);
    json.key("verdict");
    json.text(word(figure.verdict));
    json.end_object();
}

fn write_row(json: &mut Json<'_>, row: &DifferenceRow) {
    json.begin_object();
    json.key("state");
    json.text(row.state());
    const KEYS: [&str; 7] = ["process", "thread", "ended_by", "tag", "site", "for_tag", "for_site"];
    for (key, text) in KEYS.into_iter().zip(row.names()) {
        json.key(key);
        optional_text(json, text);
    }
    json.key("disturbance");
    optional_text(json, row.disturbance());
    json.key("a_ns");
    json.float(row.means[0]);
    json.key("b_ns");
    json.float(row.means[1]);
    json.key("delta_ns");
    json.value(row.delta);
    json.key("speed_ns");
    json.value(row.by_speed);
    json.key("half_width_ns");
    optional_float(json, row.half_width);
    json.key("p_family");
    optional_float(json, row.p);
    json.key("flagged");
    json.value(row.is_flagged);
    json.key("often_ns");
    json.optional(row.often_longer.map(|[often, _]| often));
    json.key("longer_ns");
    json.optional(row.often_longer.map(|[_, longer]| longer));
    json.key("mark");
    optional_text(json, row.mark.map(tracesift_ask::compare::difference::Mark::word));
    json.end_object();
}

pub(super) fn optional_text(json: &mut Json<'_>, text: Option<&str>) {
    match text {
        Some(text) => json.text(text),
        None => json.null(),
    }
}

pub(super) fn optional_float(json: &mut Json<'_>, number: Option<f64>) {
    match number {
        Some(number) => json.float(number),
        None => json.null(),
    }
}
