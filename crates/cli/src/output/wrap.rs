//! Lines of words for a terminal.

use super::cell;

/// The text in lines of at most `width` columns, the second and all further ones with an indent. Breaks at blanks; a word that is wider than a
/// line loses its middle. Without a width it is one line.
pub(crate) fn wrapped(text: &str, indent: usize, width: Option<usize>) -> Vec<String> {
    let Some(width) = width.filter(|width| cell::width(text) > *width) else { return vec![text.to_owned()] };
    let indent = indent.min(width / 2);
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    // Blanks in front belong to the text.
    let lead = text.len() - text.trim_start().len();
    line.push_str(text.get(..lead.min(width / 2)).unwrap_or_default());
    used += cell::width(&line);
    let mut is_empty = true;
    for (place, word) in text.trim_start().split(' ').enumerate() {
        let gap = usize::from(place > 0);
        if used + gap + cell::width(word) > width && !is_empty {
            lines.push(std::mem::take(&mut line).trim_end().to_owned());
            line = " ".repeat(indent);
            used = indent;
            is_empty = true;
            if word.is_empty() {
                continue;
            }
        }
        if !is_empty {
            line.push(' ');
            used += 1;
        }
        let word = cell::cut_middle(word, width.saturating_sub(used));
        used += cell::width(&word);
        line.push_str(&word);
        is_empty = false;
    }
    if !is_empty {
        lines.push(line.trim_end().to_owned());
    }
    lines
}

/// Adds a text for people in lines of at most 100 columns, without control characters.
pub(crate) fn add_wrapped(text: &mut String, indent: usize, more: &str) {
    for line in wrapped(&cell::clean(more), indent, Some(100)) {
        text.push_str(&line);
        text.push('\n');
    }
}

/// A message with line ends where it would be wider than `width` columns, of which `used` are taken in the first line. Breaks at blanks and
/// cuts nothing; a command between backticks stays on one line, so that it can be copied.
pub(crate) fn message(text: &str, used: usize, width: usize) -> String {
    const INDENT: usize = 4;
    let mut is_command = false;
    let words = text.split(|c| {
        is_command ^= c == '`';
        c == ' ' && !is_command
    });
    let mut lines = String::with_capacity(text.len() + 16);
    let mut used = used;
    for (place, word) in words.enumerate() {
        let columns = cell::width(word);
        if place > 0 && used + 1 + columns > width {
            lines.push('\n');
            lines.push_str(&" ".repeat(INDENT));
            used = INDENT;
        } else if place > 0 {
            lines.push(' ');
            used += 1;
        }
        lines.push_str(word);
        used += columns;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::{message, wrapped};

    #[test]
    fn a_message_breaks_at_blanks_and_never_within_a_command() {
        assert_eq!(message("one two three", 6, 20), "one two three");
        assert_eq!(message("one two three", 6, 18), "one two\n    three");
        assert_eq!(message("one `two three four` five", 6, 12), "one\n    `two three four`\n    five");
        assert_eq!(message("0123456789", 6, 8), "0123456789");
    }

    #[test]
    fn breaks_at_blanks_and_cuts_long_words() {
        assert_eq!(wrapped("one two  three", 2, Some(20)), ["one two  three"]);
        assert_eq!(wrapped("one two three four", 2, Some(9)), ["one two", "  three", "  four"]);
        assert_eq!(wrapped("  one two", 4, Some(6)), ["  one", "   two"]);
        assert_eq!(wrapped("a 0123456789012345 b", 0, Some(10)), ["a", "012…012345", "b"]);
        assert_eq!(wrapped("one two", 2, None), ["one two"]);
    }

    #[test]
    fn no_line_is_wider() {
        for width in 1..60 {
            for line in wrapped("  a file-name-that-is-long.sift  CPU 12.0 ms, wait 1,000.0 ms", 4, Some(width)) {
                assert!(super::cell::width(&line) <= width, "{width}: {line}");
            }
        }
    }
}
