//! The inputs that fuzzing starts from, in `fuzz/corpus`: they are what their names say. With `WRITE_CORPUS=1` they are written.

use std::path::PathBuf;
use std::sync::Arc;
use std::{env, fs};

use crate::common::example::{attrs, data, features, raw, tracing_data};
use tracesift_fixtures::perf_data::{Bytes, file, pipe};
use tracesift_perf::{Counts, Endianness, PerfFile};

fn recordings() -> [(&'static str, Vec<u8>); 4] {
    let little = Endianness::LittleEndian;
    let big = Endianness::BigEndian;
    let packed = zstd::encode_all(data(little).as_slice(), 3).expect("it compresses");
    let mut compressed = Bytes::new(little);
    compressed.record(81, 0, |out| {
        out.raw(&packed);
    });
    [
        ("file", file(little, &attrs(), &data(little), &features(little))),
        ("stream", pipe(little, &attrs(), &data(little), &features(little))),
        ("big_endian", file(big, &attrs(), &data(big), &features(big))),
        ("compressed", file(little, &attrs(), &compressed.bytes, &[])),
    ]
}

fn tracing() -> Vec<u8> {
    let raw = raw(Endianness::LittleEndian);
    let length = u16::try_from(raw.len()).expect("it is short").to_le_bytes();
    [&length[..], &raw, &tracing_data(Endianness::LittleEndian)].concat()
}

#[test]
fn the_inputs_are_what_they_are_called() {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus"));
    let recordings = recordings().map(|(name, bytes)| (format!("perf_file/{name}"), bytes));
    for (name, bytes) in recordings.into_iter().chain([("tracing_data/one_format".to_owned(), tracing())]) {
        let path = folder.join(&name);
        if env::var_os("WRITE_CORPUS").is_some() {
            fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
            fs::write(&path, &bytes).expect("it can be written");
        }
        assert!(fs::read(&path).is_ok_and(|there| there == bytes), "{name} is another; write it with WRITE_CORPUS=1");
        if name.starts_with("perf_file") {
            let counts = Counts::of(PerfFile::new(Arc::new(bytes)).expect("a recording").records());
            assert_eq!((counts.total_samples(), counts.damage.is_empty()), (2, true), "{name}: {:?}", counts.damage);
        }
    }
}
