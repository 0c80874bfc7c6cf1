//! What the weights of a profile are, and their unit.

/// What the weights of a profile are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Measure {
    /// The word as identifiers have it: `cpu`, `disk-bytes`.
    pub key: &'static str,
    /// The words that stand in titles: `CPU`, `Disk bytes`. For nanoseconds the word `time` follows them.
    pub label: &'static str,
    /// The unit of the weights.
    pub unit: Unit,
    /// What the counts beside the weights count, in the plural: `samples`.
    pub counted: &'static str,
}

/// The unit of weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Time.
    Nanoseconds,
    /// Sizes.
    Bytes,
    /// Numbers of what a measure counts.
    Count,
}

impl Measure {
    /// Time on a processor.
    pub const CPU: Self = Self { key: "cpu", label: "CPU", unit: Unit::Nanoseconds, counted: "samples" };
    /// Time blocked until something made the thread ready.
    pub const WAIT: Self = Self { key: "wait", label: "Wait", unit: Unit::Nanoseconds, counted: "waits" };
    /// Time of a window on the critical path, of one thread at a time.
    pub const PATH: Self = Self { key: "path", label: "Path", unit: Unit::Nanoseconds, counted: "pieces" };
    /// Time ready to run without a processor.
    pub const READY: Self = Self { key: "ready", label: "Ready", unit: Unit::Nanoseconds, counted: "times ready" };
}
