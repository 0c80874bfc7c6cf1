//! `dump memory`: how much memory processes and the machine hold, and how it changed.

mod lists;
mod machine;
mod options;
mod paging;
pub mod pressure;
mod processes;
mod sessions;
mod trims;

use clap::ValueEnum;
use tracesift_archive::Error;
use tracesift_trace::rows::{MemoryProcessRow, MemorySessionRow, MemoryStateRow, ProcessRow};

use crate::absence::Absence;
use crate::answer::{Column, Section};
use crate::ask::Ask;
use crate::columns;
use crate::filter::ProcessFilter;
use crate::order::{Between, Top};
use crate::processes::{Processes, asked, read};
use crate::recording::OpenRecording;
use crate::recording_label::RowSource;
use crate::shown::Shown;
use tracesift_grammar::TimeRange;

pub(super) use self::machine::{free, modified, standby};
pub use self::options::Options;

/// Columns that an import cannot tell: it has two readings without their times.
const UNKNOWN_IN_IMPORTS: &[&str] = &["first_ns", "last_ns", "min", "max"];

/// The profile of `tracesift record` that records memory.
const PROFILE: &str = "Memory";

/// Order of the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// By committed memory; where it is not known by the working set.
    #[default]
    Commit,
    /// By the working set.
    WorkingSet,
    /// By committed memory that is shared.
    SharedCommit,
    /// By the change, whether more or less.
    Diff,
}

/// What the rows are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum About {
    /// Processes.
    #[default]
    Processes,
    /// The machine: one row.
    Machine,
    /// Its lists of pages.
    Lists,
    /// Sessions of users.
    Sessions,
    /// Drops of a working set by at least so many bytes.
    Trims(i64),
}

/// What is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// Which processes.
    pub filter: ProcessFilter,
    /// Readings in this range.
    pub time: TimeRange,
    /// What the rows are.
    pub about: About,
    /// Order of the rows.
    pub sort: Sort,
    /// How many rows.
    pub top: Top,
    /// Change of the memory, more or less, bytes.
    pub diff: Between,
    /// Working set, bytes.
    pub working_set: Between,
    /// Private working set, bytes.
    pub private: Between,
    /// Committed memory, bytes.
    pub commit: Between,
    /// Committed memory that is shared, bytes.
    pub shared_commit: Between,
    /// The columns of processes that somebody looks at.
    pub shown: Shown,
}

impl Question {
    /// The limits, each with its options.
    fn given_limits(&self) -> [(Between, [&'static str; 2]); 5] {
        [
            (self.diff, ["--min-diff", "--max-diff"]),
            (self.working_set, ["--min-working-set", "--max-working-set"]),
            (self.private, ["--min-private", "--max-private"]),
            (self.commit, ["--min-commit", "--max-commit"]),
            (self.shared_commit, ["--min-shared-commit", "--max-shared-commit"]),
        ]
    }

    /// Whether the recording has what the question is about; else why not.
    fn absence(&self, recording: &OpenRecording) -> Option<Absence> {
        let archive = recording.archive();
        let (table, rows) = match self.about {
            About::Processes if processes::has_counters(recording) => return None,
            About::Processes | About::Trims(_) => ("memory_processes", archive.row_count::<MemoryProcessRow>()),
            About::Machine | About::Lists => ("memory_state", archive.row_count::<MemoryStateRow>()),
            About::Sessions => ("memory_sessions", archive.row_count::<MemorySessionRow>()),
        };
        let is_linux = archive.info().kind == "perf";
        let source = match self.about {
            About::Sessions => RowSource::windows(PROFILE),
            _ => RowSource::both(PROFILE, PROFILE),
        };
        (rows == 0).then(|| recording.file.absence_with_cure(table, source, is_linux))
    }
}

impl Ask for Question {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn tables(&self) -> &'static [&'static str] {
        match self.about {
            About::Processes => &["memory_processes", "process_counters"],
            About::Machine | About::Lists => &["memory_state"],
            About::Sessions => &["memory_sessions"],
            About::Trims(_) => &["memory_processes"],
        }
    }

    fn processes(&self) -> Option<&ProcessFilter> {
        match self.about {
            About::Processes | About::Trims(_) => Some(&self.filter),
            About::Machine | About::Lists | About::Sessions => None,
        }
    }

    fn limits(&self) -> Vec<&'static str> {
        let given = self.given_limits();
        given.iter().flat_map(|(between, options)| between.given(*options).collect::<Vec<_>>()).collect()
    }

