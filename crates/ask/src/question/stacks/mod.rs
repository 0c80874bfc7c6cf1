//! `dump stacks`: call trees of CPU, waits, disk, page faults and other figures, a tree per process or thread.
//!
//! All figures are plain sums, so that a tree adds up: the own times of its lines are the time of its process.

pub mod columns;
mod drawing;
mod options;
mod rules;
mod trees;

use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_analysis::Measure as OfThreads;
use tracesift_analysis::call_tree::Direction;
use tracesift_archive::Error;
use tracesift_extract::stack_methods::{By, Granularity};
use tracesift_grammar::Patterns;
use tracesift_trace::rows::{ProcessRow, ThreadRow};
use tracesift_trace::{ProcessId, ThreadId};

pub use self::columns::{COLUMNS, Row};
pub use self::options::Options;

use self::rules::Rules;
use self::trees::{OfProcess, Tree, Trees};
use crate::absence::Absence;
use crate::answer::{Column, Fact, Group, Kind, Section, View};
use crate::ask::{Ask, Reads};
use crate::candidates::{self, Candidates};
use crate::filter::ProcessFilter;
use crate::inside::Inside;
use crate::measure::Measure;
use crate::method_patterns::MethodPatterns;
use crate::order::Top;
use crate::process_columns::name_with_marks;
use crate::processes::Processes;
use crate::question::methods::NO_LINES;
use crate::recording::OpenRecording;
use crate::thread_filter::ThreadFilter;
use crate::time_format::decimal;
use tracesift_grammar::Share;
use tracesift_grammar::TimeRange;

/// Processes shown where nobody says how many.
const PROCESSES: usize = 5;

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Which processes.
    pub filter: ProcessFilter,
    /// Samples and spans in this range.
    pub time: TimeRange,
    /// What chooses times in it.
    pub inside: Vec<Inside>,
    /// Which threads.
    pub threads: ThreadFilter,
    /// What is added up.
    pub measure: Measure,
    /// From callers to callees, or from leaves to their callers.
    pub direction: Direction,
    /// Only stacks in which such a method stands.
    pub methods: MethodPatterns,
    /// The trees begin at such methods; stacks without one are left out.
    pub root: MethodPatterns,
    /// Runs of frames of these modules are one line.
    pub fold: Patterns,
    /// What frames of these modules call is not shown.
    pub cut: Patterns,
    /// A tree per thread.
    pub per_thread: bool,
    /// What is one method, and so one line.
    pub granularity: Granularity,
    /// Lines below this share of their process' trees are summed up.
    pub min_share: Share,
    /// Lines below so many are summed up.
    pub depth: Option<usize>,
    /// How many processes per file; the 5 largest where nothing is said.
    pub top: Top,
}

