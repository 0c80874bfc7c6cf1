//! DNS queries.

use serde::Deserialize;
use tracesift_trace::rows::{DnsQueryRow, dns_pairing};
use tracesift_trace::{Health, ProcessId, RowSink};

use crate::bounded::List;
use crate::document::{Length, Moment, ProcessReference};
use crate::identity::Identities;
use crate::limits::QUERIES;
use crate::values::Integer;

/// `DnsClient`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct DnsClient {
    /// The queries.
    pub events: List<DnsEvent, QUERIES>,
}

/// An element of `Events`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct DnsEvent {
    /// Process that asked.
    pub process_idx: Option<ProcessReference>,
    /// The name.
    pub query: Option<String>,
    /// Time of the call.
    pub start: Option<Moment>,
    /// Time to the answer.
    pub duration: Option<Length>,
    /// The answer.
    pub result: Option<String>,
    /// `;` separated.
    pub server_list: Option<String>,
    /// Whether a server did not answer in time.
    pub timed_out: Option<bool>,
    /// `;` separated.
    pub timed_out_server: Option<String>,
    /// `;` separated.
    pub adapters: Option<String>,
    /// Win32 error code.
    pub query_status: Integer,
}

/// Stands for a late server whose address the extract does not have.
const NO_ADDRESS: &str = "unknown";

/// The queries that can be rows.
#[derive(Debug, Default)]
pub(super) struct DnsRows {
    queries: Vec<(Option<ProcessId>, DnsEvent)>,
    zero: Option<Moment>,
}

impl DnsRows {
    pub(super) fn read(part: DnsClient, zero: Moment, identities: &mut Identities, health: &mut Health) -> Self {
        let mut queries = Vec::with_capacity(part.events.0.len());
        for query in part.events.0 {
            if query.start.is_none_or(|start| !start.is_known()) || query.duration.is_none() || query.query.is_none() {
                super::unreadable(health, || "a DNS query without name, start or duration".to_owned());
                continue;
            }
            let process = query.process_idx.as_ref().and_then(|process| identities.find(process, health));
            queries.push((process, query));
        }
        queries.sort_by_key(|(_, query)| times(query, zero));
        Self { queries, zero: Some(zero) }
    }

    pub(super) fn write(&self, sink: &mut impl RowSink) {
        let Some(zero) = self.zero else { return };
        for (process, query) in &self.queries {
            let (time, start) = times(query, zero);
            let servers = list(query.server_list.as_deref());
            let late = list(query.timed_out_server.as_deref());
            let is_late = query.timed_out == Some(true);
            let name = query.query.as_deref().unwrap_or_default();
            sink.dns_query(&DnsQueryRow {
                time,
                start,
                process: *process,
                name: name.strip_suffix('.').unwrap_or(name).to_lowercase(),
                status: query.query_status.0,
                results: query.result.clone().filter(|result| !result.is_empty()),
                pairing: (servers.is_some() || is_late).then_some(dns_pairing::NAME),
                servers,
                adapters: list(query.adapters.as_deref()),
                timed_out: late.or_else(|| is_late.then(|| vec![NO_ADDRESS.to_owned()])),
                ..DnsQueryRow::default()
            });
        }
    }
}

/// End and start.
fn times(query: &DnsEvent, zero: Moment) -> (i64, i64) {
    let start = query.start.map_or(0, |start| start.ns_since(zero));
    (start.saturating_add(query.duration.map_or(0, |duration| duration.ns.max(0))), start)
}

fn list(text: Option<&str>) -> Option<Vec<String>> {
    let items: Vec<String> =
        text?.split(';').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect();
    (!items.is_empty()).then_some(items)
}
