//! `dump sockets`: what processes do with sockets, how long that takes, and what fails.

use tracesift_trace::rows::{SocketCallRow, socket_operations as operations};
use tracesift_trace::{ConnectionId, ProcessId, view};

use super::syscalls::errors;
use super::tcp;
use crate::answer::{ColumnOf, Kind};
use crate::recording_label::RowSource;
use crate::table_question::{self, Condition, Dimension, Limit, Measure, TableQuestion};
use crate::words::numbered;

view! {
    /// A call of a socket.
    #[derive(Clone, Debug)]
    pub struct Call of SocketCallRow {
        time, start, process, thread, stack, operation, endpoint, connection, size, transferred, status, address,
    }
}

/// Calls of sockets.
#[derive(Clone, Copy, Debug)]
pub struct Sockets;

/// What is asked.
pub type Question = table_question::Question<Sockets>;

/// The options.
pub type Options = table_question::Options<Sockets>;

/// Status of a call that goes on after its return.
const PENDING: i64 = 0x103;

impl TableQuestion for Sockets {
    type Row = Call;

    const NAME: &'static str = "sockets";
    const WHAT: [&'static str; 2] = ["socket call", "socket calls"];
    const SOURCE: RowSource = RowSource::both("Sockets", "Sockets");
    const MOST: &'static str = "most calls";
    const DIMENSIONS: &'static [Dimension<Call>] = &[
        Dimension::process(),
        Dimension::thread(|row| row.thread),
        Dimension::words("operation", "Operation", |row: &Call| Some(row.operation.into()), operation)
            .meaning("`create`, `bind`, `listen`, `connect`, `accept`, `send`, `receive`, `shut down`, `close`, `option` or `poll` (Linux: a wait for several descriptors, not all of them sockets). On Linux `close`, `read` and `write` are not here: they are calls of files, too.")
            .filtered("--operation", ["operation", "operations"], "Only these operations: connect, send, receive"),
        Dimension::words("endpoint", "Socket", |row: &Call| row.endpoint, endpoint)
            .meaning("The socket: its address in the kernel of Windows, its descriptor on Linux. Sockets that follow each other can have the same.")
            .filtered("--endpoint", ["socket", "sockets"], "Only calls of these sockets, as the column has them"),
        Dimension::named_row("connection", "Connection", connection, tcp::connections)
            .meaning("Both endpoints of the connection that the call used, the local one first. Many calls have none.")
            .or("(none)")
            .with_number("connection_id", "Connection id", "Row of the connection in the table `connections`.")
            .filtered("--connection", ["connection", "connections"], "Only calls that used such a connection: '* *:443'")
            .coarse(),
        Dimension::text("address", "Address", |row: &Call| row.address.as_deref())
            .meaning("Remote address and port; of `bind` the local ones. Only some calls of Windows have it.")
            .or("(none)")
            .filtered("--address", ["address", "addresses"], "Only calls that tell these addresses: '10.0.0.*:443'"),
        Dimension::words("status", "Status", |row: &Call| row.status, status)
            .meaning("`success`, `pending`, an error; the number of one that has no name here. `open`: the call did not end in the recording.")
            .or("open")
            .with_number("status_code", "Status code", "The number of the status: an NTSTATUS of Windows, an error of Linux.")
            .filtered("--status", ["status", "statuses"], "Only calls that ended so: 'connection*', EAGAIN, success"),
        Dimension::method(|row: &Call| (row.stack, None))
            .meaning("The function that called, as `module!function`: the leaf of the stack.")
            .filtered("--methods", ["method", "methods"], "Only calls of these functions"),
        Dimension::tag(|row: &Call| row.stack).coarse(),
        Dimension::stack(|row: &Call| row.stack).coarse().meaning("The functions of the stack of the call."),
    ];
    const MEASURES: &'static [Measure<Call>] = &[
        Measure::distinct("process", "processes", "Processes").meaning("Number of processes.").details(),
        Measure::rows("calls", "Calls")
            .meaning("Number of calls.")
            .sorted(&["calls", "count"])
            .total("socket calls"),
        Measure::rows_if("failed", "Failed", has_failed)
            .meaning("Calls whose status is an error. `pending` is none; EAGAIN and EINPROGRESS of non-blocking sockets (Linux) are errors.")
            .sorted(&["failed"])
            .total("failed"),
        Measure::rows_if("open", "Open", |row: &Call| row.status.is_none())
            .meaning("Calls that did not end in the recording.")
            .sorted(&["open"])
            .details(),
        Measure::sum("sent_bytes", "Sent", Kind::Bytes, |row: &Call| transferred(row, operations::SEND))
            .meaning("Bytes that the calls passed to their sockets.")
            .sorted(&["sent"])
            .total("sent"),
        Measure::sum("received_bytes", "Received", Kind::Bytes, |row: &Call| transferred(row, operations::RECEIVE))
            .meaning("Bytes that the calls took from their sockets.")
            .sorted(&["received"])
            .total("received"),
        Measure::duration("sum_ns", "Sum").meaning("Sum of the durations of the calls, each cut to the time range.").sorted(&["sum", "time"]),
        Measure::union("total_ns", "Total")
            .meaning("Time in which at least one call of the row was under way. Time in which several were counts once.")
            .sorted(&["total"]),
        Measure::mean("avg_ns", "Average", Kind::Microseconds, ["sum_ns", "calls"])
            .meaning("Mean duration.")
            .sorted(&["average"]),
        Measure::longest("longest_ns", "Longest").meaning("Duration of the longest call.").sorted(&["longest"]),
        Measure::longest_start("longest_start_ns", "Longest from").meaning("Time at which the longest call began.").details(),
        Measure::counts("status", "statuses", "Statuses").meaning("Number of calls by status, the most frequent first."),
    ];
    const LIMITS: &'static [Limit<Call>] = &[Limit::time(
        ["--min-duration", "--max-duration"],
        |row| Some(row.time.saturating_sub(row.start)),
        ["Only calls that took so long (ms without unit)", "Only calls that did not take longer"],
    )];
    const CONDITIONS: &'static [Condition<Call>] =
        &[Condition { option: "--failed", holds: has_failed, help: "Only calls that failed" }];
    const LIST: &'static [ColumnOf<Call>] = &[
        ColumnOf::always("size", "Size", Kind::Bytes, |row| row.size.into(), "Bytes of the buffer."),
        ColumnOf::always(
            "transferred",
            "Transferred",
            Kind::Bytes,
            |row| row.transferred.into(),
            "Bytes that were sent or received.",
        ),
    ];
    const BY: &'static [&'static str] = &["process", "operation"];
    const SORT: &'static str = "sum";
    const SHORT: &'static [&'static str] =
        &["process", "time", "top", "by", "operation", "failed", "min-duration", "sort", "csv"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump sockets X.sift --top 10", "the processes and operations that took longest"),
        ("tracesift dump sockets X.sift --operation connect --by process,status", "the requests for connections"),
        ("tracesift dump sockets X.sift --failed --by status,process --sort failed", "the errors"),
        ("tracesift dump sockets X.sift --list --operation send --min-duration 10ms", "the slow sends, one by one"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] = &[&["--by=endpoint"], &["--by=status", "--failed"]];

    fn process(row: &Call) -> Option<ProcessId> {
        row.process
    }

    fn times(row: &Call) -> (i64, i64) {
        (row.start, row.time)
    }
}

