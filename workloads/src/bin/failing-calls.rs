//! Calls the system for what cannot be had, and tries again.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::ExitCode;

use serde_json::json;
use tracesift_workloads::{Arguments, Kind, Method, Opt, Piece, Report, Usage, extra_cpu, measure, run, told};

const USAGE: Usage = Usage {
    name: "failing-calls",
    problem: "A program asks the system for what is not there, ignores the error and asks again: \
              nothing shows but the time that the calls take.",
    options: &[
        Opt {
            name: "rounds",
            kind: Kind::Count(1),
            default: "2000",
            meaning: "each does all of the calls, one of which succeeds",
        },
        Opt { name: "pause", kind: Kind::Time, default: "1ms", meaning: "how long it sleeps after each" },
        Opt { name: "dir", kind: Kind::Directory, default: "", meaning: "where; the system's temporary directory" },
    ],
    keys: &[
        (
            "truth.calls",
            "calls of the four that may fail: opening a file that is not there (three times a round) and one that is, \
                         making a directory that exists, removing one that is not empty",
        ),
        ("truth.failed", "calls that failed"),
        ("truth.failed_by_call", "how often, by call: open, create_directory, remove_directory"),
        ("truth.failed_by_error", "how often, by the system's number of the error"),
        ("truth.failing_cpu_ns", "CPU time in `call_in_vain`"),
    ],
    methods: &[Method { name: "call_in_vain", parts: |arguments| Ok(arguments.number("rounds")) }],
    lock: None,
};

/// What failed.
#[derive(Default)]
struct Failed {
    calls: u64,
    by_call: BTreeMap<&'static str, u64>,
    by_error: BTreeMap<i32, u64>,
}

impl Failed {
    fn count<T>(&mut self, call: &'static str, result: io::Result<T>) {
        self.calls += 1;
        if let Err(error) = result {
            *self.by_call.entry(call).or_default() += 1;
            *self.by_error.entry(error.raw_os_error().unwrap_or(0)).or_default() += 1;
        }
    }
}

#[inline(never)]
fn call_in_vain(directory: &Path, failed: &mut Failed) {
    for name in ["missing.cfg", "missing.ini", "missing.xml"] {
        failed.count("open", File::open(directory.join(name)));
    }
    failed.count("open", File::open(directory.join("there.txt")));
    failed.count("create_directory", fs::create_dir(directory));
    failed.count("remove_directory", fs::remove_dir(directory));
    extra_cpu!("call_in_vain");
}

fn work(arguments: &Arguments, report: &mut Report) -> io::Result<()> {
    let directory = tempfile::Builder::new().prefix("failing-calls-").tempdir_in(arguments.directory("dir"))?;
    fs::write(directory.path().join("there.txt"), "x")?;
    let pause = arguments.time("pause");
    let (told, (failed, piece)) = report.phase("fail", || {
        told("main", || {
            let (mut failed, mut sum) = (Failed::default(), Piece::default());
            for _ in 0..arguments.number("rounds") {
                sum += measure(|| call_in_vain(directory.path(), &mut failed)).0;
                std::thread::sleep(pause);
            }
            (failed, sum)
        })
    });
    report.thread(&told, &[]);
    report.tell("calls", failed.calls);
    report.tell("failed", failed.by_error.values().sum::<u64>());
    report.tell("failed_by_call", json!(failed.by_call));
    report.tell("failed_by_error", json!(failed.by_error));
    report.tell("failing_cpu_ns", piece.cpu);
    directory.close()
}

fn main() -> ExitCode {
    run(&USAGE, work)
}
