//! Columns of row groups, kept as they were decoded, for somebody who asks one archive very often: each step of a zoom needs those of the
//! step before.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{Array as _, ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;
use parquet::basic::Type;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ParquetMetaData;
use parquet::schema::types::SchemaDescriptor;

use crate::input::Input;

/// A column of a row group of a file, each by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Place {
    file: u64,
    group: usize,
    leaf: usize,
}

/// A column of a row group, in pieces as a reader hands them out.
pub(crate) type Column = Arc<[ArrayRef]>;

#[derive(Debug)]
struct Kept {
    column: Column,
    bytes: u64,
    used: u64,
}

#[derive(Debug, Default)]
struct Columns {
    kept: HashMap<Place, Kept>,
    bytes: u64,
    /// Counts what was asked for.
    clock: u64,
}

/// As many columns as there is room for, those that were used last.
#[derive(Debug)]
pub(crate) struct Decoded {
    room: u64,
    columns: Mutex<Columns>,
}

impl Decoded {
    /// With room for so many bytes.
    pub(crate) fn new(room: u64) -> Self {
        Self { room, columns: Mutex::default() }
    }

    fn with<T>(&self, what: impl FnOnce(&mut Columns) -> T) -> T {
        what(&mut self.columns.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn get(&self, place: Place) -> Option<Column> {
        self.with(|columns| {
            columns.clock += 1;
            let kept = columns.kept.get_mut(&place)?;
            kept.used = columns.clock;
            Some(kept.column.clone())
        })
    }

    fn keep(&self, place: Place, column: Vec<ArrayRef>) {
        let bytes = column.iter().map(|array| array.get_array_memory_size() as u64).sum::<u64>();
        self.with(|columns| {
            columns.clock += 1;
            let kept = Kept { column: column.into(), bytes, used: columns.clock };
            columns.bytes += bytes;
            if let Some(before) = columns.kept.insert(place, kept) {
                columns.bytes -= before.bytes;
            }
            while columns.bytes > self.room {
                let oldest = columns.kept.iter().min_by_key(|(_, kept)| kept.used).map(|(place, _)| *place);
                let Some(oldest) = oldest.and_then(|place| columns.kept.remove(&place)) else { break };
                columns.bytes -= oldest.bytes;
            }
        });
    }
}

/// Bytes of a value of a column of numbers; `None`: its values are of no fixed length.
fn width_of(schema: &SchemaDescriptor, leaf: usize) -> Option<u64> {
    match schema.column(leaf).physical_type() {
        Type::BOOLEAN => Some(1),
        Type::INT32 | Type::FLOAT => Some(4),
        Type::INT64 | Type::DOUBLE => Some(8),
        Type::INT96 | Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY => None,
    }
}

/// A reading whose columns are kept.
pub(crate) struct Keeping<'a> {
    decoded: &'a Arc<Decoded>,
    file: u64,
    /// The columns that it needs, by their number.
    leaves: Vec<usize>,
}

impl<'a> Keeping<'a> {
    /// That of some columns and row groups of a file. `None`: nothing of it is kept, it is so large that it would push out all others and
    /// itself, or it leaves out rows and has texts, which are not made of such rows then.
    pub(crate) fn of(
        (input, metadata): (&'a Input, &ParquetMetaData),
        columns: &ProjectionMask,
        groups: &[usize],
        leaves_out: bool,
    ) -> Option<Self> {
        let (file, decoded) = input.known().decoded.as_ref()?;
        let schema = metadata.file_metadata().schema_descr();
        let leaves: Vec<usize> = (0..schema.num_columns()).filter(|leaf| columns.leaf_included(*leaf)).collect();
        let suits = |leaf: usize| {
            let is_flat = schema.column(leaf).path().parts().len() == 1;
            is_flat && (!leaves_out || width_of(schema, leaf).is_some())
        };
        let width: u64 = leaves.iter().filter_map(|leaf| width_of(schema, *leaf)).sum();
        let rows = groups.iter().map(|group| u64::try_from(metadata.row_group(*group).num_rows()).unwrap_or(0));
        let has_room = rows.fold(0, u64::saturating_add).saturating_mul(width) <= decoded.room;
        let is_kept = has_room && width > 0 && leaves.iter().all(|leaf| suits(*leaf));
        is_kept.then_some(Self { decoded, file: *file, leaves })
    }

    /// What it needs of a row group, some of which may be known.
    pub(crate) fn of_group(&self, group: usize) -> OfGroup {
        let (mut known, mut missing) = (Vec::new(), Vec::new());
        for leaf in self.leaves.iter().copied() {
            match self.decoded.get(Place { file: self.file, group, leaf }) {
                Some(column) => known.push((leaf, column)),
                None => missing.push(leaf),
            }
        }
        OfGroup { decoded: self.decoded.clone(), file: self.file, group, known, missing }
    }
}

/// The columns that a reading needs of one row group.
pub(crate) struct OfGroup {
    decoded: Arc<Decoded>,
    file: u64,
    group: usize,
    /// Those that are known, by their number.
    known: Vec<(usize, Column)>,
    /// Numbers of the others.
    missing: Vec<usize>,
}

impl OfGroup {
    /// The number of the row group.
    pub(crate) fn group(&self) -> usize {
        self.group
    }

