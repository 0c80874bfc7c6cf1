//! Unpacks what servers and stores hold compressed, up to a limit.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write as _};

use cab::Cabinet;
use flate2::read::MultiGzDecoder;

/// Unpacks a gzip stream.
pub(crate) fn gunzip(from: &mut File, to: &mut File, limit: u64) -> io::Result<()> {
    from.seek(SeekFrom::Start(0))?;
    copy(MultiGzDecoder::new(BufReader::new(from)), to, limit)
}

/// Unpacks the only file of a cabinet.
pub(crate) fn expand_cabinet(from: &mut File, to: &mut File, limit: u64) -> io::Result<()> {
    let mut from = BufReader::new(from);
    from.seek(SeekFrom::Start(0))?;
    check(&mut from)?;
    from.seek(SeekFrom::Start(0))?;
    let mut cabinet = Cabinet::new(from)?;
    let name =
        cabinet.folder_entries().flat_map(|folder| folder.file_entries()).map(|file| file.name().to_owned()).next();
    let name = name.ok_or_else(|| invalid("the cabinet is empty"))?;
    copy(cabinet.read_file(&name)?, to, limit)
}

fn copy(from: impl Read, to: &mut File, limit: u64) -> io::Result<()> {
    to.seek(SeekFrom::Start(0))?;
    let mut out = BufWriter::with_capacity(1 << 16, &mut *to);
    let copied = io::copy(&mut from.take(limit.saturating_add(1)), &mut out)?;
    out.flush()?;
    drop(out);
    if copied > limit {
        return Err(invalid("unpacked, it is larger than allowed"));
    }
    to.seek(SeekFrom::Start(0))?;
    Ok(())
}

/// Checks what the `cab` crate trusts: that the file's data lies inside of its folder, and that the table of blocks is no larger than the
/// cabinet. Files in a store are alone in theirs, so nothing else is accepted.
fn check(source: &mut (impl Read + Seek)) -> io::Result<()> {
    const CHAINED: u16 = 3;
    const HAS_RESERVE: u16 = 4;
    const METHOD: u16 = 0xf;
    const STORED: u16 = 0;
    const QUANTUM: u16 = 2;
    let header: [u8; 36] = array(source)?;
    let u16_at = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
    let first_file = u32::from_le_bytes([header[16], header[17], header[18], header[19]]);
    let (folders, files, flags) = (u16_at(26), u16_at(28), u16_at(30));
    if &header[..4] != b"MSCF" || folders != 1 || files != 1 || flags & CHAINED != 0 {
        return Err(invalid("is no cabinet with one file"));
    }
    let (mut folder_reserve, mut data_reserve) = (0, 0);
    if flags & HAS_RESERVE != 0 {
        let sizes: [u8; 4] = array(source)?;
        source.seek_relative(i64::from(u16::from_le_bytes([sizes[0], sizes[1]])))?;
        (folder_reserve, data_reserve) = (i64::from(sizes[2]), i64::from(sizes[3]));
    }
    let folder: [u8; 8] = array(source)?;
    source.seek_relative(folder_reserve)?;
    let start = u32::from_le_bytes([folder[0], folder[1], folder[2], folder[3]]);
    let blocks = u16::from_le_bytes([folder[4], folder[5]]);
    let method = u16::from_le_bytes([folder[6], folder[7]]) & METHOD;
    if method == QUANTUM {
        return Err(invalid("is compressed by Quantum, which is not supported"));
    }
    source.seek(SeekFrom::Start(u64::from(first_file)))?;
    let file: [u8; 16] = array(source)?;
    let u32_at = |at: usize| u64::from(u32::from_le_bytes([file[at], file[at + 1], file[at + 2], file[at + 3]]));
    let (size, offset, in_folder) = (u32_at(0), u32_at(4), u16::from_le_bytes([file[8], file[9]]));
    source.seek(SeekFrom::Start(u64::from(start)))?;
    let mut unpacked = 0;
    for _ in 0..blocks {
        let block: [u8; 8] = array(source)?;
        let lengths = (u16::from_le_bytes([block[4], block[5]]), u16::from_le_bytes([block[6], block[7]]));
        if method == STORED && lengths.0 != lengths.1 {
            return Err(invalid("has a stored block of two lengths"));
        }
        unpacked += u64::from(lengths.1);
        source.seek_relative(data_reserve + i64::from(lengths.0))?;
    }
    if in_folder != 0 || offset + size > unpacked {
        return Err(invalid("has a file beyond its data"));
    }
    Ok(())
}

fn array<const N: usize>(source: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    source.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn invalid(reason: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Cursor, Read as _, Write as _};

    use proptest::prelude::*;

    use super::{expand_cabinet, gunzip};

    fn cabinet(method: cab::CompressionType, contents: &[&[u8]]) -> Vec<u8> {
        let mut builder = cab::CabinetBuilder::new();
        let folder = builder.add_folder(method);
        for number in 0..contents.len() {
            folder.add_file(format!("{number}.pdb"));
        }
        let mut writer = builder.build(Cursor::new(Vec::new())).expect("memory");
        let mut contents = contents.iter();
        while let Some(mut file) = writer.next_file().expect("memory") {
            file.write_all(contents.next().expect("as many")).expect("memory");
        }
        writer.finish().expect("memory").into_inner()
    }

    type Unpack = fn(&mut File, &mut File, u64) -> std::io::Result<()>;

    fn unpacked(unpack: Unpack, packed: &[u8], limit: u64) -> Result<Vec<u8>, String> {
        let mut from = tempfile::tempfile().expect("a file");
        from.write_all(packed).expect("written");
        let mut to = tempfile::tempfile().expect("a file");
        unpack(&mut from, &mut to, limit).map_err(|error| error.to_string())?;
        let mut bytes = Vec::new();
        to.read_to_end(&mut bytes).expect("read");
        Ok(bytes)
    }

    #[test]
    fn files_come_back_unless_they_are_too_large() {
        let content: Vec<u8> = (0..100_000_u32).map(|n| (n / 7 % 251) as u8).collect();
        for method in [cab::CompressionType::MsZip, cab::CompressionType::None] {
            let packed = cabinet(method, &[&content]);
            assert!(unpacked(expand_cabinet, &packed, 100_000).as_ref() == Ok(&content));
            assert!(unpacked(expand_cabinet, &packed, 99_999).is_err_and(|why| why.contains("larger than allowed")));
        }
        let two = cabinet(cab::CompressionType::MsZip, &[b"a", b"b"]);
        assert!(unpacked(expand_cabinet, &two, 10).is_err_and(|why| why.contains("with one file")));
        assert!(unpacked(gunzip, b"no gzip", 10).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        /// Damage ends in an error or in other bytes.
        #[test]
        fn damaged_cabinets(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), cut in any::<prop::sample::Index>()) {
            let content: Vec<u8> = (0..3_000_u32).map(|n| (n / 7 % 251) as u8).collect();
            for method in [cab::CompressionType::MsZip, cab::CompressionType::None] {
                let mut packed = cabinet(method, &[&content]);
                // The table of contents is what can be believed wrongly.
                for (at, value) in &changes {
                    let at = at.index(120.min(packed.len()));
                    packed[at] = *value;
                }
                let _ = unpacked(expand_cabinet, &packed, 1 << 20);
                let _ = unpacked(expand_cabinet, &packed[..cut.index(packed.len())], 1 << 20);
            }
        }
    }
}
