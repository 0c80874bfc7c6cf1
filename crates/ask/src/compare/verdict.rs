//! The sentence that says what a comparison found.

use tracesift_statistics::Verdict;

use super::difference::{Difference, Part, ShownRow};
use super::figures::ComparedFigure;
use crate::asked::Amount;

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
    // The shift of the runs in time: the medians alone can differ in the other direction.
    let ms = signed_ms(figure.medians[0] * figure.change());
    let own = if is_own { " of its own time" } else { "" };
    let [a, b] = labels;
    let mut text = match figure.verdict {
        Verdict::Slower => format!("{b} is slower by {change:.1} % ({ms} ms{own})"),
        Verdict::Faster => format!("{b} is faster by {:.1} % ({ms} ms{own})", -change),
        Verdict::Same if is_own && duration.verdict != Verdict::Same => {
            return format!("{b} needs as much time of its own as {a}; of the duration nothing can be said.");
        }
        Verdict::Same => return format!("{b} is as fast as {a}."),
        Verdict::Undecided => return undecided(figure),
    };
    if let Some(leader) = leader(difference, change > 0.0, is_own) {
        let mark = leader.row().and_then(|row| row.mark).map(|mark| format!(" ({})", mark.word())).unwrap_or_default();
        text.push_str(&format!(": {}{mark}, {} ms", leader.text(), signed_ms(leader.delta as f64)));
    }
    text.push('.');
    if is_own {
        text.push_str(&of_duration(duration, figure));
    }
    text
}

/// What the duration says beside the test's own time, where that is another thing.
fn of_duration(duration: &ComparedFigure, own: &ComparedFigure) -> String {
    let (change, of_own) = (duration.change(), own.change());
    let word = match duration.verdict {
        Verdict::Slower => "longer",
        Verdict::Faster => "shorter",
        Verdict::Same | Verdict::Undecided => {
            let spread = duration.spread.map(|spread| format!(" of {:.0} %", 100.0 * spread)).unwrap_or_default();
            return format!(" The duration does not show it, because of its spread{spread}.");
        }
    };
    // What others took is most of it.
    if duration.verdict != own.verdict || change.abs() > 2.0 * of_own.abs() {
        let ms = signed_ms(duration.medians[0] * change);
        return format!(
            " The duration is {word} by {:.1} % ({ms} ms): disturbances changed, too.",
            100.0 * change.abs()
        );
    }
    String::new()
}

/// Milliseconds of a difference, as the rows have it.
fn signed_ms(ns: f64) -> String {
    let sign = if ns < 0.0 { "−" } else { "+" };
    format!("{sign}{}", Amount::Time(ns.abs().round() as i64).to_string().trim_end_matches(" ms"))
}

/// The part that explains a change in this direction: the largest that is no chance, else the largest. Only parts of the test's own explain
/// a change of its own time.
fn leader(difference: &Difference, is_more: bool, is_own: bool) -> Option<&ShownRow> {
    let is_disturbance = |shown: &ShownRow| shown.row().is_some_and(|row| row.disturbance().is_some());
    let parts = || {
        let is_part = |shown: &&ShownRow| matches!(shown.part, Part::Row(_) | Part::Speed(_));
        difference.shown.iter().filter(is_part).filter(|shown| (shown.delta > 0) == is_more)
    };
    let is_no_chance = |shown: &&ShownRow| shown.row().is_none_or(|row| row.is_flagged);
    let parts = || parts().filter(|shown| !(is_own && is_disturbance(shown)));
    parts().find(is_no_chance).or_else(|| parts().next())
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
    let delta = figure.means[1] - figure.means[0];
    // The duration chose the sets, so the largest part is what goes with it, whoever took it.
    let is_part = |shown: &&ShownRow| !matches!(shown.part, Part::Others) && (shown.delta > 0) == (delta > 0.0);
    let largest = difference.shown.iter().filter(is_part).max_by_key(|shown| shown.delta.abs());
    let row = largest.map(|leader| format!(": {}, {} ms", leader.text(), signed_ms(leader.delta as f64)));
    format!("The {} runs take {} ms{}.", labels[1], signed_ms(delta), row.unwrap_or_default())
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
