//! Bad input: one line each that names the file, the reason and what to do.

use std::io::{Cursor, Write};
use std::time::Duration;

use cab::CompressionType;
use flate2::Compression;
use flate2::write::GzEncoder;
use lzma_rust2::{XzOptions, XzWriter};
use tracesift_extract::input::container::Limits;
use tracesift_extract::input::{InputError, OpenOptions};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::fixtures::*;

fn tight(max_unpacked: u64) -> OpenOptions {
    OpenOptions { limits: Limits { max_unpacked, ..Limits::default() }, ..OpenOptions::default() }
}

fn message(name: &str, content: &[u8]) -> String {
    failure(&place(name, content), &OpenOptions::default())
}

#[test]
fn empty_missing_and_not_a_file() {
    assert_eq!(
        message("empty.etl", b""),
        "empty.etl: is empty, so the recorder wrote nothing; record again or leave it out"
    );
    let placed = place("x.etl", b"1");
    let error = open(&placed.directory.path().join("y.etl")).expect_err("missing");
    assert!(error.to_string().ends_with("y.etl: not found; check the path, or give a wildcard such as '*.etl'"));
    assert!(matches!(open(placed.directory.path()), Err(InputError::NotAFile { .. })));
}

#[test]
fn only_empty_recordings_inside() {
    assert_eq!(
        message("x.zip", &zip(&[("a.etl", b""), ("b.txt", b"text")])),
        "x.zip (a.etl): is empty, so the recorder wrote nothing; record again or leave it out"
    );
    assert_eq!(
        message("x.etl.gz", &gzip(b"")),
        "x.etl.gz: is empty, so the recorder wrote nothing; record again or leave it out"
    );
}

#[test]
fn no_recording_inside_lists_what_is() {
    let names: Vec<String> = (0..8).map(|number| format!("{number}.txt")).collect();
    let files: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), b"x".as_slice())).collect();
    let expected = |name: &str| {
        format!(
            "{name}: holds no recording, only 0.txt, 1.txt, 2.txt, 3.txt, 4.txt and 3 more; give the file that holds the recording"
        )
    };
    assert_eq!(message("x.zip", &zip(&files)), expected("x.zip"));
    assert_eq!(message("x.7z", &solid_7z(&files)), expected("x.7z"));
    assert_eq!(message("x.cab", &cabinet(&files, CompressionType::None)), expected("x.cab"));
    assert_eq!(message("none.zip", &zip(&[])), "none.zip: holds nothing; give the file that holds the recording");
}

#[test]
fn not_what_the_name_says() {
    for name in ["x.zip", "x.7z", "x.cab", "x.etl.gz", "x.etl.xz"] {
        let text = message(name, b"this is only text, long enough for any header of any kind of archive");
        assert!(
            text.starts_with(&format!("{name}: damaged: ")) && text.ends_with("; get it again from its source"),
            "{text}"
        );
    }
}

#[test]
fn truncated() {
    let a = content(1, 300_000);
    for (name, archive) in [
        ("x.zip", zip(&[("a.etl", &a)])),
        ("x.7z", solid_7z(&[("a.etl", &a)])),
        ("x.cab", cabinet(&[("a.etl", &a)], CompressionType::MsZip)),
        ("x.etl.gz", gzip(&a)),
        ("x.etl.xz", xz(&a)),
    ] {
        for length in [archive.len() - 1, archive.len() / 2, 30] {
            let error = open(&place(name, &archive[..length]).path).expect_err("truncated");
            assert!(matches!(error, InputError::Damaged { .. }), "{name} cut to {length}: {error}");
        }
    }
    let cut = xz(&a);
    assert_eq!(
        message("x.etl.xz", &cut[..cut.len() / 2]),
        "x.etl.xz: damaged: it ends too early; get it again from its source"
    );
}

#[test]
fn a_flipped_byte_is_noticed() {
    let a = content(1, 100_000);
    for (name, mut archive) in [
        ("x.zip", zip(&[("a.etl", &a)])),
        ("x.7z", solid_7z(&[("a.etl", &a)])),
        ("x.cab", cabinet(&[("a.etl", &a)], CompressionType::MsZip)),
        ("x.etl.gz", gzip(&a)),
        ("x.etl.xz", xz(&a)),
    ] {
        let middle = archive.len() / 2;
        archive[middle] ^= 0x10;
        let error = open(&place(name, &archive).path).expect_err("damaged");
        assert!(matches!(error, InputError::Damaged { .. }), "{name}: {error}");
    }
}

