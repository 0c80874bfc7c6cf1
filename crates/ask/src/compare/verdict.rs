//! The sentence that says what a comparison found.

use tracesift_statistics::Verdict;

use super::difference::{Difference, Part, ShownRow};
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
    if duration.is_chosen {
        return chosen(duration, difference, labels);
    }
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
    if let Some(leader) = leader(difference, change > 0.0, is_own) {
        let mark = leader.row().and_then(|row| row.mark).map(|mark| format!(" ({})", mark.word())).unwrap_or_default();
        text.push_str(&format!(": {}{mark}, {:+.1} ms", leader.text(), leader.delta as f64 / 1e6));
    }
    text.push('.');
    if is_own && duration.verdict != figure.verdict {
        let spread = duration.spread.map(|spread| format!(" of {:.0} %", 100.0 * spread)).unwrap_or_default();
        text.push_str(&format!(" The duration does not show it, because of its spread{spread}."));
    }
    text
}

/// The part that explains a change in this direction: the largest that is no chance, else the largest of the test's own.
fn leader(difference: &Difference, is_more: bool, is_own: bool) -> Option<&ShownRow> {
    let is_disturbance = |shown: &ShownRow| shown.row().is_some_and(|row| row.disturbance().is_some());
    let parts = || {
        let is_part = |shown: &&ShownRow| matches!(shown.part, Part::Row(_) | Part::Speed(_));
        difference.shown.iter().filter(is_part).filter(|shown| (shown.delta > 0) == is_more)
    };
    let is_no_chance = |shown: &&ShownRow| shown.row().is_none_or(|row| row.is_flagged);
    let flagged = parts().filter(|shown| !(is_own && is_disturbance(shown))).find(is_no_chance);
    flagged.or_else(|| parts().find(|shown| !is_disturbance(shown)))
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

/// Of sets that the duration chose: what goes with it.
fn chosen(figure: &ComparedFigure, difference: &Difference, labels: &[String; 2]) -> String {
    let ms = (figure.means[1] - figure.means[0]) / 1e6;
    let row = leader(difference, ms > 0.0, false)
        .map(|leader| format!(": {}, {:+.1} ms", leader.text(), leader.delta as f64 / 1e6));
    format!("The {} runs take {ms:+.1} ms{}.", labels[1], row.unwrap_or_default())
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
