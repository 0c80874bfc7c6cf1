//! The tools themselves read what was written, where they are at hand.

use std::path::Path;
use std::process::{Command, Output};

use tracesift_export::{firefox, perfetto, pprof, speedscope};
use tracesift_fixtures::skipped;

use crate::synthetic;

/// The output of a command that worked; none, with the reason, where it is not there.
fn run(command: &mut Command, reason: &str) -> Option<Output> {
    match command.output() {
        Ok(output) => Some(output),
        Err(error) => {
            skipped(&format!("{reason}: {error}"));
            None
        }
    }
}

/// Runs Python, if it has the module. `TRACESIFT_PYTHON` names another than `python3`.
fn python(module: &str, program: &str, arguments: &[&Path]) -> Option<String> {
    let python = std::env::var("TRACESIFT_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let found = run(Command::new(&python).args(["-c", &format!("import {module}")]), "no Python")?;
    if !found.status.success() {
        skipped(&format!("Python has no module {module}"));
        return None;
    }
    let output = Command::new(&python).args(["-c", program]).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap().trim().to_owned())
}

#[test]
fn go_tool_pprof_sums_functions() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("small.pb.gz");
    let mut file = std::fs::File::create(&path).unwrap();
    pprof::write(&synthetic::small().fold(), &mut file).unwrap();
    let mut go = Command::new("go");
    go.args(["tool", "pprof", "-top", "-unit=ms"]).arg(&path).env("PPROF_TMPDIR", directory.path());
    let Some(output) = run(&mut go, "no go") else { return };
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    let row =
        |name: &str| rows.iter().find(|row| row.get(5) == Some(&name)).unwrap_or_else(|| panic!("{name}: {text}"));
    assert!(text.contains("Total samples = 100ms"), "{text}");
    assert_eq!(row("server.exe!next_token")[..5], ["40ms", "40.00%", "40.00%", "40ms", "40.00%"]);
    assert_eq!(row("server.exe!next_token")[6], "(inline)");
    assert_eq!(row("server.exe!handle_request")[3], "70ms");
}

#[test]
fn speedscope_schema() {
    let Ok(schema) = std::env::var("TRACESIFT_SPEEDSCOPE_SCHEMA") else {
        return skipped(
            "TRACESIFT_SPEEDSCOPE_SCHEMA does not name file-format-schema.json of the npm package speedscope",
        );
    };
    const PROGRAM: &str = "import json, sys, jsonschema\n\
        jsonschema.validate(json.load(open(sys.argv[1])), json.load(open(sys.argv[2])))\n\
        print('valid')";
    for profile in [synthetic::small(), synthetic::hostile(), synthetic::deep(100), synthetic::large(500, 50, 3)] {
        let file = tempfile::NamedTempFile::new().unwrap();
        speedscope::write(&profile, &mut file.as_file()).unwrap();
        let Some(answer) = python("jsonschema", PROGRAM, &[file.path(), Path::new(&schema)]) else { return };
        assert_eq!(answer, "valid");
    }
}

#[test]
fn perfetto_messages() {
    // No field that Perfetto does not know, and the sums.
    const PROGRAM: &str = "
import sys
from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb
def unknown(message):
    count = len(UnknownFieldSet(message))
    for field, value in message.ListFields():
        if field.message_type:
            many = value if hasattr(value, '__len__') else [value]
            count += sum(unknown(one) for one in many)
    return count
trace = pb.Trace()
trace.ParseFromString(open(sys.argv[1], 'rb').read())
slices = sum(1 for p in trace.packet if p.track_event.type == pb.TrackEvent.TYPE_SLICE_BEGIN)
print(unknown(trace), sum(p.stack_sample.primary_weight for p in trace.packet), slices)";
    let file = tempfile::NamedTempFile::new().unwrap();
    perfetto::write(&synthetic::small(), &mut file.as_file()).unwrap();
    let Some(answer) = python("perfetto.protos.perfetto.trace.perfetto_trace_pb2", PROGRAM, &[file.path()]) else {
        return;
    };
    assert_eq!(answer, "0 100000000 2");
}

#[test]
fn firefox_profiler_reads_and_upgrades() {
    let Ok(reader) = std::env::var("TRACESIFT_FIREFOX_READER") else {
        return skipped(
            "TRACESIFT_FIREFOX_READER does not name a script for node that exports unserializeProfileOfArbitraryFormat \
             of the profiler's process-profile",
        );
    };
    const PROGRAM: &str = "const { unserializeProfileOfArbitraryFormat: read } = require(process.argv[1]);
read(require('fs').readFileSync(process.argv[2], 'utf8')).then((profile) => {
  const sum = profile.threads.map((thread) => thread.samples.weight.reduce((a, b) => a + b, 0)).reduce((a, b) => a + b, 0);
  console.log(profile.threads.length, sum);
});";
    let file = tempfile::NamedTempFile::new().unwrap();
    firefox::write(&synthetic::small(), &mut file.as_file()).unwrap();
    let mut node = Command::new("node");
    let Some(output) = run(node.args(["-e", PROGRAM, &reader]).arg(file.path()), "no node") else { return };
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "4 100", "{}", String::from_utf8_lossy(&output.stderr));
}
