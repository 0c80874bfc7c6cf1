//! Names as people write them, from names as linkers see them.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use cpp_demangle::{BorrowedSymbol, DemangleOptions};

use crate::names::split;

/// Longer names are not taken apart: few are longer, and short ones can stand for texts of any length.
const MAX_MANGLED: usize = 16 << 10;
/// Bytes of a name. What would become longer stays as it is.
const MAX_TEXT: usize = 64 << 10;

/// The name of a function with its arguments, without its return type; Rust's without hashes. Names that are not mangled, or not in
/// a way that is known, as they are.
#[must_use]
pub fn demangle(name: &str) -> Cow<'_, str> {
    let text = if name.len() > MAX_MANGLED { None } else { rust(name).or_else(|| cpp(name)) };
    text.map_or(Cow::Borrowed(name), Cow::Owned)
}

/// A name that a program gave to its JIT code, in two: function and arguments where it is mangled; all others, in whose languages parentheses and
/// colons mean other things, stay whole.
pub(crate) fn split_if_mangled<T>(name: &str, with: impl FnOnce(&str, Option<&str>) -> T) -> T {
    match demangle(name) {
        Cow::Owned(name) => {
            let (function, arguments) = split(&name);
            with(function, arguments)
        }
        Cow::Borrowed(name) => with(name, None),
    }
}

fn rust(name: &str) -> Option<String> {
    let mut text = Limited::default();
    // `{:#}` leaves the hash out. Names of C++ have none and are refused.
    write!(text, "{:#}", rustc_demangle::try_demangle(name).ok()?).ok()?;
    Some(text.0)
}

fn cpp(name: &str) -> Option<String> {
    if !name.starts_with("_Z") && !name.starts_with("__Z") {
        return None;
    }
    // Linkers add versions: `_Zli4@@V_1`.
    let (mangled, version) = name.split_at(name.find('@').unwrap_or(name.len()));
    let (symbol, rest) = BorrowedSymbol::with_tail(mangled.as_bytes()).ok()?;
    let mut text = Limited::default();
    let options = DemangleOptions::new().no_return_type();
    symbol.structured_demangle(&mut text, &options).ok()?;
    let rest = str::from_utf8(rest).ok()?;
    if !rest.is_empty() && !rest.starts_with('.') {
        return None;
    }
    if !rest.is_empty() {
        write!(text, " [clone {rest}]").ok()?;
    }
    text.write_str(version).ok()?;
    Some(text.0)
}

#[derive(Default)]
struct Limited(String);

impl fmt::Write for Limited {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > MAX_TEXT {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::demangle;
    use crate::names::split;

    #[test]
    fn names_are_as_people_write_them() {
        for (mangled, function, arguments) in [
            ("main", "main", None),
            ("memcpy@GLIBC_2.2.5", "memcpy@GLIBC_2.2.5", None),
            ("_Z1fi", "f", Some("(int)")),
            ("_ZN1A1gIiEEvT_", "A::g<int>", Some("(int)")),
            ("_ZNK1A1hEv", "A::h", Some("() const")),
            ("_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()", Some("() const")),
            ("_Z1fi.cold", "f", Some("(int) [clone .cold]")),
            ("_Z1fi.part.0.constprop.1", "f", Some("(int) [clone .part.0] [clone .constprop.1]")),
            ("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad", None),
            ("_RNvCs1234_7mycrate3foo", "mycrate::foo", None),
            ("_Znothing", "_Znothing", None),
            ("_Zli4", "_Zli4", None),
        ] {
            let text = demangle(mangled);
            assert_eq!(split(&text), (function, arguments), "{mangled} is {text}");
        }
    }

    #[test]
    fn names_that_stand_for_endless_texts_stay_as_they_are() {
        // Each substitution is a pair of the one before.
        let mut name = "_Z1f4pairIiiE".to_owned();
        for number in 0..60_u32 {
            let number = char::from_digit(number % 36, 36).map(|digit| digit.to_ascii_uppercase());
            let number = number.filter(|_| name.len() > 13).map(String::from).unwrap_or_default();
            name.push_str(&format!("4pairIS{number}_S{number}_E"));
        }
        assert!(demangle(&name).len() <= super::MAX_TEXT);
        let deep = format!("_Z1f{}i", "P".repeat(5000));
        assert!(demangle(&deep).len() <= super::MAX_TEXT);
    }
}
