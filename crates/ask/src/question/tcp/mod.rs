//! `dump tcp`: connections, their traffic, its rate, and what was lost on the way.

mod columns;
pub mod issues;
mod legacy;
mod limits;
mod names;
mod packets;
mod parts;
pub mod retransmits;
mod traffic;

use clap::Args;
use tracesift_analysis::Times;
use tracesift_archive::Error;
use tracesift_grammar::{TimeRange, parse_size};
use tracesift_trace::ProcessId;
use tracesift_trace::connections::protocols;
use tracesift_trace::rows::{ConnectionRow, NetworkIoRow};
use tracesift_trace::schema::{Row as _, TableDefinition};

pub(crate) use self::columns::{DATAGRAM_DIMENSIONS, DATAGRAM_LIST, DATAGRAM_MEASURES};
use self::columns::{DIMENSIONS, LIST, MEASURES};
use self::limits::{CONDITIONS, LIMITS};
pub(crate) use self::limits::{DATAGRAM_CONDITIONS, DATAGRAM_LIMITS};
pub(crate) use self::names::connections;
pub use self::packets::Order;
pub(crate) use self::parts::{life, of_ranges};
pub(crate) use self::traffic::Traffic;

use crate::answer::ColumnOf;
use crate::ask::When;
use crate::etwanalyzer::Legacy;
use crate::options::{Form, Plan, QuestionOptions};
use crate::order::Between;
use crate::recording::OpenRecording;
use crate::recording_label::RowSource;
use crate::table_question::{self, Condition, Dimension, Imported, Limit, Measure, TableQuestion};
use crate::usage_error::UsageError;

/// Connections of TCP.
#[derive(Clone, Copy, Debug)]
pub struct Tcp;

/// What is asked.
pub type Question = table_question::Question<Tcp>;

/// The options.
#[derive(Args, Debug)]
pub struct Options {
    #[command(flatten)]
    connections: table_question::Options<Tcp>,
    /// The retransmissions one by one; --sort delay or time
    #[arg(long, help_heading = "Rows", conflicts_with_all = ["by", "bucket", "list", "top-details"])]
    retransmits: bool,
    /// Smallest retransmission that --retransmits shows
    #[arg(long, help_heading = "Rows", value_name = "SIZE", value_parser = parse_size)]
    min_retransmit_size: Option<i64>,
    /// Largest retransmission that --retransmits shows
    #[arg(long, help_heading = "Rows", value_name = "SIZE", value_parser = parse_size)]
    max_retransmit_size: Option<i64>,
    /// Data that processes gave to the stack, and that was not sent in 10 ms, one by one; --sort delay or time
    #[arg(long, value_name = "KIND", num_args = 0..=1, default_missing_value = "post", value_parser = ["post"], help_heading = "Rows")]
    #[arg(conflicts_with_all = ["by", "bucket", "list", "top-details", "retransmits"])]
    issues: Option<String>,
}

/// The connections of one protocol.
impl TableQuestion for Tcp {
    type Row = ConnectionRow;

