//! Who had a CPU.

use tracesift_trace::ThreadId;

use super::leaf::Occupant;

/// Who left each CPU at its switch that passed last: that is who has it before that switch.
#[derive(Clone, Debug, Default)]
pub(super) struct Cpus {
    leaving: Vec<Option<ThreadId>>,
}

impl Cpus {
    #[inline]
    pub(super) fn leaves(&mut self, cpu: i16, thread: Option<ThreadId>) {
        let Ok(cpu) = usize::try_from(cpu) else { return };
        if self.leaving.len() <= cpu {
            self.leaving.resize(cpu + 1, None);
        }
        self.leaving[cpu] = thread;
    }

    pub(super) fn occupant(&self, cpu: i16, is_idle: impl Fn(ThreadId) -> bool) -> Occupant {
        let thread = usize::try_from(cpu).ok().and_then(|cpu| self.leaving.get(cpu).copied().flatten());
        match thread {
            Some(thread) if is_idle(thread) => Occupant::Idle,
            Some(thread) => Occupant::Thread(thread),
            None => Occupant::Unknown,
        }
    }
}
