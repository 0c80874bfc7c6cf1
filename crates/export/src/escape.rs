//! Names come out of recordings, so out of strangers' hands. Every format escapes them by its own rules, here.

use std::borrow::Cow;

/// True for characters that change how the text around them is shown: controls, and those that turn the direction of writing,
/// with which a name could pass for another one.
fn is_disruptive(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// The text with each disruptive character replaced, so that it is one line of plain text.
#[must_use]
pub fn plain(text: &str) -> Cow<'_, str> {
    if text.contains(is_disruptive) {
        Cow::Owned(text.chars().map(|c| if is_disruptive(c) { '\u{fffd}' } else { c }).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// Appends text for the content of an XML element or an attribute in double quotes.
pub fn push_xml(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if is_disruptive(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
}

/// The text as a frame of a folded stack. That format knows no escapes: `;` ends a frame and a line break the stack.
pub(crate) fn push_folded(out: &mut String, text: &str) {
    if text.is_empty() {
        out.push_str("[unknown]");
    }
    out.extend(text.chars().map(|c| match c {
        ';' => ':',
        c if is_disruptive(c) => ' ',
        c => c,
    }));
}

/// The text cut to `limit` characters, the last of which then is an ellipsis.
#[must_use]
pub fn shorten(text: &str, limit: usize) -> Cow<'_, str> {
    match text.char_indices().nth(limit) {
        None => Cow::Borrowed(text),
        Some(_) => Cow::Owned(text.chars().take(limit.saturating_sub(1)).chain(['…']).collect()),
    }
}
