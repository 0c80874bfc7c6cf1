//! The history of a program that was built anew halfway: the change lies at the first run of the new build, and the build is named.
//!
//! `TRACESIFT_HISTORY_RUNS` is the number of runs of both builds together.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::PoisonError;

use serde_json::Value;
use tempfile::TempDir;
use tracesift_fixtures::skipped;

use crate::programs::RECORDING;
use crate::support::{said, tracesift};

/// Runs where nobody asks for others.
const RUNS: usize = 60;

/// `parse` takes a seventh longer in the new build, `print` as long as before.
const PROGRAM: &str = "
static volatile unsigned long sink;
static void __attribute__((noinline)) parse(unsigned long rounds) {
    for (unsigned long i = 0; i < rounds; i++) sink += i ^ (sink >> 3);
}
static void __attribute__((noinline)) print(unsigned long rounds) {
    for (unsigned long i = 0; i < rounds; i++) sink ^= i * 7 + (sink >> 5);
}
int main(void) {
    parse(PARSE);
    print(40000000);
    return 0;
}
";

const PLAN: &str = "
profiles = [\"Default\", \"CSwitch\"]
[[test]]
name = \"Import\"
command = [\"build/app\"]
repetitions = {runs}
cache = \"warm\"
";

#[test]
#[ignore = "takes long: cargo test --workspace --test workloads -- --ignored"]
fn the_change_is_the_new_build() {
    let _alone = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    let runs = std::env::var("TRACESIFT_HISTORY_RUNS").ok().map_or(RUNS, |runs| runs.parse().unwrap());
    let place = TempDir::new().unwrap();
    let directory = place.path();
    for (rounds, done) in [(200_000_000, runs / 2), (230_000_000, runs)] {
        if let Err(why) = build(directory, rounds) {
            return skipped(&why);
        }
        fs::write(directory.join("plan.toml"), PLAN.replace("{runs}", &done.to_string())).unwrap();
        let output = tracesift(directory, &["run", "plan.toml", "--format", "json"]);
        match output.status.code() {
            Some(0) => {}
            // There is no recorder, or it may not record.
            Some(1) => return skipped(&said(&output)),
            code => panic!("{code:?}: {}", said(&output)),
        }
    }
    let table = tracesift(directory, &["history", "recordings"]);
    let table = String::from_utf8_lossy(&table.stdout);
    println!("{table}");
    let answer = tracesift(directory, &["history", "recordings", "--format", "json"]);
    assert!(answer.status.success(), "{}", said(&answer));
    let found: Value = serde_json::from_slice(&answer.stdout).unwrap();
    let case = &found["cases"][0];
    assert_eq!((&case["case"], case["runs"].as_array().unwrap().len()), (&"Import".into(), runs));
    let changes = case["changes"].as_array().unwrap();
    let is_of_build = |change: &&Value| {
        let changed = change["what_changed"].as_array().unwrap();
        changed.iter().any(|event| event["kind"] == "module" && event["name"] == "app")
    };
    let of_build: Vec<&Value> = changes.iter().filter(is_of_build).collect();
    let [change] = of_build.as_slice() else { panic!("{} changes are the build's: {table}", of_build.len()) };
    assert_eq!(change["run"].as_u64(), Some(runs as u64 / 2), "{table}");
    let undisturbed = change["figures"].as_array().unwrap().iter().find(|figure| figure["name"] == "undisturbed");
    let undisturbed = undisturbed.unwrap();
    assert_eq!(undisturbed["verdict"], "slower", "{table}");
    // 30 of 240 million rounds, of which those of `print` take their own time.
    let ratio = undisturbed["ratio"].as_f64().unwrap();
    assert!((1.05..1.25).contains(&ratio), "{ratio}: {table}");
    let own = change["shown"].as_array().unwrap().iter().find(|row| row["disturbance"].is_null()).unwrap();
    assert!(own["text"].as_str().unwrap().contains("app!parse"), "{table}");
    // The machine may change, too, and nothing else of the test does.
    for other in changes.iter().filter(|change| !is_of_build(change)) {
        let figure =
            other["figures"].as_array().unwrap().iter().find(|figure| figure["name"] == "undisturbed").unwrap();
        assert!(figure["verdict"] != "slower" && figure["verdict"] != "faster", "{table}");
    }
}

/// Builds the program; why it cannot be built.
fn build(directory: &Path, rounds: u64) -> Result<(), String> {
    fs::create_dir_all(directory.join("build")).unwrap();
    fs::write(directory.join("app.c"), PROGRAM).unwrap();
    let mut compiler = Command::new("cc");
    compiler.current_dir(directory).args(["-O1", "-fno-omit-frame-pointer", "-Wl,--build-id"]);
    let built = compiler.arg(format!("-DPARSE={rounds}")).args(["-o", "build/app", "app.c"]).output();
    let built = built.map_err(|error| format!("there is no C compiler: {error}"))?;
    if built.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&built.stderr).into_owned()) }
}
