//! `dump faults`: which processes touched pages that were not in their memory yet, in which functions.

use tracesift_trace::rows::PageFaultRow;
use tracesift_trace::{ProcessId, view};

use crate::answer::Kind::Count;
use crate::recording_label::RowSource;
use crate::table_question::{self, Dimension, Measure, TableQuestion};

view! {
    /// A page fault.
    #[derive(Clone, Copy, Debug)]
    pub struct Fault of PageFaultRow { time, process, thread, kind, kernel, weight, stack, frame }
}

/// Page faults.
#[derive(Clone, Copy, Debug)]
pub struct Faults;

/// The options.
pub type Options = table_question::Options<Faults>;

impl TableQuestion for Faults {
    type Row = Fault;

    const NAME: &'static str = "faults";
    const WHAT: [&'static str; 2] = ["page fault", "page faults"];
    const SOURCE: RowSource = RowSource::linux("VirtualAlloc");
    const MOST: &'static str = "most faults";
    const DIMENSIONS: &'static [Dimension<Fault>] = &[
        Dimension::process(),
        Dimension::thread(|row| Some(row.thread)),
        Dimension::words("kind", "Kind", |row: &Fault| Some(row.kind.into()), kind)
            .meaning("`minor`: the page needed no data; `major`: data had to be read; `unknown`: not recorded."),
        Dimension::words("mode", "Mode", |row: &Fault| row.kernel.map(i64::from), mode)
            .meaning("`user`: the program touched the page; `kernel`: the kernel touched it on its behalf."),
        Dimension::method(|row: &Fault| (row.stack, row.frame))
            .meaning("The function that touched the page, as `module!function`.")
            .filtered("--methods", ["method", "methods"], "Only faults in these functions"),
    ];
    const MEASURES: &'static [Measure<Fault>] = &[
        Measure::distinct("process", "processes", "Processes").meaning("Number of processes with such faults."),
        Measure::distinct("thread", "threads", "Threads").meaning("Number of threads with such faults."),
        Measure::sum("faults", "Faults", Count, |row: &Fault| row.weight)
            .meaning("Number of page faults. A sample counts as the faults that it stands for.")
            .sorted(&["faults"])
            .total("page faults"),
    ];
    const BY: &'static [&'static str] = &["process"];
    const SORT: &'static str = "faults";
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump faults X.sift --top 10", "the processes with most page faults"),
        ("tracesift dump faults X.sift -p dd --by method,kind", "the functions that touched the pages"),
        ("tracesift dump faults X.sift --by process,mode --bucket 100ms", "a series"),
    ];

    fn process(row: &Fault) -> Option<ProcessId> {
        Some(row.process)
    }

    fn times(row: &Fault) -> (i64, i64) {
        (row.time, row.time)
    }
}

fn kind(kind: i64) -> String {
    ["unknown", "minor", "major"]
        .get(usize::try_from(kind).unwrap_or(0))
        .map_or_else(|| kind.to_string(), |word| (*word).to_owned())
}

fn mode(is_kernel: i64) -> String {
    if is_kernel == 0 { "user" } else { "kernel" }.to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;
    use std::process::{Command, Output};

    use tracesift_extract::Options;
    use tracesift_fixtures::skipped;
    use tracesift_testing::recording::try_extract;

    use super::Faults;
    use crate::answer::Value;
    use crate::ask::{When, ask};
    use crate::recording::Source;
    use crate::table_question::Question;

    const PROGRAM: &str = "dd if=/dev/zero of=/dev/null bs=8M count=4 2>/dev/null; ls -lR /usr/include >/dev/null";

    fn perf(arguments: &[&str], file: &Path, more: &[&str]) -> Option<Output> {
        let output = Command::new("perf").args(arguments).arg(file).args(more).output().ok()?;
        output.status.success().then_some(output)
    }

    /// Page faults by pid and kind.
    type Faulted = BTreeMap<(i64, String), i64>;

    #[test]
    fn page_faults_of_processes_are_those_of_perf_script() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("faults.data");
        let record = ["record", "-q", "-c", "1", "-e", "minor-faults", "-e", "major-faults", "-o"];
        let recorded = perf(&record, &file, &["sh", "-c", PROGRAM]);
        let Some(script) = recorded.and_then(|_| perf(&["script", "-F", "pid,period,event", "-i"], &file, &[])) else {
            return skipped("perf records no page faults here");
        };
        // `32505          1 minor-faults:`
        let mut expected = Faulted::new();
        for line in String::from_utf8(script.stdout).unwrap().lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let (kind, _) = words[2].split_once('-').unwrap();
            let of = expected.entry((words[0].parse().unwrap(), kind.to_owned())).or_default();
            *of += words[1].parse::<i64>().unwrap();
        }
        let archive = try_extract(&file, &Options::default()).unwrap().remove(0).archive;
        let question = Question::<Faults>::default().by(&["process", "kind"]).unwrap();
        let outcome = ask(&[Source::archive(archive)], &question, &When::default());
        let place = |key: &str| outcome.answer.columns.iter().position(|column| column.key == key).unwrap();
        let number = |row: &Vec<Value>, key: &str| match row[place(key)] {
            Value::Int(number) => number,
            ref other => panic!("{key} is {other:?}"),
        };
        let kind = |row: &Vec<Value>| match &row[place("kind")] {
            Value::Text(kind) => kind.to_string(),
            other => panic!("kind is {other:?}"),
        };
        let rows = outcome.answer.rows();
        let found = rows.map(|row| ((number(row, "pid"), kind(row)), number(row, "faults")));
        assert_eq!(found.collect::<Faulted>(), expected);
        assert!(expected.len() >= 3 && expected.values().any(|faults| *faults > 1000), "{expected:?}");
    }
}
