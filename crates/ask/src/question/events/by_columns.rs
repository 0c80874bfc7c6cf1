//! Events counted by their stored columns alone, where nobody looks at single ones: each distinct text is looked up once per
//! batch.

use tracesift_archive::{Archive, Error, Keys, Numbers, Texts};
use tracesift_trace::rows::EventRow;
use tracesift_trace::schema::ColumnSet;

use super::Question;
use super::dimension::{By, Fact, Part, Parts, class, cpu};
use super::groups::Groups;
use crate::events::column_keys::{
    ACTIVITY, CPU, EVENT, ID, LEVEL, OPCODE, PROCESS, PROVIDER, STACK, THREAD, TIME, VERSION,
};
use crate::time_windows::TimeWindows;

/// Whether a question is about all events of a recording, and about nothing that their fields say.
pub(super) fn can_count(question: &Question, windows: &TimeWindows) -> bool {
    let mut by = question.by.iter().chain(&question.pivot);
    windows.bounds().is_none()
        && windows.spans().len() == 1
        && question.inside.is_empty()
        && question.fields.is_empty()
        && question.sums.is_empty()
        && question.filter == super::EventFilter::default()
        && by.all(|by| matches!(by, By::Fact(_)))
}

/// The groups of all events of an archive, by the columns that are `needed`. `groups` has none yet.
pub(super) fn count(
    mut groups: Groups,
    by: &[&By],
    needed: ColumnSet<EventRow>,
    archive: &Archive,
) -> Result<Groups, Error> {
    groups.parts.of_archive(by, archive)?;
    let facts: Vec<Fact> =
        by.iter().filter_map(|by| if let By::Fact(fact) = by { Some(*fact) } else { None }).collect();
    let mut key: Vec<Part> = Vec::with_capacity(facts.len() + 1);
    archive.fold_keys(needed, groups, move |groups: &mut Groups, keys: &Keys<'_, EventRow>| {
        let times = keys.numbers::<TIME>()?;
        let columns = facts.iter().map(|fact| Column::of(*fact, keys)).collect::<Result<Vec<Column<'_>>, String>>();
        let mut columns = columns?;
        for row in 0..keys.rows() {
            let time = times.get(row).ok_or_else(|| format!("row {row} has no time"))?;
            if let Some(events) = groups.events.first_mut() {
                *events += 1;
            }
            key.clear();
            // The only time window.
            key.push(Some(0));
            key.extend(columns.iter_mut().map_while(|column| column.part(row, &mut groups.parts)));
            if key.len() == columns.len() + 1 {
                groups.count(&key, time, 0);
            } else {
                groups.left_out += 1;
            }
        }
        Ok(())
    })
}

/// The parts of the events of a batch.
enum Column<'a> {
    Numbers(Numbers),
    Cpus(Numbers),
    /// Texts, which of each counts, and the part of each text that has come up; an error: there are too many.
    Texts(Texts<'a>, fn(&str) -> &str, Vec<Option<Result<Part, ()>>>),
}

impl<'a> Column<'a> {
    fn of(fact: Fact, keys: &Keys<'a, EventRow>) -> Result<Self, String> {
        let texts = |texts: Texts<'a>, part| {
            let parts = vec![None; texts.count()];
            Self::Texts(texts, part, parts)
        };
        Ok(match fact {
            Fact::Process => Self::Numbers(keys.numbers::<PROCESS>()?),
            Fact::Thread => Self::Numbers(keys.numbers::<THREAD>()?),
            Fact::Provider => texts(keys.texts::<PROVIDER>()?, |text| text),
            Fact::Event => texts(keys.texts::<EVENT>()?, |text| text),
            Fact::Class => texts(keys.texts::<EVENT>()?, class),
            Fact::Id => Self::Numbers(keys.numbers::<ID>()?),
            Fact::Version => Self::Numbers(keys.numbers::<VERSION>()?),
            Fact::Opcode => Self::Numbers(keys.numbers::<OPCODE>()?),
            Fact::Level => Self::Numbers(keys.numbers::<LEVEL>()?),
            Fact::Cpu => Self::Cpus(keys.numbers::<CPU>()?),
            Fact::Activity => texts(keys.texts::<ACTIVITY>()?, |text| text),
            Fact::Stack => Self::Numbers(keys.numbers::<STACK>()?),
        })
    }

    /// The part of a row; `None`: there are too many texts.
    #[inline]
    fn part(&mut self, row: usize, all: &mut Parts) -> Option<Part> {
        match self {
            Self::Numbers(numbers) => Some(numbers.get(row)),
            Self::Cpus(numbers) => Some(cpu(numbers.get(row))),
            Self::Texts(texts, of, parts) => {
                let Some(number) = texts.number(row) else { return Some(None) };
                let known = parts.get_mut(number)?;
                known.get_or_insert_with(|| all.text(of(texts.text(number).unwrap_or_default()))).ok()
            }
        }
    }
}
