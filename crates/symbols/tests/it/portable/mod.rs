//! Portable PDBs: what was written comes back, the shared ones are what their table says, and damage is an error.

mod corpus;
mod hostile;
mod shared;
mod tables;
mod writer;
mod written;
