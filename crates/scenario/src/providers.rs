//! Recordings of events of providers: who logged them, when, with which payload.

use std::io::Cursor;

use tracesift_etl::Guid;
use tracesift_etl::write::payload::{Bytes, Process};
use tracesift_etl::write::{Head, PointerSize, SessionOptions, WriteError, Writer};

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
    mut events: Vec<Logged>,
) -> Result<Vec<u8>, WriteError> {
    events.sort_by_key(|event| event.time);
    let cpus = events.iter().map(|event| event.cpu + 1).max().unwrap_or(1);
    let options = SessionOptions { cpus, ..options };
    let pointer_size = options.pointer_size;
    let (zero, frequency, start) = (options.zero_ticks, options.frequency, options.start_filetime);
    let mut out = Writer::create(Cursor::new(Vec::new()), options)?;
    for (pid, image) in processes {
        let process = Process {
            key: 0x8000_0000 + u64::from(*pid),
            pid: *pid,
            parent_pid: 4,
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
        let head = Head::System { hook: Process::DC_START, pid: 4, tid: 8 };
        out.record(0, zero, &head, payload.as_slice())?;
    }
    for event in &events {
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
        let ticks = (i128::from(event.time) * i128::from(frequency) / 1_000_000_000) as i64;
        out.record(event.cpu, zero + ticks, &head, &event.payload)?;
    }
    Ok(out.finish(start + seconds * 10_000_000)?.into_inner())
}
