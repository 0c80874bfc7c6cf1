//! The rows that summaries are made of, in memory: a recording whose rows fit there is summarised without reading them back,
//! while the last of them are still being encoded.

use std::borrow::Cow;

use tracesift_archive::Error;
use tracesift_trace::rows::{
    ContextSwitchRow, CpuSampleRow, FrameRow, ModuleRow, ProcessRow, StackRow, SymbolRow, ThreadRow,
};
use tracesift_trace::{FrameId, StackId, ThreadId};

use crate::summaries::SummarySource;

/// Rows in the order in which they came. When they are too many all of them are dropped, and no more are taken.
#[derive(Debug)]
pub(crate) struct KeptRows {
    room: usize,
    overflown: bool,
    rows: Rows,
}

#[derive(Debug, Default)]
struct Rows {
    modules: Vec<ModuleRow>,
    processes: Vec<ProcessRow>,
    threads: Vec<ThreadRow>,
    frames: Vec<FrameRow>,
    symbols: Vec<SymbolRow>,
    /// Each stack and where its frames end.
    stacks: Vec<(StackId, usize)>,
    stack_frames: Vec<FrameId>,
    samples: Vec<CpuSampleRow>,
    switches: Vec<Switch>,
}

/// Of a switch what the summaries need.
#[derive(Clone, Copy, Debug)]
struct Switch {
    time: i64,
    off_time: i64,
    ready_time: Option<i64>,
    thread: ThreadId,
    prev_thread: Option<ThreadId>,
    wait_stack: Option<StackId>,
    cpu: Option<i16>,
    priority: Option<i8>,
    off_priority: Option<i8>,
    flags: i16,
}

impl KeptRows {
    /// Keeps rows of about so many bytes.
    pub(crate) fn new(memory: usize) -> Self {
        Self { room: memory, overflown: false, rows: Rows::default() }
    }

    /// All rows, if there was room for them.
    pub(crate) fn all(&self) -> Option<&(impl SummarySource + Sync)> {
        (!self.overflown).then_some(&self.rows)
    }

    /// Those whom the rows are about. They were in memory anyway and take no room.
    pub(crate) fn keep_identities(
        &mut self,
        modules: Vec<ModuleRow>,
        processes: Vec<ProcessRow>,
        threads: Vec<ThreadRow>,
    ) {
        if !self.overflown {
            self.rows = Rows { modules, processes, threads, ..std::mem::take(&mut self.rows) };
        }
    }

    #[inline]
    pub(crate) fn cpu_sample(&mut self, row: &CpuSampleRow) {
        if self.takes(size_of::<CpuSampleRow>()) {
            self.rows.samples.push(*row);
        }
    }

    #[inline]
    pub(crate) fn context_switch(&mut self, row: &ContextSwitchRow) {
        if self.takes(size_of::<Switch>()) {
            self.rows.switches.push(Switch {
                time: row.time,
                off_time: row.off_time,
                ready_time: row.ready_time,
                thread: row.thread,
                prev_thread: row.prev_thread,
                wait_stack: row.wait_stack,
                cpu: row.cpu,
                priority: row.priority,
                off_priority: row.off_priority,
                flags: row.flags,
            });
        }
    }

    pub(crate) fn frame(&mut self, row: &FrameRow) {
        if self.takes(size_of::<FrameRow>()) {
            self.rows.frames.push(*row);
        }
    }

    pub(crate) fn stack(&mut self, row: &StackRow) {
        if self.takes(size_of::<(StackId, usize)>() + row.frames.len() * size_of::<FrameId>()) {
            self.rows.stack_frames.extend_from_slice(&row.frames);
            self.rows.stacks.push((row.stack, self.rows.stack_frames.len()));
        }
    }

    pub(crate) fn symbol(&mut self, row: &SymbolRow) {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let texts = text(&row.module) + row.function.len() + text(&row.arguments) + row.source.len();
        if self.takes(size_of::<SymbolRow>() + texts) {
            self.rows.symbols.push(row.clone());
        }
    }

    /// Whether there is room for so many bytes. A list that grows doubles what it takes.
    #[inline]
    fn takes(&mut self, bytes: usize) -> bool {
        match self.room.checked_sub(2 * bytes) {
            Some(left) if !self.overflown => self.room = left,
            _ => self.overflow(),
        }
        !self.overflown
    }

    #[cold]
    fn overflow(&mut self) {
        self.overflown = true;
        self.rows = Rows::default();
    }
}

