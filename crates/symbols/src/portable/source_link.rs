//! Source Link: where the documents of a PDB can be fetched from.

use serde_json::Value;

use crate::identity::Guid;

/// Kind of the module's custom information that holds it.
pub(super) const KIND: Guid = Guid::from_u128(0xcc110556_a091_4d38_9fec_25ab9a351a6a);

/// Rules from paths to addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLink {
    /// The longest pattern first: it decides.
    rules: Vec<Rule>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    /// Path, or what stands before the asterisk of a pattern.
    path: String,
    /// Address before and behind the asterisk; of an exact path there is nothing behind.
    address: (String, String),
    is_pattern: bool,
}

impl SourceLink {
    /// Reads the JSON text, `{"documents": {"C:\\src\\*": "https://example.com/*"}}`. Rules that make no sense are left out.
    pub(super) fn parse(json: &[u8]) -> Option<Self> {
        let json = json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(json);
        let Value::Object(mut root) = serde_json::from_slice(json).ok()? else { return None };
        let Value::Object(documents) = root.remove("documents")? else { return None };
        let mut rules: Vec<_> =
            documents.iter().filter_map(|(path, address)| Rule::new(path, address.as_str()?)).collect();
        rules.sort_by_key(|rule| (rule.is_pattern, std::cmp::Reverse(rule.path.len())));
        Some(Self { rules })
    }

    /// The address of a document by its path.
    #[must_use]
    pub fn address(&self, path: &str) -> Option<String> {
        self.rules.iter().find_map(|rule| rule.address(path))
    }
}

impl Rule {
    fn new(path: &str, address: &str) -> Option<Self> {
        let Some(prefix) = path.strip_suffix('*') else {
            let exact = !path.contains('*') && !address.contains('*');
            return exact.then(|| Self {
                path: path.to_owned(),
                address: (address.to_owned(), String::new()),
                is_pattern: false,
            });
        };
        let (before, behind) = address.split_once('*')?;
        let sound = !prefix.contains('*') && !behind.contains('*');
        sound.then(|| Self {
            path: prefix.to_owned(),
            address: (before.to_owned(), behind.to_owned()),
            is_pattern: true,
        })
    }

    fn address(&self, path: &str) -> Option<String> {
        let (head, tail) = path.split_at_checked(self.path.len())?;
        let fits = head.eq_ignore_ascii_case(&self.path) && (self.is_pattern || tail.is_empty());
        fits.then(|| format!("{}{}{}", self.address.0, tail.replace('\\', "/"), self.address.1))
    }
}
