//! `dump tcp`: connections, their traffic, its rate, and what was lost on the way.

mod columns;
pub mod issues;
mod names;
mod packets;
mod parts;
pub mod retransmits;
mod traffic;

use clap::Args;
use tracesift_archive::Error;
use tracesift_grammar::TimeRange;
use tracesift_trace::ProcessId;
use tracesift_trace::connections::protocols;
use tracesift_trace::rows::{ConnectionRow, NetworkIoRow};
use tracesift_trace::schema::{Row as _, TableDefinition};

pub(crate) use self::columns::{CONDITIONS, DATAGRAM_MEASURES, DIMENSIONS, LIMITS, LIST, MEASURES};
pub(crate) use self::parts::{of_ranges, times};
pub(crate) use self::traffic::Traffic;

use crate::answer::ColumnOf;
use crate::ask::When;
use crate::etwanalyzer::{Legacy, To, switch};
use crate::options::{Form, Plan, QuestionOptions};
use crate::recording::OpenRecording;
use crate::recording_label::RowSource;
use crate::table_question::{self, Condition, Dimension, Limit, Measure, TableQuestion};
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
    /// The retransmissions one by one
    #[arg(long, help_heading = "Rows", conflicts_with_all = ["by", "bucket", "sort", "list", "top-details", "open", "reset", "keep-alive"])]
    #[arg(conflicts_with_all = ["connection", "local", "local-endpoint", "local-port", "remote", "remote-endpoint", "remote-port"])]
    #[arg(conflicts_with_all = ["tcb", "end", "host", "template"])]
    retransmits: bool,
    /// Data that processes gave to the stack, and that was not sent in 10 ms, one by one
    #[arg(long, value_name = "KIND", num_args = 0..=1, default_missing_value = "post", value_parser = ["post"], help_heading = "Rows")]
    #[arg(conflicts_with_all = ["by", "bucket", "sort", "list", "top-details", "open", "reset", "keep-alive", "retransmits"])]
    #[arg(conflicts_with_all = ["connection", "local", "local-endpoint", "local-port", "remote", "remote-endpoint", "remote-port"])]
    #[arg(conflicts_with_all = ["tcb", "end", "host", "template"])]
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
    const SHORT: &'static [&'static str] = &["process", "time", "top", "by", "remote", "retransmits", "sort", "csv"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump tcp X.sift --top 10", "the connections with most data"),
        ("tracesift dump tcp X.sift --by process,host", "the hosts that each process talks to"),
        ("tracesift dump tcp X.sift --min-retransmits 1 --sort retransmits", "the connections that lost data"),
        ("tracesift dump tcp X.sift --retransmits --top 20", "the retransmissions with the longest delays"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] = &[&["--by=host"], &["--by=local-endpoint,end", "--time=1.."]];
    const LEGACY: Option<Legacy> = Some(LEGACY);

    const PARTS: Option<&'static TableDefinition> = Some(NetworkIoRow::TABLE);

    fn process(row: &ConnectionRow) -> Option<ProcessId> {
        row.process
    }

    fn times(row: &ConnectionRow) -> (i64, i64) {
        times(row)
    }

    fn is_asked(row: &ConnectionRow) -> bool {
        row.protocol == protocols::TCP
    }

    fn parts(recording: &OpenRecording, ranges: &[TimeRange]) -> Result<Vec<Vec<ConnectionRow>>, Error> {
        of_ranges(recording, ranges)
    }
}

