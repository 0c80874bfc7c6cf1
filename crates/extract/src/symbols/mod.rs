//! Names for the frames of an archive: which modules need symbols, what their code is called, and the table `symbols`.
//!
//! Where names come from is a [`NameSource`]'s business; what they are given to is decided here, alike for an extract and for an
//! archive that gets them later.

mod callers;
mod finder;
mod jit_code;
mod load;
pub mod managed;
mod nameless;
mod names;
mod source;
mod time;

pub use finder::Finder;
pub use load::load_symbols;
pub(crate) use nameless::{NAMELESS, nameless};
pub(crate) use names::{Earlier, Names, WithNames};
pub use names::{Named, Nameless};
pub use source::{Assembly, JitProcess, ModuleNames, NameSource, Recorded, Wanted};