fn connection(row: &Call) -> Option<i64> {
    row.connection.map(|ConnectionId(number)| i64::from(number))
}

fn has_failed(row: &Call) -> bool {
    row.status.is_some_and(|status| status != 0 && status != PENDING)
}

fn transferred(row: &Call, operation: i8) -> i64 {
    row.transferred.filter(|_| row.operation == operation).unwrap_or(0)
}

const OPERATIONS: [&str; 11] =
    ["create", "bind", "listen", "connect", "accept", "send", "receive", "shut down", "close", "option", "poll"];

fn operation(number: i64) -> String {
    numbered(&OPERATIONS, number)
}

/// Descriptors are small numbers.
fn endpoint(number: i64) -> String {
    if (0..1 << 31).contains(&number) { number.to_string() } else { format!("{number:#x}") }
}

/// Statuses of Windows, from the public headers of its system errors.
const STATUSES: &[(i64, &str)] = &[
    (0, "success"),
    (0x102, "timed out"),
    (PENDING, "pending"),
    (0x8000_0005, "buffer too small"),
    (0xc000_0008, "invalid handle"),
    (0xc000_000d, "invalid parameter"),
    (0xc000_0022, "access denied"),
    (0xc000_009a, "out of resources"),
    (0xc000_00b5, "connection timed out"),
    (0xc000_0120, "cancelled"),
    (0xc000_0140, "connection closed"),
    (0xc000_020a, "address in use"),
    (0xc000_020b, "invalid address"),
    (0xc000_020c, "disconnected by the other side"),
    (0xc000_020d, "connection reset"),
    (0xc000_0236, "connection refused"),
    (0xc000_0239, "connection without success"),
    (0xc000_023a, "connection is active"),
    (0xc000_023c, "network unreachable"),
    (0xc000_023d, "host unreachable"),
    (0xc000_023f, "port unreachable"),
    (0xc000_0241, "connection aborted"),
];

