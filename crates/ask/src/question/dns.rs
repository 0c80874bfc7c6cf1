//! `dump dns`: which names were looked up, how long processes waited for them, and which servers did not answer.

use rustc_hash::FxHashSet;
use tracesift_archive::{Archive, Error};
use tracesift_export::{Measure as Exported, Unit};
use tracesift_grammar::TimeRange;
use tracesift_trace::connections::protocols;
use tracesift_trace::rows::{ConnectionRow, DnsQueryRow, ProcessRow};
use tracesift_trace::{ProcessId, view};

use crate::answer::{ColumnOf, Kind, Value};
use crate::etwanalyzer::{Legacy, To, switch};
use crate::recording_label::RowSource;
use crate::table_question::{self, Condition, Dimension, Imported, Limit, Measure, StackFigure, TableQuestion};

view! {
    /// A query for a name.
    #[derive(Clone, Debug)]
    pub struct Query of DnsQueryRow {
        time, start, process, thread, stack, name, query_type, status, results, network, servers, adapters, timed_out,
        responses, open,
    }
}

/// Queries for names.
#[derive(Clone, Copy, Debug)]
pub struct Dns;

/// What is asked.
pub type Question = table_question::Question<Dns>;

/// The options.
pub type Options = table_question::Options<Dns>;

/// The port on which DNS servers answer.
const SERVER_PORT: i32 = 53;

view! {
    /// Traffic between two ends.
    #[derive(Clone, Copy, Debug)]
    struct Datagrams of ConnectionRow { process, protocol, remote_port, start, end }
}

/// Status of a query that found a record.
const FOUND: i64 = 0;
/// Status of a call that ended at once: another call has the answer.
const ANSWERED_ELSEWHERE: i64 = 87;
/// Status of a query that no server answered in time.
const TIMED_OUT: i64 = 1460;

impl TableQuestion for Dns {
    type Row = Query;

