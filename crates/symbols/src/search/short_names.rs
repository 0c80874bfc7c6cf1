//! Short names for servers.

use super::path::{Element, PathError};

/// Names that stand for elements of a search path. A folder of the same name is written with a separator: `./mozilla`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShortNames {
    /// Later ones count before earlier ones, so that users can replace ours.
    names: Vec<(String, Vec<Element>)>,
}

/// Public servers that everybody may ask.
const BUILTIN: &str = "
microsoft = srv**https://msdl.microsoft.com/download/symbols
msdl      = srv**https://msdl.microsoft.com/download/symbols
chrome    = srv**https://chromium-browser-symsrv.commondatastorage.googleapis.com
mozilla   = srv**https://symbols.mozilla.org
nuget     = srv**https://symbols.nuget.org/download/symbols
elfutils  = debuginfod*https://debuginfod.elfutils.org
arch      = debuginfod*https://debuginfod.archlinux.org
debian    = debuginfod*https://debuginfod.debian.net
fedora    = debuginfod*https://debuginfod.fedoraproject.org
opensuse  = debuginfod*https://debuginfod.opensuse.org
ubuntu    = debuginfod*https://debuginfod.ubuntu.com
";

/// A line of a file of short names that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShortNameError {
    /// It is not of the form `name = elements`.
    #[error("line {0}: not of the form `name = srv*…`")]
    Form(usize),
    /// What stands behind the name has no meaning.
    #[error("line {0}: {1}")]
    Path(usize, PathError),
}

impl ShortNames {
    /// Those of public servers.
    #[must_use]
    pub fn builtin() -> Self {
        let mut names = Self::default();
        let added = names.add(BUILTIN);
        debug_assert_eq!(added, Ok(()));
        names
    }

    /// Adds those of a text: a line for each, `name = elements`, where the elements may be in quotes; `#` begins a comment. Names that are
    /// known already can be used in later lines.
    ///
    /// # Errors
    /// [`ShortNameError`] for the first line that has another form; those before it are added.
    pub fn add(&mut self, text: &str) -> Result<(), ShortNameError> {
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (name, value) = line.split_once('=').ok_or(ShortNameError::Form(number))?;
            let (name, value) = (name.trim(), value.trim());
            let value = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
            if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c)) {
                return Err(ShortNameError::Form(number));
            }
            let path = super::path::SearchPath::parse(value, self);
            let elements = path.map_err(|error| ShortNameError::Path(number, error))?.elements;
            self.names.push((name.to_owned(), elements));
        }
        Ok(())
    }

    /// Adds `debuginfod` for the addresses of a text with blanks between them: the value of `DEBUGINFOD_URLS`. Words that are no addresses
    /// are left out, as elfutils does.
    pub fn add_debuginfod(&mut self, urls: &str) {
        let elements = urls.split_whitespace().filter_map(|url| Element::parse(&format!("debuginfod*{url}")).ok());
        self.names.push(("debuginfod".to_owned(), elements.collect()));
    }

    /// What a name stands for.
    pub(super) fn elements(&self, name: &str) -> Option<Vec<Element>> {
        let known = self.names.iter().rev().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
        Some(known.1.clone())
    }

    /// All names, each once.
    #[must_use]
    pub fn all(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.names.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

#[cfg(test)]
mod tests {
    use super::super::path::SearchPath;
    use super::{ShortNameError, ShortNames};

    #[test]
    fn users_add_their_own() {
        let mut names = ShortNames::builtin();
        names.add("# ours\nours = \"srv**https://sym.example/s\"\nall=ours;mozilla\nmozilla = /m\n").expect("names");
        names.add_debuginfod("https://a.example  nonsense http://b.example/");
        let path = |text| SearchPath::parse(text, &names).expect("a path").to_string();
        assert_eq!(path("OURS"), "srv**https://sym.example/s");
        assert_eq!(path("all"), "srv**https://sym.example/s;srv**https://symbols.mozilla.org");
        assert_eq!(path("mozilla"), "/m");
        assert_eq!(path("./mozilla"), "./mozilla");
        assert_eq!(path("debuginfod"), "debuginfod*https://a.example;debuginfod*http://b.example");
        assert_eq!(names.add("x"), Err(ShortNameError::Form(1)));
        assert_eq!(names.add("\na b = /c"), Err(ShortNameError::Form(2)));
        let wrong = names.add("a = https://b").expect_err("no srv*").to_string();
        assert!(wrong.starts_with("line 1: symbol path: \"https://b\""), "{wrong}");
    }
}
