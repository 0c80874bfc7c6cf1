//! `dump udp`: datagrams between two ends.

use tracesift_analysis::Times;
use tracesift_archive::Error;
use tracesift_grammar::TimeRange;
use tracesift_trace::ProcessId;
use tracesift_trace::connections::protocols;
use tracesift_trace::rows::{ConnectionRow, NetworkIoRow};
use tracesift_trace::schema::{ColumnSet, Row as _, TableDefinition};

use crate::answer::ColumnOf;
use crate::question::tcp::{
    DATAGRAM_CONDITIONS, DATAGRAM_DIMENSIONS, DATAGRAM_LIMITS, DATAGRAM_LIST, DATAGRAM_MEASURES, life, of_ranges,
};
use crate::recording::OpenRecording;
use crate::recording_label::RowSource;
use crate::table_question::{self, Condition, Dimension, Limit, Measure, TableQuestion};

/// Traffic of UDP.
#[derive(Clone, Copy, Debug)]
pub struct Udp;

/// What is asked.
pub type Question = table_question::Question<Udp>;

/// The options.
pub type Options = table_question::Options<Udp>;

impl TableQuestion for Udp {
    type Row = ConnectionRow;

    const NAME: &'static str = "udp";
    const WHAT: [&'static str; 2] = ["UDP connection", "UDP connections"];
    // Names of hosts come from look-ups, and figures of a part from single datagrams.
    const READS: Option<&'static [&'static str]> = Some(&["connections", "dns_queries", NetworkIoRow::TABLE.name]);
    const SOURCE: RowSource = RowSource::both("Network", "Network");
    const MOST: &'static str = "most connections";
    const DIMENSIONS: &'static [Dimension<ConnectionRow>] = DATAGRAM_DIMENSIONS;
    const MEASURES: &'static [Measure<ConnectionRow>] = DATAGRAM_MEASURES;
    const LIMITS: &'static [Limit<ConnectionRow>] = DATAGRAM_LIMITS;
    const CONDITIONS: &'static [Condition<ConnectionRow>] = DATAGRAM_CONDITIONS;
    const LIST: &'static [ColumnOf<ConnectionRow>] = DATAGRAM_LIST;
    const BY: &'static [&'static str] = &["process", "connection"];
    const SORT: &'static str = "bytes";
    const SHORT: &'static [&'static str] = &["process", "time", "top", "by", "remote", "remote-port", "sort", "csv"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump udp X.sift --top 10", "the ends with most data"),
        ("tracesift dump udp X.sift --by process", "the processes that use UDP"),
        ("tracesift dump udp X.sift --by remote-port --sort packets", "the services"),
    ];

    const COLUMNS: ColumnSet<ConnectionRow> = ColumnSet::of(&[
        "connection",
        "process",
        "protocol",
        "stack",
        "local",
        "local_port",
        "remote",
        "remote_port",
        "tcb",
        "start",
        "end",
        "sent",
        "received",
        "send_events",
        "receive_events",
        "send_rate",
        "receive_rate",
        "last_sent",
        "last_received",
        "max_send_gap",
        "max_receive_gap",
    ]);

    const PARTS: Option<&'static TableDefinition> = Some(NetworkIoRow::TABLE);
    const PARTS_IN_TIMES: bool = true;

    fn process(row: &ConnectionRow) -> Option<ProcessId> {
        row.process
    }

    fn times(row: &ConnectionRow) -> (i64, i64) {
        life(row)
    }

    fn is_asked(row: &ConnectionRow) -> bool {
        row.protocol == protocols::UDP
    }

    fn parts(
        recording: &OpenRecording,
        ranges: &[TimeRange],
        times: Option<&Times>,
    ) -> Result<Vec<Vec<ConnectionRow>>, Error> {
        of_ranges(recording, ranges, times)
    }
}
