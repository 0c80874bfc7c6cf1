//! Call chains over call frame information made in the test.

use crate::common::{EhFrame, OneImage, elf, image, memory};
use tracesift_unwind::{
    Architecture, Chain, Elf, End, ImageAt, MAX_FRAMES, Missing, Registers, Space, Stack, Unwinder,
};

const X86_64: u16 = 62;
const AARCH64: u16 = 183;
/// Where the image lies, and the stack.
const BASE: u64 = 0x5555_0000_0000;
const STACK: u64 = 0x7ffe_0000_1000;

/// `def_cfa rsp, 8; offset ra, cfa-8`
const CALLED: [u8; 5] = [0x0c, 7, 8, 0x90, 1];

struct Unwound {
    chain: Vec<u64>,
    how: Chain<&'static str>,
}

fn unwind(file: &[u8], pointer: u64, words: &[u64], set: &[(u8, u64)]) -> Unwound {
    let image = image(file).unwrap();
    let architecture = image.architecture();
    let mut space = OneImage { image: Some(image), base: BASE };
    unwind_in(&mut space, architecture, pointer, words, set)
}

fn unwind_in(
    space: &mut impl Space<Reason = &'static str>,
    architecture: Architecture,
    pointer: u64,
    words: &[u64],
    set: &[(u8, u64)],
) -> Unwound {
    let mut registers = Registers::new(architecture);
    registers.set(architecture.instruction_pointer(), pointer);
    registers.set(architecture.stack_pointer(), STACK);
    set.iter().for_each(|(register, value)| registers.set(*register, *value));
    let (stack, mut chain) = (memory(words), Vec::new());
    let how = Unwinder::new(1 << 20).unwind(&registers, Stack::new(STACK, &stack), space, &mut chain);
    Unwound { chain, how }
}

/// Three functions of 0x100 bytes: one that calls, one with a frame of 32 bytes, and the root.
fn program() -> Vec<u8> {
    let frames = EhFrame::new(b"", &[], 16, &CALLED)
        .function(0x2000, 0x100, false, &[])
        // `advance 4; def_cfa_offset 40; advance 0x20; def_cfa_offset 8`
        .function(0x2100, 0x100, false, &[0x44, 0x0e, 40, 0x60, 0x0e, 8])
        // `undefined ra`
        .function(0x2200, 0x100, false, &[0x07, 16]);
    elf(X86_64, ".eh_frame", &frames.bytes())
}

#[test]
fn a_chain_to_the_root() {
    let words = [BASE + 0x2110, 1, 2, 3, 4, BASE + 0x2210];
    let found = unwind(&program(), BASE + 0x2050, &words, &[]);
    assert_eq!(found.chain, [BASE + 0x2050, BASE + 0x2110, BASE + 0x2210]);
    assert_eq!(found.how, Chain { end: End::Root, by_frame_pointer: 0 });
    // Before its frame is there and after it is gone.
    for pointer in [0x2100, 0x2103, 0x2124] {
        let found = unwind(&program(), BASE + pointer, &[BASE + 0x2210], &[]);
        assert_eq!(found.chain, [BASE + pointer, BASE + 0x2210]);
    }
    // A return address behind the last instruction of a function belongs to that one, not to the next.
    let found = unwind(&program(), BASE + 0x2050, &[BASE + 0x2100, BASE + 0x2210], &[]);
    assert_eq!(found.chain, [BASE + 0x2050, BASE + 0x2100, BASE + 0x2210]);
}

