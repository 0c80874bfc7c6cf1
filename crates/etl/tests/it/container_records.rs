//! Records and containers that no real case holds: counters, WPP messages, instances, odd sessions, and the order of the merge.

use crate::common::build::{Buffer, perf_info, system};
use proptest::prelude::*;
use tracesift_etl::{
    BufferReader, ClockKind, EtlFile, EventClass, Group, Guid, HeaderKind, Merge, MergeOptions, Record, damage_kind,
};

fn open(buffers: impl IntoIterator<Item = Vec<u8>>) -> EtlFile {
    EtlFile::open(Box::new(buffers.into_iter().flatten().collect::<Vec<u8>>())).expect("a recording")
}

fn parse(bytes: &[u8]) -> Record<'_> {
    Record::parse(bytes, 3, 0).expect("a record")
}

#[test]
fn counters_and_the_sampling_index_stand_between_header_and_payload() {
    let mut rest = Vec::new();
    for word in [0x11u64, 0x22, 0x33] {
        rest.extend(word.to_le_bytes());
    }
    rest.extend(b"payload");
    let bytes = perf_info(0x8202, 0x0524, 77, &rest);
    let record = parse(&bytes);
    assert_eq!((record.kind(), record.time(), record.cpu(), record.version()), (HeaderKind::PerfInfo64, 77, 3, 2));
    assert_eq!((record.hook(), record.opcode(), record.pid(), record.tid()), (Some(0x0524), 36, None, None));
    assert_eq!(record.pebs_index(), Some(0x11));
    assert_eq!(record.counters().iter().collect::<Vec<_>>(), [0x22, 0x33]);
    assert_eq!(record.payload(), b"payload");
    // More counters than the record has room for.
    let bytes = perf_info(0x0702, 0x0524, 77, b"short");
    assert!(parse(&bytes).payload().is_empty() && parse(&bytes).counters().is_empty());
}

#[test]
fn a_kernel_record_says_who_logged_it() {
    let bytes = system(0x030a, 9, b"image");
    let record = parse(&bytes);
    assert_eq!((record.tid(), record.pid(), record.pointer_size()), (Some(7), Some(5), 8));
    assert_eq!(record.class(), EventClass::Kernel { group: Group::IMAGE, opcode: 10, version: 2 });
    assert_eq!(record.class_guid(), Group::IMAGE.guid());
    let mut bytes = bytes;
    bytes[8..16].fill(0xff);
    assert_eq!((parse(&bytes).tid(), parse(&bytes).pid()), (None, None));
}

#[test]
fn a_classic_record_of_a_kernel_class_is_that_class() {
    let mut bytes = vec![72, 0, 0x15, 0xc0, 46, 4, 2, 0];
    bytes.extend([1, 0, 0, 0, 2, 0, 0, 0]);
    bytes.extend(5i64.to_le_bytes());
    bytes.extend(Group::PERF_INFO.guid().expect("a class").to_bytes());
    bytes.extend([0; 8]);
    bytes.extend([9, 0, 0, 0, 8, 0, 0, 0]);
    bytes.extend(Guid::from_u128(5).to_bytes());
    let record = parse(&bytes);
    assert_eq!(record.class(), EventClass::Kernel { group: Group::PERF_INFO, opcode: 46, version: 2 });
    assert_eq!((record.kind(), record.level(), record.hook()), (HeaderKind::Instance64, 4, None));
    assert_eq!(record.instance(), Some((9, 8, Guid::from_u128(5))));
    assert!(record.payload().is_empty());
}

#[test]
fn a_message_has_the_parts_that_its_flags_announce() {
    let guid = Guid::from_u128(0x1234);
    let mut bytes = vec![0, 0, 0, 0x90, 10, 0, 0x6b, 0];
    bytes.extend(3u32.to_le_bytes());
    bytes.extend(guid.to_bytes());
    bytes.extend(42i64.to_le_bytes());
    bytes.extend([8, 0, 0, 0, 6, 0, 0, 0]);
    bytes.extend(b"args");
    bytes[0] = bytes.len() as u8;
    let record = parse(&bytes);
    assert_eq!((record.kind(), record.time(), record.pid(), record.tid()), (HeaderKind::Message, 42, Some(6), Some(8)));
    assert_eq!((record.pointer_size(), record.payload()), (4, &b"args"[..]));
    assert_eq!(record.class(), EventClass::Message { guid, number: 10 });
    assert_eq!(record.message().and_then(|message| message.sequence), Some(3));
}

