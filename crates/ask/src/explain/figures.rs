//! The figures that rules look at: of the rows of an account, of a recording, or of the answer of a command. No figure is defined here.

use std::collections::HashMap;

use tracesift_archive::Error;
use tracesift_grammar::TimeRange;
use tracesift_trace::ProcessId;

use super::account::ExplainedAccount;
use super::commands::Gaps;
use super::limit::{Limit, Reference};
use super::rules::{Fold, How, Look, Own, RowFit};
use crate::answer::{Column, Failure, Kind, Section, Value};
use crate::options::Plan;
use crate::path::rows::Row;
use crate::question;
use crate::recording::OpenRecording;
use crate::stack_ends;

/// A figure with its unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// ns.
    Time(i64),
    /// A number of things.
    Count(i64),
    /// Bytes.
    Bytes(i64),
    /// Another number.
    Number(f64),
}

impl Amount {
    /// The number alone.
    #[must_use]
    pub fn number(self) -> f64 {
        match self {
            Self::Time(number) | Self::Count(number) | Self::Bytes(number) => number as f64,
            Self::Number(number) => number,
        }
    }

    /// The unit of the number.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Self::Time(_) => "ns",
            Self::Count(_) => "integer",
            Self::Bytes(_) => "bytes",
            Self::Number(_) => "number",
        }
    }

    fn of(kind: Kind, number: f64) -> Self {
        match kind {
            Kind::Seconds | Kind::Milliseconds | Kind::Microseconds | Kind::Time => Self::Time(number as i64),
            Kind::Bytes => Self::Bytes(number as i64),
            Kind::Id | Kind::Count => Self::Count(number as i64),
            _ => Self::Number(number),
        }
    }
}

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

/// A figure, nothing where there are no rows that could have it, or the reason why the recording does not tell it.
pub(crate) type Told = Result<Option<Figure>, String>;

/// The part of a recording that is explained, and what was asked of it already.
pub(crate) struct Figures<'a> {
    recording: &'a OpenRecording,
    account: Result<&'a ExplainedAccount, String>,
    /// The processes of the test; `None`: no test is known.
    test: Option<Vec<ProcessId>>,
    time: TimeRange,
    gaps: Gaps,
    asked: HashMap<Vec<String>, (Vec<Column>, Section)>,
}

impl<'a> Figures<'a> {
    pub(crate) fn new(
        recording: &'a OpenRecording,
        account: Result<&'a ExplainedAccount, String>,
        test: Option<Vec<ProcessId>>,
        time: TimeRange,
        gaps: Gaps,
    ) -> Self {
        Self { recording, account, test, time, gaps, asked: HashMap::new() }
    }

    /// Whether a test is known.
    pub(crate) fn has_test(&self) -> bool {
        self.test.is_some()
    }

    /// What stands in the gaps of commands.
    pub(crate) fn gaps(&self, is_of_test: bool) -> Gaps {
        if is_of_test { self.gaps.clone() } else { self.gaps.of_machine() }
    }

