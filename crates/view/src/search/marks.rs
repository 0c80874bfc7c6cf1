//! Marks that contain a text.

use rustc_hash::FxHashMap;
use serde_json::Value;
use tracesift_trace::rows::MarkRow;
use tracesift_trace::view;

use super::lines::{density, hit, send};
use super::{MOST, Search};
use crate::failure::Failure;
use crate::lane::Lane;
use crate::work::Pieces;

view! {
    /// A mark.
    #[derive(Clone, Debug)]
    struct Mark of MarkRow { time, text }
}

impl Search<'_> {
    /// Marks, and in which parts of the range they are.
    pub(super) fn marks(&self, pieces: &mut Pieces) -> Result<(), Failure> {
        let grid = self.grid();
        let mut values = vec![0_i64; grid.buckets()];
        let mut marks: Vec<(String, i64, i64, i64)> = Vec::new();
        let mut places: FxHashMap<String, usize> = FxHashMap::default();
        self.recording.archive().scan(Some(self.range.start..self.range.end), |row: &Mark| {
            let Some(bucket) = grid.place(row.time).filter(|_| self.has(&row.text)) else { return };
            if let Some(value) = values.get_mut(bucket) {
                *value += 1;
            }
            let next = marks.len();
            let place = *places.entry(row.text.clone()).or_insert(next);
            match marks.get_mut(place) {
                Some(mark) => (mark.1, mark.3) = (mark.1 + 1, row.time),
                None => marks.push((row.text.clone(), 1, row.time, row.time)),
            }
        })?;
        let hits: Vec<Value> = marks
            .iter()
            .take(MOST)
            .map(|(text, count, first, last)| {
                let mut hit = hit("mark", text, Some(&Lane::Marks), &["dump", "mark"]);
                hit["count"] = (*count).into();
                hit["first_ns"] = (*first).into();
                hit["last_ns"] = (*last).into();
                hit
            })
            .collect();
        let density = (!hits.is_empty()).then(|| density("mark", None, &grid, &values, None));
        send(hits.into_iter().chain(density), pieces)
    }
}
