//! Names for addresses, against other tools that know the formats.

#![expect(clippy::unwrap_used, reason = "the helpers of a test fail as the test does: by panicking")]

mod breakpad;
mod common;
mod corpus;
mod elf;
mod exports;
mod fetch;
mod lookup;
mod machine;
mod pdb;
mod pdb_clang;
mod pdb_damage;
mod pdb_omap;
mod pe;
mod portable;
mod table;
mod texts;
