//! Call chains over unwind information that the tests make.

mod chains;
mod common;
mod corpus;
mod hostile;
