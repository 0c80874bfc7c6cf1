//! From the kernel's numbers of registers to those of DWARF.

use tracesift_perf::{Endianness, Metadata};
use tracesift_unwind::{Architecture, Registers};

/// By DWARF number: the bit of each register in a sample's mask (Linux, arch/x86/include/uapi/asm/perf_regs.h).
const X86_64: [u32; 17] = [0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8];
/// The bit of the last register, the pc, on 64-bit Arm, where both count alike (arch/arm64/include/uapi/asm/perf_regs.h).
const AARCH64_PC: u32 = 32;

/// `PERF_SAMPLE_REGS_ABI_64`.
pub(super) const ABI_64: u64 = 2;

/// The recorded machine's architecture, if its stacks can be unwound.
pub(super) fn architecture(metadata: &Metadata) -> Option<Architecture> {
    if metadata.endian != Endianness::LittleEndian {
        return None;
    }
    match metadata.features.arch.as_deref() {
        Some("x86_64") => Some(Architecture::X86_64),
        Some("aarch64" | "arm64") => Some(Architecture::Aarch64),
        Some(_) => None,
        // Streams may not say; then which registers were asked for does.
        None => {
            let masks = metadata.events.all().iter().map(|event| event.attr.user_registers);
            let mask = masks.fold(0, |all, mask| all | mask);
            let is_arm = mask >> AARCH64_PC & 1 == 1;
            Some(if is_arm { Architecture::Aarch64 } else { Architecture::X86_64 })
        }
    }
}

/// A sample's registers, as far as it has them.
pub(super) fn registers(architecture: Architecture, sampled: &tracesift_perf::Registers<'_>) -> Registers {
    let mut registers = Registers::new(architecture);
    for number in 0..architecture.registers() {
        let bit = match architecture {
            Architecture::X86_64 => X86_64.get(usize::from(number)).copied(),
            Architecture::Aarch64 => Some(number.into()),
        };
        if let Some(value) = bit.and_then(|bit| sampled.get(bit)) {
            registers.set(number, value);
        }
    }
    registers
}
