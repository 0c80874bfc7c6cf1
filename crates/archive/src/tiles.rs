//! Reads the timeline tables: some buckets of a level.
//!
//! Rows stand in the order of level and bucket, and no row has buckets of two blocks ([`TIMELINE_BLOCK`]). So the row groups of a range
//! of buckets are neighbours, which the statistics of the columns `level` and `bucket` tell.

use std::ops::{ControlFlow, Range};

use arrow_array::RecordBatch;
use arrow_array::types::{Int8Type, Int16Type, Int64Type};
use arrow_buffer::BooleanBuffer;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::statistics::Statistics;
use tracesift_trace::rows::TIMELINE_BLOCK;
use tracesift_trace::schema::ColumnSet;

use crate::error::Error;
use crate::format::table_file;
use crate::input::Input;
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
        let path = self.path().join(table_file(T::TABLE.name));
        let metadata = Scan::metadata(&path, &Input::open(&path, file)?, file)?;
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
        mut visit: impl FnMut(&V),
    ) -> Result<(), Error> {
        let table = table_of::<V>();
        let Some(file) = self.table_file(table.name).filter(|_| !buckets.is_empty()) else { return Ok(()) };
        let path = self.path().join(table_file(table.name));
        let input = Input::open(&path, file)?;
        let metadata = Scan::metadata(&path, &input, file)?;
        let has = |group: &RowGroupMetaData| has_any(group, level, &buckets);
        let first = metadata.row_groups().iter().position(has).unwrap_or(0);
        let end = metadata.row_groups().iter().rposition(has).map_or(0, |last| last + 1);
        let accepts = move |batch: &RecordBatch| {
            let levels = primitive::<Int8Type>(batch, "level")?;
            let (bucket, count) = (primitive::<Int64Type>(batch, "bucket")?, primitive::<Int16Type>(batch, "buckets")?);
            Ok(BooleanBuffer::collect_bool(batch.num_rows(), |row| {
                let is_of_level = levels.get(row) == Some(level);
                let first = bucket.get(row).filter(|first| is_of_level && *first < buckets.end);
                first.is_some_and(|first| first.saturating_add(count.get(row).unwrap_or(0).into()) > buckets.start)
            }))
        };
        let columns = vec!["level", "bucket", "buckets"];
        let choice = Choice { columns, by_number: false, accepts: Box::new(accepts) };
        let part = Part { groups: Some(first..end), time: None };
        let scan = Scan::start(path, input, file, table, &needed.names(), part, Some(choice))?;
        self.show_scan(needed, Some(self.counted_alone(scan)), &mut |row| {
            visit(row);
            ControlFlow::Continue(())
        })
    }
}

/// Whether a row group can have a row with any of the buckets of a level, as far as its statistics say.
fn has_any(group: &RowGroupMetaData, level: i8, buckets: &Range<i64>) -> bool {
    let [name, _, bucket] = TIMELINE_KEYS;
    let everything = (i64::MIN, i64::MAX);
    let (first, last) = bounds(group, name).unwrap_or(everything);
    let (low, high) = bounds(group, bucket).unwrap_or(everything);
    let level = i64::from(level);
    if first != last {
        return first <= level && level <= last;
    }
    let block = buckets.start.div_euclid(TIMELINE_BLOCK).saturating_mul(TIMELINE_BLOCK);
    first == level && low < buckets.end && high >= block
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
