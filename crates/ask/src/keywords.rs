//! Keyword masks of providers: names to bits and back.

use std::str::FromStr;

use tracesift_etl::Guid;
use tracesift_etl::schema::manifest::{self, ManifestError};
use tracesift_etl::schema::{self};
use tracesift_grammar::Patterns;

/// A provider with its keywords.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderKeywords {
    /// Name of the provider.
    pub name: String,
    /// The provider.
    pub guid: Guid,
    /// Masks and names, by mask.
    pub keywords: Vec<(u64, String)>,
}

/// What a user asks of a provider's keywords: a mask, or names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keywords {
    /// A mask to be told in names.
    Mask(u64),
    /// Names to be put into a mask.
    Names(Vec<String>),
}

/// Names that a provider does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{provider} has no keyword {}", names.join(", "))]
pub struct UnknownKeywords {
    /// The provider.
    pub provider: String,
    /// The names.
    pub names: Vec<String>,
}

impl FromStr for Keywords {
    type Err = std::convert::Infallible;

    /// A number, decimal or hexadecimal, is a mask; everything else are names between `,`, `;`, `+` or `|`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let mask = match text.strip_prefix("0x").or(text.strip_prefix("0X")) {
            Some(digits) => u64::from_str_radix(&digits.replace('_', ""), 16).ok(),
            None => text.parse().ok(),
        };
        Ok(mask.map_or_else(
            || {
                let names = text.split([',', ';', '+', '|']).map(str::trim).filter(|name| !name.is_empty());
                Self::Names(names.map(str::to_owned).collect())
            },
            Self::Mask,
        ))
    }
}

impl ProviderKeywords {
    fn new(name: &str, guid: Guid, keywords: &[(u64, Box<str>)]) -> Self {
        let mut keywords: Vec<(u64, String)> = keywords.iter().map(|(mask, name)| (*mask, name.to_string())).collect();
        keywords.sort();
        Self { name: name.to_owned(), guid, keywords }
    }

    /// The keywords in a mask, and the bits that have no name.
    #[must_use]
    pub fn decode(&self, mask: u64) -> (Vec<(u64, &str)>, u64) {
        let named: Vec<(u64, &str)> = self
            .keywords
            .iter()
            .filter(|(keyword, _)| *keyword != 0 && mask & keyword == *keyword)
            .map(|(keyword, name)| (*keyword, name.as_str()))
            .collect();
        let rest = named.iter().fold(mask, |rest, (keyword, _)| rest & !keyword);
        (named, rest)
    }

    /// The mask of some keywords, by their names in any case. A name that stands for several keywords means all of them.
    ///
    /// # Errors
    /// A name that the provider does not have.
    pub fn encode(&self, names: &[String]) -> Result<u64, UnknownKeywords> {
        let is = |(_, known): &&(u64, String), name: &String| known.eq_ignore_ascii_case(name);
        let masks = |name| self.keywords.iter().filter(move |keyword| is(keyword, name)).map(|(mask, _)| *mask);
        let unknown: Vec<String> = names.iter().filter(|name| masks(name).next().is_none()).cloned().collect();
        if unknown.is_empty() {
            Ok(names.iter().flat_map(masks).fold(0, |all, mask| all | mask))
        } else {
            Err(UnknownKeywords { provider: self.name.clone(), names: unknown })
        }
    }
}

/// The providers of the built-in tables whose keywords are known and whose name or GUID matches, by name.
#[must_use]
pub fn built_in(provider: &Patterns) -> Vec<ProviderKeywords> {
    let mut found: Vec<ProviderKeywords> = schema::built_in_keywords()
        .filter(|(guid, name, _)| matches(provider, name, *guid))
        .map(|(guid, name, keywords)| ProviderKeywords::new(name, guid, keywords))
        .collect();
    // The runtime for compiled programs has the name of the other one, and some of its keywords.
    found.sort_by(|a, b| a.name.cmp(&b.name).then(b.keywords.len().cmp(&a.keywords.len())));
    found.dedup_by(|a, b| a.name == b.name);
    found
}

/// The providers of a manifest whose name or GUID matches.
///
/// # Errors
/// The text is no manifest.
pub fn of_manifest(xml: &str, provider: &Patterns) -> Result<Vec<ProviderKeywords>, ManifestError> {
    let manifests = manifest::parse(xml)?;
    let matching = manifests.iter().filter(|manifest| matches(provider, &manifest.name, manifest.provider));
    Ok(matching.map(|manifest| ProviderKeywords::new(&manifest.name, manifest.provider, &manifest.keywords)).collect())
}

fn matches(provider: &Patterns, name: &str, guid: Guid) -> bool {
    provider.is_empty() || provider.matches_any(&[name, &guid.to_string(), &format!("{{{guid}}}")])
}

#[cfg(test)]
mod tests {
    use tracesift_grammar::Patterns;

    use super::{Keywords, built_in};

    #[test]
    fn masks_and_names_are_two_ways_to_say_the_same() {
        let runtime = &built_in(&Patterns::parse("Microsoft-Windows-DotNETRuntime"))[0];
        let (named, rest) = runtime.decode(0x8001);
        assert_eq!((named, rest), (vec![(1, "GC"), (0x8000, "Exception")], 0));
        assert_eq!(runtime.encode(&["exception".to_owned(), "GC".to_owned()]), Ok(0x8001));
        assert_eq!(runtime.encode(&["Gx".to_owned()]).map_err(|unknown| unknown.names), Err(vec!["Gx".to_owned()]));
        assert_eq!(runtime.decode(1 << 63).1, 1 << 63);
        let by_guid = built_in(&Patterns::parse("{e13c0d23-ccbc-4e12-931b-d9cc2eee27e4}"));
        assert_eq!(by_guid[0], *runtime);
        // All masks of every provider survive the way there and back.
        for provider in built_in(&Patterns::parse("*")) {
            for (mask, name) in &provider.keywords {
                let encoded = provider.encode(std::slice::from_ref(name)).expect("its own name");
                assert_eq!(encoded & mask, *mask, "{}: {name}", provider.name);
            }
        }
    }

    #[test]
    fn a_number_is_a_mask() {
        let names = |names: &[&str]| Keywords::Names(names.iter().map(|name| (*name).to_owned()).collect());
        for (text, expected) in [
            ("0x8001", Keywords::Mask(0x8001)),
            ("0x1_0000_0000", Keywords::Mask(1 << 32)),
            ("33", Keywords::Mask(33)),
            ("GC+Jit", names(&["GC", "Jit"])),
            ("GC, Jit | Loader", names(&["GC", "Jit", "Loader"])),
        ] {
            assert_eq!(text.parse(), Ok(expected));
        }
    }
}
