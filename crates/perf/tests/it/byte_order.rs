//! The same recording in both byte orders and both modes reads the same.

use std::fmt::Write;
use std::sync::Arc;

use crate::common::example::{attrs, data, features};
use tracesift_fixtures::perf_data::{file, pipe};
use tracesift_perf::{Endianness, FileId, MergeOptions, Mode, Payload, PerfFile, Sample};

const BOTH: [Endianness; 2] = [Endianness::LittleEndian, Endianness::BigEndian];

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
    let _ = write!(out, "{:?} {:?} {:?} {:?} ", sample.ip, sample.period, sample.tail().weight, sample.tail().cgroup);
    let Some(raw) = sample.raw else { return };
    let counters: Vec<_> = sample.values.expect("values").counters().collect();
    let chain: Vec<_> = sample.callchain.expect("a chain").iter().collect();
    let branches = sample.tail().branches.expect("branches");
    let branch = branches.entries().next().expect("one");
    assert_eq!(branches.hardware_index, None);
    let registers = sample.tail().user_registers.expect("registers");
    let _ = writeln!(out, "{counters:?} {:?} {chain:?}", sample.values.and_then(|values| values.time_running));
    let flags = (branch.mispredicted(), branch.predicted(), branch.abort(), branch.cycles(), branch.kind());
    let _ = writeln!(out, "{:x} {flags:?} {:?}", branch.to, sample.tail().data_page_size);
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
