//! What is worth knowing beside collections.

use tracesift_archive::{Archive, Error};
use tracesift_grammar::TimeRange;
use tracesift_trace::rows::{GcFinalizedRow, GcSuspensionRow, ProcessRow};
use tracesift_trace::view;

use super::finalized::Objects;

view! {
    /// A suspension of managed threads.
    #[derive(Clone, Copy, Debug)]
    struct Suspension of GcSuspensionRow { time, start, process, reason, collection, open }
}

/// Threads stood for other things than collections, too.
pub(super) fn other_suspensions(
    archive: &Archive,
    time: TimeRange,
    asked: &[&ProcessRow],
) -> Result<Option<String>, Error> {
    let (start, end) = time.bounds();
    let (mut many, mut stood) = (0_i64, 0_i64);
    if archive.row_count::<GcSuspensionRow>() == 0 {
        return Ok(None);
    }
    archive.scan(None, |row: &Suspension| {
        let (from, to) = (row.start.max(start), row.time.min(end));
        let is_other = row.collection.is_none() && row.open != Some(true);
        if is_other && to > from && asked.iter().any(|process| process.process == row.process) {
            many += 1;
            stood = stood.saturating_add(to.saturating_sub(from));
        }
    })?;
    let times = if many == 1 { "once" } else { "times" };
    let count = if many == 1 { String::new() } else { format!("{many} ") };
    Ok((many > 0).then(|| {
        let ms = stood as f64 / 1e6;
        format!(
            "beside, managed threads stood {count}{times} without a collection (a shutdown, a debugger): {ms:.3} ms"
        )
    }))
}

/// Types of which most objects were finalized.
pub(super) fn finalized(archive: &Archive, time: TimeRange, asked: &[&ProcessRow]) -> Result<Option<String>, Error> {
    const SHOWN: usize = 5;
    let (start, end) = time.bounds();
    if archive.row_count::<GcFinalizedRow>() == 0 {
        return Ok(None);
    }
    let mut types: std::collections::BTreeMap<String, i64> = std::collections::BTreeMap::new();
    archive.scan(None, |row: &Objects| {
        if row.first < end && row.last >= start && asked.iter().any(|process| process.process == row.process) {
            let name = row.type_name.clone().unwrap_or_else(|| "(unknown)".to_owned());
            let count = types.entry(name).or_default();
            *count = count.saturating_add(row.count);
        }
    })?;
    let all = types.values().fold(0_i64, |all, count| all.saturating_add(*count));
    let mut types: Vec<(String, i64)> = types.into_iter().collect();
    types.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let shown: Vec<String> = types.iter().take(SHOWN).map(|(name, count)| format!("{name} {count}")).collect();
    let more = if types.len() > SHOWN { "; `--finalized` has all types" } else { "" };
    Ok((all > 0 && time.is_everything())
        .then(|| format!("finalizers of {all} objects ran: {}{more}", shown.join(", "))))
}