fn status(number: i64) -> String {
    let known = STATUSES.iter().find(|(known, _)| *known == number).map(|(_, name)| (*name).to_owned());
    known.unwrap_or_else(|| match number {
        1..=4095 => errors::name(number),
        _ => format!("{number:#x}"),
    })
}

#[cfg(test)]
mod tests {
    use tracesift_scenario::{PointerSize, providers, sockets};
    use tracesift_testing::recording::Recording;

    use super::{Question, endpoint, status};
    use crate::answer::Value;
    use crate::ask::{When, ask};
    use crate::recording::Source;

    /// The figures are summed over the calls of the story, one by one.
    #[test]
    fn a_client_and_a_server_have_their_calls() {
        let story = sockets::story();
        for size in [PointerSize::Four, PointerSize::Eight] {
            let mut events = Vec::new();
            story.iter().for_each(|call| call.log(size, &mut events));
            let bytes = providers::write(size, 10, &sockets::PROCESSES, events).expect("a recording");
            let extracted = Recording::of("sockets.etl", &bytes).extract();
            let source = Source::archive(extracted.report.archive.clone());
            let answer = ask(&[source], &Question::default(), &When::default()).answer;
            let place = |key: &str| answer.columns.iter().position(|column| column.key == key).expect("a column");
            let text = |row: &[Value], key: &str| match &row[place(key)] {
                Value::Text(text) => text.to_string(),
                other => panic!("{key} is {other:?}"),
            };
            let number = |row: &[Value], key: &str| match row[place(key)] {
                Value::Int(number) => number,
                ref other => panic!("{key} is {other:?}"),
            };
            let rows: Vec<&Vec<Value>> = answer.rows().collect();
            let mut expected = 0;
            for (pid, process) in sockets::PROCESSES {
                for operation in super::OPERATIONS {
                    let calls: Vec<_> =
                        story.iter().filter(|call| call.caller.0 == pid && call.operation() == operation).collect();
                    if calls.is_empty() {
                        continue;
                    }
                    expected += 1;
                    let is_it =
                        |row: &&&Vec<Value>| text(row, "process") == process && text(row, "operation") == operation;
                    let row = rows.iter().find(is_it).unwrap_or_else(|| panic!("no row of {process}, {operation}"));
                    let sum: i64 = calls.iter().map(|call| call.end(10_000_000_000) - call.start).sum();
                    assert_eq!((number(row, "calls"), number(row, "sum_ns")), (calls.len() as i64, sum), "{operation}");
                    let failed = calls.iter().filter(|call| !matches!(call.status, None | Some(0 | 0x103))).count();
                    assert_eq!(number(row, "failed"), failed as i64, "{process} {operation}");
                    let moved: i64 =
                        calls.iter().filter(|call| call.status == Some(0)).filter_map(|call| call.transferred).sum();
                    let of = |name: &str| if operation == name { moved } else { 0 };
                    assert_eq!((number(row, "sent_bytes"), number(row, "received_bytes")), (of("send"), of("receive")));
                }
            }
            assert_eq!(rows.len(), expected);
        }
    }

    #[test]
    fn statuses_have_the_names_of_their_system() {
        for (number, name) in [
            (0, "success"),
            (11, "EAGAIN"),
            (0x103, "pending"),
            (0xc000_020d, "connection reset"),
            (0xc123_4567, "0xc1234567"),
        ] {
            assert_eq!(status(number), name);
        }
        assert_eq!((endpoint(7), endpoint(-0x1000)), ("7".to_owned(), "0xfffffffffffff000".to_owned()));
    }
}
