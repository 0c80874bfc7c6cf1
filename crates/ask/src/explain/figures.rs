//! The figures that rules look at: of the rows of an account, of a recording, or of the answer of a command. No figure is defined here.

use tracesift_archive::Error;
use tracesift_grammar::TimeRange;
use tracesift_trace::ProcessId;

use super::account::ExplainedAccount;
use super::limit::{Limit, Reference};
use super::places::Place;
use super::rules::{Look, Own, RowFit};
use crate::absence::Absence;
use crate::answer::Failure;
use crate::asked::{Amount, Answers, Fold, Gaps, Told};
use crate::path::rows::Row;
use crate::recording::OpenRecording;
use crate::stack_ends;

/// A figure of a condition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Figure {
    /// The figure.
    pub(crate) amount: Amount,
    /// Its part of what the threshold is percent of, in percent.
    pub(crate) share: Option<f64>,
}

impl Figure {
    /// Whether it reaches a threshold.
    pub(crate) fn reaches(&self, limit: &Limit) -> bool {
        limit.is_reached(self.share.unwrap_or_else(|| self.amount.number()))
    }
}

/// The part of a recording that is explained, and what was asked of it already.
pub(crate) struct Figures<'a> {
    recording: &'a OpenRecording,
    account: Result<&'a ExplainedAccount, String>,
    /// The processes of the test; `None`: no test is known.
    test: Option<Vec<ProcessId>>,
    time: TimeRange,
    answers: Answers<'a>,
}

impl<'a> Figures<'a> {
    pub(crate) fn new(
        recording: &'a OpenRecording,
        account: Result<&'a ExplainedAccount, String>,
        test: Option<Vec<ProcessId>>,
        time: TimeRange,
        gaps: Gaps,
    ) -> Self {
        Self { recording, account, test, time, answers: Answers::new(recording, gaps) }
    }

    /// Whether a test is known.
    pub(crate) fn has_test(&self) -> bool {
        self.test.is_some()
    }

    /// What stands in the gaps of commands.
    pub(crate) fn gaps(&self, is_of_test: bool) -> Gaps {
        self.answers.gaps(is_of_test)
    }

    /// The figure of a condition.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub(crate) fn of(&mut self, look: &Look, limit: &Limit, is_of_test: bool) -> Result<Told<Figure>, Failure> {
        match look {
            Look::Account(fits) => Ok(self.of_account(fits, limit)),
            Look::Recording(own) => {
                let failure = |error: Error| Failure::new(&self.recording.file.path, &error);
                self.of_recording(*own, is_of_test).map_err(failure)
            }
            Look::Asked { words, fold } => self.of_answer(words, fold, limit.of.as_ref(), is_of_test),
        }
    }

    /// Where in time the figure of a condition lies, if it is path time.
    pub(crate) fn place_of(&self, look: &Look) -> Option<Place> {
        let (account, rows) = self.rows_of(look)?;
        account.places.together(rows.map(|row| &row.name))
    }

    /// The largest row of the figure of a condition, if it is path time, where it names a process: as a text, and its time.
    pub(crate) fn largest_of(&self, look: &Look) -> Option<(String, i64)> {
        let (account, mut rows) = self.rows_of(look)?;
        rows.next().filter(|row| row.name.process.is_some()).map(|row| (account.text_of(row), row.time))
    }

    /// The rows of the account that a condition is about, the largest first.
    fn rows_of<'l>(&'l self, look: &'l Look) -> Option<(&'a ExplainedAccount, impl Iterator<Item = &'a Row> + 'l)> {
        let (Look::Account(fits), Ok(account)) = (look, &self.account) else { return None };
        let is_among = |row: &&Row| row.time > 0 && fits.iter().any(|fit| fit.fits(row, account));
        Some((*account, account.all.iter().filter(is_among)))
    }

    fn of_account(&self, fits: &[RowFit], limit: &Limit) -> Told<Figure> {
        let account = self.account.clone()?;
        let is_among = |row: &&Row| fits.iter().any(|fit| fit.fits(row, account));
        let time = account.all.iter().filter(is_among).fold(0_i64, |sum, row| sum.saturating_add(row.time));
        let whole = match limit.of {
            // The window of the account is exact, where a range of time ends with the recording.
            Some(Reference::Window) => Some(account.length as f64),
            _ => whole_of(self.recording, self.time, limit.of.as_ref()),
        };
        let share = whole.map(|whole| percent(time as f64, whole));
        let figure = Figure { amount: Amount::Time(time), share };
        // Time that the recording does not tell could be more of it; what is known is enough or is not.
        match fits.iter().find_map(|fit| fit.needs(account.level)) {
            Some(missing) if !figure.reaches(limit) => {
                let why = match self.recording.file.absence_of("context_switches") {
                    why @ (Absence::NotExtracted | Absence::NotImported | Absence::NotInWhatIsLeft) => why,
                    _ => Absence::NotRecordedWithout("CSwitch"),
                };
                Err(format!("{missing}: {why}"))
            }
            _ => Ok(Some(figure)),
        }
    }

    fn of_recording(&self, own: Own, is_of_test: bool) -> Result<Told<Figure>, Error> {
        let info = self.recording.info();
        let count = |number: i64| Ok(Some(Figure { amount: Amount::Count(number), share: None }));
        Ok(match own {
            Own::Lost => count(i64::try_from(info.events_lost.saturating_add(info.buffers_lost)).unwrap_or(i64::MAX)),
            Own::EarlyStacks => {
                let test = self.test.as_deref().filter(|_| is_of_test);
                match stack_ends::early_share(self.recording, test)? {
                    Some(share) => Ok(Some(Figure { amount: Amount::Number(share), share: None })),
                    None => Err("the recording does not tell how stacks end".to_owned()),
                }
            }
        })
    }

    /// A column of the answer of a command.
    pub(crate) fn of_answer(
        &mut self,
        words: &[String],
        fold: &Fold,
        of: Option<&Reference>,
        is_of_test: bool,
    ) -> Result<Told<Figure>, Failure> {
        let (recording, time) = (self.recording, self.time);
        let answer = match self.answers.of(words, is_of_test)? {
            Ok(answer) => answer,
            Err(why) => return Ok(Err(why)),
        };
        let amount = match answer.figure(fold) {
            Ok(Some(amount)) => amount,
            Ok(None) => return Ok(Ok(None)),
            Err(why) => return Ok(Err(why)),
        };
        let whole = match of {
            Some(Reference::Column(key)) => match answer.figure(&Fold::sum(key)) {
                Ok(Some(whole)) => Some(whole.number()),
                _ => return Ok(Err(format!("the recording does not tell {key}"))),
            },
            Some(Reference::Cpus) if recording.info().cpu_count == 0 => {
                return Ok(Err("the recording does not tell how many CPUs there are".to_owned()));
            }
            of => whole_of(recording, time, of),
        };
        Ok(Ok(Some(Figure { amount, share: whole.map(|whole| percent(amount.number(), whole)) })))
    }
}

