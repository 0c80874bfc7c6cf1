//! An ELF file, registers and a stack: architecture and number of words of the stack (a byte each), 33 registers, the stack, the file.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tracesift_unwind::{Architecture, Elf, ImageAt, Image, MAX_FRAMES, Missing, Registers, Space, Stack, Unwinder};

/// The image lies at 0.
struct Program(Option<Image>);

impl Space for Program {
    type Reason = ();

    fn image_at(&mut self, address: u64) -> Result<ImageAt<'_>, Missing<()>> {
        let image = self.0.as_ref().ok_or(Missing::Unusable(()))?;
        Ok(ImageAt { image, key: 0, address: image.address_of(address).ok_or(Missing::NoImage)? })
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((head, rest)) = bytes.split_at_checked(2 + 33 * 8) else { return };
    let architecture = if head[0] & 1 == 0 { Architecture::X86_64 } else { Architecture::Aarch64 };
    let mut registers = Registers::new(architecture);
    for (number, value) in (0..).zip(head[2..].chunks_exact(8)) {
        registers.set(number, u64::from_le_bytes(value.try_into().expect("8 bytes")));
    }
    let Some((stack, mut file)) = rest.split_at_checked(usize::from(head[1]) * 8) else { return };
    let image = Elf::read(&mut file).ok().and_then(|elf| Image::read(elf, &mut file, 1 << 20).ok());
    let top = registers.get(architecture.stack_pointer()).unwrap_or(0);
    let (mut unwinder, mut chain) = (Unwinder::new(1 << 12), Vec::new());
    let mut program = Program(image);
    let first = unwinder.unwind(&registers, Stack::new(top, stack), &mut program, &mut chain);
    assert!(chain.len() <= MAX_FRAMES);
    let frames = chain.clone();
    let second = unwinder.unwind(&registers, Stack::new(top, stack), &mut program, &mut chain);
    // What is remembered saves work, so the second may go further.
    assert!(first != second || frames == chain, "the same stack has another chain");
    assert!(chain.starts_with(&frames), "the same stack has another chain");
});
