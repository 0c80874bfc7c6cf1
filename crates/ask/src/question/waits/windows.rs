//! Stretches of time of threads, found for the rows of these threads while they stream by in the order of time.

use rustc_hash::FxHashMap;
use tracesift_analysis::Span;
use tracesift_trace::ThreadId;

/// Stretches of time by thread. What a row costs depends on the stretches that it lies in, not on how many a thread has.
pub(in crate::question) struct Windows {
    of_thread: FxHashMap<ThreadId, OfThread>,
}

#[derive(Default)]
struct OfThread {
    /// Those that begin behind all rows so far, the first one last.
    later: Vec<(usize, Span)>,
    open: Vec<(usize, Span)>,
}

impl Windows {
    /// Of these stretches; they are known by their place among them.
    pub(in crate::question) fn new(stretches: impl IntoIterator<Item = (ThreadId, Span)>) -> Self {
        let mut of_thread: FxHashMap<ThreadId, OfThread> = FxHashMap::default();
        for (place, (thread, span)) in stretches.into_iter().enumerate() {
            of_thread.entry(thread).or_default().later.push((place, span));
        }
        for windows in of_thread.values_mut() {
            windows.later.sort_by_key(|(place, span)| std::cmp::Reverse((span.start, *place)));
        }
        Self { of_thread }
    }

    /// The places of those that `from` to `to` touches, for rows of a thread in the order of their time.
    pub(in crate::question) fn touched(&mut self, thread: ThreadId, from: i64, to: i64, mut visit: impl FnMut(usize)) {
        let Some(windows) = self.of_thread.get_mut(&thread) else { return };
        while let Some(next) = windows.later.pop_if(|(_, span)| span.start < to) {
            windows.open.push(next);
        }
        windows.open.retain(|(place, span)| {
            let is_open = from < span.end;
            if is_open {
                visit(*place);
            }
            is_open
        });
    }
}

#[cfg(test)]
mod tests {
    use tracesift_analysis::Span;
    use tracesift_trace::ThreadId;

    use super::Windows;

    #[test]
    fn rows_find_the_stretches_that_they_touch() {
        let stretches = [(1, 0, 10), (1, 5, 20), (2, 0, 100), (1, 30, 40)];
        let mut windows = Windows::new(stretches.map(|(thread, start, end)| (ThreadId(thread), Span::new(start, end))));
        let mut touched = |from, to| {
            let mut places = Vec::new();
            windows.touched(ThreadId(1), from, to, |place| places.push(place));
            places
        };
        assert_eq!(touched(0, 5), [0]);
        assert_eq!(touched(6, 8), [0, 1]);
        assert_eq!(touched(10, 12), [1]);
        assert_eq!(touched(20, 30), [0_usize; 0]);
        assert_eq!(touched(35, 60), [3]);
    }
}
