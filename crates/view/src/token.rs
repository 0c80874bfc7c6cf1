//! The secret that the page shows with each request.

use subtle::ConstantTimeEq as _;

/// Bytes of a token.
const BYTES: usize = 32;

/// 256 random bits, new at each start.
#[derive(Clone)]
pub(crate) struct Token(String);

impl Token {
    /// A new one.
    pub(crate) fn new() -> Result<Self, getrandom::Error> {
        let mut bytes = [0_u8; BYTES];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// 64 hex digits.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// Whether a text is the token. It takes the same time whatever the text has in common with it.
    pub(crate) fn is(&self, text: &[u8]) -> bool {
        self.0.as_bytes().ct_eq(text).into()
    }
}

#[cfg(test)]
mod tests {
    use super::Token;

    #[test]
    fn tokens_differ_and_know_themselves() {
        let (a, b) = (Token::new().unwrap(), Token::new().unwrap());
        assert!(a.text().len() == 64 && a.text().bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert!(a.is(a.text().as_bytes()) && !a.is(b.text().as_bytes()));
        assert!(!a.is(&a.text().as_bytes()[..63]) && !a.is(b"") && !a.is(format!("{}0", a.text()).as_bytes()));
        assert!(!a.is(a.text().to_uppercase().as_bytes()) || a.text().bytes().all(|byte| byte.is_ascii_digit()));
    }
}
