//! Totals over the files of a test run, and over those of a test: below the files, above the total of all.

use std::collections::BTreeMap;

use chrono::{NaiveDateTime, TimeDelta};
use clap::ValueEnum;

use crate::answer::{Group, Section};
use crate::runs::{Run, Selection, TestFile, group};

/// The label of the total of sampled CPU.
pub const CPU: &str = "CPU";

/// What the table adds up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Totals {
    /// Nothing.
    #[default]
    None,
    /// Files only.
    Total,
    /// Files and processes only.
    Process,
    /// Files and processes, above the rows.
    Method,
}

/// The totals of each test run and of each test. What has one file only would say again what stands above that file: runs are told when
/// there are several and one has several files, and so are tests.
#[must_use]
pub fn of_runs_and_tests(sections: &[Section], one_run: bool) -> Vec<Group> {
    let by_path: BTreeMap<_, &Section> =
        sections.iter().filter_map(|section| Some((section.path.clone()?, section))).collect();
    let files = by_path.iter().map(|(path, section)| {
        TestFile::new(path.clone(), section.title.clone(), start(section).unwrap_or_default(), None)
    });
    let runs = group(files.collect(), &Selection { one_run, ..Selection::default() });
    let of = |files: &[&TestFile]| -> Vec<&Section> {
        files.iter().filter_map(|file| by_path.get(&file.path).copied()).collect()
    };
    let of_runs: Vec<(String, Vec<&Section>)> =
        runs.iter().map(|run| (title(run), of(&run.files().collect::<Vec<_>>()))).collect();
    let mut tests: BTreeMap<&str, Vec<&TestFile>> = BTreeMap::new();
    for file in runs.iter().flat_map(Run::files) {
        tests.entry(file.test()).or_default().push(file);
    }
    let of_tests: Vec<(String, Vec<&Section>)> =
        tests.iter().map(|(test, files)| (format!("test {test}"), of(files))).collect();
    [of_tests, of_runs].into_iter().filter(|groups| says_more(groups)).flatten().map(sum).collect()
}

/// So many files.
pub(crate) fn files(count: usize) -> String {
    if count == 1 { "1 file".to_owned() } else { format!("{count} files") }
}

/// Says how many files have nothing of the kind that an answer over several files is about; `None`: all have something.
pub(crate) fn without_part(count: usize, what: &str) -> Option<String> {
    let have = if count == 1 { "has" } else { "have" };
    (count > 0).then(|| format!("{} {have} no {what} and no part in this", files(count)))
}

fn says_more(groups: &[(String, Vec<&Section>)]) -> bool {
    groups.len() > 1 && groups.iter().any(|(_, sections)| sections.len() > 1)
}

fn sum((title, sections): (String, Vec<&Section>)) -> Group {
    let files = files(sections.len());
    Group { title: format!("{title}  {files}"), facts: Section::sum_facts(sections), ..Group::default() }
}

fn title(run: &Run) -> String {
    let start = run.start().map(|start| start.format("  %Y-%m-%d %H:%M:%S").to_string()).unwrap_or_default();
    format!("test run {}{start}", run.index)
}

/// When the recording began, local time of the recorder.
fn start(section: &Section) -> Option<NaiveDateTime> {
    let zero = section.zero?;
    zero.instant(0)?.naive_utc().checked_sub_signed(TimeDelta::minutes(zero.utc_offset_minutes.into()))
}

#[cfg(test)]
mod tests {
    use super::of_runs_and_tests;
    use crate::answer::{Fact, Kind, Section, Value};

    fn section(test: &str, time: &str, cpu: i64) -> Section {
        let title = format!("{test}_100ms_PC_CLT_TestStatus-Passed_20220404-{time}");
        let facts = vec![Fact::new("CPU", Kind::Milliseconds, cpu), Fact::local("sessions", Kind::Count, 1_i64)];
        Section { path: Some(format!("{title}.sift").into()), title, facts, ..Section::default() }
    }

    fn told(sections: &[Section], one_run: bool) -> Vec<(String, Vec<Value>)> {
        let groups = of_runs_and_tests(sections, one_run);
        groups
            .into_iter()
            .map(|group| (group.title, group.facts.into_iter().map(|fact| fact.value).collect()))
            .collect()
    }

    #[test]
    fn runs_and_tests_add_up() {
        let sections = [
            section("Load", "100000", 1),
            section("Save", "100100", 20),
            section("Load", "140000", 300),
            section("Save", "140100", 4000),
        ];
        assert_eq!(
            told(&sections, false),
            [
                ("test Load  2 files".to_owned(), vec![Value::Int(301)]),
                ("test Save  2 files".to_owned(), vec![Value::Int(4020)]),
                ("test run 0  2022-04-04 10:00:00  2 files".to_owned(), vec![Value::Int(21)]),
                ("test run 1  2022-04-04 14:00:00  2 files".to_owned(), vec![Value::Int(4300)]),
            ]
        );
        assert_eq!(told(&sections, true).len(), 2);
    }

    #[test]
    fn what_has_one_file_is_told_above_it() {
        assert!(told(&[section("Load", "100000", 1), section("Save", "140000", 2)], false).is_empty());
        assert!(told(&[section("Load", "100000", 1), section("Load", "100001", 2)], false).is_empty());
    }
}
