//! What samples of CPU time lack is told.

use crate::extracted::Extracted;
use crate::perf;

/// Which limits of its samples a recording of perf has.
fn limits(arguments: &[&str]) -> Option<Vec<&'static str>> {
    let arguments = [&["-e", "cpu-clock", "-F", "500"], arguments].concat();
    let recorded = perf::record(&arguments, &["sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"])?;
    let health = Extracted::of(&recorded.file).health;
    let kinds = ["no_cpu_event", "only_user_mode", "samples_without_time"];
    Some(kinds.into_iter().filter(|kind| health.get(kind) > 0).collect())
}

/// `perf record --per-thread` leaves times out unless it is asked for them.
#[test]
fn samples_without_time_or_kernel_are_told() {
    let Some(found) = limits(&["--per-thread"]) else { return };
    assert_eq!(found, ["samples_without_time"]);
    assert_eq!(limits(&["--per-thread", "--timestamp"]).unwrap(), [""; 0]);
    assert_eq!(limits(&["--per-thread", "--timestamp", "--all-user"]).unwrap(), ["only_user_mode"]);
    assert_eq!(limits(&[]).unwrap(), [""; 0]);
}