#[test]
fn encrypted() {
    let mut archive = zip(&[("a.etl", &content(1, 1000))]);
    // Bit 0 of the flags, in the local header and in the directory.
    archive[6] |= 1;
    let directory = archive.windows(4).position(|bytes| bytes == b"PK\x01\x02").expect("directory");
    archive[directory + 8] |= 1;
    assert_eq!(message("x.zip", &archive), "x.zip (a.etl): is encrypted; unpack it with its password first");
}

#[test]
fn unknown_method() {
    let mut archive = zip(&[("a.etl", &content(1, 1000))]);
    archive[8] = 98;
    let directory = archive.windows(4).position(|bytes| bytes == b"PK\x01\x02").expect("directory");
    archive[directory + 10] = 98;
    assert_eq!(
        message("x.zip", &archive),
        "x.zip (a.etl): packed with an unknown method (Ppmd); unpack it with the program that made it"
    );
}

#[test]
fn zip_bomb() {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.start_file("a.etl", SimpleFileOptions::default()).expect("start");
    zeros(20 << 20, &mut writer);
    let archive = writer.finish().expect("finish").into_inner();
    let placed = place("x.zip", &archive);
    assert_eq!(
        failure(&placed, &tight(1 << 20)),
        "x.zip (a.etl): expands to more than 1 MiB, which looks like an attack; unpack it by other means if it is genuine"
    );

    // A declared size that is a lie does not help.
    let mut lying = archive;
    let directory = lying.windows(4).position(|bytes| bytes == b"PK\x01\x02").expect("directory");
    lying[directory + 24..directory + 28].copy_from_slice(&100_000_u32.to_le_bytes());
    let error = open_with(&place("x.zip", &lying).path, &tight(1 << 20)).expect_err("lies");
    assert!(matches!(error, InputError::TooLarge { .. } | InputError::Damaged { .. }), "{error}");
}

#[test]
fn stream_bombs() {
    let mut writer = GzEncoder::new(Vec::new(), Compression::default());
    zeros(20 << 20, &mut writer);
    let gz = place("x.etl.gz", &writer.finish().expect("finish"));
    let mut writer = XzWriter::new(Vec::new(), XzOptions::with_preset(1)).expect("start");
    zeros(20 << 20, &mut writer);
    let xz = place("x.etl.xz", &writer.finish().expect("finish"));
    for placed in [&gz, &xz] {
        assert!(failure(placed, &tight(1 << 20)).contains(": expands to more than 1 MiB"));
        // The ratio counts as well as the total.
        let limits = Limits { free: 64 << 10, max_ratio: 100, ..Limits::default() };
        let by_ratio = OpenOptions { limits, ..OpenOptions::default() };
        assert!(failure(placed, &by_ratio).contains(": expands to more than "));
        assert!(open(&placed.path).is_ok());
    }
}

#[test]
fn a_bomb_inside_an_archive_counts_against_the_outer_file() {
    let mut writer = GzEncoder::new(Vec::new(), Compression::default());
    zeros(20 << 20, &mut writer);
    let inner = writer.finish().expect("finish");
    let placed = place("x.zip", &zip(&[("a.etl.gz", &inner)]));
    assert!(failure(&placed, &tight(4 << 20)).starts_with("x.zip (a.etl.gz): expands to more than 4 MiB"));
}

#[test]
fn too_many_members() {
    let files: Vec<(&str, &[u8])> = ["a.etl", "b.etl", "c.etl"].map(|name| (name, b"1".as_slice())).to_vec();
    let limits = Limits { max_members: 2, ..Limits::default() };
    let options = OpenOptions { limits, ..OpenOptions::default() };
    for (name, archive) in
        [("x.zip", zip(&files)), ("x.7z", solid_7z(&files)), ("x.cab", cabinet(&files, CompressionType::None))]
    {
        assert_eq!(
            failure(&place(name, &archive), &options),
            format!("{name}: holds 3 members, more than the 2 that are accepted; unpack the recording by other means")
        );
    }
}

#[test]
fn too_large_a_dictionary() {
    let limits = Limits { max_dictionary: 64 << 10, ..Limits::default() };
    let options = OpenOptions { limits, ..OpenOptions::default() };
    let a = content(1, 10_000);
    let expected = "needs more than 64 KiB of memory to unpack; unpack it by other means";
    let seven = place("x.7z", &solid_7z(&[("a.etl", &a)]));
    assert_eq!(failure(&seven, &options), format!("x.7z (a.etl): {expected}"));
    assert_eq!(failure(&place("x.etl.xz", &xz(&a)), &options), format!("x.etl.xz: {expected}"));
}

