//! Names of connections and of their ends.

use rustc_hash::FxHashMap;
use tracesift_archive::{Archive, Error};
use tracesift_trace::rows::{ConnectionRow, DnsQueryRow};
use tracesift_trace::{ConnectionId, view};

use crate::table_question::RowNames;

view! {
    /// The ends of a connection.
    #[derive(Clone, Debug)]
    struct EndsOfRow of ConnectionRow { connection, local, local_port, remote, remote_port, tcb, start }
}

view! {
    /// A name and its addresses.
    #[derive(Clone, Debug)]
    struct Answer of DnsQueryRow { time, name, results }
}

fn end(address: Option<&String>, port: Option<i32>) -> String {
    let address = address.map_or("?", String::as_str);
    let port = port.map_or_else(|| "?".to_owned(), |port| port.to_string());
    if address.contains(':') { format!("[{address}]:{port}") } else { format!("{address}:{port}") }
}

fn names(archive: &Archive, name: impl Fn(&EndsOfRow) -> String + 'static) -> Result<RowNames, Error> {
    Ok(RowNames::new(archive.rows()?, |row: &EndsOfRow| row.connection.0.into(), name))
}

/// Both ends: `10.0.0.1:50000 10.0.0.2:443`.
pub(crate) fn connections(archive: &Archive) -> Result<RowNames, Error> {
    names(archive, |row| match (row.local.as_ref().or(row.remote.as_ref()), row.tcb) {
        (None, Some(tcb)) => format!("tcb {tcb:#x}"),
        _ => format!("{} {}", end(row.local.as_ref(), row.local_port), end(row.remote.as_ref(), row.remote_port)),
    })
}

/// The own end.
pub(super) fn local_ends(archive: &Archive) -> Result<RowNames, Error> {
    names(archive, |row| end(row.local.as_ref(), row.local_port))
}

/// The other end.
pub(super) fn remote_ends(archive: &Archive) -> Result<RowNames, Error> {
    names(archive, |row| end(row.remote.as_ref(), row.remote_port))
}

/// The name whose answer had the address of the other side last before the connection began; else the address.
pub(super) fn hosts(archive: &Archive) -> Result<RowNames, Error> {
    let mut answers: FxHashMap<String, Vec<(i64, String)>> = FxHashMap::default();
    let mut queries: Vec<Answer> = archive.rows()?;
    queries.sort_by_key(|query| query.time);
    for query in queries {
        for address in query.results.iter().flat_map(|results| results.split([';', ' '])) {
            let address = address.strip_prefix("::ffff:").filter(|rest| rest.contains('.')).unwrap_or(address);
            if address.parse::<std::net::IpAddr>().is_ok() {
                answers.entry(address.to_owned()).or_default().push((query.time, query.name.clone()));
            }
        }
    }
    names(archive, move |row| {
        let Some(remote) = &row.remote else { return "?".to_owned() };
        let of_address = answers.get(remote).map_or(&[][..], Vec::as_slice);
        // Of a connection that was there before no answer is known to come first.
        let before = of_address.partition_point(|(time, _)| row.start.is_some_and(|start| *time <= start));
        before.checked_sub(1).map_or_else(|| remote.clone(), |last| of_address[last].1.clone())
    })
}

/// The number by which the names are looked up.
#[expect(clippy::unnecessary_wraps, reason = "the type of a dimension")]
pub(super) fn number(row: &ConnectionRow) -> Option<i64> {
    let ConnectionId(number) = row.connection;
    Some(i64::from(number))
}
