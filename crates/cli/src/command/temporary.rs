//! Questions to recordings that are not extracted yet: they are extracted into a temporary directory first.

use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::Context as _;
use tempfile::TempDir;
use tracesift_ask::Reads;
use tracesift_ask::recording::{Source, name_of};
use tracesift_extract::input::InputRecording;
use tracesift_extract::{Budget, EventSelection, Options, Outcome, TableChoice};

use crate::progress::Progress;
use crate::terminal::Messages;
use crate::watching;

/// Archives that vanish with this value.
#[derive(Default)]
pub(crate) struct TemporaryArchives {
    /// The archives.
    pub(crate) sources: Vec<Source>,
    /// Number of recordings that could not be extracted; each was named.
    pub(crate) failed: usize,
    _directory: Option<TempDir>,
}

impl TemporaryArchives {
    /// Extracts recordings, with these events one by one, and of the rest what is read.
    pub(crate) fn of(
        recordings: &[InputRecording],
        (events, reads): (EventSelection, Reads),
        messages: &Messages,
    ) -> anyhow::Result<Self> {
        if recordings.is_empty() {
            return Ok(Self::default());
        }
        let directory = TempDir::with_prefix("tracesift-").context("cannot make a temporary directory")?;
        let progress = Progress::new(recordings.len());
        let watch = watching::watch();
        let mut archives = Self::default();
        for (number, recording) in recordings.iter().enumerate() {
            let first = recording.files.first().cloned().unwrap_or_default();
            // Said once there is something to extract: of what is no recording the error is all that there is to say.
            let mut to_say = Some(|| {
                let path = first.display();
                messages.note(&format!("{path} is not extracted yet: extracting it to a temporary directory"));
                let option = if matches!(events, EventSelection::Chosen(_)) { " --events all" } else { "" };
                messages.hint(&format!("`tracesift extract {path}{option}` does that once"));
            });
            // Two recordings of one name in different directories must not meet.
            let out = Some(directory.path().join(number.to_string()));
            let options = Options { out, events: Some(events.clone()), ..options_of(reads) };
            let mut bar = progress.start(&recording.name);
            let extracted = tracesift_extract::extract(recording, &options, &mut |step| {
                if let Some(say) = to_say.take() {
                    progress.suspend(say);
                }
                bar.step(step);
                if watch.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            drop(bar);
            progress.done();
            watch.check()?;
            match extracted {
                Ok(extraction) => archives.add(first, &extraction.outcomes),
                Err(error) => {
                    archives.failed += 1;
                    progress.suspend(|| messages.error(&error.to_string()));
                }
            }
        }
        archives._directory = Some(directory);
        Ok(archives)
    }

    fn add(&mut self, shown: PathBuf, outcomes: &[Outcome]) {
        for outcome in outcomes {
            let archive = match outcome {
                Outcome::Extracted(report) => report.archive.clone(),
                Outcome::UpToDate(path) | Outcome::Named(path, _) => path.clone(),
            };
            // An archive file with several recordings: the name of each tells them apart.
            let shown = if outcomes.len() > 1 { shown.join(name_of(&archive)) } else { shown.clone() };
            self.sources.push(Source { shown, ..Source::archive(archive) });
        }
    }
}

/// How to extract what is read, once.
fn options_of(reads: Reads) -> Options {
    match reads {
        Reads::Everything => Options::default(),
        Reads::Tables(tables) | Reads::TablesWithoutStacks(tables) => Options {
            tables: TableChoice::only(tables),
            without_stacks: matches!(reads, Reads::TablesWithoutStacks(_)),
            // The tables of long recordings pay when many questions read them.
            budget: Budget { long_from: u64::MAX, ..Budget::default() },
            ..Options::default()
        },
    }
}
