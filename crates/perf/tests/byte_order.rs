//! The same recording in both byte orders and both modes reads the same.

mod common;

use std::fmt::Write;
use std::sync::Arc;

use common::write::{Attr, Bytes, SAMPLE_ID_ALL, file, pipe};
use tracesift_perf::{AttrFlags, Endianness, FileId, MergeOptions, Mode, Payload, PerfFile, Sample};

const BOTH: [Endianness; 2] = [Endianness::LittleEndian, Endianness::BigEndian];

/// Identifier, IP, TID, time, CPU, period, values, call chain, raw, branches, user registers, weight, cgroup, page size.
const SAMPLE_TYPE: u64 = 1 << 16 | 1 | 2 | 4 | 1 << 7 | 1 << 8 | 1 << 4 | 1 << 5 | 1 << 10 | 1 << 11 | 1 << 12 | 1 << 14
    | 1 << 21 | 1 << 22;
/// As above without what has a length, and with an id instead of the identifier.
const OTHER_TYPE: u64 = 1 << 6 | 1 | 2 | 4 | 1 << 7;

fn attrs() -> [Attr; 2] {
    let flags = SAMPLE_ID_ALL | 2 << 15 | AttrFlags::COMM.bits();
    // Group, with id and time running.
    let read_format = 8 | 4 | 2;
    [
        Attr { kind: 2, config: 77, sample_type: SAMPLE_TYPE, read_format, flags, ids: vec![11, 12] },
        Attr { kind: 1, config: 0, sample_type: OTHER_TYPE, read_format: 0, flags, ids: vec![21, 22] },
    ]
}

const FORMAT: &[u8] = b"name: thing\nID: 77\nformat:\n\
    \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
    \tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\
    \tfield:int prio;\toffset:24;\tsize:4;\tsigned:1;\n\
    \tfield:__data_loc char[] path;\toffset:28;\tsize:4;\tsigned:0;\n\
    \tfield:__rel_loc u16[] list;\toffset:32;\tsize:4;\tsigned:0;\n\
    \tfield:unsigned long * pointer;\toffset:36;\tsize:8;\tsigned:0;\n\n\
    print fmt: \"%s\", REC->comm\n";

fn tracing_data(endian: Endianness) -> Vec<u8> {
    let mut out = Bytes::new(endian);
    out.raw(b"\x17\x08\x44tracing0.6\0").u8((endian == Endianness::BigEndian).into()).u8(8).u32(4096);
    out.raw(b"header_page\0").u64(0).raw(b"header_event\0").u64(0);
    out.u32(0).u32(1).raw(b"things\0").u32(1).u64(FORMAT.len() as u64).raw(FORMAT);
    out.u32(0).u32(0);
    let names = b"17 a name: with all\n";
    out.u64(names.len() as u64).raw(names);
    out.bytes
}

fn raw(endian: Endianness) -> Vec<u8> {
    let mut out = Bytes::new(endian);
    out.u16(77).u16(0).u32(0).text(b"a:b c", 16).u32((-5i32).cast_unsigned());
    // "/tmp" stands at 44, the list 8 bytes behind its own field's end.
    out.u32(5 << 16 | 44).u32(4 << 16 | 13).u64(0xffff_ffff_8000_0000);
    out.raw(b"/tmp\0").u16(300).u16(400);
    out.bytes.resize(out.bytes.len().next_multiple_of(8) + 4, 0);
    out.bytes
}

fn data(endian: Endianness) -> Vec<u8> {
    let mut out = Bytes::new(endian);
    let tail = |out: &mut Bytes, time: u64| {
        out.u32(1).u32(2).u64(time).u32(3).u32(0).u64(11);
    };
    out.record(3, 1 << 13, |out| {
        out.u32(1).u32(2).text(b"name: x", 16);
        tail(out, 1000);
    });
    out.record(10, 1 << 14 | 2, |out| {
        out.u32(1).u32(2).u64s(&[0x1000, 0x2000, 0x3000]).u8(20).raw(&[0; 3]).raw(&[0xab; 20]);
        out.u32(5).u32(2).text(b"/bin/x", 8);
        tail(out, 1010);
    });
    out.record(9, 2, |out| {
        out.u64(12).u64(0x1234).u32(1).u32(2).u64(1020).u32(3).u32(0).u64(4000);
        out.u64s(&[2, 900, 50, 11, 60, 12]);
        out.u64s(&[3, 0xffff_ffff_ffff_fe00, 0x1234, 0x1300]);
        let raw = raw(endian);
        out.u32(raw.len() as u32).raw(&raw);
        let flags: u64 = 1 | 8 | 500 << 4 | 3 << 20;
        let flags = if endian == Endianness::LittleEndian { flags } else { 1 << 63 | 1 << 60 | 500 << 44 | 3 << 40 };
        out.u64s(&[1, u64::MAX, 0x1111, 0x2222, flags]);
        out.u64s(&[2, 71, 73, 99, 4096, 8192]);
    });
    out.record(9, 1, |out| {
        out.u64(0x5678).u32(1).u32(2).u64(1030).u64(22).u32(3).u32(0);
    });
    out.record(68, 0, |_| {});
    out.bytes
}

