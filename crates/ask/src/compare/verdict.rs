//! The sentence that says what a comparison found.

use tracesift_statistics::Verdict;

use super::difference::Difference;
use super::figures::ComparedFigure;

/// Spreads of the duration above this hide changes that the undisturbed time shows.
const WIDE: f64 = 0.1;

/// One sentence or two: what the undisturbed time says, which row leads, and what hides it in the duration.
pub(super) fn sentence(
    duration: &ComparedFigure,
    undisturbed: &ComparedFigure,
    difference: &Difference,
    labels: &[String; 2],
) -> String {
    let (figure, is_own) = leading(duration, undisturbed);
    let change = 100.0 * figure.change();
    let ms = (figure.medians[1] - figure.medians[0]) / 1e6;
    let own = if is_own { " of its own time" } else { "" };
    let mut text = match figure.verdict {
        Verdict::Slower => format!("{} is slower by {change:.1} % ({ms:+.1} ms{own})", labels[1]),
        Verdict::Faster => format!("{} is faster by {:.1} % ({ms:+.1} ms{own})", labels[1], -change),
        Verdict::Same => return format!("{} is as fast as {}.", labels[1], labels[0]),
        Verdict::Undecided => return undecided(figure),
    };
    let leader = difference.shown.iter().filter_map(|shown| Some((shown.row.as_ref()?, shown.delta)));
    let mut leaders = leader.filter(|(row, _)| row.disturbance().is_none() == is_own || row.disturbance().is_none());
    if let Some((row, delta)) =
        leaders.find(|(row, delta)| (*delta > 0) == (change > 0.0) && row.is_flagged).or_else(|| {
            let mut shown = difference.shown.iter().filter_map(|shown| Some((shown.row.as_ref()?, shown.delta)));
            shown.find(|(row, delta)| (*delta > 0) == (change > 0.0) && row.disturbance().is_none())
        })
    {
        let mark = row.mark.map(|mark| format!(" ({})", mark.word())).unwrap_or_default();
        text.push_str(&format!(": {}{mark}, {:+.1} ms", row.text(), delta as f64 / 1e6));
    }
    text.push('.');
    if is_own && duration.verdict != figure.verdict {
        let spread = duration.spread.map(|spread| format!(" of {:.0} %", 100.0 * spread)).unwrap_or_default();
        text.push_str(&format!(" The duration does not show it, because of its spread{spread}."));
    }
    text
}

/// The figure that says more: the undisturbed time, unless only the duration changed.
fn leading<'a>(duration: &'a ComparedFigure, undisturbed: &'a ComparedFigure) -> (&'a ComparedFigure, bool) {
    let is_change = |figure: &ComparedFigure| matches!(figure.verdict, Verdict::Slower | Verdict::Faster);
    match (is_change(duration), is_change(undisturbed)) {
        (true, false) => (duration, false),
        (false, false) if duration.spread.is_none_or(|spread| spread < WIDE) => (duration, false),
        _ => (undisturbed, true),
    }
}

fn undecided(figure: &ComparedFigure) -> String {
    let runs = match figure.comparison.spread.map(|spread| spread.runs) {
        Some((a, b)) => format!("{a} + {b} runs"),
        None => "so few runs".to_owned(),
    };
    match figure.detectable {
        Some(least) => format!("Undecided: {runs} show changes from {:.1} % on.", 100.0 * least),
        None => format!("Undecided: nothing is known of the noise of {runs}."),
    }
}
