//! What kind of core a CPU is: `HYBRID_TOPOLOGY`, written byte by byte.

use tempfile::TempDir;
use tracesift_perf::Endianness;
use tracesift_trace::rows::CpuRow;

use crate::extracted::Extracted;
use tracesift_fixtures::perf_data::{self, Attr, Bytes, SAMPLE_ID_ALL};

const HYBRID_TOPOLOGY: u32 = 30;

/// A text as headers have it: its padded length, then the bytes with zeroes behind.
fn text(out: &mut Bytes, text: &str) {
    let length = (text.len() + 1).next_multiple_of(64);
    out.u32(length as u32).raw(text.as_bytes());
    (text.len()..length).for_each(|_| _ = out.u8(0));
}

#[test]
fn kinds_of_cores() {
    for endian in [Endianness::LittleEndian, Endianness::BigEndian] {
        let mut topology = Bytes::new(endian);
        topology.u32(2);
        for (name, cpus) in [("cpu_core", "0-1"), ("cpu_atom", "2,4")] {
            text(&mut topology, name);
            text(&mut topology, cpus);
        }
        // cpu-clock, with process, thread and time.
        let attr = Attr {
            kind: 1,
            config: 0,
            period: 1_000_000,
            sample_type: 1 << 16 | 1 << 1 | 1 << 2,
            read_format: 0,
            flags: SAMPLE_ID_ALL,
            ids: vec![100],
        };
        let mut data = Bytes::new(endian);
        data.record(9, 1, |out| _ = out.u64(100).u32(7).u32(7).u64(1_000));
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("perf.data");
        let file = perf_data::file(endian, &[attr], &data.bytes, &[(HYBRID_TOPOLOGY, topology.bytes)]);
        std::fs::write(&path, file).unwrap();
        let rows = Extracted::of(&path).archive.rows::<CpuRow>().unwrap();
        let row = |cpu, name: &str, class| CpuRow {
            cpu,
            core_type: Some(name.to_owned()),
            efficiency_class: Some(class),
            ..CpuRow::default()
        };
        let (core, atom) = ("cpu_core", "cpu_atom");
        assert_eq!(rows, [row(0, core, 1), row(1, core, 1), row(2, atom, 0), row(4, atom, 0)], "{endian:?}");
    }
}
