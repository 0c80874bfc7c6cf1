//! The archives that a command line names.

use chrono::Local;
use tracesift_ask::Reads;
use tracesift_ask::inputs::FoundInputs;
use tracesift_ask::recording::Source;
use tracesift_extract::EventSelection;

use crate::args::{FileArgs, RunArgs};
use crate::command::found;
use crate::command::temporary::TemporaryArchives;
use crate::terminal::Messages;
use crate::watching;

/// Archives to ask.
pub(crate) struct Sources {
    /// The archives.
    pub(crate) list: Vec<Source>,
    /// Inputs that cannot be used; each was named.
    pub(crate) failed: usize,
    /// Keeps those of recordings that were extracted for this.
    _temporary: TemporaryArchives,
}

/// The archives that the arguments name, and recordings that are named by themselves, extracted. `None`: there is nothing left, and that was said.
pub(crate) fn sources(files: &FileArgs, runs: &RunArgs, messages: &Messages) -> anyhow::Result<Option<Sources>> {
    sources_that_have(Reads::Everything, files, runs, messages)
}

/// The same for somebody who reads no more than that.
pub(crate) fn sources_that_have(
    reads: Reads,
    files: &FileArgs,
    runs: &RunArgs,
    messages: &Messages,
) -> anyhow::Result<Option<Sources>> {
    FoundFiles::find(files, runs, messages).map(|found| found.open(reads, messages)).transpose()
}

/// The files that arguments name, before anything is read.
pub(crate) struct FoundFiles {
    found: FoundInputs,
    failed: usize,
}

impl FoundFiles {
    /// Those that the arguments name. `None`: there is nothing left, and that was said.
    pub(crate) fn find(files: &FileArgs, runs: &RunArgs, messages: &Messages) -> Option<Self> {
        let (mut found, failed) = found::find(&files.inputs(), messages);
        found::keep_selected(&mut found, &runs.selection(Local::now().naive_local()));
        if found::nothing_left(&found, failed, messages) {
            return None;
        }
        leave_out_unnamed(&mut found, messages);
        Some(Self { found, failed })
    }

    /// Whether there is an archive, or a recording that becomes one.
    pub(crate) fn is_empty(&self) -> bool {
        self.found.archives.is_empty() && self.found.recordings.is_empty()
    }

    /// Makes archives of those that are none, which have what is read.
    pub(crate) fn open(self, reads: Reads, messages: &Messages) -> anyhow::Result<Sources> {
        // Those that an archive keeps that was made without options: the answer is the same.
        let of_events = (EventSelection::Default, reads);
        let temporary = TemporaryArchives::of(&self.found.recordings, of_events, messages)?;
        let list = self.found.archives.into_iter().map(Source::archive).chain(temporary.sources.iter().cloned());
        let list = list.map(|source| source.watched_by(watching::watch())).collect();
        Ok(Sources { list, failed: self.failed + temporary.failed, _temporary: temporary })
    }
}

/// Recordings that a search came upon are not extracted for one question: there may be hundreds.
fn leave_out_unnamed(found: &mut FoundInputs, messages: &Messages) {
    let before = found.recordings.len();
    found.recordings.retain(|recording| recording.named);
    let left_out = before - found.recordings.len();
    if left_out == 0 {
        return;
    }
    let what = if left_out == 1 { "1 recording is".to_owned() } else { format!("{left_out} recordings are") };
    let text = format!("{what} not extracted yet and left out");
    if found.archives.is_empty() && found.recordings.is_empty() {
        messages.error(&text);
    } else {
        messages.warning(&text);
    }
    messages.hint(
        "`tracesift extract` with the same paths makes archives of them; a recording named by itself is asked directly",
    );
}