fn features(endian: Endianness) -> Vec<(u32, Vec<u8>)> {
    let mut name = Bytes::new(endian);
    name.u32(64).text(b"machine", 64);
    let mut clock = Bytes::new(endian);
    clock.u32(1).u32(1).u64(1_700_000_000_000_000_000).u64(500);
    vec![(1, tracing_data(endian)), (3, name.bytes), (29, clock.bytes)]
}

/// Everything that is read, as text.
fn told(file: &PerfFile) -> String {
    let metadata = file.metadata();
    let mut out = format!("{:?} {:?}\n", metadata.features.hostname, metadata.features.clock_data);
    for (index, event) in metadata.events.all().iter().enumerate() {
        let _ = writeln!(out, "{} {event:?} {}", metadata.event_name(index), event.attr.precise_ip());
    }
    let mut records = file.merged(MergeOptions::default());
    while let Some(record) = records.next() {
        let _ = write!(out, "{:?} {:?} {:?} ", record.kind(), record.event(), record.time());
        let _ = writeln!(out, "{:?} {:?} {:?}", record.thread(), record.cpu(), record.id());
        match record.payload().expect("well-formed") {
            Payload::Sample(sample) => tell_sample(&mut out, &sample, file),
            Payload::Mapping(mapping) => {
                let FileId::BuildId(id) = mapping.file else { panic!("a build id") };
                let _ = writeln!(out, "{:x} {} {}", mapping.start, mapping.name.escape_ascii(), id);
            }
            Payload::Comm(comm) => {
                let _ = writeln!(out, "{comm:?}");
            }
            _ => {}
        }
    }
    assert!(records.damage().is_empty(), "{:?}", records.damage());
    out
}

fn tell_sample(out: &mut String, sample: &Sample<'_>, file: &PerfFile) {
    let _ = write!(out, "{:?} {:?} {:?} {:?} ", sample.ip, sample.period, sample.weight, sample.cgroup);
    let Some(raw) = sample.raw else { return };
    let counters: Vec<_> = sample.values.expect("values").counters().collect();
    let chain: Vec<_> = sample.callchain.expect("a chain").iter().collect();
    let branches = sample.branches.expect("branches");
    let branch = branches.entries().next().expect("one");
    assert_eq!(branches.hardware_index, None);
    let registers = sample.user_registers.expect("registers");
    let _ = writeln!(out, "{counters:?} {:?} {chain:?}", sample.values.and_then(|values| values.time_running));
    let flags = (branch.mispredicted(), branch.predicted(), branch.abort(), branch.cycles(), branch.kind());
    let _ = writeln!(out, "{:x} {flags:?} {:?}", branch.to, sample.data_page_size);
    let _ = writeln!(out, "{:?}", [0, 1, 2, 3].map(|number| registers.get(number)));
    let metadata = file.metadata();
    let tracing = metadata.tracing.as_ref().expect("formats");
    let format = tracing.by_name("things", "thing").expect("the format");
    let field = |name| format.field(name).expect("a field");
    let (comm, path) = (field("comm").text(raw, tracing.endian), field("path").text(raw, tracing.endian));
    assert_eq!((comm, path), (Some(&b"a:b c"[..]), Some(&b"/tmp"[..])));
    assert_eq!(field("prio").signed(raw, tracing.endian), Some(-5));
    assert_eq!(field("list").elements(raw, tracing.endian).collect::<Vec<_>>(), [300, 400]);
    assert_eq!(field("pointer").unsigned(raw, tracing.endian), Some(0xffff_ffff_8000_0000));
    assert_eq!(field("pointer").declaration, "unsigned long *");
    assert_eq!(tracing.saved_cmdlines().collect::<Vec<_>>(), [(17, &b"a name: with all"[..])]);
}

#[test]
fn both_orders_in_both_modes_read_the_same() {
    let mut texts = Vec::new();
    for endian in BOTH {
        for mode in [Mode::File, Mode::Pipe] {
            let write = if mode == Mode::File { file } else { pipe };
            let bytes = write(endian, &attrs(), &data(endian), &features(endian));
            let file = PerfFile::new(Arc::new(bytes)).expect("a recording");
            assert_eq!((file.metadata().mode, file.metadata().endian), (mode, endian));
            assert!(file.damage().is_empty(), "{:?}", file.damage());
            let text = told(&file);
            // A stream has more records, those that tell what a file has in its header.
            texts.push(text.lines().filter(|line| !is_header(line)).collect::<Vec<_>>().join("\n"));
        }
    }
    println!("{}", texts[0]);
    assert!(texts.iter().all(|text| *text == texts[0]), "{texts:#?}");
    for expected in [
        "Sample Some(0) Some(1020) Some((1, 2)) Some(3) Some(12)",
        "Sample Some(1) Some(1030) Some((1, 2)) Some(3) Some(22)",
        "Comm { pid: 1, tid: 2, exec: true, name: [110, 97, 109, 101, 58, 32, 120] }",
        "1000 /bin/x abababababababababababababababababababab",
        "value: 60, id: Some(12)",
        "2222 (true, false, true, 500, 3) Some(8192)",
        "[None, Some(71), None, Some(73)]",
        "things:thing Event",
        "config3: 7 }",
    ] {
        assert!(texts[0].contains(expected), "{expected} in {}", texts[0]);
    }
}

fn is_header(line: &str) -> bool {
    ["Attr None", "Feature None", "TracingData None"].iter().any(|kind| line.starts_with(kind))
}
