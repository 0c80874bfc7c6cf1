//! Handles, objects and views: the rows of events that are made from their layouts, against the lives that were written.

use tracesift_etl::write::payload::{Bytes, Process, Stack};
use tracesift_etl::write::{Hook, PointerSize, SessionOptions};
use tracesift_scenario::handles::{Ends, KernelHandle, Made, SECONDS, SessionHandle, Story, TYPES, story};
use tracesift_scenario::providers::{KernelRecord, process_payload, write_with_kernel};
use tracesift_testing::recording::{Extracted, Recording};
use tracesift_trace::rows::{
    FrameRow, HandleRow, MappedViewRow, ObjectReferenceRow, ObjectRow, ProcessRow, StackRow, ThreadRow,
};

const MS: i64 = 1_000_000;
const END: i64 = SECONDS * 1_000 * MS;

fn extracted(story: &Story, size: PointerSize) -> Extracted {
    Recording::of("handles.etl", &story.write(size).expect("a recording")).extract()
}

/// A row with ids of the operating system in place of row ids.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Plain {
    owner: i64,
    kind: i8,
    handle: i64,
    start: i64,
    end: i64,
    object: Option<i64>,
    object_type: Option<String>,
    name: Option<String>,
    by: Option<(i64, i64)>,
    made_by: i8,
    source: (Option<i64>, Option<i64>),
    close_tid: Option<i64>,
    by_exit: Option<bool>,
    open: Option<bool>,
}

fn plain(extracted: &Extracted) -> Vec<Plain> {
    let processes: Vec<ProcessRow> = extracted.archive.rows().expect("processes");
    let threads: Vec<ThreadRow> = extracted.archive.rows().expect("threads");
    let rows: Vec<HandleRow> = extracted.archive.rows().expect("handles");
    assert!(rows.is_sorted_by_key(|row| row.time));
    let pid = |id: tracesift_trace::ProcessId| processes[id.index()].pid;
    let tid = |id: tracesift_trace::ThreadId| threads[id.index()].tid;
    let row = |row: HandleRow| Plain {
        owner: pid(row.owner),
        kind: row.kind,
        handle: row.handle,
        start: row.start,
        end: row.time,
        object: row.object,
        object_type: row.object_type,
        name: row.name,
        by: row.process.map(pid).zip(row.thread.map(tid)),
        made_by: row.made_by,
        source: (row.source_process.map(pid), row.source_handle),
        close_tid: row.close_thread.map(tid),
        by_exit: row.by_exit,
        open: row.open,
    };
    let mut rows: Vec<Plain> = rows.into_iter().map(row).collect();
    rows.sort();
    rows
}

fn of_kernel(handle: &KernelHandle) -> Plain {
    let name = TYPES.iter().find(|(number, _)| *number == handle.object_type).map(|(_, name)| (*name).to_owned());
    let (end, close_tid) = match handle.ends {
        Ends::Closed(time, tid) => (time, Some(tid.into())),
        Ends::Exit(time) => (time, None),
        Ends::Open => (END, None),
    };
    let seen = matches!(handle.made, Made::Created | Made::Duplicated(..));
    let (made_by, source) = match handle.made {
        Made::Created => (0, (None, None)),
        Made::Duplicated(pid, value) => (1, (Some(pid.into()), Some(value.into()))),
        Made::There => (2, (None, None)),
        // The rundown at the end tells that the parent had the other one, too.
        Made::Inherited => (3, (Some(700), (handle.value == 0x60).then_some(handle.value.into()))),
    };
    Plain {
        owner: handle.owner.into(),
        kind: 0,
        handle: handle.value.into(),
        start: handle.start,
        end,
        object: Some(handle.object.cast_signed()),
        object_type: name,
        name: Some(handle.name.to_owned()).filter(|name| !name.is_empty() && handle.ends == Ends::Open),
        by: seen.then_some((handle.by.0.into(), handle.by.1.into())),
        made_by,
        source,
        close_tid,
        by_exit: Some(matches!(handle.ends, Ends::Exit(_))),
        open: Some(handle.ends == Ends::Open),
    }
}

fn of_session(handle: &SessionHandle) -> Vec<Plain> {
    let [(first, start), (second, moved)] = handle.owners;
    let (kind, name) = if handle.gdi { (2, "Bitmap") } else { (1, "Window") };
    let row = |owner: u32, value: u64, start, end: Option<i64>| Plain {
        owner: owner.into(),
        kind,
        handle: value.cast_signed(),
        start,
        end: end.unwrap_or(END),
        object: None,
        object_type: Some(name.to_owned()),
        name: None,
        by: Some((owner.into(), i64::from(owner) + 4)),
        made_by: 0,
        source: (None, None),
        close_tid: end.map(|_| i64::from(second) + 4),
        by_exit: Some(false),
        open: Some(end.is_none()),
    };
    let (value, new) = handle.values;
    if first == second {
        return vec![row(first, new, start, handle.end)];
    }
    let source = (Some(first.into()), Some(value.cast_signed()));
    vec![row(first, value, start, Some(moved)), Plain { made_by: 4, source, ..row(second, new, moved, handle.end) }]
}

