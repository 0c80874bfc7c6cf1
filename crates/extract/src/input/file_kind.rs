//! What kind of file an input is: told by its name when searching, by its first bytes when opening. Names of Linux
//! recordings say little (`.data` may be anything), so a search looks into such files, too.

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
const EXTENSIONS: [(&str, Packing); 10] = [
    (".zip", Packing::Zip),
    (".7z", Packing::SevenZip),
    (".cab", Packing::Cabinet),
    (".diagsession", Packing::Zip),
    (".gz", Packing::Gzip),
    (".xz", Packing::Xz),
    (".etl", Packing::Plain),
    (".perf.data", Packing::Plain),
    (".data", Packing::Plain),
    (".perf", Packing::Plain),
];

/// Extension of extracted archives.
pub const EXTRACT_EXTENSION: &str = ".sift";

/// Extensions of recordings. Of two that fit a name the first counts.
const RECORDING_EXTENSIONS: [(&str, Format); 4] =
    [(".etl", Format::Etl), (".perf.data", Format::Perf), (".data", Format::Perf), (".perf", Format::Perf)];

/// The name that perf gives a recording when it is not told another one; it renames an older one to `perf.data.old`.
const PERF_DATA: &str = "perf.data";

/// Who wrote a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// Windows: `.etl`.
    Etl,
    /// Linux: `perf.data`.
    Perf,
}

impl Format {
    /// Bytes that [`Format::by_content`] wants to see.
    pub const HEAD: usize = 8;

    /// Told by the first bytes. An `.etl` begins with a buffer's size, and damaged ones with anything.
    pub fn by_content(head: &[u8]) -> Format {
        // In both byte orders; the second pair is perf's first format, which its reader refuses by name.
        const MAGICS: [&[u8; 8]; 4] = [b"PERFILE2", b"2ELIFREP", b"PERFFILE", b"ELIFFREP"];
        if MAGICS.iter().any(|magic| head.starts_with(&magic[..])) { Format::Perf } else { Format::Etl }
    }

    /// Told by the extension of a recording that is not packed; `None` when the name has none.
    pub fn by_name(name: &str) -> Option<Format> {
        recording_extension(name).map(|(_, format)| format)
    }
}

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

/// Whether a directory search takes a file of this name. A `.gz` or `.xz` must say that a recording is in it, since most
/// such files are something else; a `.zip` cannot say so and is taken.
pub fn is_recording_name(name: &str) -> bool {
    match Packing::by_name(name) {
        Some(Packing::Gzip | Packing::Xz) => is_packed_recording_name(name),
        Some(Packing::Plain) => is_plain_recording_name(name),
        Some(_) => true,
        None => false,
    }
}

/// Whether a file of this name is a recording if its first bytes say so: `X.data`, `X.perf`, `perf.data.old`.
pub fn may_be_recording_name(name: &str) -> bool {
    let begins_like_perf_data = name.len() > PERF_DATA.len()
        && is_perf_data(&name.as_bytes()[..PERF_DATA.len()])
        && name[PERF_DATA.len()..].starts_with('.');
    Format::by_name(name).is_some() && !is_plain_recording_name(name)
        || begins_like_perf_data && Packing::by_name(name).is_none()
}

/// Whether the name alone says that it is a recording which is not packed.
pub fn is_plain_recording_name(name: &str) -> bool {
    has_extension(name, ".etl") || has_extension(name, ".perf.data") || is_perf_data(name.as_bytes())
}

fn is_perf_data(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(PERF_DATA.as_bytes())
}

/// Whether the name says that it is a packed recording: `X.etl.zip`, `X.perf.data.gz` …, `X.diagsession`.
pub fn is_packed_recording_name(name: &str) -> bool {
    has_extension(name, ".diagsession")
        || Packing::by_name(name).is_some_and(|packing| packing != Packing::Plain)
            && without_last_extension(name)
                .is_some_and(|inner| is_plain_recording_name(inner) || has_extension(inner, ".perf"))
}

