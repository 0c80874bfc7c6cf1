//! Names in reports. They come out of recordings, so out of strangers' hands: each format escapes them by its own rules, here.

use super::cell::clean;

/// Longer names are cut: reports have a largest size.
const LONGEST: usize = 300;

/// A name as one line of plain text of a bounded length.
pub(super) fn line(text: &str) -> String {
    let text = clean(text);
    if text.chars().count() <= LONGEST {
        text.into_owned()
    } else {
        text.chars().take(LONGEST - 1).chain(['…']).collect()
    }
}

/// A name as one line that XML can have.
pub(super) fn xml_line(text: &str) -> String {
    line(text).replace(['\u{fffe}', '\u{ffff}'], "")
}

/// Text of a cell of a Markdown table, or of a paragraph: nothing in it is a mark.
pub(super) fn markdown(text: &str) -> String {
    let mut out = String::new();
    for c in line(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '(' | ')' | '#' | '|' | '~' | '!' | '$' | '{' | '}' | '@' => {
                out.push('\\');
                out.push(c);
            }
            // No link of an address.
            ':' => out.push_str("&#58;"),
            c => out.push(c),
        }
    }
    out
}

/// Lines as a block of code of Markdown: its fence is longer than any run of backticks in them.
pub(super) fn markdown_code(lines: &[String]) -> String {
    let runs = |line: &String| line.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(lines.iter().map(runs).max().unwrap_or(0).max(2) + 1);
    let lines: Vec<String> = lines.iter().map(|text| line(text)).collect();
    format!("{fence}text\n{}\n{fence}\n", lines.join("\n"))
}

/// The message of a workflow command of GitHub.
pub(super) fn github_message(text: &str) -> String {
    line(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property of a workflow command of GitHub.
pub(super) fn github_property(text: &str) -> String {
    github_message(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::{github_message, github_property, line, markdown, markdown_code};

    const HOSTILE: &str = "a]]>&\"<b>\u{1b}[31m\n::error::x|`c`\u{202e}[d](http://e) *f* $g$ 100%,\u{0}\u{ffff}";

    #[test]
    fn names_stay_text() {
        assert_eq!(line(HOSTILE), "a]]>&\"<b>[31m ::error::x|`c`[d](http://e) *f* $g$ 100%,\u{ffff}");
        let escaped = markdown(HOSTILE);
        assert!(
            escaped.contains("&lt;b&gt;") && escaped.contains("\\|\\`c\\`\\[d\\]\\(http&#58;//e\\) \\*f\\*"),
            "{escaped}"
        );
        assert!(!escaped.contains('\n'));
        assert_eq!(github_message("50 %\n::x"), "50 %25 ::x");
        assert_eq!(github_property("a,b::c%"), "a%2Cb%3A%3Ac%25");
        assert_eq!(line(&"x".repeat(1_000)).chars().count(), 300);
    }

    #[test]
    fn no_line_ends_a_block_of_code() {
        assert_eq!(markdown_code(&["a".to_owned(), "```` b".to_owned()]), "`````text\na\n```` b\n`````\n");
        assert_eq!(markdown_code(&["a\n```".to_owned()]), "````text\na ```\n````\n");
    }
}
