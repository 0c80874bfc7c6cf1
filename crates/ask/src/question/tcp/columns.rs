//! Dimensions and measures of connections.

use tracesift_trace::rows::{ConnectionRow, connection_ends as ends};

use super::names;
use crate::answer::{ColumnOf, Kind};
use crate::table_question::{Dimension, Measure};
use crate::words::numbered;

type Row = ConnectionRow;

const OF_CONNECTION: Dimension<Row> = Dimension::named_row("connection", "Connection", names::number, names::connections)
    .meaning("Both endpoints as `address:port address:port`, the local one first. Later connections with the same endpoints have rows of their own.")
    .with_number("connection_id", "Connection id", "Row of the connection in the table `connections`.")
    .filtered("--connection", ["connection", "connections"], "Only connections with such endpoints: '*:443' or '10.0.0.1:* *'");
const OF_LOCAL: Dimension<Row> = Dimension::text("local", "Local", |row: &Row| row.local.as_deref())
    .meaning("Address of this machine.")
    .filtered("--local", ["address", "addresses"], "Only connections with these local addresses")
    .coarse();
const OF_LOCAL_PORT: Dimension<Row> =
    Dimension::words("local-port", "Local port", |row: &Row| row.local_port.map(i64::from), port)
        .meaning("Port of this machine.")
        .filtered("--local-port", ["port", "ports"], "Only connections with these local ports")
        .coarse();
const OF_LOCAL_ENDPOINT: Dimension<Row> =
    Dimension::named_row("local-endpoint", "Local end", names::number, names::local_ends)
        .meaning("Address and port of this machine.")
        .filtered(
            "--local-endpoint",
            ["address", "addresses"],
            "Only connections with these local endpoints: '10.*:443'",
        )
        .coarse();
const OF_REMOTE: Dimension<Row> = Dimension::text("remote", "Remote", |row: &Row| row.remote.as_deref())
    .meaning("Address of the remote endpoint.")
    .filtered("--remote", ["address", "addresses"], "Only connections to these addresses")
    .coarse();
const OF_REMOTE_PORT: Dimension<Row> =
    Dimension::words("remote-port", "Remote port", |row: &Row| row.remote_port.map(i64::from), port)
        .meaning("Port of the remote endpoint.")
        .filtered("--remote-port", ["port", "ports"], "Only connections to these ports")
        .coarse();
const OF_REMOTE_ENDPOINT: Dimension<Row> =
    Dimension::named_row("remote-endpoint", "Remote end", names::number, names::remote_ends)
        .meaning("Address and port of the remote endpoint.")
        .filtered("--remote-endpoint", ["address", "addresses"], "Only connections to these endpoints: '*:443'")
        .coarse();
const OF_HOST: Dimension<Row> = Dimension::named_row("host", "Host", names::number, names::hosts)
    .meaning("Name of the last DNS query before the connection began whose answer has the remote address; without such a query the address.")
    .filtered("--host", ["host", "hosts"], "Only connections to these hosts")
    .coarse();
const OF_END: Dimension<Row> = Dimension::words("end", "End", |row: &Row| Some(end(row)), end_word)
    .meaning("`open`, `closed`, `aborted`, `reset`, `refused`, `send timed out`, `keep-alive timed out`, `connect timed out`, or `ended` if the cause is not in the recording.")
    .filtered("--end", ["end", "ends"], "Only connections that ended so: open, reset, '*timed out'");
const OF_DIRECTION: Dimension<Row> =
    Dimension::words("direction", "Direction", |row: &Row| row.accepted.map(i64::from), direction)
        .meaning("`out`: this machine requested the connection; `in`: it accepted the connection.")
        .coarse();
const OF_TEMPLATE: Dimension<Row> = Dimension::text("template", "Template", |row: &Row| row.template.as_deref())
    .meaning("Congestion template (set of TCP parameters) of Windows, with the shortest time-out of a retransmission.")
    .filtered("--template", ["template", "templates"], "Only connections with these templates")
    .coarse();
const OF_TCB: Dimension<Row> = Dimension::words("tcb", "TCB", |row: &Row| row.tcb, hexadecimal)
    .meaning("Address of the connection in the kernel (transmission control block).")
    .filtered("--tcb", ["TCB", "TCBs"], "Only connections with these addresses in the kernel: 0xffff8001*")
    .coarse();
const OF_METHOD: Dimension<Row> = Dimension::method(|row: &Row| (row.stack, None))
    .meaning("Function that requested or accepted the connection, of UDP that used it first: the leaf of the stack.")
    .filtered("--methods", ["method", "methods"], "Only connections that these functions requested or accepted");