/// What a figure can be percent of, beside another column.
fn whole_of(recording: &OpenRecording, time: TimeRange, of: Option<&Reference>) -> Option<f64> {
    match of? {
        Reference::Window => Some(length_of(recording, time)),
        Reference::Cpus => Some(length_of(recording, time) * f64::from(recording.info().cpu_count)),
        Reference::Column(_) => None,
    }
}

fn percent(number: f64, whole: f64) -> f64 {
    if whole > 0.0 { number / whole * 100.0 } else { 0.0 }
}

/// Length of a part of a recording, ns.
fn length_of(recording: &OpenRecording, time: TimeRange) -> f64 {
    let file = &recording.file;
    let (start, end) = (time.start.unwrap_or(file.start), time.end.unwrap_or(file.end));
    end.saturating_sub(start).max(0) as f64
}

impl RowFit {
    /// What an account of this level lacks to tell all such time.
    fn needs(&self, level: &str) -> Option<&'static str> {
        let is_unknown = self.disturbance.as_deref() == Some("unknown");
        match level {
            _ if self.state.as_deref() == Some("run") => None,
            "samples" => Some("context switches"),
            "switches" if !is_unknown => Some("ready events"),
            _ => None,
        }
    }

    /// Whether a row of an account has all of it.
    fn fits(&self, row: &Row, account: &ExplainedAccount) -> bool {
        let name = &row.name;
        let is = |wanted: &Option<String>, text: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| wanted == text.unwrap_or("none"))
        };
        let has_tag = |pattern: &Option<tracesift_grammar::Pattern>, tag: Option<&str>| {
            pattern.as_ref().is_none_or(|pattern| tag.is_some_and(|tag| tags(tag).any(|tag| pattern.matches(tag))))
        };
        (!self.is_of_test || account.is_of_test(row))
            && is(&self.state, Some(name.state))
            && is(&self.disturbance, name.disturbance.map(tracesift_analysis::disturbances::Kind::word))
            && is(&self.ended_by, name.ended_by.as_deref().map(device))
            && has_tag(&self.tag, name.tag.as_deref())
            && has_tag(&self.for_tag, name.for_tag.as_deref())
            && self.mean.as_ref().is_none_or(|mean| mean_of(row).is_some_and(|length| mean.contains(&length)))
    }
}

/// What ended a wait, without the operation of a disk: `disk 1 read` is `disk`.
fn device(ended_by: &str) -> &str {
    if ended_by.starts_with("disk ") { "disk" } else { ended_by }
}

/// A tag, and those above it.
fn tags(tag: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(tag), |tag| Some(tag.rsplit_once('\\')?.0))
}

/// The mean length of the stretches of time of a row, ns.
fn mean_of(row: &Row) -> Option<i64> {
    let leaves = i64::try_from(row.leaves?).ok().filter(|leaves| *leaves > 0)?;
    Some(row.time / leaves)
}