#[test]
fn a_section_for_debuggers_will_do() {
    let mut frames = EhFrame::new(b"", &[], 16, &CALLED).function(0x2000, 0x100, false, &[]).bytes();
    // There a common entry has this id, and others the place of theirs.
    frames[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
    let entry = 4 + u32::from_le_bytes(frames[..4].try_into().unwrap()) as usize;
    frames[entry + 4..entry + 8].fill(0);
    frames.truncate(frames.len() - 4);
    let found = unwind(&elf(X86_64, ".debug_frame", &frames), BASE + 0x2010, &[BASE + 0x2050, 0], &[]);
    assert_eq!(found.chain, [BASE + 0x2010, BASE + 0x2050]);
    assert_eq!(found.how.end, End::Root);
}

#[test]
fn frames_on_other_registers_and_expressions() {
    // `def_cfa rbx, 16; offset rbx, cfa-16`
    let on_rbx = [0x0c, 3, 16, 0x83, 2];
    // `def_cfa_expression breg7 8; deref`: the frame is where a word of the stack says; `expression ra: plus_uconst 8`
    let expression = [0x0f, 3, 0x77, 8, 0x06, 0x10, 16, 2, 0x23, 8];
    let frames = EhFrame::new(b"", &[], 16, &CALLED).function(0x2000, 0x100, false, &on_rbx).function(
        0x2100,
        0x100,
        false,
        &expression,
    );
    let file = elf(X86_64, ".eh_frame", &frames.bytes());
    let words = [9, 9, 9, 7, BASE + 0x2110, 9, STACK + 64, 9, 9, 0];
    let found = unwind(&file, BASE + 0x2050, &words, &[(3, STACK + 24)]);
    assert_eq!(found.chain, [BASE + 0x2050, BASE + 0x2110]);
    assert_eq!(found.how.end, End::Root, "the word behind the frame is 0");
    let found = unwind(&file, BASE + 0x2050, &words, &[]);
    assert_eq!(found.how.end, End::Lost { address: BASE + 0x2050 }, "rbx is not known");
}

#[test]
fn what_is_popped_is_back_in_its_register() {
    // `offset rbp, cfa-16`, also where rbp is popped already; the caller's frame is on rbp: `def_cfa rbp, 16`.
    let frames = EhFrame::new(b"", &[], 16, &CALLED).function(0x2000, 0x100, false, &[0x86, 2]).function(
        0x2100,
        0x100,
        false,
        &[0x0c, 6, 16],
    );
    let file = elf(X86_64, ".eh_frame", &frames.bytes());
    let found = unwind(&file, BASE + 0x20ff, &[BASE + 0x2110, 1, 2, 3, 0], &[(6, STACK + 24)]);
    assert_eq!(found.chain, [BASE + 0x20ff, BASE + 0x2110]);
    assert_eq!(found.how.end, End::Root);
}

#[test]
fn below_a_signal_handler_nothing_was_called() {
    // The interrupted instruction is the first of its function: a call before it would belong to another one.
    let frames = EhFrame::new(b"zS", &[], 16, &CALLED).function(0x1fff, 0x100, true, &[]);
    let mut bytes = frames.bytes();
    bytes.truncate(bytes.len() - 4);
    let common = bytes.len();
    bytes.extend(EhFrame::new(b"", &[], 16, &CALLED).bytes());
    bytes.truncate(bytes.len() - 4);
    let content = [0x2200_u64.to_le_bytes(), 0x100_u64.to_le_bytes()].concat();
    bytes.extend(20_u32.to_le_bytes());
    bytes.extend(u32::try_from(bytes.len() - common).unwrap().to_le_bytes());
    bytes.extend(content);
    bytes.extend([0; 4]);
    let file = elf(X86_64, ".eh_frame", &bytes);
    let found = unwind(&file, BASE + 0x2210, &[BASE + 0x2000, BASE + 0x2200, 0], &[]);
    assert_eq!(found.chain, [BASE + 0x2210, BASE + 0x2000, BASE + 0x2200]);
    assert_eq!(found.how.end, End::Root);
}

#[test]
fn arm_keeps_the_return_address_in_a_register_and_may_sign_it() {
    let signed = 0x00bf_0000_0000_0000 | (BASE + 0x2110);
    let frames = EhFrame::new(b"", &[], 30, &[0x0c, 31, 0])
        .function(0x2000, 0x100, false, &[])
        // `def_cfa_offset 16; offset x29, cfa-16; offset x30, cfa-8; negate_ra_state`
        .function(0x2100, 0x100, false, &[0x0e, 16, 0x9d, 2, 0x9e, 1, 0x2d]);
    let found = unwind(&elf(AARCH64, ".eh_frame", &frames.bytes()), BASE + 0x2010, &[0, 0], &[(30, signed)]);
    assert_eq!(found.chain, [BASE + 0x2010, BASE + 0x2110]);
    assert_eq!(found.how.end, End::Root);
}

#[test]
fn why_a_chain_ends_is_told() {
    let words = [BASE + 0x2110, 1];
    let found = unwind(&program(), BASE + 0x2050, &words, &[]);
    assert_eq!(found.chain.len(), 2);
    assert_eq!(found.how.end, End::Cut { address: BASE + 0x210f });
    let found = unwind(&program(), BASE + 0x2050, &[], &[]);
    assert_eq!((found.chain.len(), found.how.end), (1, End::Cut { address: BASE + 0x2050 }));
    let found = unwind(&program(), BASE + 0x9000, &words, &[]);
    assert_eq!(found.how.end, End::NoUnwindInformation { address: BASE + 0x9000 });
    let found = unwind(&program(), 0x10, &words, &[]);
    assert_eq!(found.how.end, End::Missing { address: 0x10, missing: Missing::NoImage });
    let mut absent = OneImage { image: None, base: BASE };
    let found = unwind_in(&mut absent, Architecture::X86_64, BASE, &words, &[]);
    assert_eq!(found.how.end, End::Missing { address: BASE, missing: Missing::Unusable("not here") });
}

#[test]
fn frame_pointers_where_nothing_better_is_known() {
    // Code made at run time, three functions deep, called by the program.
    let words = [1, STACK + 24, 0x9010, STACK + 40, 0x9020, 0, BASE + 0x2210];
    let found = unwind(&program(), 0x9000, &words, &[(6, STACK + 8)]);
    assert_eq!(found.chain, [0x9000, 0x9010, 0x9020, BASE + 0x2210]);
    let words = [STACK + 16, BASE + 0x2210];
    let found = unwind(&program(), 0x9000, &words, &[(6, STACK)]);
    assert_eq!(found.chain, [0x9000, BASE + 0x2210]);
    assert_eq!(found.how, Chain { end: End::Root, by_frame_pointer: 1 });
    // From an image without information it must lead to an image, and always upwards.
    for words in [[STACK + 16, 0x9000], [STACK, BASE + 0x2210]] {
        let found = unwind(&program(), BASE + 0x9000, &words, &[(6, STACK)]);
        assert_eq!(found.chain, [BASE + 0x9000], "{words:x?}");
    }
}

#[test]
fn no_chain_is_endless() {
    // A function that is its own caller, on a stack of its own return addresses.
    let words = vec![BASE + 0x2050; 4096];
    let found = unwind(&program(), BASE + 0x2050, &words, &[]);
    assert_eq!((found.chain.len(), found.how.end), (MAX_FRAMES, End::TooLong));
    // A frame that leads to itself: `def_cfa rsp, 0; val_expression ra: breg16 0`
    let frames = EhFrame::new(b"", &[], 16, &[0x0c, 7, 0, 0x16, 16, 2, 0x80, 0]).function(0x2000, 0x100, false, &[]);
    let found = unwind(&elf(X86_64, ".eh_frame", &frames.bytes()), BASE + 0x2050, &[], &[]);
    assert_eq!(found.how.end, End::Lost { address: BASE + 0x2050 });
    // An expression that jumps to itself.
    let frames = EhFrame::new(b"", &[], 16, &[0x0f, 3, 0x2f, 0xfd, 0xff]).function(0x2000, 0x100, false, &[]);
    let found = unwind(&elf(X86_64, ".eh_frame", &frames.bytes()), BASE + 0x2050, &[], &[]);
    assert_eq!(found.how.end, End::Lost { address: BASE + 0x2050 });
}

#[test]
fn a_file_tells_who_it_is() {
    let file = program();
    let read = Elf::read(&mut file.as_slice()).unwrap();
    assert_eq!(read.build_id(), Some(&[0xde, 0xad, 0xbe, 0xef][..]));
    assert_eq!(read.architecture(), Architecture::X86_64);
    assert!(Elf::read(&mut &b"\x7fELF"[..]).is_err());
    assert!(Elf::read(&mut &[0; 4096][..]).is_err());
    let other = elf(40, ".eh_frame", &[]);
    assert!(Elf::read(&mut other.as_slice()).is_err());
}

/// Code that was made at run time for calls between functions of an image.
struct Trampolines(OneImage);

impl Space for Trampolines {
    type Reason = &'static str;

    fn image_at(&mut self, address: u64) -> Result<ImageAt<'_>, Missing<&'static str>> {
        self.0.image_at(address)
    }

    fn is_trampoline(&mut self, callee: u64, caller: u64) -> bool {
        self.0.image_at(callee).is_ok() && self.0.image_at(caller).is_ok()
    }
}

#[test]
fn a_trampoline_without_a_frame_pointer_is_stepped_over_where_it_is_known_to_be_one() {
    const MADE: u64 = 0x7000_0000;
    let space = || OneImage { image: Some(image(&program()).unwrap()), base: BASE };
    let leaf = BASE + 0x2010;
    // The leaf's return address, what the trampoline aligns the stack by, and its own return address.
    let words = [0, MADE, 0, BASE + 0x2210];
    let registers = [(7, STACK + 8), (6, 0x1234)];
    let unwound = unwind_in(&mut Trampolines(space()), Architecture::X86_64, leaf, &words, &registers);
    assert_eq!((unwound.chain, unwound.how.end), (vec![leaf, MADE, BASE + 0x2210], End::Root));
    let unwound = unwind_in(&mut space(), Architecture::X86_64, leaf, &words, &registers);
    assert_eq!(unwound.chain, [leaf, MADE]);
    // What leads to no code of the image is left alone.
    let words = [0, MADE, 0, 0x4321];
    let unwound = unwind_in(&mut Trampolines(space()), Architecture::X86_64, leaf, &words, &registers);
    assert_eq!(unwound.how.end, End::Missing { address: MADE - 1, missing: Missing::NoImage });
}
