//! Damaged archives end with members or one error, never with a panic or without end.

use cab::CompressionType;
use tracesift_extract::input::OpenOptions;
use tracesift_extract::input::container::Limits;

use super::fixtures::*;

const MUTATIONS: u32 = 2_000;

/// xorshift: the same mutations in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

/// One to four bytes changed, a stretch copied elsewhere, or the end cut off.
fn mutate(original: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = original.to_vec();
    match random.below(8) {
        0 => bytes.truncate(random.below(bytes.len())),
        1 => {
            let length = 1 + random.below(bytes.len().min(32));
            let (from, to) = (random.below(bytes.len() - length + 1), random.below(bytes.len() - length + 1));
            bytes.copy_within(from..from + length, to);
        }
        2 => {
            // Where fields are, extreme values are the likeliest to do harm.
            let at = random.below(bytes.len().saturating_sub(3).max(1));
            let end = bytes.len().min(at + 4);
            bytes[at..end].fill([0, 0xff, 0x7f, 0x80][random.below(4)]);
        }
        _ => {
            for _ in 0..=random.below(4) {
                let at = random.below(bytes.len());
                bytes[at] = random.below(256) as u8;
            }
        }
    }
    bytes
}

fn survive(name: &str, original: &[u8]) {
    let limits = Limits { max_unpacked: 4 << 20, max_dictionary: 64 << 20, ..Limits::default() };
    let options = OpenOptions { limits, ..OpenOptions::default() };
    let placed = place(name, original);
    assert!(open_with(&placed.path, &options).is_ok(), "{name} is intact at first");
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut refused = 0;
    for _ in 0..MUTATIONS {
        // A new file each time: some file systems wait for the disk when a file is overwritten.
        std::fs::remove_file(&placed.path).expect("remove");
        std::fs::write(&placed.path, mutate(original, &mut random)).expect("write");
        match open_with(&placed.path, &options) {
            Ok(opened) => drop(contents(&opened)),
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().contains('\n'), "{error}");
            }
        }
    }
    assert!(refused > MUTATIONS / 10, "{name}: the mutations reach the reader ({refused} refused)");
}

#[test]
fn zip_mutations() {
    let inner = gzip(&content(3, 300));
    survive("x.zip", &zip(&[("a.etl", &content(1, 900)), ("b.etl.gz", &inner), ("c.txt", b"text")]));
}

#[test]
fn sevenz_mutations() {
    survive("x.7z", &solid_7z(&[("c.txt", b"text"), ("a.etl", &content(1, 900)), ("b.etl", &content(2, 300))]));
}

#[test]
fn cabinet_mutations() {
    let files: Files<'_> = &[("c.txt", b"text"), ("a.etl", &content(1, 70_000)), ("b.etl", &content(2, 300))];
    survive("x.cab", &cabinet(files, CompressionType::MsZip));
    survive("y.cab", &cabinet(&[("c.txt", b"text"), ("a.etl", &content(1, 900))], CompressionType::None));
}

#[test]
fn gzip_mutations() {
    survive("x.etl.gz", &gzip(&content(1, 900)));
}

#[test]
fn xz_mutations() {
    survive("x.etl.xz", &xz(&content(1, 900)));
}
