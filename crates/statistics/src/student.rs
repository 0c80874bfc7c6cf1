//! Tails and quantiles of Student's t, to 13 digits.
//!
//! By hand, because the tail of a p near 1 or of many degrees of freedom is where libraries lose digits: one form of the
//! incomplete beta function is exact near 0 and the other one far from it, and the ratio of two gamma functions is not
//! the difference of their large logarithms.

use std::f64::consts::PI;

/// More degrees of freedom count as this many. The relative error of a tail at t = 5 is then 2e-5.
const LARGEST_FREEDOM: f64 = 1e7;

/// Terms of a continued fraction; the square root of the degrees of freedom is enough.
const TERMS: u32 = 10_000;

/// P(|T| > |t|) for Student's t with `freedom` degrees of freedom: a two-sided p. `None` if `freedom` is not positive,
/// or a number is NaN.
#[must_use]
pub fn two_sided_tail(t: f64, freedom: f64) -> Option<f64> {
    if t.is_nan() || freedom.is_nan() || freedom <= 0.0 {
        return None;
    }
    let freedom = freedom.min(LARGEST_FREEDOM);
    let square = t * t;
    if square == 0.0 || square.is_infinite() {
        return Some(if square == 0.0 { 1.0 } else { 0.0 });
    }
    let half = freedom / 2.0;
    // The tail is the incomplete beta function of `outer` with ν/2 and 1/2, or 1 less that of `inner` with 1/2 and ν/2.
    let (inner, outer) = (square / (freedom + square), freedom / (freedom + square));
    let common = gamma_ratio(half) / PI.sqrt() * inner.sqrt() * (-half * (square / freedom).ln_1p()).exp();
    Some(if inner < 1.5 / (half + 2.5) {
        (1.0 - 2.0 * common * fraction(0.5, half, inner)).max(0.0)
    } else {
        (common / half * fraction(half, 0.5, outer)).min(1.0)
    })
}

/// P(T > t): a one-sided p. `None` as [`two_sided_tail`].
#[must_use]
pub fn upper_tail(t: f64, freedom: f64) -> Option<f64> {
    let half = two_sided_tail(t, freedom)? / 2.0;
    Some(if t > 0.0 { half } else { 1.0 - half })
}

/// The t below which the share `p` of Student's distribution lies. `None` unless 0 < p < 1 and `freedom` is positive.
#[must_use]
pub fn quantile(p: f64, freedom: f64) -> Option<f64> {
    if !(p > 0.0 && p < 1.0) || freedom.is_nan() || freedom <= 0.0 {
        return None;
    }
    let t = inverse_tail(2.0 * p.min(1.0 - p), freedom.min(LARGEST_FREEDOM))?;
    Some(if p < 0.5 { -t } else { t })
}

/// The positive t whose two-sided tail is `tail`: Newton's steps, halved brackets where they lead out.
fn inverse_tail(tail: f64, freedom: f64) -> Option<f64> {
    let (mut low, mut high) = (0.0, 1.0);
    while two_sided_tail(high, freedom)? > tail {
        low = high;
        high *= 2.0;
    }
    let mut t: f64 = 0.5 * (low + high);
    for _ in 0..200 {
        let surplus = two_sided_tail(t, freedom)? - tail;
        if surplus > 0.0 {
            low = t
        } else {
            high = t
        }
        let newton = t + surplus / (2.0 * density(t, freedom));
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        if (next - t).abs() <= 1e-15 * t {
            return Some(next);
        }
        t = next;
    }
    Some(t)
}

fn density(t: f64, freedom: f64) -> f64 {
    let half = freedom / 2.0;
    gamma_ratio(half) / (freedom * PI).sqrt() * (-(half + 0.5) * (t * t / freedom).ln_1p()).exp()
}

/// Γ(x + 1/2) / Γ(x).
fn gamma_ratio(x: f64) -> f64 {
    // The series is exact from 20 on; below, each step up multiplies by (x + 1/2) / x.
    let mut large = x;
    let mut factor = 1.0;
    while large < 20.0 {
        factor *= large / (large + 0.5);
        large += 1.0;
    }
    let inverse = 1.0 / large;
    let square = inverse * inverse;
    let tail = 1.0 / 640.0 - square * (17.0 / 14_336.0 - square * (31.0 / 18_432.0));
    let logarithm = inverse * (-0.125 + square * (1.0 / 192.0 - square * tail));
    factor * large.sqrt() * logarithm.exp()
}

/// The continued fraction of the incomplete beta function (Lentz), which converges for x below (a + 1)/(a + b + 2).
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    let away_from_0 = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_0(1.0 - (a + b) * x / (a + 1.0));
    let mut result = d;
    for term in 1..=TERMS {
        let m = f64::from(term);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = result;
        for step in [even, odd] {
            d = 1.0 / away_from_0(1.0 + step * d);
            c = away_from_0(1.0 + step / c);
            result *= d * c;
        }
        if (result - before).abs() <= 5e-16 * result.abs() {
            break;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::{quantile, two_sided_tail, upper_tail};

    fn close(found: Option<f64>, expected: f64) {
        let found = found.expect("a number");
        assert!((found - expected).abs() <= 1e-13 * expected.abs(), "{found} is not {expected}");
    }

    /// For one and two degrees of freedom the distribution has closed forms.
    #[test]
    fn closed_forms() {
        for t in [1e-12, 1e-6, 0.01, 0.5, 1.0, 3.0, 50.0, 1e6] {
            close(two_sided_tail(t, 1.0), 2.0 / std::f64::consts::PI * (1.0f64 / t).atan());
            close(two_sided_tail(t, 2.0), 2.0 / ((2.0 + t * t) * (1.0 + t / (2.0 + t * t).sqrt())));
        }
        for p in [1e-9, 0.001, 0.025, 0.2, 0.49] {
            close(quantile(p, 1.0), -1.0 / (std::f64::consts::PI * p).tan());
            close(quantile(p, 2.0), (2.0 * p - 1.0) / (2.0 * p * (1.0 - p)).sqrt());
        }
    }

    #[test]
    fn edges() {
        assert_eq!(two_sided_tail(f64::INFINITY, 5.0), Some(0.0));
        assert_eq!(two_sided_tail(1e200, 5.0), Some(0.0));
        assert_eq!(two_sided_tail(0.0, 5.0), Some(1.0));
        assert_eq!(upper_tail(0.0, 5.0), Some(0.5));
        assert_eq!((two_sided_tail(f64::NAN, 5.0), two_sided_tail(1.0, 0.0), quantile(1.0, 5.0)), (None, None, None));
        assert!(quantile(0.5, 3.0).is_some_and(|t| t.abs() < 1e-12));
        assert!(quantile(1e-300, 0.01).is_some_and(|t| t < -1e150 && t.is_finite()));
        assert!(quantile(0.975, f64::INFINITY).is_some_and(|t| (t - 1.959_963_984_540_054).abs() < 1e-6));
    }
}
