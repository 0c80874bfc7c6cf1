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

/// A name of C without what compilers for x86 add for each calling convention: `_name`, `_name@8`, `@name@8`, `name@@16`.
pub(crate) fn c_name(name: &str) -> &str {
    if name.starts_with('?') {
        return name;
    }
    let (bare, digits) = name.rsplit_once('@').unwrap_or((name, ""));
    let counted = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let bare = match bare.strip_suffix('@') {
        Some(vector) if counted => return vector,
        _ if counted => bare,
        _ => name,
    };
    let prefix = if counted { bare.strip_prefix(['_', '@']) } else { bare.strip_prefix('_') };
    prefix.filter(|name| !name.is_empty()).unwrap_or(name)
}