#[test]
fn the_session_is_read_and_its_clock_converted() {
    let file = open([Buffer::header(4096, 1, 500).write(4096)]);
    let header = file.header();
    assert_eq!((header.session_name.as_str(), header.log_file_name.as_str()), ("S", "F"));
    assert_eq!(
        (header.clock(), header.frequency(), header.zero_ticks()),
        (ClockKind::PerformanceCounter, 10_000_000, 500)
    );
    assert_eq!((header.filetime(500), header.filetime(499)), (1000, 999));
    assert_eq!(header.filetime(i64::MAX), i64::MAX);
    let clock = |number, frequency, mhz| {
        let header = tracesift_etl::LogfileHeader {
            clock_number: number,
            performance_frequency: frequency,
            cpu_mhz: mhz,
            ..header.clone()
        };
        (header.clock(), header.frequency())
    };
    assert_eq!(clock(0, 3, 0), (ClockKind::PerformanceCounter, 3));
    assert_eq!(clock(0, 0, 0), (ClockKind::SystemTime, 10_000_000));
    assert_eq!(clock(2, 3, 0), (ClockKind::SystemTime, 10_000_000));
    assert_eq!(clock(3, 3, 2500), (ClockKind::CpuCycles, 2_500_000_000));
    assert_eq!(clock(9, -1, 0), (ClockKind::Unknown(9), 10_000_000));
}

#[test]
fn before_windows_8_the_cpu_is_one_byte() {
    let mut buffer = Buffer { flags: 0, cpu: 0x0803, ..Buffer::new(0, 1) };
    buffer.push(&system(0x0501, 10, b""));
    let file = open([Buffer::header(512, 1, 5).write(512), buffer.write(512)]);
    assert_eq!(file.buffers()[1].cpu, 3);
    let mut buffer = Buffer::new(0x0103, 1);
    buffer.push(&system(0x0501, 10, b""));
    let file = open([Buffer::header(512, 1, 5).write(512), buffer.write(512)]);
    assert_eq!(file.buffers()[1].cpu, 0x103);
}

#[test]
fn buffers_without_records_are_passed_over() {
    let marker = |kind| Buffer { kind, area: vec![0xaa; 32], ..Buffer::new(0, 2) }.write(512);
    let file = open([Buffer::header(512, 1, 5).write(512), marker(3), marker(6), marker(2)]);
    let mut reader = BufferReader::default();
    let records: usize = file.buffers().iter().map(|buffer| reader.records(&file, buffer).len()).sum();
    assert_eq!(records, 1);
    assert_eq!(reader.damage().kinds().len(), 1);
    assert_eq!(reader.damage().count(damage_kind::UNKNOWN_BUFFER_KIND), 1);
}

#[test]
fn zeros_in_a_preallocated_file_are_no_damage() {
    for (mode, damaged) in [(0x21, false), (0x2, false), (0x1, true)] {
        let file = open([Buffer::header(512, mode, 5).write(512), vec![0; 5000]]);
        assert_eq!(file.damage().count(damage_kind::ZEROED_REGION) > 0, damaged, "{mode:x}");
        assert_eq!(file.buffers().len(), 1);
    }
}

#[test]
fn zeros_in_the_middle_are_skipped_and_counted() {
    let mut buffer = Buffer::new(1, 7);
    buffer.push(&system(0x0501, 10, b""));
    let file = open([Buffer::header(512, 1, 5).write(512), vec![0; 3 * 512], buffer.write(512)]);
    assert_eq!(file.buffers().iter().map(|buffer| buffer.offset).collect::<Vec<_>>(), [0, 2048]);
    assert_eq!(file.damage().kinds()[0].bytes, 3 * 512);
}

