//! Differences between processors: the numbers of registers in DWARF, and the place of a return
//! address.

/// A processor whose stacks can be unwound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Architecture {
    /// x86-64; registers as in the System V ABI's table "DWARF Register Number Mapping".
    X86_64,
    /// 64-bit Arm, little-endian; registers as in "DWARF for the Arm 64-bit Architecture", with the pc at 32.
    Aarch64,
}

/// Bits of a user address on 64-bit Arm; above them lies its signature where return addresses are signed.
const AARCH64_ADDRESS_BITS: u32 = 48;

impl Architecture {
    /// Registers that are followed, numbered from 0.
    #[must_use]
    pub const fn registers(self) -> u8 {
        match self {
            Self::X86_64 => 17,
            Self::Aarch64 => 33,
        }
    }

    /// The register that holds the address of the instruction.
    #[must_use]
    pub const fn instruction_pointer(self) -> u8 {
        match self {
            Self::X86_64 => 16,
            Self::Aarch64 => 32,
        }
    }

    /// The stack pointer.
    #[must_use]
    pub const fn stack_pointer(self) -> u8 {
        match self {
            Self::X86_64 => 7,
            Self::Aarch64 => 31,
        }
    }

    /// The register by which code with frame pointers chains its frames: it points at the caller's value of itself, and
    /// the return address lies behind that.
    #[must_use]
    pub const fn frame_pointer(self) -> u8 {
        match self {
            Self::X86_64 => 6,
            Self::Aarch64 => 29,
        }
    }

    /// An address of code as the processor would use it.
    pub(crate) const fn code_address(self, address: u64) -> u64 {
        match self {
            Self::X86_64 => address,
            Self::Aarch64 => address & ((1 << AARCH64_ADDRESS_BITS) - 1),
        }
    }

    pub(crate) const fn vendor(self) -> gimli::Vendor {
        match self {
            Self::X86_64 => gimli::Vendor::Default,
            Self::Aarch64 => gimli::Vendor::AArch64,
        }
    }
}
