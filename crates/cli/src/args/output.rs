//! Options for the output of answers.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use tracesift_ask::time_format::{TimeFormat, TimeStyle};

/// Format and place of an answer.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Format of the answer [default: what the name of the file says, else table]
    #[arg(long, value_name = "FORMAT", conflicts_with = "csv")]
    pub(crate) format: Option<Format>,

    /// Write CSV to a file
    #[arg(long, value_name = "FILE", conflicts_with = "out")]
    pub(crate) csv: Option<PathBuf>,

    /// Write the answer to a file; its name tells the format: .csv, .json, .jsonl, .parquet
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,

    /// Make each object of this list a row of CSV or Parquet, with the columns of its row repeated: chain, wakers, counts …
    #[arg(long, value_name = "COLUMN")]
    pub(crate) explode: Option<String>,

    /// Show more columns in a table
    #[arg(long)]
    pub(crate) details: bool,

    /// Show exactly these columns: 'cpu_ns;method'; or change what is shown: '!priority;+switches'
    #[arg(long, value_name = "NAMES", default_value = "", hide_default_value = true)]
    pub(crate) columns: String,

    /// Columns of a table that goes to no terminal, as the demo shows it
    #[arg(long, value_name = "N", hide = true)]
    pub(crate) width: Option<usize>,

    /// Show all columns and names whole, however wide the terminal is
    #[arg(long)]
    pub(crate) wide: bool,

    /// Leave out command lines in a table
    #[arg(long)]
    pub(crate) no_cmdline: bool,

    /// End with exit code 1 if nothing is found
    #[arg(long)]
    pub(crate) fail_if_empty: bool,

    /// How a table shows times
    #[arg(long, value_name = "FORMAT", default_value = "s")]
    pub(crate) time_format: TimeFormat,

    /// Digits of the second's fraction in a table
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(0..=9))]
    pub(crate) time_digits: u8,
}

impl OutputArgs {
    /// The format; where none is named, the one that the name of the file ends with. Else it is a table, on a terminal or not.
    pub(crate) fn format(&self) -> Format {
        let by_name = || Format::of_file_name(self.out.as_ref()?);
        let of_csv = || self.csv.is_some().then_some(Format::Csv);
        self.format.or_else(of_csv).or_else(by_name).unwrap_or(Format::Table)
    }

    /// How instants are shown.
    pub(crate) fn time_style(&self) -> TimeStyle {
        TimeStyle { format: self.time_format, digits: self.time_digits }
    }
}

/// Format of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Table,
    /// RFC 4180, raw units
    Csv,
    /// One array, raw units
    Json,
    /// One object per line, raw units
    Jsonl,
    /// A Parquet file, raw units
    Parquet,
}

impl Format {
    /// The format that the name of a file says.
    pub(crate) fn of_file_name(file: &Path) -> Option<Self> {
        let extension = file.extension()?.to_str()?.to_lowercase();
        Some(match extension.as_str() {
            "csv" => Self::Csv,
            "json" => Self::Json,
            "jsonl" | "ndjson" => Self::Jsonl,
            "parquet" => Self::Parquet,
            _ => return None,
        })
    }
}