#[test]
fn each_life_has_a_row() {
    let story = story();
    let mut expected: Vec<Plain> = story.kernel.iter().map(of_kernel).collect();
    expected.extend(story.session.iter().flat_map(of_session));
    expected.sort();
    for size in [PointerSize::Four, PointerSize::Eight] {
        let rows = plain(&extracted(&story, size));
        for (row, expected) in rows.iter().zip(&expected) {
            assert_eq!(row, expected);
        }
        assert_eq!(rows.len(), expected.len());
    }
}

#[test]
fn a_creation_has_its_stack() {
    let extracted = extracted(&story(), PointerSize::Eight);
    let rows: Vec<HandleRow> = extracted.archive.rows().expect("handles");
    let stacks: Vec<StackRow> = extracted.archive.rows().expect("stacks");
    let frames: Vec<FrameRow> = extracted.archive.rows().expect("frames");
    let created = rows.iter().filter(|row| row.kind == 0 && row.made_by == 0);
    for row in created {
        let stack = row.stack.unwrap_or_else(|| panic!("{row:?}"));
        let addresses: Vec<Option<i64>> =
            stacks[stack.index()].frames.iter().map(|frame| frames[frame.index()].address).collect();
        let leaf = if row.object_type.as_deref() == Some("Event") { 0x7001_0010 } else { 0x7002_0010 };
        assert_eq!(addresses, [Some(leaf), Some(0x7001_0020)], "{row:?}");
    }
    assert!(rows.iter().filter(|row| row.made_by != 0).all(|row| row.stack.is_none()));
}

const SIZES: [PointerSize; 2] = [PointerSize::Four, PointerSize::Eight];

fn kernel(time: i64, hook: Hook, caller: (u32, u32), size: PointerSize, fill: &dyn Fn(&mut Bytes)) -> KernelRecord {
    let mut payload = Bytes::new(size);
    fill(&mut payload);
    KernelRecord { time: time * MS, cpu: 0, hook, caller, payload: payload.into_vec() }
}

fn of_records(size: PointerSize, records: Vec<KernelRecord>) -> Extracted {
    let options = SessionOptions { pointer_size: size, ..SessionOptions::default() };
    let bytes = write_with_kernel(options, SECONDS, &[(4, "System"), (700, "a.exe")], Vec::new(), records);
    Recording::of("objects.etl", &bytes.expect("a recording")).extract()
}

#[test]
fn objects_have_lives_names_and_references() {
    for size in SIZES {
        let object = |time, opcode, address: u64| {
            kernel(time, Hook::new(17, opcode, 2), (700, 704), size, &|payload| {
                payload.pointer(address);
                payload.u16(16);
                payload.u16(0);
            })
        };
        let reference = |time, opcode, address: u64, count: u32| {
            kernel(time, Hook::new(17, opcode, 2), (700, 704), size, &|payload| {
                payload.pointer(address);
                payload.bytes(b"Dflt");
                payload.u32(count);
            })
        };
        let rundown = kernel(900, Hook::new(17, 39, 2), (4, 8), size, &|payload| {
            payload.pointer(0x8800_0000);
            payload.u32(700);
            payload.u32(0x40);
            payload.u16(16);
            payload.utf16(r"\BaseNamedObjects\Stop");
        });
        let extracted = of_records(
            size,
            vec![
                object(10, 48, 0x8800_0040),
                reference(11, 50, 0x8800_0040, 3),
                reference(12, 51, 0x8800_0040, 1),
                reference(13, 51, 0x8800_0000, 2),
                object(20, 49, 0x8800_0040),
                object(30, 48, 0x8800_0040),
                object(40, 49, 0x8800_0080),
                rundown,
            ],
        );
        let rows: Vec<ObjectRow> = extracted.archive.rows().expect("objects");
        let short: Vec<_> = rows
            .iter()
            .map(|row| {
                (row.object, row.address & 0xff, row.start / MS, row.time / MS, row.references, row.dereferences)
            })
            .collect();
        assert_eq!(
            short,
            [(0, 0x40, 10, 20, 3, 1), (3, 0x80, 0, 40, 0, 0), (1, 0, 0, 20_000, 0, 2), (2, 0x40, 30, 20_000, 0, 0),]
        );
        let flags: Vec<_> = rows.iter().map(|row| (row.there, row.open)).collect();
        let flag = |there, open| (Some(there), Some(open));
        assert_eq!(flags, [flag(false, false), flag(true, false), flag(true, true), flag(false, true)]);
        assert_eq!(rows[2].name.as_deref(), Some(r"\BaseNamedObjects\Stop"));
        assert!(rows.iter().all(|row| row.object_type.as_deref() == Some("type 16")));
        // The rundown alone makes a handle.
        let handles: Vec<HandleRow> = extracted.archive.rows().expect("handles");
        assert_eq!(
            handles.iter().map(|row| (row.start, row.made_by, row.open)).collect::<Vec<_>>(),
            [(0, 2, Some(true))]
        );
    }
}

