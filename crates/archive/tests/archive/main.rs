//! The archive as its users see it: written, read, interrupted, damaged, and documented.

mod atomicity;
mod common;
mod damage;
mod evolution;
mod reference;
mod round_trip;
