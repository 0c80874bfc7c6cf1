//! Every figure of the story comes out of its records.

use std::collections::BTreeMap;

use tracesift_scenario::story::{self, StoryFigures, TAGS, Tag};
use tracesift_scenario::{Event, OffCause, Truth};

const MS: i64 = 1_000_000;

/// What the truth says of one method of one process.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    cpu: i64,
    wait: i64,
    ready: i64,
    span: i64,
}

/// Indices of the names that a stack shows, or of the one whose tag wins.
fn find(truth: &Truth, process: &str, shows: impl Fn(usize) -> bool) -> Found {
    let mut found = Found::default();
    let (mut first, mut last) = (i64::MAX, i64::MIN);
    let mut see = |from: i64, to: i64| {
        first = first.min(from);
        last = last.max(to);
    };
    for sample in &truth.samples {
        if truth.processes[sample.process].name.as_deref() == Some(process) && sample.stack.is_some_and(&shows) {
            found.cpu += sample.weight;
            see(sample.time, sample.time);
        }
    }
    for switch in &truth.switches {
        let owner = &truth.processes[truth.threads[switch.thread].process];
        if owner.name.as_deref() == Some(process) && switch.wait_stack.is_some_and(&shows) {
            found.wait += switch.off.wait();
            found.ready += switch.off.ready();
            see(switch.off.from, switch.off.to);
        }
    }
    found.span = last.saturating_sub(first);
    found
}

fn function_names() -> BTreeMap<(String, String), &'static str> {
    let symbols = story::symbols().into_iter();
    symbols
        .map(|symbol| {
            let shown = format!("{}+0x{:x}", symbol.module, symbol.return_rva);
            ((symbol.module.to_owned(), shown), symbol.function)
        })
        .collect()
}

/// The tag of a stack: the match nearest the leaf.
fn tag_of(truth: &Truth, stack: usize, names: &BTreeMap<(String, String), &'static str>) -> Option<Tag> {
    truth.stack_names(stack).into_iter().find_map(|name| {
        let module = name.module.clone()?;
        let function = names.get(&(module.clone(), name.function.clone())).copied().unwrap_or(&name.function);
        TAGS.into_iter().find(|tag| tag.module == module && function.starts_with(tag.function))
    })
}

fn check(figures: &StoryFigures) {
    let scenario = story::scenario(figures);
    let truth = scenario.truth();
    let context = &figures.recording;
    for thread in &truth.threads {
        assert_eq!(thread.accounted(), thread.life.1 - thread.life.0, "{context}: {thread:?}");
    }
    assert_eq!(truth.broken_chains, 0, "{context}");
    assert!(truth.switches.iter().all(|switch| switch.off.cause != OffCause::Unknown), "{context}");
    for figure in &figures.methods {
        let method = truth.names.iter().position(|name| *name == figure.method).expect("method occurs");
        let shows: Vec<bool> = truth.stacks.iter().map(|stack| stack.contains(&method)).collect();
        let found = find(&truth, figure.process, |stack| shows[stack]);
        let expected = |value: usize| value as i64 * MS;
        assert_eq!(found.cpu, expected(figure.cpu), "{context}: CPU of {}", figure.method);
        for (value, known, what) in [
            (found.wait, figure.wait, "wait"),
            (found.ready, figure.ready, "ready"),
            (found.span, figure.span, "last - first"),
        ] {
            if let Some(known) = known {
                assert_eq!(value, expected(known), "{context}: {what} of {}", figure.method);
            }
        }
    }
    let names = function_names();
    let tags: Vec<Option<Tag>> = (0..truth.stacks.len()).map(|stack| tag_of(&truth, stack, &names)).collect();
    for figure in &figures.tags {
        let found = find(&truth, figure.process, |stack| tags[stack] == Some(figure.tag));
        let pair = (found.cpu, found.wait);
        assert_eq!(pair, (figure.cpu as i64 * MS, figure.wait as i64 * MS), "{context}: {}", figure.tag.name);
    }
    let writer = truth.process("FileWriter.exe").expect("FileWriter runs");
    assert_eq!(writer.exit_code, Some(figures.milliseconds as i32));
}

#[test]
fn serial_recordings_show_their_figures() {
    for figures in story::figures().iter().filter(|figures| figures.test == "CreateSerial") {
        check(figures);
    }
}

#[test]
fn parallel_recordings_show_their_figures() {
    for figures in story::figures().iter().filter(|figures| figures.test == "CreateParallel") {
        check(figures);
    }
}

