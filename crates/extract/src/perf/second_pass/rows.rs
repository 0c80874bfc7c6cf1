//! The state that all handlers of the second pass share.

use tracesift_perf::{Malformed, Record, Sample};
use tracesift_trace::HealthKind;
use tracesift_trace::stacks::Stacks;
use tracesift_trace::{Clock, Health, Population, RowSink, ThreadId};

use super::chain_cache::ChainCache;
use super::sample_context::SampleContext;
use super::stack_ends::StackEnds;
use super::user_stacks::UserStacks;
use crate::perf::time::ticks;

/// The state that rows are made from, and where they go.
pub(crate) struct Rows<'s, Sink> {
    pub(crate) clock: Clock,
    /// The time of the current record, or of the latest before: what comes out of order happens now, so that tables stay
    /// sorted. Without times everything happens at time zero.
    pub(crate) now: i64,
    pub(crate) population: Population,
    pub(crate) stacks: Stacks,
    pub(crate) chains: ChainCache,
    pub(crate) user_stacks: UserStacks,
    pub(crate) stack_ends: StackEnds,
    pub(crate) health: Health,
    pub(crate) sink: &'s mut Sink,
}

impl<Sink: RowSink> Rows<'_, Sink> {
    /// Whom a sample of an event interrupted.
    pub(super) fn context_of<'a>(
        &mut self,
        record: &Record<'_>,
        sample: &'a Sample<'a>,
        event: usize,
    ) -> SampleContext<'a> {
        let ticks = self.now;
        let cpu = sample.cpu.and_then(|cpu| u16::try_from(cpu).ok());
        let thread = self.thread(sample.pid, sample.tid, cpu, ticks);
        let process = self.population.process_of(thread);
        SampleContext {
            event,
            sample,
            chain: record.chain_number(),
            mode: record.cpu_mode(),
            ticks,
            cpu,
            thread,
            process,
        }
    }

    /// The thread that the ids of a record mean. One that ends has lost them, which −1 says.
    pub(super) fn thread(&mut self, pid: Option<i32>, tid: Option<i32>, cpu: Option<u16>, ticks: i64) -> ThreadId {
        let id = |id: Option<i32>| id.and_then(|id| u32::try_from(id).ok());
        match id(tid) {
            Some(tid) => self.population.thread_at(tid, cpu.unwrap_or(0), ticks),
            None => self.population.nameless_thread(id(pid), ticks),
        }
    }

    /// Counts a record that does not decode.
    pub(super) fn undecodable(&mut self, record: &Record<'_>, error: &Malformed) {
        self.health.count(HealthKind::UNDECODABLE_RECORDS, ticks(record), || format!("{:?}: {error}", record.kind()));
    }
}
