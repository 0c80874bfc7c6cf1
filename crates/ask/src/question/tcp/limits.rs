//! Which connections: limits of their figures, and what must be true of them.

use tracesift_trace::rows::{ConnectionRow, connection_ends as ends};

use super::columns::{bytes, connect_time, packets, reset_time};
use crate::table_question::{Condition, Limit};

type Row = ConnectionRow;

const OLDER: Condition<Row> = Condition {
    option: "--older",
    holds: |row| row.start.is_none(),
    help: "Only connections that were there before the recording",
};
const NEVER_SENT: Condition<Row> = Condition {
    option: "--never-sent",
    holds: |row| row.last_sent.is_none() && row.sent == Some(0),
    help: "Only connections that sent nothing",
};
const NEVER_RECEIVED: Condition<Row> = Condition {
    option: "--never-received",
    holds: |row| row.last_received.is_none() && row.received == Some(0),
    help: "Only connections that received nothing",
};

/// What must be true of datagrams.
pub(crate) const DATAGRAM_CONDITIONS: &[Condition<Row>] = &[NEVER_SENT, NEVER_RECEIVED];

/// What must be true of a connection.
pub(crate) const CONDITIONS: &[Condition<Row>] = &[
    Condition {
        option: "--open",
        holds: |row| row.end.is_none(),
        help: "Only connections that are still there at the end of the recording",
    },
    OLDER,
    NEVER_SENT,
    NEVER_RECEIVED,
    Condition {
        option: "--reset",
        holds: |row| row.end_kind == Some(ends::RESET),
        help: "Only connections that the remote endpoint reset",
    },
    Condition {
        option: "--keep-alive",
        holds: |row| row.keep_alives.is_some_and(|packets| packets > 0),
        help: "Only connections with keep-alive packets",
    },
];

const BYTES: Limit<Row> = Limit::bytes(
    ["--min-bytes", "--max-bytes"],
    bytes,
    ["Only connections with so much data (bytes without unit)", "Only connections with no more data"],
);
const SENT: Limit<Row> = Limit::bytes(
    ["--min-sent", "--max-sent"],
    |row| row.sent,
    ["Only connections that sent so much", "Only connections that sent no more"],
);
const RECEIVED: Limit<Row> = Limit::bytes(
    ["--min-received", "--max-received"],
    |row| row.received,
    ["Only connections that received so much", "Only connections that received no more"],
);
const PACKETS: Limit<Row> = Limit::count(
    ["--min-packets", "--max-packets"],
    packets,
    ["Only connections with so many packets", "Only connections with no more packets"],
);
const SENT_PACKETS: Limit<Row> = Limit::count(
    ["--min-sent-packets", "--max-sent-packets"],
    |row| row.send_events,
    ["Only connections that sent so many packets", "Only connections that sent no more packets"],
);
const RECEIVED_PACKETS: Limit<Row> = Limit::count(
    ["--min-received-packets", "--max-received-packets"],
    |row| row.receive_events,
    ["Only connections that received so many packets", "Only connections that received no more packets"],
);
const SEND_GAP: Limit<Row> = Limit::time(
    ["--min-send-gap", "--max-send-gap"],
    |row| row.max_send_gap,
    ["Only connections that once sent nothing for so long", "Only connections without a longer gap"],
);
const RECEIVE_GAP: Limit<Row> = Limit::time(
    ["--min-receive-gap", "--max-receive-gap"],
    |row| row.max_receive_gap,
    ["Only connections that once received nothing for so long", "Only connections without a longer gap"],
);
const SEND_RATE: Limit<Row> = Limit::bytes(
    ["--min-send-rate", "--max-send-rate"],
    |row| row.send_rate,
    ["Only connections that sent at such a rate, per second", "Only connections that sent at no higher rate"],
);
const RECEIVE_RATE: Limit<Row> = Limit::bytes(
    ["--min-receive-rate", "--max-receive-rate"],
    |row| row.receive_rate,
    ["Only connections that received at such a rate, per second", "Only connections that received at no higher rate"],
);
const START: Limit<Row> = Limit::instant(
    ["--min-start", "--max-start"],
    |row| row.start,
    [
        "Only connections that began at this time or later (ms without unit)",
        "Only connections that began up to this time",
    ],
);
const LAST_SENT: Limit<Row> = Limit::instant(
    ["--min-last-sent", "--max-last-sent"],
    |row| row.last_sent,
    ["Only connections that sent at this time or later", "Only connections that sent nothing after this time"],
);
const LAST_RECEIVED: Limit<Row> = Limit::instant(
    ["--min-last-received", "--max-last-received"],
    |row| row.last_received,
    ["Only connections that received at this time or later", "Only connections that received nothing after this time"],
);

