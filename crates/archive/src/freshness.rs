//! Whether an archive still is the extract of its recording.

use std::io::{self, Read};

use tracesift_trace::info::{SourceFile, TraceInfo};

use crate::format::SCHEMA_VERSION;

/// Bytes of a file that its head hash covers.
const HEAD: u64 = 64 * 1024;

/// Hash of the first 64 KiB as 16 hex digits (FNV-1a, 64 bits): recognises a changed file, not a forged one.
///
/// # Errors
/// Those of the reader.
pub fn head_hash(reader: impl Read) -> io::Result<String> {
    let mut head = Vec::new();
    reader.take(HEAD).read_to_end(&mut head)?;
    let hash = head
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3));
    Ok(format!("{hash:016x}"))
}

/// Whether `info` describes an extract of exactly these files by this major version. The path is not compared: a
/// recording that moved together with its archive is still the same.
pub(crate) fn describes(info: &TraceInfo, sources: &[SourceFile]) -> bool {
    let same = |(one, other): (&SourceFile, &SourceFile)| {
        (one.size, one.modified, &one.head_hash, &one.member)
            == (other.size, other.modified, &other.head_hash, &other.member)
    };
    info.schema[0] == SCHEMA_VERSION[0]
        && info.sources.len() == sources.len()
        && info.sources.iter().zip(sources).all(same)
}

#[cfg(test)]
mod tests {
    use super::head_hash;

    #[test]
    fn the_hash_is_fnv_1a_of_the_head() {
        assert_eq!(head_hash(&b""[..]).expect("hash"), "cbf29ce484222325");
        assert_eq!(head_hash(&b"foobar"[..]).expect("hash"), "85944171f73967e8");
        let long = vec![7_u8; 100_000];
        assert_eq!(head_hash(&long[..]).expect("hash"), head_hash(&long[..65_536]).expect("hash"));
    }
}