#[test]
fn views_have_files_and_end_with_their_process() {
    for size in SIZES {
        for version in [2, 3] {
            let view = |time, opcode, pid: u32, base: u64| {
                kernel(time, Hook::new(4, opcode, version), (pid, pid + 4), size, &|payload| {
                    payload.pointer(base);
                    payload.pointer(0x8800_1000);
                    payload.u64(0);
                    payload.pointer(0x3000);
                    if version == 3 {
                        payload.u64(0x1_0000);
                    }
                    payload.u32(pid);
                })
            };
            let name = kernel(0, Hook::new(4, 32, 2), (4, 8), size, &|payload| {
                payload.pointer(0x8800_1000);
                payload.utf16(r"\Device\HarddiskVolume1\data.bin");
            });
            let of_process = |time: i64, hook| KernelRecord {
                time: time * MS,
                cpu: 0,
                hook,
                caller: (700, 704),
                payload: process_payload(size, 720, 700, "b.exe"),
            };
            let extracted = of_records(
                size,
                vec![
                    name,
                    view(10, 37, 700, 0x1_0000),
                    view(15, 38, 700, 0x1_0000),
                    view(20, 37, 700, 0x1_0000),
                    view(30, 38, 700, 0x5_0000),
                    of_process(40, Process::START),
                    view(50, 37, 720, 0x1_0000),
                    of_process(60, Process::END),
                    view(900, 40, 700, 0x1_0000),
                    view(900, 40, 700, 0x9_0000),
                ],
            );
            let rows: Vec<MappedViewRow> = extracted.archive.rows().expect("views");
            let short: Vec<_> =
                rows.iter().map(|row| (row.base, row.start / MS, row.time / MS, row.there, row.by_exit)).collect();
            let (no, yes) = (Some(false), Some(true));
            assert_eq!(
                short,
                [
                    (0x1_0000, 10, 15, no, no),
                    (0x5_0000, 0, 30, yes, no),
                    (0x1_0000, 50, 60, no, yes),
                    (0x1_0000, 20, 20_000, no, no),
                    (0x9_0000, 0, 20_000, yes, no),
                ]
            );
            assert!(rows.iter().all(|row| row.size == 0x3000 && row.file.is_some()));
            let offset = (version == 3).then_some(0x1_0000);
            assert!(rows.iter().all(|row| row.offset == offset && row.thread.is_some() != row.there.unwrap_or(true)));
        }
    }
}

#[test]
fn a_recording_without_handles_has_no_table() {
    let extracted = of_records(PointerSize::Eight, Vec::new());
    for table in ["handles", "objects", "mapped_views", "object_references"] {
        assert!(!extracted.archive.path().join(format!("{table}.parquet")).exists(), "{table}");
    }
}

fn with_all_events(size: PointerSize, records: Vec<KernelRecord>, tables: &str) -> Extracted {
    let options = SessionOptions { pointer_size: size, ..SessionOptions::default() };
    let bytes = write_with_kernel(options, SECONDS, &[(4, "System"), (700, "a.exe")], Vec::new(), records);
    let extract = tracesift_extract::Options {
        events: Some("all".parse().expect("a selection")),
        tables: tables.parse().expect("tables"),
        ..tracesift_extract::Options::default()
    };
    Recording::of("objects.etl", &bytes.expect("a recording")).extract_with(&extract)
}

/// References as bytes: address, tag, count.
fn reference(time: i64, opcode: u8, payload: &[u8]) -> KernelRecord {
    KernelRecord {
        time: time * MS,
        cpu: 0,
        hook: Hook::new(17, opcode, 2),
        caller: (700, 704),
        payload: payload.to_vec(),
    }
}

fn references(extracted: &Extracted) -> Vec<(i64, i64, i64, String)> {
    let rows: Vec<ObjectReferenceRow> = extracted.archive.rows().expect("references");
    rows.into_iter().map(|row| (row.time / MS, row.address, row.change, row.tag)).collect()
}

