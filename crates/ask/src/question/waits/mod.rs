//! `dump waits`: the longest waits, who ended each, and what that one did meanwhile.

mod chain;
pub mod columns;
mod longest;
pub mod sums;
mod windows;

use tracesift_archive::Error;
use tracesift_extract::stack_methods::Granularity;
use tracesift_trace::rows::{ProcessRow, ThreadRow};

pub use self::columns::{COLUMNS, Row, chain_columns};

use crate::answer::{Column, Fact, Kind, Section};
use crate::ask::Ask;
use crate::candidates::{self, Candidates};
use crate::filter::ProcessFilter;
use crate::method_patterns::MethodPatterns;
use crate::order::{Between, Top};
use crate::processes::Processes;
use crate::recording::OpenRecording;
use crate::stack_names::StackNames;
use crate::threads::Threads;
use tracesift_grammar::TimeRange;

/// Waits shown where nobody says how many.
const WAITS: usize = 20;

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Which processes wait.
    pub filter: ProcessFilter,
    /// Waits in this range; they are cut to it.
    pub time: TimeRange,
    /// Only waits whose stack has such a method.
    pub methods: MethodPatterns,
    /// Length of a wait, ns.
    pub length: Between,
    /// How many; the 20 longest where nothing is said.
    pub top: Top,
}

impl Ask for Question {
    fn name(&self) -> &'static str {
        "waits"
    }

    fn tables(&self) -> &'static [&'static str] {
        &["context_switches"]
    }

    fn processes(&self) -> Option<&ProcessFilter> {
        Some(&self.filter)
    }

    fn candidates(&self, recording: &OpenRecording) -> Result<Vec<Candidates>, Error> {
        candidates::of_methods(recording, "--methods", &self.methods)
    }

    fn limits(&self) -> Vec<&'static str> {
        self.length.given(["--min-wait", "--max-wait"]).collect()
    }

    fn columns(&self) -> Vec<Column> {
        COLUMNS.descriptions()
    }

    fn within(&self, time: TimeRange, _: i64) -> Box<dyn Ask> {
        Box::new(Self { time, ..self.clone() })
    }

    fn section(&self, recording: &OpenRecording) -> Result<Section, Error> {
        let archive = recording.archive();
        if !recording.info().has_switches {
            let facts =
                vec![Fact::local("context switches", Kind::Text, recording.file.absence_of("context_switches"))];
            return Ok(COLUMNS.section(&recording.file, &[], facts));
        }
        let processes: Vec<ProcessRow> = archive.rows()?;
        let threads: Vec<ThreadRow> = archive.rows()?;
        let accepted = Processes::new(&processes).at_work(&self.filter).map(|row| row.process).collect();
        let known = Threads::new(&threads, &processes);
        let mut names = StackNames::new(recording.named_stacks(Granularity::default())?);
        let top = Top { take: self.top.take.or(Some(WAITS)), ..self.top };
        let mut waits = longest::find(recording, self, top, &accepted, &known, &mut names)?;
        top.apply(&mut waits);
        let chains = chain::of(recording, &waits, &known, &mut names)?;
        let rows: Vec<Row> =
            waits.iter().zip(chains).map(|(wait, chain)| Row::new(wait, chain, &known, &mut names)).collect();
        Ok(COLUMNS.section(&recording.file, &rows, Vec::new()))
    }
}
