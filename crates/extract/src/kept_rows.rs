//! Rows for the summaries in memory. The summaries of a recording whose rows fit are computed
//! without reading files, while the last rows are still being encoded.
//!
//! The store keeps columns, since the writer has columns for the encoder anyway and shares them
//! without a copy. It returns rows, since the computation takes rows from files, too.

use std::borrow::Cow;

use tracesift_analysis::{SummarySample, SummarySwitch, ThreadLifetime};
use tracesift_archive::{Error, KeptColumns};
use tracesift_trace::rows::{ModuleRow, ProcessRow, StackRow, ThreadRow};
use tracesift_trace::{FrameId, ProcessId, StackId};

use crate::summary_source::{FrameInModule, FunctionOfFrame, SummarySource, Times};

/// All rows from which the summaries are computed.
#[derive(Debug)]
pub(crate) struct KeptRows {
    columns: KeptColumns,
    identities: Identities,
}

/// Processes, threads and modules of the rows.
#[derive(Debug, Default)]
pub(crate) struct Identities {
    pub(crate) modules: Vec<ModuleRow>,
    pub(crate) processes: Vec<ProcessRow>,
    pub(crate) threads: Vec<ThreadRow>,
}

/// Keeps columns of about so many bytes.
pub(crate) fn keep(memory: usize) -> KeptColumns {
    let columns = KeptColumns::new(memory).with::<FrameInModule>().with::<FunctionOfFrame>().with::<StackRow>();
    columns.with::<SummarySample>().with::<SummarySwitch>()
}

impl KeptRows {
    /// The rows, if there was room for all of them.
    pub(crate) fn new(columns: KeptColumns, identities: Identities) -> Option<Self> {
        columns.are_whole().then_some(Self { columns, identities })
    }
}

