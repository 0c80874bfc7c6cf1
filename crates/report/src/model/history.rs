//! What a report of a history is made of. Runs have places from 0 on, in their order.

use super::difference::{Figure, Step};

/// The figures that each run has, as [`Run::values`] and [`Segment::medians`] have them.
pub const FIGURES: [&str; 3] = ["duration", "undisturbed", "cpu"];

/// A report.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// The version of the program that made it.
    pub tool_version: String,
    /// A section each.
    pub cases: Vec<Case>,
    /// What is left out, a sentence each.
    pub notes: Vec<String>,
}

/// The history of a test case.
#[derive(Clone, Debug, Default)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// One sentence or two.
    pub sentence: String,
    /// `slower`, `faster`, `same` or `undecided`: what the last change says.
    pub verdict: &'static str,
    /// The confidence of intervals, a ratio.
    pub confidence: f64,
    /// Its runs.
    pub runs: Vec<Run>,
    /// The runs between changes.
    pub segments: Vec<Segment>,
    /// The changes.
    pub changes: Vec<Change>,
    /// Builds and facts that changed, wherever that was.
    pub events: Vec<Event>,
    /// Runs that stand apart from their segment.
    pub outliers: Vec<Outlier>,
    /// How the last runs stand.
    pub latest: Option<Latest>,
    /// All figures in which changes were looked for.
    pub series: Vec<Series>,
}

/// A run.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Name of its recording.
    pub recording: String,
    /// When it began.
    pub date: Option<String>,
    /// Its [`FIGURES`], ns; `None`: it does not tell them.
    pub values: [Option<i64>; 3],
}

/// The runs between two changes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Segment {
    /// The first one.
    pub first: usize,
    /// The run behind the last one.
    pub end: usize,
    /// Medians of the [`FIGURES`], ns.
    pub medians: [Option<f64>; 3],
}

/// A change.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// The first run after it.
    pub run: usize,
    /// The earliest and the latest possible place, by the figures.
    pub between: (usize, usize),
    /// The figures of the segments before and after.
    pub figures: Vec<Figure>,
    /// Builds and facts that changed at one of the possible places.
    pub events: Vec<Event>,
    /// The series that tell of it.
    pub seen: Vec<String>,
    /// What speaks against comparing the runs.
    pub notes: Vec<String>,
    /// The rows of the difference; `None`: the runs next to it cannot be compared.
    pub difference: Option<Difference>,
}

/// The difference of the runs next to a change.
#[derive(Clone, Debug, Default)]
pub struct Difference {
    /// The runs before and after that it is made of.
    pub runs: [usize; 2],
    /// The means of their durations, ns.
    pub means: [f64; 2],
    /// Their difference, ns.
    pub total: i128,
    /// The parts that explain it. They add up to it.
    pub steps: Vec<Step>,
}

/// A build or a fact that changed from one run to the next.
#[derive(Clone, Debug, Default)]
pub struct Event {
    /// The first run after it.
    pub run: usize,
    /// Whether it is a module; else a fact.
    pub is_module: bool,
    /// The module or the fact.
    pub name: String,
    /// Its values; `None`: there was none.
    pub values: [Option<String>; 2],
}

/// A run that stands apart from its segment.
#[derive(Clone, Debug, Default)]
pub struct Outlier {
    /// The run.
    pub run: usize,
    /// Its duration against the median of its segment.
    pub change: f64,
    /// The rows in which it exceeds the others most.
    pub parts: Vec<String>,
}

/// The last runs against those of their segment before them.
#[derive(Clone, Debug, Default)]
pub struct Latest {
    /// The first of the last runs.
    pub run: usize,
    /// Runs of the segment before them.
    pub before: usize,
    /// Their figures.
    pub figures: Vec<Figure>,
}

/// A figure of all runs, in which changes were looked for.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// What it is.
    pub text: String,
    /// Its median, ns.
    pub median: f64,
    /// Of a row: the p of no change anywhere, corrected for the number of rows.
    pub p_corrected: Option<f64>,
    /// Where it changes.
    pub points: Vec<Point>,
}

/// A place at which a series changes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Point {
    /// The likeliest first run after it.
    pub run: usize,
    /// Of a row ns, of other series a ratio − 1.
    pub change: f64,
    /// The p of no change there.
    pub p: f64,
}

impl Case {
    /// Whether some run tells this one of the [`FIGURES`].
    #[must_use]
    pub fn has(&self, figure: usize) -> bool {
        self.runs.iter().any(|run| run.values.get(figure).is_some_and(Option::is_some))
    }
}
