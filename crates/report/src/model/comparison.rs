//! What a report of a comparison is made of.

use super::difference::{Figure, Step};

/// A report.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The version of the program that made it.
    pub tool_version: String,
    /// A section each.
    pub cases: Vec<Case>,
    /// The geometric means of the changes of all cases: of the durations, and without disturbances.
    pub mean_changes: Option<[f64; 2]>,
    /// What is left out, a sentence each.
    pub notes: Vec<String>,
}

/// The comparison of a test case.
#[derive(Clone, Debug, Default)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// The labels of both sets.
    pub labels: [String; 2],
    /// In which order the sets were recorded: `in turn`.
    pub order: String,
    /// Whether they can be compared: `yes`, `reservations` or `no`.
    pub comparable: &'static str,
    /// What speaks against it, the weightiest first.
    pub reasons: Vec<Reason>,
    /// The figures and the parts; `None` where the sets cannot be compared.
    pub outcome: Option<Outcome>,
    /// The p of the undisturbed time, corrected for the number of cases.
    pub p_corrected: Option<f64>,
    /// The gates.
    pub gates: Vec<Gate>,
    /// What else differs.
    pub changes: Vec<Change>,
    /// Modules with the same build in all runs, and those of which no build is known.
    pub modules: [usize; 2],
    /// The runs of the first set, then those of the second.
    pub runs: Vec<Run>,
    /// What the time of a run consists of, in the order in which it is drawn. The parts of a run add up to its duration.
    pub kinds: Vec<Kind>,
}

/// What speaks against a comparison.
#[derive(Clone, Debug, Default)]
pub struct Reason {
    /// `stops`, `confounds` or `notes`.
    pub severity: &'static str,
    /// A sentence.
    pub text: String,
}

/// A limit of a change.
#[derive(Clone, Debug, Default)]
pub struct Gate {
    /// It as it was given.
    pub text: String,
    /// `passed`, `failed` or `undecided`.
    pub state: &'static str,
    /// Why.
    pub reason: String,
}

/// Something that differs between the sets beside their time.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// `Facts`, `Modules` or `Processes`.
    pub group: &'static str,
    /// Its name.
    pub name: String,
    /// `changed`, `varies`, `new` or `gone`.
    pub change: &'static str,
    /// Its values in both sets.
    pub values: [Vec<String>; 2],
    /// Of a module: the time of its code on the paths of all runs.
    pub time: Option<i64>,
}

/// A kind of time.
#[derive(Clone, Debug, Default)]
pub struct Kind {
    /// `run`, `wait`, or the word of a kind of disturbance.
    pub word: String,
    /// What it is called.
    pub label: String,
    /// Whether somebody else took this time from the test.
    pub is_disturbance: bool,
}

/// A run.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// What it is called in the report: `B2`.
    pub name: String,
    /// The place of its set.
    pub set: usize,
    /// Name of its recording.
    pub recording: String,
    /// When it began.
    pub date: Option<String>,
    /// Its place among all runs in the order of time.
    pub order: usize,
    /// What is compared.
    pub duration: i64,
    /// Length of its window.
    pub window: i64,
    /// What the test measured itself.
    pub reported: Option<i64>,
    /// The duration without disturbances.
    pub undisturbed: i64,
    /// Its time by kind.
    pub parts: Vec<i64>,
    /// What limits its figures.
    pub warnings: Vec<String>,
}

/// What a comparison found.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// One sentence or two.
    pub sentence: String,
    /// `slower`, `faster`, `same` or `undecided`, of the figure that the sentence is about.
    pub verdict: String,
    /// Duration and undisturbed time.
    pub figures: Vec<Figure>,
    /// The confidence of intervals, a ratio.
    pub confidence: f64,
    /// The means of the durations of both sets.
    pub means: [f64; 2],
    /// Their difference.
    pub difference: i128,
    /// The parts that explain it. They add up to it.
    pub steps: Vec<Step>,
    /// All parts of the path, each followed by what it consists of.
    pub nodes: Vec<Node>,
    /// The CPU time of the test by stack.
    pub cpu: Option<Cpu>,
    /// Why that is not known.
    pub no_cpu: String,
    /// The rows of the finest level, the largest differences first. They add up to the difference.
    pub rows: Vec<Row>,
    /// Figures beside the time.
    pub metrics: Vec<Metric>,
    /// Metrics that some run lacks, by their names, with the reason.
    pub unknown_metrics: Vec<[String; 2]>,
    /// What more instructions, slower ones and a lower clock make of the difference of the CPU time, where counters are known.
    pub by_counters: Option<[f64; 3]>,
}

/// The CPU time of the test by stack.
#[derive(Clone, Debug, Default)]
pub struct Cpu {
    /// Processes, then frames from callers to callees, each followed by what it called.
    pub nodes: Vec<Node>,
    /// Mean CPU times of both sets.
    pub means: [f64; 2],
    /// Their difference.
    pub difference: i128,
}

/// A part of the path at some level, or of stacks.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// How many parts it is in.
    pub depth: usize,
    /// Its level: `state`, `who`, `tag`, `site` or `for`; of stacks `process` or `frame`.
    pub level: &'static str,
    /// What it is beside what it is in.
    pub label: String,
    /// Whether it is a disturbance.
    pub is_disturbance: bool,
    /// Its mean times in both sets.
    pub means: [f64; 2],
    /// Their difference.
    pub delta: i128,
    /// The difference without what a common factor of all code explains.
    pub own: i128,
    /// Half the width of the interval of that.
    pub half_width: Option<f64>,
}

/// A row of the difference at the finest level.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// What it is.
    pub text: String,
    /// Its mean times in both sets.
    pub means: [f64; 2],
    /// Their difference.
    pub delta: i128,
    /// Half the width of its interval.
    pub half_width: Option<f64>,
    /// The p within the family of all rows.
    pub p: Option<f64>,
    /// Whether it is no chance.
    pub is_flagged: bool,
    /// `new` or `gone`.
    pub mark: Option<&'static str>,
}

/// A figure beside the time.
#[derive(Clone, Debug, Default)]
pub struct Metric {
    /// Its name.
    pub name: String,
    /// What it is.
    pub text: String,
    /// The means of both sets as people read them.
    pub means: [String; 2],
    /// The same as numbers.
    pub numbers: [f64; 2],
    /// The change; `None`: the first set has none of it.
    pub change: Option<f64>,
    /// The p within the family of all rows and metrics.
    pub p: Option<f64>,
    /// Whether it is no chance.
    pub is_flagged: bool,
}

impl Case {
    /// Runs of both sets.
    #[must_use]
    pub fn counts(&self) -> [usize; 2] {
        [0, 1].map(|set| self.runs.iter().filter(|run| run.set == set).count())
    }
}