impl SummarySource for KeptRows {
    fn modules(&self) -> Result<Cow<'_, [ModuleRow]>, Error> {
        Ok(Cow::Borrowed(&self.identities.modules))
    }

    fn processes(&self) -> Result<Vec<ProcessId>, Error> {
        Ok(self.identities.processes.iter().map(|row| row.process).collect())
    }

    fn threads(&self, mut visit: impl FnMut(&ThreadLifetime)) -> Result<(), Error> {
        self.identities.threads.iter().for_each(|row| visit(&row.into()));
        Ok(())
    }

    fn frames(&self, visit: impl FnMut(&FrameInModule)) -> Result<(), Error> {
        self.columns.scan(visit)
    }

    fn symbols(&self, mut visit: impl FnMut(FrameId, Option<&str>, &str)) -> Result<(), Error> {
        self.columns.scan(|row: &FunctionOfFrame| visit(row.frame, row.module.as_deref(), &row.function))
    }

    fn stacks(&self, visit: impl FnMut(StackId, &[FrameId])) -> Result<(), Error> {
        self.columns.scan_stacks(visit)
    }

    fn samples(&self, _: Times, visit: impl FnMut(&SummarySample)) -> Result<(), Error> {
        self.columns.scan(visit)
    }

    fn switches_newest_first(&self, _: Times, visit: impl FnMut(&SummarySwitch)) -> Result<(), Error> {
        self.columns.scan_backwards(visit)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tracesift_analysis::{LargestMethods, RecordingFacts};
    use tracesift_archive::{Archive, ArchiveWriter, WriterOptions};
    use tracesift_scenario::linux::Knobs;
    use tracesift_testing::recording;
    use tracesift_trace::rows::{MethodSummaryRow, ProcessSummaryRow, TagSummaryRow};
    use tracesift_trace::{Clock, RowSink as _};

    use super::{Identities, KeptRows, keep};
    use crate::input;
    use crate::options::Options;
    use crate::summaries::summarise;
    use crate::summaries_in_rounds::{SummaryTarget, write_summaries};
    use crate::summary_source::SummarySource;
    use crate::target::{Outcome, extract, unwatched};

    /// The archive of a small recording.
    fn archive() -> (recording::Recording, Archive) {
        let knobs = Knobs { bytes: 4 << 20, processes: 30, threads: 200, events_per_birth: 100, ..Knobs::default() };
        let (files, _) = recording::Recording::perf(&knobs);
        let input = input::InputRecording {
            name: "linux".to_owned(),
            files: vec![files.file().to_owned()],
            stands_for: Vec::new(),
            forced: false,
            named: true,
        };
        let extraction = extract(&input, &Options::default(), &mut unwatched).expect("extracted");
        let [Outcome::Extracted(report)] = &extraction.outcomes[..] else { panic!("one recording") };
        let archive = Archive::open(&report.archive).expect("archive");
        (files, archive)
    }

    /// The rows of an archive, as they are kept when it is written again.
    fn kept(archive: &Archive, directory: &Path, memory: usize) -> Option<KeptRows> {
        let options = WriterOptions { trace: archive.info().id.clone(), ..WriterOptions::default() };
        let writer = ArchiveWriter::create(&directory.join("again.sift"), options).expect("writer");
        let mut writer = writer.keeping(keep(memory));
        archive.scan(None, |row| writer.frame(row)).expect("frames");
        archive.scan(None, |row| writer.symbol(row)).expect("symbols");
        archive.scan(None, |row| writer.stack(row)).expect("stacks");
        archive.scan(None, |row| writer.cpu_sample(row)).expect("samples");
        archive.scan(None, |row| writer.context_switch(row)).expect("switches");
        let modules = archive.modules().expect("modules").into_owned();
        let processes = archive.rows().expect("processes");
        let threads = archive.rows().expect("threads");
        let mut sealing = writer.seal(archive.info().clone(), &Clock::new(0, 1_000_000_000));
        KeptRows::new(sealing.take_kept(), Identities { modules, processes, threads })
    }

    #[test]
    fn summaries_are_the_same_from_memory_and_from_the_archive() {
        let (files, archive) = archive();
        let recording = RecordingFacts::from(archive.info());
        let kept = kept(&archive, files.directory(), 64 << 20).expect("they fit");
        let here = summarise(recording, &kept, usize::MAX).expect("summarised").expect("they fit");
        let there = summarise(recording, &archive, usize::MAX).expect("summarised").expect("they fit");
        assert_eq!((here.tags.len() > 100, &here.tags), (true, &there.tags));
        assert_eq!(here.tags, archive.rows::<TagSummaryRow>().expect("tags"));
        assert!(here.methods.len() > 1000);
        assert_eq!(here.processes, there.processes);
        assert_eq!(here.methods.rows(), there.methods.rows());
        assert_eq!(here.processes, archive.rows::<ProcessSummaryRow>().expect("summary"));
        assert_eq!(here.methods.rows(), archive.rows::<MethodSummaryRow>().expect("summary"));
    }

    /// The tables, and how often each was written to.
    #[derive(Default)]
    struct Tables {
        processes: Vec<ProcessSummaryRow>,
        methods: Vec<MethodSummaryRow>,
        tags: Vec<TagSummaryRow>,
        rounds: usize,
    }

    impl SummaryTarget for Tables {
        fn processes(&mut self, rows: &[ProcessSummaryRow]) {
            self.processes.extend_from_slice(rows);
        }

        fn methods(&mut self, rows: &LargestMethods) {
            self.methods.extend(rows.rows());
            self.rounds += 1;
        }

        fn tags(&mut self, rows: &[TagSummaryRow]) {
            self.tags.extend_from_slice(rows);
        }
    }

    /// Holds rows against others without printing thousands of them.
    fn same<Row: PartialEq + std::fmt::Debug>(found: &[Row], expected: &[Row]) {
        found.iter().zip(expected).for_each(|(found, expected)| assert_eq!(found, expected));
        assert_eq!(found.len(), expected.len());
    }

    #[test]
    fn summaries_are_the_same_in_rounds_of_some_processes() {
        let (_files, archive) = archive();
        let recording = RecordingFacts::from(archive.info());
        for (memory, least) in [(1 << 20, 3), (0, 100)] {
            let mut tables = Tables::default();
            let contradictions = write_summaries(recording, None, &archive, memory, &mut tables).expect("summarised");
            assert!(tables.rounds >= least, "{} rounds", tables.rounds);
            assert_eq!(contradictions, 0);
            same(&tables.processes, &archive.rows().expect("summary"));
            same(&tables.methods, &archive.rows().expect("summary"));
            same(&tables.tags, &archive.rows().expect("tags"));
        }
    }

    #[test]
    fn too_many_rows_are_not_kept() {
        let (files, archive) = archive();
        assert!(kept(&archive, files.directory(), 100_000).is_none());
    }
}
