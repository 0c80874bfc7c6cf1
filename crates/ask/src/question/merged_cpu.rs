//! `dump cpu --merge`: processes of one name over all files.
//!
//! Of a file the CPU of all its processes of that name is summed first; smallest, median, largest, first and last are those of these
//! sums. A file without CPU samples has no part in it: nobody knows what ran there.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use clap::ValueEnum;

use crate::answer::{Answer, ColumnOf, Fact, Kind, Section, Value, descriptions, values};
use crate::order::Top;
use crate::over_files::{answer_of, notes};
use crate::totals::{CPU, files, without_part};

/// Order of the rows, ascending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// Sampled CPU over all files.
    #[default]
    Cpu,
    /// CPU in the last file minus that in the first one.
    Difference,
    /// Name.
    Name,
}

/// All processes of one name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Their name.
    pub process: String,
    /// Files in which one of them has a row.
    pub files: usize,
    /// How many they are, over all files.
    pub processes: usize,
    /// Their sampled CPU over all files, ns.
    pub cpu: i64,
    /// Smallest, median and largest sum of a file that has them, ns.
    pub of_files: [i64; 3],
    /// Their CPU in the first file, ns; 0 where it has none of them.
    pub first: i64,
    /// Their CPU in the last file, ns; 0 where it has none of them.
    pub last: i64,
}

/// The columns.
pub const COLUMNS: &[ColumnOf<Row>] = &[
    ColumnOf::always(
        "files",
        "Files",
        Kind::Count,
        |r| r.files.into(),
        "Files in which processes of this name used the CPU.",
    ),
    ColumnOf::always(
        "processes",
        "Processes",
        Kind::Count,
        |r| r.processes.into(),
        "Number of these processes, over all files.",
    ),
    ColumnOf::always("cpu_ns", "CPU", Kind::Milliseconds, |r| r.cpu.into(), "Their sampled CPU over all files."),
    ColumnOf::always(
        "cpu_min_ns",
        "Min",
        Kind::Milliseconds,
        |r| r.of_files[0].into(),
        "The smallest sum of a file that has such processes.",
    ),
    ColumnOf::always(
        "cpu_median_ns",
        "Median",
        Kind::Milliseconds,
        |r| r.of_files[1].into(),
        "The median over the files that have such processes; for an even number of files the mean of the middle two, rounded down.",
    ),
    ColumnOf::always(
        "cpu_max_ns",
        "Max",
        Kind::Milliseconds,
        |r| r.of_files[2].into(),
        "The largest sum of a file that has such processes.",
    ),
    ColumnOf::always(
        "cpu_first_ns",
        "First file",
        Kind::Milliseconds,
        |r| r.first.into(),
        "Their CPU in the first file by time; 0 if that file has no such process.",
    ),
    ColumnOf::always(
        "cpu_last_ns",
        "Last file",
        Kind::Milliseconds,
        |r| r.last.into(),
        "Their CPU in the last file by time; 0 if that file has no such process.",
    ),
    ColumnOf::always(
        "cpu_difference_ns",
        "Difference",
        Kind::Milliseconds,
        |r| r.last.saturating_sub(r.first).into(),
        "CPU in the last file minus CPU in the first one.",
    ),
    ColumnOf::always("process", "Process", Kind::Text, |r| (&r.process).into(), "File name of the processes' image."),
];

/// What the processes of one name have in one file.
#[derive(Clone, Copy, Default)]
struct OfFile {
    processes: usize,
    cpu: i64,
}

/// Merges the answer of [`crate::question::cpu::Question`] over its files, which stand in the order of their time. Its totals must not be left out.
#[must_use]
pub fn merge(answer: &Answer, sort: Sort, top: Top) -> Answer {
    let at = |key: &str| answer.columns.iter().position(|column| column.key == key);
    let [name, cpu, idle] = [at("process"), at("cpu_ns"), at("idle")];
    let sampled: Vec<&Section> =
        answer.sections.iter().filter(|section| section.facts.iter().any(|fact| fact.label == CPU)).collect();
    // By name without regard to case: the spelling that is shown, and the sums file by file.
    let mut found: BTreeMap<String, (String, Vec<Option<OfFile>>)> = BTreeMap::new();
    for (index, section) in sampled.iter().enumerate() {
        for row in &section.rows {
            let value = |at: Option<usize>| at.and_then(|at| row.get(at)).unwrap_or(&Value::None);
            let (Value::Text(name), Value::Int(cpu)) = (value(name), value(cpu)) else { continue };
            if *value(idle) == Value::Bool(true) {
                continue;
            }
            let (_, files) =
                found.entry(name.to_lowercase()).or_insert_with(|| (name.clone(), vec![None; sampled.len()]));
            if let Some(file) = files.get_mut(index) {
                let of_file = file.get_or_insert_default();
                of_file.processes += 1;
                of_file.cpu = of_file.cpu.saturating_add(*cpu);
            }
        }
    }
    let mut rows: Vec<Row> = found.into_values().map(|(name, files)| row(name, &files)).collect();
    rows.sort_by(|a, b| compare(sort, a, b));
    top.apply(&mut rows);
    section_of(answer, &sampled, &rows)
}

fn row(process: String, files: &[Option<OfFile>]) -> Row {
    let cpu_of = |file: Option<&Option<OfFile>>| file.copied().flatten().map_or(0, |file| file.cpu);
    let there = || files.iter().flatten();
    let mut sums: Vec<i64> = there().map(|file| file.cpu).collect();
    sums.sort_unstable();
    Row {
        process,
        files: sums.len(),
        processes: there().map(|file| file.processes).sum(),
        cpu: sums.iter().copied().fold(0, i64::saturating_add),
        of_files: [sums.first().copied().unwrap_or(0), median(&sums), sums.last().copied().unwrap_or(0)],
        first: cpu_of(files.first()),
        last: cpu_of(files.last()),
    }
}

