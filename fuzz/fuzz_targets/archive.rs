//! A file of an archive, the others intact. The first byte chooses the file, the second says how many rows `trace.json`
//! claims for it.

#![no_main]

mod answers;
mod scratch;

use std::path::PathBuf;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use tracesift_archive::Archive;
use tracesift_testing::archive::{bless, small_archive};
use tracesift_trace::every_table;
use tracesift_trace::rows::*;

/// An archive with a few rows in every table.
struct Base {
    path: PathBuf,
    trace_file: Vec<u8>,
}

impl Base {
    fn write() -> Self {
        let_the_decoder_panic();
        let path = scratch::folder().join("x.sift");
        small_archive(&path);
        let trace_file = std::fs::read(path.join("trace.json")).expect("trace.json");
        Self { path, trace_file }
    }
}

fuzz_target!(|bytes: &[u8]| {
    static BASE: OnceLock<Base> = OnceLock::new();
    let Base { path, trace_file } = BASE.get_or_init(Base::write);
    let Some(([chosen, rows], content)) = bytes.split_first_chunk() else { return };
    match TABLES.get(usize::from(*chosen)) {
        Some(table) => {
            let file = path.join(format!("{}.parquet", table.name));
            let intact = std::fs::read(&file).expect("table");
            std::fs::write(&file, content).expect("written");
            bless(path, table.name, Some(u64::from(*rows)));
            read(path);
            std::fs::write(&file, intact).expect("written");
        }
        None => {
            std::fs::write(path.join("trace.json"), content).expect("written");
            read(path);
        }
    }
    std::fs::write(path.join("trace.json"), trace_file).expect("written");
});

/// Reads everything in every way, and asks everything.
fn read(path: &PathBuf) {
    let Ok(archive) = Archive::open(path) else { return };
    let _ = archive.verify();
    macro_rules! each {
        ($($row:ident),+) => { $(
            let _ = archive.rows::<$row>();
            let _ = archive.scan(Some(-1_000_000..1_000_000), |_: &$row| {});
            let _ = archive.scan_backwards(Some(0..1 << 30), |_: &$row| {});
        )+ };
    }
    every_table!(each);
    answers::ask_everything(path);
}

/// Panics inside the Parquet decoder are caught and become errors; all others end the process, as libFuzzer wants it.
fn let_the_decoder_panic() {
    let abort = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let inside = |file: &str| ["parquet-", "arrow-", "bytes-"].iter().any(|part| file.contains(part));
        if !panic.location().is_some_and(|location| inside(location.file())) {
            abort(panic);
        }
    }));
}
