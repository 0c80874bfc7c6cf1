//! The lines of an answer: hits, their figures, and their density on the axis.

use serde_json::{Value, json};
use tracesift_analysis::timeline::Grid;
use tracesift_ask::tallies::Tally;

use crate::failure::Failure;
use crate::lane::Lane;
use crate::work::Pieces;

/// Bytes of lines that are sent together.
const PIECE: usize = 64 << 10;

/// A hit as the page gets it.
pub(super) fn hit(kind: &str, name: &str, lane: Option<&Lane>, words: &[&str]) -> Value {
    json!({ "kind": kind, "name": name, "lane": lane.map(ToString::to_string), "count": null, "time_ns": null,
        "first_ns": null, "last_ns": null, "words": words })
}

/// The figures of a hit that was sent without. `has_count`: whether it counts rows at all.
pub(super) fn figures(kind: &str, name: &str, tally: &Tally, has_count: bool) -> Value {
    let (first, last) = tally.seen.unzip();
    json!({ "figures": { "kind": kind, "name": name, "count": has_count.then_some(tally.count),
        "time_ns": tally.time, "first_ns": first, "last_ns": last } })
}

/// How dense a hit is, or all hits of the kind, and the command that has these numbers.
pub(super) fn density(
    kind: &str,
    name: Option<&str>,
    grid: &Grid,
    values: &[i64],
    words: Option<Vec<String>>,
) -> Value {
    json!({ "density": { "name": name, "kind": kind, "first_ns": grid.first(), "bucket_ns": grid.width(),
        "values": values, "words": words } })
}

/// Sends lines, many at once.
pub(super) fn send(lines: impl IntoIterator<Item = Value>, pieces: &mut Pieces) -> Result<(), Failure> {
    let mut piece = String::new();
    for line in lines {
        piece.push_str(&line.to_string());
        piece.push('\n');
        if piece.len() > PIECE {
            pieces.add(std::mem::take(&mut piece).into_bytes())?;
        }
    }
    if piece.is_empty() { Ok(()) } else { pieces.add(piece.into_bytes()) }
}

/// A pattern that fits a name: signs that patterns or terminals obey become the wildcard of one character.
pub(crate) fn exact(name: &str) -> String {
    let obeyed = |letter: char| matches!(letter, ';' | '*') || letter.is_control() || is_format(letter);
    let mut pattern: String = name.chars().map(|letter| if obeyed(letter) { '?' } else { letter }).collect();
    if let Some(first) = pattern.chars().next().filter(|first| matches!(first, '!' | '-') || first.is_whitespace()) {
        pattern.replace_range(..first.len_utf8(), "?");
    }
    if let Some(last) = pattern.chars().last().filter(|last| last.is_whitespace()) {
        pattern.truncate(pattern.len() - last.len_utf8());
        pattern.push('?');
    }
    pattern
}

/// Marks that have no form of their own, those of direction among them.
fn is_format(letter: char) -> bool {
    matches!(letter, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::exact;

    #[test]
    fn a_pattern_fits_the_name() {
        assert_eq!(exact("ntdll.dll!Rtl*"), "ntdll.dll!Rtl?");
        assert_eq!(exact("!a; b "), "?a? b?");
        assert_eq!(exact("-x"), "?x");
        assert_eq!(exact("a\u{202e}b\n"), "a?b?");
        assert_eq!(exact(""), "");
    }
}
