//! The choice of kinds, as people write it.

use super::Kind;

/// A text that chooses no kinds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{word}` is no kind of disturbance; write `default`, `none`, or a list of {}, where `!` in front leaves a kind out",
    Kind::ALL.map(Kind::word).join(", ")
)]
pub struct KindError {
    /// The word that is no kind.
    pub word: String,
}

/// The kinds of a text, in the order of the rules. As everywhere in lists of patterns, a list counts what
/// it names, or everything if it only leaves out.
pub(super) fn kinds(text: &str) -> Result<Vec<Kind>, KindError> {
    match text.trim() {
        "default" => return Ok(Kind::ALL.to_vec()),
        "none" => return Ok(Vec::new()),
        _ => {}
    }
    let (mut included, mut excluded) = (Vec::new(), Vec::new());
    for word in text.split(',').map(str::trim) {
        let (name, list) = match word.strip_prefix('!') {
            Some(name) => (name.trim_start(), &mut excluded),
            None => (word, &mut included),
        };
        list.push(Kind::of_word(name).ok_or_else(|| KindError { word: name.to_owned() })?);
    }
    let counts = |kind: &Kind| (included.is_empty() || included.contains(kind)) && !excluded.contains(kind);
    Ok(Kind::ALL.into_iter().filter(counts).collect())
}

#[cfg(test)]
mod tests {
    use super::{Kind, kinds};

    #[test]
    fn lists_are_in_the_order_of_the_rules() {
        assert_eq!(kinds(" default "), Ok(Kind::ALL.to_vec()));
        assert_eq!(kinds("none"), Ok(vec![]));
        assert_eq!(
            kinds("paging, CPU-Taken,antivirus,paging"),
            Ok(vec![Kind::Antivirus, Kind::Paging, Kind::CpuTaken])
        );
        assert_eq!(kinds("paging,antivirus,! paging"), Ok(vec![Kind::Antivirus]));
        let without = kinds("!antivirus").expect("a kind");
        assert!(without.len() == Kind::ALL.len() - 1 && !without.contains(&Kind::Antivirus));
        for kind in Kind::ALL {
            assert_eq!(kinds(kind.word()), Ok(vec![kind]));
        }
    }

    #[test]
    fn other_words_are_named() {
        for (text, word) in
            [("antivirus,virus", "virus"), ("", ""), ("paging,", ""), ("paging,none", "none"), ("!x", "x")]
        {
            assert_eq!(kinds(text).expect_err("no kind").word, word);
        }
        let message = kinds("virus").expect_err("no kind").to_string();
        assert!(
            message.starts_with("`virus` is no kind of disturbance; write `default`, `none`, or a list of unknown,")
        );
    }
}
