//! The inputs that fuzzing starts from, in `fuzz/corpus`: they are what their names say. With `WRITE_CORPUS=1` they are written.

use std::path::PathBuf;
use std::{env, fs};

use crate::common::build::{Buffer, logfile_header, perf_info, system};
use tracesift_etl::counts::Counts;
use tracesift_etl::{EtlFile, HeaderKind, Record, lznt1, xpress};

use crate::common::compress;

fn event(items: &[(u16, &[u8])], payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, 0, 0x13, 0xc0, u8::from(!items.is_empty()), 0, 0, 0, 7, 0, 0, 0, 5, 0, 0, 0];
    bytes.extend(100i64.to_le_bytes());
    bytes.extend([0x5a; 16]);
    bytes.extend([3, 0, 1, 11, 4, 0, 0, 0]);
    bytes.resize(80, 0);
    for (at, (kind, data)) in items.iter().enumerate() {
        let size = (8 + data.len()).next_multiple_of(8);
        for word in [size as u16, *kind, u16::from(at + 1 < items.len()), data.len() as u16] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(*data);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
    }
    bytes.extend(payload);
    let size = bytes.len() as u16;
    bytes[..2].copy_from_slice(&size.to_le_bytes());
    bytes
}

fn traced_event() -> Vec<u8> {
    let mut stack = vec![0; 8];
    stack.extend(0xffff_f800_0000_1000u64.to_le_bytes());
    stack.extend(0x7ff6_0000_2000u64.to_le_bytes());
    event(&[(6, &stack), (12, b"\x0b\0Provider\0"), (11, b"\x0d\0\0Event\0x\0\x08")], &7u32.to_le_bytes())
}

fn message() -> Vec<u8> {
    let mut bytes = vec![52, 0, 0, 0x90, 1, 0, 0x2b, 0, 9, 0, 0, 0];
    bytes.extend([0x33; 16]);
    bytes.extend(120i64.to_le_bytes());
    bytes.extend([7, 0, 0, 0, 5, 0, 0, 0]);
    bytes.resize(52, 1);
    bytes
}

fn buffers() -> [Buffer; 3] {
    let mut first = Buffer::new(0, 1);
    first.push(&perf_info(2, 0x0524, 90, &[1; 24]));
    first.push(&traced_event());
    first.push(&message());
    let mut second = Buffer::new(1, 2);
    second.push(&system(0x0501, 95, b"a thread starts"));
    second.push(&perf_info(0x0202, 0x0f2e, 110, &[2; 32]));
    [Buffer::header(1024, 0x0400_0001, 50), first, second]
}

/// Name of the input below `fuzz/corpus`, and its bytes.
fn corpus() -> Vec<(&'static str, Vec<u8>)> {
    let [header, first, second] = buffers();
    let plain = [&header, &first, &second].map(|buffer| buffer.write(1024)).concat();
    let packed = [header.write(512), first.write_compressed(), second.write_compressed()].concat();
    let mut prefixed = 300u16.to_le_bytes().to_vec();
    prefixed.extend(compress::compress(&b"many repetitions ".repeat(18)[..300]));
    vec![
        ("etl_file/plain", plain.clone()),
        ("etl_file/compressed", packed),
        ("etl_file/without_header", plain[1024..].to_vec()),
        ("etl_file/cut", plain[..2200].to_vec()),
        ("etl_record/logfile_header", logfile_header(1024, 1, 50)),
        ("etl_record/event", traced_event()),
        ("etl_record/message", message()),
        ("etl_record/counters", perf_info(0x8302, 0x0524, 90, &[3; 64])),
        ("xpress/repetitions", prefixed),
        ("lznt1/two_chunks", [&[8, 0, 5, 0xb0, 2, b'a', 4, 0, 0, b'b'][..], &[0, 0x30, b'c']].concat()),
    ]
}

#[test]
fn the_corpus_is_what_its_names_say() {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus"));
    for (name, bytes) in corpus() {
        let path = folder.join(name);
        if env::var_os("WRITE_CORPUS").is_some() {
            fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
            fs::write(&path, &bytes).expect("it can be written");
        }
        assert_eq!(fs::read(&path).expect("it is there"), bytes, "{name}");
    }
}

#[test]
fn the_files_of_the_corpus_are_recordings() {
    for (name, bytes) in corpus().into_iter().filter(|(name, _)| name.starts_with("etl_file")) {
        let file = EtlFile::open(Box::new(bytes)).expect("a recording");
        let (counts, inside) = Counts::of(&file);
        let records = counts.total().map_or(0, |total| total.records);
        let (expected, damaged) = match name {
            "etl_file/plain" | "etl_file/compressed" => (6, false),
            "etl_file/without_header" => (5, true),
            _ => (5, true),
        };
        assert_eq!((records, !file.damage().is_empty()), (expected, damaged), "{name}");
        assert!(inside.is_empty(), "{name}: {inside:?}");
    }
}

#[test]
fn the_records_and_streams_of_the_corpus_are_whole() {
    let kinds: Vec<HeaderKind> = corpus()
        .iter()
        .filter(|(name, _)| name.starts_with("etl_record"))
        .map(|(_, bytes)| Record::parse(bytes, 0, 0).expect("a record").kind())
        .collect();
    assert_eq!(kinds, [HeaderKind::System64, HeaderKind::Event64, HeaderKind::Message, HeaderKind::PerfInfo64]);
    for (name, bytes) in corpus() {
        let mut output = vec![0; usize::from(u16::from_le_bytes([bytes[0], bytes[1]]))];
        let decoded = match name.split('/').next() {
            Some("xpress") => xpress::decompress(&bytes[2..], &mut output),
            Some("lznt1") => lznt1::decompress(&bytes[2..], &mut output),
            _ => continue,
        };
        assert_eq!((decoded.produced, decoded.stopped), (output.len(), None), "{name}");
    }
}
