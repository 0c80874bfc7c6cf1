//! A history as one JSON object: a stable contract, in ns and ratios. Places of runs count from 0.

use tracesift_ask::compare::difference::{DifferenceRow, ShownRow};
use tracesift_ask::compare::figures::ComparedFigure;
use tracesift_ask::compare::run::Run;
use tracesift_ask::history::{CaseHistory, Event, History, Series, Turn};
use tracesift_json::Writer;

use super::comparison::{is_flagged, verdict_word};
use super::comparison_json::{optional_float, optional_text, part_word};

/// Version of the object.
const FORMAT: u32 = 1;

type Json<'a> = Writer<&'a mut String>;

/// The text.
pub(crate) fn text(history: &History) -> String {
    let mut out = String::new();
    let mut json = Writer::new(&mut out);
    json.begin_object();
    json.key("format");
    json.value(FORMAT);
    json.key("tool_version");
    json.text(env!("CARGO_PKG_VERSION"));
    list(&mut json, "cases", &history.cases, write_case);
    list(&mut json, "failed", &history.failed, |json, name| json.text(name));
    list(&mut json, "without_place", &history.without_place, |json, name| json.text(name));
    list(&mut json, "left_out", &history.failures, |json, failure| {
        json.begin_object();
        texts(json, &[("file", &failure.path.display().to_string()), ("reason", &failure.reason)]);
        json.end_object();
    });
    json.end_object();
    out.push('\n');
    out
}

fn write_case(json: &mut Json<'_>, case: &CaseHistory) {
    json.begin_object();
    texts(json, &[("case", &case.name)]);
    list(json, "runs", &case.runs, write_run);
    list(json, "segments", &case.segments, |json, segment| {
        json.begin_object();
        json.key("first");
        json.value(segment.first);
        json.key("end");
        json.value(segment.end);
        floats(
            json,
            &[
                ("duration_ns", Some(segment.duration)),
                ("undisturbed_ns", Some(segment.undisturbed)),
                ("cpu_ns", segment.cpu),
            ],
        );
        json.end_object();
    });
    list(json, "changes", &case.turns, |json, turn| write_turn(json, case, turn));
    list(json, "what_changed", &case.events, write_event);
    list(json, "outliers", &case.outliers, |json, outlier| {
        json.begin_object();
        json.key("run");
        json.value(outlier.place);
        floats(json, &[("ratio", Some(1.0 + outlier.change))]);
        list(json, "most_in", &outlier.parts, |json, part| json.text(part));
        json.end_object();
    });
    json.key("latest");
    match &case.latest {
        None => json.null(),
        Some(latest) => {
            json.begin_object();
            json.key("first");
            json.value(latest.place);
            json.key("runs_before");
            json.value(latest.before);
            list(json, "figures", &latest.figures, write_figure);
            json.end_object();
        }
    }
    list(json, "series", &case.series, write_series);
    json.end_object();
}

fn write_run(json: &mut Json<'_>, run: &Run) {
    json.begin_object();
    texts(json, &[("file", &run.file), ("id", &run.id)]);
    json.key("time");
    optional_text(json, run.date.as_deref());
    json.key("duration_ns");
    json.value(run.duration());
    json.key("undisturbed_ns");
    json.value(run.undisturbed());
    json.end_object();
}

fn write_turn(json: &mut Json<'_>, case: &CaseHistory, turn: &Turn) {
    json.begin_object();
    for (key, place) in [("run", turn.place), ("earliest", turn.between.0), ("latest", turn.between.1)] {
        json.key(key);
        json.value(place);
    }
    json.key("placed_by_what_changed");
    json.value(turn.is_at_event);
    list(json, "seen_in", &turn.seen, |json, (series, _)| {
        json.text(case.series.get(*series).map_or("", |series| &series.text));
    });
    list(json, "figures", &turn.figures, write_figure);
    list(json, "what_changed", &turn.events, write_event);
    let near = &turn.near;
    json.key("compared");
    json.begin_array();
    json.value(near.split);
    json.value(near.runs.len() - near.split);
    json.end_array();
    list(json, "notes", &near.comparable.reasons, |json, reason| json.text(&reason.text));
    json.key("difference_ns");
    json.optional(near.result.as_ref().map(|result| result.difference.total));
    let shown = near.result.as_ref().map(|result| result.difference.shown.as_slice()).unwrap_or_default();
    list(json, "shown", shown, write_shown);
    json.end_object();
}

