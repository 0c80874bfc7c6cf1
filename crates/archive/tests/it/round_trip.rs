//! What is written is read back: every row type, every value.

use std::ops::{ControlFlow, Range};

use proptest::prelude::*;
use tracesift_archive::{Archive, KeptColumns, RowBlock, Table, record_batch, rows_of};
use tracesift_testing::archive::{
    Random, TRACE, create, finish, listing, sample_batch, sample_rows, switch, write_switches,
};
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::*;
use tracesift_trace::schema::Row as _;
use tracesift_trace::{Clock, Health, RowSink as _, StackId, event_tables, every_table, view};

view! {
    /// The end of an off-CPU span.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct TimeOfThread of ContextSwitchRow { time, thread }
}

view! {
    /// The thread of a switch.
    #[derive(Clone, Copy, Debug)]
    struct ThreadOfSwitch of ContextSwitchRow { thread }
}

view! {
    /// The text of a mark, without its time.
    #[derive(Clone, Debug)]
    struct TextOfMark of MarkRow { text }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_row_comes_back(seed: u64, count in 0..60_usize) {
        let root = tempfile::tempdir().expect("temporary directory");
        let mut writer = create(&root.path().join("x.sift"));
        macro_rules! write {
            ($($row:ident),+) => { $( writer.write_table(&sample_rows::<$row>(seed, count)); )+ };
        }
        every_table!(write);
        let archive = Archive::open(&finish(writer)).expect("opened");
        archive.verify().expect("intact");
        macro_rules! compare {
            ($($row:ident),+) => { $(
                prop_assert_eq!(archive.rows::<$row>().expect("rows"), sample_rows::<$row>(seed, count));
                prop_assert_eq!(archive.row_count::<$row>(), count as u64);
            )+ };
        }
        every_table!(compare);
    }

    #[test]
    fn rows_have_every_value_of_their_columns(seed: u64, count in 0..60_usize) {
        macro_rules! compare {
            ($($row:ident),+) => { $(
                let batch = sample_batch($row::TABLE, seed, count);
                let rows = rows_of::<$row>(&batch).expect("rows");
                prop_assert_eq!(record_batch(TRACE, &rows).expect("batch"), batch);
            )+ };
        }
        every_table!(compare);
    }
}

