//! Call chains from a copy of the registers and of the top of the stack, with the unwind information (DWARF call frame information,
//! CFI) of the ELF files that were mapped: what a profiler's `--call-graph dwarf` leaves to be done after the recording.
//!
//! Nothing here opens a file or knows a process: an [`Image`] is read from a [`Source`], and who lies where the caller's
//! [`Space`] says. Files and samples may be forged: every length is bounded, and so is the work for a sample.
//!
//! ```
//! use tracesift_unwind::{Architecture, End, ImageAt, Missing, Registers, Space, Stack, Unwinder};
//!
//! /// Code that was compiled at run time, with frame pointers.
//! struct Jit;
//!
//! impl Space for Jit {
//!     type Reason = ();
//!
//!     fn image_at(&mut self, _address: u64) -> Result<ImageAt<'_>, Missing<()>> {
//!         Err(Missing::NoImage)
//!     }
//! }
//!
//! let mut registers = Registers::new(Architecture::X86_64);
//! let architecture = registers.architecture();
//! registers.set(architecture.instruction_pointer(), 0x1000);
//! registers.set(architecture.stack_pointer(), 0x7000);
//! registers.set(architecture.frame_pointer(), 0x7000);
//! // The caller's frame pointer, which is none, and the return address.
//! let stack: Vec<u8> = [0_u64, 0x2000].iter().flat_map(|word| word.to_le_bytes()).collect();
//!
//! let mut chain = Vec::new();
//! let end = Unwinder::new(1 << 20).unwind(&registers, Stack::new(0x7000, &stack), &mut Jit, &mut chain);
//! assert_eq!(chain, [0x1000, 0x2000]);
//! assert_eq!(end.end, End::Missing { address: 0x1fff, missing: Missing::NoImage });
//! ```

mod architecture;
mod elf;
mod expression;
mod frames;
mod image;
mod registers;
mod rule;
mod source;
mod stack;
mod unwinder;

pub use architecture::Architecture;
pub use elf::{Elf, ElfError};
pub use image::{Image, ImageError};
pub use registers::Registers;
pub use source::Source;
pub use stack::Stack;
pub use unwinder::{Chain, End, ImageAt, MAX_FRAMES, Missing, Space, Unwinder};
