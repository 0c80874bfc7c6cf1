//! Context switches and ready events joined into off-CPU spans.
//!
//! One row per switch-in carries the span that it ends: when and how the thread left, who readied it and when. The
//! tracker keeps one small state per thread and per CPU and nothing per event. What it cannot know it says: a span
//! that touches a broken switch chain becomes `BROKEN` or `GAP`, a span at an edge of the recording `OPEN_LEFT` or
//! `OPEN_RIGHT`; nothing is ever computed as a remainder.
//!
//! A recording can be cut into slices of time that are followed side by side: see [`SliceTracker`].

mod events;
mod joins;
mod slices;
mod spans;
mod states;
mod tracker;

pub use events::{Leave, Ready, Switch};
pub use slices::{Deferred, Known, Met, Runs, SliceEnd, SliceTracker, SwitchTarget};

use std::sync::Arc;

use crate::clock::Clock;
use crate::health::Health;
use crate::ids::ThreadId;
use crate::population::Population;
use crate::sink::RowSink;
use slices::{AllRows, Whole};
use tracker::Tracker;

/// Ends of threads inside of a recording, in the order of time.
pub type Deaths = Arc<[(i64, ThreadId)]>;

/// Joins switches and ready events. Feed both in time order.
#[derive(Debug)]
pub struct SwitchTracker(Tracker);

impl SwitchTracker {
    /// A tracker for a recording that starts at raw tick `start`; `deaths` says which threads end inside it.
    #[must_use]
    pub fn new(clock: Clock, start: i64, deaths: Deaths) -> Self {
        Self(Tracker::new(clock, start, deaths))
    }

    /// The record of a CPU begins: `thread` runs there, and nobody knows since when. Does nothing for a CPU with switches.
    pub fn begins(
        &mut self,
        ticks: i64,
        cpu: u16,
        thread: ThreadId,
        population: &mut Population,
        sink: &mut impl RowSink,
    ) {
        if self.0.is_fresh(cpu) {
            let event = Switch::between(ticks, Some(cpu), Some(thread), Leave::Unseen, Some(thread));
            // Where a record begins no chain is broken.
            self.switch(&event, population, &mut Health::new(), sink);
        }
    }

    /// The thread that runs on a CPU, as far as known.
    #[must_use]
    pub fn running(&self, cpu: u16) -> Option<ThreadId> {
        self.0.running(cpu)
    }

    /// Whether any switch was seen on any CPU.
    #[must_use]
    pub const fn has_switches(&self) -> bool {
        self.0.any_switch
    }

    /// Whether any ready event was seen.
    #[must_use]
    pub const fn has_ready(&self) -> bool {
        self.0.any_ready
    }

    /// A ready event.
    pub fn ready(&mut self, event: Ready) {
        self.0.ready(event, &mut Whole);
    }

    /// A context switch.
    pub fn switch(
        &mut self,
        event: &Switch,
        population: &mut Population,
        health: &mut Health,
        sink: &mut impl RowSink,
    ) {
        self.0.switch(event, false, population, health, &mut AllRows(sink));
    }

    /// What a slice could not know; all that it told before has been joined.
    pub fn join(
        &mut self,
        deferred: &Deferred,
        population: &mut Population,
        health: &mut Health,
        sink: &mut impl RowSink,
    ) {
        self.0.join(deferred, population, health, &mut AllRows(sink));
    }

    /// The end of a slice, all of whose deferred events have been joined.
    pub fn end_slice(&mut self, end: &SliceEnd) {
        self.0.end_slice(end);
    }

    /// The end of the recording, `end` nanoseconds after time zero: closes what is open.
    pub fn finish(&mut self, end: i64, population: &mut Population, sink: &mut impl RowSink) {
        self.0.finish(end, population, &mut AllRows(sink));
    }
}
