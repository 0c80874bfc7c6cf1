//! Decorated names as people write them.

use std::borrow::Cow;

/// A function's name and argument list apart.
pub(crate) struct Undecorated<'a> {
    pub(crate) name: Cow<'a, str>,
    /// With its parentheses; `None` where the name does not say.
    pub(crate) arguments: Option<String>,
}

/// The name as people write it; names of C, and what is not understood, as they are.
pub(crate) fn undecorate(name: &str) -> Undecorated<'_> {
    Undecorated { name: Cow::Borrowed(name), arguments: None }
}
