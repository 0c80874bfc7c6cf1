//! Figures out of the answers of commands: `dump gc {process} {window}`, and of that the sum of a column.
//!
//! The rules of `explain` and the metrics of `compare` are lists of such commands, so that neither ever has another number than
//! the command that shows it. `gaps` fills the gaps of a command for a recording, `fold` makes one figure of a column, and
//! [`amount`] is that figure with its unit.

pub mod amount;
pub(crate) mod fold;
pub(crate) mod gaps;

use std::collections::HashMap;

pub use self::amount::{Amount, Average};
pub(crate) use self::fold::Fold;
#[cfg(test)]
pub(crate) use self::fold::How;
pub(crate) use self::gaps::Gaps;

use self::fold::Folded;
use crate::answer::{Column, Failure, Section, Value};
use crate::options::Plan;
use crate::question;
use crate::recording::OpenRecording;

/// A figure, nothing where there are no rows that could have it, or the reason why the recording does not tell it.
pub(crate) type Told<T> = Result<Option<T>, String>;

/// What was asked of a part of a recording; no command is asked twice.
pub(crate) struct Answers<'a> {
    recording: &'a OpenRecording,
    gaps: Gaps,
    asked: HashMap<Vec<String>, Answer>,
}

/// The answer of a command.
pub(crate) struct Answer {
    columns: Vec<Column>,
    section: Section,
}

impl<'a> Answers<'a> {
    pub(crate) fn new(recording: &'a OpenRecording, gaps: Gaps) -> Self {
        Self { recording, gaps, asked: HashMap::new() }
    }

    /// What stands in the gaps of commands about the test, or about all processes.
    pub(crate) fn gaps(&self, is_of_test: bool) -> Gaps {
        if is_of_test { self.gaps.clone() } else { self.gaps.of_machine() }
    }

    /// The answer of a command, or the reason why the recording has none.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub(crate) fn of(&mut self, words: &[String], is_of_test: bool) -> Result<Result<&Answer, String>, Failure> {
        let words = self.gaps(is_of_test).fill(words);
        if !self.asked.contains_key(&words) {
            let answer = ask(self.recording, &words)?;
            self.asked.insert(words.clone(), answer);
        }
        let failure = || Failure { path: self.recording.file.path.clone(), reason: "no answer".to_owned() };
        let answer = self.asked.get(&words).ok_or_else(failure)?;
        Ok(answer.absence().map_or(Ok(answer), Err))
    }
}

impl Answer {
    /// Why the recording has no such data; `None`: it has some.
    fn absence(&self) -> Option<String> {
        let why = self.section.facts.first().map(|fact| match &fact.value {
            Value::Text(why) => format!("{}: {why}", fact.label),
            _ => fact.label.to_owned(),
        });
        self.section.is_absent.then(|| why.unwrap_or_else(|| "not recorded".to_owned()))
    }

    /// The figure of a column, or above the rows.
    pub(crate) fn figure(&self, fold: &Fold) -> Told<Amount> {
        match fold.apply(&self.columns, &self.section) {
            Folded::Nothing => Ok(None),
            Folded::Untold => Err(format!("the recording does not tell {}", fold.key)),
            Folded::Figure(kind, number) => Ok(Some(Amount::of(kind, number))),
        }
    }
}

/// The answer of `dump …` for one recording, as the command would print it.
fn ask(recording: &OpenRecording, words: &[String]) -> Result<Answer, Failure> {
    let failure = |reason: String| Failure { path: recording.file.path.clone(), reason };
    let command = words.iter().take(2).map(String::as_str).collect::<Vec<_>>().join(" ");
    let known = question::DUMP.iter().find(|known| known.command == command);
    let known = known.ok_or_else(|| failure(format!("`{command}` is no question")))?;
    let options: Vec<&str> = words.iter().skip(2).map(String::as_str).collect();
    let (when, plan) = known.plan(&options).map_err(|error| failure(error.message))?;
    let Plan::Archives(asking) = plan else { return Err(failure(format!("`{command}` is not about archives"))) };
    let columns = when.columns(&*asking.question);
    let section = when.section(recording, &*asking.question, &columns)?;
    Ok(Answer { columns, section })
}
