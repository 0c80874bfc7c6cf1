//! Files and samples that no compiler and no kernel made: no panic, and no more work than is bounded.

use crate::common::{EhFrame, OneImage, elf, image, memory};
use proptest::prelude::*;
use tracesift_unwind::{Architecture, MAX_FRAMES, Registers, Stack, Unwinder};

const MACHINES: [(u16, Architecture); 2] = [(62, Architecture::X86_64), (183, Architecture::Aarch64)];

/// Unwinds with what is given; whatever comes out is bounded.
fn unwind(file: &[u8], values: &[u64], stack: &[u8]) {
    let mut space = OneImage { image: image(file).ok(), base: 0 };
    for (_, architecture) in MACHINES {
        let mut registers = Registers::new(architecture);
        for (register, value) in (0..).zip(values) {
            registers.set(register, *value);
        }
        let top = registers.get(architecture.stack_pointer()).unwrap_or(0);
        let mut chain = Vec::new();
        Unwinder::new(4096).unwind(&registers, Stack::new(top, stack), &mut space, &mut chain);
        assert!(chain.len() <= MAX_FRAMES);
    }
}

/// A file with functions all over its segment, made of these instructions.
fn file(machine: u16, first: &[u8], instructions: &[u8]) -> Vec<u8> {
    let return_address = if machine == 62 { 16 } else { 30 };
    let frames = EhFrame::new(b"", &[], return_address, first).function(0, 0x8_0000, false, instructions).function(
        0x8_0000,
        0x8_0000,
        false,
        &[],
    );
    elf(machine, ".eh_frame", &frames.bytes())
}

#[test]
fn registers_and_stacks_of_ones() {
    for (machine, _) in MACHINES {
        let file = file(machine, &[0x0c, 7, 8, 0x90, 1], &[]);
        for values in [[u64::MAX; 33], [0; 33], [0x10; 33], [i64::MAX.cast_unsigned(); 33]] {
            for stack in [&[][..], &[0xff; 1 << 16], &memory(&[0x10; 1 << 13])] {
                unwind(&file, &values, stack);
            }
        }
    }
}

#[test]
fn truncated_and_damaged_files() {
    let whole = file(62, &[0x0c, 7, 8, 0x90, 1], &[0x44, 0x0e, 40]);
    let stack = memory(&[0x10; 64]);
    for length in 0..whole.len() {
        unwind(&whole[..length], &[0x10; 33], &stack);
    }
    for at in (0..0x240).chain(0x1000..whole.len()) {
        for value in [0, 1, 0x7f, 0x80, 0xff] {
            let mut damaged = whole.clone();
            damaged[at] = value;
            unwind(&damaged, &[0x10; 33], &stack);
        }
    }
}

/// Each entry refers to one common entry whose augmentation has no end: reading it again and again would take forever.
#[test]
fn many_entries_of_an_endless_common_one() {
    let mut bytes = EhFrame::new(&vec![b'a'; 400_000], &[], 16, &[]);
    for _ in 0..10_000 {
        bytes = bytes.function(0x2000, 0x100, false, &[]);
    }
    let file = elf(62, ".eh_frame", &bytes.bytes());
    let mut space = OneImage { image: image(&file).ok(), base: 0 };
    let mut registers = Registers::new(Architecture::X86_64);
    registers.set(16, 0x2010);
    Unwinder::new(4096).unwind(&registers, Stack::new(0, &[]), &mut space, &mut Vec::new());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_instructions_on_any_stack(
        first in proptest::collection::vec(any::<u8>(), 0..40),
        instructions in proptest::collection::vec(any::<u8>(), 0..60),
        values in proptest::collection::vec(prop_oneof![0_u64..0x10_0000, any::<u64>()], 33),
        words in proptest::collection::vec(prop_oneof![0_u64..0x10_0000, any::<u64>()], 0..64),
    ) {
        for (machine, _) in MACHINES {
            unwind(&file(machine, &first, &instructions), &values, &memory(&words));
        }
    }
}
