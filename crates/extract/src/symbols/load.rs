//! Adds names to an existing archive.

use std::path::Path;

use tracesift_analysis::RecordingFacts;
use tracesift_archive::{ArchiveUpdate, TargetLock, WhenBusy};
use tracesift_trace::rows::{ContextSwitchRow, HealthRow, LongSpanRow};

use super::nameless::{NAMELESS, nameless};
use super::names::{Earlier, Named, Names, WithNames};
use super::source::NameSource;
use crate::error::Error;
use crate::options::Budget;
use crate::summaries_in_rounds::write_summaries;
use crate::timelines::add_timelines;

/// Adds names to the frames of an archive. It writes the tables `symbols`, `method_summary` and
/// `tag_summary` anew and keeps all other files. If no symbol file has a name, it changes nothing.
///
/// # Errors
/// The archive cannot be read or replaced. It is then unchanged.
pub fn load_symbols(archive: &Path, source: &dyn NameSource) -> Result<Named, Error> {
    let lock = TargetLock::acquire(archive, WhenBusy::Wait)?;
    let mut update = ArchiveUpdate::begin(lock)?;
    let old = update.old().clone();
    let names = Names::find(&old, Earlier::Stored, &archive.with_extension("etl"), source)?;
    let named = names.named().clone();
    if names.is_empty() {
        if !old.info().symbols_loaded {
            update.info_mut().symbols_loaded = true;
            update.finish()?;
        }
        return Ok(named);
    }
    let source = WithNames { rows: &old, names: &names };
    let mut written = Ok(());
    update.write_each(|write| written = names.for_each(write));
    written?;
    let entries = names.entries()?;
    if !entries.is_empty() {
        update.write_table(&entries);
    }
    write_summaries(RecordingFacts::from(old.info()), None, &source, Budget::default().summaries(), &mut update)?;
    if old.row_count::<ContextSwitchRow>() >= Budget::default().long_from && old.row_count::<LongSpanRow>() == 0 {
        // One of a version that did not have this index.
        let mut written = Ok(());
        update.write_each(|write| written = old.find_long_spans(write));
        written?;
    }
    let mut health: Vec<HealthRow> = old.rows()?;
    health.retain(|row| row.kind != NAMELESS.word());
    let nameless = nameless(&named).map(|(count, example)| HealthRow {
        kind: NAMELESS.word().to_owned(),
        count,
        first_time: None,
        example: Some(example),
    });
    health.extend(nameless);
    update.write_table(&health);
    update.info_mut().symbols_loaded = true;
    update.finish()?;
    // They are made by the index of switches, which may have come just now.
    add_timelines(archive, &Budget::default())?;
    Ok(named)
}
