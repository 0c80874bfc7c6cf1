//! Puts a question to many archives at once.

use rayon::prelude::*;
use tracesift_archive::Error;

use crate::answer::{Answer, Column, Failure, Layout, Outcome, Section};
use crate::recording::{OpenRecording, Source, open_all};

/// A question that every archive answers by itself.
pub trait Ask: Sync {
    /// Its name, as in `dump NAME`.
    fn name(&self) -> &'static str;

    /// The columns of the answer, in the order of every format.
    fn columns(&self) -> Vec<Column>;

    /// The answer of one recording.
    ///
    /// # Errors
    /// When a table cannot be read.
    fn section(&self, recording: &OpenRecording) -> Result<Section, Error>;
}

/// Asks archives in parallel. The order of the answer does not depend on which one was ready first: the oldest recording
/// stands first.
#[must_use]
pub fn ask(sources: &[Source], question: &dyn Ask) -> Outcome {
    let (recordings, mut failures) = open_all(sources);
    let results: Vec<Result<Section, Failure>> = recordings
        .par_iter()
        .map(|recording| question.section(recording).map_err(|error| Failure::new(&recording.file.path, &error)))
        .collect();
    let mut sections = Vec::new();
    for result in results {
        match result {
            Ok(section) => sections.push(section),
            Err(failure) => failures.push(failure),
        }
    }
    failures.sort_by(|a, b| a.path.cmp(&b.path));
    let facts = Section::sum_facts(&sections);
    let columns = question.columns();
    let mut answer = Answer { question: question.name(), columns, layout: Layout::Rows, sections, facts };
    answer.drop_hidden();
    Outcome { answer, failures }
}
