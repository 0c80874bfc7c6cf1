//! Semantics against simulated machines whose truth is known.

mod accounting;
mod call_tree;
mod methods;
pub(crate) mod simulation;
mod summaries;
mod tags;
mod tiles;
mod timeline;
