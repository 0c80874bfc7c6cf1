//! Semantics against simulated machines whose truth is known.

mod accounting;
mod methods;
mod simulation;
mod summaries;
mod tags;