    /// The figure of a condition.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub(crate) fn of(&mut self, look: &Look, limit: &Limit, is_of_test: bool) -> Result<Told, Failure> {
        match look {
            Look::Account(fits) => Ok(self.of_account(fits, limit)),
            Look::Recording(own) => {
                let failure = |error: Error| Failure::new(&self.recording.file.path, &error);
                self.of_recording(*own, is_of_test).map_err(failure)
            }
            Look::Asked { words, fold } => self.of_answer(words, fold, limit.of.as_ref(), is_of_test),
        }
    }

    fn of_account(&self, fits: &[RowFit], limit: &Limit) -> Told {
        let account = self.account.clone()?;
        let is_among = |row: &&Row| fits.iter().any(|fit| fit.fits(row));
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
            Some(missing) if !figure.reaches(limit) => Err(missing.to_owned()),
            _ => Ok(Some(figure)),
        }
    }

    fn of_recording(&self, own: Own, is_of_test: bool) -> Result<Told, Error> {
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
    ) -> Result<Told, Failure> {
        let (recording, time) = (self.recording, self.time);
        let (columns, section) = self.answer(words, is_of_test)?;
        if section.is_absent {
            let why = section.facts.first().map(|fact| match &fact.value {
                Value::Text(why) => format!("{}: {why}", fact.label),
                _ => fact.label.to_owned(),
            });
            return Ok(Err(why.unwrap_or_else(|| "not recorded".to_owned())));
        }
        let (kind, number) = match fold.apply(columns, &section.rows) {
            Folded::Nothing => return Ok(Ok(None)),
            Folded::Untold => return Ok(Err(format!("the recording does not tell {}", fold.key))),
            Folded::Figure(kind, number) => (kind, number),
        };
        let whole = match of {
            Some(Reference::Column(key)) => {
                let fold = Fold { how: How::Sum, key: key.clone(), kept: None };
                match fold.apply(columns, &section.rows) {
                    Folded::Figure(_, whole) => Some(whole),
                    _ => return Ok(Err(format!("the recording does not tell {key}"))),
                }
            }
            Some(Reference::Cpus) if recording.info().cpu_count == 0 => {
                return Ok(Err("the recording does not tell how many CPUs there are".to_owned()));
            }
            of => whole_of(recording, time, of),
        };
        Ok(Ok(Some(Figure { amount: Amount::of(kind, number), share: whole.map(|whole| percent(number, whole)) })))
    }

    /// The answer of a command about the part that is explained.
    fn answer(&mut self, words: &[String], is_of_test: bool) -> Result<&(Vec<Column>, Section), Failure> {
        let words = self.gaps(is_of_test).fill(words);
        if !self.asked.contains_key(&words) {
            let answer = ask(self.recording, &words)?;
            self.asked.insert(words.clone(), answer);
        }
        let failure = || Failure { path: self.recording.file.path.clone(), reason: "no answer".to_owned() };
        self.asked.get(&words).ok_or_else(failure)
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

/// The answer of `dump …` for one recording, as the command would print it.
fn ask(recording: &OpenRecording, words: &[String]) -> Result<(Vec<Column>, Section), Failure> {
    let failure = |reason: String| Failure { path: recording.file.path.clone(), reason };
    let command = words.iter().take(2).map(String::as_str).collect::<Vec<_>>().join(" ");
    let known = question::DUMP.iter().find(|known| known.command == command);
    let known = known.ok_or_else(|| failure(format!("`{command}` is no question")))?;
    let options: Vec<&str> = words.iter().skip(2).map(String::as_str).collect();
    let (when, plan) = known.plan(&options).map_err(|error| failure(error.message))?;
    let Plan::Archives(asking) = plan else { return Err(failure(format!("`{command}` is not about archives"))) };
    let columns = when.columns(&*asking.question);
    let section = when.section(recording, &*asking.question, &columns)?;
    Ok((columns, section))
}

/// The figure of the values of a column.
enum Folded {
    /// No row is there to have it.
    Nothing,
    /// No row has it.
    Untold,
    /// The figure, with the kind of the column.
    Figure(Kind, f64),
}

impl Fold {
    fn apply(&self, columns: &[Column], rows: &[Vec<Value>]) -> Folded {
        let place = |key: &str| columns.iter().position(|column| column.key == key);
        let Some((place_of_figure, kind)) = place(&self.key).map(|place| (place, columns[place].kind)) else {
            return Folded::Untold;
        };
        let is_kept = |row: &&Vec<Value>| match &self.kept {
            None => true,
            Some((key, pattern)) => place(key).and_then(|place| row.get(place)).is_some_and(|value| match value {
                Value::Text(text) => pattern.matches(text),
                Value::Bool(value) => pattern.matches(if *value { "true" } else { "false" }),
                _ => false,
            }),
        };
        let mut any = false;
        let mut figures: Vec<f64> = Vec::new();
        for row in rows.iter().filter(is_kept) {
            any = true;
            match row.get(place_of_figure) {
                Some(Value::Int(number)) => figures.push(*number as f64),
                Some(Value::Float(number)) => figures.push(*number),
                _ => {}
            }
        }
        let figure = match self.how {
            How::Sum => (!figures.is_empty() || !any).then(|| figures.iter().sum()),
            How::Max => figures.iter().copied().reduce(f64::max),
            How::Min => figures.iter().copied().reduce(f64::min),
        };
        match figure {
            Some(figure) => Folded::Figure(kind, figure),
            None if any => Folded::Untold,
            None => Folded::Nothing,
        }
    }
}

impl RowFit {
    /// What an account of this level lacks to tell all such time.
    fn needs(&self, level: &str) -> Option<&'static str> {
        let is_unknown = self.disturbance.as_deref() == Some("unknown");
        match level {
            _ if self.state.as_deref() == Some("run") => None,
            "samples" => Some("context switches: not recorded"),
            "switches" if !is_unknown => Some("ready events: not recorded"),
            _ => None,
        }
    }

    /// Whether a row has all of it.
    fn fits(&self, row: &Row) -> bool {
        let name = &row.name;
        let is = |wanted: &Option<String>, text: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| wanted == text.unwrap_or("none"))
        };
        let has_tag = |pattern: &Option<tracesift_grammar::Pattern>, tag: Option<&str>| {
            pattern.as_ref().is_none_or(|pattern| tag.is_some_and(|tag| tags(tag).any(|tag| pattern.matches(tag))))
        };
        is(&self.state, Some(name.state))
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
