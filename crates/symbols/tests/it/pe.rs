//! Windows images: identities, embedded PDBs, exports.

use std::fs::{self, File};
use std::io::Cursor;
use std::process::Command;

use tracesift_fixtures::{cases, have};
use tracesift_symbols::pe::{Image, MACHINE_AMD64, MACHINE_I386};
use tracesift_symbols::{Error, PdbId};

#[test]
fn images_name_their_pdbs() {
    let Some(cases) = cases("symbols") else { return };
    let open = |name: &str| Image::read(File::open(cases.join(name)).expect("it is there"), None).expect("an image");
    let pdb = |name: &str, guid: &str, age| PdbId { name: name.to_owned(), guid: guid.parse().expect("a GUID"), age };
    let crash = open("crash.exe");
    assert_eq!(crash.machine(), MACHINE_I386);
    assert!(!crash.is_managed());
    let [found] = crash.pdbs() else { panic!("{:?}", crash.pdbs()) };
    assert_eq!((&found.id, found.portable), (&pdb("crash.pdb", "3249D99D-0C40-4931-8610-F4E4FB0B6936", 1), false));
    let omap = open("test_vtables_omap.dll");
    assert_eq!(omap.pdbs()[0].id, pdb("test_vtables_omap.dll.pdb", "DA1E1055-7EB7-4419-B3F1-63D0EE92AC00", 1));
    assert_eq!(open("CrashWithException.exe").machine(), MACHINE_AMD64);
    let managed = open("ppdb-sourcelink-sample.dll");
    assert!(managed.is_managed());
    let [found] = managed.pdbs() else { panic!("{:?}", managed.pdbs()) };
    let expected = pdb("ppdb-sourcelink-sample.pdb", "CCBCACCE-DCA5-467B-AE40-59282CE78BCE", 1);
    assert_eq!((&found.id, found.portable), (&expected, true));
}

/// Time stamp, size and machine are those that llvm-readobj finds.
#[test]
fn headers_agree_with_another_reader() {
    let Some(cases) = cases("symbols") else { return };
    if !have(&["llvm-readobj"]) {
        return;
    }
    for name in ["crash.exe", "CrashWithException.exe", "test_vtables_omap.dll", "ppdb-sourcelink-sample.dll"] {
        let path = cases.join(name);
        let output = Command::new("llvm-readobj").arg("--file-headers").arg(&path).output().expect("it runs");
        let text = String::from_utf8(output.stdout).expect("text");
        let value = |key: &str| {
            let line = text.lines().find_map(|line| line.trim().strip_prefix(key)).expect(key);
            line.trim_start_matches(':').trim().to_owned()
        };
        let image = Image::read(File::open(&path).expect("it is there"), None).expect("an image");
        let id = image.id(name);
        let stamp = value("TimeDateStamp");
        let stamp = stamp.split(['(', ')']).nth(1).expect("digits in parentheses");
        assert_eq!(format!("0x{:X}", id.time_date_stamp), stamp, "{name}");
        assert_eq!(id.size.to_string(), value("SizeOfImage"), "{name}");
        assert!(value("Machine").contains(&format!("0x{:X}", image.machine())), "{name}");
        let file = || File::open(&path).expect("it is there");
        assert!(Image::read(file(), Some(&id)).is_ok());
        let mut other = id.clone();
        other.time_date_stamp ^= 1;
        assert!(matches!(Image::read(file(), Some(&other)), Err(Error::OtherBinary { .. })));
        let other = tracesift_symbols::ImageId { size: id.size + 1, ..id };
        assert!(matches!(Image::read(file(), Some(&other)), Err(Error::OtherBinary { .. })));
    }
}

#[test]
fn an_embedded_portable_pdb_is_unpacked() {
    let Some(cases) = cases("symbols") else { return };
    let bytes = fs::read(cases.join("Sentry.Samples.Console.Basic-embedded-ppdb.dll")).expect("it is there");
    let mut image = Image::read(Cursor::new(&bytes), None).expect("an image");
    let pdb = image.embedded_portable_pdb().expect("it unpacks").expect("it is there");
    assert!(pdb.starts_with(b"BSJB"));
    // The stream `#Pdb` begins with the identity that the image's CodeView record has.
    let guid: Vec<u8> = bytes_of(&image.pdbs()[0].id.guid.digits());
    assert!(image.pdbs()[0].portable);
    assert!(pdb.windows(8).any(|window| window == &guid[8..]));
    // A size that the stream does not have is refused.
    let at = bytes.windows(4).position(|window| window == b"MPDB").expect("the signature");
    for size in [0, 1, u32::MAX, u32::try_from(pdb.len()).expect("it is small") + 1] {
        let mut forged = bytes.clone();
        forged[at + 4..at + 8].copy_from_slice(&size.to_le_bytes());
        let mut image = Image::read(Cursor::new(forged), None).expect("an image");
        assert!(matches!(image.embedded_portable_pdb(), Err(Error::Malformed(_))), "{size}");
    }
}

fn bytes_of(digits: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).expect("digits");
    (0..digits.len() / 2).map(|at| digit(2 * at)).collect()
}

/// Cut short or with other bytes an image is an error or has other names.
#[test]
fn damaged_images_are_no_trouble() {
    let Some(cases) = cases("symbols") else { return };
    for name in ["crash.exe", "test_vtables_omap.dll", "Sentry.Samples.Console.Basic-embedded-ppdb.dll"] {
        let bytes = fs::read(cases.join(name)).expect("it is there");
        let read = |bytes: &[u8]| {
            let Ok(mut image) = Image::read(Cursor::new(bytes), None) else { return };
            let _ = image.embedded_portable_pdb();
            if let Ok(table) = image.exports("") {
                table.code_ranges().for_each(|(start, _)| table.frames(start).for_each(drop));
            }
        };
        for end in (0..2048).chain((2048..bytes.len()).step_by(509)) {
            read(&bytes[..end]);
        }
        for at in 0..bytes.len().min(2048) {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] = value;
                read(&damaged);
            }
        }
    }
}
