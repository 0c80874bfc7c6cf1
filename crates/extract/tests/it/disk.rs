//! Disk operations: service times and queues of WPA, layouts of old kernels, parts of larger operations.

use tracesift_etl::write::payload::Bytes;
use tracesift_etl::write::{Head, Hook, PointerSize, SessionOptions, Writer};
use tracesift_fixtures::cases;
use tracesift_testing::recording::Recording;
use tracesift_trace::disk_queues::DiskQueues;
use tracesift_trace::rows::{DiskIoRow, DiskOperation, FileRow, ThreadRow};

/// A row of WPA's table.
#[derive(Clone, Copy, Debug)]
struct Shown {
    row: DiskIoRow,
    service: i64,
    queue_start: i16,
    queue_end: i16,
}

/// The fields of a line; a field with commas stands in quotes.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut is_quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(String::new()),
            _ => fields.last_mut().expect("a field").push(letter),
        }
    }
    fields
}

/// A decimal number with so many digits behind the point, as a whole number of the last one.
fn scaled(text: &str, digits: usize) -> i64 {
    let text = text.replace(',', "");
    let (whole, rest) = text.split_once('.').unwrap_or((&text, ""));
    format!("{whole}{rest:0<digits$}").parse().expect("a number")
}

fn shown_by_wpa(text: &str) -> Vec<Shown> {
    let shown = |line: &str| {
        let fields = fields(line);
        let time = scaled(&fields[9], 9);
        let start = time - scaled(&fields[7], 3);
        let row = DiskIoRow { disk: fields[0].parse().expect("a disk"), start, time, ..DiskIoRow::default() };
        let depth = |field: &str| field.trim().parse::<i16>().expect("a depth");
        let (queue_start, queue_end) = (depth(&fields[10]), depth(&fields[11]));
        Shown { row, service: scaled(&fields[6], 3), queue_start, queue_end }
    };
    let mut rows: Vec<Shown> = text.lines().skip(1).map(shown).collect();
    rows.sort_by_key(|shown| shown.row.time);
    rows
}

#[test]
fn service_times_and_queues_are_those_of_wpa() {
    let Some(file) = cases("wpa/Disk_Usage_Utilization_by_Disk.csv") else { return };
    let expected = shown_by_wpa(&std::fs::read_to_string(file).expect("the table"));
    assert_eq!(expected.len(), 600);
    let mut queues = DiskQueues::new(0);
    let mut found: Vec<DiskIoRow> = expected.iter().filter_map(|shown| queues.completed(shown.row)).collect();
    found.extend(queues.finish());
    // Times in the table are rounded to ns, and durations to ns.
    let service = |row: &DiskIoRow| row.service.expect("a service time");
    for (row, shown) in found.iter().zip(&expected) {
        assert!((service(row) - shown.service).abs() <= 11, "{row:?} {shown:?}");
    }
    let sum: i64 = found.iter().map(service).sum();
    assert!((sum - 120_741_474).abs() <= 100, "{sum}");
    // WPA did not see the initiation of two operations: it shows them as the first in their queue, and leaves them out of the
    // queues that others find.
    let start = |row: &DiskIoRow| row.queue_start.expect("a depth");
    let is_unseen = |(row, shown): &(&DiskIoRow, &Shown)| shown.queue_start == 0 && start(row) > 0;
    let unseen: Vec<DiskIoRow> = found.iter().zip(&expected).filter(is_unseen).map(|(row, _)| *row).collect();
    assert_eq!(unseen.len(), 2, "{unseen:?}");
    for (row, shown) in found.iter().zip(&expected).filter(|pair| !is_unseen(pair)) {
        let left_out = |at: i64| {
            unseen.iter().filter(|other| other.disk == row.disk && (other.start..other.time).contains(&at)).count()
        };
        assert_eq!(start(row) - shown.queue_start, left_out(row.start) as i16, "{row:?} {shown:?}");
        let end = row.queue_end.expect("a depth");
        assert_eq!(end - shown.queue_end, left_out(row.time) as i16, "{row:?} {shown:?}");
    }
}

