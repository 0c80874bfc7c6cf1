//! Reads the timeline tables: some buckets of a level.
//!
//! Rows stand in the order of level and bucket, and no row has buckets of two blocks ([`TIMELINE_BLOCK`]). So the row groups of a range
//! of buckets are neighbours, which the statistics of the columns `level` and `bucket` tell.

use std::ops::{ControlFlow, Range};

use arrow_array::RecordBatch;
use arrow_array::types::{Int8Type, Int16Type, Int32Type, Int64Type};
use arrow_buffer::BooleanBuffer;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::statistics::Statistics;
use tracesift_trace::rows::TIMELINE_BLOCK;
use tracesift_trace::schema::ColumnSet;

use crate::error::Error;
use crate::few::Few;
use crate::parquet_layout::TIMELINE_KEYS;
use crate::reader::Archive;
use crate::scan::{Choice, Part, Scan};
use crate::table::{Readable, Table, table_of};
use crate::view::primitive;

/// What a timeline table has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TilesOfTable {
    /// Its first level.
    pub first: i8,
    /// Length of the buckets of that level, ns.
    pub width: i64,
    /// Its last level.
    pub last: i8,
}

impl Archive {
    /// What a timeline table has; `None`: the archive does not have the table, or the table does not tell.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn tiles_of<T: Table>(&self) -> Result<Option<TilesOfTable>, Error> {
        let Some(file) = self.table_file(T::TABLE.name) else { return Ok(None) };
        let (path, input) = self.input(file)?;
        let metadata = Scan::metadata(&path, &input, file)?;
        let [level_of, width_of, _] = TIMELINE_KEYS;
        let (first, last) = (metadata.row_groups().first(), metadata.row_groups().last());
        let known = first.zip(last).and_then(|(first, last)| {
            let (levels, widths) = (bounds(first, level_of)?, bounds(first, width_of)?);
            let level = |level: i64| i8::try_from(level).ok();
            Some(TilesOfTable { first: level(levels.0)?, width: widths.0, last: level(bounds(last, level_of)?.1)? })
        });
        Ok(known)
    }

    /// Shows `visit` the rows of a timeline table that have any of some buckets of a level, in the order of their buckets, with the columns
    /// that are `needed`; the others have their default value in every row.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn scan_tiles<V: Readable>(
        &self,
        needed: ColumnSet<V>,
        level: i8,
        buckets: Range<i64>,
        visit: impl FnMut(&V),
    ) -> Result<(), Error> {
        self.show_tiles(needed, (level, buckets), None, visit)
    }

    /// As [`Self::scan_tiles`], of a few lanes: the numbers that a column has of them. Rows of others may be shown, too.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn scan_tiles_of<V: Readable>(
        &self,
        needed: ColumnSet<V>,
        level: i8,
        buckets: Range<i64>,
        (column, lanes): (&'static str, impl IntoIterator<Item = i32>),
        visit: impl FnMut(&V),
    ) -> Result<(), Error> {
        self.show_tiles(needed, (level, buckets), Some((column, Few::of(lanes))), visit)
    }

    fn show_tiles<V: Readable>(
        &self,
        needed: ColumnSet<V>,
        (level, buckets): (i8, Range<i64>),
        lanes: Option<(&'static str, Few)>,
        mut visit: impl FnMut(&V),
    ) -> Result<(), Error> {
        let table = table_of::<V>();
        let Some(file) = self.table_file(table.name).filter(|_| !buckets.is_empty()) else { return Ok(()) };
        let (path, input) = self.input(file)?;
        let metadata = Scan::metadata(&path, &input, file)?;
        let groups = groups_of(&metadata.row_groups().iter().map(Bounds::of).collect::<Vec<_>>(), level, &buckets);
        let mut columns = vec!["level", "bucket", "buckets"];
        columns.extend(lanes.iter().map(|(column, _)| *column));
        let accepts = move |batch: &RecordBatch| {
            let lanes =
                lanes.as_ref().map(|(column, few)| Ok::<_, String>((primitive::<Int32Type>(batch, column)?, few)));
            let lanes = lanes.transpose()?;
            let is_of_lane = |row: usize| {
                lanes.as_ref().is_none_or(|(numbers, few)| numbers.get(row).is_some_and(|number| few.has(number)))
            };
            let levels = primitive::<Int8Type>(batch, "level")?;
            let (bucket, count) = (primitive::<Int64Type>(batch, "bucket")?, primitive::<Int16Type>(batch, "buckets")?);
            Ok(BooleanBuffer::collect_bool(batch.num_rows(), |row| {
                let is_of_level = levels.get(row) == Some(level) && is_of_lane(row);
                let first = bucket.get(row).filter(|first| is_of_level && *first < buckets.end);
                first.is_some_and(|first| first.saturating_add(count.get(row).unwrap_or(0).into()) > buckets.start)
            }))
        };
        let choice = Choice { columns, by_number: false, accepts: Box::new(accepts) };
        let part = Part { groups: Some(groups), time: None };
        let scan = Scan::start(path, input, file, table, &needed.names(), part, Some(choice))?;
        self.show_scan(needed, Some(self.counted_alone(scan)), &mut |row| {
            visit(row);
            ControlFlow::Continue(())
        })
    }
}

/// The levels and the buckets of a row group, the first and the last ones of each: of all levels, where it has several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bounds {
    levels: (i64, i64),
    buckets: (i64, i64),
}

