//! Which rules a recording fits: findings, the one that explains most time first.

use std::fmt::Write as _;

use super::figures::{Figure, Figures};
use super::places::Place;
use super::rules::{Condition, Look, Rule, RuleList, Scope, System};
use crate::answer::Failure;
use crate::asked::{Amount, Told};

/// What is said where nothing names the test.
pub(super) const NO_TEST: &str = "nothing tells which program is tested: name it with -p";

/// A rule that a recording fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The rule.
    pub rule: String,
    /// What was found, in a sentence. Where it is path time, a second sentence names its largest row.
    pub sentence: String,
    /// The figures with their thresholds; the first one is what it is about.
    pub figures: Vec<FoundFigure>,
    /// The time that it explains, ns.
    pub time: Option<i64>,
    /// Whether this is time of the path: it adds up with other time of the path.
    pub is_on_path: bool,
    /// Where in time it lies; `None` of a finding that is no path time.
    pub place: Option<Place>,
    /// The command that shows it.
    pub command: String,
    /// The same command; a long name of the file is shortened to a pattern.
    pub short: String,
}

/// A figure that reached its threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundFigure {
    /// The figure.
    pub amount: Amount,
    /// Its part of what the threshold is percent of, in percent.
    pub share: Option<f64>,
    /// The threshold, as a text.
    pub threshold: String,
}

/// A rule that could not be looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unlooked {
    /// The rule.
    pub rule: String,
    /// Why.
    pub why: String,
}

/// What rules found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    pub(crate) findings: Vec<Finding>,
    pub(crate) unlooked: Vec<Unlooked>,
}

impl Found {
    /// Tries all rules of a list that are asked for.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub(crate) fn by(
        list: &RuleList,
        figures: &mut Figures<'_>,
        is_windows: bool,
        is_asked: impl Fn(&Rule) -> bool,
    ) -> Result<Self, Failure> {
        let mut found = Self::default();
        for rule in list.rules.iter().filter(|rule| is_asked(rule)) {
            if rule.system.is_some_and(|system| (system == System::Windows) != is_windows) {
                let system = if is_windows { "Windows" } else { "Linux" };
                found
                    .unlooked
                    .push(Unlooked { rule: rule.name.clone(), why: format!("not in recordings of {system}") });
                continue;
            }
            match try_rule(rule, figures)? {
                Tried::Fits(finding) => found.findings.push(finding),
                Tried::Not => {}
                Tried::Untold(why) => found.unlooked.push(Unlooked { rule: rule.name.clone(), why }),
            }
        }
        // Path time first: only it says how much shorter the test would be. The order of the list decides between equals.
        found
            .findings
            .sort_by_key(|finding| std::cmp::Reverse((finding.time.is_some() && finding.is_on_path, finding.time)));
        Ok(found)
    }
}

/// What a rule says of a recording.
enum Tried {
    Fits(Finding),
    Not,
    Untold(String),
}

fn try_rule(rule: &Rule, figures: &mut Figures<'_>) -> Result<Tried, Failure> {
    let is_of_test = match rule.scope {
        Scope::Test if !figures.has_test() => return Ok(Tried::Untold(NO_TEST.to_owned())),
        Scope::Test => true,
        Scope::Machine => false,
        Scope::Any => figures.has_test(),
    };
    let mut reached: Vec<(&Condition, Figure)> = Vec::new();
    let mut untold = None;
    for condition in &rule.conditions {
        match figures.of(&condition.look, &condition.limit, is_of_test)? {
            Ok(Some(figure)) if figure.reaches(&condition.limit) => reached.push((condition, figure)),
            // What is known not to be fits no rule, whatever is not known.
            Ok(_) => return Ok(Tried::Not),
            Err(why) => untold = untold.or(Some(why)),
        }
    }
    if let Some(why) = untold {
        return Ok(Tried::Untold(why));
    }
    let Some((first, figure)) = reached.first() else { return Ok(Tried::Not) };
    let time = match (figure.amount, &rule.time, &first.look) {
        (Amount::Time(time), ..) => Some(time),
        (_, Some(fold), Look::Asked { words, .. }) => time_of(figures.of_answer(words, fold, None, is_of_test)?),
        _ => None,
    };
    let found = |(condition, figure): &(&Condition, Figure)| FoundFigure {
        amount: figure.amount,
        share: figure.share,
        threshold: condition.limit.to_string(),
    };
    let found: Vec<FoundFigure> = reached.iter().map(found).collect();
    let gaps = figures.gaps(is_of_test);
    let mut sentence = sentence(&rule.says, &found, time, is_of_test);
    if let Some((row, time_of_row)) = figures.largest_of(&first.look) {
        let part = if Some(time_of_row) == time { "All of it" } else { "Largest part" };
        let _ = write!(sentence, " {part}: {row}, {}.", Amount::Time(time_of_row));
    }
    Ok(Tried::Fits(Finding {
        rule: rule.name.clone(),
        sentence,
        figures: found,
        time,
        is_on_path: matches!(first.look, Look::Account(_)),
        place: figures.place_of(&first.look),
        command: gaps.command(&rule.evidence),
        short: gaps.short_command(&rule.evidence),
    }))
}

fn time_of(told: Told<Figure>) -> Option<i64> {
    match told {
        Ok(Some(Figure { amount: Amount::Time(time), .. })) => Some(time),
        _ => None,
    }
}

/// The sentence of a rule with its figures.
fn sentence(says: &str, figures: &[FoundFigure], time: Option<i64>, is_of_test: bool) -> String {
    let mut text = says.to_owned();
    for (number, figure) in (1..).zip(figures) {
        text = text.replace(&format!("{{{number}}}"), &figure.amount.to_string());
        let share = figure.share.map(shown_share).unwrap_or_default();
        text = text.replace(&format!("{{{number}%}}"), &share);
    }
    let time = time.map_or_else(|| "an unknown time".to_owned(), |time| Amount::Time(time).to_string());
    // The figures of a test and of its machine have the same words, and differ.
    text.replace("{time}", &time).replace("{whose}", if is_of_test { "of the test" } else { "of the machine" })
}

/// A share in percent as people read it.
#[must_use]
pub fn shown_share(percent: f64) -> String {
    format!("{percent:.1} %")
}

#[cfg(test)]
mod tests {
    use super::{Amount, FoundFigure, sentence};

    #[test]
    fn gaps_of_a_sentence_are_figures() {
        let figure = |amount, share| FoundFigure { amount, share, threshold: String::new() };
        let figures = [figure(Amount::Count(12), None), figure(Amount::Time(2_000_000), Some(25.04))];
        assert_eq!(
            sentence("{1} waits took {2}, {2%} of it; {time} in all.", &figures, Some(3_000_000), true),
            "12 waits took 2.0 ms, 25.0 % of it; 3.0 ms in all."
        );
        assert_eq!(sentence("{1} stacks {whose}", &figures, None, true), "12 stacks of the test");
        assert_eq!(sentence("{1} stacks {whose}", &figures, None, false), "12 stacks of the machine");
    }
}
