//! A session that goes on in a new file when one is full: each file says when the session began, and holds its own part.

use std::io::Cursor;

use tracesift_ask::question::stats::{self, Row};
use tracesift_ask::recording::{OpenRecording, Source};
use tracesift_etl::Guid;
use tracesift_etl::format::file_mode;
use tracesift_etl::write::{Head, SessionOptions, Writer};
use tracesift_extract::input::OpenOptions;
use tracesift_testing::recording::{Recording, input_of};

/// The first and last record of the file, and its end, s since the session's start.
const FIRST: i64 = 1_242_270;
const LAST: i64 = 1_245_269;
const END: i64 = 1_245_270;
const SECOND: i64 = 10_000_000;

fn write(log_file_mode: u32) -> Vec<u8> {
    let options = SessionOptions { log_file_mode, ..SessionOptions::default() };
    let (zero, start) = (options.zero_ticks, options.start_filetime);
    let mut out = Writer::create(Cursor::new(Vec::new()), options).expect("a recording is begun");
    for second in (FIRST..=LAST).step_by(1_000).chain([LAST]) {
        let head = Head::Event {
            provider: Guid::from_u128(0x11),
            id: 1,
            version: 0,
            channel: 0,
            level: 4,
            opcode: 0,
            task: 0,
            keyword: 0,
            activity: Guid::from_u128(0),
            pid: 7,
            tid: 8,
            extended: &[],
        };
        out.record(0, zero + second * SECOND, &head, &[]).expect("written");
    }
    out.finish(start + END * SECOND).expect("finished").into_inner()
}

/// What `dump stats` says of the recording, and of its archive.
fn rows(log_file_mode: u32) -> [Row; 2] {
    let recording = Recording::of("part.etl", &write(log_file_mode));
    let raw = stats::recording(&input_of(recording.file()), &OpenOptions::default()).expect("read").rows.remove(0);
    let extracted = recording.extract();
    let opened = OpenRecording::open(&Source::archive(extracted.report.archive)).expect("opened");
    [raw, stats::archive(&opened).expect("read")]
}

#[test]
fn a_file_of_several_in_turn_spans_its_own_buffers() {
    for row in rows(file_mode::NEW_FILE) {
        assert_eq!(row.duration_s, Some((END - FIRST) as f64));
        // The session began on 2022-04-04 at 10:15:00, two weeks before.
        assert_eq!(row.start_time_utc.as_deref(), Some("2022-04-04T10:15:00.0000000Z"));
        assert_eq!(row.recorded_from_utc.as_deref(), Some("2022-04-18T19:19:30.0000000Z"));
        assert_eq!(row.end_time_utc.as_deref(), Some("2022-04-18T20:09:30.0000000Z"));
    }
}

#[test]
fn a_file_that_was_quiet_at_first_spans_its_session() {
    for row in rows(file_mode::SEQUENTIAL) {
        assert_eq!((row.duration_s, row.recorded_from_utc), (Some(END as f64), None));
    }
}
