//! Where in time the rows of an account lie: findings of path time have a first and a last instant, and their longest segments.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use tracesift_analysis::Span;
use tracesift_analysis::path::Link;

use crate::path::account::Key;
use crate::path::parties::Parties;
use crate::path::places::Places;
use crate::path::rows::{Detail, Name, Namer};
use crate::path::witness::{Piece, Segment, Witness};

/// Segments of a finding that are named.
const LONGEST: usize = 10;

/// Where in time something lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// From its first to its last instant.
    pub span: Span,
    /// Its ten longest segments, by time. Run time that samples divide has none.
    pub longest: Vec<Span>,
}

impl Place {
    fn new(span: Span) -> Self {
        Self { span, longest: Vec::new() }
    }

    /// Adds what lies in another place.
    fn join(&mut self, other: &Self) {
        self.reach(other.span);
        other.longest.iter().for_each(|span| self.add(*span));
    }

    fn reach(&mut self, span: Span) {
        (self.span.start, self.span.end) = (self.span.start.min(span.start), self.span.end.max(span.end));
    }

    /// Adds a segment if it is one of the longest ones; of equal ones the first.
    fn add(&mut self, span: Span) {
        self.longest.push(span);
        if self.longest.len() > LONGEST {
            let rank = |(_, span): &(usize, &Span)| (span.length(), std::cmp::Reverse(span.start));
            let shortest = self.longest.iter().enumerate().min_by_key(rank).map(|(place, _)| place);
            if let Some(place) = shortest {
                self.longest.swap_remove(place);
            }
        }
    }
}

/// Takes the segments and the samples of a path, and keeps where each part of the account lies.
#[derive(Default)]
pub(crate) struct Seen(FxHashMap<Key, Place>);

impl Witness for Seen {
    const TAKES: bool = false;
    const SEGMENTS: bool = true;

    fn chain(&mut self, _: &[Link], _: &mut Parties<'_>, _: &mut Places<'_>) -> u32 {
        0
    }

    fn piece(&mut self, _: &Piece) {}

    fn segment(&mut self, segment: &Segment) {
        let place = self.0.entry(segment.key).or_insert_with(|| Place::new(segment.span));
        place.reach(segment.span);
        place.add(segment.span);
    }

    fn sampled(&mut self, key: &Key, time: i64) {
        let instant = Span::new(time, time);
        self.0.entry(*key).or_insert_with(|| Place::new(instant)).reach(instant);
    }
}

/// The places of the rows of an account, by their names.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlacesOfRows(BTreeMap<Name, Place>);

impl PlacesOfRows {
    pub(super) fn of(seen: Seen, namer: &Namer<'_, '_, '_>) -> Self {
        // In the order of keys: of equal segments the same ones stay each time.
        let keys: BTreeMap<Key, Place> = seen.0.into_iter().collect();
        let mut places: BTreeMap<Name, Place> = BTreeMap::new();
        for (key, place) in keys {
            let name = namer.name(&key).coarse(Detail::For);
            places.entry(name).and_modify(|known| known.join(&place)).or_insert(place);
        }
        Self(places)
    }

    /// The place of several rows together.
    pub(super) fn together<'a>(&self, names: impl Iterator<Item = &'a Name>) -> Option<Place> {
        let mut places = names.filter_map(|name| self.0.get(name));
        let mut all = places.next()?.clone();
        places.for_each(|place| all.join(place));
        all.longest.sort_by_key(|span| (span.start, span.end));
        Some(all)
    }
}
