//! The server, asked over its own port.

#![expect(clippy::unwrap_used, reason = "the helpers of a test fail as the test does: by panicking")]

mod densities;
mod endpoints;
mod limits;
mod losses;
mod regions;
mod searches;
mod security;
mod support;
mod waits;