const OF_TAG: Dimension<Row> = Dimension::tag(|row: &Row| row.stack).coarse();
const OF_STACK: Dimension<Row> = Dimension::stack(|row: &Row| row.stack)
    .coarse()
    .meaning("The functions of the stack that requested or accepted the connection, or used it first (UDP).");

/// What connections of TCP can be grouped by.
pub(crate) const DIMENSIONS: &[Dimension<Row>] = &[
    Dimension::process(),
    OF_CONNECTION,
    OF_LOCAL,
    OF_LOCAL_PORT,
    OF_LOCAL_ENDPOINT,
    OF_REMOTE,
    OF_REMOTE_PORT,
    OF_REMOTE_ENDPOINT,
    OF_HOST,
    OF_END,
    OF_DIRECTION,
    OF_TEMPLATE,
    OF_TCB,
    OF_METHOD,
    OF_TAG,
    OF_STACK,
];

/// What datagrams can be grouped by. They have no request, no end, and no template.
pub(crate) const DATAGRAM_DIMENSIONS: &[Dimension<Row>] = &[
    Dimension::process(),
    OF_CONNECTION,
    OF_LOCAL,
    OF_LOCAL_PORT,
    OF_LOCAL_ENDPOINT,
    OF_REMOTE,
    OF_REMOTE_PORT,
    OF_REMOTE_ENDPOINT,
    OF_HOST,
    OF_TCB,
    OF_METHOD,
    OF_TAG,
    OF_STACK,
];

const RECEIVED_PACKETS: Measure<Row> =
    Measure::sum_known("received_packets", "Received", Kind::Count, |row: &Row| row.receive_events)
        .meaning("Number of events of received data.")
        .sorted(&["received-packets"]);
const RECEIVED_BYTES: Measure<Row> =
    Measure::sum_known("received_bytes", "Received", Kind::Bytes, |row: &Row| row.received)
        .meaning("Bytes that were received.")
        .sorted(&["received"])
        .total("received");
const RECEIVE_RATE: Measure<Row> = Measure::weighted("receive_rate", "Receive/s", Kind::Bytes, |row: &Row| {
    row.receive_rate.zip(row.received)
})
.meaning(
    "Rate of received data in bursts, bytes per second; of several connections the mean weighted with their bytes.",
)
.sorted(&["receive-rate"]);
const SENT_PACKETS: Measure<Row> = Measure::sum_known("sent_packets", "Sent", Kind::Count, |row: &Row| row.send_events)
    .meaning("Number of events of sent data.")
    .sorted(&["sent-packets"]);
const SENT_BYTES: Measure<Row> = Measure::sum_known("sent_bytes", "Sent", Kind::Bytes, |row: &Row| row.sent)
    .meaning("Bytes that were sent; without events of sent data the bytes that processes passed to the network stack.")
    .sorted(&["sent"])
    .total("sent");
const SEND_RATE: Measure<Row> =
    Measure::weighted("send_rate", "Send/s", Kind::Bytes, |row: &Row| row.send_rate.zip(row.sent))
        .meaning("The same rate for sent data.")
        .sorted(&["send-rate"]);
const BYTES: Measure<Row> = Measure::sum_known("bytes", "Data", Kind::Bytes, bytes)
    .meaning("Bytes that were received and sent.")
    .sorted(&["bytes", "total"])
    .machine();
const PACKETS: Measure<Row> = Measure::sum_known("packets", "Packets", Kind::Count, packets)
    .meaning("Number of events of received and sent data.")
    .sorted(&["packets"])
    .machine();
const CONNECTIONS: Measure<Row> = Measure::rows("connections", "Connections")
    .meaning("Number of connections.")
    .sorted(&["connections", "count"])
    .total("connections");
const START: Measure<Row> = Measure::min("start_ns", "Start", Kind::Time, |row: &Row| row.start)
    .meaning("Time of the first request or acceptance; of UDP of the first use.")
    .sorted(&["start", "time"])
    .details();
const LAST_SENT: Measure<Row> = Measure::max("last_sent_ns", "Last sent", Kind::Time, |row: &Row| row.last_sent)
    .meaning("Time of the last event of sent data.")
    .sorted(&["last-sent"])
    .details();
const LAST_RECEIVED: Measure<Row> =
    Measure::max("last_received_ns", "Last received", Kind::Time, |row: &Row| row.last_received)
        .meaning("Time of the last event of received data.")
        .sorted(&["last-received"])
        .details();
const MAX_SEND_GAP: Measure<Row> =
    Measure::max("max_send_gap_ns", "Send gap", Kind::Milliseconds, |row: &Row| row.max_send_gap)
        .meaning("Longest time between two neighbouring events of sent data of a connection.")
        .sorted(&["send-gap"])
        .details();
