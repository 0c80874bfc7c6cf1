//! Class PerfInfo: deferred procedure calls, interrupts and system calls. None of them names a thread: each ran on the CPU
//! of its buffer, on top of whatever ran there.

use super::reader::{Reader, u16_at};
use super::{Payload, PayloadError};

/// PerfInfo 66 (threaded), 68 (ordinary), 69 (timer): a deferred procedure call ended at the record's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeferredProcedureCall {
    /// When it began, in the session's clock.
    pub initial_time: u64,
    /// Address of the routine.
    pub routine: u64,
}

impl DeferredProcedureCall {
    /// Opcode: a DPC that runs in a thread.
    pub const THREADED: u8 = 66;
    /// Opcode: an ordinary DPC.
    pub const ORDINARY: u8 = 68;
    /// Opcode: a DPC of an expired timer.
    pub const TIMER: u8 = 69;
}

impl<'a> Payload<'a> for DeferredProcedureCall {
    #[inline]
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self { initial_time: reader.u64("DPC start time")?, routine: reader.pointer("DPC routine")? })
    }
}

/// PerfInfo 67 (line-based), 95 (passive level), 50 (message-signalled): an interrupt service routine ended at the record's
/// time; versions 1 and 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterruptService {
    /// When it began, in the session's clock.
    pub initial_time: u64,
    /// Address of the routine.
    pub routine: u64,
    /// Not 0: the routine claimed the interrupt as its device's.
    pub return_value: u32,
    /// Interrupt vector. From version 2 on.
    pub vector: Option<u16>,
    /// Number of the message. Message-signalled interrupts only: the field is what is left behind the others.
    pub message_number: Option<u32>,
}

impl InterruptService {
    /// Opcode: a message-signalled interrupt.
    pub const MESSAGE_SIGNALLED: u8 = 50;
    /// Opcode: a line-based interrupt.
    pub const LINE_BASED: u8 = 67;
    /// Opcode: an interrupt handled at passive level.
    pub const PASSIVE: u8 = 95;
}

impl<'a> Payload<'a> for InterruptService {
    #[inline]
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        let initial_time = reader.u64("ISR start time")?;
        let routine = reader.pointer("ISR routine")?;
        let block = reader.block::<4>("ISR result")?;
        let (return_value, vector) = if version >= 2 {
            (u32::from(block[0]), Some(u16_at(block, 1)))
        } else {
            (u32::from_le_bytes(*block), None)
        };
        let message_number = reader.optional(|r| r.u32("message number"));
        Ok(Self { initial_time, routine, return_value, vector, message_number })
    }
}

/// PerfInfo 96 (interrupt), 97 (interrupt at passive level), 98 (deferred procedure call): the driver framework calls the routine of a
/// driver. The routine of the framework itself has an event of its own, and calls this one meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameworkRoutine {
    /// Address of the driver's routine.
    pub routine: u64,
}

impl FrameworkRoutine {
    /// Opcode: an interrupt.
    pub const INTERRUPT: u8 = 96;
    /// Opcode: an interrupt that is handled at passive level.
    pub const PASSIVE: u8 = 97;
    /// Opcode: a deferred procedure call.
    pub const DPC: u8 = 98;
}

impl<'a> Payload<'a> for FrameworkRoutine {
    #[inline]
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self { routine: reader.pointer("framework routine")? })
    }
}

/// PerfInfo 100: a deferred procedure call is queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DpcEnqueue {
    /// What is queued: the same value in the event of its execution.
    pub key: u64,
}

impl DpcEnqueue {
    /// Opcode.
    pub const OPCODE: u8 = 100;
}

impl<'a> Payload<'a> for DpcEnqueue {
    #[inline]
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self { key: reader.pointer("DPC key")? })
    }
}

/// PerfInfo 101: a queued deferred procedure call is taken from the queue to be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DpcExecution {
    /// Address of the routine.
    pub routine: u64,
    /// What was queued.
    pub key: u64,
}

impl DpcExecution {
    /// Opcode.
    pub const OPCODE: u8 = 101;
}

impl<'a> Payload<'a> for DpcExecution {
    #[inline]
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self { routine: reader.pointer("DPC routine")?, key: reader.pointer("DPC key")? })
    }
}

/// PerfInfo 51 (SysClEnter): the running thread enters a system call.
///
/// Decoded, not used by tracesift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemCallEnter {
    /// Address of the system service's routine.
    pub routine: u64,
}

impl SystemCallEnter {
    /// Opcode.
    pub const OPCODE: u8 = 51;
}

impl<'a> Payload<'a> for SystemCallEnter {
    #[inline]
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self { routine: reader.pointer("system call routine")? })
    }
}

/// PerfInfo 52 (SysClExit): the running thread leaves its system call.
///
/// Decoded, not used by tracesift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemCallExit {
    /// NTSTATUS that the call returns.
    pub status: u32,
}

impl SystemCallExit {
    /// Opcode.
    pub const OPCODE: u8 = 52;
}

impl<'a> Payload<'a> for SystemCallExit {
    #[inline]
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self { status: reader.u32("system call status")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn isr_versions_and_pointer_sizes() {
        let time = 0x1122_3344_5566_7788_u64.to_le_bytes();
        for (pointer, size) in [(&0x8000_1000_u64.to_le_bytes()[..4], 4), (&0xFFFF_F800_0000_1000_u64.to_le_bytes(), 8)]
        {
            let mut payload = [&time, pointer, &[1, 0xB1, 0x02, 0]].concat();
            assert_eq!(payload.len(), if size == 4 { 16 } else { 20 });
            let isr = InterruptService::parse(&payload, 2, size).unwrap();
            assert_eq!((isr.return_value, isr.vector, isr.message_number), (1, Some(0x2B1), None));
            let isr = InterruptService::parse(&payload, 1, size).unwrap();
            assert_eq!((isr.return_value, isr.vector), (0x0002_B101, None));

            payload.extend(3_u32.to_le_bytes());
            let isr = InterruptService::parse(&payload, 2, size).unwrap();
            assert_eq!((isr.vector, isr.message_number), (Some(0x2B1), Some(3)));

            let dpc = DeferredProcedureCall::parse(&payload, 2, size).unwrap();
            assert_eq!((dpc.initial_time, dpc.routine), (isr.initial_time, isr.routine));
        }
    }

    #[test]
    fn queues_and_frameworks() {
        for (pointers, size) in
            [(&[1, 2, 3, 4, 5, 6, 7, 8][..], 4_u8), (&[1, 2, 3, 4, 0, 0, 0, 0x80, 5, 6, 7, 8, 0, 0, 0, 0x80], 8)]
        {
            let high = if size == 8 { 0x8000_0000_0000_0000 } else { 0 };
            let execution = DpcExecution::parse(pointers, 0, size).unwrap();
            assert_eq!((execution.routine, execution.key), (high | 0x0403_0201, high | 0x0807_0605));
            assert_eq!(DpcEnqueue::parse(pointers, 0, size).unwrap().key, high | 0x0403_0201);
            assert_eq!(FrameworkRoutine::parse(pointers, 2, size).unwrap().routine, high | 0x0403_0201);
            assert!(DpcExecution::parse(&pointers[..pointers.len() - 1], 0, size).is_err());
        }
    }

    #[test]
    fn system_calls() {
        assert_eq!(SystemCallEnter::parse(&[0, 0x10, 0, 0x80], 2, 4).unwrap().routine, 0x8000_1000);
        assert_eq!(SystemCallExit::parse(&[0x34, 0, 0, 0xC0], 2, 8).unwrap().status, 0xC000_0034);
    }
}
