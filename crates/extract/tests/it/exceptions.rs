//! Exceptions of .NET programs: in real recordings, and in events that are made from their layouts.

use tracesift_archive::Archive;
use tracesift_etl::write::payload::{Bytes, Process};
use tracesift_etl::write::{PointerSize, SessionOptions};
use tracesift_extract::Options;
use tracesift_fixtures::cases;
use tracesift_scenario::providers::{KernelRecord, Logged, write, write_with_kernel};
use tracesift_testing::recording::{Extracted, Recording, extract_file};
use tracesift_trace::rows::{
    EventRow, ExceptionRow, FrameRow, ProcessModuleRow, ProcessRow, StackRow, exception_flags as flags,
    exception_handling as handling,
};

const RUNTIME: tracesift_etl::Guid = tracesift_etl::payload::dotnet::RUNTIME_PROVIDER;
const MS: i64 = 1_000_000;

/// The exception that each of the recordings of .NET Framework has.
#[test]
fn exceptions_of_net_framework() {
    let Some(folder) = cases("etl") else { return };
    for (file, time, address) in
        [("net.4.5.2.x64.etl.zip", 9_903_345_200, 0x0a39_10f0), ("net.4.5.2.x86.etl.zip", 10_378_072_700, 0x0a39_10f0)]
    {
        let out = tempfile::tempdir().expect("a directory");
        let options = Options { out: Some(out.path().to_owned()), ..Options::default() };
        let report = extract_file(&folder.join(file), &options);
        let archive = Archive::open(&report.archive).expect("an archive");
        let rows: Vec<ExceptionRow> = archive.rows().expect("exceptions");
        let [row] = &rows[..] else { panic!("{rows:?}") };
        let processes: Vec<ProcessRow> = archive.rows().expect("processes");
        assert_eq!(processes[row.process.expect("a process").index()].name, "PerfView.exe", "{file}");
        assert_eq!(row.time / 100, time / 100, "{file}");
        assert_eq!(row.exception_type.as_deref(), Some("System.IO.FileNotFoundException"));
        assert_eq!((row.hresult, row.flags, row.runtime), (Some(0x8007_0002), Some(16), Some(11)));
        // This runtime tells of no catch blocks.
        assert_eq!((row.handling, row.caught, &row.caught_by), (handling::UNKNOWN, None, &None));

        // The same event as the generic decoder has it.
        let events: Vec<EventRow> = archive.rows().expect("events");
        let [event] = &events.iter().filter(|event| event.event == "Exception/Start").collect::<Vec<_>>()[..] else {
            panic!("one event")
        };
        let message = row.message.as_deref().expect("a message");
        assert!(message.starts_with("The session PerfView") && event.fields.contains(message), "{message}");
        assert_eq!((event.time, event.thread, event.stack), (row.time, row.thread, row.stack));

        // The stack that the runtime wrote has the return address of the throw; the event has the address before.
        let stacks: Vec<StackRow> = archive.rows().expect("stacks");
        let frames: Vec<FrameRow> = archive.rows().expect("frames");
        let stack = &stacks[row.stack.expect("a stack").index()];
        let loaded: Vec<ProcessModuleRow> = archive.rows().expect("modules of processes");
        let address_of = |frame: &FrameRow| {
            let base = || {
                loaded
                    .iter()
                    .find(|of| of.process == row.process.expect("a process") && Some(of.module) == frame.module)
            };
            frame.address.or_else(|| Some(base()?.base + frame.rva?))
        };
        let addresses: Vec<Option<i64>> = stack.frames.iter().map(|frame| address_of(&frames[frame.index()])).collect();
        assert!(addresses.len() > 5 && addresses.contains(&Some(address + 1)), "{file}: {addresses:x?}");
    }
}

/// An event: time in ms, thread, id, payload.
fn logged(time: i64, tid: u32, id: u16, payload: Bytes) -> Logged {
    let version = u8::from(id == 80);
    Logged { time: time * MS, cpu: 0, provider: RUNTIME, id, version, pid: 7, tid, payload: payload.into_vec() }
}

fn thrown(size: PointerSize, time: i64, tid: u32, (name, flags): (&str, u16)) -> Logged {
    let mut out = Bytes::new(size);
    out.utf16(name);
    out.utf16(&format!("{name} failed"));
    out.pointer(0x0a39_10f0);
    out.u32(0x8007_0002);
    out.u16(flags);
    out.u16(9);
    logged(time, tid, 80, out)
}

/// A block begins, in a method.
fn begins(size: PointerSize, time: i64, tid: u32, id: u16, method: &str) -> Logged {
    let mut out = Bytes::new(size);
    out.u64(0x7000_0000 + time as u64);
    out.u64(0x77);
    out.utf16(method);
    out.u16(9);
    logged(time, tid, id, out)
}

/// What has no fields: the end of a block, and of all.
fn plain(size: PointerSize, time: i64, tid: u32, id: u16) -> Logged {
    logged(time, tid, id, Bytes::new(size))
}

/// Time and time of the catch in ms, type, method that caught, handling.
type Found = (i64, Option<i64>, String, Option<String>, i8);

fn found(extracted: &Extracted) -> Vec<Found> {
    let rows: Vec<ExceptionRow> = extracted.archive.rows().expect("exceptions");
    assert!(rows.is_sorted_by_key(|row| row.time));
    let ms = |time: i64| time / MS;
    rows.iter()
        .map(|row| {
            let name = row.exception_type.clone().unwrap_or_default();
            (ms(row.time), row.caught.map(ms), name, row.caught_by.clone(), row.handling)
        })
        .collect()
}

