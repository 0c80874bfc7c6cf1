//! Random damage to real recordings, all the way into archives: each ends in a sound archive or in one error, without a
//! panic, without a hang, in bounded memory.
//!
//! A few mutations per recording by default; `TRACESIFT_MUTATIONS=2000` for a thorough run, which needs `--release`.
//!
//! The tests run in processes of their own, as they measure the memory of the process and end it when it hangs.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tracesift_archive::Archive;
use tracesift_etl::write::PointerSize;
use tracesift_extract::input::file_kind::Format;
use tracesift_extract::input::{self, container};
use tracesift_extract::{EventSelection, Options, Outcome, unwatched};
use tracesift_fixtures::{alone, cases};
use tracesift_scenario::energy::Machine;
use tracesift_scenario::linux::Knobs;
use tracesift_scenario::tcp::{Conversation, Finish};
use tracesift_scenario::{allocations, dns, files, filters, handles, power, providers, sockets};
use tracesift_testing::recording::{only, perf_bytes};

/// Mutations of each recording, unless the environment says otherwise.
const MUTATIONS: u64 = 4;

/// Largest recording: those above differ from the others in length alone.
const LARGEST: u64 = 1 << 20;

/// Resident memory of the whole process: the budget of one extract.
#[cfg(target_os = "linux")]
const MEMORY_KIB: u64 = 512 << 10;

/// An intact extract of the largest recording takes a twentieth of a second.
const PATIENCE: Duration = Duration::from_secs(120);

#[test]
fn mutated_recordings_end_in_an_archive_or_an_error() {
    if alone("mutations::mutated_recordings_end_in_an_archive_or_an_error") {
        hold(&recordings());
    }
}

/// What no small real recording has: the scheduler's tracepoints, births and deaths, every kind of record.
#[test]
fn mutated_synthetic_perf_data_ends_in_an_archive_or_an_error() {
    if !alone("mutations::mutated_synthetic_perf_data_ends_in_an_archive_or_an_error") {
        return;
    }
    let knobs = Knobs {
        bytes: 1 << 16,
        cpus: 2,
        processes: 3,
        threads: 5,
        events_per_birth: 5,
        lost_percent: 5,
        every_kind: true,
        ..Knobs::default()
    };
    let recording = |stream| perf_bytes(&Knobs { stream, ..knobs }).0;
    hold(&[("synthetic file".to_owned(), recording(false)), ("synthetic stream".to_owned(), recording(true))]);
}

/// What no real recording has: the events of files, filters, handles, memory, names, connections, sockets and power.
#[test]
fn mutated_classes_of_windows_end_in_an_archive_or_an_error() {
    if alone("mutations::mutated_classes_of_windows_end_in_an_archive_or_an_error") {
        let sizes = [PointerSize::Four, PointerSize::Eight];
        let all: Vec<(String, Vec<u8>)> = sizes.into_iter().flat_map(classes).collect();
        hold(&all);
    }
}

/// A recording of each class.
fn classes(size: PointerSize) -> Vec<(String, Vec<u8>)> {
    let mut events = Vec::new();
    dns::slow_browser((7, 12)).iter().for_each(|lookup| lookup.log(size, &mut events));
    sockets::story().iter().for_each(|call| call.log(size, &mut events));
    let conversation = Conversation {
        caller: (7, 12),
        tcb: 0x8765_4000,
        local: ([10, 0, 0, 1], 50_000),
        remote: ([10, 0, 0, 2], 443),
        start: Some(1_000),
        first_data: 200_000_000,
        segments: 30,
        sequence: u32::MAX - 20_000,
        seed: 3,
        finish: Finish::Closed,
    };
    conversation.log(size, &mut events);
    events.extend(power::windows_10(5_000_000, &[], size));
    events.extend(Machine::of_two_cpus().windows_readings(0, size));
    let operations = files::operations(4);
    let (of_filters, calls) = filters::calls(5);
    let all = [
        ("allocations", allocations::story().write(size)),
        ("handles", handles::story().write(size)),
        ("files", files::write(&operations, files::Source::Class(3), size, true)),
        ("files of the provider", files::write(&operations, files::Source::Provider(1), size, true)),
        ("filters", filters::write_with_operations(&of_filters, &calls, size, true)),
        ("providers", providers::write(size, 120, &[(7, "a.exe")], events)),
    ];
    all.map(|(name, bytes)| (format!("{name}, {size:?}"), bytes.expect("a recording"))).into()
}

