//! Tails and quantiles of Student's t and of the normal distribution.

use statrs::function::beta::beta_reg;
use statrs::function::gamma::{checked_gamma_ur, ln_gamma};

/// From these degrees of freedom on, t is taken to be normal. The relative error of a tail at t = 5 is then 2e-5.
const NORMAL_FROM: f64 = 1e7;

/// P(|T| > |t|) for Student's t with `freedom` degrees of freedom: a two-sided p. `None` if `freedom` is not positive,
/// or a number is NaN.
#[must_use]
pub fn two_sided_tail(t: f64, freedom: f64) -> Option<f64> {
    if t.is_nan() || freedom.is_nan() || freedom <= 0.0 {
        return None;
    }
    if freedom >= NORMAL_FROM {
        return Some(normal_tail(t));
    }
    let square = t * t;
    let inner = if square.is_finite() { square / (freedom + square) } else { 1.0 };
    // Each form is exact where its argument is small: the other one would lose the digits of the difference to 1.
    Some(if inner < 1.5 / (freedom / 2.0 + 2.5) {
        1.0 - beta_reg(0.5, freedom / 2.0, inner)
    } else {
        beta_reg(freedom / 2.0, 0.5, freedom / (freedom + square))
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
    let tail = 2.0 * p.min(1.0 - p);
    let t = inverse_tail(tail, freedom)?;
    Some(if p < 0.5 { -t } else { t })
}

/// The quantile of the normal distribution. `None` unless 0 < p < 1.
#[must_use]
pub fn normal_quantile(p: f64) -> Option<f64> {
    quantile(p, f64::INFINITY)
}

/// P(|Z| > |z|) of the normal distribution. The complementary error function of `statrs` has ten digits, its incomplete
/// gamma function fourteen.
fn normal_tail(z: f64) -> f64 {
    // From 1,500 on the tail is 0 even as the smallest number there is.
    if z == 0.0 { 1.0 } else { checked_gamma_ur(0.5, (z * z / 2.0).min(1500.0)).unwrap_or(0.0) }
}

/// The positive t whose two-sided tail is `tail`: Newton's steps, halved intervals where they leave the bracket.
fn inverse_tail(tail: f64, freedom: f64) -> Option<f64> {
    let (mut low, mut high) = (0.0, 1.0);
    while two_sided_tail(high, freedom)? > tail {
        low = high;
        high *= 2.0;
        if high.is_infinite() {
            return Some(f64::MAX);
        }
    }
    let mut t: f64 = 0.5 * (low + high);
    for _ in 0..200 {
        let surplus = two_sided_tail(t, freedom)? - tail;
        if surplus > 0.0 { low = t } else { high = t }
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
    use std::f64::consts::PI;
    if freedom >= NORMAL_FROM {
        return (-0.5 * t * t).exp() / (2.0 * PI).sqrt();
    }
    let scale = ln_gamma(f64::midpoint(freedom, 1.0)) - ln_gamma(freedom / 2.0) - 0.5 * (freedom * PI).ln();
    (scale - f64::midpoint(freedom, 1.0) * (t * t / freedom).ln_1p()).exp()
}

#[cfg(test)]
mod tests {
    use super::{normal_quantile, quantile, two_sided_tail, upper_tail};

    fn close(found: Option<f64>, expected: f64) {
        let found = found.expect("a number");
        assert!((found - expected).abs() <= 1e-13 * expected.abs(), "{found} is not {expected}");
    }

    /// Below three degrees of freedom the distribution has closed forms.
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
        close(normal_quantile(0.975), 1.959_963_984_540_054);
        assert!(quantile(0.5, 3.0).expect("a number").abs() < 1e-12);
        assert_eq!(two_sided_tail(1e9, 1e9), Some(0.0));
        assert_eq!(two_sided_tail(f64::INFINITY, f64::INFINITY), Some(0.0));
        assert!(quantile(1e-300, 0.01).is_some_and(|t| t < -1e150 && t.is_finite()));
    }
}
