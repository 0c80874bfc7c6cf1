//! Names for addresses, against other tools that know the formats.

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