    const NAME: &'static str = "tcp";
    const WHAT: [&'static str; 2] = ["TCP connection", "TCP connections"];
    const SOURCE: RowSource = RowSource::both("Network", "Network");
    const MOST: &'static str = "most connections";
    const DIMENSIONS: &'static [Dimension<ConnectionRow>] = DIMENSIONS;
    const MEASURES: &'static [Measure<ConnectionRow>] = MEASURES;
    const LIMITS: &'static [Limit<ConnectionRow>] = LIMITS;
    const CONDITIONS: &'static [Condition<ConnectionRow>] = CONDITIONS;
    const LIST: &'static [ColumnOf<ConnectionRow>] = LIST;
    const BY: &'static [&'static str] = &["process", "connection"];
    const SORT: &'static str = "bytes";
    const IMPORTED: Imported = Imported::Whole;
    const SHORT: &'static [&'static str] = &["process", "time", "top", "by", "remote", "retransmits", "sort", "csv"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump tcp X.sift --top 10", "the connections with most data"),
        ("tracesift dump tcp X.sift --by process,host", "the hosts that each process talks to"),
        ("tracesift dump tcp X.sift --min-retransmits 1 --sort retransmits", "the connections that lost data"),
        ("tracesift dump tcp X.sift --retransmits --top 20", "the retransmissions with the longest delays"),
        ("tracesift dump tcp X.sift --retransmits --remote 10.0.0.7 --sort time", "those to a host, by time"),
        ("tracesift dump tcp X.sift --by process,stack --sort connections", "the code that opens connections"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] =
        &[&["--by=host"], &["--by=local-endpoint,end", "--time=1.."], &["--by=stack"]];
    const LEGACY: Option<Legacy> = Some(legacy::LEGACY);

    const PARTS: Option<&'static TableDefinition> = Some(NetworkIoRow::TABLE);
    const PARTS_IN_TIMES: bool = true;

    fn process(row: &ConnectionRow) -> Option<ProcessId> {
        row.process
    }

    fn times(row: &ConnectionRow) -> (i64, i64) {
        life(row)
    }

    fn is_asked(row: &ConnectionRow) -> bool {
        row.protocol == protocols::TCP
    }

    fn parts(
        recording: &OpenRecording,
        ranges: &[TimeRange],
        times: Option<&Times>,
    ) -> Result<Vec<Vec<ConnectionRow>>, Error> {
        of_ranges(recording, ranges, times)
    }
}

impl QuestionOptions for Options {
    const FORMS: &'static [Form] = &[
        Form::usual("tcp", Question::all_columns),
        Form {
            with: &[&["--list"]],
            title: "With `--list` a row is a single connection:\n\n",
            ..Form::usual("tcp", Question::list_columns)
        },
        Form {
            with: &[&["--retransmits"]],
            title: "With `--retransmits`:\n\n",
            ..Form::usual("tcp", retransmits::columns)
        },
        Form { with: &[&["--issues"]], title: "With `--issues`:\n\n", ..Form::usual("tcp", issues::columns) },
    ];
    const SHORT: &'static [&'static str] = Tcp::SHORT;
    const EXAMPLES: &'static [(&'static str, &'static str)] = Tcp::EXAMPLES;
    const VARIANTS: &'static [&'static [&'static str]] = Tcp::VARIANTS;
    const LEGACY: Option<Legacy> = Tcp::LEGACY;

    fn when(&self) -> When {
        self.connections.when()
    }

    fn plan(&self, warn: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        let size = Between { min: self.min_retransmit_size, max: self.max_retransmit_size };
        if !self.retransmits
            && let Some(option) = size.given(retransmits::SIZE).next()
        {
            return Err(UsageError::new(
                format!("{option} is about single retransmissions"),
                "`--retransmits` shows them; the rows of connections have `--min-retransmits` and `--max-retransmits`",
            ));
        }
        if !self.retransmits && self.issues.is_none() {
            return self.connections.plan(warn);
        }
        let word = self.connections.sorted_by();
        let order = Order::of_word(word).ok_or_else(|| {
            let message = format!("connections have the order {}, single packets do not", word.unwrap_or_default());
            UsageError::new(message, "`--sort delay` and `--sort time` are the orders of single packets")
        })?;
        let mut connections = self.connections.question();
        connections.tags = self.connections.load_tags(warn)?;
        connections.inside = self.connections.inside()?;
        if self.issues.is_some() {
            return Ok(Plan::from(issues::Question { connections, order }));
        }
        // The limits of a connection's longest delay are those of each retransmission here.
        let delay = connections.take_limits(retransmits::DELAY[0]);
        Ok(Plan::from(retransmits::Question { connections, delay, size, order }))
    }

    #[cfg(test)]
    fn check_rows() {
        table_question::Options::<Tcp>::check_rows();
    }
}
