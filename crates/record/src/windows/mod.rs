//! Recording with wpr.

pub mod command;
pub mod profile;
#[cfg(windows)]
pub(crate) mod wpr;
mod xml;
