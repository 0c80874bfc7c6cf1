//! Class Thread: who leaves a CPU, who gets it, and who made whom ready. The most frequent records of a recording.

use super::reader::{Reader, u32_at};
use super::{Payload, PayloadError};

/// Thread 36 (CSwitch): a CPU goes from one thread to another. The CPU is that of the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextSwitch {
    /// The thread that is switched in; 0 is the idle thread of the CPU.
    pub new_thread_id: u32,
    /// The thread that is switched out; 0 is the idle thread of the CPU.
    pub old_thread_id: u32,
    /// Priority of the new thread.
    pub new_thread_priority: i8,
    /// Priority of the old thread.
    pub old_thread_priority: i8,
    /// C-state that the CPU comes from, when it was idle. Absent in version 1.
    pub previous_c_state: Option<u8>,
    /// Priority boost that the new thread still has to lose; 0 where the system does not fill it. Absent in version 1.
    pub new_thread_priority_decrement: Option<i8>,
    /// Remaining quanta of the new and the old thread; version 1 only.
    pub quanta: Option<(i8, i8)>,
    /// Why the old thread waits; see [`wait_reason_name`](super::wait_reason_name). Valid only in the state Waiting.
    pub old_thread_wait_reason: u8,
    /// Version 2: 0 kernel mode, 1 user mode. Later versions call it flags of the thread; see
    /// [`ContextSwitch::waits_in_user_mode`].
    pub old_thread_wait_mode: i8,
    /// The state that the old thread enters; see [`thread_state_name`](super::thread_state_name).
    pub old_thread_state: u8,
    /// CPU that the old thread would like to run on.
    pub old_thread_ideal_processor: u8,
    /// Clock interrupts that the new thread waited: coarse. Absent in version 1.
    pub new_thread_wait_time: Option<u32>,
    /// Quantum that the old thread had left, in the scheduler's unit; of no meaning on older systems. Absent in version 1.
    pub old_thread_remaining_quantum: Option<u32>,
}

impl ContextSwitch {
    /// Opcode.
    pub const OPCODE: u8 = 36;

    /// Was the old thread's wait begun in user mode? From version 3 on it rests on the assumption that the lowest bit
    /// kept its meaning.
    pub fn waits_in_user_mode(&self) -> bool {
        self.old_thread_wait_mode & 1 != 0
    }
}

impl<'a> Payload<'a> for ContextSwitch {
    #[inline]
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        if version >= 2 {
            let block = reader.block::<24>("context switch")?;
            Ok(Self {
                previous_c_state: Some(block[10]),
                new_thread_priority_decrement: Some(block[11].cast_signed()),
                quanta: None,
                new_thread_wait_time: Some(u32_at(block, 16)),
                old_thread_remaining_quantum: Some(u32_at(block, 20)),
                ..Self::common(block)
            })
        } else {
            reader.block::<16>("context switch").map(Self::common)
        }
    }
}

impl ContextSwitch {
    /// What stands at the same places in all versions; the rest as in version 1.
    #[inline(always)]
    fn common<const N: usize>(block: &[u8; N]) -> Self {
        Self {
            new_thread_id: u32_at(block, 0),
            old_thread_id: u32_at(block, 4),
            new_thread_priority: block[8].cast_signed(),
            old_thread_priority: block[9].cast_signed(),
            previous_c_state: None,
            new_thread_priority_decrement: None,
            quanta: Some((block[10].cast_signed(), block[11].cast_signed())),
            old_thread_wait_reason: block[12],
            old_thread_wait_mode: block[13].cast_signed(),
            old_thread_state: block[14],
            old_thread_ideal_processor: block[15],
            new_thread_wait_time: None,
            old_thread_remaining_quantum: None,
        }
    }
}

/// Bits of [`ReadyThread::flags`].
pub mod ready_flags {
    /// Readied from a deferred procedure call: the readier is that, not the running thread.
    pub const FROM_DPC: u8 = 1;
    /// The thread's kernel stack is swapped out.
    pub const KERNEL_STACK_SWAPPED_OUT: u8 = 2;
    /// The thread's process is swapped out.
    pub const PROCESS_SWAPPED_OUT: u8 = 4;
    /// The readier hands its CPU over directly.
    pub const DIRECT_HAND_OFF: u8 = 8;
}

/// Thread 50 (ReadyThread): a wait ends, the thread may run again. The readier is the thread that runs on the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadyThread {
    /// The thread that becomes ready.
    pub thread_id: u32,
    /// Why its priority is adjusted: 0 not at all, 1 unwait, 2 boost.
    pub adjust_reason: i8,
    /// By how much its priority is raised.
    pub adjust_increment: i8,
    /// See [`ready_flags`].
    pub flags: u8,
}

impl ReadyThread {
    /// Opcode.
    pub const OPCODE: u8 = 50;
}

impl<'a> Payload<'a> for ReadyThread {
    #[inline]
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        let block = reader.block::<8>("ready thread")?;
        Ok(Self {
            thread_id: u32_at(block, 0),
            adjust_reason: block[4].cast_signed(),
            adjust_increment: block[5].cast_signed(),
            flags: block[6],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_1_ends_after_the_ideal_processor() {
        let bytes: Vec<u8> = (0..24).collect();
        let (old, rest) = ContextSwitch::parse_with_rest(&bytes, 1, 4).unwrap();
        assert_eq!(rest.len(), 8);
        assert_eq!((old.quanta, old.previous_c_state), (Some((10, 11)), None));
        for version in [2, 3, 4, 5] {
            let new = ContextSwitch::parse(&bytes, version, 8).unwrap();
            assert_eq!((new.quanta, new.previous_c_state), (None, Some(10)));
            assert_eq!(new.old_thread_remaining_quantum, Some(0x1716_1514));
            assert_eq!(new.old_thread_state, old.old_thread_state);
        }
    }

    #[test]
    fn ready_thread() {
        let ready = ReadyThread::parse(&[0x10, 0x27, 0, 0, 1, 0xFF, 9, 0], 2, 8).unwrap();
        assert_eq!(ready, ReadyThread { thread_id: 10_000, adjust_reason: 1, adjust_increment: -1, flags: 9 });
        assert_eq!(ready.flags, ready_flags::FROM_DPC | ready_flags::DIRECT_HAND_OFF);
    }
}
