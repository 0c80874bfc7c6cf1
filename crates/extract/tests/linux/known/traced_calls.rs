//! Calls of sockets as `strace` prints them, beside those of a recording.

use std::collections::BTreeMap;

use tracesift_fixtures::skipped;
use tracesift_trace::rows::{SocketCallRow, socket_operations as operations};

use super::measured::{Measured, in_one_of_several, record_words};

/// Durations of calls, ns, by thread and operation, in the order in which the calls of a thread ended.
type Calls = BTreeMap<(i64, i8), Vec<i64>>;

fn operation(name: &str) -> Option<i8> {
    Some(match name {
        "socket" => operations::CREATE,
        "bind" => operations::BIND,
        "listen" => operations::LISTEN,
        "connect" => operations::CONNECT,
        "accept" | "accept4" => operations::ACCEPT,
        "sendto" | "sendmsg" | "sendmmsg" => operations::SEND,
        "recvfrom" | "recvmsg" | "recvmmsg" => operations::RECEIVE,
        "shutdown" => operations::SHUT_DOWN,
        "setsockopt" | "getsockopt" => operations::OPTION,
        _ => return None,
    })
}

/// A line of `strace -f -T`: `7 listen(3, 128) = 0 <0.000012>`, or `7 <... listen resumed>) = 0 <0.000012>`. Calls that did not end have no
/// duration.
fn traced(log: &str) -> Calls {
    let call = |line: &str| {
        let (tid, rest) = line.split_once(' ')?;
        let rest = rest.trim_start();
        let name = match rest.strip_prefix("<... ") {
            Some(rest) => rest.split_once(' ')?.0,
            None => rest.split_once('(')?.0,
        };
        let (_, seconds) = rest.strip_suffix('>')?.rsplit_once('<')?;
        let microseconds = seconds.parse::<f64>().ok()? * 1e6;
        Some(((tid.parse().ok()?, operation(name)?), microseconds.round() as i64 * 1000))
    };
    let mut calls = Calls::new();
    for (of, duration) in log.lines().filter_map(call) {
        calls.entry(of).or_default().push(duration);
    }
    calls
}

/// The calls that ended of these threads.
fn recorded(measured: &Measured, threads: &Calls) -> Calls {
    let rows: Vec<SocketCallRow> = measured.extracted.archive.rows().expect("calls");
    let mut calls = Calls::new();
    for row in rows.iter().filter(|row| row.status.is_some() && row.operation <= operations::OPTION) {
        let thread = row.thread.map(|thread| measured.extracted.threads[thread.index()].tid);
        let is_traced = |tid: &i64| threads.keys().any(|(traced, _)| traced == tid);
        // `strace -e trace=network` has no calls of files, such as `close`.
        if let Some(tid) = thread.filter(is_traced).filter(|_| row.operation != operations::CLOSE) {
            calls.entry((tid, row.operation)).or_default().push(row.time - row.start);
        }
    }
    calls
}

#[test]
fn calls_are_those_that_strace_prints() {
    if !std::process::Command::new("strace").arg("-V").output().is_ok_and(|output| output.status.success()) {
        return skipped("strace is not installed");
    }
    let directory = tempfile::tempdir().expect("a directory");
    let log = directory.path().join("strace.log");
    let program = std::env::current_exe().expect("this program");
    let (log_name, program) = (log.to_str().expect("a name"), program.to_str().expect("a name"));
    let strace = ["strace", "-f", "-T", "-qq", "-o", log_name, "-e", "trace=network"];
    let test = [program, "--exact", "known::talking::talking", "--ignored", "--nocapture"];
    let words = [&strace[..], &test].concat();
    let events = ["-a", "-e", "raw_syscalls:sys_enter", "-e", "raw_syscalls:sys_exit"];
    in_one_of_several(
        || {
            let measured = record_words(&words, &events)?;
            let traced = traced(&std::fs::read_to_string(&log).expect("a log"));
            Some((measured, traced))
        },
        |(measured, traced): &(Measured, Calls)| {
            let recorded = recorded(measured, traced);
            let counts =
                |calls: &Calls| calls.iter().map(|(of, durations)| (*of, durations.len())).collect::<BTreeMap<_, _>>();
            assert_eq!(counts(&recorded), counts(traced));
            assert!(traced.values().map(Vec::len).sum::<usize>() > 100, "{traced:?}");
            for (of, durations) in traced {
                for (told, found) in durations.iter().zip(&recorded[of]) {
                    // strace stops the thread before and behind the call. It prints whole microseconds.
                    assert!(found - 1000 <= *told, "{of:?}: {found} ns recorded, {told} ns traced");
                }
            }
        },
    );
}

#[test]
fn lines_of_strace() {
    let log = "7 socket(AF_INET, SOCK_STREAM, IPPROTO_IP) = 3 <0.000012>\n\
               8 accept4(3,  <unfinished ...>\n\
               7 connect(3, {sa_family=AF_INET}, 16) = -1 ECONNREFUSED (Connection refused) <0.000100>\n\
               8 <... accept4 resumed>{sa_family=AF_INET}, [16]) = 5 <1.500000>\n\
               7 getsockname(3, {}, [16]) = 0 <0.000001>\n\
               7 +++ exited with 0 +++\n";
    let expected = [
        ((7, operations::CREATE), vec![12_000]),
        ((7, operations::CONNECT), vec![100_000]),
        ((8, operations::ACCEPT), vec![1_500_000_000]),
    ];
    assert_eq!(traced(log), expected.into());
}
