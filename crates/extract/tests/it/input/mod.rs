//! Inputs as users have them: selecting, unpacking, bad archives.

mod bad_archives;
mod cases;
mod containers;
mod corpus;
mod fixtures;
mod mutations;
mod selecting;
