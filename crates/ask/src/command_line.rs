//! Command lines that somebody may copy into a shell.

use std::borrow::Cow;
use std::path::Path;

use tracesift_extract::input::file_kind;

use crate::recording_label::path_text;

/// File names up to this length stand in a command line as they are.
const SHORT: usize = 36;
/// No pattern is shorter: few letters say little of a name.
const SHORTEST_PATTERN: usize = 6;

/// A word as a shell takes it. Double quotes are understood by every shell, so they are used wherever they suffice.
#[must_use]
pub fn quoted(word: &str) -> Cow<'_, str> {
    // PowerShell makes a list of words with commas between; cmd looks into words with a per cent sign.
    let signs = if cfg!(windows) { "-_./:=+" } else { "-_./:=,+%@" };
    let is_plain = |c: char| c.is_alphanumeric() || signs.contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        Cow::Borrowed(word)
    } else if cfg!(windows) {
        Cow::Owned(quoted_for_windows(word))
    } else if !word.contains(['"', '$', '`', '\\', '!']) {
        Cow::Owned(format!("\"{word}\""))
    } else {
        Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
    }
}

/// A word that neither cmd nor PowerShell can take for more than a word: names in recordings may be made to run commands. What both would
/// obey in double quotes becomes `?`, which patterns take for any character, unless the single quotes of PowerShell help.
fn quoted_for_windows(word: &str) -> String {
    // PowerShell takes quotation marks of print for its own.
    let ends_quotes = |c: char| c.is_control() || matches!(c, '"' | '\u{2018}'..='\u{201e}');
    let is_obeyed = |c: char| ends_quotes(c) || matches!(c, '$' | '`' | '%');
    if word.contains(is_obeyed) && !word.contains(|c: char| ends_quotes(c) || "&|<>^%".contains(c)) {
        return format!("'{}'", word.replace('\'', "''"));
    }
    let safe: String = word.chars().map(|c| if is_obeyed(c) { '?' } else { c }).collect();
    // A program takes a backslash in front of a quotation mark for a part of the word.
    let backslashes = safe.len() - safe.trim_end_matches('\\').len();
    format!("\"{safe}{}\"", "\\".repeat(backslashes))
}

/// The words as one line.
#[must_use]
pub fn line<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// How one would name a recording or archive on a command line: its path, or where its name is long a pattern that nothing else beside
/// it matches.
#[must_use]
pub fn short_name(path: &Path) -> String {
    let whole = path_text(path);
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if name.chars().count() <= SHORT {
        return whole;
    }
    let beside = path.parent().map(|parent| if parent.as_os_str().is_empty() { Path::new(".") } else { parent });
    let Some(entries) = beside.and_then(|beside| std::fs::read_dir(beside).ok()) else { return whole };
    let stem = file_kind::stem(&name).to_lowercase();
    // The archive of a recording and its packed form are the recording under other names.
    let others = entries.flatten().map(|entry| entry.file_name().to_string_lossy().to_lowercase());
    let others: Vec<String> =
        others.filter(|other| !other.starts_with('.') && file_kind::stem(other) != stem).collect();
    let length = stem.chars().count();
    let pattern = (SHORTEST_PATTERN..length).find_map(|letters| {
        let start: String = name.chars().take(letters).collect();
        let lower = start.to_lowercase();
        // A pattern that ends in the middle of a word or number says less than one that ends behind it.
        let ends_well = name.chars().nth(letters).is_none_or(|next| !next.is_alphanumeric());
        let is_plain = !start.contains(['*', '?', '[', ';', '!']);
        (ends_well && is_plain && !others.iter().any(|other| other.starts_with(&lower))).then_some(start)
    });
    let Some(pattern) = pattern else { return whole };
    let directory = whole.strip_suffix(&name).unwrap_or_default();
    format!("{directory}{pattern}*")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_as_shells_take_them() {
        assert_eq!(
            line(["tracesift", "dump", "cpu", "a b.sift", "-p", "a;b", ""]),
            r#"tracesift dump cpu "a b.sift" -p "a;b" """#
        );
        if cfg!(not(windows)) {
            assert_eq!(quoted("$HOME's"), r"'$HOME'\''s'");
        }
        assert_eq!(quoted("demo/x-1.sift"), "demo/x-1.sift");
    }

    #[test]
    fn neither_cmd_nor_powershell_obeys_a_word() {
        for (word, expected) in [
            ("a b", "\"a b\""),
            ("a&b|c", "\"a&b|c\""),
            (r"C:\a b\", r#""C:\a b\\""#),
            ("C:\\$x's", "'C:\\$x''s'"),
            ("%PATH%", "\"?PATH?\""),
            ("\" & calc & \"", "\"? & calc & ?\""),
            ("$(calc) & x", "\"?(calc) & x\""),
            ("a\u{201d}; calc\n", "\"a?; calc?\""),
        ] {
            assert_eq!(quoted_for_windows(word), expected, "{word}");
        }
    }

    #[test]
    fn long_names_become_patterns_that_match_nothing_else() {
        let directory = tempfile::TempDir::new().unwrap();
        let file = |name: &str| {
            let path = directory.path().join(name);
            std::fs::write(&path, "").unwrap();
            path
        };
        let first = file("CreateSerial_14527ms_TRACESIFT_CLT_20220404-102500.sift");
        file("CreateSerial_14527ms_TRACESIFT_CLT_20220404-102500.etl");
        assert!(short_name(&first).ends_with("/CreateSerial*"), "{}", short_name(&first));
        let second = file("CreateSerial_7066ms_TRACESIFT_CLT_20220404-103500.sift");
        assert!(short_name(&first).ends_with("/CreateSerial_14527ms*"), "{}", short_name(&first));
        assert!(short_name(&second).ends_with("/CreateSerial_7066ms*"));
        file("CreateSerial_7066ms_TRACESIFT_CLT_20220404-103500_2.sift");
        // Nothing tells it from the other but its end.
        assert_eq!(short_name(&second), path_text(&second));
        assert!(short_name(&directory.path().join("short.sift")).ends_with("/short.sift"));
    }
}
