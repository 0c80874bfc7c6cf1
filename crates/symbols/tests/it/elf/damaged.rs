//! Files that are cut off or have other bytes here and there: an error or fewer names, and never more than that.

use std::io::Cursor;

use tracesift_fixtures::have;
use tracesift_symbols::elf::{self, Companions};

use crate::elf::tools::{run, sources};

/// A generator of numbers that is the same everywhere (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap()
    }
}

/// Reads everything that such a file offers.
fn read(bytes: &[u8]) {
    let _ = elf::build_id(Cursor::new(bytes));
    let _ = elf::debug_link(Cursor::new(bytes));
    let _ = elf::debug_alt_link(Cursor::new(bytes));
    if let Ok(table) = elf::read(Cursor::new(bytes), Companions::default(), None) {
        for (start, _) in table.code_ranges() {
            assert!(table.frames(start).count() < 10_000);
        }
    }
    let companions = Companions { image: None, supplementary: Some(Cursor::new(bytes)) };
    let _ = elf::read(Cursor::new(bytes), companions, None);
}

#[test]
fn damage_is_an_error_or_costs_names() {
    if !have(&["gcc"]) {
        return;
    }
    let directory = sources();
    let at = directory.path();
    for (name, flags) in [("v5", "-gdwarf-5"), ("v4", "-gdwarf-4"), ("packed", "-gz")] {
        run(at, "gcc", &["-g", flags, "-O2", "-shared", "-fPIC", "-Iinclude", "lib/list.c", "-o", name]);
        let sound = std::fs::read(at.join(name)).unwrap();
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        read(&sound);
        for _ in 0..150 {
            read(&sound[..random.below(sound.len())]);
        }
        for _ in 0..1500 {
            let mut bytes = sound.clone();
            for _ in 0..=random.below(6) {
                let place = random.below(bytes.len());
                bytes[place] = match random.below(4) {
                    0 => 0xff,
                    1 => 0,
                    2 => bytes[place] ^ (1 << random.below(8)),
                    _ => u8::try_from(random.below(256)).unwrap(),
                };
            }
            read(&bytes);
        }
    }
}
