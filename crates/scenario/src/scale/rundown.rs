//! The end of the scale file: what its keys, ids and addresses mean.

use std::io::{Seek, Write};

use tracesift_etl::write::WriteError;
use tracesift_etl::write::payload::{FileName, Image, Process, Sid, StackDefinition, Thread};

use super::others::{FILES, file_key};
use super::{
    CPUS, KERNEL_BASE, KERNEL_FRAMES, KERNEL_HALVES, KERNEL_MODULES, MODULE_BYTES, PROCESSES, Recorder, STACKS,
    ScaleFigures, THREADS, USER_BASE, USER_MODULES, address, key_address, pid, process_pid, tid,
};
use crate::rng::SplitMix64;

impl<W: Write + Seek> Recorder<W> {
    pub(super) fn end(mut self) -> Result<ScaleFigures, WriteError> {
        self.ticks += 10_000;
        for cpu in 0..CPUS {
            self.flush_pending(cpu)?;
        }
        self.figures.duration = (self.ticks - self.zero) * 100;
        let end_filetime = self.start_filetime + self.ticks - self.zero;
        self.ticks += 10_000;
        for key in 0..KERNEL_HALVES {
            let frames: [u64; KERNEL_FRAMES] = walk(KERNEL_BASE, KERNEL_MODULES, key);
            StackDefinition { key: key_address(key), frames: &frames }.encode(&mut self.payload);
            self.description((key % u64::from(CPUS)) as u16, StackDefinition::RUNDOWN)?;
        }
        for key in 0..STACKS {
            self.define_user((key % u64::from(CPUS)) as u16, key, StackDefinition::RUNDOWN)?;
        }
        self.processes()?;
        self.threads()?;
        self.files()?;
        self.writer.finish(end_filetime)?;
        Ok(self.figures)
    }

    fn processes(&mut self) -> Result<(), WriteError> {
        for index in 0..PROCESSES + 2 {
            // Idle, System, and the others.
            let (pid, name) = match index.checked_sub(1) {
                None => (0, "Idle".to_owned()),
                Some(0) => (4, "System".to_owned()),
                Some(process) => (process_pid(process), format!("process{process:03}.exe")),
            };
            let command_line =
                if index < 2 { String::new() } else { format!(r#""C:\Program Files\Scale\{name}" -run"#) };
            let payload = Process {
                key: KERNEL_BASE + 0x2000_0000 + u64::from(index) * 0x1000,
                pid,
                parent_pid: 4,
                session: u32::from(index > 100),
                exit_status: 0x103,
                flags: 0,
                user: (index > 0).then_some(Sid::LOCAL_SYSTEM),
                image: &name,
                command_line: &command_line,
                package: "",
                application: "",
            };
            payload.encode(&mut self.payload);
            self.description(0, Process::DC_END)?;
            let (base, count) = match index {
                0 => continue,
                1 => (KERNEL_BASE, KERNEL_MODULES),
                _ => (USER_BASE, USER_MODULES),
            };
            for module in 0..count {
                let path = if index == 1 {
                    format!(r"\SystemRoot\System32\drivers\kernel{module:02}.sys")
                } else {
                    format!(r"\Device\HarddiskVolume3\Windows\System32\module{module:02}.dll")
                };
                let image = Image {
                    base: base + module * MODULE_BYTES,
                    size: MODULE_BYTES,
                    pid: if index == 1 { 0 } else { pid },
                    checksum: module as u32,
                    time_date_stamp: 0x6000_0000 + module as u32,
                    path: &path,
                };
                image.encode(&mut self.payload);
                self.description(0, Image::DC_END)?;
            }
        }
        Ok(())
    }

    fn threads(&mut self) -> Result<(), WriteError> {
        for _ in 0..CPUS {
            Thread::default().encode(&mut self.payload);
            self.description(0, Thread::DC_END)?;
        }
        for thread in 0..THREADS {
            let payload =
                Thread { pid: pid(Some(thread)), tid: tid(Some(thread)), base_priority: 8, ..Thread::default() };
            payload.encode(&mut self.payload);
            self.description(0, Thread::DC_END)?;
        }
        Ok(())
    }

    fn files(&mut self) -> Result<(), WriteError> {
        for file in 0..FILES {
            let path = format!(r"\Device\HarddiskVolume3\ProgramData\Scale\data\segment{file:05}.bin");
            FileName { key: file_key(file), path: &path }.encode(&mut self.payload);
            self.description(0, FileName::RUNDOWN)?;
        }
        Ok(())
    }
}

/// A path through a call graph in which each function calls three others: stacks share their roots as real ones do.
pub(crate) fn walk<const FRAMES: usize>(base: u64, modules: u64, stack: u64) -> [u64; FRAMES] {
    let mut frames = [0; FRAMES];
    let mut choices = SplitMix64::new(stack).next_u64();
    let mut function = 0;
    for (depth, frame) in frames.iter_mut().rev().enumerate() {
        *frame = address(base, modules, function);
        // The roots are the same for all, then paths part more and more.
        let choice = if depth < 4 { 0 } else { choices % 3 };
        choices /= 3;
        function = (function * 3 + 1 + choice + depth as u64) % 4_000;
    }
    frames
}