impl SummarySource for Rows {
    fn modules(&self) -> Result<Cow<'_, [ModuleRow]>, Error> {
        Ok(Cow::Borrowed(&self.modules))
    }

    fn processes(&self) -> Result<Cow<'_, [ProcessRow]>, Error> {
        Ok(Cow::Borrowed(&self.processes))
    }

    fn threads(&self) -> Result<Cow<'_, [ThreadRow]>, Error> {
        Ok(Cow::Borrowed(&self.threads))
    }

    fn frames(&self, visit: impl FnMut(&FrameRow)) -> Result<(), Error> {
        self.frames.iter().for_each(visit);
        Ok(())
    }

    fn symbols(&self, visit: impl FnMut(&SymbolRow)) -> Result<(), Error> {
        self.symbols.iter().for_each(visit);
        Ok(())
    }

    fn stacks(&self, mut visit: impl FnMut(StackId, &[FrameId])) -> Result<(), Error> {
        let mut start = 0;
        for &(stack, end) in &self.stacks {
            visit(stack, self.stack_frames.get(start..end).unwrap_or_default());
            start = end;
        }
        Ok(())
    }

    fn samples(&self, visit: impl FnMut(&CpuSampleRow)) -> Result<(), Error> {
        self.samples.iter().for_each(visit);
        Ok(())
    }

    fn switches_newest_first(&self, mut visit: impl FnMut(&ContextSwitchRow)) -> Result<(), Error> {
        let mut row = ContextSwitchRow::default();
        for &switch in self.switches.iter().rev() {
            let Switch { time, off_time, ready_time, thread, prev_thread, wait_stack, .. } = switch;
            let Switch { cpu, priority, off_priority, flags, .. } = switch;
            row = ContextSwitchRow {
                time,
                off_time,
                ready_time,
                thread,
                prev_thread,
                wait_stack,
                cpu,
                priority,
                off_priority,
                flags,
                ..row
            };
            visit(&row);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use tracesift_analysis::Recording;
    use tracesift_archive::{Archive, Projection};
    use tracesift_scenario::linux::{Knobs, write};
    use tracesift_trace::rows::{MethodSummaryRow, ProcessSummaryRow, StackRow, TagSummaryRow};

    use super::KeptRows;
    use crate::summaries::{Summarised, SummarySource, summarise};
    use crate::target::{Options, Outcome, extract, unwatched};

    /// The archive of a small recording.
    fn archive(directory: &tempfile::TempDir) -> Archive {
        let mut bytes = Cursor::new(Vec::new());
        let knobs = Knobs { bytes: 4 << 20, processes: 30, threads: 200, events_per_birth: 100, ..Knobs::default() };
        write(&mut bytes, &knobs).expect("written");
        let file = directory.path().join("perf.data");
        std::fs::write(&file, bytes.into_inner()).expect("written");
        let (name, stands_for) = ("linux".to_owned(), Vec::new());
        let recording = crate::input::Recording { name, files: vec![file], stands_for, forced: false, named: true };
        let extraction = extract(&recording, &Options::default(), &mut unwatched).expect("extracted");
        let [Outcome::Extracted(report)] = &extraction.outcomes[..] else { panic!("one recording") };
        Archive::open(&report.archive).expect("archive")
    }

    /// The rows of an archive, as they had come by when it was written.
    fn kept(archive: &Archive, memory: usize) -> KeptRows {
        let mut kept = KeptRows::new(memory);
        archive.frames(|row| kept.frame(row)).expect("frames");
        archive.symbols(|row| kept.symbol(row)).expect("symbols");
        archive.scan(Projection::ALL, None, |row: &StackRow| kept.stack(row)).expect("stacks");
        archive.samples(|row| kept.cpu_sample(row)).expect("samples");
        archive.scan(Projection::ALL, None, |row| kept.context_switch(row)).expect("switches");
        let modules = archive.modules().expect("modules").into_owned();
        let processes = archive.processes().expect("processes").into_owned();
        kept.keep_identities(modules, processes, archive.threads().expect("threads").into_owned());
        kept
    }

    #[test]
    fn summaries_are_the_same_from_memory_and_from_the_archive() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let archive = archive(&directory);
        let recording = Recording::from(archive.info());
        let kept = kept(&archive, 64 << 20);
        let Summarised { summary: here, tags } =
            summarise(recording, kept.all().expect("they fit")).expect("summarised");
        let Summarised { summary: there, tags: tags_there } = summarise(recording, &archive).expect("summarised");
        assert_eq!((tags.len() > 100, &tags), (true, &tags_there));
        assert_eq!(tags, archive.rows::<TagSummaryRow>().expect("tags"));
        assert!(here.methods.len() > 1000);
        assert_eq!(here.processes, there.processes);
        assert_eq!(here.methods.rows(), there.methods.rows());
        assert_eq!(here.threads, there.threads);
        assert_eq!(here.processes, archive.rows::<ProcessSummaryRow>().expect("summary"));
        assert_eq!(here.methods.rows(), archive.rows::<MethodSummaryRow>().expect("summary"));
    }

    #[test]
    fn too_many_rows_are_not_kept() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let kept = kept(&archive(&directory), 100_000);
        assert!(kept.all().is_none());
        assert_eq!(kept.rows.switches.capacity() + kept.rows.processes.capacity(), 0, "nor anything of them");
    }
}
