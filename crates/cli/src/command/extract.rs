//! `extract`: recordings become archives, several at a time.

use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use chrono::Local;
use tracesift_archive::Archive;
use tracesift_ask::answer::Section;
use tracesift_ask::command_line;
use tracesift_ask::inputs::FoundInputs;
use tracesift_ask::limit::{Limit, LimitKind, in_two_lines};
use tracesift_ask::recording_label::path_text;
use tracesift_extract::input::{self, InputRecording, Purpose, SelectOptions, Target};
use tracesift_extract::{Budget, EventSelection, Extraction, Options, Outcome, Report};

use crate::args::ExtractArgs;
use crate::command::{found, symbols};
use crate::exit::{Exit, UsageError, is_broken_pipe};
use crate::output::cell;
use crate::progress::Progress;
use crate::terminal::Messages;

/// Extracts what the arguments name, says what became of each recording, and of a single one how to go on.
pub(crate) fn run(args: &ExtractArgs, messages: &Messages) -> anyhow::Result<Exit> {
    extract_and_say(args, Says::Everything, messages)
}

/// Extracts what the arguments name, and says only what fails.
pub(crate) fn run_quietly(args: &ExtractArgs, messages: &Messages) -> anyhow::Result<Exit> {
    extract_and_say(args, Says::Failures, messages)
}

/// What is told of recordings.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Says {
    Everything,
    Failures,
}

fn extract_and_say(args: &ExtractArgs, says: Says, messages: &Messages) -> anyhow::Result<Exit> {
    check(args)?;
    let (recordings, mut failed) = find(args, messages);
    if args.dry_run && !recordings.is_empty() {
        return list(&recordings, args, failed);
    }
    if recordings.is_empty() {
        if failed == 0 {
            messages.error("there is no recording to extract; name files, directories or wildcards, or loosen the choice of test runs");
        }
        return Ok(Exit::NothingUsable);
    }
    let jobs = jobs(args, recordings.len());
    let progress = Progress::new(recordings.len());
    let mut options = options(args, jobs);
    if let Some(path) = &args.symbols {
        let finder = symbols::finder(path, &[], args.sysroot.as_deref(), &args.search, &progress, messages)?;
        options.symbols = Some(Arc::new(finder));
    }
    let (archives, extracted, failures) = extract_all(&recordings, jobs, &options, says, &progress, messages)?;
    failed += failures;
    if let ([archive], Says::Everything) = (archives.as_slice(), says) {
        drop(progress);
        messages.next(&command_line::line(["tracesift", "overview", &path_text(archive)]));
    }
    Ok(Exit::of(extracted, failed))
}

/// The events of a table that is not written cannot be kept.
fn check(args: &ExtractArgs) -> Result<(), UsageError> {
    let asked = args.events.as_ref().filter(|events| !matches!(events, EventSelection::None));
    match asked.filter(|_| !args.tables.wants("events")) {
        None => Ok(()),
        Some(events) => Err(UsageError::new(
            format!("--events {events} keeps events in the table `events`, which --tables leaves out"),
            "leave out one of them, or name `events` among the tables",
        )),
    }
}

/// The recordings, and the number of arguments that gave none.
fn find(args: &ExtractArgs, messages: &Messages) -> (Vec<InputRecording>, usize) {
    let select = SelectOptions { base: ".".into(), recursive: args.recursive, purpose: Purpose::Extract };
    if let Some(name) = &args.merge {
        return match input::merge(name, &args.paths, &select) {
            Ok(recording) => (vec![recording], 0),
            Err(error) => {
                messages.error(&error.to_string());
                (Vec::new(), 1)
            }
        };
    }
    let selection = input::select(&args.paths, &select);
    selection.notes.iter().for_each(|note| messages.note(&note.to_string()));
    found::say(&selection.problems, messages);
    let recordings = selection.targets.into_iter().filter_map(|target| match target {
        Target::Recording(recording) => Some(recording),
        Target::Extract(_) => None,
    });
    let mut found = FoundInputs { recordings: recordings.collect(), ..FoundInputs::default() };
    found::keep_selected(&mut found, &args.runs.selection(Local::now().naive_local()));
    (found.recordings, selection.problems.len())
}

