//! Payload decoders against bytes whose meaning somebody else has stated, against every record of real recordings, and against
//! bytes that mean nothing.

mod allocations;
mod cases;
mod field;
mod headers;
mod hostile;
mod joins;
mod kernel;
mod merged;
mod objects;
mod recordings;
