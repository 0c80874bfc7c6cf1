//! Puts a question to many archives at once.

use rayon::prelude::*;
use tracesift_archive::Error;
use tracesift_trace::rows::{ModuleRow, ProcessModuleRow, ProcessRow};

use crate::answer::{Answer, Failure, Layout, Outcome, Section, descriptions};
use crate::question::{cpu, process, version};
use crate::recording::{OpenRecording, Source, open_all};

/// A question that every archive answers by itself.
#[derive(Clone, Debug)]
pub enum Question {
    /// `dump process`
    Process(process::Question),
    /// `dump cpu`
    Cpu(cpu::Question),
    /// `dump version`
    Version(version::Question),
}

/// Asks archives in parallel. The order of the answer does not depend on which one was ready first: the oldest recording
/// stands first.
#[must_use]
pub fn ask(sources: &[Source], question: &Question) -> Outcome {
    let (recordings, mut failures) = open_all(sources);
    let results: Vec<Result<Section, Failure>> = recordings
        .par_iter()
        .map(|recording| section(recording, question).map_err(|error| Failure::new(&recording.file.path, &error)))
        .collect();
    let mut sections = Vec::new();
    for result in results {
        match result {
            Ok(section) => sections.push(section),
            Err(failure) => failures.push(failure),
        }
    }
    failures.sort_by(|a, b| a.path.cmp(&b.path));
    let (name, columns) = match question {
        Question::Process(_) => ("process", descriptions(process::COLUMNS)),
        Question::Cpu(_) => ("cpu", descriptions(cpu::COLUMNS)),
        Question::Version(_) => ("version", descriptions(version::COLUMNS)),
    };
    let facts = Section::sum_facts(&sections);
    Outcome { answer: Answer { question: name, columns, layout: Layout::Rows, sections, facts }, failures }
}

fn section(recording: &OpenRecording, question: &Question) -> Result<Section, Error> {
    let (file, archive) = (&recording.file, recording.archive());
    let processes: Vec<ProcessRow> = archive.rows()?;
    Ok(match question {
        Question::Process(question) => process::answer(file, &processes, question),
        Question::Cpu(question) => {
            let figures = recording.process_figures(&processes, question.time)?;
            cpu::answer(file, &processes, &figures, question)
        }
        Question::Version(question) => {
            let (modules, loads) = (archive.rows::<ModuleRow>()?, archive.rows::<ProcessModuleRow>()?);
            version::answer(file, &processes, &modules, &loads, question)
        }
    })
}
