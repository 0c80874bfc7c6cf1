//! Which threads of a program had a CPU at some instants.

use rustc_hash::FxHashMap;
use tracesift_archive::{Archive, Error};
use tracesift_trace::rows::{ContextSwitchRow, switch_flags};
use tracesift_trace::{ThreadId, view};

view! {
    /// The columns of a switch row that tell when a thread had a CPU.
    #[derive(Clone, Copy, Debug)]
    struct OnCpu of ContextSwitchRow { time, thread, off_time, flags }
}

/// For each of these instants, in ascending order: the thread among these that had a CPU and got it last. Threads have the time
/// from which they may have run without a switch.
///
/// # Errors
/// When the switches cannot be read.
pub(super) fn running_at(
    archive: &Archive,
    threads: &FxHashMap<ThreadId, i64>,
    instants: &[i64],
) -> Result<Vec<Option<ThreadId>>, Error> {
    let mut since: FxHashMap<ThreadId, Option<i64>> =
        threads.iter().map(|(thread, start)| (*thread, Some(*start))).collect();
    let mut found: Vec<Option<(i64, ThreadId)>> = vec![None; instants.len()];
    let mut ran = |thread: ThreadId, from: i64, to: i64| {
        let first = instants.partition_point(|instant| *instant < from);
        for (instant, best) in instants.iter().zip(&mut found).skip(first) {
            if *instant > to {
                break;
            }
            *best = (*best).max(Some((from, thread)));
        }
    };
    archive.scan(None, |row: &OnCpu| {
        let Some(from) = since.get_mut(&row.thread) else { return };
        // A thread that was not seen to leave may not have run at all.
        if let Some(from) = from.filter(|_| row.flags & switch_flags::OPEN_LEFT == 0) {
            ran(row.thread, from, row.off_time);
        }
        *from = (row.flags & switch_flags::NO_SWITCH_IN == 0).then_some(row.time);
    })?;
    let open: Vec<(ThreadId, i64)> = since.into_iter().filter_map(|(thread, from)| Some((thread, from?))).collect();
    open.into_iter().filter(|(thread, from)| threads.get(thread) != Some(from)).for_each(|(thread, from)| {
        ran(thread, from, i64::MAX);
    });
    Ok(found.into_iter().map(|best| best.map(|(_, thread)| thread)).collect())
}
