//! Begins and ends of things become lives.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use super::At;

/// Something begins. `more`: what is known of it besides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begin<K, M> {
    pub(super) key: K,
    pub(super) at: At,
    pub(super) more: M,
}

/// It ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct End<K> {
    pub(super) key: K,
    pub(super) at: At,
}

/// A life inside of a recording.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) start: i64,
    pub(super) end: i64,
    /// `None`: it was there before the recording.
    pub(super) made: Option<At>,
    /// `None`: the recording has no end of it.
    pub(super) ended: Option<At>,
    /// Whether the end of its process ended it.
    pub(super) by_exit: bool,
    /// Whether it outlives the recording.
    pub(super) is_open: bool,
}

/// The lives of things. An end belongs to the last begin before it with the same key; without one the thing was there before the recording.
/// `left` are those that are there at the end. What has no end ends with its process, whose end `exit` tells.
pub(super) fn pair<K: Copy + Eq + Hash, M: Copy>(
    mut begins: Vec<Begin<K, M>>,
    mut ends: Vec<End<K>>,
    left: Vec<K>,
    end: i64,
    exit: impl Fn(&K) -> Option<i64>,
) -> Vec<(K, Span, Option<M>)> {
    begins.sort_by_key(|begin| begin.at.time);
    ends.sort_by_key(|end| end.at.time);
    let mut open: FxHashMap<K, Begin<K, M>> = FxHashMap::default();
    let mut lives = Vec::with_capacity(begins.len());
    let mut next = begins.into_iter().peekable();
    let mut begin_until = |time: i64, open: &mut FxHashMap<K, Begin<K, M>>, lives: &mut Vec<_>| {
        while let Some(begin) = next.next_if(|begin| begin.at.time <= time) {
            if let Some(older) = open.insert(begin.key, begin) {
                // Its end is not in the recording, but the next one could not begin before.
                let span = Span { end: begin.at.time, is_open: false, ..Span::of(Some(older.at), begin.at.time) };
                lives.push((older.key, span, Some(older.more)));
            }
        }
    };
    for End { key, at } in ends {
        begin_until(at.time, &mut open, &mut lives);
        let begin = open.remove(&key);
        let span = Span { ended: Some(at), is_open: false, ..Span::of(begin.map(|begin| begin.at), at.time) };
        lives.push((key, span, begin.map(|begin| begin.more)));
    }
    begin_until(i64::MAX, &mut open, &mut lives);
    for key in left {
        // What began is open already.
        if !open.contains_key(&key) {
            lives.push((key, Span::of(None, end), None));
        }
    }
    let mut last: Vec<Begin<K, M>> = open.into_values().collect();
    last.sort_by_key(|begin| begin.at.time);
    for begin in last {
        let span = Span::of(Some(begin.at), end);
        let exit = exit(&begin.key).filter(|exit| *exit >= begin.at.time);
        let by_exit = |exit: i64| Span { end: exit, by_exit: true, is_open: false, ..span };
        lives.push((begin.key, exit.map_or(span, by_exit), Some(begin.more)));
    }
    lives
}

impl Span {
    /// A life that is open up to a time.
    fn of(made: Option<At>, end: i64) -> Self {
        let start = made.map_or(0, |made| made.time);
        Self { start, end: end.max(start), made, ended: None, by_exit: false, is_open: true }
    }
}
