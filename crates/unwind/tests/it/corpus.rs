//! The inputs that fuzzing starts from, in `fuzz/corpus`: they are what their names say. With `WRITE_CORPUS=1` they are written.

use std::path::PathBuf;
use std::{env, fs};

use crate::common::{EhFrame, elf, image, memory};

/// Pointers into the function at 0x2000, a stack that leads back to it once, and the file.
fn input(arm: bool, instructions: &[u8]) -> Vec<u8> {
    let (machine, return_address) = if arm { (183, 30) } else { (62, 16) };
    let stack_pointer = if arm { 31 } else { 7 };
    let first = [0x0c, stack_pointer, 8, 0x80 | return_address, 1];
    let frames = EhFrame::new(b"", &[], return_address, &first).function(0x2000, 0x100, false, instructions);
    let file = elf(machine, ".eh_frame", &frames.bytes());
    image(&file).unwrap();
    [vec![arm.into(), 4], memory(&[0x2010; 33]), memory(&[0x2020, 0x2030, 0, 0]), file].concat()
}

#[test]
fn the_inputs_are_what_they_are_called() {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/unwind"));
    // `def_cfa_expression breg7 8`
    let inputs =
        [("x86_64", input(false, &[])), ("arm", input(true, &[])), ("expression", input(false, &[0x0f, 2, 0x77, 8]))];
    for (name, bytes) in inputs {
        let path = folder.join(name);
        if env::var_os("WRITE_CORPUS").is_some() {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&path, &bytes).unwrap();
        }
        assert!(fs::read(&path).is_ok_and(|there| there == bytes), "{name} is another; write it with WRITE_CORPUS=1");
    }
}
