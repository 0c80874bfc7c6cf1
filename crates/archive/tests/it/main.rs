//! The archive as its users see it: written, read, interrupted, damaged, and documented.

mod atomicity;
mod budget;
mod chosen;
mod common;
mod corpus;
mod damage;
mod evolution;
#[path = "../../examples/bytes_per_row/machine.rs"]
mod machine;
mod reference;
mod round_trip;