const MAX_RECEIVE_GAP: Measure<Row> =
    Measure::max("max_receive_gap_ns", "Receive gap", Kind::Milliseconds, |row: &Row| row.max_receive_gap)
        .meaning("Longest time between two neighbouring events of received data of a connection.")
        .sorted(&["receive-gap"])
        .details();

/// Figures of datagrams.
pub(crate) const DATAGRAM_MEASURES: &[Measure<Row>] = &[
    CONNECTIONS,
    RECEIVED_PACKETS,
    RECEIVED_BYTES,
    RECEIVE_RATE,
    SENT_PACKETS,
    SENT_BYTES,
    SEND_RATE,
    BYTES,
    PACKETS,
    START,
    LAST_SENT,
    LAST_RECEIVED,
    MAX_SEND_GAP,
    MAX_RECEIVE_GAP,
];

/// Figures of connections of TCP.
pub(crate) const MEASURES: &[Measure<Row>] = &[
    CONNECTIONS,
    RECEIVED_PACKETS,
    RECEIVED_BYTES,
    RECEIVE_RATE,
    SENT_PACKETS,
    SENT_BYTES,
    SEND_RATE,
    BYTES,
    PACKETS,
    Measure::sum_known("posted_packets", "Posted", Kind::Count, |row: &Row| row.posted_events)
        .meaning("Number of events in which processes passed data to the network stack.")
        .sorted(&["posted"])
        .details(),
    Measure::sum_known("retransmits", "Retransmits", Kind::Count, |row: &Row| row.retransmits)
        .meaning("Number of retransmissions that this machine sent.")
        .sorted(&["retransmits"])
        .total("retransmits"),
    Measure::ratio("retransmit_percent", "Retransmits %", 1, ["retransmits", "sent_packets"], 100.0)
        .meaning("Retransmissions as percent of the events of sent data."),
    Measure::sum_known("retransmit_delay_ns", "Retransmit delay", Kind::Milliseconds, |row: &Row| row.retransmit_delay)
        .meaning("Sum of the times between retransmissions and the sending of the same data before.")
        .sorted(&["retransmit-delay", "delay"]),
    Measure::min("min_retransmit_delay_ns", "Shortest delay", Kind::Milliseconds, |row: &Row| row.retransmit_delay_min)
        .meaning("Shortest of these times.")
        .sorted(&["min-delay"])
        .details(),
    Measure::only("median_retransmit_delay_ns", "Median delay", Kind::Milliseconds, |row: &Row| {
        row.retransmit_delay_median
    })
    .meaning("Median of these times, of a single connection; empty: several connections of the row have retransmissions.")
    .sorted(&["median-delay"])
    .details(),
    Measure::max("max_retransmit_delay_ns", "Longest delay", Kind::Milliseconds, |row: &Row| row.retransmit_delay_max)
        .meaning("Longest of these times.")
        .sorted(&["max-retransmit-delay"])
        .details(),
    Measure::sum_known("retransmit_time_outs", "Time-outs", Kind::Count, |row: &Row| row.retransmit_time_outs)
        .meaning("Number of time-outs of retransmissions: data was not acknowledged in time. Empty: the recording has no such events.")
        .details(),
    Measure::sum_known("client_retransmits", "Received again", Kind::Count, |row: &Row| row.client_retransmits)
        .meaning("Number of retransmissions that the remote endpoint sent: data that was received again.")
        .sorted(&["client-retransmits"])
        .details(),
    Measure::max("connect_ns", "Connect", Kind::Milliseconds, connect_time)
        .meaning("Longest time from the request of a connection until it was established.")
        .sorted(&["connect"])
        .details(),
    START,
    Measure::max("end_ns", "End", Kind::Time, |row: &Row| row.end)
        .meaning("Time of the last end of a connection.")
        .sorted(&["end"])
        .details(),
    Measure::max("reset_ns", "Reset", Kind::Time, reset_time)
        .meaning("Time at which the remote endpoint reset a connection; of several the last one.")
        .sorted(&["reset"])
        .details(),
    Measure::max("timed_out_ns", "Timed out", Kind::Time, timed_out)
        .meaning("Time at which sending, keep-alive or the request of a connection timed out; of several the last one.")
        .details(),
    LAST_SENT,
    LAST_RECEIVED,
    Measure::sum_known("keep_alives", "Keep-alives", Kind::Count, |row: &Row| row.keep_alives)
        .meaning("Number of keep-alive packets.")
        .details(),
    MAX_SEND_GAP,
    MAX_RECEIVE_GAP,
    Measure::min("rtt_min_ns", "RTT min", Kind::Milliseconds, |row: &Row| row.rtt_min)
        .meaning("Shortest round-trip time.")
        .details(),
    Measure::weighted("rtt_avg_ns", "RTT", Kind::Milliseconds, |row: &Row| Some((row.rtt_avg?, 1)))
        .meaning("Round-trip time; of several connections their mean.")
        .sorted(&["rtt"])
        .details(),
    Measure::max("rtt_max_ns", "RTT max", Kind::Milliseconds, |row: &Row| row.rtt_max)
        .meaning("Longest round-trip time.")
        .details(),
    Measure::sum_known("stat_bytes_in", "In of life", Kind::Bytes, |row: &Row| row.stat_bytes_in)
        .meaning("Bytes that the system counted as received over the whole life of the connections, also outside of the recording.")
        .details(),
    Measure::sum_known("stat_bytes_out", "Out of life", Kind::Bytes, |row: &Row| row.stat_bytes_out)
        .meaning("The same for sent bytes.")
        .details(),
    Measure::sum_known("stat_segments_in", "Segments in of life", Kind::Count, |row: &Row| row.stat_segments_in)
        .meaning("Segments that the system counted as received over the whole life.")
        .details(),
    Measure::sum_known("stat_segments_out", "Segments out of life", Kind::Count, |row: &Row| row.stat_segments_out)
        .meaning("The same for sent segments.")
        .details(),
    Measure::sum_known("stat_retransmitted", "Sent again of life", Kind::Bytes, |row: &Row| row.stat_retransmitted)
        .meaning("Bytes that the system counted as sent again over the whole life.")
        .details(),
    Measure::counts("end", "ends", "Ends").meaning("Number of connections by their end.").details(),
];