#[test]
fn a_size_that_is_too_small_is_corrected() {
    let mut buffer = Buffer::new(1, 7);
    for time in 10..20 {
        buffer.push(&system(0x0501, time, b"some payload"));
    }
    let mut damaged = buffer.write(1024);
    damaged[..4].copy_from_slice(&100u32.to_le_bytes());
    let file = open([Buffer::header(512, 1, 5).write(512), damaged, buffer.write(1024)]);
    let mut reader = BufferReader::default();
    let records: Vec<usize> = file.buffers().iter().map(|buffer| reader.records(&file, buffer).len()).collect();
    assert_eq!(records, [1, 10, 10]);
    assert_eq!(file.damage().count(damage_kind::BAD_BUFFER_HEADER), 1);
    assert!(reader.damage().is_empty());
}

#[test]
fn a_record_larger_than_what_is_read_at_once_is_whole() {
    let mut buffer = Buffer::new(1, 1);
    buffer.push(&system(0x0501, 10, b"first"));
    buffer.push(&system(0x0502, 11, &[7; 65_000]));
    buffer.push(&system(0x0503, 12, b"last"));
    let file = [open([Buffer::header(1 << 17, 1, 5).write(1 << 17), buffer.write(1 << 17)])];
    let mut merge = Merge::new(&file, MergeOptions::default());
    let mut sizes = Vec::new();
    while let Some(record) = merge.next() {
        sizes.push(record.payload().len());
        assert!(record.payload().len() < 65_000 || record.payload().iter().all(|byte| *byte == 7));
    }
    assert_eq!(sizes, [288, 5, 65_000, 4]);
}

#[test]
fn messages_without_a_time_stay_beside_their_neighbours() {
    let message = [8u8, 0, 0, 0x90, 1, 0, 0, 0];
    let mut first = Buffer::new(0, 1);
    first.push(&message);
    first.push(&system(0x0501, 100, b""));
    first.push(&message);
    let mut second = Buffer::new(1, 2);
    second.push(&message);
    let file = [open([Buffer::header(512, 1, 50), first, second].map(|buffer| buffer.write(512)))];
    let mut merge = Merge::new(&file, MergeOptions::default());
    let mut found = Vec::new();
    while let Some(record) = merge.next() {
        found.push((record.time(), record.cpu(), record.kind() == HeaderKind::Message));
    }
    // Nothing says when the message on CPU 1 was written: it stands at the start of the session.
    assert_eq!(found, [(50, 0, false), (50, 1, true), (100, 0, true), (100, 0, false), (100, 0, true)]);
    assert!(merge.damage(0).is_some_and(|damage| damage.is_empty()));
}

/// A buffer with records at the given times, each naming its number.
fn numbered(cpu: u16, sequence: i64, times: &[i64], next: &mut u32) -> Buffer {
    let mut buffer = Buffer::new(cpu, sequence);
    for time in times {
        buffer.push(&perf_info(2, 0x0f2e, *time, &next.to_le_bytes()));
        *next += 1;
    }
    buffer
}

/// Time, CPU, file and number of a record.
type Numbered = (i64, u16, u16, u32);

fn number(record: &Record<'_>) -> Option<Numbered> {
    let number = record.payload().first_chunk::<4>().filter(|_| record.kind() == HeaderKind::PerfInfo64)?;
    Some((record.time(), record.cpu(), record.part(), u32::from_le_bytes(*number)))
}

/// The numbered records, the first `singly` of all by one and the others in batches. These are kept until the merge is gone, and
/// read on another thread.
fn in_batches(files: &[EtlFile], options: MergeOptions, singly: usize) -> Vec<Numbered> {
    let mut merge = Merge::new(files, options);
    let mut found = Vec::new();
    for _ in 0..singly {
        found.extend(merge.next().as_ref().and_then(number));
    }
    let batches: Vec<_> = std::iter::from_fn(|| merge.next_batch()).collect();
    drop(merge);
    let rest = std::thread::spawn(move || {
        let records = batches.iter().flat_map(|batch| (0..batch.len()).filter_map(|index| batch.record(index)));
        records.filter_map(|record| number(&record)).collect::<Vec<_>>()
    });
    found.extend(rest.join().expect("the thread reads its batches"));
    found
}

