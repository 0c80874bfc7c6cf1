//! Writes a scenario as files, extracts them, reads the archive.

use tracesift_analysis::{Accounting, RecordingFacts, Span, ThreadAccount};
use tracesift_archive::Archive;
use tracesift_extract::{Options, Outcome, extract as extract_input, input, unwatched};
use tracesift_scenario::Scenario;
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{
    ContextSwitchRow, CpuSampleRow, FrameRow, MethodSummaryRow, ModuleRow, ProcessRow, ProcessSummaryRow, StackRow,
    SymbolRow, ThreadRow,
};

/// The tables of an archive.
pub(crate) struct Extracted {
    pub(crate) info: TraceInfo,
    pub(crate) processes: Vec<ProcessRow>,
    pub(crate) threads: Vec<ThreadRow>,
    pub(crate) modules: Vec<ModuleRow>,
    pub(crate) frames: Vec<FrameRow>,
    pub(crate) stacks: Vec<StackRow>,
    pub(crate) symbols: Vec<SymbolRow>,
    pub(crate) samples: Vec<CpuSampleRow>,
    pub(crate) switches: Vec<ContextSwitchRow>,
    pub(crate) process_summary: Vec<ProcessSummaryRow>,
    pub(crate) method_summary: Vec<MethodSummaryRow>,
    pub(crate) accounts: Vec<ThreadAccount>,
    pub(crate) contradictions: u64,
}

pub(crate) fn extract(scenario: &Scenario) -> Extracted {
    let directory = tempfile::tempdir().expect("temporary directory");
    for part in scenario.parts().expect("a recording") {
        std::fs::write(directory.path().join(format!("scenario{}", part.suffix)), &part.bytes).expect("written");
    }
    let argument = directory.path().join("scenario.etl").display().to_string();
    let selection = input::select(&[argument], &input::SelectOptions::default());
    assert_eq!(selection.targets.len(), 1, "{:?}", selection.problems);
    let input::Target::Recording(recording) = &selection.targets[0] else { panic!("a recording") };
    let extraction = extract_input(recording, &Options::default(), &mut unwatched).expect("extracted");
    let [Outcome::Extracted(report)] = &extraction.outcomes[..] else { panic!("one recording") };

    let archive = Archive::open(&report.archive).expect("archive");
    archive.verify().expect("sound archive");
    let threads = archive.rows::<ThreadRow>().expect("threads");
    let switches = archive.rows::<ContextSwitchRow>().expect("switches");
    let mut accounting = Accounting::new(&RecordingFacts::from(archive.info()), Span::ALL, &threads);
    for row in &switches {
        accounting.switch(row, &mut |_| {});
    }
    let accounts = accounting.finish(&mut |_| {});
    Extracted {
        info: archive.info().clone(),
        processes: archive.rows().expect("processes"),
        threads,
        modules: archive.rows().expect("modules"),
        frames: archive.rows().expect("frames"),
        stacks: archive.rows().expect("stacks"),
        symbols: archive.rows().expect("symbols"),
        samples: archive.rows().expect("samples"),
        switches,
        process_summary: archive.rows().expect("process summary"),
        method_summary: archive.rows().expect("method summary"),
        accounts: accounts.threads,
        contradictions: accounts.contradictions,
    }
}
