//! Names for the frames of an archive: the modules that need symbols, the names of their code, and
//! the table `symbols`.
//!
//! A [`NameSource`] finds the names. This module decides which frames get names, in the same way
//! for an extract and for an archive that gets names later.

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
// What a source makes tables of names with.
pub use tracesift_symbols::TableBuilder;
