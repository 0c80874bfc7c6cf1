//! Parked and capped processors and idle states of a Windows recording: rows of events made byte by byte.

use tracesift_etl::payload::PROCESSOR_POWER;
use tracesift_etl::write::payload::Bytes;
use tracesift_etl::write::{Head, Hook, PointerSize, SessionOptions, Writer};
use tracesift_etl::{Group, Guid};
use tracesift_testing::recording::{Extracted, Recording};
use tracesift_trace::rows::{CpuIdleStateRow, CpuStateRow, HealthRow, cpu_state_kinds};

/// Ticks of 100 ns, CPU, event, payload.
type Written = (i64, u16, Head<'static>, Vec<u8>);

fn event(id: u16, version: u8) -> Head<'static> {
    Head::Event {
        provider: PROCESSOR_POWER,
        id,
        version,
        channel: 0,
        level: 4,
        opcode: 0,
        task: 0,
        keyword: 1,
        activity: Guid::from_u128(0),
        pid: 4,
        tid: 8,
        extended: &[],
    }
}

fn payload(pointer_size: PointerSize, fill: impl FnOnce(&mut Bytes)) -> Vec<u8> {
    let mut bytes = Bytes::new(pointer_size);
    fill(&mut bytes);
    bytes.into_vec()
}

fn extracted(pointer_size: PointerSize, records: &[Written]) -> Extracted {
    let options = SessionOptions { pointer_size, cpus: 4, ..SessionOptions::default() };
    let (zero, start) = (options.zero_ticks, options.start_filetime);
    let mut out = Writer::create(std::io::Cursor::new(Vec::new()), options).expect("a recording is begun");
    for (ticks, cpu, head, payload) in records {
        out.record(*cpu, zero + ticks, head, payload).expect("written");
    }
    let bytes = out.finish(start + 1_000).expect("finished").into_inner();
    Recording::of("power.etl", &bytes).extract()
}

fn count(extracted: &Extracted, kind: &str) -> Option<i64> {
    let health: Vec<HealthRow> = extracted.archive.rows().expect("health");
    health.iter().find(|row| row.kind == kind).map(|row| row.count)
}

#[test]
fn processors_are_parked_and_capped() {
    for size in [PointerSize::Four, PointerSize::Eight] {
        let parked = |time: i64, number: u8, soft: Option<u32>| {
            let payload = payload(size, |out| {
                out.u64(1);
                out.u16(0);
                out.u8(number);
                soft.into_iter().for_each(|soft| out.u32(soft));
            });
            (time, 0, event(14, 0), payload)
        };
        let unparked = |time: i64, group: u16, number: u8| {
            let payload = payload(size, |out| {
                out.u64(1);
                out.u16(group);
                out.u8(number);
            });
            (time, 0, event(15, 0), payload)
        };
        let cap = |time: i64, id: u16, number: u8, percent: u32| {
            let payload = payload(size, |out| {
                out.u16(0);
                out.u8(number);
                out.u32(percent);
            });
            (time, 0, event(id, 0), payload)
        };
        let rundown = |time: i64, number: u8, [parked, firmware, heat]: [u32; 3]| {
            let payload = payload(size, |out| {
                out.u16(0);
                out.u8(number);
                [parked, firmware, heat, 60, 2_400, 5, 100, 0, 60].into_iter().for_each(|value| out.u32(value));
                out.u8(0);
                out.u8(0);
            });
            (time, 0, event(64, 2), payload)
        };
        let mut cut = parked(95, 3, None);
        cut.3.truncate(9);
        let extracted = extracted(
            size,
            &[
                parked(10, 1, Some(0)),
                unparked(20, 0, 2),
                cap(25, 48, 0, 80),
                unparked(30, 0, 1),
                parked(40, 1, Some(1)),
                cap(50, 48, 0, 60),
                cap(60, 48, 0, 100),
                unparked(70, 1, 1),
                // 1 is parked softly, 3 was parked and capped by the firmware all the time.
                rundown(90, 1, [1, 100, 100]),
                rundown(91, 3, [1, 70, 100]),
                cut,
            ],
        );
        let rows: Vec<CpuStateRow> = extracted.archive.rows().expect("states");
        let mut rows: Vec<_> =
            rows.iter().map(|row| (row.cpu, row.kind, row.start / 100, row.time / 100, row.value)).collect();
        rows.sort_unstable();
        let (hard, soft) = (cpu_state_kinds::PARKED, cpu_state_kinds::SOFT_PARKED);
        let (firmware, heat) = (cpu_state_kinds::CAPPED_BY_FIRMWARE, cpu_state_kinds::CAPPED_BY_HEAT);
        let mut ends: Vec<i64> = rows.iter().map(|row| row.3).collect();
        let end = ends.pop().expect("a row");
        assert_eq!(
            rows,
            [
                (0, heat, 25, 50, Some(80)),
                (0, heat, 50, 60, Some(60)),
                (1, hard, 10, 30, None),
                (1, hard, 90, end, None),
                (1, soft, 40, 90, None),
                (2, hard, 0, 20, None),
                (3, hard, 0, end, None),
                (3, firmware, 0, end, Some(70)),
            ]
        );
        assert_eq!(count(&extracted, "processor_beyond_group_0"), Some(1));
        assert_eq!(count(&extracted, "fields_not_as_expected"), Some(1));
    }
}

#[test]
fn idle_states_last_from_entry_to_exit() {
    for size in [PointerSize::Four, PointerSize::Eight] {
        let head = |opcode: u8| Head::System { hook: Hook::new(Group::POWER.0, opcode, 2), pid: 0, tid: 0 };
        let enter = |time: i64, cpu: u16, state: u32| {
            let payload = payload(size, |out| {
                out.u32(state);
                out.u16(0);
                out.u8(0);
                out.u8(0);
                out.u64(5_000);
            });
            (time, cpu, head(57), payload)
        };
        let exit = |time: i64, cpu: u16, state: u32| {
            let payload = payload(size, |out| {
                out.u32(state);
                out.u32(0);
            });
            (time, cpu, head(58), payload)
        };
        let extracted = extracted(
            size,
            &[
                exit(5, 0, 1),
                enter(10, 0, 1),
                enter(12, 1, 3),
                exit(20, 0, 1),
                enter(30, 0, 2),
                exit(40, 1, 3),
                // Its exit is lost.
                enter(50, 1, 1),
                enter(60, 1, 2),
                exit(70, 1, 2),
                (80, 2, head(57), vec![1, 0]),
            ],
        );
        let rows: Vec<CpuIdleStateRow> = extracted.archive.rows().expect("idle states");
        let rows: Vec<_> = rows.iter().map(|row| (row.cpu, row.state, row.start / 100, row.time / 100)).collect();
        let last = rows.last().expect("a row").3;
        assert_eq!(rows, [(0, 1, 10, 20), (1, 3, 12, 40), (1, 2, 60, 70), (0, 2, 30, last)]);
        assert_eq!(count(&extracted, "idle_states_without_end"), Some(1));
        assert_eq!(count(&extracted, "incomplete_power_events"), Some(1));
    }
}
