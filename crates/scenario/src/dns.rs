//! Queries for names, as Windows logs them. No recording with such events is public, so the events are made from their layouts.

use tracesift_etl::class::DNS_CLIENT;
use tracesift_etl::write::PointerSize;
use tracesift_etl::write::payload::Bytes;

use crate::providers::Logged;

/// Process of the service that asks servers for all others.
pub const SERVICE: u32 = 1400;

const MS: i64 = 1_000_000;

/// One query.
#[derive(Clone, Debug)]
pub struct Lookup {
    /// Process and thread that ask.
    pub caller: (u32, u32),
    /// Start, nanoseconds since the start of the recording.
    pub start: i64,
    /// Duration in nanoseconds; `None`: it is not answered in the recording.
    pub duration: Option<i64>,
    /// The name.
    pub name: &'static str,
    /// Type of the wanted record.
    pub query_type: u32,
    /// Status of the answer.
    pub status: u32,
    /// The answer.
    pub results: &'static str,
    /// Servers that are asked, with the time of the question after the start and the duration to the response; a server
    /// without a response times out.
    pub servers: Vec<(&'static str, i64, Option<i64>)>,
    /// Whether events of servers name the process that asked, as newer builds do.
    pub names_client: bool,
}

impl Lookup {
    /// A query of the type A that the cache answers.
    #[must_use]
    pub fn cached(caller: (u32, u32), start: i64, duration: i64, name: &'static str) -> Self {
        Self {
            caller,
            start,
            duration: Some(duration),
            name,
            query_type: 1,
            status: 0,
            results: "::ffff:10.0.0.9;",
            servers: Vec::new(),
            names_client: false,
        }
    }

    /// The events of the query.
    pub fn log(&self, pointer_size: PointerSize, out: &mut Vec<Logged>) {
        let event = |time: i64, (pid, tid): (u32, u32), id: u16, fill: &dyn Fn(&mut Bytes)| {
            let mut payload = Bytes::new(pointer_size);
            payload.utf16(self.name);
            fill(&mut payload);
            let (cpu, version) = ((tid % 2) as u16, 0);
            Logged { time, cpu, provider: DNS_CLIENT, id, version, pid, tid, payload: payload.into_vec() }
        };
        out.push(event(self.start, self.caller, 3006, &|payload| {
            payload.u32(self.query_type);
            payload.u64(0x4000_0000);
            payload.utf16("");
            [u32::from(!self.servers.is_empty()), 0, 0, 0].into_iter().for_each(|value| payload.u32(value));
        }));
        let client = if self.names_client { self.caller.0 } else { 0 };
        for (server, after, response) in &self.servers {
            let asked = self.start + after;
            out.push(event(asked - MS / 10, (SERVICE, 1404), 3009, &|payload| {
                [0, 0, 1].into_iter().for_each(|value| payload.u32(value));
                payload.utf16("Ethernet");
                payload.utf16("10.0.0.7");
                payload.utf16("10.0.0.1;10.0.0.2;");
                payload.u32(client);
            }));
            out.push(event(asked, (SERVICE, 1404), 3010, &|payload| {
                payload.u32(self.query_type);
                payload.utf16(server);
                payload.u32(client);
            }));
            match response {
                Some(response) => out.push(event(asked + response, (SERVICE, 1404), 3011, &|payload| {
                    payload.u32(self.query_type);
                    payload.utf16(server);
                    payload.u32(0);
                    payload.u32(client);
                })),
                None => out.push(event(asked + MS, (SERVICE, 1404), 1015, &|payload| {
                    payload.u32(16);
                    payload.u16(2);
                    payload.u16(53_u16.swap_bytes());
                    server.split('.').for_each(|part| payload.u8(part.parse().unwrap_or(0)));
                    payload.zeros(8);
                    payload.u32(client);
                })),
            }
        }
        if let Some(duration) = self.duration {
            out.push(event(self.start + duration, self.caller, 3008, &|payload| {
                payload.u32(self.query_type);
                payload.u64(0x4000_0000);
                payload.u32(self.status);
                payload.utf16(self.results);
            }));
        }
    }
}

/// A browser that waits twelve seconds for names, as a published investigation has it: twelve queries for five names.
#[must_use]
pub fn slow_browser(caller: (u32, u32)) -> Vec<Lookup> {
    let slow = |start: i64, duration: i64, name| Lookup {
        servers: vec![("10.0.0.1", 20 * MS, None), ("10.0.0.2", (duration - 40) * MS, Some(15 * MS))],
        names_client: true,
        ..Lookup::cached(caller, start * MS, duration * MS, name)
    };
    let quick = |start: i64, duration: i64, name| Lookup::cached(caller, start * MS, duration * MS, name);
    let both = |start: i64, duration: i64, name| {
        [slow(start, duration, name), Lookup { query_type: 28, ..slow(start, duration, name) }]
    };
    let [oculus_a, oculus_aaaa] = both(38_417, 12_038, "graph.oculus.com");
    vec![
        quick(38_416, 0, "graph.oculus.com"),
        Lookup { query_type: 28, ..quick(38_417, 0, "graph.oculus.com") },
        oculus_a,
        oculus_aaaa,
        quick(42_020, 0, "login.microsoftonline.com"),
        Lookup { query_type: 28, ..slow(42_020, 12_043, "login.microsoftonline.com") },
        quick(54_203, 21, "d21lj84g4rjzla.cloudfront.net"),
        slow(54_224, 12_047, "d21lj84g4rjzla.cloudfront.net"),
        quick(42_091, 0, "loadus.exelator.com"),
        Lookup { query_type: 28, ..slow(42_091, 12_052, "loadus.exelator.com") },
        quick(42_091, 0, "cdn.adrtx.net"),
        Lookup { query_type: 28, ..slow(42_091, 12_052, "cdn.adrtx.net") },
    ]
}
