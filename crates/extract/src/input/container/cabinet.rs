//! Members of a Microsoft cabinet.
//!
//! The `cab` crate trusts the table of contents: a file that lies beyond its folder's data makes it index out of
//! bounds. So the table is checked here first, which also tells how much must be decoded to get at each member: a
//! folder is one stream, decoded anew from its start for every member in it.

use std::io::{self, BufReader, Read, Seek, SeekFrom};

use cab::Cabinet;

use super::names::Want;
use super::run::Run;
use crate::input::error::InputError;

pub(super) fn unpack(source: impl Read + Seek, run: &mut Run<'_>) -> Result<(), InputError> {
    let mut source = BufReader::new(source);
    let layout = Layout::read(&mut source).map_err(|error| run.failed(None, error))?;
    let plan = run.plan(layout.files.iter().map(|file| file.name.as_str()))?;
    source.seek(SeekFrom::Start(0)).map_err(|error| run.failed(None, error))?;
    let mut cabinet = Cabinet::new(source).map_err(|error| run.failed(None, error))?;
    for file in &layout.files {
        let want = plan.want(&file.name);
        if want == Want::Nothing {
            continue;
        }
        if layout.folders[file.folder].is_quantum {
            return Err(run.unknown_method(Some(&file.name), "Quantum"));
        }
        run.charge(&file.name, u64::from(file.offset))?;
        let mut reader = cabinet.read_file(&file.name).map_err(|error| run.failed(Some(&file.name), error))?;
        run.take(want, &file.name, u64::from(file.size), &mut reader)?;
    }
    Ok(())
}

/// The table of contents, as far as it must be checked.
struct Layout {
    folders: Vec<Folder>,
    files: Vec<Entry>,
}

struct Folder {
    /// Bytes of its data when decoded.
    size: u64,
    is_quantum: bool,
}

struct Entry {
    name: String,
    folder: usize,
    /// Where the file begins in its folder's decoded data.
    offset: u32,
    size: u32,
}

const HAS_PREVIOUS: u16 = 1;
const HAS_NEXT: u16 = 2;
const HAS_RESERVE: u16 = 4;

/// Bytes before the data of a block.
const BLOCK_HEADER: u64 = 8;

const METHOD_MASK: u16 = 0xf;
const STORED: u16 = 0;
const QUANTUM: u16 = 2;

impl Layout {
    /// Reads header, folders, data block headers and files; everything that the decoder later relies on holds then.
    fn read(source: &mut (impl Read + Seek)) -> io::Result<Layout> {
        let header: [u8; 36] = read_array(source)?;
        if &header[..4] != b"MSCF" {
            return Err(invalid("it does not begin like a cabinet"));
        }
        let u16_at = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
        let first_file = u32::from_le_bytes([header[16], header[17], header[18], header[19]]);
        let (folder_count, file_count, flags) = (u16_at(26), u16_at(28), u16_at(30));
        if flags & (HAS_PREVIOUS | HAS_NEXT) != 0 {
            return Err(invalid("it is one of a set of cabinets; join them first"));
        }
        let mut folder_reserve = 0;
        let mut data_reserve = 0;
        if flags & HAS_RESERVE != 0 {
            let sizes: [u8; 4] = read_array(source)?;
            source.seek_relative(i64::from(u16::from_le_bytes([sizes[0], sizes[1]])))?;
            (folder_reserve, data_reserve) = (i64::from(sizes[2]), i64::from(sizes[3]));
        }
        let mut starts = Vec::with_capacity(usize::from(folder_count));
        for _ in 0..folder_count {
            let entry: [u8; 8] = read_array(source)?;
            source.seek_relative(folder_reserve)?;
            let start = u32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]);
            let blocks = u16::from_le_bytes([entry[4], entry[5]]);
            let method = u16::from_le_bytes([entry[6], entry[7]]) & METHOD_MASK;
            starts.push((start, blocks, method));
        }
        // Blocks cannot be shared, so there are no more of them than fit. Without this, many folders of many blocks in
        // the same place would take for ever to walk.
        let blocks: u64 = starts.iter().map(|(_, blocks, _)| u64::from(*blocks)).sum();
        if blocks * BLOCK_HEADER > source.seek(SeekFrom::End(0))? {
            return Err(invalid("it declares more data than it has"));
        }
        source.seek(SeekFrom::Start(u64::from(first_file)))?;
        let mut files = Vec::with_capacity(usize::from(file_count));
        for _ in 0..file_count {
            files.push(Entry::read(source)?);
        }
        let folders = starts
            .into_iter()
            .map(|(start, blocks, method)| Folder::read(source, start, blocks, method, data_reserve))
            .collect::<io::Result<Vec<_>>>()?;
        for file in &files {
            let folder = folders.get(file.folder).ok_or_else(|| invalid("a member belongs to no folder"))?;
            if u64::from(file.offset) + u64::from(file.size) > folder.size {
                return Err(invalid("a member lies beyond the data of its folder"));
            }
        }
        Ok(Layout { folders, files })
    }
}

impl Folder {
    fn read(source: &mut (impl Read + Seek), start: u32, blocks: u16, method: u16, reserve: i64) -> io::Result<Folder> {
        source.seek(SeekFrom::Start(u64::from(start)))?;
        let mut size = 0;
        for _ in 0..blocks {
            let block: [u8; 8] = read_array(source)?;
            let packed = u16::from_le_bytes([block[4], block[5]]);
            let unpacked = u16::from_le_bytes([block[6], block[7]]);
            if method == STORED && packed != unpacked {
                return Err(invalid("a stored block has two lengths"));
            }
            size += u64::from(unpacked);
            source.seek_relative(reserve + i64::from(packed))?;
        }
        Ok(Folder { size, is_quantum: method == QUANTUM })
    }
}

impl Entry {
    /// Longest name that the format allows.
    const MAX_NAME: usize = 255;

    fn read(source: &mut impl Read) -> io::Result<Entry> {
        let entry: [u8; 16] = read_array(source)?;
        let mut name = Vec::new();
        loop {
            match read_array::<1>(source)? {
                [0] => break,
                [byte] if name.len() < Self::MAX_NAME => name.push(byte),
                _ => return Err(invalid("a name is too long")),
            }
        }
        let u32_at = |at: usize| u32::from_le_bytes([entry[at], entry[at + 1], entry[at + 2], entry[at + 3]]);
        Ok(Entry {
            name: String::from_utf8_lossy(&name).into_owned(),
            folder: usize::from(u16::from_le_bytes([entry[8], entry[9]])),
            offset: u32_at(4),
            size: u32_at(0),
        })
    }
}

fn read_array<const N: usize>(source: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    source.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn invalid(reason: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}
