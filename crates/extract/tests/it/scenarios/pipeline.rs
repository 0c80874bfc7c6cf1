//! Extracts a scenario and reads the archive.

use tracesift_analysis::{Accounting, RecordingFacts, Span, ThreadAccount};
use tracesift_scenario::Scenario;
use tracesift_testing::recording::Recording;
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
    let extracted = Recording::etl(scenario).extract();
    let archive = &extracted.archive;
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
