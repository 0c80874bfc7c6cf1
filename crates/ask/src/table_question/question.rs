//! A question over the rows of one table as somebody asks it.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use tracesift_archive::Error;
use tracesift_grammar::TimeRange;

use super::asked::{Asked, UnknownName};
use super::list::{self, Listing};
use super::names::Names;
use super::plan::Plan;
use super::reading::Reading;
use super::stated::Stated;
use super::{TableQuestion, layout};
use crate::answer::{Column, Section};
use crate::ask::{Ask, Reads};
use crate::candidates::Candidates;
use crate::filter::ProcessFilter;
use crate::order::Between;
use crate::processes;
use crate::recording::OpenRecording;
use crate::shown::Shown;

/// A question over the rows of one table as somebody asks it.
///
/// [`Asked`] has all that was asked. This type adds that of the rows, for those who read them.
#[derive(Clone, Debug)]
pub struct Question<Q: TableQuestion> {
    asked: Asked,
    of: PhantomData<fn() -> Q>,
}

impl<Q: TableQuestion> From<Asked> for Question<Q> {
    fn from(asked: Asked) -> Self {
        Self { asked, of: PhantomData }
    }
}

impl<Q: TableQuestion> Default for Question<Q> {
    fn default() -> Self {
        Asked::usual(Stated::of::<Q>()).into()
    }
}

impl<Q: TableQuestion> Deref for Question<Q> {
    type Target = Asked;

    fn deref(&self) -> &Asked {
        &self.asked
    }
}

impl<Q: TableQuestion> DerefMut for Question<Q> {
    fn deref_mut(&mut self) -> &mut Asked {
        &mut self.asked
    }
}

impl<Q: TableQuestion> Question<Q> {
    /// The words of `--by`.
    pub(crate) fn dimensions() -> impl Iterator<Item = &'static str> {
        Q::DIMENSIONS.iter().map(|dimension| dimension.is.name)
    }

    /// The words of `--sort`: of each measure the first, then those that mean the same.
    pub(crate) fn orders() -> impl Iterator<Item = &'static [&'static str]> {
        Stated::of::<Q>().orders().collect::<Vec<_>>().into_iter()
    }

    /// The columns of lists of single rows.
    #[must_use]
    pub fn list_columns() -> Vec<Column> {
        list::descriptions(&Stated::of::<Q>())
    }

    /// The columns of the answers to all groupings.
    #[must_use]
    pub fn all_columns() -> Vec<Column> {
        layout::descriptions(&Stated::of::<Q>(), None)
    }

    /// The same question about groups of these dimensions.
    ///
    /// # Errors
    /// When it has no such dimension.
    pub fn by(self, names: &[&str]) -> Result<Self, UnknownName> {
        self.asked.by(names).map(Self::from)
    }

    /// The same question, sorted by the measure of this word, or by name.
    ///
    /// # Errors
    /// When no measure has the word.
    pub fn sorted_by_word(self, word: &str) -> Result<Self, UnknownName> {
        self.asked.sorted_by_word(word).map(Self::from)
    }

    /// The same question about rows that the patterns of an option let pass. Without patterns it lets all pass.
    ///
    /// # Errors
    /// When it has no such option.
    pub fn matching(self, option: &str, patterns: &str) -> Result<Self, UnknownName> {
        self.asked.matching(option, patterns).map(Self::from)
    }

    /// The same question about rows between limits. The lower option names them.
    ///
    /// # Errors
    /// When it has no such option.
    pub fn between(self, option: &str, between: Between) -> Result<Self, UnknownName> {
        self.asked.between(option, between).map(Self::from)
    }

    /// The same question about groups whose figure lies between limits. The lower option names them.
    ///
    /// # Errors
    /// When it has no such option.
    pub fn groups_between(self, option: &str, between: Between) -> Result<Self, UnknownName> {
        self.asked.groups_between(option, between).map(Self::from)
    }

    /// The same question about the rows of which the condition of an option is true.
    ///
    /// # Errors
    /// When it has no such option.
    pub fn on_condition(self, option: &str) -> Result<Self, UnknownName> {
        self.asked.on_condition(option).map(Self::from)
    }

    /// The same question, answered with single rows. A list has no series.
    #[must_use]
    pub fn listed(self, listing: Listing) -> Self {
        self.asked.listed(listing).into()
    }

    /// The same question about the nodes of the tree of paths: a row has the figures of all paths below it.
    #[must_use]
    pub fn as_tree(self) -> Self {
        self.asked.into_tree().into()
    }

    /// The same question by somebody who looks at the totals only.
    pub(crate) fn totals_only(self) -> Self {
        self.asked.totals_only().into()
    }

    /// The same question about a time range. `origin` is the zero from which limits of instants are counted.
    pub(crate) fn of_range(&self, time: TimeRange, origin: i64) -> Self {
        self.asked.of_range(time, origin).into()
    }

    /// The rows that the filters let pass, of any process.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub(crate) fn passing(&self, recording: &OpenRecording) -> Result<Vec<Q::Row>, Error> {
        let asked = Asked { filter: ProcessFilter::default(), ..self.asked.clone() }.totals_only();
        let plan = Plan::new(&asked);
        let processes = processes::read(recording.archive(), &asked.filter, &asked.shown)?;
        let accepted = processes.iter().map(|row| (row.process, row)).collect();
        let mut names = Names::load(recording, &plan, accepted)?;
        Reading::<Q>::new(&asked, &plan, &[asked.time], &mut names).passing(recording, asked.time)
    }
}

impl<Q: TableQuestion> Ask for Question<Q> {
    fn name(&self) -> &'static str {
        self.asked.name()
    }

    fn tables(&self) -> &'static [&'static str] {
        self.asked.tables()
    }

    fn reads(&self) -> Reads {
        self.asked.reads()
    }

    fn processes(&self) -> Option<&ProcessFilter> {
        self.asked.processes()
    }

    fn candidates(&self, recording: &OpenRecording) -> Result<Vec<Candidates>, Error> {
        self.asked.candidates(recording)
    }

    fn limits(&self) -> Vec<&'static str> {
        self.asked.limits()
    }

    fn sorted_by(&self) -> Option<&'static str> {
        self.asked.sorted_by()
    }

    fn columns(&self) -> Vec<Column> {
        self.asked.columns()
    }

    fn within(&self, time: TimeRange, origin: i64) -> Box<dyn Ask> {
        self.asked.within(time, origin)
    }

    fn showing(&self, shown: &Shown) -> Option<Box<dyn Ask>> {
        self.asked.showing(shown)
    }

    fn section(&self, recording: &OpenRecording) -> Result<Section, Error> {
        self.asked.section(recording)
    }

    fn series(&self, recording: &OpenRecording, ranges: &[TimeRange], origin: i64) -> Result<Vec<Section>, Error> {
        self.asked.series(recording, ranges, origin)
    }

    fn ranges_at_once(&self) -> usize {
        self.asked.ranges_at_once()
    }

    fn sums_suffice(&self) -> bool {
        self.asked.sums_suffice()
    }
}
