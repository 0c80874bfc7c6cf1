//! Tools that know the formats of symbol files.

pub(crate) mod second_opinion;
pub(crate) mod symbolizer;
