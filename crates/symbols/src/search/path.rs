//! The search path of symbol files, as users write it.
//!
//! The grammar is that of `_NT_SYMBOL_PATH` (Microsoft's "Symbol path for Windows debuggers" and "Advanced SymSrv use"): elements
//! with `;` between them, each a folder, `cache*DIR`, or a chain `srv*STORE*STORE*URL`, whose stores keep what comes from behind
//! them. Beyond that an element may be `debuginfod*URL` or a short name ([`ShortNames`]).

use std::fmt;
use std::path::{Path, PathBuf};

use super::below::is_network;
use super::short_names::ShortNames;

/// Places to look, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchPath {
    /// What stands between the semicolons.
    pub elements: Vec<Element>,
}

/// One element of a search path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Element {
    /// `cache*DIR`: keeps what servers to the right of it give.
    Cache(Store),
    /// `srv*…`: stores, nearest first, and behind them servers. What is found is copied into all stores before it.
    Chain {
        /// Directories in the layout of symbol servers.
        stores: Vec<Store>,
        /// Addresses, without a slash at the end.
        servers: Vec<String>,
    },
    /// A folder with symbol files, plain or in the layout of symbol servers.
    Folder(Store),
    /// `debuginfod*URL`: a server that knows files by build id.
    Debuginfod(String),
}

/// A directory of a search path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Store {
    /// The store of our own, where nothing is said.
    Default,
    /// A directory of this machine.
    Directory(PathBuf),
    /// A path that this machine has not or must not open: of the network, or with a drive letter where there are none. It is kept as it was
    /// written and never opened.
    Unreachable(String),
}

/// An element that has no meaning.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("symbol path: {element:?} {problem}")]
pub struct PathError {
    /// As it was written.
    pub element: String,
    /// What is wrong with it.
    pub problem: &'static str,
}

impl SearchPath {
    /// Reads a search path. Empty elements mean nothing.
    ///
    /// # Errors
    /// [`PathError`] names the first element that has no meaning.
    pub fn parse(text: &str, names: &ShortNames) -> Result<Self, PathError> {
        let mut elements = Vec::new();
        for element in text.split(';').map(str::trim).filter(|element| !element.is_empty()) {
            match names.elements(element) {
                Some(known) => elements.extend(known),
                None => elements.push(Element::parse(element)?),
            }
        }
        Ok(Self { elements })
    }

    /// Whether it names a server.
    #[must_use]
    pub fn has_servers(&self) -> bool {
        self.elements.iter().any(|element| match element {
            Element::Chain { servers, .. } => !servers.is_empty(),
            Element::Debuginfod(_) => true,
            Element::Cache(_) | Element::Folder(_) => false,
        })
    }

    /// The directories that have to be there for anything to be found in them: those that nothing fills.
    pub fn directories(&self) -> impl Iterator<Item = &Path> {
        self.searched_only().filter_map(|store| match store {
            Store::Directory(directory) => Some(directory.as_path()),
            Store::Default | Store::Unreachable(_) => None,
        })
    }

    /// The paths among them that are never opened, as they were written.
    pub fn unreachable(&self) -> impl Iterator<Item = &str> {
        self.searched_only().filter_map(|store| match store {
            Store::Unreachable(path) => Some(path.as_str()),
            Store::Default | Store::Directory(_) => None,
        })
    }

    fn searched_only(&self) -> impl Iterator<Item = &Store> {
        self.elements.iter().flat_map(|element| match element {
            Element::Folder(store) => std::slice::from_ref(store),
            Element::Chain { stores, servers } if servers.is_empty() => stores.as_slice(),
            Element::Chain { .. } | Element::Cache(_) | Element::Debuginfod(_) => &[],
        })
    }
}

