//! Cutting long names: `--cut-method 10-40`, `--cut-method -60`.

use std::str::FromStr;

/// Which part of a name is shown. Nothing but tables is cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LabelCut {
    /// All of it.
    #[default]
    Whole,
    /// Without so many characters at its start, then so many.
    Part {
        /// Characters left out.
        skip: usize,
        /// Characters shown.
        take: usize,
    },
    /// So many characters at its end.
    End(usize),
}

impl LabelCut {
    /// The part of a name; `...` stands for a start that is left out.
    #[must_use]
    pub fn apply(self, name: &str) -> String {
        let length = name.chars().count();
        match self {
            Self::Whole => name.to_owned(),
            Self::Part { skip, take } => name.chars().skip(skip).take(take).collect(),
            Self::End(take) if take < length => {
                let end: String = name.chars().skip(length - take).collect();
                format!("...{end}")
            }
            Self::End(_) => name.to_owned(),
        }
    }
}

/// A text that is no cut.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` cuts nothing; write 10-40 (leave out 10 characters, show 40) or -60 (the last 60)")]
pub struct LabelCutError(String);

impl FromStr for LabelCut {
    type Err = LabelCutError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let cut = |text: &str| -> Option<Self> {
            let (skip, take) = text.trim().split_once('-')?;
            let take = take.parse().ok()?;
            Some(if skip.is_empty() { Self::End(take) } else { Self::Part { skip: skip.parse().ok()?, take } })
        };
        cut(text).ok_or_else(|| LabelCutError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::LabelCut;

    #[test]
    fn parts_and_ends() {
        let cut = |cut: &str| cut.parse::<LabelCut>().map(|cut| cut.apply("ntdll.dll!RtlÄb"));
        assert_eq!(cut("10-3").as_deref(), Ok("Rtl"));
        assert_eq!(cut("0-5").as_deref(), Ok("ntdll"));
        assert_eq!(cut("-5").as_deref(), Ok("...RtlÄb"));
        assert_eq!(cut("-99").as_deref(), Ok("ntdll.dll!RtlÄb"));
        assert_eq!(cut("40-3").as_deref(), Ok(""));
        assert!(cut("12").is_err() && cut("a-b").is_err() && cut("-").is_err());
    }
}
