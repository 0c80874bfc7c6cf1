//! The scale file has the committed mix and streams in bounded memory.

use std::io::{self, Cursor, Seek, SeekFrom, Write};

use tracesift_etl::{EtlFile, Merge, MergeOptions};
use tracesift_scenario::scale;

/// Counts what is written and keeps nothing.
#[derive(Default)]
struct Counter {
    position: u64,
    length: u64,
    largest: usize,
}

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.position += bytes.len() as u64;
        self.length = self.length.max(self.position);
        self.largest = self.largest.max(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Counter {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.position = match to {
            SeekFrom::Start(position) => position,
            SeekFrom::End(offset) => self.length.saturating_add_signed(offset),
            SeekFrom::Current(offset) => self.position.saturating_add_signed(offset),
        };
        Ok(self.position)
    }
}

#[test]
fn the_mix_is_as_committed() {
    let mut counter = Counter::default();
    let figures = scale(&mut counter, 256 << 20, 1).expect("written");
    assert!(counter.length >= 256 << 20 && counter.length < 300 << 20, "{}", counter.length);
    assert_eq!(counter.largest, 64 * 1024, "buffer by buffer");
    for (count, percent) in
        [(figures.switches, 35.0), (figures.ready, 25.0), (figures.samples, 15.0), (figures.others, 25.0)]
    {
        let share = 100.0 * count as f64 / figures.events() as f64;
        assert!((share - percent).abs() < 0.5, "{share:.2} % instead of {percent} %");
    }
}

#[test]
fn the_same_seed_gives_the_same_file() {
    let write = |seed| {
        let mut bytes = Cursor::new(Vec::new());
        scale(&mut bytes, 8 << 20, seed).expect("written");
        bytes.into_inner()
    };
    assert!(write(7) == write(7));
    assert!(write(7) != write(8));
}

#[test]
fn the_file_holds_what_was_counted() {
    let mut bytes = Cursor::new(Vec::new());
    let figures = scale(&mut bytes, 16 << 20, 3).expect("written");
    let files = [EtlFile::open(Box::new(bytes.into_inner())).expect("it is a recording")];
    let header = files[0].header();
    assert_eq!((header.cpu_count, (header.end_time - header.start_time) * 100), (64, figures.duration));
    let mut merge = Merge::new(&files, MergeOptions::default());
    let (mut switches, mut ready, mut samples, mut rest) = (0, 0, 0, 0);
    while let Some(record) = merge.next() {
        *match record.hook() {
            Some(0x0524) => &mut switches,
            Some(0x0532) => &mut ready,
            Some(0x0F2E) => &mut samples,
            _ => &mut rest,
        } += 1;
    }
    let counted = (figures.switches, figures.ready, figures.samples, figures.others + figures.descriptions);
    assert_eq!((switches, ready, samples, rest), counted);
    assert!(merge.damage(0).is_none_or(|damage| damage.is_empty()));
}