/// The figures that the post states, literally.
#[test]
fn the_post_is_told_as_it_was_written() {
    let all = story::figures();
    let [scanned, _, checkpoint, _, clean, _] = all.as_slice() else { panic!("six recordings") };
    let method = |figures: &StoryFigures, function: &str| {
        let matches = |name: &str, symbol: Option<&str>| symbol == Some(function) || name.ends_with(function);
        let all = figures.methods.iter();
        all.clone().find(|figure| matches(&figure.method.function, figure.symbol)).cloned().expect("listed")
    };
    let create_files = method(scanned, "DataGenerator.CreateFiles");
    assert_eq!((create_files.cpu, create_files.wait, create_files.ready), (10_653, Some(672), Some(1_354)));
    assert_eq!(create_files.span, Some(12_695));
    assert_eq!(method(scanned, "StreamWriter.Dispose").cpu, 887);
    let strings: usize =
        ["ToStringAndClear", "AppendFormatted", ".Rent"].iter().map(|name| method(scanned, name).cpu).sum();
    assert_eq!(strings, 2_030, "about 2 s for interpolated strings");
    let tag = |figures: &StoryFigures, name: &str| {
        figures.tags.iter().find(|figure| figure.tag.name == name).copied().expect("listed")
    };
    assert_eq!(tag(scanned, "Windows Defender").cpu, 2_200);
    assert_eq!(tag(scanned, "Thread Sleep").wait, 750);
    assert_eq!(method(checkpoint, "NtfsCheckpointVolume").cpu, 873);
    let volume = tag(checkpoint, "NTFS Checkpoint Volume");
    assert_eq!((volume.cpu, volume.cpu + volume.wait), (857, 7_461));
    assert_eq!(clean.milliseconds, 7_066);
    assert_eq!(method(clean, "MiIssueHardFault").wait, Some(740));
    assert_eq!(checkpoint.milliseconds, clean.milliseconds + volume.cpu + volume.wait, "the stall explains it all");
}

/// Names of the processes of the thread that wakes and of the one that is woken; `None` for an interrupt.
fn wake_ups(figures: &StoryFigures) -> BTreeMap<(Option<String>, String), usize> {
    let scenario = story::scenario(figures);
    let machine = &scenario.machine;
    let name = |thread: usize| machine.processes[machine.threads[thread].process].name.clone();
    let mut pairs = BTreeMap::new();
    for record in &scenario.records {
        if let Event::Ready(ready) = &record.event {
            let by = (ready.flags & 1 == 0).then(|| name(ready.by));
            *pairs.entry((by, name(ready.thread))).or_insert(0) += 1;
        }
    }
    pairs
}

#[test]
fn nobody_is_woken_by_a_thread_that_has_nothing_to_do_with_it() {
    let (writer, scanner) = ("FileWriter.exe", "MsMpEng.exe");
    let known = [("cmd.exe", writer), (writer, "cmd.exe"), (writer, writer), ("System", writer)];
    let of_scans = [(scanner, writer), (writer, scanner)];
    for figures in story::figures() {
        let is_scanned = figures.tags.iter().any(|figure| figure.tag.name == "Windows Defender" && figure.wait > 0);
        let wake_ups = wake_ups(&figures);
        let of = |by: &str, woken: &str| wake_ups.get(&(Some(by.to_owned()), woken.to_owned())).copied().unwrap_or(0);
        assert_eq!((of("cmd.exe", writer), of(writer, "cmd.exe")), (1, 1), "{}", figures.recording);
        if is_scanned {
            let waits: usize = of(scanner, writer);
            assert!(waits >= 96, "{}: the scanner answers {waits} times", figures.recording);
        }
        for ((by, woken), count) in wake_ups {
            let Some(by) = by else { continue };
            let pair = (by.as_str(), woken.as_str());
            let is_known = known.contains(&pair) || is_scanned && of_scans.contains(&pair);
            assert!(is_known && by != "Idle", "{}: {by} wakes {woken} {count} times", figures.recording);
        }
    }
}

/// The main thread of the parallel tests waits for its workers, and the last one ends the wait.
#[test]
fn the_last_worker_ends_the_wait_of_the_main_thread() {
    for figures in story::figures().iter().filter(|figures| figures.test == "CreateParallel") {
        let truth = story::scenario(figures).truth();
        let longest = truth
            .switches
            .iter()
            .filter(|switch| {
                truth.processes[truth.threads[switch.thread].process].name.as_deref() == Some("FileWriter.exe")
            })
            .filter(|switch| switch.off.cause == OffCause::Blocked)
            .filter(|switch| {
                switch.wait_stack.is_some_and(|stack| {
                    truth.stack_names(stack).iter().any(|name| name.function.ends_with("CreateFilesParallel"))
                })
            })
            .max_by_key(|switch| switch.off.wait())
            .expect("a wait");
        let readier = longest.readier.expect("somebody ends it");
        assert_ne!(readier, longest.thread);
        assert_eq!(truth.threads[readier].process, truth.threads[longest.thread].process, "{}", figures.recording);
        assert_eq!(longest.off.ready(), 0);
    }
}

#[test]
fn the_scanner_fills_the_machine() {
    let figures = &story::figures()[0];
    let truth = story::scenario(figures).truth();
    let cpu = |name: &str| truth.process(name).map_or(0, |process| process.cpu);
    let while_writing = figures.milliseconds as i64 * MS;
    assert!(cpu("MsMpEng.exe") > 6 * while_writing, "{} ms", cpu("MsMpEng.exe") / MS);
    let quiet = story::scenario(&story::figures()[4]).truth();
    assert!(quiet.process("MsMpEng.exe").map_or(0, |process| process.cpu) < while_writing);
}

#[test]
fn the_demo_is_a_handful_of_small_files() {
    let folder = std::env::temp_dir().join(format!("tracesift-demo-{}", std::process::id()));
    let written = story::demo(&folder).expect("written");
    assert_eq!(written.len(), 6);
    for recording in &written {
        let bytes = std::fs::metadata(&recording.path).expect("written").len();
        assert!((500_000..8_000_000).contains(&bytes), "{}: {bytes} bytes", recording.path.display());
    }
    assert!(written[0].path.ends_with("CreateSerial_12695ms_TRACESIFT_CLT_TestStatus-Passed_20220404-101500.etl"));
    std::fs::remove_dir_all(&folder).expect("removed");
}