/// The median of sorted figures.
fn median(sorted: &[i64]) -> i64 {
    let middle = sorted.len() / 2;
    match (sorted.get(middle), sorted.len() % 2) {
        (None, _) => 0,
        (Some(upper), 1) => *upper,
        (Some(upper), _) => {
            let lower = middle.checked_sub(1).and_then(|at| sorted.get(at)).unwrap_or(upper);
            i64::midpoint(*lower, *upper)
        }
    }
}

fn compare(sort: Sort, a: &Row, b: &Row) -> Ordering {
    let difference = |row: &Row| row.last.saturating_sub(row.first);
    let by_name = || a.process.to_lowercase().cmp(&b.process.to_lowercase());
    let order = match sort {
        Sort::Cpu => Ordering::Equal,
        Sort::Difference => difference(a).cmp(&difference(b)),
        Sort::Name => by_name(),
    };
    order.then(a.cpu.cmp(&b.cpu)).then_with(by_name)
}

fn section_of(answer: &Answer, sampled: &[&Section], rows: &[Row]) -> Answer {
    let left_out = without_part(answer.sections.len() - sampled.len(), "CPU samples");
    let section = Section {
        title: files(sampled.len()),
        rows: values(COLUMNS, rows),
        facts: vec![
            Fact::new(CPU, Kind::Milliseconds, rows.iter().fold(0, |sum: i64, row| sum.saturating_add(row.cpu))),
            Fact::new("processes", Kind::Count, rows.iter().map(|row| row.processes).sum::<usize>()),
        ],
        notes: notes(answer).chain(left_out).collect(),
        ..Section::default()
    };
    answer_of(answer, descriptions(COLUMNS), None, section)
}

#[cfg(test)]
mod tests {
    use super::{Sort, merge};
    use crate::answer::{Answer, Fact, Kind, Layout, Section, Value};
    use crate::order::Top;
    use crate::question::cpu;
    use crate::totals::CPU;

    fn section(title: &str, sampled: bool, rows: &[(&str, i64, bool)]) -> Section {
        let columns = cpu::COLUMNS.descriptions();
        let rows = rows.iter().map(|(name, ms, idle)| {
            let value = |key: &str| match key {
                "process" => Value::from(*name),
                "cpu_ns" => Value::Int(ms * 1_000_000),
                "idle" => Value::Bool(*idle),
                _ => Value::None,
            };
            columns.iter().map(|column| value(column.key)).collect()
        });
        Section {
            title: title.to_owned(),
            rows: rows.collect(),
            facts: sampled.then(|| Fact::new(CPU, Kind::Milliseconds, 0)).into_iter().collect(),
            ..Section::default()
        }
    }

    fn merged(sections: Vec<Section>, sort: Sort, top: Top) -> Answer {
        let answer = Answer {
            question: "cpu",
            columns: cpu::COLUMNS.descriptions(),
            layout: Layout::Rows,
            sorted: None,
            sections,
            facts: Vec::new(),
            sums: Vec::new(),
        };
        merge(&answer, sort, top)
    }

    /// Name, files, processes, then ms: CPU, min, median, max, first, last, difference.
    fn rows(answer: &Answer) -> Vec<(String, Vec<i64>)> {
        let row = |row: &Vec<Value>| {
            let Some(Value::Text(name)) = row.last() else { panic!("a name") };
            let figure = |value: &Value| match value {
                Value::Int(ns) if *ns % 1_000_000 == 0 => ns / 1_000_000,
                Value::Int(count) => *count,
                other => panic!("{other:?}"),
            };
            (name.clone(), row[..row.len() - 1].iter().map(figure).collect())
        };
        answer.rows().map(row).collect()
    }

    #[test]
    fn sums_of_files_are_compared() {
        let files = || {
            vec![
                section(
                    "a",
                    true,
                    &[("Idle", 900, true), ("app.exe", 10, false), ("App.exe", 5, false), ("old.exe", 7, false)],
                ),
                section("unknown", false, &[]),
                section("b", true, &[("app.exe", 40, false)]),
                section("c", true, &[("app.exe", 20, false), ("new.exe", 3, false)]),
            ]
        };
        let answer = merged(files(), Sort::Cpu, Top::default());
        assert_eq!(
            rows(&answer),
            [
                ("new.exe".to_owned(), vec![1, 1, 3, 3, 3, 3, 0, 3, 3]),
                ("old.exe".to_owned(), vec![1, 1, 7, 7, 7, 7, 7, 0, -7]),
                ("app.exe".to_owned(), vec![3, 4, 75, 15, 20, 40, 15, 20, 5]),
            ]
        );
        assert_eq!(answer.sections[0].notes, ["1 file has no CPU samples and no part in this"]);
        let by_difference = merged(files(), Sort::Difference, Top { take: Some(2), skip: 0 });
        let names: Vec<String> = rows(&by_difference).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["new.exe", "app.exe"]);
    }

    #[test]
    fn an_even_number_of_files_has_a_median_between_two() {
        let files = vec![section("a", true, &[("x", 10, false)]), section("b", true, &[("x", 30, false)])];
        assert_eq!(rows(&merged(files, Sort::Name, Top::default()))[0].1[4], 20);
    }
}
