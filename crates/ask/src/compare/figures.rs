//! One figure of two sets: test, effect, interval, and what the runs at hand could have shown.

use tracesift_statistics::gaps::modes;
use tracesift_statistics::order::dependence;
use tracesift_statistics::outliers::outliers;
use tracesift_statistics::robust::median;
use tracesift_statistics::welch::mean;
use tracesift_statistics::{Comparison, Confidence, Figure, Method, Problem, Verdict};

use super::Settings;
use super::units::Units;

/// A figure, compared.
#[derive(Clone, Debug)]
pub struct ComparedFigure {
    /// `duration` or `undisturbed`.
    pub name: &'static str,
    /// Medians of the two sets, ns.
    pub medians: [f64; 2],
    /// Means of the two sets, ns.
    pub means: [f64; 2],
    /// Test, effect and interval, on logarithms.
    pub comparison: Comparison,
    /// The smallest increase that these runs show in four of five cases, as a ratio; `None`: these runs show no change whatever.
    pub detectable: Option<f64>,
    /// Runs per set that show the smallest change that matters in four of five cases.
    pub runs_needed: Option<u32>,
    /// What it says.
    pub verdict: Verdict,
    /// Spread of the runs: the standard deviation on logarithms, which is about that of the ratio.
    pub spread: Option<f64>,
    /// Whether the figure chose the sets: then it has no p, and no verdict.
    pub is_chosen: bool,
    /// Runs of the two sets that stand apart from the others of their set, by place.
    pub outliers: Vec<usize>,
    /// Where the runs of a set fall into two modes: a limit between them, ns.
    pub modes: [Option<f64>; 2],
    /// By set: how much a run is like the one before it, if it is more than chance makes it.
    pub dependence: [Option<f64>; 2],
}

impl ComparedFigure {
    pub(crate) fn of(
        name: &'static str,
        units: &Units,
        values: &[i64],
        split: usize,
        settings: &Settings,
    ) -> Result<Self, Problem> {
        // A run that consists of disturbances alone has no logarithm: a nanosecond stands for it.
        let values: Vec<f64> = values.iter().map(|value| (*value).max(1) as f64).collect();
        let of_units = units.means(&values);
        let figure = Figure::logarithms(&units.labellings, &of_units)?;
        let comparison = figure.compare(settings.confidence);
        let (a, b) = values.split_at(split.min(values.len()));
        let of_sets = |value: fn(&[f64]) -> Option<f64>| [a, b].map(|set| value(set).unwrap_or(0.0));
        let spread = comparison.spread.filter(|_| comparison.test.method != Method::None);
        // The spread has one-sided tests; verdicts are two-sided.
        let two_sided = Confidence::new(f64::midpoint(1.0, settings.confidence.level())).unwrap_or(settings.confidence);
        let behind = outliers(b).into_iter().map(|place| place + a.len());
        Ok(Self {
            name,
            medians: of_sets(median),
            means: of_sets(mean),
            comparison,
            detectable: spread.map(|spread| spread.detectable(two_sided)),
            runs_needed: spread.and_then(|spread| spread.runs_needed(settings.least, two_sided)),
            verdict: if settings.is_chosen { Verdict::Undecided } else { comparison.verdict(settings.least) },
            spread: comparison.spread.map(|spread| spread.deviation),
            is_chosen: settings.is_chosen,
            outliers: outliers(a).into_iter().chain(behind).collect(),
            modes: [a, b].map(|set| modes(set).map(|gap| gap.limit())),
            dependence: [a, b].map(dependence),
        })
    }

    /// Nothing is said of the figure: what it has measured is not of the test.
    pub(super) fn leave_undecided(&mut self) {
        self.verdict = Verdict::Undecided;
        (self.detectable, self.runs_needed) = (None, None);
    }

    /// The change of the medians, as a ratio: 0.05 is 5 % more.
    #[must_use]
    pub fn change(&self) -> f64 {
        self.comparison.effect.change()
    }

    /// The interval of the change; `None` where the runs are too few for one.
    #[must_use]
    pub fn interval(&self) -> Option<(f64, f64)> {
        let effect = self.comparison.effect;
        let is_known = effect.low.is_finite() || effect.high.is_finite();
        (is_known && !self.is_chosen).then(|| effect.change_interval())
    }

    /// The word for the test: `permutation`, `welch`, `predictive` or `none`.
    #[must_use]
    pub fn test_word(&self) -> &'static str {
        match self.comparison.test.method {
            Method::Permutation => "permutation",
            Method::Welch => "welch",
            Method::Predictive => "predictive",
            Method::None => "none",
        }
    }

    /// The p of no difference; `None` without a test.
    #[must_use]
    pub fn p(&self) -> Option<f64> {
        (self.comparison.test.method != Method::None && !self.is_chosen).then_some(self.comparison.test.p)
    }
}
