//! The recordings that fuzzing of a whole extract starts from: small, and whole. With `WRITE_CORPUS=1` they are written.

use std::path::Path;

use tracesift_archive::Archive;
use tracesift_etl::write::PointerSize;
use tracesift_extract::{Options, Outcome, extract, unwatched};
use tracesift_scenario::{KeyStyle, Knobs, Rundown, Scenario, StackStyle, linux};
use tracesift_testing::recording::{only, perf_bytes};
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow};

/// Name and knobs of each recording.
fn recordings() -> Vec<(&'static str, Knobs)> {
    let plain = Knobs {
        cpus: 2,
        processes: 1,
        threads: 2,
        duration_ms: 12,
        mean_run_micros: 1_000,
        buffer_size: 8 * 1024,
        ..Knobs::default()
    };
    let keys = StackStyle::Keys(KeyStyle { create: true, capacity: Some(4), rundown: true });
    let difficult = Knobs {
        births: 1,
        deaths_percent: 50,
        reuse_ids: true,
        hangs: true,
        preemption: true,
        interrupts: true,
        rundown: Rundown::Late,
        late_user_halves: true,
        ..plain.clone()
    };
    let counting = Knobs {
        interval_changes: true,
        batched_samples: true,
        counter_samples: true,
        counters_at_switches: 3,
        ..plain.clone()
    };
    vec![
        ("stack_keys", Knobs { stacks: keys, ..plain.clone() }),
        ("compressed", Knobs { stacks: keys, compress: true, ..difficult.clone() }),
        ("difficult", difficult),
        ("counters", counting),
        ("windows7_32_bit", Knobs { windows7: true, pointer_size: PointerSize::Four, ..plain.clone() }),
        ("plain", plain),
    ]
}

/// The same of Linux machines.
fn linux_recordings() -> Vec<(&'static str, linux::Knobs)> {
    let knobs = linux::Knobs {
        bytes: 1 << 14,
        cpus: 2,
        processes: 3,
        threads: 5,
        events_per_birth: 5,
        ..linux::Knobs::default()
    };
    vec![
        ("perf_file", knobs),
        ("perf_stream", linux::Knobs { stream: true, seed: 2, ..knobs }),
        ("perf_every_kind", linux::Knobs { every_kind: true, seed: 3, ..knobs }),
    ]
}

#[test]
fn the_corpus_of_extracts_is_whole() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/extract"));
    let windows = recordings().into_iter().map(|(name, knobs)| {
        let write: Box<dyn Fn() -> Vec<u8>> =
            Box::new(move || Scenario::random(1, &knobs).bytes().expect("a recording"));
        (name, write)
    });
    let linux = linux_recordings().into_iter().map(|(name, knobs)| {
        let write: Box<dyn Fn() -> Vec<u8>> = Box::new(move || perf_bytes(&knobs).0);
        (name, write)
    });
    for (name, write) in windows.chain(linux) {
        let file = folder.join(name);
        if std::env::var_os("WRITE_CORPUS").is_some() {
            std::fs::create_dir_all(folder).expect("a folder");
            std::fs::write(&file, write()).expect("written");
        }
        assert!(std::fs::metadata(&file).is_ok_and(|file| file.len() < 64 << 10), "{name}");
        let out = tempfile::tempdir().expect("directory");
        let recording = only(file);
        let options = Options { out: Some(out.path().to_owned()), ..Options::default() };
        let extraction = extract(&recording, &options, &mut unwatched).expect("extracted");
        let [Outcome::Extracted(report)] = &extraction.outcomes[..] else { panic!("{name}: one recording") };
        let archive = Archive::open(&report.archive).expect("archive");
        assert!(archive.row_count::<CpuSampleRow>() > 0 && archive.row_count::<ContextSwitchRow>() > 0, "{name}");
    }
}
