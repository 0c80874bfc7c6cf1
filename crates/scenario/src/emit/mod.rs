//! Turns a scenario into `.etl` files: events with their stacks, rundown, and what the merge tool adds.

mod events;
mod list;
mod rundown;
mod stacks;

use std::io::Cursor;

use tracesift_etl::format::file_mode;
use tracesift_etl::write::{Clock, CpuNumbering, PointerSize, SessionOptions, WriteError, Writer};

use crate::Scenario;
use crate::machine::Machine;
use list::{RecordList, Target};

/// What a recording says about the processes and threads that were there before or after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rundown {
    /// Listed at the start and at the end.
    #[default]
    Full,
    /// Listed at the end only.
    Late,
    /// Not listed. Each thread that runs writes one mark, whose header says which process it belongs to.
    Missing,
}

/// How stack keys are defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyStyle {
    /// A key is defined when it comes into use; else only when it goes out of use, or at the end.
    pub create: bool,
    /// Keys in use at once, per half; the one used longest ago is deleted and its number used again.
    pub capacity: Option<usize>,
    /// Keys still in use at the end are defined there. Always so where they are not defined at the start.
    pub rundown: bool,
}

/// How stacks are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StackStyle {
    /// Frames in every record.
    Inline,
    /// By key. Kernel and user keys are numbered alike: the same number is in use as both.
    Keys(KeyStyle),
    /// Some inline, some by key.
    Mixed(KeyStyle),
}

/// How a scenario is written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// Ticks at the end of the session.
    pub end_ticks: i64,
    /// Rundown of processes and threads. Images and methods are listed at the end in any case.
    pub rundown: Rundown,
    /// The rundown at the end lies behind the end of the session, as in merged recordings.
    pub rundown_after_end: bool,
    /// Stacks.
    pub stacks: StackStyle,
    /// Interval of the timer source at the start, 100 ns; `None`: not recorded, so that 1 ms holds.
    pub sample_interval: Option<u32>,
    /// Names of the hardware counters in [`crate::Switch::counters`].
    pub counter_names: Vec<String>,
    /// NT paths of the files that disk operations name.
    pub files: Vec<String>,
    /// Bytes of a buffer.
    pub buffer_size: u32,
    /// Compress the buffers.
    pub compress: bool,
    /// Buffer headers of Windows 7.
    pub windows7: bool,
    /// Data buffers that stand at the end although they are the first, as in a circular file. Only where nothing is compressed.
    pub rotate_buffers: usize,
    /// The .NET events stand in a file of their own, `.clrRundown.etl`.
    pub separate_rundown: bool,
    /// Events that the header says were lost.
    pub events_lost: u32,
}

impl Recording {
    /// A plain recording up to `end_ticks`.
    #[must_use]
    pub fn new(end_ticks: i64) -> Self {
        Self {
            end_ticks,
            rundown: Rundown::Full,
            rundown_after_end: false,
            stacks: StackStyle::Inline,
            sample_interval: Some(10_000),
            counter_names: Vec::new(),
            files: Vec::new(),
            buffer_size: 64 * 1024,
            compress: false,
            windows7: false,
            rotate_buffers: 0,
            separate_rundown: false,
            events_lost: 0,
        }
    }
}

/// One file of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// What follows the recording's name in the file name: `.etl`, `.clrRundown.etl`.
    pub suffix: &'static str,
    /// Content.
    pub bytes: Vec<u8>,
}

pub(crate) fn parts(scenario: &Scenario) -> Result<Vec<Part>, WriteError> {
    let mut records = RecordList::new(scenario.machine.pointer_size);
    rundown::system(scenario, &mut records);
    rundown::start(scenario, &mut records);
    events::all(scenario, &mut records);
    stacks::all(scenario, &mut records);
    rundown::end(scenario, &mut records);
    records.sort();
    let mut parts = vec![part(scenario, &records, Target::Main, ".etl")?];
    if scenario.recording.separate_rundown {
        parts.push(part(scenario, &records, Target::Managed, ".clrRundown.etl")?);
    }
    Ok(parts)
}

fn part(scenario: &Scenario, records: &RecordList, target: Target, suffix: &'static str) -> Result<Part, WriteError> {
    let Scenario { machine, recording, .. } = scenario;
    let mut options = session(machine, recording);
    let all = !recording.separate_rundown;
    if target == Target::Managed {
        // The rundown session starts later on the same clock.
        let later = machine.zero_ticks + (recording.end_ticks - machine.zero_ticks) / 2;
        options.zero_ticks = later;
        options.start_filetime = machine.filetime(later);
        options.session_name = "clrRundown".to_owned();
        options.events_lost = 0;
    }
    let mut writer = Writer::create(Cursor::new(Vec::new()), options)?;
    for record in records.iter().filter(|record| all || record.target == target) {
        writer.record_sized(record.cpu, record.ticks, record.pointer_size, &record.head(), record.payload)?;
    }
    let mut bytes = writer.finish(machine.filetime(recording.end_ticks))?.into_inner();
    if !recording.compress {
        rotate(&mut bytes, recording.buffer_size as usize, recording.rotate_buffers);
    }
    Ok(Part { suffix, bytes })
}

fn session(machine: &Machine, recording: &Recording) -> SessionOptions {
    let (numbering, version, build) =
        if recording.windows7 { (CpuNumbering::Byte, (6, 1), 7601) } else { (CpuNumbering::Index, (10, 0), 19_045) };
    let mut mode = if recording.compress { file_mode::RELOG } else { 0 };
    mode |= if recording.rotate_buffers > 0 { file_mode::CIRCULAR } else { file_mode::SEQUENTIAL };
    SessionOptions {
        cpus: machine.cpus,
        frequency: machine.frequency,
        clock: Clock::PerformanceCounter,
        start_filetime: machine.start_filetime,
        boot_filetime: machine.start_filetime - 36_000_000_000,
        zero_ticks: machine.zero_ticks,
        buffer_size: recording.buffer_size,
        pointer_size: machine.pointer_size,
        compress: recording.compress,
        cpu_numbering: numbering,
        log_file_mode: mode,
        events_lost: recording.events_lost,
        buffers_lost: 0,
        os_version: version,
        os_build: build,
        cpu_mhz: 3_000,
        utc_bias_minutes: -120,
        time_zone: "Central European Time".to_owned(),
        session_name: "Relogger".to_owned(),
        log_file_name: "[multiple files]".to_owned(),
    }
}

/// Moves the first data buffers to the end, behind the header buffer that stays.
fn rotate(bytes: &mut [u8], buffer_size: usize, buffers: usize) {
    if let Some(data) = bytes.get_mut(buffer_size..)
        && !data.is_empty()
    {
        let count = data.len() / buffer_size;
        data.rotate_left(buffers % count.max(1) * buffer_size);
    }
}

/// First address of the kernel.
pub(crate) fn kernel_base(pointer_size: PointerSize) -> u64 {
    match pointer_size {
        PointerSize::Four => 0x8000_0000,
        PointerSize::Eight => 0xFFFF_8000_0000_0000,
    }
}
