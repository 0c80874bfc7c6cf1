//! Clock rates and idle states of CPUs, from the tracepoints of power management.

use rustc_hash::FxHashMap;
use tracesift_trace::HealthKind;
use tracesift_trace::RowSink;
use tracesift_trace::rows::{CpuFrequencyRow, CpuIdleStateRow};

use super::rows::Rows;
use super::sample_context::SampleContext;
use crate::perf::cpu_limits::CpuLimits;
use crate::perf::tracepoint::{LimitFields, MeasuredFields, PowerFields};

/// `PWR_EVENT_EXIT`: the CPU leaves its idle state.
const LEAVES: i64 = 0xffff_ffff;

/// Follows clock rates and idle states.
#[derive(Default)]
pub(crate) struct Power {
    rates: FxHashMap<u16, Rate>,
    /// By CPU: the last event with a mean clock rate, in ticks.
    measured: FxHashMap<u16, i64>,
    /// Since when a CPU is in which state.
    idle: FxHashMap<u16, (i64, i16)>,
}

/// What is known of the clock rate of a CPU, kHz.
#[derive(Clone, Copy, Default)]
struct Rate {
    khz: Option<i64>,
    most: Option<i64>,
    least: Option<i64>,
}

impl Power {
    /// The limits that were in force before the first event.
    pub(crate) fn begin_with(&mut self, limits: &[CpuLimits]) {
        for of_cpus in limits {
            for cpu in of_cpus.cpus() {
                let rate = self.rates.entry(cpu.cast_unsigned()).or_default();
                (rate.least, rate.most) = (of_cpus.least, of_cpus.most);
            }
        }
    }

    /// A CPU gets another clock rate. Whoever changes it may run on another one.
    pub(crate) fn frequency<Sink: RowSink>(
        &mut self,
        fields: &PowerFields,
        at: &SampleContext<'_>,
        rows: &mut Rows<'_, Sink>,
    ) {
        let Some((khz, cpu)) = read(fields, at, rows) else { return };
        let rate = self.rates.entry(cpu).or_default();
        rate.khz = Some(khz);
        rate_row(cpu, *rate, at.ticks, rows);
    }

    /// A CPU gets other limits of its clock rate.
    pub(crate) fn limits<Sink: RowSink>(
        &mut self,
        fields: &LimitFields,
        at: &SampleContext<'_>,
        rows: &mut Rows<'_, Sink>,
    ) {
        let read = |raw| {
            let cpu = u16::try_from(fields.cpu.get(raw)?).ok()?;
            Some((cpu, fields.least.get(raw)?, fields.most.get(raw)?))
        };
        let Some((cpu, least, most)) = at.sample.raw.and_then(read) else { return count_incomplete(at, rows) };
        let rate = self.rates.entry(cpu).or_default();
        if (rate.least, rate.most) != (Some(least), Some(most)) {
            (rate.least, rate.most) = (Some(least), Some(most));
            rate_row(cpu, *rate, at.ticks, rows);
        }
    }

    /// The mean clock rate of the CPU since the event before. Of the first one in the recording the time is not known.
    pub(crate) fn measured<Sink: RowSink>(
        &mut self,
        fields: &MeasuredFields,
        at: &SampleContext<'_>,
        rows: &mut Rows<'_, Sink>,
    ) {
        let khz = at.sample.raw.and_then(|raw| fields.khz.get(raw));
        let Some((khz, cpu)) = khz.zip(at.cpu) else { return count_incomplete(at, rows) };
        let before = self.measured.insert(cpu, at.ticks);
        let Some(before) = before.filter(|before| khz > 0 && *before < at.ticks) else { return };
        let (time, start) = (rows.clock.ns(at.ticks), rows.clock.ns(before));
        let Rate { most, least, .. } = self.rates.get(&cpu).copied().unwrap_or_default();
        let span = Some(time.saturating_sub(start));
        let row = CpuFrequencyRow { time, cpu: cpu.cast_signed(), khz, max_khz: most, min_khz: least, span };
        rows.sink.cpu_frequency(&row);
    }

    /// Events are missing: the next mean clock rate of a CPU may be of less time than since the last event that is there.
    pub(crate) fn lost(&mut self) {
        self.measured.clear();
    }

    /// A CPU enters or leaves an idle state. Gives CPU and state when it enters.
    pub(crate) fn idle<Sink: RowSink>(
        &mut self,
        fields: &PowerFields,
        at: &SampleContext<'_>,
        rows: &mut Rows<'_, Sink>,
    ) -> Option<(u16, i16)> {
        let (state, cpu) = read(fields, at, rows)?;
        if state == LEAVES || state < 0 {
            // The first one of a CPU may have been entered before the recording.
            if let Some((start, state)) = self.idle.remove(&cpu) {
                row(cpu, start, state, at.ticks, rows);
            }
            return None;
        }
        let state = i16::try_from(state).unwrap_or(i16::MAX);
        if self.idle.insert(cpu, (at.ticks, state)).is_some() {
            rows.health.count(HealthKind::IDLE_STATES_WITHOUT_END, Some(at.ticks), || format!("of CPU {cpu}"));
        }
        Some((cpu, state))
    }

    /// The end of the recording, in ticks: who is idle stays so up to there.
    pub(crate) fn finish<Sink: RowSink>(self, end: i64, rows: &mut Rows<'_, Sink>) {
        let mut open: Vec<_> = self.idle.into_iter().collect();
        open.sort_unstable();
        for (cpu, (start, state)) in open {
            row(cpu, start, state, end, rows);
        }
    }
}

fn row<Sink: RowSink>(cpu: u16, start: i64, state: i16, end: i64, rows: &mut Rows<'_, Sink>) {
    let (time, start) = (rows.clock.ns(end), rows.clock.ns(start));
    rows.sink.cpu_idle_state(&CpuIdleStateRow { time, cpu: cpu.cast_signed(), start, state });
}

/// Before the first rate of a CPU its limits wait.
fn rate_row<Sink: RowSink>(cpu: u16, rate: Rate, ticks: i64, rows: &mut Rows<'_, Sink>) {
    if let Rate { khz: Some(khz), most, least } = rate {
        let time = rows.clock.ns(ticks);
        let row = CpuFrequencyRow { time, cpu: cpu.cast_signed(), khz, max_khz: most, min_khz: least, span: None };
        rows.sink.cpu_frequency(&row);
    }
}

fn count_incomplete<Sink: RowSink>(at: &SampleContext<'_>, rows: &mut Rows<'_, Sink>) {
    rows.health.count(HealthKind::INCOMPLETE_POWER_EVENTS, Some(at.ticks), || "without their fields".to_owned());
}

/// State and CPU of a tracepoint.
fn read<Sink: RowSink>(fields: &PowerFields, at: &SampleContext<'_>, rows: &mut Rows<'_, Sink>) -> Option<(i64, u16)> {
    let read = |raw| Some((fields.state.get(raw)?, u16::try_from(fields.cpu.get(raw)?).ok()?));
    let read = at.sample.raw.and_then(read);
    if read.is_none() {
        count_incomplete(at, rows);
    }
    read
}
