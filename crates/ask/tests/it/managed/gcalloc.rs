//! `dump gcalloc`: figures of real recordings, taken by another program, and events made byte by byte.

use tracesift_ask::question::gcalloc::Question;
use tracesift_etl::payload::dotnet::RUNTIME_PROVIDER;
use tracesift_etl::write::PointerSize;
use tracesift_etl::write::payload::Bytes;
use tracesift_scenario::providers::Logged;
use tracesift_trace::rows::{ClrAllocationRow, HealthRow};

use super::{answer, made, real, table};

fn found(archive: &std::path::Path, by: &[&str], keys: &[&str]) -> Vec<Vec<String>> {
    let question = Question::default().by(by).expect("dimensions");
    let mut rows = table(&answer(archive, &question), keys);
    rows.sort();
    rows
}

#[test]
fn bytes_of_ticks_of_real_recordings() {
    for (file, process, samples, bytes) in [
        ("net.4.5.2.x64.etl.zip", "Test.x64.exe", "10371", "1107714400"),
        ("net.4.5.2.x86.etl.zip", "Test.x86.exe", "3190", "340681108"),
    ] {
        let Some((_out, archive)) = real(file) else { return };
        let rows = found(&archive, &["process", "kind"], &["process", "kind", "samples", "bytes"]);
        assert!(rows.contains(&[process, "small", samples, bytes].map(str::to_owned).to_vec()), "{rows:?}");
        // All of them have the stack that the runtime wrote behind them.
        let opened = tracesift_archive::Archive::open(&archive).expect("an archive");
        let rows: Vec<ClrAllocationRow> = opened.rows().expect("allocations");
        let with_stack = rows.iter().filter(|row| row.stack.is_some()).count();
        assert_eq!(with_stack, rows.len(), "{file}");
        assert!(rows.iter().all(|row| row.object_type.is_some() && row.runtime.is_some()));
    }
}

#[test]
fn large_objects_of_a_real_recording() {
    let Some((_out, archive)) = real("gcevents.etl.zip") else { return };
    let rows = found(&archive, &["kind"], &["kind", "samples", "bytes", "large_bytes"]);
    let expected = [["large", "2", "325992", "325992"], ["small", "10", "1123952", "0"]];
    assert_eq!(rows, expected);
}

fn logged(pid: u32, time: i64, id: u16, version: u8, payload: Bytes) -> Logged {
    let (time, payload) = (time * 1_000_000, payload.into_vec());
    Logged { time, cpu: 0, provider: RUNTIME_PROVIDER, id, version, pid, tid: 20, payload }
}

/// A tick, of the version: amount in both sizes, kind, size of the object.
fn tick(size: PointerSize, time: i64, version: u8, (amount, kind, object): (u32, u32, u64)) -> Logged {
    let mut out = Bytes::new(size);
    out.u32(amount);
    out.u32(kind);
    if version >= 1 {
        out.u16(8);
    }
    if version >= 2 {
        // More than 4 GiB do not fit into the older field.
        out.u64(u64::from(amount) + (1 << 33));
        out.pointer(0x77);
        out.utf16("System.String");
        out.u32(2);
    }
    if version >= 3 {
        out.pointer(0x1234_5678);
    }
    if version >= 4 {
        out.u64(object);
    }
    logged(7, time, 10, version, out)
}

fn sampled(size: PointerSize, time: i64, id: u16, (type_id, objects, bytes): (u64, u32, u64)) -> Logged {
    let mut out = Bytes::new(size);
    out.pointer(0x1000);
    out.pointer(type_id);
    out.u32(objects);
    out.u64(bytes);
    out.u16(8);
    logged(7, time, id, 0, out)
}

fn types(size: PointerSize, time: i64, types: &[(u64, &str)]) -> Logged {
    let mut out = Bytes::new(size);
    out.u32(types.len() as u32);
    out.u16(8);
    for (type_id, name) in types {
        out.u64(*type_id);
        out.u64(1);
        out.u32(2);
        out.u32(0);
        out.u8(0x12);
        out.utf16(name);
        out.u32(1);
        out.u64(5);
    }
    logged(7, time, 15, 0, out)
}

