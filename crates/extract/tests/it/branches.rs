//! Last branch records: the sums of recordings against the text that another reader made of the same files, and events of Windows that
//! are written here.

use std::collections::BTreeMap;
use std::io::Read as _;

use tracesift_etl::write::PointerSize;
use tracesift_scenario::branches as scenario;
use tracesift_testing::recording::{Extracted, Recording};
use tracesift_trace::FrameId;
use tracesift_trace::rows::{BranchRow, EntryFrameRow, FrameRow, ProcessRow, branch_kinds};

/// By pid and both addresses: branches, mispredicted ones, cycles.
type Sums = BTreeMap<(i64, u64, u64), [i64; 3]>;

/// The sums of the branches in a text of the messages that stand for the records.
fn sums_of_text(text: &str) -> Sums {
    let mut sums = Sums::new();
    let mut pid = 0;
    let mut branch: BTreeMap<&str, &str> = BTreeMap::new();
    for line in text.lines().map(str::trim) {
        match line.split_once(": ") {
            // Samples have a pid of 32 bits; what other records say for want of one is never used.
            Some(("pid", number)) => pid = number.parse::<u64>().expect("a pid") as i64,
            Some((name, value)) => _ = branch.insert(name, value),
            None if line == "branch_stack {" => branch.clear(),
            None if line == "}" && branch.contains_key("to_ip") => {
                let number = |name: &str| branch.get(name).map_or(0, |text| text.parse::<u64>().expect("a number"));
                let flag = |name: &str| branch.get(name) == Some(&"true");
                let (from, to) = (number("from_ip"), number("to_ip"));
                if (from, to) != (0, 0) {
                    let sum = sums.entry((pid, from, to)).or_default();
                    sum[0] += 1;
                    sum[1] += i64::from(flag("mispredicted"));
                    sum[2] += number("cycles") as i64;
                }
                branch.clear();
            }
            None => {}
        }
    }
    sums
}

/// The sums of the rows by pid, without what their frames are.
fn sums_of_rows(extracted: &Extracted) -> BTreeMap<i64, Vec<[i64; 3]>> {
    let archive = &extracted.archive;
    let processes: Vec<ProcessRow> = archive.rows().expect("processes");
    let frames: Vec<FrameRow> = archive.rows().expect("frames");
    // Branches of which more is told than of others of their pair have a row of their own.
    let mut of_pairs: BTreeMap<(i64, FrameId, FrameId), [i64; 3]> = BTreeMap::new();
    for row in archive.rows::<BranchRow>().expect("branches") {
        assert!(row.from.index() < frames.len() && row.to.index() < frames.len());
        let pid = processes[row.process.expect("a process").index()].pid;
        let sum = of_pairs.entry((pid, row.from, row.to)).or_default();
        let figures = [row.count, row.mispredicted.unwrap_or(0), row.cycles.unwrap_or(0)];
        sum.iter_mut().zip(figures).for_each(|(sum, figure)| *sum += figure);
    }
    let mut sums: BTreeMap<i64, Vec<[i64; 3]>> = BTreeMap::new();
    of_pairs.into_iter().for_each(|((pid, ..), sum)| sums.entry(pid).or_default().push(sum));
    sums.values_mut().for_each(|sums| sums.sort_unstable());
    sums
}

#[test]
fn sums_are_those_of_another_reader() {
    for name in ["perf.data.branch-4.14", "perf.data.branch_stack_hw_index", "perf.data.callgraph_and_branch-3.4"] {
        let shared = |path: String| tracesift_fixtures::cases(&path);
        let (Some(file), Some(text)) =
            (shared(format!("perf/{name}")), shared(format!("perf/golden/{name}.pb_text.gz")))
        else {
            return;
        };
        let mut golden = String::new();
        let text = std::fs::File::open(text).expect("a text");
        flate2::read::GzDecoder::new(text).read_to_string(&mut golden).expect("a text");
        let mut expected: BTreeMap<i64, Vec<[i64; 3]>> = BTreeMap::new();
        for ((pid, ..), sum) in sums_of_text(&golden) {
            expected.entry(pid).or_default().push(sum);
        }
        expected.values_mut().for_each(|sums| sums.sort_unstable());
        assert!(!expected.is_empty(), "{name}");
        let bytes = std::fs::read(file).expect("a recording");
        let found = sums_of_rows(&Recording::of("perf.data", &bytes).extract());
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn no_recording_without_branches_has_the_tables() {
    let (recording, _) = Recording::perf(&tracesift_scenario::linux::Knobs::default());
    let extracted = recording.extract();
    assert_eq!(extracted.archive.row_count::<BranchRow>(), 0);
    assert_eq!(extracted.archive.row_count::<EntryFrameRow>(), 0);
    assert!(!extracted.archive.path().join("branches.parquet").exists());
}

#[test]
fn branches_of_windows_are_those_that_were_written() {
    for (seed, pointers) in [(1, PointerSize::Four), (2, PointerSize::Eight)] {
        let story = scenario::story(seed, pointers);
        let bytes = scenario::write(&story, pointers).expect("a recording");
        let extracted = Recording::of("branches.etl", &bytes).extract();
        let archive = &extracted.archive;
        let processes: Vec<ProcessRow> = archive.rows().expect("processes");
        let frames: Vec<FrameRow> = archive.rows().expect("frames");
        let address = |frame: FrameId| frames[frame.index()].address.expect("code in no module").cast_unsigned();
        let rows: Vec<BranchRow> = archive.rows().expect("branches");
        assert!(rows.iter().all(|row| row.kind == branch_kinds::UNKNOWN));
        assert!(rows.iter().all(|row| (row.mispredicted, row.cycles) == (None, None)));
        let found: BTreeMap<(u32, u64, u64), i64> = rows
            .iter()
            .map(|row| {
                let pid = processes[row.process.expect("a process").index()].pid as u32;
                ((pid, address(row.from), address(row.to)), row.count)
            })
            .collect();
        assert_eq!(found.len(), rows.len(), "a pair of instructions is one row");
        assert_eq!(found, scenario::sums(&story));
    }
}
