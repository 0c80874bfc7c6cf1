//! Clock rates and kinds of cores of a Windows recording, as Microsoft-Windows-Kernel-Processor-Power logs them.

use tracesift_etl::Guid;
use tracesift_etl::payload::PROCESSOR_POWER;
use tracesift_etl::write::payload::Bytes;
use tracesift_etl::write::{Head, PointerSize, SessionOptions, Writer};
use tracesift_testing::recording::{Extracted, Recording};
use tracesift_trace::rows::{CpuFrequencyRow, CpuRow, HealthRow};

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

fn payload(fill: impl FnOnce(&mut Bytes)) -> Vec<u8> {
    let mut bytes = Bytes::new(PointerSize::Eight);
    fill(&mut bytes);
    bytes.into_vec()
}

/// A change to `mhz`; what newer versions append does not matter.
fn rate(mhz: u32, group: u16, number: u8) -> Vec<u8> {
    payload(|out| {
        out.u32(3);
        out.u32(mhz);
        out.u16(group);
        out.u8(number);
        out.u32(80);
    })
}

/// A processor as version 2 of event 64 tells of it.
fn kind(group: u16, number: u8, nominal: u32, class: u8) -> Vec<u8> {
    payload(|out| {
        out.u16(group);
        out.u8(number);
        [0, 100, 100, 60, nominal, 5, 100, 0, 60].into_iter().for_each(|value| out.u32(value));
        out.u8(class);
        out.u8(0);
        out.u32(1);
    })
}

fn extracted(records: &[(i64, Head<'_>, Vec<u8>)]) -> Extracted {
    let options = SessionOptions::default();
    let (zero, start) = (options.zero_ticks, options.start_filetime);
    let mut out = Writer::create(std::io::Cursor::new(Vec::new()), options).expect("a recording is begun");
    for (ticks, head, payload) in records {
        out.record(0, zero + ticks, head, payload).expect("written");
    }
    let bytes = out.finish(start + 1_000).expect("finished").into_inner();
    Recording::of("power.etl", &bytes).extract()
}

#[test]
fn rates_and_kinds_of_cores() {
    let summary = payload(|out| {
        out.u16(0);
        out.u8(2);
        [3, 1, 1800, 100, 20, 20, 2].into_iter().for_each(|value| out.u32(value));
    });
    let extracted = extracted(&[
        (10, event(18, 0), rate(3600, 0, 0)),
        (20, event(10, 4), rate(800, 0, 1)),
        // The kernel does not know it; a processor whose number nobody knows; a version that nobody knows.
        (30, event(10, 2), rate(0, 0, 1)),
        (40, event(10, 2), rate(900, 1, 1)),
        (50, event(10, 77), rate(900, 0, 1)),
        (60, event(10, 2), rate(2400, 0, 0)),
        (70, event(64, 2), kind(0, 0, 3200, 1)),
        (71, event(64, 2), kind(0, 1, 2400, 0)),
        (72, event(64, 2), kind(1, 0, 2400, 0)),
        (73, event(55, 0), summary),
        (74, event(64, 0), kind(0, 3, 2400, 0)),
    ]);
    let rates: Vec<CpuFrequencyRow> = extracted.archive.rows().expect("rates");
    let rates: Vec<_> = rates.iter().map(|row| (row.time, row.cpu, row.khz)).collect();
    assert_eq!(rates, [(1_000, 0, 3_600_000), (2_000, 1, 800_000), (6_000, 0, 2_400_000)]);
    let cpus: Vec<CpuRow> = extracted.archive.rows().expect("kinds");
    let cpus: Vec<_> = cpus.iter().map(|row| (row.cpu, row.efficiency_class, row.nominal_khz)).collect();
    let expected = [
        (0, Some(1), Some(3_200_000)),
        (1, Some(0), Some(2_400_000)),
        (2, None, Some(1_800_000)),
        // The first version tells no class.
        (3, None, Some(2_400_000)),
    ];
    assert_eq!(cpus, expected);
    let health: Vec<HealthRow> = extracted.archive.rows().expect("health");
    let count = |kind: &str| health.iter().find(|row| row.kind == kind).map(|row| row.count);
    assert_eq!((count("processor_beyond_group_0"), count("undecodable_payload")), (Some(1), Some(1)));
}
