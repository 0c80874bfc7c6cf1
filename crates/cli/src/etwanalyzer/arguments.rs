//! ETWAnalyzer's arguments, one after the other.

/// The arguments that are left.
pub(super) struct Tokens<'a> {
    rest: std::slice::Iter<'a, String>,
}

impl<'a> Tokens<'a> {
    /// All arguments.
    pub(super) fn new(arguments: &'a [String]) -> Self {
        Self { rest: arguments.iter() }
    }

    /// The next argument.
    pub(super) fn next(&mut self) -> Option<&'a str> {
        self.rest.next().map(String::as_str)
    }

    /// The next argument, when it is a value and not a switch.
    pub(super) fn value(&mut self) -> Option<&'a str> {
        let next = self.rest.clone().next()?;
        if switch_name(next).is_some() { None } else { self.next() }
    }

    /// Passes over so many values, as far as they are there.
    pub(super) fn skip_values(&mut self, count: usize) {
        let mut left = count;
        while left > 0 && self.value().is_some() {
            left -= 1;
        }
    }
}

/// The name of a switch without its dash and in lower case; `None` for a value. `-5` and `-1.5s` are values: what begins with a
/// digit or a point after the dash is a number.
pub(super) fn switch_name(argument: &str) -> Option<String> {
    let name = argument.strip_prefix('-')?;
    name.starts_with(|c: char| c.is_ascii_alphabetic()).then(|| name.to_ascii_lowercase())
}
