//! One figure of two sets: test, effect, interval, and what the runs at hand could have shown.

use tracesift_statistics::robust::median;
use tracesift_statistics::welch::mean;
use tracesift_statistics::{Comparison, Figure, Labellings, Method, Problem, Verdict};

use super::Settings;

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
    /// The smallest increase that these runs show in four of five cases, as a ratio; `None`: nothing is known of the noise.
    pub detectable: Option<f64>,
    /// Runs per set that show the smallest change that matters in four of five cases.
    pub runs_needed: Option<u32>,
    /// What it says.
    pub verdict: Verdict,
    /// Spread of the runs: the standard deviation on logarithms, which is about that of the ratio.
    pub spread: Option<f64>,
}

impl ComparedFigure {
    pub(super) fn of(
        name: &'static str,
        labellings: &Labellings,
        values: &[i64],
        split: usize,
        settings: &Settings,
    ) -> Result<Self, Problem> {
        // A run that consists of disturbances alone has no logarithm: a nanosecond stands for it.
        let values: Vec<f64> = values.iter().map(|value| (*value).max(1) as f64).collect();
        let figure = Figure::logarithms(labellings, &values)?;
        let comparison = figure.compare(settings.confidence);
        let (a, b) = values.split_at(split.min(values.len()));
        let of_sets = |value: fn(&[f64]) -> Option<f64>| [a, b].map(|set| value(set).unwrap_or(0.0));
        let spread = comparison.spread;
        Ok(Self {
            name,
            medians: of_sets(median),
            means: of_sets(mean),
            comparison,
            detectable: spread.map(|spread| spread.detectable(settings.confidence)),
            runs_needed: spread.and_then(|spread| spread.runs_needed(settings.least, settings.confidence)),
            verdict: comparison.verdict(settings.least),
            spread: spread.map(|spread| spread.deviation),
        })
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
        (effect.low.is_finite() || effect.high.is_finite()).then(|| effect.change_interval())
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
        (self.comparison.test.method != Method::None).then_some(self.comparison.test.p)
    }
}
