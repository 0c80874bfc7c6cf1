//! A resolver that asks a server which never answers.

use std::collections::BTreeSet;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::scope;
use std::time::Duration;

use serde_json::json;
use tracesift_workloads::{
    Arguments, Kind, Method, Opt, Parts, Piece, Report, ThreadTold, Usage, extra_cpu, measure, run, thread,
};

const USAGE: Usage = Usage {
    name: "silent-dns",
    problem: "Names are looked up at a server that never answers: each look-up waits for its time-out as often as it tries.",
    options: &[
        Opt {
            name: "hosts",
            kind: Kind::Count(1),
            default: "4",
            meaning: "names that are looked up, one after the other",
        },
        Opt { name: "tries", kind: Kind::Count(1), default: "2", meaning: "how often each is asked for" },
        Opt { name: "timeout", kind: Kind::Time, default: "300ms", meaning: "how long each try waits for the answer" },
    ],
    keys: &[
        ("threads[].hosts", "what the resolver did for each: name, tries, elapsed_ns"),
        ("truth.hosts", "names that were looked up"),
        ("truth.queries", "questions that were sent"),
        ("truth.timeouts", "questions that nobody answered in time"),
        ("truth.server_queries", "questions that came to the server"),
        ("truth.server_hosts", "different names in them"),
        ("truth.waited_ns", "time in `wait_for_answer`, without its CPU time there"),
        ("truth.resolve_ns", "time in `resolve_host`"),
    ],
    methods: &[
        Method { name: "wait_for_answer", parts: QUERIES },
        Method { name: "resolve_host", parts: |arguments| Ok(arguments.number("hosts")) },
        Method { name: "take_queries", parts: QUERIES },
    ],
    lock: None,
};

/// Questions that are sent, as nobody answers.
const QUERIES: Parts = |arguments| Ok(arguments.number("hosts").saturating_mul(arguments.number("tries")));

/// A question for the address of a host, as RFC 1035 has it.
fn query(id: u16, host: &str) -> Vec<u8> {
    let mut bytes = id.to_be_bytes().to_vec();
    // A standard question that wants recursion, and one entry.
    bytes.extend([1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    for label in host.split('.') {
        bytes.push(label.len() as u8);
        bytes.extend(label.bytes());
    }
    // End of the name, type A, class IN.
    bytes.extend([0, 0, 1, 0, 1]);
    bytes
}

/// The name in a question.
fn host_of(query: &[u8]) -> Option<String> {
    let (mut labels, mut rest) = (Vec::new(), query.get(12..)?);
    while let [length @ 1..=63, tail @ ..] = rest {
        let (label, behind) = tail.split_at_checked(usize::from(*length))?;
        labels.push(String::from_utf8_lossy(label).into_owned());
        rest = behind;
    }
    (!labels.is_empty()).then(|| labels.join("."))
}

/// Whether an answer came in time.
#[inline(never)]
fn wait_for_answer(socket: &UdpSocket) -> io::Result<bool> {
    let received = socket.recv(&mut [0; 512]);
    extra_cpu!("wait_for_answer");
    match received {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => Ok(false),
        Err(error) => Err(error),
    }
}

/// What the resolver did.
#[derive(Default)]
struct Resolved {
    queries: u64,
    timeouts: u64,
    waited: Piece,
}

#[inline(never)]
fn resolve_host(socket: &UdpSocket, host: &str, tries: u64, sum: &mut Resolved) -> io::Result<bool> {
    for number in 0..tries {
        socket.send(&query(number as u16, host))?;
        sum.queries += 1;
        let (piece, answered) = measure(|| wait_for_answer(socket));
        sum.waited += piece;
        if answered? {
            return Ok(true);
        }
        sum.timeouts += 1;
    }
    extra_cpu!("resolve_host");
    Ok(false)
}

/// The server: takes questions and gives no answers. How many there were, and for what.
#[inline(never)]
fn take_queries(socket: &UdpSocket, done: &AtomicBool) -> io::Result<(u64, BTreeSet<String>)> {
    let (mut queries, mut hosts, mut buffer) = (0, BTreeSet::new(), [0; 512]);
    loop {
        let length = socket.recv(&mut buffer)?;
        if done.load(Ordering::Acquire) {
            return Ok((queries, hosts));
        }
        queries += 1;
        hosts.extend(host_of(&buffer[..length]));
        extra_cpu!("take_queries");
    }
}

fn bound() -> io::Result<UdpSocket> {
    UdpSocket::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
}

fn work(arguments: &Arguments, report: &mut Report) -> io::Result<()> {
    let (server, client, done) = (bound()?, bound()?, AtomicBool::new(false));
    client.connect(server.local_addr()?)?;
    client.set_read_timeout(Some(arguments.time("timeout").max(Duration::from_micros(1))))?;
    let tries = arguments.number("tries");
    let hosts: Vec<String> =
        (0..arguments.number("hosts")).map(|number| format!("host-{number}.tracesift.invalid")).collect();
    let resolve = || -> io::Result<_> {
        let (mut sum, mut each, mut all) = (Resolved::default(), Vec::new(), 0);
        for host in &hosts {
            let (piece, answered) = measure(|| resolve_host(&client, host, tries, &mut sum));
            answered?;
            each.push(json!({"name": host, "tries": tries, "elapsed_ns": piece.elapsed}));
            all += piece.elapsed;
        }
        Ok((sum, each, all))
    };
    let (server_told, resolver_told) = report.phase("resolve", || {
        scope(|scope| {
            let silent = thread(scope, "server", || take_queries(&server, &done))?;
            let resolver = thread(scope, "resolver", resolve);
            let resolver = resolver.map(std::thread::ScopedJoinHandle::join);
            done.store(true, Ordering::Release);
            // What ends the server.
            client.send(&[0])?;
            io::Result::Ok((joined(silent.join())?, joined(resolver?)?))
        })
    })?;
    let ((server, (queries, names)), (resolver, (sum, each, all))) = (server_told, resolver_told);
    report.thread(&server, &[]);
    report.thread(&resolver, &[("hosts", each.into())]);
    report.tell("hosts", hosts.len());
    report.tell("queries", sum.queries);
    report.tell("timeouts", sum.timeouts);
    report.tell("server_queries", queries);
    report.tell("server_hosts", names.len());
    report.tell("waited_ns", sum.waited.elapsed - sum.waited.cpu);
    report.tell("resolve_ns", all);
    Ok(())
}

fn joined<T>(ended: std::thread::Result<(ThreadTold, io::Result<T>)>) -> io::Result<(ThreadTold, T)> {
    let (told, result) = ended.map_err(|_| io::Error::other("a thread panicked"))?;
    Ok((told, result?))
}

fn main() -> ExitCode {
    run(&USAGE, work)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_has_its_host() {
        let bytes = query(7, "a.example.org");
        assert_eq!(bytes.len(), 12 + 15 + 4);
        assert_eq!(host_of(&bytes).as_deref(), Some("a.example.org"));
        for cut in 0..bytes.len() {
            let _ = host_of(&bytes[..cut]);
        }
        assert_eq!(host_of(&[0]), None);
    }
}
