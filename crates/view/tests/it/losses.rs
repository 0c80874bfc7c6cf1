//! Losses of the session: those of the health table, with the time of the first one of a kind.

use serde_json::json;
use tracesift_testing::archive::create;
use tracesift_testing::rows::{process, thread};
use tracesift_trace::info::TraceInfo;
use tracesift_trace::{Clock, Health, HealthKind};

use crate::support::Running;

#[test]
fn the_session_has_the_losses_of_the_health_table() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = create(&directory.path().join("lost.sift"));
    writer.write_table(&[process(1, 100, "a")]);
    writer.write_table(&[thread(0, 1, 1000)]);
    let mut health = Health::new();
    let mut add = |kind, count, ticks| health.add(kind, count, ticks, || "an example".to_owned());
    add(HealthKind::LOSS_RECORD, 3, Some(20));
    add(HealthKind::EVENTS_LOST, 40, None);
    add(HealthKind::BROKEN_SWITCH_CHAIN, 2, Some(7));
    // Recordings without damage have these, too.
    add(HealthKind::SYSCALLS_WITHOUT_ENTRY, 5, Some(9));
    let info = TraceInfo { end_ns: 6_000, ..TraceInfo::default() };
    let archive = writer.finish(info, &health, &Clock::new(0, 10_000_000)).unwrap();
    let server = Running::of(archive, directory);
    let loss =
        |ns: Option<i64>, count: i64, kind: HealthKind| json!({ "ns": ns, "count": count, "text": kind.meaning() });
    assert_eq!(
        server.get("/api/1/session").json()["recordings"][0]["losses"],
        json!([
            loss(Some(700), 2, HealthKind::BROKEN_SWITCH_CHAIN),
            loss(None, 40, HealthKind::EVENTS_LOST),
            loss(Some(2_000), 3, HealthKind::LOSS_RECORD),
        ])
    );
}