impl Ask for Question {
    fn name(&self) -> &'static str {
        "stacks"
    }

    fn tables(&self) -> &'static [&'static str] {
        self.measure.tables()
    }

    fn reads(&self) -> Reads {
        // Where nothing fits a name, the methods of all samples and waits are counted.
        let names_code = !self.methods.is_empty() || !self.root.is_empty();
        if self.inside.is_empty() && !names_code { self.measure.reads() } else { Reads::Everything }
    }

    fn processes(&self) -> Option<&ProcessFilter> {
        Some(&self.filter)
    }

    fn candidates(&self, recording: &OpenRecording) -> Result<Vec<Candidates>, Error> {
        let mut all = candidates::of_methods(recording, "--methods", &self.methods)?;
        all.extend(candidates::of_methods(recording, "--root", &self.root)?);
        Ok(all)
    }

    fn limits(&self) -> Vec<&'static str> {
        let fold = (!self.fold.is_empty()).then_some("--fold");
        let cut = (!self.cut.is_empty()).then_some("--cut");
        fold.into_iter().chain(cut).chain(self.threads.option()).chain(Inside::options(&self.inside)).collect()
    }

    fn columns(&self) -> Vec<Column> {
        let mut columns = COLUMNS.descriptions();
        for column in &mut columns {
            match column.key {
                "total_ns" | "self_ns" if self.measure.kind() != Kind::Milliseconds => column.view = View::Nowhere,
                "total_bytes" | "self_bytes" if self.measure.kind() != Kind::Bytes => column.view = View::Nowhere,
                "total" | "self" if self.measure.kind() != Kind::Count => column.view = View::Nowhere,
                // Upwards, what ends at a line began there: of no interest but for the sum.
                "self_ns" | "self_bytes" | "self" if self.direction == Direction::Callers => {
                    column.view = View::Machine
                }
                // It is the amount.
                "count" if self.measure.kind() == Kind::Count => column.view = View::Machine,
                "tid" | "thread_name" if !self.per_thread => column.view = View::Nowhere,
                "source_file" | "source_line" if self.granularity.by != By::Line => column.view = View::Nowhere,
                "rva" if self.granularity.by != By::Address => column.view = View::Nowhere,
                _ => {}
            }
        }
        columns
    }

    fn within(&self, time: TimeRange, _: i64) -> Box<dyn Ask> {
        Box::new(Self { time, ..self.clone() })
    }

    fn section(&self, recording: &OpenRecording) -> Result<Section, Error> {
        if let Some((missing, why)) = self.missing(recording) {
            return Ok(recording.file.absent(missing, why));
        }
        if let Some(absent) = Inside::absent(&self.inside, recording)? {
            return Ok(absent);
        }
        let archive = recording.archive();
        let processes: Vec<ProcessRow> = archive.rows()?;
        let accepted: FxHashSet<ProcessId> =
            Processes::new(&processes).selected(&self.filter).map(|row| row.process).collect();
        let named = recording.named_stacks(self.granularity)?;
        let trees = Trees::read(recording, self, &accepted, &named.stacks, Rules::new(self, &named.names))?;
        let rows: FxHashMap<ProcessId, &ProcessRow> = processes.iter().map(|row| (row.process, row)).collect();
        let mut found = trees.of_processes()?;
        found.sort_by_cached_key(|one| {
            let name = rows.get(&one.process).map(|row| (row.name.to_lowercase(), row.pid));
            (one.shown.amount, name, one.process)
        });
        let all = found.len();
        let everything = sum(&found);
        Top { take: self.top.take.or(Some(PROCESSES)), ..self.top }.apply(&mut found);

        let threads: FxHashMap<ThreadId, ThreadRow> = if self.per_thread {
            archive.rows::<ThreadRow>()?.into_iter().map(|row| (row.thread, row)).collect()
        } else {
            FxHashMap::default()
        };
        let mut answer = Answering { question: self, recording, rows: Vec::new(), groups: Vec::new() };
        let built: Vec<Vec<Tree>> = found.par_iter().map(|one| trees.build(self, one)).collect::<Result<_, Error>>()?;
        for (one, built) in found.iter().zip(built) {
            if let Some(process) = rows.get(&one.process) {
                answer.process(process, (one, built), &trees, &threads);
            }
        }
        let Answering { rows, groups, .. } = answer;
        let mut section = COLUMNS.section(&recording.file, &rows, self.facts(recording, sum(&found)));
        section.groups = groups;
        section.notes = self.notes(recording, !rows.is_empty());
        section.notes.extend(crate::stack_ends::note(recording, rows.iter().map(|row| &*row.process))?);
        if self.granularity.by == By::Line && !rows.is_empty() && rows.iter().all(|row| row.named.place.is_none()) {
            section.notes.push(NO_LINES.to_owned());
        }
        if found.len() < all && self.top.skip == 0 {
            let (left_out, amount) = (all - found.len(), everything.1.saturating_sub(sum(&found).1));
            let amount = self.amount(amount);
            section.notes.push(match left_out {
                1 => format!("1 process with {amount} is left out: --top {all} shows all"),
                _ => format!("{left_out} processes with {amount} are left out: --top {all} shows all"),
            });
        }
        Ok(section)
    }
}

/// Time of the processes, and that of the stacks that were asked for.
fn sum(processes: &[OfProcess]) -> (i64, i64) {
    processes.iter().fold((0, 0), |(all, shown), one| {
        (i64::saturating_add(all, one.all.amount), i64::saturating_add(shown, one.shown.amount))
    })
}

impl Question {
    /// What the measure needs and the recording does not have, and why not.
    fn missing(&self, recording: &OpenRecording) -> Option<(&'static str, Absence)> {
        let has_switches = recording.info().has_switches;
        let absence = |what, table: &str| (what, recording.file.absence_of(table));
        match self.measure {
            Measure::Threads(OfThreads::Cpu) => {
                (!recording.file.has_samples && !has_switches).then(|| absence("CPU samples", "cpu_samples"))
            }
            Measure::Threads(OfThreads::Wait | OfThreads::Ready) => {
                (!has_switches).then(|| absence("context switches", "context_switches"))
            }
            Measure::Rows(rows) => Some((rows.what, rows.missing(recording)?)),
        }
    }