fn random(size: PointerSize, time: i64, kind: u32, object: u64) -> Logged {
    let mut out = Bytes::new(size);
    out.u32(kind);
    out.u16(8);
    out.pointer(0x99);
    out.utf16("System.Byte[]");
    out.pointer(0x1000);
    out.u64(object);
    out.u64(3);
    logged(7, time, 303, 0, out)
}

#[test]
fn ticks_of_each_version() {
    for size in [PointerSize::Four, PointerSize::Eight] {
        for version in 0..=4_u8 {
            let extracted = made(size, vec![tick(size, 5, version, (100_000, 1, 90_000))]);
            let rows: Vec<ClrAllocationRow> = extracted.archive.rows().expect("allocations");
            let [row] = &rows[..] else { panic!("{rows:?}") };
            assert_eq!((row.time, row.kind, row.source), (5_000_000, Some(1), 0));
            assert_eq!(row.amount, if version >= 2 { 100_000 + (1 << 33) } else { 100_000 });
            assert_eq!(row.runtime, (version >= 1).then_some(8));
            assert_eq!(row.object_type.as_deref(), (version >= 2).then_some("System.String"));
            assert_eq!(row.heap, (version >= 2).then_some(2));
            assert_eq!(row.address, (version >= 3).then_some(0x1234_5678));
            assert_eq!(row.object_size, (version >= 4).then_some(90_000));
        }
    }
}

#[test]
fn a_tick_that_is_cut_has_the_fields_that_are_there_or_no_row() {
    for size in [PointerSize::Four, PointerSize::Eight] {
        let whole = tick(size, 5, 4, (100_000, 0, 24));
        for length in 0..whole.payload.len() {
            let cut = Logged { payload: whole.payload[..length].to_vec(), ..whole.clone() };
            let extracted = made(size, vec![cut]);
            let rows: Vec<ClrAllocationRow> = extracted.archive.rows().expect("allocations");
            let health: Vec<HealthRow> = extracted.archive.rows().expect("health");
            let counted: i64 =
                health.iter().filter(|row| row.kind == "fields_not_as_expected").map(|row| row.count).sum();
            assert!(rows.len() <= 1 && counted <= 1, "{length} bytes");
            assert!(counted == 1 || rows.len() == 1, "{length} bytes");
            assert!(rows.iter().all(|row| row.amount & 0xffff_ffff == 100_000), "{length} bytes");
        }
    }
}

#[test]
fn sampled_objects_have_the_names_of_their_types() {
    for size in [PointerSize::Four, PointerSize::Eight] {
        let extracted = made(
            size,
            vec![
                tick(size, 1, 4, (100_000, 0, 24)),
                types(size, 2, &[(0x77, "Shop.Basket"), (0x88, "Shop.Order")]),
                sampled(size, 3, 20, (0x77, 10, 240)),
                sampled(size, 4, 32, (0x88, 1, 100_000)),
                sampled(size, 5, 20, (0x77, 5, 120)),
                sampled(size, 6, 20, (0x99, 1, 24)),
            ],
        );
        // Ticks tell of the same allocations, and less.
        let rows = found(&extracted.report.archive, &["type"], &["type", "bytes", "objects", "samples"]);
        let expected = [["-", "24", "1", "1"], ["Shop.Basket", "360", "15", "2"], ["Shop.Order", "100000", "1", "1"]];
        assert_eq!(rows, expected);
    }
}

#[test]
fn objects_that_are_drawn_at_random_stand_for_more() {
    for size in [PointerSize::Four, PointerSize::Eight] {
        let events = vec![tick(size, 1, 4, (100_000, 0, 24)), random(size, 2, 0, 24), random(size, 3, 1, 1_024_000)];
        let extracted = made(size, events);
        let rows: Vec<ClrAllocationRow> = extracted.archive.rows().expect("allocations");
        let drawn: Vec<(i64, Option<i64>)> =
            rows.iter().filter(|row| row.source == 2).map(|row| (row.amount, row.objects)).collect();
        // 24 / (1 - e^(-24/102400)) = 102,412.0; 1 / the same = 4,267.2; an object ten times the mean is nearly always drawn.
        assert_eq!(drawn, [(102_412, Some(4_267)), (1_024_046, Some(1))]);
        let found = found(&extracted.report.archive, &["source"], &["source", "samples", "bytes", "large_bytes"]);
        assert_eq!(found, [["random", "2", "1126458", "1024046"]]);
    }
}