#[test]
fn rows_of_the_sink_come_back() {
    let root = tempfile::tempdir().expect("temporary directory");
    let mut writer = create(&root.path().join("x.sift"));
    macro_rules! push {
        ($($(#[$doc:meta])* $method:ident($row:ident) in $table:ident),+ $(; $($rest:tt)+)?) => {
            $(
                for row in sample_rows::<$row>(11, 300) {
                    writer.$method(&row);
                }
            )+
            $(push!($($rest)+);)?
        };
    }
    event_tables!(push);
    let archive = Archive::open(&finish(writer)).expect("opened");
    macro_rules! compare {
        ($($(#[$doc:meta])* $method:ident($row:ident) in $table:ident),+ $(; $($rest:tt)+)?) => {
            $(
                assert_eq!($row::TABLE.name, stringify!($table));
                assert_eq!(archive.rows::<$row>().expect("rows"), sample_rows::<$row>(11, 300), stringify!($method));
            )+
            $(compare!($($rest)+);)?
        };
    }
    event_tables!(compare);
}

#[test]
fn many_rows_come_back_in_order() {
    let root = tempfile::tempdir().expect("temporary directory");
    // More than one row group, and no multiple of a batch.
    let archive = Archive::open(&write_switches(&root.path().join("x.sift"), 700_001)).expect("opened");
    archive.verify().expect("intact");
    let rows = archive.rows::<ContextSwitchRow>().expect("rows");
    assert_eq!(rows.len(), 700_001);
    assert!(rows.iter().zip(0..).all(|(row, index)| *row == switch(index)));
}

fn sealed<'a, T: Table>(rows: impl IntoIterator<Item = &'a T>) -> RowBlock<T> {
    let mut block = RowBlock::default();
    rows.into_iter().for_each(|row| block.push(row));
    block.seal();
    block
}

#[test]
fn rows_of_blocks_come_back_with_their_stacks() {
    let root = tempfile::tempdir().expect("temporary directory");
    let kept = KeptColumns::new(usize::MAX).with::<TimeOfThread>();
    let writer = create(&root.path().join("x.sift")).keeping(kept);
    // More than two batches of switches, every third of which has a stack, and a sample after each of the first ones.
    let mut switches: Vec<ContextSwitchRow> = (0..80_000).map(switch).collect();
    switches.iter_mut().step_by(3).for_each(|row| row.wait_stack = Some(StackId((row.time / 10_000 % 4) as i32)));
    let mut samples: Vec<CpuSampleRow> = (0..200)
        .map(|time| CpuSampleRow { time, stack: Some(StackId((time % 5) as i32)), ..Default::default() })
        .collect();
    let stacks = [Some(StackId(7)), None, Some(StackId(5)), Some(StackId(6))];
    let (block, block_of_samples) = (sealed(&switches), sealed(&samples));
    let mut apart = writer.scheduling_apart().expect("an encoder");
    for start in (0..80_000).step_by(1_000) {
        apart.switches(&block, start..start + 900, &stacks);
        for row in &mut switches[start..start + 1_000] {
            row.wait_stack = row.wait_stack.and_then(|place| stacks[place.index()]);
        }
        switches[start + 900..start + 1_000].iter().for_each(|row| apart.switch(row));
    }
    apart.samples(&block_of_samples, 0..70, &stacks);
    apart.samples(&block_of_samples, 70..usize::MAX, &stacks);
    drop(apart);
    for row in &mut samples {
        row.stack = row.stack.and_then(|place| stacks.get(place.index()).copied().flatten());
    }
    let mut sealing = writer.seal(TraceInfo::default(), &Clock::new(0, 10_000_000));
    let mut times = Vec::new();
    sealing.take_kept().scan(|row: &TimeOfThread| times.push(row.time)).expect("kept");
    assert!(times.iter().eq(switches.iter().map(|row| &row.time)));
    let sealed = sealing.wait().expect("written");
    let path = sealed.finish(&Health::new(), &Clock::new(0, 10_000_000)).expect("finished");
    let archive = Archive::open(&path).expect("opened");
    assert!(archive.rows::<ContextSwitchRow>().expect("rows") == switches);
    assert_eq!(archive.rows::<CpuSampleRow>().expect("rows"), samples);
}

#[test]
fn rows_that_hardly_differ_are_not_taken_for_damage() {
    let root = tempfile::tempdir().expect("temporary directory");
    let mut writer = create(&root.path().join("x.sift"));
    let mut row: CpuSampleRow = sample_rows(8, 1).remove(0);
    for sample in 0..1_500_000 {
        row.time = sample * 1_000_000;
        writer.cpu_sample(&row);
    }
    let archive = Archive::open(&finish(writer)).expect("opened");
    assert_eq!(archive.rows::<CpuSampleRow>().expect("rows").len(), 1_500_000);
}

#[test]
fn deep_stacks_come_back() {
    let root = tempfile::tempdir().expect("temporary directory");
    let mut random = Random(3);
    let deep: Vec<StackRow> = (0..40)
        .map(|stack| StackRow {
            stack: tracesift_trace::StackId(stack),
            frames: (0..100_000).map(|_| tracesift_trace::FrameId(random.integer(0, i32::MAX))).collect(),
        })
        .collect();
    let mut writer = create(&root.path().join("x.sift"));
    deep.iter().for_each(|row| writer.stack(row));
    let archive = Archive::open(&finish(writer)).expect("opened");
    assert!(archive.rows::<StackRow>().expect("rows") == deep);
}

#[test]
fn an_empty_archive_has_the_tables_that_are_always_there() {
    let root = tempfile::tempdir().expect("temporary directory");
    let path = finish(create(&root.path().join("x.sift")));
    let mut expected: Vec<String> = TABLES
        .iter()
        .filter(|table| table.always)
        .map(|table| format!("{}.parquet", table.name))
        .chain(["trace.json".to_owned()])
        .collect();
    expected.sort();
    assert_eq!(listing(&path), expected);
    assert_eq!(listing(root.path()), ["x.sift"]);
    let size: u64 = expected.iter().map(|name| path.join(name).metadata().expect("size").len()).sum();
    assert!(size < 64 * 1024, "{size} bytes without a row");
    let archive = Archive::open(&path).expect("opened");
    archive.verify().expect("intact");
    assert_eq!(archive.rows::<ContextSwitchRow>().expect("absent"), []);
    assert_eq!(archive.rows::<StackRow>().expect("empty"), []);
}

#[test]
fn the_description_comes_back_with_health_and_clock() {
    let root = tempfile::tempdir().expect("temporary directory");
    let clock = Clock::new(1_000, 10_000_000);
    let mut health = Health::new();
    health.add(tracesift_trace::HealthKind::EVENTS_LOST, 42, Some(11_000), || "42 events on CPU 3".to_owned());
    let info = TraceInfo { machine: Some("HOST".to_owned()), tool_version: "9.9".to_owned(), ..Default::default() };
    let path = create(&root.path().join("x.sift")).finish(info, &health, &clock).expect("finished");
    let archive = Archive::open(&path).expect("opened");
    let info = archive.info();
    assert_eq!((info.id.as_str(), info.machine.as_deref(), info.tool_version.as_str()), (TRACE, Some("HOST"), "9.9"));
    assert_eq!((info.schema, info.clock_zero, info.clock_frequency), ([1, 7], 1_000, 10_000_000));
    let expected = HealthRow {
        kind: "events_lost".to_owned(),
        count: 42,
        first_time: Some(1_000_000),
        example: Some("42 events on CPU 3".to_owned()),
    };
    assert_eq!(archive.rows::<HealthRow>().expect("rows"), [expected]);
}

#[test]
fn every_file_carries_version_and_clock_and_only_signed_integers() {
    use parquet::basic::{LogicalType, Type as PhysicalType};
    use parquet::file::reader::{FileReader as _, SerializedFileReader};

    let root = tempfile::tempdir().expect("temporary directory");
    let archive = tracesift_testing::archive::small_archive(&root.path().join("x.sift"));
    for table in TABLES {
        let file = std::fs::File::open(archive.path().join(format!("{}.parquet", table.name))).expect("file");
        let reader = SerializedFileReader::new(file).expect("Parquet");
        let metadata = reader.metadata().file_metadata();
        let pairs = metadata.key_value_metadata().expect("metadata");
        let value = |key: &str| pairs.iter().find(|pair| pair.key == key).and_then(|pair| pair.value.clone());
        assert_eq!(value("tracesift.schema").as_deref(), Some("1.7"));
        assert_eq!(value("tracesift.clock_frequency").as_deref(), Some("10000000"));
        assert_eq!(value("ARROW:schema"), None);
        let schema = metadata.schema_descr();
        assert_eq!(schema.column(0).name(), "trace");
        for column in schema.columns() {
            let unsigned =
                matches!(column.logical_type_ref(), Some(LogicalType::Integer(integer)) if !integer.is_signed);
            assert!(!unsigned && column.physical_type() != PhysicalType::INT96, "{}", column.name());
        }
    }
}

#[test]
fn a_scan_gives_the_rows_that_touch_the_time() {
    let root = tempfile::tempdir().expect("temporary directory");
    let count = 600_000;
    let archive = Archive::open(&write_switches(&root.path().join("x.sift"), count)).expect("opened");
    let end = count * 10_000;
    for (from, to) in
        [(0, end), (5, 6), (end - 1, end + 5), (5_500_000_000, 5_500_010_000), (7, 7), (9, 3), (end * 2, end * 3)]
    {
        let mut rows = Vec::new();
        archive.scan(Some(from..to), |row: &TimeOfThread| rows.push(*row)).expect("scanned");
        let touches = |row: &ContextSwitchRow| from < to && row.off_time < to && row.time > from;
        let expected: Vec<TimeOfThread> =
            (0..count).map(switch).filter(touches).map(|row| TimeOfThread::from(&row)).collect();
        assert!(rows == expected, "{from}..{to}");
    }
}

#[test]
fn a_scan_by_points_in_time_has_each_row_once() {
    let root = tempfile::tempdir().expect("temporary directory");
    let mut writer = create(&root.path().join("x.sift"));
    for time in 0..1_000 {
        writer.mark(&MarkRow { time, cpu: 0, process: None, thread: None, text: String::new() });
    }
    let archive = Archive::open(&finish(writer)).expect("opened");
    let count = |range| {
        let mut rows = 0;
        archive.scan(Some(range), |_: &TextOfMark| rows += 1).expect("scanned");
        rows
    };
    assert_eq!([count(0..400), count(400..1_000), count(1_000..2_000), count(-5..0)], [400, 600, 0, 0]);
}

#[test]
fn a_scan_backwards_has_the_rows_in_the_other_order() {
    let root = tempfile::tempdir().expect("temporary directory");
    // More than one row group, and no multiple of a batch.
    let archive = Archive::open(&write_switches(&root.path().join("x.sift"), 700_001)).expect("opened");
    let mut index = 700_001;
    archive
        .scan_backwards(None, |row: &ContextSwitchRow| {
            index -= 1;
            assert_eq!(*row, switch(index));
        })
        .expect("scanned");
    assert_eq!(index, 0);

    let (from, to) = (switch(350_000).time, switch(650_000).time);
    let mut expected = (0..700_001).rev().map(switch).filter(|row| row.off_time < to && row.time > from);
    archive
        .scan_backwards(Some(from..to), |row: &ContextSwitchRow| {
            assert_eq!(Some(row), expected.next().as_ref());
        })
        .expect("scanned");
    assert_eq!(expected.next(), None);
}

#[test]
fn a_scan_backwards_ends_when_told() {
    let root = tempfile::tempdir().expect("temporary directory");
    let count = 700_001;
    let archive = Archive::open(&write_switches(&root.path().join("x.sift"), count)).expect("opened");
    for (time, wanted) in [(None, 1), (None, 20_000), (Some(0..switch(650_000).time), 3)] {
        let all = (0..count).rev().map(switch);
        let touching = all.filter(|row| time.as_ref().is_none_or(|time: &Range<i64>| row.off_time < time.end));
        let expected: Vec<ContextSwitchRow> = touching.take(wanted).collect();
        let mut rows = Vec::new();
        let some = |row: &ContextSwitchRow| {
            rows.push(row.clone());
            if rows.len() == wanted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        archive.scan_backwards_while(time.clone(), some).expect("scanned");
        assert_eq!(rows, expected);
    }
}

#[test]
fn a_scan_of_chosen_rows_has_these_in_time_and_stops_when_told() {
    let root = tempfile::tempdir().expect("temporary directory");
    let count = 100_001;
    let archive = Archive::open(&write_switches(&root.path().join("x.sift"), count)).expect("opened");
    let chosen = |row: &ThreadOfSwitch| row.thread.0 % 3 == 0;
    let (from, to) = (switch(500).time, switch(90_000).time);
    let mut expected =
        (0..count).map(switch).filter(|row| row.off_time < to && row.time > from && row.thread.0 % 3 == 0);
    let all = |row: &ContextSwitchRow| {
        assert_eq!(Some(row), expected.next().as_ref());
        ControlFlow::Continue(())
    };
    archive.scan_chosen(Some(from..to), chosen, all).expect("scanned");
    assert_eq!(expected.next(), None);
    let mut rows = 0;
    let some = |_: &ContextSwitchRow| {
        rows += 1;
        if rows == 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    archive.scan_chosen(None, chosen, some).expect("scanned");
    assert_eq!(rows, 5);
}

#[test]
fn a_scan_of_a_table_that_is_absent_shows_nothing() {
    let root = tempfile::tempdir().expect("temporary directory");
    let archive = Archive::open(&finish(create(&root.path().join("x.sift")))).expect("opened");
    archive.scan(None, |row: &MarkRow| panic!("{row:?}")).expect("absent table");
    archive.scan_backwards(None, |row: &MarkRow| panic!("{row:?}")).expect("absent table");
}

#[test]
fn column_names_are_unique_and_described() {
    for table in TABLES {
        let mut names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), table.columns.len(), "{}", table.name);
        assert!(table.columns.iter().all(|column| !column.meaning.is_empty() && !column.source.is_empty()));
        assert!(table.timing.columns().iter().all(|time| table.column(time).is_some_and(|column| !column.nullable)));
    }
    assert_eq!(ContextSwitchRow::TABLE.columns.len(), 22);
}
