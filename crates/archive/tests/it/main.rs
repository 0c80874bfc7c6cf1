//! The archive as its users see it: written, read, interrupted, damaged, and documented.

mod atomicity;
mod budget;
mod chosen;
mod corpus;
mod damage;
mod evolution;
mod kept;
mod long_spans;
mod reference;
mod round_trip;
mod watch;
