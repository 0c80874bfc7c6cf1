//! An extract, put together again to what it was made of.

use std::collections::BTreeMap;
use std::path::Path;

use tracesift_analysis::{Accounting, RecordingFacts, Span};
use tracesift_archive::Archive;
use tracesift_extract::{Error, Options};
use tracesift_testing::recording::try_extract;
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{
    ContextSwitchRow, CpuSampleRow, FrameRow, ModuleRow, Origin, ProcessModuleRow, ProcessRow, StackRow, ThreadRow,
};
use tracesift_trace::{FrameId, Health};

use crate::perf::{ScriptSample, UNKNOWN};

/// The samples of an archive with everything that they point at.
pub(crate) struct Extracted {
    pub(crate) samples: Vec<FullSample>,
    pub(crate) info: TraceInfo,
    pub(crate) health: Health,
    pub(crate) processes: Vec<ProcessRow>,
    pub(crate) threads: Vec<ThreadRow>,
    pub(crate) switches: Vec<ContextSwitchRow>,
    /// Frames by stack, as perf prints them.
    pub(crate) stacks: Vec<Vec<(u64, String)>>,
    /// For the tables that few tests read.
    pub(crate) archive: Archive,
    _directory: tempfile::TempDir,
}

/// A sample with everything that it points at.
#[derive(Clone, Debug)]
pub(crate) struct FullSample {
    pub(crate) time: i64,
    pub(crate) pid: i64,
    pub(crate) tid: i64,
    pub(crate) thread_name: Option<String>,
    pub(crate) cpu: i16,
    pub(crate) weight: i64,
    pub(crate) frames: Vec<(u64, String)>,
}

impl Extracted {
    /// Extracts a recording to a temporary directory and reads the archive.
    pub(crate) fn of(file: &Path) -> Self {
        Self::with(file, Options::default())
    }

    /// As [`Self::of`], with the samples of this event as CPU time.
    pub(crate) fn with_cpu_event(file: &Path, event: &str) -> Result<Self, Error> {
        Self::extract(file, Options { cpu_event: Some(event.to_owned()), ..Options::default() })
    }

    /// As [`Self::of`], with other options; the directory is chosen here.
    pub(crate) fn with(file: &Path, options: Options) -> Self {
        Self::extract(file, options).unwrap_or_else(|error| panic!("{error}"))
    }

    fn extract(file: &Path, options: Options) -> Result<Self, Error> {
        let directory = tempfile::TempDir::new().unwrap();
        let options = Options { out: Some(directory.path().to_owned()), ..options };
        let reports = try_extract(file, &options)?;
        let [report] = reports.as_slice() else { panic!("one recording") };
        let archive = Archive::open(&report.archive).unwrap();
        archive.verify().unwrap();
        let frames = frames(&archive);
        Ok(Self {
            samples: samples(&archive, &frames),
            stacks: stacks(&archive, &frames),
            info: archive.info().clone(),
            health: report.health.clone(),
            processes: archive.rows().unwrap(),
            threads: archive.rows().unwrap(),
            switches: archive.rows().unwrap(),
            archive,
            _directory: directory,
        })
    }

    /// Run, wait, ready, open and unknown time add up to the life of every thread.
    pub(crate) fn check_accounts(&self) {
        let mut accounting = Accounting::new(&RecordingFacts::from(&self.info), Span::ALL, &self.threads);
        self.switches.iter().for_each(|row| accounting.switch(row, &mut |_| {}));
        let accounts = accounting.finish(&mut |_| {});
        assert_eq!(accounts.contradictions, 0);
        for account in &accounts.threads {
            let sum = account.run + account.wait + account.ready.unwrap_or(0) + account.open + account.unknown;
            assert_eq!(sum, account.life.end - account.life.start, "{account:?}");
        }
    }

    /// Samples by something.
    pub(crate) fn cpu_by<K: Ord>(&self, key: impl Fn(&FullSample) -> K) -> BTreeMap<K, u64> {
        let mut counts = BTreeMap::new();
        for sample in &self.samples {
            *counts.entry(key(sample)).or_default() += 1;
        }
        counts
    }
}

impl FullSample {
    pub(crate) fn as_perf_has_it(&self) -> ScriptSample {
        ScriptSample {
            time: self.time,
            pid: self.pid,
            tid: self.tid,
            cpu: (self.cpu >= 0).then(|| self.cpu.into()),
            period: self.weight,
            frames: self.frames.clone(),
        }
    }

    /// The module of the leaf, as perf shortens it: the file name, of a kernel module its name in brackets.
    pub(crate) fn short_module(&self) -> String {
        let path = self.frames.first().map_or(UNKNOWN, |frame| frame.1.as_str());
        let name = path.rsplit('/').next().unwrap();
        match name.split_once(".ko") {
            Some((module, _)) if path.starts_with("/lib/modules/") => format!("[{}]", module.replace('-', "_")),
            _ => name.to_owned(),
        }
    }
}

/// Every frame: address (of a mapped file the offset in it) and path.
fn frames(archive: &Archive) -> Vec<(u64, String)> {
    let processes: Vec<ProcessRow> = archive.rows().unwrap();
    let modules: Vec<ModuleRow> = archive.rows().unwrap();
    let mapped: Vec<ProcessModuleRow> = archive.rows().unwrap();
    // perf shows addresses of the kernel as they are.
    let is_kernel = |row: &&ProcessModuleRow| {
        let process = &processes[row.process.index()];
        process.origin == Origin::Pseudo && process.name == "Kernel"
    };
    let kernel: BTreeMap<i32, u64> =
        mapped.iter().filter(is_kernel).map(|row| (row.module.0, row.base.cast_unsigned())).collect();
    let frame = |row: &FrameRow| match (row.module, row.rva) {
        (Some(module), Some(rva)) => {
            let base = match modules[module.index()].name.as_str() {
                "[kernel.kallsyms]" => kernel[&module.0],
                _ => 0,
            };
            (base.wrapping_add(rva.cast_unsigned()), modules[module.index()].path.clone())
        }
        _ => (row.address.unwrap().cast_unsigned(), UNKNOWN.to_owned()),
    };
    archive.rows::<FrameRow>().unwrap().iter().map(frame).collect()
}

fn stacks(archive: &Archive, frames: &[(u64, String)]) -> Vec<Vec<(u64, String)>> {
    let rows: Vec<StackRow> = archive.rows().unwrap();
    rows.iter().map(|row| row.frames.iter().map(|id| frames[id.index()].clone()).collect()).collect()
}

fn samples(archive: &Archive, frames: &[(u64, String)]) -> Vec<FullSample> {
    let processes: Vec<ProcessRow> = archive.rows().unwrap();
    let threads: Vec<ThreadRow> = archive.rows().unwrap();
    let stacks: Vec<StackRow> = archive.rows().unwrap();
    let rows: Vec<CpuSampleRow> = archive.rows().unwrap();
    let full = |row: &CpuSampleRow| {
        let thread = &threads[row.thread.index()];
        let ids = row.stack.map_or_else(|| row.frame.into_iter().collect(), |id| stacks[id.index()].frames.clone());
        FullSample {
            time: row.time + archive.info().clock_zero,
            pid: processes[row.process.index()].pid,
            tid: thread.tid,
            thread_name: thread.name.clone(),
            cpu: row.cpu,
            weight: row.weight,
            frames: ids.into_iter().map(|id: FrameId| frames[id.index()].clone()).collect(),
        }
    };
    rows.iter().map(full).collect()
}
