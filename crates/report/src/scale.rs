//! From values to places in a picture.

use crate::numbers::grouped;

/// A scale from values in ns to places.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// From the smallest to the largest of some values, with some room around them, onto the places between two.
    pub(crate) fn around(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let (low, high) = ends(values);
        let room = if high > low { 0.06 * (high - low) } else { (0.05 * high.abs()).max(1.0) };
        let bottom = if low >= 0.0 { (low - room).max(0.0) } else { low - room };
        Self { low: bottom, high: high + room, from, to }
    }

    /// From 0 to the largest of some values.
    pub(crate) fn from_zero(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let (low, high) = ends(values.chain([0.0]));
        Self { low, high: if high > low { high } else { low + 1.0 }, from, to }
    }

    /// The place of a value; what lies outside is at the end.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let part = ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        self.from + part * (self.to - self.from)
    }

    /// Whether a value has a place.
    pub(crate) fn has(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// About so many round values, with their texts in ms.
    pub(crate) fn ticks(&self, count: usize) -> Vec<(f64, String)> {
        let rough = (self.high - self.low) / count.max(1) as f64;
        if !rough.is_finite() || rough <= 0.0 {
            return Vec::new();
        }
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|step| *step >= rough);
        let step = step.unwrap_or(10.0 * power);
        let digits = usize::try_from(-((step / 1e6).log10().floor() as i32)).unwrap_or(0).min(6);
        let first = (self.low / step).ceil() as i64;
        let values = (0..=2 * count as i64 + 2).map(|number| (first + number) as f64 * step);
        let values = values.take_while(|value| *value <= self.high + step * 1e-6);
        values.map(|value| (value, grouped(&format!("{:.digits$}", value / 1e6)))).collect()
    }
}

fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let found = values.filter(|value| value.is_finite());
    let (low, high) =
        found.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    if low <= high { (low, high) } else { (0.0, 0.0) }
}

#[cfg(test)]
mod tests {
    use super::Scale;

    #[test]
    fn ticks_are_round_and_inside() {
        let scale = Scale::around([170e6, 180e6].into_iter(), 0.0, 100.0);
        let texts: Vec<String> = scale.ticks(5).into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts, ["170", "175", "180"]);
        assert!((scale.at(175e6) - 50.0).abs() < 1e-9);
        assert_eq!((scale.at(0.0), scale.at(1e12)), (0.0, 100.0));
    }

    #[test]
    fn equal_and_missing_values_have_a_scale() {
        for values in [vec![], vec![5.0], vec![0.0, 0.0], vec![f64::NAN], vec![-3.0, 2.0]] {
            let scale = Scale::around(values.iter().copied(), 0.0, 100.0);
            assert!((0.0..=100.0).contains(&scale.at(5.0)), "{values:?}");
            assert!(scale.ticks(5).len() < 20, "{values:?}");
        }
    }
}
