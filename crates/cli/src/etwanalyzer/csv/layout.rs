//! The CSV file that a command line asks for.

use clap::ValueEnum as _;
use tracesift_ask::time_format::{TimeFormat, TimeStyle};

/// How the file looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The command line.
    pub(crate) options: String,
    /// Whether the first line names the separator.
    pub(crate) separator_line: bool,
    /// Format of times of processes.
    pub(super) times: TimeStyle,
    /// Format of the first time of a method.
    pub(super) first: TimeStyle,
    /// Format of the last time of a method.
    pub(super) last: TimeStyle,
    /// Whether times are counted from a landmark.
    pub(super) shifted: bool,
    /// How many parts of a path a directory has; 0: rows of drives.
    level: String,
}

impl Layout {
    /// That of a command line in our words. `last` is the second format of `-fld`, which we have no word for.
    pub(in crate::etwanalyzer) fn new(
        options: String,
        separator_line: bool,
        words: &[String],
        last: Option<&str>,
    ) -> Self {
        let value = |option: &str| {
            let mut values = words.iter().filter_map(|word| word.strip_prefix(option)?.strip_prefix('='));
            values.next_back().map(str::to_owned)
        };
        let digits = value("--time-digits").and_then(|digits| digits.parse().ok()).unwrap_or(3);
        let style = |name: Option<&str>, otherwise: TimeFormat| {
            let format = name.and_then(|name| TimeFormat::from_str(name, true).ok());
            TimeStyle { format: format.unwrap_or(otherwise), digits }
        };
        let first = value("--first-last");
        Self {
            options,
            separator_line,
            times: style(value("--time-format").as_deref(), TimeFormat::Local),
            first: style(first.as_deref(), TimeFormat::Seconds),
            last: style(last, TimeFormat::Seconds),
            shifted: value("--zero-time").is_some(),
            level: value("--dir-level").unwrap_or_else(|| "0".to_owned()),
        }
    }

    /// The name of a column, with the formats of times where it has them.
    pub(super) fn name(&self, name: &str) -> String {
        let name = name.replace("{first}", &self.abbreviated(self.first)).replace("{level}", &self.level);
        name.replace("{last}", &self.abbreviated(self.last))
    }

    fn abbreviated(&self, style: TimeStyle) -> String {
        let name = match style.format {
            TimeFormat::Seconds => "s",
            TimeFormat::Local | TimeFormat::LocalTime => "Local",
            TimeFormat::Utc | TimeFormat::UtcTime => "UTC",
            TimeFormat::Here | TimeFormat::HereTime => "Here",
        };
        format!("{name}{}", if self.shifted { "*" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::Layout;

    #[test]
    fn times_have_their_format_in_the_name() {
        let words = ["--first-last=local-time", "--zero-time=first:*"].map(str::to_owned);
        let layout = Layout::new(String::new(), true, &words, Some("utc"));
        assert_eq!(layout.name("First Call time in {first}"), "First Call time in Local*");
        assert_eq!(layout.name("Last Call time in {last}"), "Last Call time in UTC*");
        assert_eq!(Layout::new(String::new(), true, &[], None).name("{first}"), "s");
    }
}
