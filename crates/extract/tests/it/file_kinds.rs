//! Operations on files of kinds that the scenario does not have, written byte by byte in both pointer sizes and all layouts.

use tracesift_etl::payload::KERNEL_FILE;
use tracesift_etl::write::payload::Bytes;
use tracesift_etl::write::{Hook, PointerSize, SessionOptions};
use tracesift_scenario::files::Source;
use tracesift_scenario::providers::{KernelRecord, Logged, write_with_kernel};
use tracesift_testing::recording::{Extracted, Recording};
use tracesift_trace::rows::{FileIoRow, FileRow, ThreadRow, file_operations as operations};

const SOURCES: [Source; 4] = [Source::Class(2), Source::Class(3), Source::Provider(0), Source::Provider(1)];
const POINTERS: [PointerSize; 2] = [PointerSize::Four, PointerSize::Eight];
const MS: i64 = 1_000_000;
const NOT_FOUND: u32 = 0xC000_0034;

const OLD: &str = r"\Device\HarddiskVolume3\old.txt";
const NEW: &str = r"\Device\HarddiskVolume3\new.txt";
const LINK: &str = r"\Device\HarddiskVolume3\link.txt";

/// What an event has behind the request, the file and the thread.
#[derive(Clone, Copy)]
enum Behind {
    /// Kind of information.
    Information(u32),
    /// The same, and a path.
    Path(u32, &'static str),
    /// Length, kind of information, index, and a text.
    Directory(u32, u32, &'static str),
    /// Options, attributes, sharing, and a path; an open has no key.
    Open(&'static str),
}

/// An operation: its events by opcode of the class and id of the provider (0: none there), and what its row says.
struct Kind {
    events: &'static [(u8, u16, Behind)],
    operation: i8,
    info_class: Option<i64>,
    size: Option<i64>,
    path: Option<&'static str>,
    /// Version 0 of the provider has it.
    is_old: bool,
}

const fn informed(events: &'static [(u8, u16, Behind)], operation: i8, class: i64) -> Kind {
    Kind { events, operation, info_class: Some(class), size: None, path: None, is_old: true }
}

const fn newer(events: &'static [(u8, u16, Behind)], operation: i8, class: i64) -> Kind {
    Kind { is_old: false, ..informed(events, operation, class) }
}

const KINDS: &[Kind] = &[
    informed(&[(69, 17, Behind::Information(20))], operations::SET, 20),
    informed(&[(75, 23, Behind::Information(0x9_00A8))], operations::CONTROL, 0x9_00A8),
    Kind { size: Some(4096), ..informed(&[(77, 25, Behind::Directory(4096, 1, "watched"))], operations::WAIT, 1) },
    Kind {
        path: Some(NEW),
        ..informed(&[(71, 19, Behind::Information(10)), (80, 27, Behind::Path(10, NEW))], operations::RENAME, 10)
    },
    informed(&[(0, 29, Behind::Information(65))], operations::RENAME, 65),
    Kind {
        path: Some(LINK),
        ..informed(&[(82, 0, Behind::Information(11)), (81, 28, Behind::Path(11, LINK))], operations::CREATE, 11)
    },
    Kind {
        path: Some(OLD),
        info_class: None,
        ..informed(&[(0, 12, Behind::Open(OLD)), (0, 30, Behind::Open(OLD))], operations::OPEN, 0)
    },
    newer(&[(83, 31, Behind::Information(4))], operations::SET_SECURITY, 4),
    newer(&[(84, 32, Behind::Information(7))], operations::QUERY_SECURITY, 7),
    newer(&[(85, 33, Behind::Information(0))], operations::EXTENDED_ATTRIBUTES, 0),
    newer(&[(86, 34, Behind::Information(0))], operations::EXTENDED_ATTRIBUTES, 0),
];

/// Process and thread.
const BY: (u32, u32) = (700, 704);

/// A recording that grows.
struct Log {
    source: Source,
    pointers: PointerSize,
    kernel: Vec<KernelRecord>,
    events: Vec<Logged>,
}

impl Log {
    fn new(source: Source, pointers: PointerSize) -> Self {
        Self { source, pointers, kernel: Vec::new(), events: Vec::new() }
    }

    fn put(&mut self, time: i64, (opcode, id): (u8, u16), version: Option<u8>, payload: Bytes) {
        let payload = payload.into_vec();
        match self.source {
            Source::Class(class) => {
                let hook = Hook::new(4, opcode, version.map_or(class, |_| 2));
                self.kernel.push(KernelRecord { time, cpu: 0, hook, caller: BY, payload });
            }
            Source::Provider(of) => {
                let version = version.unwrap_or(of);
                self.events.push(Logged {
                    time,
                    cpu: 0,
                    provider: KERNEL_FILE,
                    id,
                    version,
                    pid: BY.0,
                    tid: BY.1,
                    payload,
                });
            }
        }
    }

    fn begin(&mut self, time: i64, irp: u64, codes: (u8, u16), behind: Behind) {
        let is_new = matches!(self.source, Source::Class(3) | Source::Provider(1));
        let mut payload = Bytes::new(self.pointers);
        payload.pointer(irp);
        if !is_new {
            payload.pointer(BY.1.into());
        }
        payload.pointer(irp + 0x8000);
        if !matches!(behind, Behind::Open(_)) {
            payload.pointer(irp + 0xF000);
        }
        if matches!(behind, Behind::Information(_) | Behind::Path(..)) {
            payload.pointer(1);
        }
        if is_new {
            payload.u32(BY.1);
        }
        match behind {
            Behind::Information(class) => payload.u32(class),
            Behind::Path(class, path) => {
                payload.u32(class);
                payload.utf16(path);
            }
            Behind::Directory(length, class, text) => {
                [length, class, 0].into_iter().for_each(|figure| payload.u32(figure));
                payload.utf16(text);
            }
            Behind::Open(path) => {
                [0x0200_0000, 0x80, 0].into_iter().for_each(|figure| payload.u32(figure));
                payload.utf16(path);
            }
        }
        self.put(time, codes, None, payload);
    }

    fn end(&mut self, time: i64, irp: u64, status: u32) {
        let mut payload = Bytes::new(self.pointers);
        payload.pointer(irp);
        payload.pointer(99);
        payload.u32(status);
        self.put(time, (76, 24), Some(0), payload);
    }

    fn extract(self) -> Extracted {
        let options = SessionOptions { pointer_size: self.pointers, ..SessionOptions::default() };
        let bytes = write_with_kernel(options, 2, &[(BY.0, "app.exe")], self.events, self.kernel).expect("a recording");
        Recording::of("kinds.etl", &bytes).extract()
    }
}

/// Begin and end, operation, kind of information and size, path, status.
type Plain = (i64, i64, i8, (Option<i64>, Option<i64>), Option<String>, Option<i64>);

fn rows(extracted: &Extracted) -> Vec<Plain> {
    let paths: Vec<FileRow> = extracted.archive.rows().expect("files");
    let threads: Vec<ThreadRow> = extracted.archive.rows().expect("threads");
    let rows: Vec<FileIoRow> = extracted.archive.rows().expect("operations");
    let plain = |row: FileIoRow| {
        assert_eq!(threads[row.thread.index()].tid, i64::from(BY.1));
        assert_eq!((row.open == Some(true), row.transferred), (row.status.is_none(), None));
        let path = row.file.map(|file| paths[file.index()].path.clone());
        (row.start, row.time, row.operation, (row.info_class, row.size), path, row.status)
    };
    rows.into_iter().map(plain).collect()
}

#[test]
fn each_kind_has_its_row() {
    for (source, pointers) in SOURCES.into_iter().flat_map(|source| POINTERS.map(|pointers| (source, pointers))) {
        let is_class = matches!(source, Source::Class(_));
        let mut log = Log::new(source, pointers);
        let mut expected: Vec<Plain> = Vec::new();
        for (number, kind) in (0_i64..).zip(KINDS) {
            let is_here = |(opcode, id, _): &&(u8, u16, Behind)| if is_class { *opcode != 0 } else { *id != 0 };
            let events: Vec<_> = kind.events.iter().filter(is_here).collect();
            if events.is_empty() || !kind.is_old && matches!(source, Source::Provider(0)) {
                continue;
            }
            let (irp, start) = (0x4444_0000 + number as u64 * 0x100, (number + 1) * 10 * MS);
            for (later, (opcode, id, behind)) in (0..).zip(events) {
                log.begin(start + later * 10_000, irp, (*opcode, *id), *behind);
            }
            let status = if number % 2 == 0 { 0 } else { NOT_FOUND };
            log.end(start + 5 * MS, irp, status);
            let path = kind.path.map(str::to_owned);
            let figures = (kind.info_class, kind.size);
            expected.push((start, start + 5 * MS, kind.operation, figures, path, Some(status.into())));
        }
        assert!(expected.len() >= 7, "{source:?}");
        let extracted = log.extract();
        assert_eq!(rows(&extracted), expected, "{source:?} {pointers:?} {:?}", extracted.report.health);
        for kind in ["undecodable_payload", "file_operations_without_end", "file_operation_ends_without_start"] {
            assert_eq!(extracted.report.health.get(kind), 0, "{kind}: {source:?} {pointers:?}");
        }
    }
}

/// Nobody documents these: other lengths are not guessed at.
#[test]
fn security_of_another_length_has_no_row() {
    for pointers in POINTERS {
        let mut log = Log::new(Source::Class(3), pointers);
        for opcode in 83..=86 {
            let irp = 0x4444_0000 + u64::from(opcode) * 0x100;
            log.begin(i64::from(opcode) * MS, irp, (opcode, 0), Behind::Path(4, "?"));
            log.end(i64::from(opcode) * MS + 1_000, irp, 0);
        }
        let extracted = log.extract();
        assert_eq!(extracted.archive.row_count::<FileIoRow>(), 0);
        assert_eq!(extracted.report.health.get("undecodable_payload"), 0, "{:?}", extracted.report.health);
        assert_eq!(extracted.report.health.get("file_operation_ends_without_start"), 4);
    }
}

/// A driver opens a file of its own while an open is under way, and again with the same request.
#[test]
fn a_request_inside_of_another_one_has_its_own_end() {
    for (source, pointers) in SOURCES.into_iter().flat_map(|source| POINTERS.map(|pointers| (source, pointers))) {
        let (outer, inner) = (0x4444_0000, 0x4444_0100);
        let open = (64, 12);
        let mut log = Log::new(source, pointers);
        log.begin(10 * MS, outer, open, Behind::Open(NEW));
        log.begin(11 * MS, inner, open, Behind::Open(OLD));
        log.end(12 * MS, inner, NOT_FOUND);
        log.begin(13 * MS, inner, open, Behind::Open(LINK));
        log.end(14 * MS, inner, 0);
        // The end of this one was lost.
        log.begin(15 * MS, inner, open, Behind::Open(OLD));
        log.begin(16 * MS, inner, open, Behind::Open(OLD));
        log.end(20 * MS, outer, 0);
        log.end(21 * MS, inner, 0);
        let row = |start: i64, time: i64, path: &str, status: Option<u32>| -> Plain {
            let status = status.map(i64::from);
            (start * MS, time * MS, operations::OPEN, (None, None), Some(path.to_owned()), status)
        };
        let expected = [
            row(11, 12, OLD, Some(NOT_FOUND)),
            row(13, 14, LINK, Some(0)),
            row(15, 16, OLD, None),
            row(10, 20, NEW, Some(0)),
            row(16, 21, OLD, Some(0)),
        ];
        let extracted = log.extract();
        assert_eq!(rows(&extracted), expected, "{source:?} {pointers:?}");
        assert_eq!(extracted.report.health.get("file_operations_without_end"), 1);
    }
}

/// Both tell of the same operations: the class has the rows.
#[test]
fn of_two_sources_one_has_rows() {
    for pointers in POINTERS {
        let mut both = Log::new(Source::Class(3), pointers);
        let mut provider = Log::new(Source::Provider(1), pointers);
        for log in [&mut both, &mut provider] {
            log.begin(10 * MS, 0x4444_0000, (64, 12), Behind::Open(NEW));
            log.end(15 * MS, 0x4444_0000, 0);
            log.begin(20 * MS, 0x4444_0000, (69, 17), Behind::Information(20));
            log.end(25 * MS, 0x4444_0000, NOT_FOUND);
        }
        both.events = provider.events;
        let extracted = both.extract();
        let opened = (10 * MS, 15 * MS, operations::OPEN, (None, None), Some(NEW.to_owned()), Some(0));
        // The object was opened by this path.
        let set = (20 * MS, 25 * MS, operations::SET, (Some(20), None), Some(NEW.to_owned()), Some(NOT_FOUND.into()));
        assert_eq!(rows(&extracted), [opened, set]);
        assert_eq!(extracted.report.health.get("other_file_source"), 4, "{:?}", extracted.report.health);
    }
}
