//! Samples of CPU time without a time: their sums hold, and no figure puts them in a relation to a length of time.

use tracesift_ask::Ask;
use tracesift_ask::answer::Value;
use tracesift_ask::question::timeline::{LaneKind, Question};
use tracesift_ask::recording::{OpenRecording, Source};
use tracesift_testing::archive::create;
use tracesift_testing::rows::process;
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::CpuSampleRow;
use tracesift_trace::{Clock, Health, HealthKind, ProcessId, RowSink as _, ThreadId};

use crate::cells::{integer, value};

/// Total in ns and share of the process in a recording with one sample.
fn lane(health: &Health) -> (i64, Value) {
    let directory = tempfile::tempdir().expect("temporary directory");
    let mut writer = create(&directory.path().join("perf.sift"));
    writer.write_table(&[process(1, 10, "a")]);
    let sample = CpuSampleRow { process: ProcessId(1), thread: ThreadId(1), weight: 5_000, ..CpuSampleRow::default() };
    writer.cpu_sample(&sample);
    let info = TraceInfo { kind: "perf".to_owned(), end_ns: 19_999, cpu_count: 2, ..TraceInfo::default() };
    let archive = writer.finish(info, health, &Clock::new(0, 10_000_000)).expect("finished");
    let recording = OpenRecording::open(&Source::archive(archive)).expect("opened");
    let question = Question { lane: LaneKind::Process, ..Question::default() };
    let section = question.section(&recording).expect("an answer");
    let row = section.rows.first().expect("a row");
    (integer(&question, row, "total_ns"), value(&question, row, "percent").clone())
}

#[test]
fn they_have_no_share_of_the_time() {
    let mut health = Health::new();
    assert_eq!(lane(&health), (5_000, Value::Float(12.5)));
    health.add(HealthKind::SAMPLES_WITHOUT_TIME, 1, None, String::new);
    assert_eq!(lane(&health), (5_000, Value::None));
}
