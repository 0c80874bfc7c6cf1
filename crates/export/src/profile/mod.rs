//! Six formats want the same facts in different orders. This model holds them once, as columns with ids, so that a writer reads
//! along a column and no name is stored twice.

mod catalog;
mod folded;
mod frames;
mod handle;
mod listed;
mod markers;
mod measure;
mod samples;
mod stacks;
mod strings;

use std::borrow::Cow;

pub use catalog::{Catalog, Process, Thread};
pub use folded::{Folded, Weight, Weights};
pub use frames::{Frame, Origin};
pub use handle::{FrameId, ProcessId, StackId, StringId, ThreadId};
pub use listed::{Listed, StackLists};
pub use markers::{Marker, MarkerKind, Markers};
pub use measure::{Measure, Unit};
pub use samples::{ByThread, Sample, Samples};
pub(crate) use strings::Strings;

/// What a profile says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// The name of the recording, as it stands in titles.
    pub name: String,
    /// What the weights are.
    pub measure: Measure,
    /// Nanoseconds from the Unix epoch to time zero, if known.
    pub start: Option<i64>,
    /// Nanoseconds of the recording, from time zero to its end, if known.
    pub duration: Option<u64>,
    /// Nanoseconds between samples, if they were taken at an interval.
    pub interval: Option<u64>,
    /// The filters that leave out a part of the recording, in words. Empty: none.
    pub filters: String,
}

impl About {
    /// A recording of which nothing but the name is known.
    pub fn new(name: impl Into<String>, measure: Measure) -> Self {
        Self { name: name.into(), measure, start: None, duration: None, interval: None, filters: String::new() }
    }

    /// The title of a file: the name, and the filters where there are some.
    pub fn title(&self) -> Cow<'_, str> {
        if self.filters.is_empty() {
            Cow::Borrowed(&self.name)
        } else {
            format!("{}: {}", self.name, self.filters).into()
        }
    }
}

/// A profile with times: what happened on which thread, when.
#[derive(Clone, Debug)]
pub struct Profile {
    /// What the profile says of itself.
    pub about: About,
    /// Names, frames, stacks, processes and threads.
    pub catalog: Catalog,
    /// Weighted samples.
    pub samples: Samples,
    /// Waits and marks.
    pub markers: Markers,
}

impl Profile {
    /// A profile without samples.
    pub fn new(about: About) -> Self {
        Self { about, catalog: Catalog::new(), samples: Samples::default(), markers: Markers::default() }
    }

    /// The time from which formats count that know no negative ones: the earliest of all times, or 0 if none is negative.
    pub(crate) fn origin(&self) -> i64 {
        let markers = self.markers.rows().iter().map(|marker| marker.start).min();
        [self.samples.span().map(|span| span.0), markers].into_iter().flatten().min().unwrap_or(0).min(0)
    }

    /// Forgets the times: equal stacks of a thread become one row, in the order of threads and stacks.
    pub fn fold(self) -> Folded {
        let weights = Weights::of(&self.samples);
        Folded { about: self.about, catalog: self.catalog, weights }
    }
}