#[test]
fn recorded_bytes_of_references_are_read() {
    // Recorded by Windows: of `New cases to store` the lines of 50 and 51.
    let taken = b"\xb0\x24\x3d\xb3\x89\xa8\xff\xff\x44\x66\x6c\x74\x01\x00\x00\x00";
    let given = b"\x50\xa0\xe5\xef\x89\xa8\xff\xff\x44\x66\x6c\x74\x01\x00\x00\x00";
    let rows = references(&with_all_events(
        PointerSize::Eight,
        vec![reference(1, 50, taken), reference(2, 51, given), reference(3, 51, &given[..15])],
        "",
    ));
    let address = |address: u64| address.cast_signed();
    let expected = [
        (1, address(0xffff_a889_b33d_24b0), 1, "Dflt".to_owned()),
        (2, address(0xffff_a889_efe5_a050), -1, "Dflt".to_owned()),
    ];
    assert_eq!(rows, expected);
    let short = b"\x40\x00\x00\x88Ob\x01\\\x03\x00\x00\x00";
    let rows = references(&with_all_events(PointerSize::Four, vec![reference(5, 51, short)], ""));
    assert_eq!(rows, [(5, 0x8800_0040, -3, r"Ob.\".to_owned())]);
}

/// What `objects` counts is the sum of the references, object by object; an address that is used again is another object.
#[test]
fn references_belong_to_the_objects_that_count_them() {
    for size in SIZES {
        let object = |time, opcode, address: u64| {
            kernel(time, Hook::new(17, opcode, 2), (700, 704), size, &|payload| {
                payload.pointer(address);
                payload.u16(16);
                payload.u16(0);
            })
        };
        let mut records = Vec::new();
        let mut random = 7_u64;
        for time in 1..400 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (what, address) = (random >> 60, 0x8800_0000 + (random >> 40) % 4 * 0x40);
            records.push(match what {
                0 => object(time, 48, address),
                1 => object(time, 49, address),
                _ => kernel(time, Hook::new(17, 50 + (what % 2) as u8, 2), (700, 704), size, &|payload| {
                    payload.pointer(address);
                    payload.bytes(b"Test");
                    payload.u32((random >> 20) as u32 % 5);
                }),
            });
        }
        let extracted = with_all_events(size, records.clone(), "");
        let objects: Vec<ObjectRow> = extracted.archive.rows().expect("objects");
        let rows: Vec<ObjectReferenceRow> = extracted.archive.rows().expect("references");
        assert!(rows.len() > 200 && objects.len() > 20 && rows.is_sorted_by_key(|row| row.time));
        for object in &objects {
            let of = || rows.iter().filter(|row| row.object == Some(object.object));
            assert!(of().all(|row| row.address == object.address));
            assert!(of().all(|row| object.start <= row.time && row.time <= object.time));
            let sum = |sign: i64| of().map(|row| (row.change * sign).max(0)).sum::<i64>();
            assert_eq!((sum(1), sum(-1)), (object.references, object.dereferences), "{object:?}");
        }
        assert!(rows.iter().all(|row| row.object.is_some() && row.process.is_some() && row.thread.is_some()));

        let usual = of_records(size, records.clone());
        assert!(!usual.archive.path().join("object_references.parquet").exists());
        assert_eq!(usual.archive.rows::<ObjectRow>().expect("objects"), objects);
        let alone = with_all_events(size, records, "object_references");
        let alone: Vec<ObjectReferenceRow> = alone.archive.rows().expect("references");
        assert_eq!(alone.len(), rows.len());
        assert!(alone.iter().zip(&rows).all(|(row, of_all)| row.object.is_none() && row.change == of_all.change));
    }
}

#[test]
fn a_reference_has_its_stack() {
    let options = SessionOptions::default();
    let mut payload = Bytes::new(PointerSize::Eight);
    let event_time = options.zero_ticks + options.frequency / 1_000;
    Stack { event_time, pid: 700, tid: 704, frames: &[0x7001_0010, 0x7001_0020] }.encode(&mut payload);
    let stack =
        KernelRecord { time: MS + 1_000, cpu: 0, hook: Stack::HOOK, caller: (700, 704), payload: payload.into_vec() };
    let taken = b"\xb0\x24\x3d\xb3\x89\xa8\xff\xff\x44\x66\x6c\x74\x01\x00\x00\x00";
    let extracted = with_all_events(PointerSize::Eight, vec![reference(1, 50, taken), stack], "");
    let rows: Vec<ObjectReferenceRow> = extracted.archive.rows().expect("references");
    let stacks: Vec<StackRow> = extracted.archive.rows().expect("stacks");
    let stack = rows[0].stack.expect("a stack");
    assert_eq!(stacks[stack.index()].frames.len(), 2);
}
