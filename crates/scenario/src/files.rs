//! Operations on files that are known, and the events that Windows logs of them: of the class FileIo, or of
//! Microsoft-Windows-Kernel-File. No recording with such events is public, so the events are made from their layouts.

use tracesift_etl::payload::KERNEL_FILE;
use tracesift_etl::write::payload::Bytes;
use tracesift_etl::write::{Hook, PointerSize, SessionOptions, WriteError};

use crate::SplitMix64;
use crate::providers::{KernelRecord, Logged, write_with_kernel};

const MS: i64 = 1_000_000;

/// Seconds that a recording lasts.
pub const SECONDS: i64 = 20;
/// Processes with their names, and a thread of each.
pub const PROCESSES: [(u32, &str, u32); 3] = [(7, "writer.exe", 12), (9, "reader.exe", 20), (11, "scanner.exe", 28)];
/// Files. A rundown names the keys of the first three; of the next two only opens tell the path; the last one is opened by a
/// relative path.
pub const FILES: usize = 6;
const NAMED_BY_KEY: usize = 3;
const OPENED_BY_PATH: usize = 5;
/// NTSTATUS of a name that does not exist, and of the end of a file.
const NOT_FOUND: u32 = 0xC000_0034;
const END_OF_FILE: u32 = 0xC000_0011;

/// The source that logs the operations, with the version of its layouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The class FileIo: 2 or 3.
    Class(u8),
    /// The provider: 0 or 1.
    Provider(u8),
}

/// Kinds of operations that are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file is opened.
    Open,
    /// Bytes are read.
    Read,
    /// Bytes are written.
    Write,
    /// Buffers are flushed.
    Flush,
    /// A directory is listed.
    List,
    /// Information is asked for.
    Query,
    /// The file is deleted; its path comes in an event of its own.
    Delete,
    /// The last handle is closed.
    Cleanup,
    /// The object goes away.
    Close,
}

/// One operation.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// What it is.
    pub kind: Kind,
    /// Process and thread.
    pub by: (u32, u32),
    /// Number of the file.
    pub file: usize,
    /// Address of the request.
    pub irp: u64,
    /// Address of the file object.
    pub object: u64,
    /// Begin, nanoseconds since the start of the recording.
    pub start: i64,
    /// End, bytes and NTSTATUS. `None`: the end is not logged.
    pub end: Option<(i64, u64, u32)>,
    /// Offset and bytes of a transfer.
    pub transfer: (u64, u32),
    /// CPUs of begin and end.
    pub cpus: (u16, u16),
}

/// The path of a file, as the kernel has it; `None`: nothing tells it.
#[must_use]
pub fn path(file: usize) -> Option<String> {
    (file < OPENED_BY_PATH).then(|| format!(r"\Device\HarddiskVolume1\data\file{file}.txt"))
}

/// Random operations, in the order in which they begin.
#[must_use]
pub fn operations(seed: u64) -> Vec<Operation> {
    let mut rng = SplitMix64::new(seed);
    let mut all: Vec<Operation> = Vec::new();
    // When each request is free, and the object that is open for each file.
    let mut free_at = [0_i64; 6];
    let mut objects: [Option<u64>; FILES] = [None; FILES];
    let mut now = 5 * MS;
    for _ in 0..300 {
        now += rng.between(0, 40) * MS + 1_000;
        let Some(place) = free_at.iter().position(|free| *free < now) else { continue };
        let file = rng.index(FILES);
        let kind = match objects[file] {
            None => Kind::Open,
            Some(_) => [
                Kind::Read,
                Kind::Write,
                Kind::Read,
                Kind::Write,
                Kind::Flush,
                Kind::List,
                Kind::Query,
                Kind::Delete,
                Kind::Cleanup,
                Kind::Close,
            ][rng.index(10)],
        };
        // The kernel uses the place of an object again.
        let free = (0..FILES as u64).map(|place| 0x8888_0000 + place * 0x100);
        let object = objects[file].or_else(|| free.into_iter().find(|object| !objects.contains(&Some(*object))));
        let object = object.unwrap_or(0);
        let size = 512 << rng.index(6);
        let has_failed = kind != Kind::Close && rng.chance(20);
        let (bytes, status) = match kind {
            _ if has_failed => (0, if kind == Kind::Read { END_OF_FILE } else { NOT_FOUND }),
            Kind::Read | Kind::Write | Kind::List => (u64::from(size) / 2, 0),
            _ => (1, 0),
        };
        let end = now + rng.between(1, 200) * 100_000;
        let is_logged = !rng.chance(10);
        let (pid, _, tid) = PROCESSES[rng.index(PROCESSES.len())];
        all.push(Operation {
            kind,
            by: (pid, tid),
            file,
            irp: 0x4444_0000 + place as u64 * 0x80,
            object,
            start: now,
            end: is_logged.then_some((end, bytes, status)),
            transfer: (rng.below(1 << 20), size),
            cpus: (rng.below(3) as u16, rng.below(3) as u16),
        });
        free_at[place] = end;
        objects[file] = match kind {
            Kind::Close => None,
            _ => Some(object),
        };
    }
    all
}