const LIST_RECEIVED: ColumnOf<Row> =
    ColumnOf::always("received_bytes", "Received", Kind::Bytes, |row| row.received.into(), "Bytes that were received.");
const LIST_SENT: ColumnOf<Row> =
    ColumnOf::always("sent_bytes", "Sent", Kind::Bytes, |row| row.sent.into(), "Bytes that were sent.");

/// What a list of single connections of TCP shows beside their dimensions.
pub(crate) const LIST: &[ColumnOf<Row>] = &[
    LIST_RECEIVED,
    LIST_SENT,
    ColumnOf::always(
        "retransmits",
        "Retransmits",
        Kind::Count,
        |row| row.retransmits.into(),
        "Number of retransmissions that this machine sent.",
    ),
];

/// What a list of the traffic of datagrams shows beside its dimensions.
pub(crate) const DATAGRAM_LIST: &[ColumnOf<Row>] = &[LIST_RECEIVED, LIST_SENT];

/// The sum of two figures, of which one may be unknown.
fn together(a: Option<i64>, b: Option<i64>) -> Option<i64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (one, other) => one.or(other),
    }
}

pub(super) fn bytes(row: &Row) -> Option<i64> {
    together(row.sent, row.received)
}

pub(super) fn packets(row: &Row) -> Option<i64> {
    together(row.send_events, row.receive_events)
}

/// Time from the request to the establishment.
pub(super) fn connect_time(row: &Row) -> Option<i64> {
    let is_own = row.accepted == Some(false);
    Some(row.connected?.saturating_sub(row.start?)).filter(|_| is_own)
}

/// When the remote endpoint reset the connection.
pub(super) fn reset_time(row: &Row) -> Option<i64> {
    row.end.filter(|_| row.end_kind == Some(ends::RESET))
}

fn timed_out(row: &Row) -> Option<i64> {
    let kinds = [ends::SEND_TIMED_OUT, ends::KEEP_ALIVE_TIMED_OUT, ends::CONNECT_TIMED_OUT];
    row.end.filter(|_| row.end_kind.is_some_and(|kind| kinds.contains(&kind)))
}

/// The number of an end that is known by no kind, and that of a connection without an end.
const ENDED: i64 = 7;
const OPEN: i64 = -1;

fn end(row: &Row) -> i64 {
    match (row.end, row.end_kind) {
        (None, _) => OPEN,
        (Some(_), kind) => kind.map_or(ENDED, i64::from),
    }
}

fn end_word(number: i64) -> String {
    const WORDS: &[&str] = &[
        "closed",
        "aborted",
        "reset",
        "refused",
        "send timed out",
        "keep-alive timed out",
        "connect timed out",
        "ended",
    ];
    if number == OPEN { "open".to_owned() } else { numbered(WORDS, number) }
}

fn direction(accepted: i64) -> String {
    if accepted == 0 { "out" } else { "in" }.to_owned()
}

fn port(number: i64) -> String {
    number.to_string()
}

fn hexadecimal(number: i64) -> String {
    format!("{number:#x}")
}
