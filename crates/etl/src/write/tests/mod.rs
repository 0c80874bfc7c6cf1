//! The reader reads what the writer wrote.

mod payloads;

use std::io::Cursor;

use proptest::prelude::*;

use super::{Clock, CpuNumbering, Extended, Head, Hook, PointerSize, SessionOptions, WriteError, Writer};
use crate::{ClockKind, EtlFile, Guid, HeaderKind, Merge, MergeOptions};

const HOOK: Hook = Hook::new(5, 36, 4);
const PROVIDER: Guid = Guid::from_u128(0xe13c_0d23_ccbc_4e12_931b_d9cc_2eee_27e4);

fn writer(options: SessionOptions) -> Writer<Cursor<Vec<u8>>> {
    Writer::create(Cursor::new(Vec::new()), options).expect("options are valid")
}

fn finish(writer: Writer<Cursor<Vec<u8>>>) -> EtlFile {
    let bytes = writer.finish(132_935_409_100_000_000).expect("memory takes it").into_inner();
    let file = EtlFile::open(Box::new(bytes)).expect("it is a recording");
    assert!(file.damage().is_empty(), "{:?}", file.damage());
    file
}

#[derive(Clone, Debug)]
struct Planned {
    cpu: u16,
    time: i64,
    narrow: bool,
    kind: u8,
    payload: Vec<u8>,
    counters: Vec<u64>,
    frames: Vec<u64>,
}

fn planned() -> impl Strategy<Value = Vec<Planned>> {
    let one = (
        0..4u16,
        0..50i64,
        any::<bool>(),
        0..4u8,
        prop::collection::vec(any::<u8>(), 0..120),
        prop::collection::vec(any::<u64>(), 0..8),
        prop::collection::vec(any::<u64>(), 0..6),
    );
    prop::collection::vec(one, 1..300).prop_map(|plans| {
        let mut now = 1_000_000;
        plans
            .into_iter()
            .map(|(cpu, step, narrow, kind, payload, counters, frames)| {
                now += step;
                Planned { cpu, time: now, narrow, kind, payload, counters, frames }
            })
            .collect()
    })
}

fn write(plans: &[Planned], options: SessionOptions) -> EtlFile {
    let mut out = writer(options);
    for plan in plans {
        let pointer_size = if plan.narrow { PointerSize::Four } else { PointerSize::Eight };
        let items = [
            Extended::RelatedActivity(PROVIDER),
            Extended::Stack { match_id: 0, frames: &plan.frames },
            Extended::Raw { kind: 12, data: &[1, 2, 3] },
        ];
        let head = match plan.kind {
            0 => Head::Perfinfo { hook: HOOK, counters: &plan.counters },
            1 => Head::System { hook: HOOK, pid: 11, tid: 22 },
            2 => Head::Full { class: PROVIDER, opcode: 36, version: 2, pid: u32::MAX, tid: 22 },
            _ => Head::Event {
                provider: PROVIDER,
                id: 143,
                version: 2,
                channel: 11,
                level: 4,
                opcode: 9,
                task: 7,
                keyword: 0x10,
                activity: PROVIDER,
                pid: 11,
                tid: 22,
                extended: &items[..plan.counters.len().min(3)],
            },
        };
        out.record_sized(plan.cpu, plan.time, pointer_size, &head, &plan.payload).expect("it fits");
    }
    finish(out)
}

fn check(plans: &[Planned], options: SessionOptions) {
    let files = [write(plans, options.clone())];
    let mut merge = Merge::new(&files, MergeOptions::default());
    let header = merge.next().expect("the header record");
    assert_eq!((header.pointer_size(), header.time()), (options.pointer_size.bytes() as u8, 1_000));
    let mut ordered = plans.to_vec();
    ordered.sort_by_key(|plan| (plan.time, plan.cpu));
    for plan in &ordered {
        let record = merge.next().expect("as many records as were written");
        assert_eq!((record.time(), record.cpu(), record.payload()), (plan.time, plan.cpu, plan.payload.as_slice()));
        assert_eq!(record.pointer_size(), if plan.narrow { 4 } else { 8 });
        let ids = (record.pid(), record.tid());
        match plan.kind {
            0 => {
                assert_eq!((record.hook(), record.version(), ids), (Some(0x0524), 4, (None, None)));
                assert!(record.counters().iter().eq(plan.counters.iter().copied()));
            }
            1 => assert_eq!((record.hook(), record.version(), ids), (Some(0x0524), 4, (Some(11), Some(22)))),
            2 => {
                assert_eq!((record.class_guid(), record.opcode(), record.version()), (Some(PROVIDER), 36, 2));
                assert_eq!(ids, (None, Some(22)));
            }
            _ => check_event(&record, plan, options.pointer_size),
        }
    }
    assert!(merge.next().is_none());
    assert!(merge.damage(0).is_none_or(crate::DamageLog::is_empty));
}

