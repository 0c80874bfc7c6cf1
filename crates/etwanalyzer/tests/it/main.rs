//! From files to archives: shared extracts against an independent reading, extracts written here in every shape, and hostile ones.

mod corpus;
mod hostile;
mod parts;
mod sections;
mod shared;
mod support;
mod written;
