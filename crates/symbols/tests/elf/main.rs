//! ELF files that compilers make in the test, against what other tools say of them.

mod damage;
mod dwarf;
mod symbols;
mod tools;