fn write_event(json: &mut Json<'_>, event: &Event) {
    json.begin_object();
    json.key("run");
    json.value(event.place);
    texts(json, &[("kind", if event.is_module { "module" } else { "fact" }), ("name", &event.name)]);
    json.key("before");
    optional_text(json, event.before.as_deref());
    json.key("after");
    optional_text(json, event.after.as_deref());
    json.end_object();
}

fn write_shown(json: &mut Json<'_>, shown: &ShownRow) {
    json.begin_object();
    texts(json, &[("part", part_word(&shown.part)), ("text", &shown.text())]);
    json.key("delta_ns");
    json.value(shown.delta);
    floats(json, &[("half_width_ns", shown.row().and_then(|row| row.half_width))]);
    json.key("flagged");
    json.value(is_flagged(shown));
    json.key("disturbance");
    optional_text(json, shown.row().and_then(DifferenceRow::disturbance));
    json.end_object();
}

fn write_series(json: &mut Json<'_>, series: &Series) {
    json.begin_object();
    texts(json, &[("kind", series.kind.word()), ("text", &series.text)]);
    floats(json, &[("p_corrected", series.p_corrected)]);
    list(json, "values_ns", &series.values, |json, value| json.value(*value));
    list(json, "points", &series.points, |json, point| {
        json.begin_object();
        for (key, place) in [
            ("rank_place", point.index),
            ("run", point.likeliest),
            ("earliest", point.between.0),
            ("latest", point.between.1),
        ] {
            json.key(key);
            json.value(place);
        }
        let is_row = series.p_corrected.is_some();
        floats(
            json,
            &[
                ("p", Some(point.p)),
                ("ratio", (!is_row).then_some(1.0 + point.change)),
                ("delta_ns", is_row.then_some(point.change)),
            ],
        );
        json.end_object();
    });
    json.end_object();
}

fn write_figure(json: &mut Json<'_>, figure: &ComparedFigure) {
    json.begin_object();
    texts(json, &[("name", figure.name)]);
    floats(
        json,
        &[
            ("before_median_ns", Some(figure.medians[0])),
            ("after_median_ns", Some(figure.medians[1])),
            ("before_mean_ns", Some(figure.means[0])),
            ("after_mean_ns", Some(figure.means[1])),
            ("ratio", Some(1.0 + figure.change())),
            ("low", figure.interval().map(|(low, _)| 1.0 + low)),
            ("high", figure.interval().map(|(_, high)| 1.0 + high)),
            ("p", figure.p()),
            ("mde", figure.detectable),
        ],
    );
    texts(json, &[("test", figure.test_word()), ("verdict", verdict_word(figure.verdict))]);
    json.end_object();
}

fn list<T>(json: &mut Json<'_>, key: &str, values: &[T], mut write: impl FnMut(&mut Json<'_>, &T)) {
    json.key(key);
    json.begin_array();
    values.iter().for_each(|value| write(json, value));
    json.end_array();
}

fn texts(json: &mut Json<'_>, pairs: &[(&str, &str)]) {
    for (key, text) in pairs {
        json.key(key);
        json.text(text);
    }
}

fn floats(json: &mut Json<'_>, pairs: &[(&str, Option<f64>)]) {
    for (key, value) in pairs {
        json.key(key);
        optional_float(json, *value);
    }
}