/// `--dry-run`: one line per recording.
fn list(recordings: &[InputRecording], args: &ExtractArgs, failed: usize) -> anyhow::Result<Exit> {
    let options = options(args, 1);
    let mut out = io::stdout().lock();
    for recording in recordings {
        let files: Vec<String> = recording.files.iter().map(|path| path.display().to_string()).collect();
        let what = match tracesift_extract::is_done(recording, &options) {
            true => "is up to date",
            false => "would be extracted",
        };
        writeln!(out, "{}", cell::clean(&format!("{}: {what}", files.join(", "))))?;
    }
    Ok(Exit::of(recordings.len(), failed))
}

/// As many as there are CPUs, and as the memory allows.
fn jobs(args: &ExtractArgs, recordings: usize) -> usize {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let wanted = args.jobs.map_or(cpus, usize::from);
    let usual = Budget::default().memory;
    let affordable = match (args.memory, args.jobs) {
        // Asked for explicitly: then each gets its share, however small.
        (None, _) | (_, Some(_)) => wanted,
        (Some(memory), None) => (memory / usual).max(1),
    };
    wanted.min(affordable).min(recordings).max(1)
}

fn options(args: &ExtractArgs, jobs: usize) -> Options {
    let usual = Budget::default();
    Options {
        out: args.out.clone(),
        overwrite: args.overwrite,
        events: args.events.clone(),
        tables: args.tables.clone(),
        cpu_event: args.event.clone(),
        sysroot: args.sysroot.clone(),
        budget: Budget {
            memory: args.memory.map_or(usual.memory, |memory| (memory / jobs).min(usual.memory)),
            temporary: args.temp.clone(),
            threads: Some(args.threads.map_or_else(|| Budget::threads_for(jobs), usize::from)),
            ..usual
        },
        ..Options::default()
    }
}

/// Extracts in parallel, and says of each recording what became of it as soon as it is through.
fn extract_all(
    recordings: &[InputRecording],
    jobs: usize,
    options: &Options,
    says: Says,
    progress: &Progress,
    messages: &Messages,
) -> anyhow::Result<(Vec<PathBuf>, usize, usize)> {
    let (next, extracted, failed) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let broken: Mutex<Option<anyhow::Error>> = Mutex::new(None);
    let limits: Mutex<Vec<Vec<Limit>>> = Mutex::default();
    let archives: Mutex<Vec<PathBuf>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some(recording) = recordings.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = extract(recording, options, progress);
                    progress.done();
                    let counter = if result.is_ok() { &extracted } else { &failed };
                    counter.fetch_add(1, Ordering::Relaxed);
                    if let (Ok(extraction), Ok(mut archives)) = (&result, archives.lock()) {
                        archives.extend(extraction.outcomes.iter().map(archive_of));
                    }
                    if says == Says::Failures && result.is_ok() {
                        continue;
                    }
                    let mut of_this = Vec::new();
                    let said = progress.suspend(|| say(recording, result, &mut of_this, messages));
                    limits.lock().unwrap_or_else(PoisonError::into_inner).append(&mut of_this);
                    if let (Err(error), Ok(mut broken)) = (said, broken.lock()) {
                        // Nobody listens any more; what is done is done, and the rest still is.
                        broken.get_or_insert(error);
                    }
                }
            });
        }
    });
    say_limits(limits.into_inner().unwrap_or_else(PoisonError::into_inner), messages);
    match broken.into_inner() {
        Ok(Some(error)) if !is_broken_pipe(&error) => Err(error),
        _ => Ok((archives.into_inner().unwrap_or_default(), extracted.into_inner(), failed.into_inner())),
    }
}

fn archive_of(outcome: &Outcome) -> PathBuf {
    match outcome {
        Outcome::UpToDate(archive) | Outcome::Named(archive, _) => archive.clone(),
        Outcome::Extracted(report) => report.archive.clone(),
    }
}

fn extract(
    recording: &InputRecording,
    options: &Options,
    progress: &Progress,
) -> Result<Extraction, tracesift_extract::Error> {
    let mut bar = progress.start(&recording.name);
    tracesift_extract::extract(recording, options, &mut |step| {
        bar.step(step);
        ControlFlow::Continue(())
    })
}