/// Limits of the figures of a connection of TCP.
pub(crate) const LIMITS: &[Limit<Row>] = &[
    BYTES,
    SENT,
    RECEIVED,
    PACKETS,
    SENT_PACKETS,
    RECEIVED_PACKETS,
    Limit::count(
        ["--min-posted", "--max-posted"],
        |row| row.posted_events,
        ["Only connections with so many posted sends", "Only connections with no more posted sends"],
    ),
    Limit::count(
        ["--min-retransmits", "--max-retransmits"],
        |row| row.retransmits,
        ["Only connections with so many retransmissions", "Only connections with no more retransmissions"],
    ),
    Limit::count(
        ["--min-client-retransmits", "--max-client-retransmits"],
        |row| row.client_retransmits,
        ["Only connections that received so much data again", "Only connections that received no more data again"],
    ),
    Limit::time(
        ["--min-retransmit-delay", "--max-retransmit-delay"],
        |row| row.retransmit_delay_max,
        ["Only connections with such a long retransmission (ms without unit)", "Only connections with no longer one"],
    ),
    Limit::time(
        ["--min-connect", "--max-connect"],
        connect_time,
        ["Only connections that took so long to be established", "Only connections that took no longer"],
    ),
    Limit::time(
        ["--min-duration", "--max-duration"],
        |row| Some(row.end?.saturating_sub(row.start?)),
        ["Only connections that lived so long in the recording", "Only connections that lived no longer"],
    ),
    SEND_GAP,
    RECEIVE_GAP,
    SEND_RATE,
    RECEIVE_RATE,
    Limit::count(
        ["--min-keep-alives", "--max-keep-alives"],
        |row| row.keep_alives,
        ["Only connections with so many keep-alive packets", "Only connections with no more of them"],
    ),
    Limit::bytes(
        ["--min-stat-in", "--max-stat-in"],
        |row| row.stat_bytes_in,
        ["Only connections that received so much over their whole life", "Only connections that received no more"],
    ),
    Limit::bytes(
        ["--min-stat-out", "--max-stat-out"],
        |row| row.stat_bytes_out,
        ["Only connections that sent so much over their whole life", "Only connections that sent no more"],
    ),
    START,
    LAST_SENT,
    LAST_RECEIVED,
    Limit::instant(
        ["--min-end", "--max-end"],
        |row| row.end,
        ["Only connections that ended at this time or later", "Only connections that ended up to this time"],
    ),
    Limit::instant(
        ["--min-reset", "--max-reset"],
        reset_time,
        [
            "Only connections that the remote endpoint reset at this time or later",
            "Only connections that the remote endpoint reset up to this time",
        ],
    ),
    Limit::time(
        ["--min-rtt", "--max-rtt"],
        |row| row.rtt_avg,
        ["Only connections with such a round-trip time", "Only connections with no longer one"],
    ),
    Limit::bytes(
        ["--min-stat", "--max-stat"],
        |row| both(row.stat_bytes_in, row.stat_bytes_out),
        ["Only connections with so much data over their whole life", "Only connections with no more data"],
    ),
    Limit::count(
        ["--min-stat-segments-in", "--max-stat-segments-in"],
        |row| row.stat_segments_in,
        [
            "Only connections that received so many segments over their whole life",
            "Only connections that received no more",
        ],
    ),
    Limit::count(
        ["--min-stat-segments-out", "--max-stat-segments-out"],
        |row| row.stat_segments_out,
        ["Only connections that sent so many segments over their whole life", "Only connections that sent no more"],
    ),
    Limit::count(
        ["--min-stat-segments", "--max-stat-segments"],
        |row| both(row.stat_segments_in, row.stat_segments_out),
        ["Only connections with so many segments over their whole life", "Only connections with no more segments"],
    ),
];

/// Limits of the figures of datagrams.
pub(crate) const DATAGRAM_LIMITS: &[Limit<Row>] = &[
    BYTES,
    SENT,
    RECEIVED,
    PACKETS,
    SENT_PACKETS,
    RECEIVED_PACKETS,
    SEND_GAP,
    RECEIVE_GAP,
    SEND_RATE,
    RECEIVE_RATE,
    START,
    LAST_SENT,
    LAST_RECEIVED,
];

/// The sum of two figures that are both known.
fn both(a: Option<i64>, b: Option<i64>) -> Option<i64> {
    Some(a?.saturating_add(b?))
}
