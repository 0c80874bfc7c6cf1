//! Writers read along the columns of a profile: a million samples are not held once more.

use std::io::{self, Write};
use std::time::Instant;

use tracesift_export::{Grouping, Profile, firefox, folded, perfetto, pprof, speedscope};
use tracesift_fixtures::{alone, skipped};

use crate::synthetic;

/// Counts what is written, and keeps nothing.
#[derive(Default)]
struct Counted(u64);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The most memory that the process had, in KiB.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

#[test]
fn a_million_samples_are_streamed() {
    // The peak of memory is that of the whole process.
    if !alone("memory::a_million_samples_are_streamed") {
        return;
    }
    const SAMPLES: usize = 1_000_000;
    let profile = synthetic::large(SAMPLES, 3_000, 21);
    let Some(before) = peak() else {
        return skipped("no /proc/self/status");
    };
    type Writer = fn(&Profile, &mut Counted) -> io::Result<()>;
    let writers: [(&str, Writer); 3] =
        [("speedscope", speedscope::write), ("firefox", firefox::write), ("perfetto", perfetto::write)];
    for (name, write) in writers {
        let mut out = Counted::default();
        let start = Instant::now();
        write(&profile, &mut out).unwrap();
        println!("{name}: {} bytes in {:?}", out.0, start.elapsed());
    }
    let more = peak().unwrap().saturating_sub(before);
    // The samples are 24 bytes each; an index of four bytes is what the writers may have, with the tables of the catalog.
    println!("{more} KiB more than {before} KiB");
    assert!(more < 12 * SAMPLES as u64 / 1024, "{more} KiB more");

    let profile = profile.fold();
    let mut out = Counted::default();
    let start = Instant::now();
    pprof::write(&profile, &mut out).unwrap();
    println!("pprof: {} bytes in {:?}", out.0, start.elapsed());
    let start = Instant::now();
    folded::write(&profile, Grouping::Process, &mut out).unwrap();
    println!("folded: in {:?}", start.elapsed());
}