impl Element {
    pub(super) fn parse(text: &str) -> Result<Self, PathError> {
        let wrong = |problem| PathError { element: text.to_owned(), problem };
        let Some((verb, rest)) = text.split_once('*') else {
            return match Url::of(text) {
                // What users forget most often.
                Some(_) => Err(wrong("is an address without `srv*` in front of it")),
                None => Ok(Self::Folder(Store::parse(text).map_err(wrong)?)),
            };
        };
        match verb.trim().to_ascii_lowercase().as_str() {
            "srv" => Self::chain(rest).map_err(wrong),
            "symsrv" => {
                let (library, rest) = rest.split_once('*').ok_or_else(|| wrong("names no store behind the library"))?;
                if !library.trim().eq_ignore_ascii_case("symsrv.dll") {
                    return Err(wrong("names a library other than symsrv.dll, which cannot be loaded"));
                }
                Self::chain(rest).map_err(wrong)
            }
            "cache" if rest.contains('*') => Err(wrong("names more than one cache")),
            "cache" => Ok(Self::Cache(Store::parse(rest).map_err(wrong)?)),
            "debuginfod" => match Url::of(rest) {
                Some(url) => Ok(Self::Debuginfod(url.map_err(wrong)?.0)),
                None => Err(wrong("names no address that begins with http:// or https://")),
            },
            _ => Err(wrong("begins with a word other than srv, symsrv, cache and debuginfod")),
        }
    }

    fn chain(text: &str) -> Result<Self, &'static str> {
        let (mut stores, mut servers) = (Vec::new(), Vec::new());
        for part in text.split('*') {
            match Url::of(part) {
                Some(url) => servers.push(url?.0),
                // A server keeps nothing: a store behind it would never be filled.
                None if !servers.is_empty() && part.trim().is_empty() => {}
                None if !servers.is_empty() => return Err("has a store behind a server"),
                None => stores.push(Store::parse(part)?),
            }
        }
        if servers.is_empty() && stores.iter().all(|store| *store == Store::Default) {
            return Err("names neither a store nor a server");
        }
        Ok(Self::Chain { stores, servers })
    }
}

impl Store {
    fn parse(text: &str) -> Result<Self, &'static str> {
        let text = text.trim();
        if text.contains(|c: char| c.is_control()) {
            return Err("holds a control character");
        }
        let has_drive = text.as_bytes().get(1) == Some(&b':') && text.starts_with(|c: char| c.is_ascii_alphabetic());
        Ok(match text {
            "" => Self::Default,
            _ if is_network(text) || has_drive && !cfg!(windows) => Self::Unreachable(text.to_owned()),
            _ => Self::Directory(PathBuf::from(text)),
        })
    }
}

/// The address of a server.
struct Url(String);

impl Url {
    /// `None` where it does not begin as one.
    fn of(text: &str) -> Option<Result<Self, &'static str>> {
        let text = text.trim();
        let (scheme, rest) = text.split_once("://")?;
        let scheme = scheme.to_ascii_lowercase();
        if scheme != "http" && scheme != "https" {
            return Some(Err("is an address other than of http or https"));
        }
        let rest = rest.trim_end_matches('/');
        let host = rest.split('/').next().unwrap_or_default();
        let host = host.rsplit('@').next().unwrap_or_default();
        if host.is_empty() || host.starts_with(':') {
            return Some(Err("is an address without a host"));
        }
        let is_plain = |c: char| c.is_ascii_graphic() && !"\"<>\\^`{|}#".contains(c);
        if !rest.chars().all(is_plain) {
            return Some(Err("is an address with characters that must be escaped"));
        }
        Some(Ok(Self(format!("{scheme}://{rest}"))))
    }
}

impl fmt::Display for SearchPath {
    /// In the same grammar: reading it gives the same search path.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, element) in self.elements.iter().enumerate() {
            write!(f, "{}{element}", if at == 0 { "" } else { ";" })?;
        }
        Ok(())
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cache(store) => write!(f, "cache*{store}"),
            Self::Folder(store) => write!(f, "{store}"),
            Self::Debuginfod(url) => write!(f, "debuginfod*{url}"),
            Self::Chain { stores, servers } => {
                f.write_str("srv")?;
                stores.iter().try_for_each(|store| write!(f, "*{store}"))?;
                servers.iter().try_for_each(|server| write!(f, "*{server}"))
            }
        }
    }
}

