//! On which kind of core something ran, and how fast those were clocked: from the samples, for recordings that tell.

use rustc_hash::FxHashMap;
use tracesift_analysis::Times;
use tracesift_archive::{Archive, Error};
use tracesift_trace::ProcessId;
use tracesift_trace::rows::{CpuRow, CpuSampleRow};
use tracesift_trace::view;

use crate::clock_rates::Rates;
use tracesift_grammar::TimeRange;

/// What is said where a recording tells neither.
pub(crate) const UNKNOWN_CORES: &str = "it is not known on which kinds of core this ran, nor how these were clocked";

view! {
    /// The columns of a sample that the figures of cores need.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct SampleOnCore of CpuSampleRow { time, cpu, weight }
}

view! {
    /// A sample on a core, with its process.
    #[derive(Clone, Copy, Debug)]
    struct ProcessOnCore of CpuSampleRow { time, cpu, process, weight }
}

/// Figures of one process or method.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CoreFigures {
    /// Sampled CPU on the fastest kind of core, ns; `None` where the recording tells of no kinds.
    pub fast: Option<i64>,
    /// Sampled CPU on all other kinds, ns.
    pub efficient: Option<i64>,
    /// Mean clock rate, kHz, weighted with the CPU time of the samples whose CPU's rate is known by then.
    pub khz: Option<f64>,
    /// Mean of the rate's share of the nominal one, weighted alike; `None` where no nominal rate is known.
    pub of_nominal: Option<f64>,
    /// The CPU time that the same work takes at the nominal rates, ns: each sample weighted with its share of the nominal rate, or as it is
    /// where that is not known. `None` where it is known of no sample.
    pub normalized: Option<f64>,
}

/// What CPUs are, and how they are clocked.
#[derive(Debug, Default)]
pub(crate) struct Cores {
    /// Whether a CPU is of the fastest kind; empty where there are no kinds.
    is_fast: FxHashMap<i16, bool>,
    rates: Rates,
}

/// Sums of the samples of one process or method.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CoreSums {
    all: i64,
    fast: i64,
    efficient: i64,
    clocked: Weighted,
    of_nominal: Weighted,
}

#[derive(Clone, Copy, Debug, Default)]
struct Weighted {
    sum: f64,
    weight: f64,
}

impl Weighted {
    fn add(&mut self, value: f64, weight: i64) {
        self.sum += value * weight as f64;
        self.weight += weight as f64;
    }

    fn join(&mut self, other: Self) {
        self.sum += other.sum;
        self.weight += other.weight;
    }

    fn mean(self) -> Option<f64> {
        (self.weight > 0.0).then(|| self.sum / self.weight)
    }
}

impl Cores {
    /// Those of a recording; `None` where it tells neither kinds of cores nor clock rates.
    pub(crate) fn of(archive: &Archive) -> Result<Option<Self>, Error> {
        let cpus: Vec<CpuRow> = archive.rows()?;
        let mut cores = Self { rates: Rates::read(archive, &cpus)?, ..Self::default() };
        let classes = || cpus.iter().filter_map(|row| row.efficiency_class);
        if let (Some(least), Some(most)) = (classes().min(), classes().max())
            && least < most
        {
            let known = cpus.iter().filter_map(|row| Some((row.cpu, row.efficiency_class? == most)));
            cores.is_fast = known.collect();
        }
        Ok((!cores.is_fast.is_empty() || !cores.rates.is_empty()).then_some(cores))
    }
}

impl CoreSums {
    /// Adds a sample.
    pub(crate) fn add(&mut self, cores: &Cores, sample: impl Into<SampleOnCore>) {
        let sample = sample.into();
        self.all = self.all.saturating_add(sample.weight);
        match cores.is_fast.get(&sample.cpu) {
            Some(true) => self.fast = self.fast.saturating_add(sample.weight),
            Some(false) => self.efficient = self.efficient.saturating_add(sample.weight),
            None => {}
        }
        if let Some(khz) = cores.rates.khz(sample.cpu, sample.time) {
            self.clocked.add(khz as f64, sample.weight);
            if let Some(nominal) = cores.rates.nominal(sample.cpu) {
                self.of_nominal.add(khz as f64 / nominal as f64, sample.weight);
            }
        }
    }

    /// Adds what others added up.
    pub(crate) fn join(&mut self, other: &Self) {
        self.all = self.all.saturating_add(other.all);
        self.fast = self.fast.saturating_add(other.fast);
        self.efficient = self.efficient.saturating_add(other.efficient);
        self.clocked.join(other.clocked);
        self.of_nominal.join(other.of_nominal);
    }

    /// The figures.
    pub(crate) fn finish(self, cores: &Cores) -> CoreFigures {
        let has_kinds = !cores.is_fast.is_empty();
        let of_nominal = self.of_nominal.mean();
        CoreFigures {
            fast: has_kinds.then_some(self.fast),
            efficient: has_kinds.then_some(self.efficient),
            khz: self.clocked.mean(),
            of_nominal,
            normalized: of_nominal.map(|_| self.all as f64 - self.of_nominal.weight + self.of_nominal.sum),
        }
    }
}

/// The figures of all processes that were sampled in a time range; empty where the recording tells neither kinds of cores nor clock rates.
///
/// # Errors
/// When a table cannot be read.
pub fn of_processes(
    archive: &Archive,
    time: TimeRange,
    times: Option<&Times>,
) -> Result<FxHashMap<ProcessId, CoreFigures>, Error> {
    let Some(cores) = Cores::of(archive)? else { return Ok(FxHashMap::default()) };
    let mut sums: FxHashMap<ProcessId, CoreSums> = FxHashMap::default();
    let (start, end) = time.bounds();
    archive.scan((!time.is_everything()).then_some(start..end), |row: &ProcessOnCore| {
        let counts = times.is_none_or(|times| times.contain(Some(row.process), row.time));
        if counts && (time.is_everything() || (start..end).contains(&row.time)) {
            sums.entry(row.process).or_default().add(&cores, row);
        }
    })?;
    Ok(sums.into_iter().map(|(process, sums)| (process, sums.finish(&cores))).collect())
}
