//! `dump syscalls` over calls of Windows that are known: the listing of failed calls of a program, and sums.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tracesift_ask::answer::Value;
use tracesift_ask::question::syscalls::Question;
use tracesift_ask::recording::Source;
use tracesift_ask::table_question::Listing;
use tracesift_ask::{When, ask};
use tracesift_extract::Options;
use tracesift_extract::symbols::{ModuleNames, NameSource, Recorded, TableBuilder, Wanted};
use tracesift_scenario::PointerSize;
use tracesift_scenario::system_calls::{self, KERNEL, LISTING, PROCESSES, ROUTINES, Story};
use tracesift_testing::recording::{Extracted, Recording};

/// Names of the routines of the kernel.
#[derive(Debug)]
struct KernelNames;

impl NameSource for KernelNames {
    fn names(&self, _: &Recorded<'_>, wanted: &[Wanted<'_>]) -> Vec<Result<ModuleNames, String>> {
        let of = |wanted: &Wanted<'_>| {
            let mut builder = TableBuilder::new();
            for (number, (name, _)) in ROUTINES.iter().enumerate() {
                let function = builder.function(name, None, "pdb");
                let location = builder.location(None, function, None, 0);
                let start = system_calls::offset(number);
                builder.add(start, start + 0x40, location);
            }
            let table = builder.finish(KERNEL);
            (wanted.module.name == KERNEL).then_some(ModuleNames { table, base: 0 }).ok_or_else(String::new)
        };
        wanted.iter().map(of).collect()
    }
}

fn extracted(story: &Story) -> Extracted {
    let bytes = system_calls::write(story, PointerSize::Eight, false).expect("a recording");
    let options = Options { symbols: Some(Arc::new(KernelNames)), ..Options::default() };
    Recording::of("calls.etl", &bytes).extract_with(&options)
}

/// Rows of the answer as texts of these columns.
fn texts(extracted: &Extracted, question: &Question, columns: &[&str]) -> Vec<Vec<String>> {
    let source = Source::archive(extracted.report.archive.clone());
    let outcome = ask(&[source], question, &When::default());
    let at = |key: &str| outcome.answer.columns.iter().position(|column| column.key == key).expect("a column");
    let text = |value: &Value| match value {
        Value::Text(text) => text.to_string(),
        Value::Int(number) => number.to_string(),
        other => panic!("{other:?}"),
    };
    outcome.answer.rows().map(|row| columns.iter().map(|column| text(&row[at(column)])).collect()).collect()
}

/// `strace.exe(17016): NtOpenThreadTokenEx <- 0xC000007C`, and so on.
#[test]
fn failed_calls_of_a_program_stand_in_the_order_of_time() {
    let extracted = extracted(&system_calls::story(1, true));
    let question = Question::default().listed(Listing::Flat).sorted_by_word("start").expect("a word");
    let question = question.matching("--errors", "0xC*").expect("an option");
    let (pid, name, _) = PROCESSES[0];
    let rows = texts(&extracted, &question, &["process", "pid", "call", "result", "error"]);
    let own = rows.iter().filter(|row| row[1] == pid.to_string());
    let found: Vec<String> = own.map(|row| format!("{}({}): {} <- {}", row[0], row[1], row[2], row[3])).collect();
    let line = |(routine, status): &(usize, u32)| format!("{name}({pid}): {} <- 0x{status:X}", ROUTINES[*routine].0);
    assert_eq!(found, LISTING.iter().map(line).collect::<Vec<_>>());
    assert!(rows.iter().any(|row| row[4] == "STATUS_OBJECT_NAME_NOT_FOUND"), "{rows:?}");
}