impl fmt::Display for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => Ok(()),
            Self::Directory(path) => write!(f, "{}", path.display()),
            Self::Unreachable(text) => f.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Element, SearchPath, ShortNames, Store};

    fn parse(text: &str) -> Result<SearchPath, String> {
        SearchPath::parse(text, &ShortNames::builtin()).map_err(|error| error.to_string())
    }

    fn directory(path: &str) -> Store {
        Store::Directory(path.into())
    }

    #[test]
    fn every_form_is_understood() {
        let chain = |stores: Vec<Store>, servers: &[&str]| Element::Chain {
            stores,
            servers: servers.iter().map(|&server| server.to_owned()).collect(),
        };
        let elements = |text| parse(text).expect("a path").elements;
        assert_eq!(elements("srv*https://a.b/c/"), [chain(vec![], &["https://a.b/c"])]);
        assert_eq!(elements("SRV**HTTPS://a"), [chain(vec![Store::Default], &["https://a"])]);
        assert_eq!(
            elements("srv*/near*/far*http://a*http://b:80"),
            [chain(vec![directory("/near"), directory("/far")], &["http://a", "http://b:80"])]
        );
        assert_eq!(elements("SymSrv*SYMSRV.DLL*/near*http://a"), [chain(vec![directory("/near")], &["http://a"])]);
        assert_eq!(elements(r"srv*\\server\share"), [chain(vec![Store::Unreachable(r"\\server\share".into())], &[])]);
        assert_eq!(elements("cache*"), [Element::Cache(Store::Default)]);
        assert_eq!(elements("Cache*/c"), [Element::Cache(directory("/c"))]);
        assert_eq!(elements(";; sym folder ;"), [Element::Folder(directory("sym folder"))]);
        assert_eq!(elements("//server/share"), [Element::Folder(Store::Unreachable("//server/share".into()))]);
        assert_eq!(elements("debuginfod*https://d/"), [Element::Debuginfod("https://d".into())]);
        assert_eq!(elements("mozilla;msdl").len(), 2);
        assert_eq!(elements(""), []);
        #[cfg(not(windows))]
        assert_eq!(elements(r"C:\sym"), [Element::Folder(Store::Unreachable(r"C:\sym".into()))]);
    }

    #[test]
    fn what_has_no_meaning_is_named() {
        for (text, expected) in [
            ("/a;https://b", "\"https://b\" is an address without `srv*`"),
            ("srv*", "\"srv*\" names neither"),
            ("srv**", "names neither"),
            ("symsrv*other.dll*/a*http://b", "names a library other"),
            ("symsrv*symsrv.dll", "names no store"),
            ("cache*/a*/b", "more than one cache"),
            ("srv*/a*ftp://b", "other than of http"),
            ("srv*/a*http://", "without a host"),
            ("srv*/a*http://u@", "without a host"),
            ("srv*/a*http://b c", "must be escaped"),
            ("srv*http://b*/a", "behind a server"),
            ("debuginfod*/a", "names no address"),
            ("debuginfod*http://", "\"debuginfod*http://\" is an address without a host"),
            ("foo*bar", "begins with a word other"),
            ("srv*/a\nb*http://b", "control character"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn it_is_written_as_it_is_read() {
        for text in [
            "srv*https://a",
            "srv**https://a",
            "srv*/a**/b*https://a*http://b",
            "cache*",
            "cache*/x;/y z",
            "microsoft;chrome",
            r"srv*\\server\share;//server",
            "debuginfod*http://x",
            "elfutils",
            "srv*/a",
        ] {
            let path = parse(text).expect("a path");
            assert_eq!(parse(&path.to_string()).as_ref(), Ok(&path), "{text}");
        }
    }
}