    /// An amount of the measure as sentences have it.
    fn amount(&self, amount: i64) -> String {
        match self.measure.kind() {
            Kind::Milliseconds => format!("{} ms", decimal(amount, 6, 1)),
            Kind::Bytes => format!("{amount} bytes"),
            _ => format!("{amount} {}", self.measure.exported().counted),
        }
    }

    /// Whether stacks are left out.
    fn selects(&self) -> bool {
        !self.methods.is_empty() || !self.root.is_empty()
    }

    /// What the trees are of, in one word.
    fn word(&self, recording: &OpenRecording) -> &'static str {
        match self.measure {
            Measure::Threads(OfThreads::Cpu) if recording.file.has_samples => "CPU",
            Measure::Threads(OfThreads::Cpu) => "run",
            Measure::Threads(OfThreads::Wait | OfThreads::Ready) | Measure::Rows(_) => self.measure.exported().key,
        }
    }

    /// Totals of a heading.
    fn facts(&self, recording: &OpenRecording, (all, shown): (i64, i64)) -> Vec<Fact> {
        let kind = self.measure.kind();
        let mut facts = vec![Fact::new(self.word(recording), kind, all)];
        if self.selects() {
            facts.push(Fact::new("in these stacks", kind, shown));
        }
        facts
    }

    fn notes(&self, recording: &OpenRecording, has_rows: bool) -> Vec<String> {
        let note = match self.measure {
            _ if !has_rows => None,
            Measure::Threads(OfThreads::Cpu) if recording.file.has_samples => None,
            Measure::Threads(OfThreads::Cpu) => Some(recording.file.note_of_precise_cpu()),
            Measure::Threads(OfThreads::Ready) if !recording.info().has_ready => {
                Some("no wake-ups were recorded: ready time is that of preempted threads alone".to_owned())
            }
            Measure::Rows(_) if self.measure.kind() != Kind::Milliseconds => None,
            Measure::Threads(_) | Measure::Rows(_) => Some(
                "figures are plain sums over threads: what several threads did at the same time counts for each"
                    .to_owned(),
            ),
        };
        note.into_iter().collect()
    }
}

/// The rows of one file on their way.
struct Answering<'a> {
    question: &'a Question,
    recording: &'a OpenRecording,
    rows: Vec<Row>,
    groups: Vec<Group>,
}

impl Answering<'_> {
    fn process(
        &mut self,
        process: &ProcessRow,
        (one, built): (&OfProcess, Vec<Tree>),
        trees: &Trees<'_>,
        threads: &FxHashMap<ThreadId, ThreadRow>,
    ) {
        let shared = Arc::new(process.clone());
        for (number, tree) in built.into_iter().enumerate() {
            let Tree { thread, is_rest, all, shown, lines } = tree;
            let thread = thread.and_then(|thread| threads.get(&thread));
            let first = self.rows.len();
            let mut drawing = drawing::Drawing::default();
            for line in lines {
                let named = trees.named(line.what);
                self.rows.push(Row {
                    process: shared.clone(),
                    thread: thread.cloned(),
                    measure: self.question.word(self.recording),
                    number: self.rows.len(),
                    parent: line.parent.map(|parent| first + parent),
                    share: percent(line.total.amount, one.all.amount),
                    label: drawing.label(&line, &named),
                    line,
                    named,
                });
            }
            let of_thread = thread.map(|thread| {
                let name = thread.name.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
                format!(" thread {}{name}", thread.tid)
            });
            let rest = match () {
                () if is_rest => " smaller threads",
                () if self.question.per_thread => " unknown thread",
                () => "",
            };
            self.groups.push(Group {
                title: format!("{}{}", name_with_marks(process), of_thread.as_deref().unwrap_or(rest)),
                // Once is enough, however many threads have a tree.
                text: process.command_line.clone().filter(|_| number == 0),
                facts: self.question.facts(self.recording, (all.amount, shown.amount)),
                rows: self.rows.len() - first,
            });
        }
    }
}

fn percent(part: i64, whole: i64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 * 100.0 }
}

#[cfg(test)]
mod tests {
    use super::{Ask as _, Direction, Question, View};

    #[test]
    fn the_time_of_a_line_itself_is_in_no_column_of_another_unit() {
        for direction in [Direction::Callees, Direction::Callers] {
            let columns = Question { direction, ..Question::default() }.columns();
            let shown = columns.iter().filter(|column| column.view != View::Nowhere).map(|column| column.key);
            let own: Vec<&str> = shown.filter(|key| key.starts_with("self")).collect();
            assert_eq!(own, ["self_ns"], "{direction:?}");
        }
    }
}
