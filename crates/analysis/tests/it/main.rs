//! The arithmetic over rows, against the plainest possible one.

mod path;
mod properties;
mod stack_tags;
mod tag_timing;