const LEGACY: Legacy = Legacy {
    name: "tcp",
    switches: &[
        switch(&["ipport"], To::Value("--connection")),
        switch(&["sourceipport"], To::Value("--local-endpoint")),
        switch(&["remoteipport"], To::Value("--remote-endpoint")),
        switch(&["tcb"], To::Value("--tcb")),
        switch(&["minmaxretransdelayms"], To::Range("--min-retransmit-delay", "--max-retransmit-delay", "ms")),
        switch(&["minmaxretransbytes"], To::Missing("limits of the size of retransmissions")),
        switch(&["minmaxretranscount"], To::Range("--min-retransmits", "--max-retransmits", "")),
        switch(&["minmaxsentbytes"], To::Range("--min-sent", "--max-sent", "")),
        switch(&["minmaxreceivedbytes"], To::Range("--min-received", "--max-received", "")),
        switch(&["minmaxbytes"], To::Range("--min-bytes", "--max-bytes", "")),
        switch(&["minmaxsentpackets"], To::Range("--min-sent-packets", "--max-sent-packets", "")),
        switch(&["minmaxreceivedpackets"], To::Range("--min-received-packets", "--max-received-packets", "")),
        switch(&["minmaxpackets"], To::Range("--min-packets", "--max-packets", "")),
        switch(&["minmaxconnectiondurations"], To::Range("--min-duration", "--max-duration", "s")),
        switch(&["minmaxsendmbs"], To::Range("--min-send-rate", "--max-send-rate", "MiB")),
        switch(&["minmaxrecmbs", "minmaxreceivembs"], To::Range("--min-receive-rate", "--max-receive-rate", "MiB")),
        switch(&["minmaxpost"], To::Range("--min-posted", "--max-posted", "")),
        switch(&["minmaxinject"], To::Missing("the number of injected sends")),
        switch(
            &["minmaxsentdelays", "minmaxsenddelay", "minmaxsenddelays"],
            To::Range("--min-send-gap", "--max-send-gap", "s"),
        ),
        switch(
            &["minmaxreceivedelays", "minmaxreceivedelay"],
            To::Range("--min-receive-gap", "--max-receive-gap", "s"),
        ),
        switch(&["minmaxstatbytesin"], To::Range("--min-stat-in", "--max-stat-in", "")),
        switch(&["minmaxstatbytesout"], To::Range("--min-stat-out", "--max-stat-out", "")),
        switch(&["minmaxconnect"], To::Missing("limits of the time of the request")),
        switch(&["minmaxdisconnect"], To::Missing("limits of the time of the end")),
        switch(&["keepalive"], To::Flag("--keep-alive")),
        switch(&["reset"], To::Flag("--end=send timed out")),
        switch(&["onlyclientretransmit"], To::Flag("--min-client-retransmits=1")),
        switch(&["issue"], To::Optional("--issues", &[("Post", "post")])),
        switch(&["stats"], To::Columns("+stat_bytes_in,+stat_bytes_out,+stat_segments_in,+stat_segments_out", "")),
        switch(&["showretransmit"], To::Flag("--retransmits")),
        switch(&["topnretrans"], To::Missing("the largest retransmissions of each connection")),
        switch(&["sortretransmitby"], To::Missing("the order of retransmissions below connections")),
        switch(
            &["groupby"],
            To::Word(
                "--by",
                &[("SourceIpPortRemoteIp", "local,local-port,remote"), ("SourceIpRemoteIp", "local,remote")],
            ),
        ),
        switch(
            &["sortby"],
            To::Word(
                "--sort",
                &[
                    ("ReceivedSize", "received"),
                    ("ReceivedCount", "received-packets"),
                    ("SentSize", "sent"),
                    ("SentCount", "sent-packets"),
                    ("TotalCount", "packets"),
                    ("TotalSize", "bytes"),
                    ("ConnectTime", "start"),
                    ("DisconnectTime", "end"),
                    ("ClientResetTime", "reset"),
                    ("RetransmissionCount", "retransmits"),
                    ("RetransmissionTime", "retransmit-delay"),
                    ("MaxRetransmissionTime", "max-retransmit-delay"),
                    ("LastReceivedTime", "last-received"),
                    ("LastSentTime", "last-sent"),
                    ("SendRate", "send-rate"),
                    ("ReceiveRate", "receive-rate"),
                    ("Post", "posted"),
                ],
            ),
        ),
    ],
};

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
        if self.issues.is_some() {
            let question = self.connections.question();
            return Ok(Plan::from(issues::Question {
                filter: question.filter.clone(),
                time: TimeRange::default(),
                top: question.top,
            }));
        }
        if !self.retransmits {
            return self.connections.plan(warn);
        }
        let question = self.connections.question();
        Ok(Plan::from(retransmits::Question {
            filter: question.filter.clone(),
            time: TimeRange::default(),
            top: question.top,
        }))
    }

    #[cfg(test)]
    fn check_rows() {
        table_question::Options::<Tcp>::check_rows();
    }
}
