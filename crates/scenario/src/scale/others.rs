//! The quarter of the scale file that is neither scheduling nor sampling.

use std::collections::VecDeque;
use std::io::{Seek, Write};

use tracesift_etl::Guid;
use tracesift_etl::write::payload::{DiskInit, DiskTransfer, FileTransfer, HardFault};
use tracesift_etl::write::{Head, Hook, WriteError};

use super::{KERNEL_BASE, Recorder, pid, tid};

/// Files that are read and written.
pub(super) const FILES: u64 = 3_000;
/// Disk requests that are on their way, at most.
const REQUESTS: usize = 256;
/// Ticks in a microsecond.
const TICKS_PER_US: u64 = 10;
const PROVIDER: Guid = Guid::from_u128(0x5ca1_e000_0000_4000_8000_0000_0000_0001);
const DPC: Hook = Hook::new(15, 68, 2);

/// Kinds of other events, in turn: file reads and writes most, as in real recordings.
const TURNS: [Kind; 25] = {
    use Kind::{Disk, File, Interrupt, PageFault, Provider};
    [
        File, Disk, Provider, File, Disk, File, PageFault, Disk, File, Provider, Disk, File, Interrupt, Disk, File,
        Provider, Disk, File, PageFault, Disk, File, Provider, Disk, File, Interrupt,
    ]
};

#[derive(Clone, Copy, Debug)]
enum Kind {
    File,
    Disk,
    PageFault,
    Interrupt,
    Provider,
}

/// What goes on beside scheduling.
#[derive(Debug, Default)]
pub(super) struct Others {
    turn: usize,
    /// Request packet, thread and start of each disk request on its way.
    requests: VecDeque<(u64, u32, i64)>,
}

/// Key of a file.
pub(super) fn file_key(file: u64) -> u64 {
    0xFFFF_C00F_0000_0000 + file * 0x150
}

impl<W: Write + Seek> Recorder<W> {
    pub(super) fn other(&mut self, cpu: u16) -> Result<(), WriteError> {
        self.figures.others += 1;
        let kind = TURNS[self.others.turn % TURNS.len()];
        self.others.turn += 1;
        match kind {
            Kind::File => self.file(cpu),
            Kind::Disk => self.disk(cpu),
            Kind::PageFault => self.page_fault(cpu),
            Kind::Interrupt => self.interrupt(cpu),
            Kind::Provider => self.provider(cpu),
        }
    }

    fn system(&mut self, cpu: u16, hook: Hook) -> Result<(), WriteError> {
        let thread = self.cpus[usize::from(cpu)].running;
        let head = Head::System { hook, pid: pid(thread), tid: tid(thread) };
        self.writer.record(cpu, self.ticks, &head, self.payload.as_slice())?;
        self.payload.clear();
        Ok(())
    }

    fn file(&mut self, cpu: u16) -> Result<(), WriteError> {
        let key = file_key(self.rng.below(FILES));
        let transfer = FileTransfer {
            offset: self.rng.below(1 << 20) << 12,
            irp: self.request(),
            file_object: key ^ 0xF000,
            file_key: key,
            tid: tid(self.cpus[usize::from(cpu)].running),
            size: 4096 << self.rng.below(5),
            irp_flags: 0x0006_0900,
        };
        transfer.encode(&mut self.payload);
        let write = self.rng.chance(30);
        self.system(cpu, if write { FileTransfer::WRITE } else { FileTransfer::READ })
    }

    /// A request goes out, or the oldest one is done.
    fn disk(&mut self, cpu: u16) -> Result<(), WriteError> {
        let full = self.others.requests.len() >= REQUESTS;
        if !full && (self.others.requests.is_empty() || self.rng.chance(51)) {
            let (irp, thread) = (self.request(), tid(self.cpus[usize::from(cpu)].running));
            self.others.requests.push_back((irp, thread, self.ticks));
            DiskInit { irp, tid: thread }.encode(&mut self.payload);
            return self.system(cpu, DiskInit::READ);
        }
        let Some((irp, tid, start)) = self.others.requests.pop_front() else { return Ok(()) };
        let transfer = DiskTransfer {
            disk: 0,
            irp_flags: 0x0006_0043,
            size: 4096 << self.rng.below(5),
            offset: self.rng.below(1 << 27) << 12,
            file_key: file_key(self.rng.below(FILES)),
            irp,
            response_ticks: (self.ticks - start).cast_unsigned(),
            tid,
        };
        transfer.encode(&mut self.payload);
        self.system(cpu, DiskTransfer::READ)
    }

    fn page_fault(&mut self, cpu: u16) -> Result<(), WriteError> {
        let fault = HardFault {
            start: self.ticks - self.rng.below(500 * TICKS_PER_US).cast_signed(),
            offset: self.rng.below(1 << 16) << 12,
            address: 0x0000_0200_0000_0000 + (self.rng.below(1 << 24) << 12),
            file_key: file_key(self.rng.below(FILES)),
            tid: tid(self.cpus[usize::from(cpu)].running),
            size: 4096,
        };
        fault.encode(&mut self.payload);
        self.system(cpu, HardFault::HOOK)
    }

    fn interrupt(&mut self, cpu: u16) -> Result<(), WriteError> {
        self.payload.i64(self.ticks - 30);
        self.payload.pointer(KERNEL_BASE + 0x1000 + self.rng.below(40) * 0x100);
        self.perfinfo(cpu, DPC)
    }

    /// An event of a manifest provider with numbers and a text.
    fn provider(&mut self, cpu: u16) -> Result<(), WriteError> {
        let thread = self.cpus[usize::from(cpu)].running;
        let number = self.rng.below(10_000);
        self.payload.u32(number as u32);
        self.payload.u64(self.rng.below(u64::MAX));
        self.payload.utf16(&format!("request {number} of the scale provider"));
        let head = Head::Event {
            provider: PROVIDER,
            id: 1 + (number % 20) as u16,
            version: 0,
            channel: 16,
            level: 4,
            opcode: 0,
            task: 1,
            keyword: 0x8000_0000_0000_0001,
            activity: Guid::default(),
            pid: pid(thread),
            tid: tid(thread),
            extended: &[],
        };
        self.writer.record(cpu, self.ticks, &head, self.payload.as_slice())?;
        self.payload.clear();
        Ok(())
    }

    fn request(&mut self) -> u64 {
        0xFFFF_E00F_0000_0000 + self.rng.below(1 << 20) * 0x1C0
    }
}