    const NAME: &'static str = "dns";
    const WHAT: [&'static str; 2] = ["DNS query", "DNS queries"];
    // Of Linux, connections tell which look-ups are missing.
    const READS: Option<&'static [&'static str]> = Some(&["dns_queries", "connections"]);
    const SOURCE: RowSource = RowSource::both("Network", "Network");
    const MOST: &'static str = "most queries";
    const DIMENSIONS: &'static [Dimension<Query>] = &[
        Dimension::process(),
        Dimension::thread(|row| row.thread),
        Dimension::text("name", "Name", |row: &Query| Some(&row.name))
            .meaning("The name that was looked up.")
            .filtered("--name", ["name", "names"], "Only queries for these names"),
        Dimension::text("domain", "Domain", |row: &Query| Some(domain(&row.name)))
            .meaning("The last two parts of the name.")
            .coarse(),
        Dimension::texts("server", "Server", |row: &Query| row.servers.as_ref())
            .meaning("A server that was asked. A query that was sent to several servers is in the row of each.")
            .filtered("--server", ["server", "servers"], "Only queries that were sent to these servers"),
        Dimension::texts("adapter", "Adapter", |row: &Query| row.adapters.as_ref())
            .meaning("A network adapter over which servers were asked, with its local address. A query that was sent over several adapters is in the row of each.")
            .filtered("--adapter", ["adapter", "adapters"], "Only queries that were sent over these adapters"),
        Dimension::words("type", "Type", |row: &Query| row.query_type.map(i64::from), query_type)
            .meaning("Type of the wanted record: A, AAAA, …; its number where it has no name.")
            .filtered("--type", ["type", "types"], "Only queries for records of these types: A, AAAA or 28"),
        Dimension::words("status", "Status", |row: &Query| row.status, status)
            .meaning("`found`, `no such name`, …; the number of another status. `open`: not answered in the recording.")
            .or("open")
            .with_number("status_code", "Status code", "The number of the status: a Win32 error code of Windows; below 0 an `EAI_…` of Linux. 0 is `found`.")
            .filtered(
                "--status",
                ["status", "statuses"],
                "Only queries that ended with such a status: 'no such*' or 9003",
            ),
        Dimension::method(|row: &Query| (row.stack, None))
            .meaning("The function that asked for the name, as `module!function`.")
            .coarse(),
        Dimension::tag(|row: &Query| row.stack).coarse(),
        Dimension::stack(|row: &Query| row.stack).coarse().meaning("The functions of the stack that asked."),
    ];
    const STACKS: &'static [StackFigure] = &[StackFigure {
        column: "sum_ns",
        measure: Exported { key: "dns", label: "DNS query", unit: Unit::Nanoseconds, counted: "DNS queries" },
        help: "Time of DNS queries",
    }];
    const MEASURES: &'static [Measure<Query>] = &[
        Measure::distinct("process", "processes", "Processes").meaning("Number of processes that asked."),
        Measure::union("total_ns", "Total")
            .meaning("Time in which at least one query of the row was open. Time in which several were open counts once.")
            .sorted(&["time", "total"])
            .limited(
                ["--min-total-time", "--max-total-time"],
                ["Only rows with so long a total (ms without unit)", "Only rows whose total is not longer"],
            )
            .total("waited for DNS")
            .sum_of_groups("sum of the rows"),
        Measure::duration("sum_ns", "Sum").meaning("Sum of the durations of the queries, each cut to the time range.").sorted(&["sum"]).details(),
        Measure::shortest("min_ns", "Shortest").meaning("Duration of the shortest query.").details(),
        Measure::longest("max_ns", "Longest").meaning("Duration of the longest query.").sorted(&["max", "longest"]),
        Measure::mean("avg_ns", "Average", Kind::Milliseconds, ["sum_ns", "queries"])
            .meaning("Mean duration.")
            .sorted(&["average"])
            .details(),
        Measure::rows("queries", "Queries")
            .meaning("Number of queries.")
            .sorted(&["count", "queries"])
            .total("DNS queries"),
        Measure::rows_if("timed_out", "Timed out", has_timed_out)
            .meaning("Queries for which at least one server did not answer in time, and queries that ended with status 1460 (timed out).")
            .sorted(&["timed-out"]),
        Measure::rows_if("failed", "Failed", has_failed)
            .meaning("Queries that ended without a record. Queries with status 87 do not count: another query has their answer.")
            .sorted(&["failed"]),
        Measure::rows_if("network", "Network", |row: &Query| row.network == Some(true))
            .meaning("Queries that went to the network; the others were answered by the cache or the hosts file.")
            .details(),
        Measure::texts("servers", "Servers", |row: &Query| row.servers.as_ref())
            .meaning("Number of queries by server that was asked."),
        Measure::texts("timed_out_servers", "Late servers", |row: &Query| row.timed_out.as_ref())
            .meaning("Number of queries by server that did not answer in time."),
        Measure::texts("adapters", "Adapters", |row: &Query| row.adapters.as_ref())
            .meaning("Number of queries by adapter over which servers were asked, with its local address."),
        Measure::counts("status", "statuses", "Statuses")
            .meaning("Number of queries by status, the most frequent first."),
    ];
    const LIMITS: &'static [Limit<Query>] = &[Limit::time(
        ["--min-time", "--max-time"],
        |row| Some(row.time.saturating_sub(row.start)),
        ["Only queries that took so long (ms without unit)", "Only queries that did not take longer"],
    )];
    const CONDITIONS: &'static [Condition<Query>] = &[Condition {
        option: "--timed-out",
        holds: has_timed_out,
        help: "Only queries that a server did not answer in time",
    }];
    const LIST: &'static [ColumnOf<Query>] = &[
        ColumnOf::always(
            "late",
            "Late servers",
            Kind::List,
            |row| texts(row.timed_out.as_ref()),
            "Servers that did not answer in time.",
        ),
        ColumnOf::always(
            "servers",
            "Servers",
            Kind::List,
            |row| texts(row.servers.as_ref()),
            "Servers that were asked, in order.",
        ),
        ColumnOf::details(
            "responses",
            "Responses",
            Kind::Integers,
            responses,
            "Time between question and response for each of the servers, ns; -1: no response.",
        ),
        ColumnOf::details(
            "adapters",
            "Adapters",
            Kind::List,
            |row| texts(row.adapters.as_ref()),
            "Adapters over which servers were asked, in order, with their local addresses.",
        ),
        ColumnOf::always(
            "answer",
            "Answer",
            Kind::LongText,
            |row| row.results.as_ref().into(),
            "The answer as recorded.",
        ),
        ColumnOf::details(
            "network",
            "Network",
            Kind::Bool,
            |row| row.network.into(),
            "Whether the query went to the network. False: the cache or the hosts file answered it.",
        ),
    ];
    const BY: &'static [&'static str] = &["name"];
    const DETAILS_ARE_ROWS: bool = true;
    const IMPORTED: Imported = Imported::Rows;
    const UNKNOWN_IN_IMPORTS: &'static [&'static str] = &["network"];
    const SORT: &'static str = "time";
    const SHORT: &'static [&'static str] = &["process", "time", "top", "name", "by", "min-time", "sort", "csv"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump dns X.sift --top 5", "the names for which processes waited longest"),
        ("tracesift dump dns X.sift --by process,name --min-time 1s", "the slow queries of each process"),
        ("tracesift dump dns X.sift --by status --sort count", "the outcomes"),
        ("tracesift dump dns X.sift --top 5 --top-details all", "all queries for the five slowest names"),
        ("tracesift dump dns X.sift --by server --timed-out", "the servers that did not answer"),
    ];

    const LEGACY: Option<Legacy> = Some(Legacy {
        name: "dns",
        switches: &[
            switch(&["dnsqueryfilter"], To::Value("--name")),
            switch(&["showprocess"], To::Flag("--by=process,name")),
            switch(&["sortby"], To::Word("--sort", &[("time", "time"), ("count", "count")])),
            switch(&["minmaxtime"], To::Range("--min-time", "--max-time", "s")),
            switch(&["minmaxtotaltime"], To::Range("--min-total-time", "--max-total-time", "s")),
            switch(&["showadapter"], To::Columns("+adapters", "")),
            switch(
                &["showreturncode"],
                To::Left(0, "-showreturncode is left out; the answer has a column with the statuses"),
            ),
            switch(&["details"], To::Flag("--top-details=all")),
            switch(&["topndetails"], To::Value("--top-details")),
        ],
    });

    fn process(row: &Query) -> Option<ProcessId> {
        row.process
    }

    /// Of Linux, what asked servers past the C library.
    fn notes(archive: &Archive, time: TimeRange, asked: &[&ProcessRow]) -> Result<Vec<String>, Error> {
        if archive.info().kind != "perf" {
            return Ok(Vec::new());
        }
        let asked: FxHashSet<ProcessId> = asked.iter().map(|row| row.process).collect();
        let (start, end) = time.bounds();
        let mut of_processes: FxHashSet<ProcessId> = FxHashSet::default();
        archive.scan(None, |row: &Datagrams| {
            let to_server = row.protocol == protocols::UDP && row.remote_port == Some(SERVER_PORT);
            let is_inside = row.start.is_none_or(|at| at < end) && row.end.is_none_or(|at| at >= start);
            if let Some(process) = row.process.filter(|process| to_server && is_inside && asked.contains(process)) {
                of_processes.insert(process);
            }
        })?;
        let many = of_processes.len();
        let who = if many == 1 { "1 process".to_owned() } else { format!("{many} processes") };
        let note = format!(
            "{who} sent datagrams to DNS servers (`dump udp --remote-port 53`): a program that does not resolve names through the \
             C library has no queries here"
        );
        Ok(Some(note).filter(|_| many > 0).into_iter().collect())
    }

    fn times(row: &Query) -> (i64, i64) {
        (row.start, row.time)
    }
}

