//! The table of `run`: a row per case.

use tracesift_ask::answer::{ColumnOf, Kind, Value};
use tracesift_record::runner::{Spread, Summary};

/// Tags that a table names.
const TAGS: usize = 3;
/// Shares below this are not worth a name.
const LEAST_SHARE: f64 = 0.01;

/// The columns.
pub(super) const COLUMNS: &[ColumnOf<Summary>] = &[
    ColumnOf::always("case", "Case", Kind::Text, |r| (&r.case).into(), "The test with the values of its parameters."),
    ColumnOf::always("runs", "Runs", Kind::Count, |r| r.runs.into(), "Recorded runs."),
    ColumnOf::always(
        "failed",
        "Failed",
        Kind::Count,
        |r| Some(r.failed).filter(|failed| *failed > 0).into(),
        "Runs that failed; they are in none of the figures.",
    ),
    ColumnOf::always(
        "duration_ns",
        "Median",
        Kind::Milliseconds,
        |r| duration(r, |spread| spread.median),
        "Median of what the test took, as it says itself or by the wall clock.",
    ),
    ColumnOf::always(
        "least_ns",
        "Min",
        Kind::Milliseconds,
        |r| duration(r, |spread| spread.least),
        "The shortest run.",
    ),
    ColumnOf::always("most_ns", "Max", Kind::Milliseconds, |r| duration(r, |spread| spread.most), "The longest run."),
    ColumnOf::details(
        "overhead_percent",
        "Recording %",
        Kind::Number(1),
        |r| r.overhead.map(|share| share * 100.0).into(),
        "By how much recorded runs take longer than those without a recorder beside them, the median; empty where there are none.",
    ),
    ColumnOf::always(
        "cpu_ns",
        "CPU",
        Kind::Milliseconds,
        |r| whole(r.cpu),
        "CPU time of the command and of all that it started; median over the runs.",
    ),
    ColumnOf::always(
        "wait_ns",
        "Wait sum",
        Kind::Milliseconds,
        |r| whole(r.wait),
        "Time in which threads of the test waited, added up over the threads; median over the runs.",
    ),
    ColumnOf::always(
        "ready_ns",
        "Ready sum",
        Kind::Milliseconds,
        |r| whole(r.ready),
        "Time in which threads of the test were ready and had no CPU, added up alike; median over the runs.",
    ),
    ColumnOf::always(
        "unknown_ns",
        "Unknown sum",
        Kind::Milliseconds,
        |r| whole(r.unknown.filter(|unknown| *unknown > 0.0)),
        "Time of which the recordings do not tell what threads of the test did, added up alike: switches are missing; median over the runs.",
    ),
    ColumnOf::always(
        "cold_bytes",
        "Read cold",
        Kind::Bytes,
        |r| whole(r.cold_bytes),
        "Bytes that the test's processes read from disks after caches were emptied: 0 was no cold run; median over the runs.",
    ),
    ColumnOf::machine(
        "still_mapped",
        "Still mapped",
        Kind::Map,
        |r| {
            let files = r.still_mapped.iter().map(|(file, process)| (file.clone(), Value::Text(process.clone())));
            if r.still_mapped.is_empty() { Value::None } else { Value::Map(files.collect()) }
        },
        "Files of the test that stayed in memory although caches were emptied, each with a process that had it mapped.",
    ),
    ColumnOf::people(
        "top_tags",
        "CPU in",
        Kind::LongText,
        |r| {
            let shares = r.tags.iter().take_while(|(_, share)| *share >= LEAST_SHARE).take(TAGS);
            let text: Vec<String> = shares.map(|(tag, share)| format!("{tag} {:.0} %", share * 100.0)).collect();
            if text.is_empty() { Value::None } else { Value::Text(text.join(", ")) }
        },
        "The stack tags with most CPU time, and their shares.",
    ),
    ColumnOf::machine(
        "tag_shares",
        "Tags",
        Kind::Map,
        |r| Value::Map(r.tags.iter().map(|(tag, share)| (tag.clone(), Value::Float(*share))).collect()),
        "Stack tags of the built-in rules, each with its share of the CPU time.",
    ),
];

fn duration(summary: &Summary, of: impl Fn(&Spread) -> f64) -> Value {
    whole(summary.duration.as_ref().map(of))
}

fn whole(figure: Option<f64>) -> Value {
    figure.map(|figure| figure.round() as i64).into()
}