#[test]
fn sums_are_those_of_the_calls() {
    let story = system_calls::story(2, true);
    let extracted = extracted(&story);
    let mut expected: BTreeMap<(u32, &str), [i64; 4]> = BTreeMap::new();
    for call in &story.calls {
        let sums = expected.entry((call.by.0, ROUTINES[call.routine].0)).or_default();
        sums[0] += 1;
        sums[1] += i64::from(call.status.is_some_and(|status| status >= 0x8000_0000));
        sums[2] += i64::from(call.status.is_none());
        sums[3] += call.end - call.start;
    }
    let columns = ["pid", "call", "calls", "failed", "open", "duration_sum_ns"];
    let rows = texts(&extracted, &Question::default(), &columns);
    let plain = |row: &Vec<String>| {
        let name = ROUTINES.iter().map(|(name, _)| *name).find(|name| *name == row[1]).expect("a routine");
        let numbers = [2, 3, 4, 5].map(|place| row[place].parse().expect("a number"));
        ((row[0].parse().expect("a pid"), name), numbers)
    };
    assert_eq!(rows.iter().map(plain).collect::<BTreeMap<_, [i64; 4]>>(), expected);

    // By status, by its name and by its number.
    for (errors, status) in [("STATUS_OBJECT_NAME_NOT_FOUND", 0xC000_0034), ("0x80000005", 0x8000_0005)] {
        let question = Question::default().matching("--errors", errors).expect("an option").by(&["error"]);
        let rows = texts(&extracted, &question.expect("a dimension"), &["calls"]);
        let count = story.calls.iter().filter(|call| call.status == Some(status)).count();
        assert_eq!(rows, [[count.to_string()]], "{errors}");
    }
}

/// Calls inside of calls, across switches: of each its own time off the CPUs, that of calls inside of it included.
#[test]
fn time_off_the_cpus_is_that_of_the_threads() {
    for seed in 1..=3 {
        let story = system_calls::story(seed, true);
        let extracted = extracted(&story);
        let waits: BTreeMap<(i64, u32), i64> = story.waits.iter().copied().collect();
        // Of a call that is open at the end the story has no wait.
        let mut open: BTreeSet<(u32, &str)> = BTreeSet::new();
        let mut expected: BTreeMap<(u32, &str), [i64; 2]> = BTreeMap::new();
        for call in &story.calls {
            let (name, returns) = ROUTINES[call.routine];
            let key = (call.by.1, name);
            if returns && call.status.is_none() {
                open.insert(key);
            }
            let off = waits.get(&(call.start, call.by.1)).copied().filter(|_| returns).unwrap_or(0);
            let sums = expected.entry(key).or_default();
            sums[0] += call.end - call.start - off;
            sums[1] += off;
        }
        expected.retain(|key, _| !open.contains(key));
        let question = Question::default().by(&["thread", "call"]).expect("dimensions");
        let rows = texts(&extracted, &question, &["tid", "call", "cpu_ns", "wait_ns"]);
        let found = rows.iter().map(|row| {
            let name = ROUTINES.iter().map(|(name, _)| *name).find(|name| *name == row[1]).expect("a routine");
            let [tid, on, off] = [0, 2, 3].map(|place: usize| row[place].parse::<i64>().expect("a number"));
            ((u32::try_from(tid).expect("a tid"), name), [on, off])
        });
        let mut found: BTreeMap<(u32, &str), [i64; 2]> = found.collect();
        found.retain(|key, _| !open.contains(key));
        assert_eq!(found, expected, "seed {seed}");
        assert!(expected.values().filter(|sums| sums[1] > 0).count() > 10, "too few calls waited: {expected:?}");
    }
}

/// Without symbols a call is called by its place in the kernel.
#[test]
fn calls_without_names_have_their_places() {
    let story = system_calls::story(1, false);
    let bytes = system_calls::write(&story, PointerSize::Four, false).expect("a recording");
    let extracted = Recording::of("calls.etl", &bytes).extract();
    let rows = texts(&extracted, &Question::default().by(&["call"]).expect("a dimension"), &["call"]);
    assert!(rows.iter().all(|row| row[0].starts_with("ntoskrnl.exe+0x1")), "{rows:?}");
}