fn hold(recordings: &[(String, Vec<u8>)]) {
    let asked = std::env::var("TRACESIFT_MUTATIONS").ok();
    let mutations: u64 = asked.map_or(MUTATIONS, |text| text.parse().expect("a number of mutations"));
    let watchdog = Watchdog::start();
    for (name, intact) in recordings {
        assert!(extract(name, intact).is_ok(), "{name} is intact at first");
        let (mut archives, started) = (0, Instant::now());
        for number in 0..mutations {
            let what = format!("{name}, mutation {number}");
            watchdog.now_at(&what);
            let mutated = mutate(intact, &mut Random::new(name, number));
            match catch_unwind(AssertUnwindSafe(|| extract(name, &mutated))) {
                Ok(Ok(())) => archives += 1,
                Ok(Err(error)) => {
                    assert!(!error.contains('\n'), "{what}: {error}");
                    assert!(!error.contains("stopped"), "{what}: a thread panicked: {error}");
                }
                Err(_) => panic!("{what}: panicked"),
            }
        }
        say(&format!("{name}: {archives} of {mutations} gave an archive, {:?}", started.elapsed()));
        check_memory(name);
    }
}

/// Names and bytes of the small recordings of the shared cases, those in archive files included.
fn recordings() -> Vec<(String, Vec<u8>)> {
    let (Some(windows), Some(linux)) = (cases("etl"), cases("perf")) else { return Vec::new() };
    let is_recording = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        input::file_kind::is_recording_name(&name) || input::file_kind::may_be_recording_name(&name)
    };
    let mut files: Vec<PathBuf> = windows
        .read_dir()
        .expect("readable")
        .chain(linux.read_dir().expect("readable"))
        .map(|entry| entry.expect("entry").path())
        .filter(is_recording)
        .filter(|path| !path.ends_with("empty.etl"))
        .collect();
    files.sort();
    let mut recordings = Vec::new();
    for file in files {
        let mut unwatched = |_| ControlFlow::Continue(());
        let opened = container::open_file(&file, &input::OpenOptions::default(), &mut unwatched).expect("opens");
        for member in opened.members.iter().filter(|member| tracesift_etl::ReadAt::len(*member) <= LARGEST) {
            let mut bytes = vec![0; usize::try_from(tracesift_etl::ReadAt::len(member)).expect("small")];
            tracesift_etl::ReadAt::read_at(member, 0, &mut bytes).expect("read");
            let file = file.file_name().unwrap_or_default().to_string_lossy();
            recordings.push((format!("{file} {}", member.name().unwrap_or_default()).trim_end().to_owned(), bytes));
        }
    }
    assert!(recordings.len() >= 14 + 34, "{}", recordings.len());
    recordings
}

/// Extracts bytes. What they gave must be sound; an error comes back as its text and must leave nothing.
fn extract(name: &str, bytes: &[u8]) -> Result<(), String> {
    let folder = tempfile::tempdir().expect("directory");
    let file = folder.path().join("x.etl");
    std::fs::write(&file, bytes).expect("written");
    let recording = only(file);
    let out = folder.path().join("out");
    // Of Linux recordings the usual choice of single events is tried.
    let events = match Format::by_content(bytes) {
        Format::Etl => EventSelection::All,
        Format::Perf => EventSelection::Default,
    };
    let options = Options { out: Some(out.clone()), events: Some(events), ..Options::default() };
    match tracesift_extract::extract(&recording, &options, &mut unwatched) {
        Ok(extraction) => {
            for outcome in extraction.outcomes {
                let Outcome::Extracted(report) = outcome else { panic!("{name} was there") };
                Archive::open(&report.archive).and_then(|archive| archive.verify()).expect("a sound archive");
            }
            Ok(())
        }
        Err(error) => {
            let left = std::fs::read_dir(out).map_or(0, Iterator::count);
            assert_eq!(left, 0, "{name}: left behind after {error}");
            Err(error.to_string())
        }
    }
}