/// Whether the name is that of an extracted archive.
pub fn is_extract_name(name: &str) -> bool {
    has_extension(name, EXTRACT_EXTENSION)
}

/// File name without `.sift`, or without `.zip`, `.7z` … and then `.etl`, `.data` …: the recording's name.
pub fn stem(name: &str) -> &str {
    spellings(name).last().unwrap_or(name)
}

/// The names under which a user may ask for a file: `X.etl.zip`, `X.etl`, `X`.
pub fn spellings(name: &str) -> impl Iterator<Item = &str> {
    let packed = (is_extract_name(name) || Packing::by_name(name).is_some_and(|packing| packing != Packing::Plain))
        .then(|| without_last_extension(name))
        .flatten();
    let inner = packed.unwrap_or(name);
    // What an archive is called says nothing of the file that it came from: `my.data.sift` is made of `my.data.etl`.
    let plain = recording_extension(inner)
        .filter(|(extension, _)| !is_extract_name(name) || *extension == ".etl")
        .map(|(extension, _)| &inner[..inner.len() - extension.len()]);
    [Some(name), packed, plain].into_iter().flatten()
}

/// The file name without what it is packed in, if it says what that is: `X.etl` of `X.etl.zip`.
pub(crate) fn plain_name(name: &str) -> Option<&str> {
    let is_packed = Packing::by_name(name).is_some_and(|packing| packing != Packing::Plain);
    let inner = if is_packed { without_last_extension(name)? } else { name };
    recording_extension(inner).map(|_| inner)
}

fn recording_extension(name: &str) -> Option<(&'static str, Format)> {
    RECORDING_EXTENSIONS.into_iter().find(|(extension, _)| has_extension(name, extension))
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
            ("perf.data", Some(Packing::Plain), "perf"),
            ("X.perf.data", Some(Packing::Plain), "X"),
            ("X.data", Some(Packing::Plain), "X"),
            ("X.perf", Some(Packing::Plain), "X"),
            ("X.perf.data.gz", Some(Packing::Gzip), "X"),
            ("perf.data.old", None, "perf.data.old"),
            ("my.data.etl", Some(Packing::Plain), "my.data"),
            ("my.data.sift", None, "my.data"),
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
    fn a_search_looks_into_what_may_be_a_linux_recording() {
        for name in ["perf.data", "Perf.Data", "x.perf.data", "x.perf.data.xz", "x.perf.gz", "perf.data.gz"] {
            assert!(is_recording_name(name) && !may_be_recording_name(name), "{name}");
        }
        for name in ["x.data", "x.perf", "perf.data.old", "perf.data.armv7-3.4"] {
            assert!(!is_recording_name(name) && may_be_recording_name(name), "{name}");
        }
        for name in ["x.data.gz", "perf.dataset", "perf.data.zip.txt.gz", "x.database", "perf", "dataä"] {
            assert!(!is_recording_name(name) && !may_be_recording_name(name), "{name}");
        }
    }

    #[test]
    fn formats() {
        for head in [b"PERFILE2", b"2ELIFREP", b"PERFFILE"] {
            assert_eq!(Format::by_content(head), Format::Perf);
        }
        for head in [&b"PERFILE"[..], b"", &[0, 0, 1, 0, 0x40, 2, 0, 0]] {
            assert_eq!(Format::by_content(head), Format::Etl);
        }
        assert_eq!(Format::by_name("x.kernel.etl"), Some(Format::Etl));
        assert_eq!(Format::by_name("x.etl.zip"), None);
    }

    #[test]
    fn content_beats_name() {
        assert_eq!(Packing::by_content(b"PK\x03\x04rest"), Packing::Zip);
        assert_eq!(Packing::by_content(b"7z\xbc\xaf\x27\x1c\0\x04"), Packing::SevenZip);
        assert_eq!(Packing::by_content(&[0, 0, 1, 0, 0x40, 2, 0, 0]), Packing::Plain);
        assert_eq!(Packing::by_content(b""), Packing::Plain);
    }
}
