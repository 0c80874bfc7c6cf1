//! Pages of column chunks, decompressed here and decoded by the Parquet library.
//!
//! The library makes a compressor and a decompressor for every column chunk that it opens. Of an archive's small tables that is half of
//! what a question takes, so the pages that [`guard`](crate::guard) has checked are decompressed with one context per thread. Pages of
//! columns that are read twice, first to choose rows and then to show them, are decompressed once.

use std::cell::RefCell;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use parquet::arrow::arrow_reader::RowGroups;
use parquet::basic::{Compression, Encoding};
use parquet::column::page::{Page, PageIterator, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::ChunkReader as _;

use crate::guard::CheckedPage;
use crate::input::Input;

/// The pages of one column chunk.
#[derive(Clone)]
pub(crate) struct Chunk(Arc<ChunkPages>);

struct ChunkPages {
    input: Input,
    is_compressed: bool,
    pages: Vec<CheckedPage>,
    /// The bytes of the pages, where they are needed a second time.
    kept: Option<Vec<OnceLock<Bytes>>>,
}

impl Chunk {
    /// These pages of a file; `None` where they are compressed in a way that we do not write. Their bytes are kept as long as the
    /// chunk where somebody will read them `again`.
    pub(crate) fn new(input: &Input, compression: Compression, pages: Vec<CheckedPage>, again: bool) -> Option<Self> {
        let is_compressed = match compression {
            Compression::ZSTD(_) => true,
            Compression::UNCOMPRESSED => false,
            _ => return None,
        };
        let kept = again.then(|| pages.iter().map(|_| OnceLock::new()).collect());
        Some(Self(Arc::new(ChunkPages { input: input.clone(), is_compressed, pages, kept })))
    }

    /// Whether all values are numbers of a dictionary.
    pub(crate) fn is_dictionary(&self) -> bool {
        let pages = &self.0.pages;
        pages.first().is_some_and(|page| page.is_dictionary)
            && pages.iter().all(|page| page.is_dictionary || page.encoding == Encoding::RLE_DICTIONARY)
    }
}

impl ChunkPages {
    fn bytes(&self, index: usize, page: &CheckedPage) -> Result<Bytes> {
        let slot = self.kept.as_ref().and_then(|kept| kept.get(index));
        if let Some(known) = slot.and_then(OnceLock::get) {
            return Ok(known.clone());
        }
        let stored = self.input.get_bytes(page.at, page.compressed as usize)?;
        let bytes = if self.is_compressed { decompressed(&stored, page.uncompressed as usize)? } else { stored };
        if let Some(slot) = slot {
            // Another reader of the same page may have been faster; its bytes are the same.
            let _ = slot.set(bytes.clone());
        }
        Ok(bytes)
    }
}

/// `size` bytes out of a Zstandard frame.
fn decompressed(stored: &[u8], size: usize) -> Result<Bytes> {
    thread_local! {
        static CONTEXT: RefCell<Option<zstd::bulk::Decompressor<'static>>> = const { RefCell::new(None) };
    }
    // What has no value in it has no frame either.
    if size == 0 {
        return Ok(Bytes::new());
    }
    let mut bytes = Vec::with_capacity(size);
    CONTEXT.with_borrow_mut(|context| -> std::io::Result<usize> {
        let context = match context {
            Some(context) => context,
            None => context.insert(zstd::bulk::Decompressor::new()?),
        };
        context.decompress_to_buffer(stored, &mut bytes)
    })?;
    if bytes.len() != size {
        return Err(ParquetError::General(format!("a page has {} bytes, its header says {size}", bytes.len())));
    }
    Ok(bytes.into())
}

/// One row group with the chunks that a pass reads, by the number of their column.
pub(crate) struct Group<'a> {
    pub(crate) metadata: &'a ParquetMetaData,
    pub(crate) index: usize,
    pub(crate) chunks: &'a [(usize, Chunk)],
}

impl Group<'_> {
    fn row_group(&self) -> &RowGroupMetaData {
        self.metadata.row_group(self.index)
    }
}

impl RowGroups for Group<'_> {
    fn num_rows(&self) -> usize {
        usize::try_from(self.row_group().num_rows()).unwrap_or(0)
    }

    fn column_chunks(&self, column: usize) -> Result<Box<dyn PageIterator>> {
        let found = self.chunks.iter().find(|(leaf, _)| *leaf == column);
        let Some((_, chunk)) = found else {
            return Err(ParquetError::General(format!("column {column} was not checked")));
        };
        Ok(Box::new(Readers(Some(Reader { chunk: chunk.clone(), next: 0 }))))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(std::iter::once(self.row_group()))
    }

    fn metadata(&self) -> &ParquetMetaData {
        self.metadata
    }
}

/// The reader of the only chunk.
struct Readers(Option<Reader>);

impl Iterator for Readers {
    type Item = Result<Box<dyn PageReader>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.take().map(|reader| Ok(Box::new(reader) as Box<dyn PageReader>))
    }
}

impl PageIterator for Readers {}

struct Reader {
    chunk: Chunk,
    next: usize,
}

impl Reader {
    fn peek(&self) -> Option<&CheckedPage> {
        self.chunk.0.pages.get(self.next)
    }
}

impl PageReader for Reader {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let Some(page) = self.peek() else { return Ok(None) };
        let buf = self.chunk.0.bytes(self.next, page)?;
        let (num_values, encoding) = (page.values, page.encoding);
        let page = if page.is_dictionary {
            Page::DictionaryPage { buf, num_values, encoding, is_sorted: false }
        } else {
            Page::DataPage {
                buf,
                num_values,
                encoding,
                def_level_encoding: Encoding::RLE,
                rep_level_encoding: Encoding::RLE,
                statistics: None,
            }
        };
        self.next += 1;
        Ok(Some(page))
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        Ok(self.peek().map(|page| PageMetadata {
            num_rows: None,
            num_levels: (!page.is_dictionary).then_some(page.values as usize),
            is_dict: page.is_dictionary,
        }))
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.next += 1;
        Ok(())
    }
}

impl Iterator for Reader {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}