fn row(time: i64, caught: Option<(i64, &str)>, name: &str, of: i8) -> Found {
    let (at, by) = (caught.map(|(at, _)| at), caught.map(|(_, by)| by.to_owned()));
    (time, at, name.to_owned(), by, of)
}

#[test]
fn exceptions_are_nested_thrown_again_and_filtered() {
    for size in [PointerSize::Four, PointerSize::Eight] {
        let (a, b) = (20, 24);
        let log = vec![
            // A finally block of the first one throws another one, and catches it.
            thrown(size, 10, a, ("Outer", 0)),
            begins(size, 11, a, 252, "Finally"),
            thrown(size, 12, a, ("Inner", 2)),
            // Meanwhile another thread.
            thrown(size, 13, b, ("Other", 0)),
            begins(size, 14, a, 250, "InnerCatch"),
            plain(size, 15, a, 251),
            plain(size, 16, a, 256),
            begins(size, 17, b, 254, "Filter"),
            plain(size, 18, b, 255),
            plain(size, 19, a, 253),
            begins(size, 20, a, 250, "OuterCatch"),
            // It throws the same one again, which the next method catches.
            thrown(size, 21, a, ("Outer", 6)),
            begins(size, 22, a, 250, "Main"),
            plain(size, 23, a, 251),
            plain(size, 24, a, 256),
            // A catch block without an exception.
            begins(size, 25, 28, 250, "Nobody"),
            // Version 0 has no fields.
            Logged { version: 0, ..plain(size, 30, 28, 80) },
            plain(size, 31, 28, 256),
        ];
        let bytes = write(size, 1, &[(7, "app.exe")], log).expect("events");
        let extracted = Recording::of("exceptions.etl", &bytes).extract();
        let caught = handling::CAUGHT;
        let expected = [
            row(10, Some((20, "OuterCatch")), "Outer", caught),
            row(12, Some((14, "InnerCatch")), "Inner", caught),
            row(13, None, "Other", handling::FILTERED),
            row(21, Some((22, "Main")), "Outer", caught),
            // No catch block ended before: code outside of the runtime caught it.
            row(30, None, "", caught),
        ];
        assert_eq!(found(&extracted), expected, "{size:?}");
        let health = &extracted.report.health;
        assert_eq!((health.get("fields_not_as_expected"), health.get("catch_without_throw")), (0, 1));

        let rows: Vec<ExceptionRow> = extracted.archive.rows().expect("exceptions");
        assert_eq!(rows[3].flags, Some(flags::RETHROWN | flags::NESTED));
        assert_eq!((rows[0].hresult, rows[0].runtime), (Some(0x8007_0002), Some(9)));
        assert_eq!(rows[0].message.as_deref(), Some("Outer failed"));
        let frames: Vec<FrameRow> = extracted.archive.rows().expect("frames");
        assert_eq!(frames[rows[0].caught_frame.expect("a frame").index()].address, Some(0x7000_0000 + 20));
    }
}

#[test]
fn the_exit_code_tells_which_exception_nobody_caught() {
    let size = PointerSize::Eight;
    for (code, last) in [(0xe043_4352_u32, handling::UNHANDLED), (0, handling::NOT_CAUGHT)] {
        let mut payload = Bytes::new(size);
        let (key, image) = (0x8000_0007, "app.exe");
        Process {
            key,
            pid: 7,
            parent_pid: 4,
            session: 1,
            exit_status: code.cast_signed(),
            flags: 0,
            user: None,
            image,
            command_line: image,
            package: "",
            application: "",
        }
        .encode(&mut payload);
        let ended =
            KernelRecord { time: 50 * MS, cpu: 0, hook: Process::END, caller: (7, 20), payload: payload.into_vec() };
        let log = vec![
            thrown(size, 10, 20, ("Early", 0)),
            begins(size, 11, 20, 250, "Main"),
            plain(size, 12, 20, 251),
            thrown(size, 20, 24, ("Lost", 0)),
            thrown(size, 30, 20, ("Last", 0)),
            // Another life of the same ids.
            thrown(size, 80, 20, ("Later", 0)),
        ];
        let options = SessionOptions { pointer_size: size, ..SessionOptions::default() };
        let processes = [(7, "app.exe")];
        let bytes = write_with_kernel(options, 1, &processes, log, vec![ended]).expect("events");
        let extracted = Recording::of("uncaught.etl", &bytes).extract();
        let expected = [
            row(10, Some((11, "Main")), "Early", handling::CAUGHT),
            row(20, None, "Lost", handling::NOT_CAUGHT),
            row(30, None, "Last", last),
        ];
        assert_eq!(found(&extracted)[..3], expected, "{code:x}");
    }
}

#[test]
fn an_exception_that_is_cut_has_no_row_or_the_fields_that_are_there() {
    for size in [PointerSize::Four, PointerSize::Eight] {
        let whole = thrown(size, 5, 20, ("Cut", 1));
        for length in 0..whole.payload.len() {
            let cut = Logged { payload: whole.payload[..length].to_vec(), ..whole.clone() };
            let bytes = write(size, 1, &[(7, "app.exe")], vec![cut]).expect("events");
            let extracted = Recording::of("cut.etl", &bytes).extract();
            let rows: Vec<ExceptionRow> = extracted.archive.rows().expect("exceptions");
            let counted = extracted.report.health.get("fields_not_as_expected");
            assert_eq!(rows.len() as i64 + counted, 1, "{length} bytes");
            assert!(rows.iter().all(|row| row.exception_type.as_deref().is_none_or(|name| "Cut".starts_with(name))));
        }
    }
}