/// One line per recording: what was found. What limits it is for all of them together.
fn say(
    recording: &InputRecording,
    result: Result<Extraction, tracesift_extract::Error>,
    limits: &mut Vec<Vec<Limit>>,
    messages: &Messages,
) -> anyhow::Result<()> {
    let extraction = match result {
        Ok(extraction) => extraction,
        Err(error) => {
            messages.error(&error.to_string());
            return Ok(());
        }
    };
    extraction.notes.iter().for_each(|note| messages.note(&note.to_string()));
    let input = recording.files.first().map(|path| path.display().to_string()).unwrap_or_default();
    let mut out = io::stdout().lock();
    for outcome in &extraction.outcomes {
        let line = match outcome {
            Outcome::UpToDate(archive) => format!("{input}: {} is up to date", archive.display()),
            Outcome::Named(archive, named) => {
                format!("{input}: {} got names: {}", archive.display(), symbols::found(named))
            }
            Outcome::Extracted(report) => {
                let names = report.named.as_ref().map(|named| format!(", {}", symbols::found(named)));
                let found = found(report) + names.as_deref().unwrap_or_default();
                format!("{input}: {found} -> {}", report.archive.display())
            }
        };
        writeln!(out, "{}", cell::clean(&line))?;
        limits.extend(match outcome {
            Outcome::Extracted(report) => {
                let (tables, _) = tables(&report.archive);
                let samples = tables.iter().find(|(name, _)| name == "cpu_samples").map_or(0, |(_, rows)| *rows);
                vec![Limit::of_extract(&report.info, &report.health, samples)]
            }
            Outcome::UpToDate(_) | Outcome::Named(..) => Vec::new(),
        });
    }
    Ok(())
}

/// What limits the figures of new archives, in two lines for all of them.
fn say_limits(limits: Vec<Vec<Limit>>, messages: &Messages) {
    let lossy = limits.iter().flatten().any(|limit| limit.kind == LimitKind::Lost);
    let sections: Vec<Section> =
        limits.into_iter().map(|warnings| Section { warnings, ..Section::default() }).collect();
    for (place, line) in in_two_lines(&sections, true).into_iter().enumerate() {
        let cure = if lossy && place == 0 { "; `tracesift record --buffer` loses fewer" } else { "" };
        messages.warning(&format!("{line}{cure}"));
    }
}

/// `10.070 s, 179,474 records, 36 processes, 79,528 samples, 445.5 KB`
fn found(report: &Report) -> String {
    use tracesift_ask::answer::{Kind, Value};
    use tracesift_ask::time_format::TimeStyle;
    let show = |value: i64, kind: Kind| cell::text(&Value::Int(value), kind, TimeStyle::default(), None);
    let count = |number: u64, [one, many]: [&str; 2]| {
        let what = if number == 1 { one } else { many };
        format!("{} {what}", show(i64::try_from(number).unwrap_or(i64::MAX), Kind::Count))
    };
    let length = report.info.end_ns.saturating_sub(report.info.start_ns);
    let mut parts = vec![format!("{} s", show(length, Kind::Seconds)), count(report.records, ["record", "records"])];
    let (tables, bytes) = tables(&report.archive);
    for (table, what) in [
        ("processes", ["process", "processes"]),
        ("cpu_samples", ["sample", "samples"]),
        ("context_switches", ["switch", "switches"]),
        ("disk_io", ["disk operation", "disk operations"]),
        ("page_faults", ["page fault", "page faults"]),
        ("syscalls", ["system call", "system calls"]),
        ("events", ["event", "events"]),
        ("stacks", ["stack", "stacks"]),
    ] {
        if let Some((_, rows)) = tables.iter().find(|(name, rows)| name == table && *rows > 0) {
            parts.push(count(*rows, what));
        }
    }
    parts.push(size(bytes));
    parts.join(", ")
}

/// Bytes for people: three digits say enough here.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "KB")];
    match UNITS.iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => format!("{:.1} {name}", bytes as f64 / *unit as f64),
        None => format!("{bytes} B"),
    }
}

/// Names and rows of an archive's tables, and the bytes of all.
fn tables(archive: &Path) -> (Vec<(String, u64)>, u64) {
    let Ok(archive) = Archive::open(archive) else { return (Vec::new(), 0) };
    let tables = &archive.info().tables;
    let bytes = tables.iter().map(|table| table.bytes).fold(0, u64::saturating_add);
    (tables.iter().map(|table| (table.name.clone(), table.rows)).collect(), bytes)
}
