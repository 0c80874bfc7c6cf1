//! Rows of switches, wake-ups and samples.

use tracesift_etl::payload::{
    ContextSwitch, ReadyThread, SampledProfile, THREAD_STATE_DEFERRED_READY, THREAD_STATE_READY, THREAD_STATE_STANDBY,
    THREAD_STATE_TERMINATED, THREAD_STATE_WAITING, ready_flags, sample_flags as recorded_flags,
};
use tracesift_trace::RowSink;
use tracesift_trace::ids::{FrameId, ProcessId, StackId, ThreadId};
use tracesift_trace::rows::{CpuSampleRow, sample_flags, switch_flags};
use tracesift_trace::switches::{Leave, Ready, Switch};

use super::SecondPass;
use crate::etl::scheduling::{Scheduling, SchedulingEvent};

impl<Sink: RowSink> SecondPass<'_, Sink> {
    /// A decoded record, with its stack.
    pub(super) fn scheduling(&mut self, record: &Scheduling, stack: Option<StackId>) {
        let Scheduling { ticks, cpu, event } = *record;
        match event {
            SchedulingEvent::Switch { event, new, old } => {
                self.switched((ticks, cpu), &event, (new, old), stack, None);
            }
            SchedulingEvent::Ready { event, thread } => self.readied((ticks, cpu), event, thread, stack),
            SchedulingEvent::Sample { event, thread } => self.cpu_sample((ticks, cpu), event, thread, stack),
        }
    }

    pub(super) fn switched(
        &mut self,
        (ticks, cpu): (i64, u16),
        event: &ContextSwitch,
        (new, old): (ThreadId, ThreadId),
        stack: Option<StackId>,
        counters: Option<Vec<i64>>,
    ) {
        let leave = match event.old_thread_state {
            THREAD_STATE_READY | THREAD_STATE_STANDBY | THREAD_STATE_DEFERRED_READY => Leave::Runnable,
            THREAD_STATE_TERMINATED => Leave::Ended,
            _ => Leave::Blocked,
        };
        let waits = event.old_thread_state == THREAD_STATE_WAITING;
        let switch = Switch {
            ticks,
            cpu: Some(cpu),
            new: Some(new),
            old: Some(old),
            leave,
            old_state: Some(event.old_thread_state.cast_signed()),
            wait_reason: waits.then_some(event.old_thread_wait_reason.cast_signed()),
            user_mode_wait: waits && event.waits_in_user_mode(),
            new_priority: Some(event.new_thread_priority),
            old_priority: Some(event.old_thread_priority),
            old_ideal_cpu: Some(i16::from(event.old_thread_ideal_processor)),
            old_remaining_quantum: event.old_thread_remaining_quantum.map(i64::from),
            previous_c_state: event.previous_c_state.map(u8::cast_signed).filter(|_| event.old_thread_id == 0),
            new_wait_ticks: event.new_thread_wait_time.map(i64::from),
            new_stack: stack,
            old_stack: None,
            counters,
        };
        self.calls_at_switch((ticks, cpu), old);
        self.switches.switch(&switch, &mut self.population, &mut self.health, self.sink);
    }

    fn readied(&mut self, (ticks, cpu): (i64, u16), event: ReadyThread, thread: ThreadId, stack: Option<StackId>) {
        let flags = [
            (ready_flags::FROM_DPC, switch_flags::READIED_FROM_DPC),
            (ready_flags::KERNEL_STACK_SWAPPED_OUT, switch_flags::KERNEL_STACK_SWAPPED_OUT),
            (ready_flags::PROCESS_SWAPPED_OUT, switch_flags::PROCESS_SWAPPED_OUT),
            (ready_flags::DIRECT_HAND_OFF, switch_flags::DIRECT_HAND_OFF),
        ];
        let flags = flags.iter().filter(|(bit, _)| event.flags & bit != 0).fold(0, |all, (_, flag)| all | flag);
        self.switches.ready(Ready {
            ticks,
            cpu,
            thread,
            readier: None,
            adjust_reason: Some(event.adjust_reason),
            adjust_increment: Some(event.adjust_increment),
            flags,
            stack,
        });
    }

    fn cpu_sample(
        &mut self,
        (ticks, cpu): (i64, u16),
        event: SampledProfile,
        thread: ThreadId,
        stack: Option<StackId>,
    ) {
        let process = self.population.process_of(thread);
        let mut flags = 0;
        for (bit, flag) in [(recorded_flags::DPC, sample_flags::DPC), (recorded_flags::ISR, sample_flags::ISR)] {
            if event.flags.unwrap_or(0) & bit != 0 {
                flags |= flag;
            }
        }
        let charged =
            if flags != 0 && self.population.is_idle(thread) { self.population.interrupts() } else { process };
        let frame = self.lone_frame(stack, process, event.instruction_pointer, ticks);
        self.sink.cpu_sample(&CpuSampleRow {
            time: self.clock.ns(ticks),
            cpu: i16::try_from(cpu).unwrap_or(i16::MAX),
            process: charged,
            thread,
            weight: self.intervals.at(ticks).saturating_mul(i64::from(event.count)),
            stack,
            frame,
            priority: event.priority().map(u8::cast_signed),
            flags,
        });
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