/// Writes the operations. Without `has_ends` no end is logged, as in a recording without the keyword for ends.
///
/// # Errors
/// A payload does not fit into a buffer.
pub fn write(
    operations: &[Operation],
    source: Source,
    pointer_size: PointerSize,
    has_ends: bool,
) -> Result<Vec<u8>, WriteError> {
    let (kernel, events) = records(operations, source, pointer_size, has_ends);
    let processes: Vec<(u32, &str)> = PROCESSES.iter().map(|(pid, name, _)| (*pid, *name)).collect();
    let options = SessionOptions { pointer_size, ..SessionOptions::default() };
    write_with_kernel(options, SECONDS, &processes, events, kernel)
}

/// The records of the operations.
pub(crate) fn records(
    operations: &[Operation],
    source: Source,
    pointer_size: PointerSize,
    has_ends: bool,
) -> (Vec<KernelRecord>, Vec<Logged>) {
    let mut log = Log { source, pointer_size, kernel: Vec::new(), events: Vec::new() };
    for file in 0..NAMED_BY_KEY {
        log.name(file);
    }
    for operation in operations {
        log.begin(operation);
        if let Some((time, bytes, status)) = operation.end.filter(|_| has_ends) {
            let mut payload = Bytes::new(pointer_size);
            payload.pointer(operation.irp);
            payload.pointer(bytes);
            payload.u32(status);
            log.put(time, operation.cpus.1, operation.by, (76, 24), payload, 0);
        }
    }
    (log.kernel, log.events)
}

fn key(file: usize) -> u64 {
    0x6666_0000 + file as u64 * 0x40
}

struct Log {
    source: Source,
    pointer_size: PointerSize,
    kernel: Vec<KernelRecord>,
    events: Vec<Logged>,
}

impl Log {
    /// An event by its opcode in the class and its id at the provider.
    fn put(&mut self, time: i64, cpu: u16, by: (u32, u32), (opcode, id): (u8, u16), payload: Bytes, version: u8) {
        let payload = payload.into_vec();
        match self.source {
            Source::Class(class) => {
                let version = if version == 0 && opcode == 76 { 2 } else { class };
                self.kernel.push(KernelRecord { time, cpu, hook: Hook::new(4, opcode, version), caller: by, payload });
            }
            Source::Provider(provider) => {
                let version = if id == 24 || id < 12 { 0 } else { provider };
                let (pid, tid) = by;
                self.events.push(Logged { time, cpu, provider: KERNEL_FILE, id, version, pid, tid, payload });
            }
        }
    }

    /// The class names keys at the end, the provider where they come to life.
    fn name(&mut self, file: usize) {
        let mut payload = Bytes::new(self.pointer_size);
        payload.pointer(key(file));
        payload.utf16(&path(file).unwrap_or_default());
        let time = if matches!(self.source, Source::Class(_)) { (SECONDS * 1000 - 5) * MS } else { MS };
        self.put(time, 0, (4, 8), (36, 10), payload, 2);
    }

    /// Whether the thread stands behind the file object: newer layouts.
    fn is_new(&self) -> bool {
        matches!(self.source, Source::Class(3) | Source::Provider(1))
    }

    /// Request, object, and key where there is one, with the thread at its place and `between` behind them.
    fn head(&self, of: &Operation, key: Option<u64>, between: Option<u64>) -> Bytes {
        let mut payload = Bytes::new(self.pointer_size);
        payload.pointer(of.irp);
        if !self.is_new() {
            payload.pointer(of.by.1.into());
        }
        payload.pointer(of.object);
        key.into_iter().chain(between).for_each(|address| payload.pointer(address));
        if self.is_new() {
            payload.u32(of.by.1);
        }
        payload
    }

    fn begin(&mut self, of: &Operation) {
        let key = key(of.file);
        let simple = self.head(of, Some(key), None);
        let informed = self.head(of, Some(key), Some(0));
        let (codes, mut payload) = match of.kind {
            Kind::Open => ((64, 12), self.head(of, None, None)),
            Kind::Read | Kind::Write => {
                let mut payload = Bytes::new(self.pointer_size);
                payload.u64(of.transfer.0);
                payload.bytes(simple.as_slice());
                (if of.kind == Kind::Read { (67, 15) } else { (68, 16) }, payload)
            }
            Kind::Flush => ((73, 21), simple),
            Kind::Cleanup => ((65, 13), simple),
            Kind::Close => ((66, 14), simple),
            Kind::List => ((72, 20), simple),
            Kind::Query => ((74, 22), informed),
            Kind::Delete => ((70, 18), informed),
        };
        match of.kind {
            Kind::Open => {
                // Open or create; attributes; shared for reading.
                [0x0300_0020, 0x80, 1].into_iter().for_each(|figure| payload.u32(figure));
                payload.utf16(&path(of.file).unwrap_or_else(|| format!(r"file{}.txt", of.file)));
            }
            Kind::Read | Kind::Write => {
                payload.u32(of.transfer.1);
                payload.u32(0x43);
                if self.is_new() {
                    payload.u32(0);
                }
            }
            Kind::List => {
                [of.transfer.1, 3, 0].into_iter().for_each(|figure| payload.u32(figure));
                payload.utf16("*.txt");
            }
            Kind::Query => payload.u32(5),
            Kind::Delete => payload.u32(13),
            Kind::Flush | Kind::Cleanup | Kind::Close => {}
        }
        self.put(of.start, of.cpus.0, of.by, codes, payload, 1);
        if of.kind == Kind::Delete {
            let mut payload = self.head(of, Some(key), Some(0));
            payload.u32(13);
            payload.utf16(&path(of.file).unwrap_or_default());
            self.put(of.start + 10_000, of.cpus.0, of.by, (79, 26), payload, 1);
        }
    }
}
