//! A whole file.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tracesift_etl::counts::Counts;
use tracesift_etl::{EtlFile, Merge, MergeOptions, Record};

fuzz_target!(|bytes: &[u8]| {
    let Ok(file) = EtlFile::open(Box::new(bytes.to_vec())) else { return };
    let header = file.header();
    let _ = (header.utc_text(i64::MIN), header.end_time_utc(), header.utc_offset_minutes(), header.os_version());
    let (counts, _) = Counts::of(&file);
    let total = counts.total().map_or(0, |total| total.records);

    let files = [file];
    for memory_limit in [1, 1 << 30] {
        let mut merge = Merge::new(&files, MergeOptions { memory_limit });
        let (mut records, mut last) = (0, i64::MIN);
        while let Some(record) = merge.next() {
            assert!(record.time() >= last, "times decrease");
            last = record.time();
            records += 1;
        }
        assert_eq!(records, total, "a record is missing or came twice");
    }
    let wanted = |record: &Record<'_>| record.time() & 1 == 0;
    let mut few = Merge::of(&files, MergeOptions::default(), wanted);
    while few.next().is_some() {}
});
