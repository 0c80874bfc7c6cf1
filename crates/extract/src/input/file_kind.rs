//! What kind of file an input is: told by its name when searching, by its first bytes when opening.

/// How the recordings in a file are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Packing {
    /// Not packed: the file is the recording.
    Plain,
    /// Zip, which `.diagsession` is too.
    Zip,
    /// 7-Zip.
    SevenZip,
    /// Microsoft cabinet.
    Cabinet,
    /// One gzip stream.
    Gzip,
    /// One xz stream.
    Xz,
}

/// Extensions in the order in which they win when several files of one name stand side by side: an archive wins over
/// the plain file it was made from.
const EXTENSIONS: [(&str, Packing); 7] = [
    (".zip", Packing::Zip),
    (".7z", Packing::SevenZip),
    (".cab", Packing::Cabinet),
    (".diagsession", Packing::Zip),
    (".gz", Packing::Gzip),
    (".xz", Packing::Xz),
    (".etl", Packing::Plain),
];

/// Extension of extracted archives.
pub const EXTRACT_EXTENSION: &str = ".sift";

/// Extension of recordings.
pub const RECORDING_EXTENSION: &str = ".etl";

impl Packing {
    /// Told by the extension; `None` when a file of this name is no recording.
    pub fn by_name(name: &str) -> Option<Packing> {
        EXTENSIONS.iter().find(|(extension, _)| has_extension(name, extension)).map(|(_, packing)| *packing)
    }

    /// Told by the first bytes (at least 8, unless the file is shorter). What is no known archive is plain.
    pub fn by_content(head: &[u8]) -> Packing {
        const MAGICS: [(&[u8], Packing); 6] = [
            (b"PK\x03\x04", Packing::Zip),
            (b"PK\x05\x06", Packing::Zip),
            (b"7z\xbc\xaf\x27\x1c", Packing::SevenZip),
            (b"MSCF\0\0\0\0", Packing::Cabinet),
            (b"\x1f\x8b\x08", Packing::Gzip),
            (b"\xfd7zXZ\0", Packing::Xz),
        ];
        MAGICS.iter().find(|(magic, _)| head.starts_with(magic)).map_or(Packing::Plain, |(_, packing)| *packing)
    }

    /// Lower wins when several files of one name stand side by side.
    pub(crate) fn rank(name: &str) -> usize {
        EXTENSIONS.iter().position(|(extension, _)| has_extension(name, extension)).unwrap_or(EXTENSIONS.len())
    }
}

/// Whether a directory search takes a file of this name. A `.gz` or `.xz` must say that an `.etl` is in it, since most
/// such files are something else; a `.zip` cannot say so and is taken.
pub fn is_recording_name(name: &str) -> bool {
    match Packing::by_name(name) {
        Some(Packing::Gzip | Packing::Xz) => is_packed_recording_name(name),
        Some(_) => true,
        None => false,
    }
}

/// Whether the name says that it is a packed recording: `X.etl.zip`, `X.etl.gz` …, `X.diagsession`.
pub fn is_packed_recording_name(name: &str) -> bool {
    has_extension(name, ".diagsession")
        || Packing::by_name(name).is_some_and(|packing| packing != Packing::Plain)
            && without_last_extension(name).is_some_and(|inner| has_extension(inner, RECORDING_EXTENSION))
}

/// Whether the name is that of an extracted archive.
pub fn is_extract_name(name: &str) -> bool {
    has_extension(name, EXTRACT_EXTENSION)
}

/// File name without `.sift`, `.zip`, `.7z` … and then `.etl`: the recording's name.
pub fn stem(name: &str) -> &str {
    spellings(name).last().unwrap_or(name)
}

/// The names under which a user may ask for a file: `X.etl.zip`, `X.etl`, `X`.
pub fn spellings(name: &str) -> impl Iterator<Item = &str> {
    let packed = (is_extract_name(name) || Packing::by_name(name).is_some_and(|packing| packing != Packing::Plain))
        .then(|| without_last_extension(name))
        .flatten();
    let inner = packed.unwrap_or(name);
    let plain = has_extension(inner, RECORDING_EXTENSION).then(|| without_last_extension(inner)).flatten();
    [Some(name), packed, plain].into_iter().flatten()
}

/// Whether `name` ends in `extension` (with its dot), in any case, after at least one other character.
pub(crate) fn has_extension(name: &str, extension: &str) -> bool {
    name.len()
        .checked_sub(extension.len())
        .is_some_and(|at| at > 0 && name.as_bytes()[at..].eq_ignore_ascii_case(extension.as_bytes()))
}

fn without_last_extension(name: &str) -> Option<&str> {
    name.rfind('.').filter(|dot| *dot > 0).map(|dot| &name[..dot])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_stems() {
        for (name, packing, expected) in [
            ("X.etl", Some(Packing::Plain), "X"),
            ("X.ETL.Zip", Some(Packing::Zip), "X"),
            ("X.zip", Some(Packing::Zip), "X"),
            ("a.b.7z", Some(Packing::SevenZip), "a.b"),
            ("X.etl.gz", Some(Packing::Gzip), "X"),
            ("X.etl.xz", Some(Packing::Xz), "X"),
            ("X.cab", Some(Packing::Cabinet), "X"),
            ("X.diagsession", Some(Packing::Zip), "X"),
            ("X.sift", None, "X"),
            ("X.20200717-124447", None, "X.20200717-124447"),
            ("X.json", None, "X.json"),
            (".etl", None, ".etl"),
            ("ä.etl", Some(Packing::Plain), "ä"),
            ("", None, ""),
        ] {
            assert_eq!((Packing::by_name(name), stem(name)), (packing, expected), "{name}");
        }
    }

    #[test]
    fn a_search_takes_gz_and_xz_only_with_etl_inside() {
        assert!(is_recording_name("a.etl.gz") && is_recording_name("a.ETL.XZ") && is_recording_name("a.zip"));
        assert!(!is_recording_name("a.json.xz") && !is_recording_name("a.gz") && !is_recording_name("a.txt"));
    }

    #[test]
    fn content_beats_name() {
        assert_eq!(Packing::by_content(b"PK\x03\x04rest"), Packing::Zip);
        assert_eq!(Packing::by_content(b"7z\xbc\xaf\x27\x1c\0\x04"), Packing::SevenZip);
        assert_eq!(Packing::by_content(&[0, 0, 1, 0, 0x40, 2, 0, 0]), Packing::Plain);
        assert_eq!(Packing::by_content(b""), Packing::Plain);
    }
}
