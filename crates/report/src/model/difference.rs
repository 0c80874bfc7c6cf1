//! Two sets of runs, told apart: their figures, and the parts of the difference.

/// A figure of both sets.
#[derive(Clone, Debug, Default)]
pub struct Figure {
    /// `duration`, `undisturbed` or `cpu`.
    pub word: &'static str,
    /// Medians of both sets.
    pub medians: [f64; 2],
    /// Means of both sets.
    pub means: [f64; 2],
    /// The change of the medians.
    pub change: f64,
    /// Its interval.
    pub interval: Option<[f64; 2]>,
    /// The p of no difference.
    pub p: Option<f64>,
    /// What it says.
    pub verdict: String,
    /// The smallest increase that so many runs show in four of five cases.
    pub detectable: Option<f64>,
    /// The test: `permutation`, `welch`, `predictive` or `none`.
    pub test: &'static str,
    /// Labellings of the permutation test.
    pub labellings: usize,
    /// Whether these are all that there are.
    pub is_exhaustive: bool,
    /// By run, where they are drawn.
    pub values: Vec<i64>,
    /// Places of the runs that stand apart from their set.
    pub outliers: Vec<usize>,
}

/// A part of a difference.
#[derive(Clone, Debug, Default)]
pub struct Step {
    /// What it is.
    pub text: String,
    /// What belongs to it: who took the time, in which runs.
    pub remark: String,
    /// Its difference.
    pub delta: i128,
    /// Half the width of its interval.
    pub half_width: Option<f64>,
    /// Whether it is no chance.
    pub is_flagged: bool,
    /// Whether it is a disturbance.
    pub is_disturbance: bool,
}