fn all(files: &[EtlFile], options: MergeOptions) -> (Vec<Numbered>, u64) {
    let mut merge = Merge::new(files, options);
    let mut found = Vec::new();
    while let Some(record) = merge.next() {
        found.extend(number(&record));
    }
    let late = (0..files.len())
        .filter_map(|part| merge.damage(part))
        .map(|damage| damage.count(damage_kind::LATE_RECORD))
        .sum();
    (found, late)
}

/// Buffers of a few CPUs: each with sorted times, which may overlap with those of any other buffer.
fn sessions() -> impl Strategy<Value = Vec<Vec<(u16, Vec<i64>)>>> {
    let times = prop_oneof![
        prop::collection::vec(0..200i64, 0..60),
        prop::collection::vec(any::<i64>(), 0..10),
        prop::collection::vec(1_000_000..1_100_000i64, 100..400),
    ];
    let buffer = (0..5u16, times).prop_map(|(cpu, mut times)| {
        times.sort_unstable();
        (cpu, times)
    });
    prop::collection::vec(prop::collection::vec(buffer, 0..25), 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_merge_orders_by_time_cpu_file_and_sequence(sessions in sessions(), compressed in any::<bool>(), seed in any::<u64>()) {
        let (mut next, mut expected) = (0, Vec::new());
        let files: Vec<EtlFile> = sessions.iter().zip(0u16..).map(|(session, part)| {
            let mut buffers: Vec<Buffer> = session.iter().zip(1i64..).map(|((cpu, times), sequence)| {
                expected.extend(times.iter().zip(next..).map(|(time, number)| (*time, *cpu, part, sequence, number)));
                numbered(*cpu, sequence, times, &mut next)
            }).collect();
            // The order in the file says nothing: rotate, as a circular session does.
            let rotate = seed as usize % buffers.len().max(1);
            buffers.rotate_left(rotate);
            let head = Buffer::header(16_384, 1, 0).write(16_384);
            open(std::iter::once(head).chain(buffers.iter().map(|buffer| {
                if compressed { buffer.write_compressed() } else { buffer.write(16_384) }
            })))
        }).collect();
        expected.sort_unstable();
        let expected: Vec<_> = expected.into_iter().map(|(time, cpu, part, _, number)| (time, cpu, part, number)).collect();
        let (found, late) = all(&files, MergeOptions::default());
        prop_assert_eq!(late, 0);
        prop_assert_eq!(&found, &expected);
        let singly = seed as usize % (expected.len() + 2);
        prop_assert_eq!(&in_batches(&files, MergeOptions::default(), singly), &expected);

        // With too little memory the order of records may suffer, but no record, and times do not decrease.
        let (mut found, _) = all(&files, MergeOptions { memory_limit: 1 });
        prop_assert!(found.is_sorted_by_key(|record| record.0));
        let numbers = |records: &[Numbered]| records.iter().map(|record| record.3).collect::<std::collections::BTreeSet<_>>();
        prop_assert_eq!(numbers(&found), numbers(&expected));
        found.dedup_by_key(|record| record.3);
        prop_assert_eq!(found.len(), expected.len());
    }

    #[test]
    fn records_that_are_slightly_out_of_order_are_put_in_order(
        mut times in prop::collection::vec(1000..100_000i64, 1..1500), swaps in prop::collection::vec((0..1500usize, 1..12usize), 0..40)
    ) {
        times.sort_unstable();
        let sorted = times.clone();
        for (at, distance) in swaps {
            if at > 0 && at + distance < times.len() {
                times[at..=at + distance].reverse();
            }
        }
        let file = [open([Buffer::header(65_536, 1, 0).write(65_536), numbered(0, 1, &times, &mut 0).write(65_536)])];
        let (found, late) = all(&file, MergeOptions::default());
        prop_assert!(found.is_sorted_by_key(|record| record.0));
        prop_assert_eq!(found.len(), times.len());
        if late == 0 {
            prop_assert_eq!(found.iter().map(|record| record.0).collect::<Vec<_>>(), sorted);
        }
    }
}
