//! Table `tag_summary`: of hundreds of archives only the rows of the tags asked for are read. A tag's name is compared with the patterns once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustc_hash::FxHashSet;
use tracesift_archive::{Archive, Error, Keys};
use tracesift_trace::rows::TagSummaryRow;
use tracesift_trace::schema::column_key;
use tracesift_trace::{ProcessId, view};

use super::super::Question;
use super::Tags;

const PROCESS: u64 = column_key("process");
const TAG_SET: u64 = column_key("tag_set");
const TAG: u64 = column_key("tag");

view! {
    /// The columns by which rows are chosen.
    #[derive(Clone, Debug)]
    struct TagKey of TagSummaryRow { process, tag_set, tag }
}

/// The rows of these tags in these processes, by these rules or imported; `None`: the archive does not keep what these rules say.
pub(super) fn read(
    archive: &Archive,
    question: &Question,
    tags: &Tags,
    processes: &FxHashSet<ProcessId>,
) -> Result<Option<Vec<TagSummaryRow>>, Error> {
    // Something has a tag in every recording that has samples, so an archive that keeps these rules has rows.
    let is_kept = Arc::new(AtomicBool::new(false));
    let mut rows = Vec::new();
    let choose = chooser(tags.clone(), processes.clone(), is_kept.clone());
    archive.scan_by_keys(question.needs().tag_summary, choose, |row: &TagSummaryRow| rows.push(row.clone()))?;
    Ok(is_kept.load(Ordering::Relaxed).then_some(rows))
}

/// The choice, as a pass over the table makes it; it also notes whether there are rows of the rules at all.
fn chooser(
    tags: Tags,
    processes: FxHashSet<ProcessId>,
    is_kept: Arc<AtomicBool>,
) -> impl FnMut(&Keys<'_, TagKey>) -> Result<Vec<bool>, String> + Send + 'static {
    let hash = tags.set.hash();
    move |keys: &Keys<'_, TagKey>| {
        let (sets, names) = (keys.texts::<TAG_SET>()?, keys.texts::<TAG>()?);
        let of_set: Vec<bool> = (0..sets.count()).map(|number| sets.text(number) == Some(hash.as_str())).collect();
        let wanted: Vec<bool> =
            (0..names.count()).map(|number| names.text(number).is_some_and(|name| tags.want(name))).collect();
        let owners = keys.ids::<PROCESS>()?;
        let choose = |row: usize| {
            // Imported tags have no set.
            if sets.number(row).is_some_and(|set| of_set.get(set) != Some(&true)) {
                return Ok(false);
            }
            is_kept.store(true, Ordering::Relaxed);
            let name = names.number(row).ok_or_else(|| format!("row {row} has an impossible tag"))?;
            let owner = owners.get(row).map(ProcessId);
            Ok(wanted.get(name) == Some(&true) && owner.is_some_and(|owner| processes.contains(&owner)))
        };
        (0..keys.rows()).map(choose).collect()
    }
}