/// Process 7 with its thread 8 asks.
fn asking(hook: Hook) -> Head<'static> {
    Head::System { hook, pid: 7, tid: 8 }
}

/// A record: its ticks, what it is, and what appends its payload.
type Recorded<'a> = (i64, Hook, &'a dyn Fn(&mut Bytes));

/// A recording of records of class DiskIo and SplitIo, each with its ticks of 100 ns, hook and payload.
fn rows_of(pointers: PointerSize, records: &[Recorded<'_>]) -> (Vec<DiskIoRow>, Vec<ThreadRow>) {
    let extracted = Recording::of("disk.etl", &written(pointers, records)).extract();
    (extracted.archive.rows().expect("operations"), extracted.archive.rows().expect("threads"))
}

/// The recording itself.
fn written(pointers: PointerSize, records: &[Recorded<'_>]) -> Vec<u8> {
    let session = SessionOptions { pointer_size: pointers, ..SessionOptions::default() };
    let mut out = Writer::create(std::io::Cursor::new(Vec::new()), session.clone()).expect("a recording is begun");
    for (ticks, hook, payload) in records {
        let mut bytes = Bytes::new(pointers);
        payload(&mut bytes);
        out.record(0, session.zero_ticks + ticks, &asking(*hook), bytes.as_slice()).expect("written");
    }
    out.finish(session.start_filetime + 1_000).expect("finished").into_inner()
}

const IRP: u64 = 0xB000_0000;

/// Bytes that all versions begin with.
fn transfer(out: &mut Bytes) {
    [3, 0x6_0043, 4096, 0].into_iter().for_each(|word| out.u32(word));
    out.u64(0x12_3456);
    out.pointer(0xF11E);
}

#[test]
fn each_version_has_what_it_can_tell() {
    for pointers in [PointerSize::Four, PointerSize::Eight] {
        let init = |out: &mut Bytes| out.pointer(IRP);
        let second = |out: &mut Bytes| {
            transfer(out);
            out.u64(40);
        };
        let third = |out: &mut Bytes| {
            transfer(out);
            out.pointer(IRP);
            out.u64(70);
        };
        let (rows, threads) = rows_of(
            pointers,
            &[
                (100, Hook::new(1, 10, 0), &transfer),
                (200, Hook::new(1, 11, 1), &second),
                (210, Hook::new(1, 12, 2), &init),
                (280, Hook::new(1, 10, 2), &third),
            ],
        );
        let figures: Vec<_> = rows.iter().map(|row| (row.operation, row.start, row.time, row.service)).collect();
        let (read, write) = (DiskOperation::Read, DiskOperation::Write);
        let expected =
            [(read, 10_000, 10_000, None), (write, 16_000, 20_000, Some(4_000)), (read, 21_000, 28_000, Some(7_000))];
        assert_eq!(figures, expected, "{pointers:?}");
        assert!(rows.iter().all(|row| (row.disk, row.size, row.priority) == (3, 4096, 3)));
        assert!(rows.iter().all(|row| row.offset == Some(0x12_3456) && row.parent.is_none()));
        // Only the third has a request packet, by which the thread is found.
        let tids: Vec<_> = rows.iter().map(|row| row.thread.map(|thread| threads[thread.index()].tid)).collect();
        assert_eq!(tids, [None, None, Some(8)]);
    }
}

/// The file system's request goes down to the volume, which makes parts of it for its disks.
#[test]
fn a_part_of_an_operation_has_the_file_of_the_whole() {
    const KEY: u64 = 0x6666_0000;
    const PATH: &str = r"\Device\HarddiskVolume3\large.bin";
    for pointers in [PointerSize::Four, PointerSize::Eight] {
        let name = |out: &mut Bytes| {
            out.pointer(KEY);
            out.utf16(PATH);
        };
        let read = |irp: u64| {
            move |out: &mut Bytes| {
                out.u64(0);
                [irp, 0x8888_0000, KEY].into_iter().for_each(|address| out.pointer(address));
                [8, 65_536, 0x43, 0].into_iter().for_each(|figure| out.u32(figure));
            }
        };
        let ended = |irp: u64| {
            move |out: &mut Bytes| {
                out.pointer(irp);
                out.pointer(65_536);
                out.u32(0);
            }
        };
        let split = |parent: u64, child: u64| {
            move |out: &mut Bytes| {
                out.pointer(parent);
                out.pointer(child);
            }
        };
        let done = |irp: u64| {
            move |out: &mut Bytes| {
                transfer(out);
                out.pointer(irp);
                out.u64(20);
                out.u32(9);
            }
        };
        let (file_read, file_end, volume) = (Hook::new(4, 67, 3), Hook::new(4, 76, 2), Hook::new(0x1b, 32, 2));
        let bytes = written(
            pointers,
            &[
                (1, Hook::new(4, 0, 2), &name),
                (100, file_read, &read(IRP)),
                (101, volume, &split(IRP, IRP + 0x100)),
                (102, volume, &split(IRP + 0x100, IRP + 0x200)),
                (130, Hook::new(1, 10, 3), &done(IRP + 0x200)),
                (131, file_end, &ended(IRP)),
                // The request is free: what it is used for below the file system has no file.
                (140, volume, &split(IRP, IRP + 0x300)),
                (170, Hook::new(1, 10, 3), &done(IRP + 0x300)),
            ],
        );
        let extracted = Recording::of("disk.etl", &bytes).extract();
        let rows: Vec<DiskIoRow> = extracted.archive.rows().expect("operations");
        let files: Vec<FileRow> = extracted.archive.rows().expect("files");
        let found: Vec<_> =
            rows.iter().map(|row| (row.parent, row.file.map(|file| files[file.index()].path.as_str()))).collect();
        assert_eq!(found, [(Some(true), Some(PATH)), (Some(true), None)], "{pointers:?}");
    }
}

#[test]
fn a_part_of_an_operation_has_the_thread_of_the_whole() {
    for pointers in [PointerSize::Four, PointerSize::Eight] {
        let initiation = |irp: u64, tid: u32| {
            move |out: &mut Bytes| {
                out.pointer(irp);
                out.u32(tid);
            }
        };
        let split = |parent: u64, child: u64| {
            move |out: &mut Bytes| {
                out.pointer(parent);
                out.pointer(child);
            }
        };
        let done = |irp: u64, ticks: u64| {
            move |out: &mut Bytes| {
                transfer(out);
                out.pointer(irp);
                out.u64(ticks);
                out.u32(9);
            }
        };
        let (init, volume, read) = (Hook::new(1, 12, 3), Hook::new(0x1b, 32, 2), Hook::new(1, 10, 3));
        let (rows, threads) = rows_of(
            pointers,
            &[
                (100, init, &initiation(IRP, 8)),
                (101, volume, &split(IRP, IRP + 0x100)),
                (102, init, &initiation(IRP + 0x100, 9)),
                (103, volume, &split(IRP, IRP + 0x200)),
                // A part of a part, and a part of nobody knows what.
                (104, volume, &split(IRP + 0x200, IRP + 0x300)),
                (105, volume, &split(IRP + 0x900, IRP + 0x400)),
                (150, read, &done(IRP + 0x100, 48)),
                (160, read, &done(IRP + 0x300, 50)),
                (170, read, &done(IRP + 0x400, 50)),
                // The packet of the first part serves another operation.
                (180, read, &done(IRP + 0x100, 5)),
            ],
        );
        let found: Vec<_> =
            rows.iter().map(|row| (row.parent, row.thread.map(|thread| threads[thread.index()].tid))).collect();
        let expected = [(Some(true), Some(8)), (Some(true), Some(8)), (Some(true), Some(9)), (None, Some(9))];
        assert_eq!(found, expected, "{pointers:?}");
        assert_eq!(rows.iter().map(|row| row.queue_start).collect::<Vec<_>>(), [0, 1, 2, 0].map(Some));
        assert_eq!(rows.iter().map(|row| row.queue_end).collect::<Vec<_>>(), [2, 1, 0, 0].map(Some));
        assert_eq!(rows.iter().filter_map(|row| row.service).sum::<i64>(), 4_800 + 1_000 + 1_000 + 500);
    }
}
