//! Recordings of events of providers: who logged them, when, with which payload.

use std::io::Cursor;

use tracesift_etl::Guid;
use tracesift_etl::write::payload::{Bytes, Process};
use tracesift_etl::write::{Head, Hook, PointerSize, SessionOptions, WriteError, Writer};

/// One event of a provider.
#[derive(Clone, Debug)]
pub struct Logged {
    /// Nanoseconds since the start of the recording.
    pub time: i64,
    /// CPU.
    pub cpu: u16,
    /// The provider.
    pub provider: Guid,
    /// Event id.
    pub id: u16,
    /// Version of the layout.
    pub version: u8,
    /// Process that logged it.
    pub pid: u32,
    /// Thread that logged it.
    pub tid: u32,
    /// The payload.
    pub payload: Vec<u8>,
}

/// One record of the kernel.
#[derive(Clone, Debug)]
pub struct KernelRecord {
    /// Nanoseconds since the start of the recording.
    pub time: i64,
    /// CPU.
    pub cpu: u16,
    /// Class, opcode and version.
    pub hook: Hook,
    /// Process and thread of the header.
    pub caller: (u32, u32),
    /// The payload.
    pub payload: Vec<u8>,
}

/// Writes a recording of `seconds` with these events, in any order, and with processes that ran from its start: pid and name.
///
/// # Errors
/// A payload does not fit into a buffer.
pub fn write(
    pointer_size: PointerSize,
    seconds: i64,
    processes: &[(u32, &str)],
    events: Vec<Logged>,
) -> Result<Vec<u8>, WriteError> {
    write_session(SessionOptions { pointer_size, ..SessionOptions::default() }, seconds, processes, events)
}

/// The same as a session with these options, but for the number of CPUs: the events name them.
///
/// # Errors
/// A payload does not fit into a buffer.
pub fn write_session(
    options: SessionOptions,
    seconds: i64,
    processes: &[(u32, &str)],
    events: Vec<Logged>,
) -> Result<Vec<u8>, WriteError> {
    write_with_kernel(options, seconds, processes, events, Vec::new())
}

/// The same with records of the kernel.
///
/// # Errors
/// A payload does not fit into a buffer.
pub fn write_with_kernel(
    options: SessionOptions,
    seconds: i64,
    processes: &[(u32, &str)],
    mut events: Vec<Logged>,
    mut kernel: Vec<KernelRecord>,
) -> Result<Vec<u8>, WriteError> {
    events.sort_by_key(|event| event.time);
    kernel.sort_by_key(|record| record.time);
    let cpus = events.iter().map(|event| event.cpu + 1);
    let cpus = cpus.chain(kernel.iter().map(|record| record.cpu + 1)).max().unwrap_or(1);
    let options = SessionOptions { cpus, ..options };
    let pointer_size = options.pointer_size;
    let (zero, frequency, start) = (options.zero_ticks, options.frequency, options.start_filetime);
    let mut out = Writer::create(Cursor::new(Vec::new()), options)?;
    for (pid, image) in processes {
        let head = Head::System { hook: Process::DC_START, pid: 4, tid: 8 };
        out.record(0, zero, &head, &process_payload(pointer_size, *pid, 4, image))?;
    }
    let ticks = |time: i64| zero + (i128::from(time) * i128::from(frequency) / 1_000_000_000) as i64;
    let mut kernel = kernel.iter().peekable();
    let mut put_kernel = |out: &mut Writer<Cursor<Vec<u8>>>, before: i64| {
        while let Some(record) = kernel.next_if(|record| record.time < before) {
            let head = Head::System { hook: record.hook, pid: record.caller.0, tid: record.caller.1 };
            out.record(record.cpu, ticks(record.time), &head, &record.payload)?;
        }
        Ok::<(), WriteError>(())
    };
    for event in &events {
        put_kernel(&mut out, event.time)?;
        let head = Head::Event {
            provider: event.provider,
            id: event.id,
            version: event.version,
            channel: 0,
            level: 4,
            opcode: 0,
            task: 0,
            keyword: 0x8000_0000_0000_0000_u64,
            activity: Guid::from_u128(0),
            pid: event.pid,
            tid: event.tid,
            extended: &[],
        };
        out.record(event.cpu, ticks(event.time), &head, &event.payload)?;
    }
    put_kernel(&mut out, i64::MAX)?;
    Ok(out.finish(start + seconds * 10_000_000)?.into_inner())
}

/// The payload of a record about a process.
#[must_use]
pub fn process_payload(pointer_size: PointerSize, pid: u32, parent_pid: u32, image: &str) -> Vec<u8> {
    let process = Process {
        key: 0x8000_0000 + u64::from(pid),
        pid,
        parent_pid,
        session: 1,
        exit_status: 0x103,
        flags: 0,
        user: None,
        image,
        command_line: image,
        package: "",
        application: "",
    };
    let mut payload = Bytes::new(pointer_size);
    process.encode(&mut payload);
    payload.into_vec()
}