/// Bytes changed, a stretch copied, removed or zeroed, or the end cut off.
fn mutate(intact: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = intact.to_vec();
    let stretch = |random: &mut Random, at: usize| at..intact.len().min(at + 1 + random.below(64));
    match random.below(16) {
        0 => bytes.truncate(random.below(intact.len())),
        1 => {
            let (from, to) = (random.place(intact), random.place(intact));
            let from = stretch(random, from);
            let length = from.len().min(intact.len() - to);
            bytes.copy_within(from.start..from.start + length, to);
        }
        2 => {
            let at = random.place(intact);
            bytes.drain(stretch(random, at));
        }
        3 => {
            let at = random.place(intact);
            bytes[stretch(random, at)].fill(0);
        }
        4..8 => {
            // Where fields are, extreme values are the likeliest to do harm.
            for _ in 0..=random.below(3) {
                let at = random.place(intact) & !3;
                let length = [1, 2, 4, 8][random.below(4)].min(intact.len() - at);
                bytes[at..at + length].fill([0, 0xff, 0x7f, 0x80][random.below(4)]);
            }
        }
        8..12 => {
            for _ in 0..=random.below(8) {
                bytes[random.place(intact)] ^= 1 << random.below(8);
            }
        }
        _ => {
            for _ in 0..=random.below(32) {
                let at = random.place(intact);
                bytes[at] = random.below(256) as u8;
            }
        }
    }
    bytes
}

/// xorshift: the same mutations in every run.
struct Random(u64);

impl Random {
    fn new(name: &str, number: u64) -> Self {
        let mut random = Self((u64::from(crc32fast::hash(name.as_bytes())) << 32 | number << 1) | 1);
        // The first numbers of seeds that differ in few bits are alike.
        (0..16).for_each(|_| _ = random.below(1));
        random
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }

    /// A place in a recording: half of the time in its headers, which are a small part of it.
    fn place(&mut self, bytes: &[u8]) -> usize {
        let buffer = bytes.first_chunk().map_or(0, |size| u32::from_le_bytes(*size) as usize).clamp(1, bytes.len());
        let start = match self.below(4) {
            0 => 0,
            1 => self.below(bytes.len().div_ceil(buffer)) * buffer,
            _ => return self.below(bytes.len()),
        };
        // A buffer's header, and the record of the log file's header after the first one.
        let headers = if start == 0 { 512 } else { 128 };
        start + self.below(headers.min(bytes.len() - start))
    }
}

/// Ends the process when a mutation takes for ever, and says which one.
struct Watchdog(Arc<Mutex<Option<(String, Instant)>>>);

impl Watchdog {
    fn start() -> Self {
        let now: Arc<Mutex<Option<(String, Instant)>>> = Arc::default();
        let watched = Arc::downgrade(&now);
        std::thread::spawn(move || {
            while let Some(now) = watched.upgrade() {
                let now = now.lock().unwrap_or_else(PoisonError::into_inner).clone();
                if let Some((what, since)) = now
                    && since.elapsed() > PATIENCE
                {
                    say(&format!("{what}: no end after {PATIENCE:?}"));
                    std::process::abort();
                }
                std::thread::sleep(Duration::from_millis(100));
            }
        });
        Self(now)
    }

    fn now_at(&self, what: &str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((what.to_owned(), Instant::now()));
    }
}

#[cfg(target_os = "linux")]
fn check_memory(name: &str) {
    let status = std::fs::read_to_string("/proc/self/status").expect("status of this process");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("peak memory");
    let kib: u64 = peak.trim().trim_end_matches(" kB").parse().expect("a number");
    say(&format!("  peak memory so far {} MiB", kib >> 10));
    assert!(kib < MEMORY_KIB, "{name}: {kib} KiB resident");
}

#[cfg(not(target_os = "linux"))]
fn check_memory(_: &str) {}

#[expect(clippy::print_stderr, reason = "figures of a long run, and why it ends")]
fn say(text: &str) {
    eprintln!("{text}");
}