#[test]
fn no_temporary_directory() {
    let placed = place("x.zip", &zip(&[("a.etl", b"1234")]));
    let options = OpenOptions { temp_dir: Some(placed.directory.path().join("none")), ..OpenOptions::default() };
    let text = failure(&placed, &options);
    assert!(text.starts_with("x.zip: cannot write a temporary file in none: "), "{text}");
    let variable = if cfg!(windows) { "TMP" } else { "TMPDIR" };
    assert!(text.ends_with(&format!("; choose another directory with --temp or {variable}")), "{text}");
}

/// A cabinet with one stored folder, written by hand so that single fields can be wrong.
fn cabinet_by_hand(offset_in_folder: u32, size: u32, block_size: u16) -> Vec<u8> {
    let mut bytes = b"MSCF\0\0\0\0".to_vec();
    bytes.extend(0_u32.to_le_bytes()); // size of the cabinet, not needed
    bytes.extend(0_u32.to_le_bytes());
    bytes.extend(44_u32.to_le_bytes()); // first file
    bytes.extend(0_u32.to_le_bytes());
    bytes.extend([3, 1]); // version
    bytes.extend([1, 0, 1, 0, 0, 0, 0, 0, 0, 0]); // one folder, one file, no flags
    bytes.extend(66_u32.to_le_bytes()); // first block
    bytes.extend([1, 0, 0, 0]); // one block, stored
    bytes.extend(size.to_le_bytes());
    bytes.extend(offset_in_folder.to_le_bytes());
    bytes.extend([0; 8]);
    bytes.extend(b"a.etl\0");
    assert_eq!(bytes.len(), 66);
    bytes.extend([0; 4]); // no checksum
    bytes.extend(8_u16.to_le_bytes());
    bytes.extend(block_size.to_le_bytes());
    bytes.extend(b"12345678");
    bytes
}

#[test]
fn a_cabinet_whose_table_lies() {
    assert_eq!(contents(&open(&place("x.cab", &cabinet_by_hand(2, 4, 8)).path).expect("opens"))[0].1, b"3456");
    for (offset, size, block_size) in [(9, 0, 8), (0, 9, 8), (u32::MAX, u32::MAX, 8), (0, 4, 16), (0, 4, 0)] {
        let error = open(&place("x.cab", &cabinet_by_hand(offset, size, block_size)).path).expect_err("lies");
        assert!(matches!(error, InputError::Damaged { .. }), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_is_not_waited_for() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let socket = directory.path().join("x.etl");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).expect("bind");
    assert!(matches!(open(&socket), Err(InputError::NotAFile { .. })));
}

#[test]
fn names_with_control_characters_do_not_reach_the_terminal() {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    archive.start_file("a\u{1b}[31m\n.txt", SimpleFileOptions::default()).expect("start");
    archive.write_all(b"1").expect("write");
    let text = message("x.zip", &archive.finish().expect("finish").into_inner());
    assert_eq!(text, "x.zip: holds no recording, only a[31m.txt; give the file that holds the recording");
}

/// Every value of every byte of the first chunk's header: a decoder that has refused one of these goes round for ever if it is read again.
#[test]
fn damaged_headers_of_chunks() {
    let archive = solid_7z(&[("a.etl", &content(1, 900)), ("b.etl", &content(2, 300))]);
    let mut refusals = 0;
    for place in 32..38 {
        for byte in 0..=255 {
            let mut damaged = archive.clone();
            damaged[place] = byte;
            match open(&self::place("x.7z", &damaged).path) {
                Ok(opened) => drop(contents(&opened)),
                Err(InputError::Stuck { .. }) => panic!("byte {place} as {byte} goes round for ever"),
                Err(_) => refusals += 1,
            }
        }
    }
    assert!(refusals > 1000, "{refusals}");
}

#[test]
fn a_stuck_decoder_is_told() {
    let error = InputError::Stuck { path: "x.7z".into(), silence: Duration::from_secs(60) };
    let told =
        "x.7z: nothing has come out of it for 60 s, so it is damaged, or cannot be read; get it again from its source";
    assert_eq!(error.to_string(), told);
}
