//! Names from strangers that may become a part of a path.

use std::fmt;

use super::below::Below;

/// A name that is one file's name on every system, and nothing else: no separator, drive, stream, device, `.` or `..`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileName(String);

/// Bytes of a name. File systems stop at 255, and a name of the cache holds the identity besides.
const MAX: usize = 180;

impl FileName {
    /// A name as it is; `None` when it could be anything but a plain name.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let is_plain = !text.is_empty()
            && text.len() <= MAX
            && !text.chars().any(|c| c.is_control() || "/\\:*?\"<>|".contains(c))
            // Windows drops these at the end, which makes another name of it.
            && !text.ends_with(['.', ' '])
            && !is_device(text);
        is_plain.then(|| Self(text.to_owned()))
    }

    /// The last part of a path of either system: identities name files, and some writers of recordings leave the directory in front.
    #[must_use]
    pub fn last_of(path: &str) -> Option<Self> {
        Self::new(path.rsplit(['/', '\\']).next()?)
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// As it is called when it lies compressed in a store: `ntdll.pd_`.
    #[must_use]
    pub fn compressed(&self) -> Option<Self> {
        let (last, c) = self.0.char_indices().next_back()?;
        (c != '_').then(|| Self(format!("{}_", &self.0[..last])))
    }

    /// With another extension, or with one at all.
    #[must_use]
    pub fn with_extension(&self, extension: &str) -> Option<Self> {
        Self::new(&format!("{}.{extension}", self.stem_and_extension().0))
    }

    /// With something behind it.
    #[must_use]
    pub fn and(&self, suffix: &str) -> Option<Self> {
        Self::new(&format!("{}{suffix}", self.0))
    }

    /// Before and behind the last dot.
    #[must_use]
    pub fn stem_and_extension(&self) -> (&str, Option<&str>) {
        match self.0.rsplit_once('.') {
            Some((stem, extension)) if !stem.is_empty() => (stem, Some(extension)),
            _ => (&self.0, None),
        }
    }

    /// The directory of a name in a store of two tiers: its first two characters.
    #[must_use]
    pub fn tier(&self) -> Option<Self> {
        let end = self.0.char_indices().nth(2).map_or(self.0.len(), |(at, _)| at);
        Self::new(&self.0[..end])
    }

    /// The file alone.
    #[must_use]
    pub fn alone(&self) -> Below {
        Below::new([self])
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether Windows opens a device by this name, whatever directory and extension it has.
fn is_device(text: &str) -> bool {
    let stem = text.split('.').next().unwrap_or(text).trim_end().to_ascii_uppercase();
    let numbered = |name: &str| stem.strip_prefix(name).is_some_and(|rest| rest.chars().count() == 1);
    ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"].contains(&stem.as_str()) || numbered("COM") || numbered("LPT")
}

#[cfg(test)]
mod tests {
    use super::FileName;

    #[test]
    fn only_plain_names_pass() {
        for name in ["ntdll.pdb", ".build-id", "a b+c(1).dll", "größe.pdb", "x", "COM10.pdb", "console.pdb"] {
            assert!(FileName::new(name).is_some(), "{name}");
        }
        let long = "a".repeat(1_000_000);
        for name in [
            "",
            ".",
            "..",
            "a/b",
            "a\\b",
            "c:",
            "a:stream",
            "nul",
            "NUL.pdb",
            "com1",
            "LPT².txt",
            "aux .x",
            "a\0b",
            "a\n",
            "x.",
            "x ",
            "a*",
            long.as_str(),
        ] {
            assert!(FileName::new(name).is_none(), "{name:.20}");
        }
        let last = FileName::last_of("d:\\build/..\\ntdll.pdb").expect("a name");
        assert_eq!(last.as_str(), "ntdll.pdb");
        assert!(FileName::last_of("d:\\build\\..").is_none());
    }

    #[test]
    fn names_of_stores() {
        let name = FileName::new("ntdll.pdb").expect("a name");
        assert_eq!(name.compressed().expect("a name").as_str(), "ntdll.pd_");
        assert_eq!(name.with_extension("sym").expect("a name").as_str(), "ntdll.sym");
        assert_eq!(name.tier().expect("a name").as_str(), "nt");
        let single = FileName::new("é").expect("a name");
        assert_eq!(single.tier().expect("a name").as_str(), "é");
        assert_eq!(single.compressed().expect("a name").as_str(), "_");
        let hidden = FileName::new(".x").expect("a name");
        assert_eq!(hidden.stem_and_extension(), (".x", None));
    }
}
