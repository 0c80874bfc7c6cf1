//! Threads by the ids that the operating system gave them.

use clap::Args;
use rustc_hash::FxHashSet;
use tracesift_trace::ThreadId;
use tracesift_trace::rows::ThreadRow;

use crate::events::IdRanges;

/// Filter of threads.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
#[command(next_help_heading = "Processes")]
pub struct ThreadFilter {
    /// Only threads with these ids: numbers and ranges such as 4711,5000..5010
    #[arg(long, value_name = "IDS")]
    pub tid: Option<IdRanges>,
}

impl ThreadFilter {
    /// Whether a thread passes.
    #[must_use]
    pub fn accepts(&self, thread: &ThreadRow) -> bool {
        let contains = |ids: &IdRanges| u32::try_from(thread.tid).is_ok_and(|tid| ids.contains(tid));
        self.tid.as_ref().is_none_or(contains)
    }

    /// The threads that pass; `None`: all.
    pub(crate) fn chosen(&self, threads: &[ThreadRow]) -> Option<FxHashSet<ThreadId>> {
        self.tid.as_ref()?;
        Some(threads.iter().filter(|row| self.accepts(row)).map(|row| row.thread).collect())
    }

    /// The option, if it was given.
    pub(crate) fn option(&self) -> Option<&'static str> {
        self.tid.as_ref().map(|_| "--tid")
    }
}

#[cfg(test)]
mod tests {
    use tracesift_testing::rows::thread;

    use super::ThreadFilter;

    #[test]
    fn threads_pass_by_their_ids() {
        let of = |tid: i64| thread(1, 1, tid);
        let filter = |text: &str| ThreadFilter { tid: Some(text.parse().expect("ids")) };
        assert!(ThreadFilter::default().accepts(&of(-1)));
        let some = filter("7,10..12");
        let passes: Vec<i64> = (-1..14).filter(|tid| some.accepts(&of(*tid))).collect();
        assert_eq!(passes, [7, 10, 11, 12]);
        // Samples of a dead thread have no id: no list of ids has them.
        assert!(!filter("0..4294967295").accepts(&of(-1)));
    }
}