fn check_event(record: &crate::Record<'_>, plan: &Planned, system: PointerSize) {
    assert_eq!(record.provider(), Some(PROVIDER));
    assert_eq!((record.event_id(), record.version(), record.opcode()), (Some(143), 2, 9));
    assert_eq!((record.channel(), record.level(), record.task(), record.keyword()), (11, 4, 7, 0x10));
    assert_eq!((record.pid(), record.tid(), record.activity_id()), (Some(11), Some(22), Some(PROVIDER)));
    let items: Vec<_> = record.extended_items().collect();
    assert_eq!(items.len(), plan.counters.len().min(3));
    if let Some(item) = items.get(1) {
        let mask = if system == PointerSize::Four { u64::from(u32::MAX) } else { u64::MAX };
        let stack = item.stack().expect("a stack");
        assert!(stack.frames().eq(plan.frames.iter().map(|frame| frame & mask)));
    }
    if let Some(item) = items.get(2) {
        assert_eq!(item.data, [1, 2, 3]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn records_come_back(plans in planned(), compress: bool, windows7: bool, narrow: bool) {
        let options = SessionOptions {
            cpus: 4,
            zero_ticks: 1_000,
            buffer_size: 2_048,
            compress,
            cpu_numbering: if windows7 { CpuNumbering::Byte } else { CpuNumbering::Index },
            pointer_size: if narrow { PointerSize::Four } else { PointerSize::Eight },
            ..SessionOptions::default()
        };
        check(&plans, options);
    }
}

#[test]
fn the_header_says_what_the_session_was() {
    for pointer_size in [PointerSize::Four, PointerSize::Eight] {
        let options = SessionOptions {
            cpus: 16,
            frequency: 3_117_777,
            clock: Clock::PerformanceCounter,
            zero_ticks: 77,
            pointer_size,
            compress: true,
            events_lost: 3,
            buffers_lost: 2,
            os_version: (6, 1),
            os_build: 7_601,
            cpu_mhz: 2_394,
            utc_bias_minutes: 300,
            session_name: "Session".to_owned(),
            log_file_name: r"C:\x.etl".to_owned(),
            ..SessionOptions::default()
        };
        let mut out = writer(options.clone());
        let head = Head::Perfinfo { hook: HOOK, counters: &[] };
        out.record(3, 100, &head, &[0; 24]).expect("it fits");
        let file = finish(out);
        let header = file.header();
        assert_eq!((header.cpu_count, header.performance_frequency, header.first_tick), (16, 3_117_777, 77));
        assert_eq!((header.clock(), header.pointer_size), (ClockKind::PerformanceCounter, pointer_size.bytes() as u32));
        assert_eq!((header.events_lost, header.buffers_lost, header.buffers_written), (3, 2, 2));
        assert_eq!((header.os_major, header.os_minor, header.os_build, header.cpu_mhz), (6, 1, 7_601, 2_394));
        assert_eq!((header.start_time, header.end_time), (options.start_filetime, 132_935_409_100_000_000));
        assert_eq!((header.boot_time, header.time_zone.bias), (options.boot_filetime, 300));
        assert_eq!((header.session_name.as_str(), header.log_file_name.as_str()), ("Session", r"C:\x.etl"));
        assert_eq!(header.start_time_utc().as_deref(), Some("2022-04-04T10:15:00.0000000Z"));
    }
}

#[test]
fn compression_makes_repetitive_buffers_small() {
    let bytes = |compress| {
        let mut out = writer(SessionOptions { compress, ..SessionOptions::default() });
        for time in 0..100_000 {
            out.record(0, 36_000_000_000 + time, &Head::Perfinfo { hook: HOOK, counters: &[] }, &[7; 24])
                .expect("it fits");
        }
        out.finish(0).expect("memory takes it").into_inner().len()
    };
    assert!(bytes(true) * 3 < bytes(false), "{} and {}", bytes(true), bytes(false));
}

#[test]
fn what_no_recording_can_hold_is_refused() {
    let create = |options| Writer::create(Cursor::new(Vec::new()), options).map(|_| ());
    for buffer_size in [0, 512, 1_001, 32 << 20] {
        let refused = create(SessionOptions { buffer_size, ..SessionOptions::default() });
        assert!(matches!(refused, Err(WriteError::BufferSize(size)) if size == buffer_size));
    }
    let numbering = CpuNumbering::Byte;
    let refused = create(SessionOptions { cpus: 300, cpu_numbering: numbering, ..SessionOptions::default() });
    assert!(matches!(refused, Err(WriteError::CpuCount(300))));
    let mut out = writer(SessionOptions { buffer_size: 1_024, ..SessionOptions::default() });
    let head = Head::Perfinfo { hook: HOOK, counters: &[] };
    assert!(matches!(out.record(1, 0, &head, &[]), Err(WriteError::Cpu { cpu: 1, cpus: 1 })));
    assert!(matches!(out.record(0, 0, &head, &[0; 2_000]), Err(WriteError::RecordSize { size: 2_016, limit: 952 })));
    let too_many = Head::Perfinfo { hook: HOOK, counters: &[0; 8] };
    assert!(matches!(out.record(0, 0, &too_many, &[]), Err(WriteError::Counters)));
    out.record(0, 10, &head, &[]).expect("it fits");
    assert!(matches!(out.record(0, 9, &head, &[]), Err(WriteError::TimeOrder { cpu: 0, time: 9, previous: 10 })));
    out.record(0, 10, &head, &[0; 936]).expect("a record may fill a buffer");
}

#[test]
fn kinds_of_headers_are_those_of_their_pointer_size() {
    let mut out = writer(SessionOptions::default());
    let heads = [
        Head::Perfinfo { hook: HOOK, counters: &[] },
        Head::System { hook: HOOK, pid: 1, tid: 2 },
        Head::Full { class: PROVIDER, opcode: 1, version: 1, pid: 1, tid: 2 },
    ];
    for head in &heads {
        for pointer_size in [PointerSize::Four, PointerSize::Eight] {
            out.record_sized(0, 36_000_000_001, pointer_size, head, &[]).expect("it fits");
        }
    }
    let files = [finish(out)];
    let mut merge = Merge::new(&files, MergeOptions::default());
    let mut kinds = Vec::new();
    while let Some(record) = merge.next() {
        kinds.push(record.kind());
    }
    use HeaderKind::{Full32, Full64, PerfInfo32, PerfInfo64, System32, System64};
    assert_eq!(kinds, [System64, PerfInfo32, PerfInfo64, System32, System64, Full32, Full64]);
}
