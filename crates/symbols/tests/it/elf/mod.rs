//! ELF files that compilers make in the test, against what other tools say of them.

#![expect(clippy::print_stdout, reason = "a test that is skipped or measures something says so")]
mod damaged;
mod dwarf;
mod files;
mod symbols;
mod tools;