    fn sorted_by(&self) -> Option<&'static str> {
        match (self.about, self.sort) {
            (About::Processes, Sort::Commit) => Some("commit"),
            (About::Processes, Sort::WorkingSet) => Some("working_set"),
            (About::Processes, Sort::SharedCommit) => Some("shared_commit"),
            (About::Processes, Sort::Diff) => Some("diff_commit"),
            _ => None,
        }
    }

    fn columns(&self) -> Vec<Column> {
        match self.about {
            About::Processes => {
                let mut columns = processes::COLUMNS.descriptions();
                self.shown.keep(&mut columns);
                columns
            }
            About::Machine => machine::COLUMNS.descriptions(),
            About::Lists => lists::COLUMNS.descriptions(),
            About::Sessions => sessions::COLUMNS.descriptions(),
            About::Trims(_) => trims::COLUMNS.descriptions(),
        }
    }

    fn within(&self, time: TimeRange, _: i64) -> Box<dyn Ask> {
        Box::new(Self { time, ..self.clone() })
    }

    fn showing(&self, shown: &Shown) -> Option<Box<dyn Ask>> {
        (self.about == About::Processes)
            .then(|| Box::new(Self { shown: shown.clone(), ..self.clone() }) as Box<dyn Ask>)
    }

    /// An import has the first and the last reading of the recording, without their times.
    fn sums_suffice(&self) -> bool {
        self.time.is_everything() && !matches!(self.about, About::Trims(_))
    }

    fn section(&self, recording: &OpenRecording) -> Result<Section, Error> {
        if let Some(why) = self.absence(recording) {
            let mut section = recording.file.absent("memory", why);
            let is_of_processes = matches!(self.about, About::Processes | About::Trims(_));
            if is_of_processes && recording.archive().row_count::<MemoryStateRow>() > 0 {
                section.notes.push("the memory of the machine is recorded: `--total-memory`, `--lists`".to_owned());
            }
            return Ok(section);
        }
        let file = &recording.file;
        let section = match self.about {
            About::Machine => machine::COLUMNS.section(file, &machine::rows(recording, self.time)?, Vec::new()),
            About::Lists => lists::COLUMNS.section(file, &lists::rows(recording, self.time)?, Vec::new()),
            About::Sessions => sessions::COLUMNS.section(file, &sessions::rows(recording, self.time)?, Vec::new()),
            About::Processes => {
                let rows = read(recording.archive(), &self.filter, &self.shown)?;
                let asked = asked(&rows, &self.filter);
                let mut rows = processes::rows(recording, self, &asked)?;
                let totals = processes::totals(&rows);
                self.top.apply(&mut rows);
                processes::COLUMNS.section_showing(file, &rows, totals, &self.shown)
            }
            About::Trims(least) => {
                let rows: Vec<ProcessRow> = recording.archive().rows()?;
                let asked: Vec<&ProcessRow> = Processes::new(&rows).selected(&self.filter).collect();
                let mut rows = trims::rows(recording, self.time, least, &asked)?;
                self.top.apply(&mut rows);
                trims::COLUMNS.section(file, &rows, Vec::new())
            }
        };
        // An import does not tell when, nor what was between.
        Ok(if file.is_imported { columns::without(section, &self.columns(), UNKNOWN_IN_IMPORTS) } else { section })
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use tracesift_extract::Options;
    use tracesift_fixtures::cases;
    use tracesift_testing::archive::{create, finish_as};
    use tracesift_testing::recording::extract_file;
    use tracesift_trace::info::TraceInfo;
    use tracesift_trace::rows::{MemoryProcessRow, MemorySessionRow, MemoryStateRow, Origin, ProcessRow};
    use tracesift_trace::{ProcessId, RowSink as _};

    use super::{About, Question, Sort};
    use crate::answer::{Section, Value};
    use crate::ask::Ask;
    use crate::order::Between;
    use crate::recording::{OpenRecording, Source};
    use tracesift_grammar::TimeRange;

    const MIB: i64 = 1 << 20;

    /// Three processes: one grows from 10 to 30 MiB, one starts at 15 and has 40 MiB, one loses most of its 100 MiB at 20.
    fn archive() -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let mut writer = create(&directory.path().join("memory.sift"));
        let process = |id: i32, name: &str, start: Option<i64>| ProcessRow {
            process: ProcessId(id),
            pid: 100 + i64::from(id),
            name: name.to_owned(),
            start,
            ..ProcessRow::default()
        };
        writer.write_table(&[process(0, "grows", None), process(1, "starts", Some(15)), process(2, "loses", None)]);
        let reading = |time, process, commit: i64, working_set: i64| MemoryProcessRow {
            time,
            process: ProcessId(process),
            commit: Some(commit * MIB),
            working_set: Some(working_set * MIB),
            ..MemoryProcessRow::default()
        };
        for row in [
            reading(0, 0, 10, 8),
            reading(0, 2, 120, 100),
            reading(10, 0, 20, 9),
            reading(20, 0, 30, 9),
            reading(20, 1, 40, 35),
            reading(20, 2, 120, 12),
        ] {
            writer.memory_process(&row);
        }
        for (time, free) in [(0, 50), (20, 400)] {
            writer.memory_state(&MemoryStateRow {
                time,
                zero: Some(1),
                free: Some(free - 1),
                standby: Some(vec![1, 2, 3, 4, 5, 6, 7, 8]),
                repurposed: Some(vec![free; 8]),
                commit: Some(1000 + free),
                ..MemoryStateRow::default()
            });
        }
        let info = TraceInfo { name: "memory".to_owned(), kind: "etl".to_owned(), end_ns: 30, ..TraceInfo::default() };
        let archive = finish_as(writer, info);
        (directory, archive)
    }

    fn ask_archive(archive: &std::path::Path, question: &Question) -> (Section, Vec<&'static str>) {
        let recording = OpenRecording::open(&Source::archive(archive.to_owned())).unwrap();
        let keys = question.columns().iter().map(|column| column.key).collect();
        (question.section(&recording).unwrap(), keys)
    }

    /// The values of these keys, row by row; numbers in MiB where `unit` says so.
    fn values(question: &Question, archive: &std::path::Path, keys: &[&str]) -> Vec<Vec<Value>> {
        let (section, columns) = ask_archive(archive, question);
        let place = |key: &&str| columns.iter().position(|column| column == key).unwrap();
        section.rows.iter().map(|row| keys.iter().map(|key| row[place(key)].clone()).collect()).collect()
    }

    fn mib(name: &str, sizes: [i64; 4]) -> Vec<Value> {
        std::iter::once(Value::from(name)).chain(sizes.map(|size| Value::Int(size * MIB))).collect()
    }

    const KEYS: [&str; 5] = ["process", "diff_commit", "commit", "diff_working_set", "working_set"];

    #[test]
    fn the_first_and_the_last_reading_of_each_process() {
        let (_directory, archive) = archive();
        let all = values(&Question::default(), &archive, &KEYS);
        let expected = [mib("grows", [20, 30, 1, 9]), mib("starts", [40, 40, 35, 35]), mib("loses", [0, 120, -88, 12])];
        assert_eq!(all, expected);
        let diff = values(&Question { sort: Sort::Diff, ..Question::default() }, &archive, &KEYS);
        assert_eq!(diff, [expected[2].clone(), expected[0].clone(), expected[1].clone()], "more or less commit");
        // A reading holds until the next one.
        let time = TimeRange { start: Some(5), end: Some(18) };
        let part = values(&Question { time, ..Question::default() }, &archive, &KEYS);
        assert_eq!(part, [mib("grows", [10, 20, 1, 9]), mib("loses", [0, 120, 0, 100])]);
        let limited = Question { commit: Between { min: Some(35 * MIB), max: Some(50 * MIB) }, ..Question::default() };
        assert_eq!(values(&limited, &archive, &KEYS), [expected[1].clone()]);
    }

    /// Parts of the system belong to it, and stand apart.
    #[test]
    fn parts_of_the_system_count_in_no_total() {
        let directory = tempfile::tempdir().unwrap();
        let mut writer = create(&directory.path().join("parts.sift"));
        let process = |id: i32, name: &str, origin| ProcessRow {
            process: ProcessId(id),
            pid: 100 + i64::from(id),
            name: name.to_owned(),
            origin,
            ..ProcessRow::default()
        };
        let (rundown, pseudo) = (Origin::Rundown, Origin::Pseudo);
        writer.write_table(&[process(0, "System", rundown), process(1, "part", pseudo), process(2, "app", rundown)]);
        for (process, commit) in [(0, 10), (1, 500), (2, 7)] {
            let (process, commit) = (ProcessId(process), Some(commit));
            writer.memory_process(&MemoryProcessRow { process, commit, ..MemoryProcessRow::default() });
        }
        for (time, session, commit) in [(0, 0, 5), (0, 1, 9), (20, 0, 50), (20, 1, 3)] {
            writer.memory_session(&MemorySessionRow { time, session, commit, ..MemorySessionRow::default() });
        }
        let info = TraceInfo { name: "parts".to_owned(), kind: "etl".to_owned(), end_ns: 30, ..TraceInfo::default() };
        let archive = finish_as(writer, info);
        let (section, _) = ask_archive(&archive, &Question::default());
        let names = values(&Question::default(), &archive, &["process"]);
        assert_eq!(names, [["part".into()], ["app".into()], ["System".into()]]);
        let fact = |label: &str| section.facts.iter().find(|fact| fact.label == label).map(|fact| fact.value.clone());
        assert_eq!([fact("commit"), fact("processes")], [17, 2].map(|figure| Some(Value::Int(figure))));

        let sessions = Question { about: About::Sessions, ..Question::default() };
        let keys = ["session", "commit", "diff_commit"];
        assert_eq!(values(&sessions, &archive, &keys), [[1, 3, -6], [0, 50, 45]].map(|row| row.map(Value::Int)));
        let time = TimeRange { start: Some(5), end: Some(15) };
        let part = Question { time, ..sessions };
        assert_eq!(values(&part, &archive, &keys), [[0, 5, 0], [1, 9, 0]].map(|row| row.map(Value::Int)));
    }

    #[test]
    fn drops_of_working_sets_and_what_was_free_then() {
        let (_directory, archive) = archive();
        let keys = ["process", "time", "drop", "before", "after", "free"];
        let asked = |least| values(&Question { about: About::Trims(least), ..Question::default() }, &archive, &keys);
        let row =
            [Value::from("loses"), 20.into(), (88 * MIB).into(), (100 * MIB).into(), (12 * MIB).into(), 400.into()];
        assert_eq!(asked(10 * MIB), [row.to_vec()]);
        assert!(asked(90 * MIB).is_empty());
    }

    #[test]
    fn the_machine_and_its_lists() {
        let (_directory, archive) = archive();
        let keys = ["commit", "diff_commit", "free", "diff_free", "standby"];
        let machine = values(&Question { about: About::Machine, ..Question::default() }, &archive, &keys);
        assert_eq!(machine, [[1400, 350, 400, 350, 36].map(Value::Int)]);
        let keys = ["list", "first", "last", "diff", "min", "max"];
        let lists = values(&Question { about: About::Lists, ..Question::default() }, &archive, &keys);
        let list = |name: &str| lists.iter().find(|row| row[0] == Value::from(name)).unwrap()[1..].to_vec();
        assert_eq!(list("free"), [49, 399, 350, 49, 399].map(Value::Int));
        assert_eq!(list("standby 7"), [8, 8, 0, 8, 8].map(Value::Int));
        assert_eq!(list("repurposed 0"), [50, 400, 350, 50, 400].map(Value::Int));
    }

    /// What PerfView shows of the one PerfCtr and the 32 PerfCtrRundown of the recording.
    #[test]
    fn counters_of_the_kernel_are_readings() {
        let Some(folder) = cases("etl") else { return };
        let directory = tempfile::tempdir().unwrap();
        let options = Options { out: Some(directory.path().to_owned()), ..Options::default() };
        let archive = extract_file(&folder.join("net.4.5.2.x64.etl.zip"), &options).archive;
        let keys = ["process", "commit", "working_set", "peak_commit", "peak_working_set"];
        let rows = values(&Question::default(), &archive, &keys);
        let of = |name: &str| rows.iter().find(|row| row[0] == Value::from(name)).unwrap()[1..].to_vec();
        let ended = [Value::Int(10_559_488), Value::None, Value::Int(10_784_768), Value::Int(18_219_008)];
        assert_eq!(of("Test.x64.exe"), ended, "its end tells its commit and the peaks");
        let last = values(&Question::default(), &archive, &["process", "last_ns"]);
        let last = last.iter().find(|row| row[0] == Value::from("Test.x64.exe")).unwrap();
        assert_eq!(last[1], Value::Int(8_202_284_300), "of two events at its end the last one");
        assert_eq!(of("System")[0], Value::Int(122_880));
        assert!(rows.iter().filter(|row| row[2] != Value::None).count() >= 31, "{rows:?}");
        let changes = values(&Question::default(), &archive, &["diff_commit", "diff_working_set"]);
        assert!(changes.iter().flatten().all(|change| *change == Value::None), "one reading is no change");
    }
}