    /// Numbers of the columns that have to be read.
    pub(crate) fn missing(&self) -> &[usize] {
        &self.missing
    }

    /// The rows, with a reader of the columns that are missing, if any are.
    pub(crate) fn rows(self, schema: &SchemaDescriptor, reader: Option<ParquetRecordBatchReader>) -> Rows {
        let read = self.missing.iter().map(|leaf| (*leaf, width_of(schema, *leaf).map(|_| Vec::new()))).collect();
        let left = |(leaf, column): &(usize, Column)| {
            (schema.column(*leaf).name().to_owned(), column.iter().cloned().collect())
        };
        let known = self.known.iter().map(left).collect();
        Rows { known, reader, read, of: self }
    }
}

/// The rows of a row group, put together of columns that are known and others that are read.
pub(crate) struct Rows {
    of: OfGroup,
    /// The name of each known column, and what is left of it.
    known: Vec<(String, VecDeque<ArrayRef>)>,
    reader: Option<ParquetRecordBatchReader>,
    /// What was read of each column, by its number; `None`: it is not kept.
    read: Vec<(usize, Option<Vec<ArrayRef>>)>,
}

impl Rows {
    /// The next ones. At their end, the columns that were read are kept.
    pub(crate) fn next(&mut self) -> Result<Option<RecordBatch>> {
        let Some(reader) = &mut self.reader else { return self.joined(None) };
        match reader.next().transpose()? {
            Some(batch) => {
                for ((_, kept), column) in self.read.iter_mut().zip(batch.columns()) {
                    kept.iter_mut().for_each(|kept| kept.push(column.clone()));
                }
                self.joined(Some(batch))
            }
            None => {
                for (leaf, column) in self.read.drain(..) {
                    let place = Place { file: self.of.file, group: self.of.group, leaf };
                    column.into_iter().for_each(|column| self.of.decoded.keep(place, column));
                }
                Ok(None)
            }
        }
    }

    /// Columns that were read, and the known ones beside them.
    fn joined(&mut self, read: Option<RecordBatch>) -> Result<Option<RecordBatch>> {
        let count = self.known.len();
        let known = self.known.iter_mut().filter_map(|(name, left)| Some((name.as_str(), left.pop_front()?)));
        let known: Vec<(&str, ArrayRef)> = known.collect();
        let Some(rows) = read.as_ref().map(RecordBatch::num_rows).or_else(|| Some(known.first()?.1.len())) else {
            return Ok(None);
        };
        if known.len() != count || known.iter().any(|(_, column)| column.len() != rows) {
            return Err(ParquetError::General("columns of a row group have different rows".to_owned()));
        }
        let (mut fields, mut columns) = (Vec::new(), Vec::new());
        if let Some(read) = &read {
            fields.extend(read.schema_ref().fields().iter().cloned());
            columns.extend(read.columns().iter().cloned());
        }
        for (name, column) in known {
            fields.push(Arc::new(Field::new(name, column.data_type().clone(), true)));
            columns.push(column);
        }
        Ok(Some(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?))
    }
}