fn has_timed_out(row: &Query) -> bool {
    row.status == Some(TIMED_OUT) || row.timed_out.as_ref().is_some_and(|servers| !servers.is_empty())
}

fn texts(list: Option<&Vec<String>>) -> Value {
    list.map_or(Value::None, |list| Value::List(list.clone()))
}

fn responses(row: &Query) -> Value {
    row.responses.as_ref().map_or(Value::None, |times| Value::Integers(times.clone()))
}

fn has_failed(row: &Query) -> bool {
    row.status.is_some_and(|status| status != FOUND && status != ANSWERED_ELSEWHERE)
}

/// The last two parts of a name.
fn domain(name: &str) -> &str {
    let mut dots = name.rmatch_indices('.');
    let before = dots.nth(1);
    before.and_then(|(place, _)| name.get(place + 1..)).unwrap_or(name)
}

/// Names of the types of records, from the registry of DNS parameters.
const TYPES: &[(i64, &str)] = &[
    (1, "A"),
    (2, "NS"),
    (5, "CNAME"),
    (6, "SOA"),
    (12, "PTR"),
    (15, "MX"),
    (16, "TXT"),
    (28, "AAAA"),
    (33, "SRV"),
    (35, "NAPTR"),
    (64, "SVCB"),
    (65, "HTTPS"),
    (255, "ANY"),
];

