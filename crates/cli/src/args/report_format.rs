//! The formats of comparisons, histories and explanations.

use std::path::Path;

use clap::ValueEnum;

/// Format of an answer that can be a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// For people
    Table,
    /// One object: ns, ratios
    Json,
    /// A report with pictures, one file
    Html,
}

impl ReportFormat {
    /// The format that is named, else the one that the name of the file ends with.
    pub(crate) fn chosen(named: Option<Self>, file: Option<&Path>) -> Self {
        named.or_else(|| Self::of_file_name(file?)).unwrap_or(Self::Table)
    }

    /// The format that the name of a file says.
    pub(crate) fn of_file_name(file: &Path) -> Option<Self> {
        match file.extension()?.to_str()?.to_lowercase().as_str() {
            "json" => Some(Self::Json),
            "html" | "htm" => Some(Self::Html),
            _ => None,
        }
    }
}
