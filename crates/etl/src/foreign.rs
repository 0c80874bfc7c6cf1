//! Recognises files that are something else, to say what to do with them.

/// Bytes of a file's start that [`recognise`] looks at.
pub(crate) const START_BYTES: usize = 64;

/// Starts of well-known files, and what to do with them.
const STARTS: [(&[u8], &str); 12] = [
    (
        b"version https://git-lfs",
        "it is a Git LFS pointer, not the file itself; fetch the content with \"git lfs pull\"",
    ),
    (b"PK\x03\x04", "it is a ZIP archive; extract the .etl files from it"),
    (b"PK\x05\x06", "it is an empty ZIP archive; pack the .etl files again"),
    (b"7z\xbc\xaf\x27\x1c", "it is a 7-Zip archive; extract the .etl files from it"),
    (b"MSCF", "it is a cabinet archive; extract the .etl files from it"),
    (b"\x1f\x8b", "it is compressed with gzip; decompress it first"),
    (b"\xfd7zXZ\0", "it is compressed with xz; decompress it first"),
    (b"\x28\xb5\x2f\xfd", "it is compressed with zstd; decompress it first"),
    (b"PERFILE2", "it is a recording of Linux perf"),
    (b"\x7fELF", "it is a program or a library"),
    (b"MZ", "it is a program or a library"),
    (b"MDMP", "it is a minidump; open it with a debugger"),
];

/// Why a file that starts with these bytes is no recording; `None` when it may be one.
pub(crate) fn recognise(start: &[u8]) -> Option<String> {
    let known = STARTS.iter().find(|(known, _)| start.starts_with(known)).map(|(_, reason)| *reason);
    known.or_else(|| is_text(start).then_some("it is a text file")).map(str::to_owned)
}

/// A buffer header has bytes that no text has.
fn is_text(start: &[u8]) -> bool {
    let is_of_text = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    !start.is_empty() && start.iter().all(is_of_text)
}

/// The reason when no buffer was found.
pub(crate) fn no_buffer(length: u64) -> String {
    if length < crate::format::BUFFER_HEADER_BYTES as u64 {
        format!("it has {length} bytes, too few for a single buffer; check that its copy is complete")
    } else {
        "no plausible buffer header was found in it; check that it is the file you meant and that its copy is complete"
            .to_owned()
    }
}
