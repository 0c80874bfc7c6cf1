//! Rows of samples that no worker could make.

use tracesift_etl::payload::SampledProfile;
use tracesift_trace::RowSink;
use tracesift_trace::ids::{FrameId, ProcessId, StackId, ThreadId};
use tracesift_trace::rows::CpuSampleRow;

use super::SecondPass;
use crate::etl::scheduling::{flags_of_sample, sample};

impl<Sink: RowSink> SecondPass<'_, Sink> {
    pub(super) fn cpu_sample(
        &mut self,
        (ticks, cpu): (i64, u16),
        event: &SampledProfile,
        thread: ThreadId,
        stack: Option<StackId>,
    ) {
        let process = self.population.process_of(thread);
        let is_apart = flags_of_sample(event) != 0 && self.population.is_idle(thread);
        let charged = if is_apart { self.population.interrupts() } else { process };
        let frame = self.lone_frame(stack, process, event.instruction_pointer, ticks);
        let (time, weight) = (self.clock.ns(ticks), self.intervals.at(ticks));
        let row = sample((time, cpu), event, (charged, thread), stack, weight);
        self.rows.sample_behind(self.samples_before, CpuSampleRow { frame, ..row });
    }

    /// The sampled instruction as a frame, for a sample without a stack; `None` where stacks are not looked for.
    pub(super) fn lone_frame(
        &mut self,
        stack: Option<StackId>,
        process: ProcessId,
        address: u64,
        ticks: i64,
    ) -> Option<FrameId> {
        (stack.is_none() && self.has_stacks).then(|| self.stacks.frame(process, address, ticks, self.sink))
    }
}