/// Statuses of Windows, from the public headers of its system errors, and below 0 those of Linux (`EAI_…` of `netdb.h`).
const STATUSES: &[(i64, &str)] = &[
    (-11, "system error"),
    (-10, "out of memory"),
    (-9, "no address of this kind"),
    (-8, "service not known"),
    (-6, "kind of address not supported"),
    (-5, "no such record"),
    (-4, "failed"),
    (-3, "temporary failure"),
    (-2, "no such name"),
    (FOUND, "found"),
    (5, "access denied"),
    (ANSWERED_ELSEWHERE, "answered elsewhere"),
    (TIMED_OUT, "timed out"),
    (1223, "cancelled"),
    (9001, "format error"),
    (9002, "server failure"),
    (9003, "no such name"),
    (9004, "not supported"),
    (9005, "refused"),
    (9501, "no such record"),
    (9502, "bad packet"),
    (9560, "invalid name"),
    (9701, "record does not exist"),
    (9852, "no DNS servers"),
    (11001, "host not found"),
    (11002, "host not found, try again"),
];

fn query_type(number: i64) -> String {
    word(TYPES, number)
}

fn status(number: i64) -> String {
    word(STATUSES, number)
}

fn word(words: &[(i64, &str)], number: i64) -> String {
    let known = words.iter().find(|(known, _)| *known == number);
    known.map_or_else(|| number.to_string(), |(_, word)| (*word).to_owned())
}

#[cfg(test)]
mod tests {
    use tracesift_etl::write::PointerSize;
    use tracesift_scenario::{dns, providers};
    use tracesift_testing::recording::Recording;

    use super::{Question, domain};
    use crate::answer::Value;
    use crate::ask::{When, ask};
    use crate::recording::Source;

    /// The published investigation has these totals, but 12.047 s for the fourth name: its tool takes the longest query for the union.
    #[test]
    fn the_slow_browser_waits_for_five_names() {
        let mut events = Vec::new();
        dns::slow_browser((7, 12)).iter().for_each(|lookup| lookup.log(PointerSize::Eight, &mut events));
        let bytes = providers::write(PointerSize::Eight, 70, &[(7, "browser.exe")], events).unwrap();
        let extracted = Recording::of("browser.etl", &bytes).extract();
        let source = Source::archive(extracted.report.archive.clone());
        let outcome = ask(&[source], &Question::default(), &When::default());
        let place = |key: &str| outcome.answer.columns.iter().position(|column| column.key == key).unwrap();
        let number = |row: &Vec<Value>, key: &str| match row[place(key)] {
            Value::Int(number) => number,
            ref other => panic!("{key} is {other:?}"),
        };
        let name = |row: &Vec<Value>| match &row[place("name")] {
            Value::Text(name) => name.to_string(),
            other => panic!("name is {other:?}"),
        };
        let ms = |time: i64| time / 1_000_000;
        let rows: Vec<(String, i64, i64, i64)> = outcome
            .answer
            .rows()
            .map(|row| (name(row), ms(number(row, "total_ns")), number(row, "queries"), number(row, "timed_out")))
            .collect();
        let expected = [
            ("graph.oculus.com", 12_038, 4, 2),
            ("login.microsoftonline.com", 12_043, 2, 1),
            ("cdn.adrtx.net", 12_052, 2, 1),
            ("loadus.exelator.com", 12_052, 2, 1),
            ("d21lj84g4rjzla.cloudfront.net", 12_068, 2, 1),
        ];
        assert_eq!(rows, expected.map(|(name, total, queries, late)| (name.to_owned(), total, queries, late)));
        let facts = &outcome.answer.sections[0].facts;
        let fact = |label: &str| match facts.iter().find(|fact| fact.label == label).map(|fact| &fact.value) {
            Some(Value::Int(number)) => *number,
            other => panic!("{label} is {other:?}"),
        };
        assert_eq!(fact("DNS queries"), 12);
        assert_eq!(ms(fact("sum of the rows")), 60_253);
        assert_eq!(ms(fact("waited for DNS")), 27_794, "38.417 to 54.143 s, and 54.203 to 66.271 s");
    }

    #[test]
    fn a_domain_is_the_last_two_parts() {
        for (name, expected) in
            [("a.b.example.com", "example.com"), ("example.com", "example.com"), ("host", "host"), ("", "")]
        {
            assert_eq!(domain(name), expected);
        }
    }
}