impl Bounds {
    /// As far as the statistics say.
    fn of(group: &RowGroupMetaData) -> Self {
        let [level, _, bucket] = TIMELINE_KEYS;
        let everything = (i64::MIN, i64::MAX);
        Self {
            levels: bounds(group, level).unwrap_or(everything),
            buckets: bounds(group, bucket).unwrap_or(everything),
        }
    }

    /// Its buckets, if it has this level alone.
    fn of_level(&self, level: i64) -> Option<(i64, i64)> {
        (self.levels == (level, level)).then_some(self.buckets)
    }
}

/// The row groups that can have a row with any of the buckets of a level.
///
/// A row group with the end of a level and the beginning of the next one tells the buckets of both. Its neighbours tell more: rows of the
/// level before it end where its own begin, and those behind it begin where its own end.
fn groups_of(groups: &[Bounds], level: i8, buckets: &Range<i64>) -> Range<usize> {
    let level = i64::from(level);
    let block = buckets.start.div_euclid(TIMELINE_BLOCK).saturating_mul(TIMELINE_BLOCK);
    let has_any = |place: &usize| {
        let group = &groups[*place];
        let (first, last) = group.levels;
        if level < first || last < level {
            return false;
        }
        let (low, high) = group.of_level(level).unwrap_or_else(|| {
            let of = |place: Option<usize>| place.and_then(|place| groups.get(place)?.of_level(level));
            let low = of(place.checked_sub(1)).filter(|_| level == first).map_or(i64::MIN, |(_, high)| high);
            let high = of(place.checked_add(1)).filter(|_| level == last).map_or(i64::MAX, |(low, _)| low);
            (low, high)
        });
        low < buckets.end && high >= block
    };
    let (first, last) = ((0..groups.len()).find(has_any), (0..groups.len()).rfind(has_any));
    first.zip(last).map_or(0..0, |(first, last)| first..last + 1)
}

/// The smallest and the largest value of a column of integers in a row group.
fn bounds(group: &RowGroupMetaData, name: &str) -> Option<(i64, i64)> {
    let chunk = group.columns().iter().find(|chunk| chunk.column_path().string() == name)?;
    match chunk.statistics()? {
        Statistics::Int64(bounds) => Some((*bounds.min_opt()?, *bounds.max_opt()?)),
        Statistics::Int32(bounds) => Some((i64::from(*bounds.min_opt()?), i64::from(*bounds.max_opt()?))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tracesift_trace::rows::TIMELINE_BLOCK;

    use super::{Bounds, groups_of};

    #[test]
    fn a_row_group_of_two_levels_is_read_for_their_ends_alone() {
        let of = |levels, buckets| Bounds { levels, buckets };
        // Level 0 has buckets up to 9,000, level 1 up to 2,250, level 2 up to 562.
        let groups = [
            of((0, 0), (0, 4_000)),
            of((0, 0), (4_000, 8_000)),
            of((0, 1), (0, 9_000)),
            of((1, 1), (1_000, 2_200)),
            of((1, 2), (0, 2_250)),
        ];
        let read = |level, buckets| groups_of(&groups, level, &buckets);
        assert_eq!(read(0, 100..200), 0..1);
        assert_eq!(read(0, 5_000..5_001), 1..2);
        assert_eq!(read(0, 8_500..8_600), 2..3);
        assert_eq!(read(0, 3_990..8_600), 0..3);
        assert_eq!(read(1, 500..600), 2..3);
        assert_eq!(read(1, 1_800..1_900), 3..4);
        assert_eq!(read(1, 2_240..2_250), 3..5);
        assert_eq!(read(2, 3..4), 4..5);
        assert_eq!(read(3, 0..1_000), 0..0);
        assert_eq!(groups_of(&[], 0, &(0..1)), 0..0);
    }

    proptest! {
        #[test]
        fn each_row_of_a_bucket_is_in_a_row_group_that_is_read(
            mut rows in prop::collection::vec((0_i8..3, -600_i64..600, 1_i64..300), 1..200),
            sizes in prop::collection::vec(1_usize..40, 1..8),
            (level, start, length) in (0_i8..3, -700_i64..700, 1_i64..300),
        ) {
            rows.sort_unstable();
            let mut groups = Vec::new();
            let (mut left, mut sizes) = (rows.as_slice(), sizes.iter().cycle());
            while !left.is_empty() {
                let (group, rest) = left.split_at(left.len().min(*sizes.next().unwrap_or(&1)));
                groups.push(group);
                left = rest;
            }
            let bounds = |of: &dyn Fn(&(i8, i64, i64)) -> i64, rows: &[(i8, i64, i64)]| {
                (rows.iter().map(of).min().unwrap_or(0), rows.iter().map(of).max().unwrap_or(0))
            };
            let of = |rows: &&[(i8, i64, i64)]| Bounds {
                levels: bounds(&|row| row.0.into(), rows),
                buckets: bounds(&|row| row.1, rows),
            };
            let read = groups_of(&groups.iter().map(of).collect::<Vec<_>>(), level, &(start..start + length));
            for (place, rows) in groups.iter().enumerate() {
                let has = rows.iter().any(|&(of, first, count)| {
                    // A row ends with its block.
                    let end = (first + count).min((first.div_euclid(TIMELINE_BLOCK) + 1) * TIMELINE_BLOCK);
                    of == level && first < start + length && end > start
                });
                prop_assert!(!has || read.contains(&place), "row group {} of {:?}", place, read);
            }
        }
    }
}
