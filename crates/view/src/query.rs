//! The parameters of a GET.

use axum::http::Uri;

use crate::failure::Failure;

/// Parameters with their values, each known and at most once.
pub(crate) struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// Those of an address.
    pub(crate) fn of(uri: &Uri, known: &[&str]) -> Result<Self, Failure> {
        let mut all: Vec<(String, String)> = Vec::new();
        for part in uri.query().unwrap_or_default().split('&').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let text = |text| decoded(text).ok_or_else(|| Failure::bad("query: it is no UTF-8 in percent-encoding"));
            let (name, value) = (text(name)?, text(value)?);
            if !known.contains(&name.as_str()) {
                return Err(Failure::bad(format!("query: there is no parameter `{name}`")));
            }
            if all.iter().any(|(other, _)| *other == name) {
                return Err(Failure::bad(format!("query: `{name}` stands twice")));
            }
            all.push((name, value));
        }
        Ok(Self(all))
    }

    /// The value of a parameter; an empty one is none.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// The value of a parameter that has to be there.
    pub(crate) fn needed(&self, name: &str) -> Result<&str, Failure> {
        self.get(name).ok_or_else(|| Failure::bad(format!("query: `{name}` is missing")))
    }
}

/// The text in percent-encoding, with `+` for a space.
fn decoded(text: &str) -> Option<String> {
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.bytes());
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                let (high, low) = (digit(rest.next())?, digit(rest.next())?);
                u8::try_from(high * 16 + low).ok()?
            }
            b'+' => b' ',
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::{Parameters, decoded};

    #[test]
    fn texts_are_decoded_or_refused() {
        assert_eq!(decoded("process%3A12+a").as_deref(), Some("process:12 a"));
        for wrong in ["%", "%4", "%zz", "%ff", "%+1"] {
            assert_eq!(decoded(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn parameters_are_known_and_stand_once() {
        let of = |query: &str| Parameters::of(&format!("/x?{query}").parse().unwrap(), &["a", "b"]);
        let found = of("a=1&b=").unwrap();
        assert_eq!((found.get("a"), found.get("b"), found.needed("b").is_err()), (Some("1"), None, true));
        assert!(of("c=1").is_err() && of("a=1&a=2").is_err() && of("a=%f").is_err());
    }
}
