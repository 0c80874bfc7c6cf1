//! A whole perf.data.

#![no_main]

use std::io::Cursor;
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use tracesift_perf::{Counts, MergeOptions, Payload, PerfFile, Record, Records};

fuzz_target!(|bytes: &[u8]| {
    let Ok(file) = PerfFile::new(Arc::new(bytes.to_vec())) else { return };
    let counts = Counts::of(file.records());
    let total = counts.total_records() + counts.nested.values().sum::<u64>();
    if let Ok(stream) = Records::from_stream(Cursor::new(bytes.to_vec())) {
        let stream = Counts::of(stream);
        assert_eq!((&stream.outer, &stream.nested), (&counts.outer, &counts.nested), "a stream has other records");
    }
    for memory_limit in [1, 1 << 30] {
        let mut merged = file.merged(MergeOptions { memory_limit });
        let mut records = 0;
        while let Some(record) = merged.next() {
            records += 1;
            look(&record);
        }
        assert_eq!(records, total, "a record is missing or came twice");
    }
    let mut ahead = file.merged(MergeOptions { memory_limit: 1 << 30 }).ahead();
    let mut records = 0;
    while let Some(record) = ahead.next() {
        records += 1;
        look(&record);
    }
    assert_eq!(records, total, "a record got lost between the threads");
});

fn look(record: &Record<'_>) {
    let _ = (record.thread(), record.cpu(), record.id(), record.stream_id(), record.fields(), record.cpu_mode());
    match record.payload() {
        Ok(Payload::Sample(sample)) => {
            let _ = sample.callchain.map(|chain| chain.iter().count());
            let tail = sample.tail();
            let _ = tail.branches.map(|branches| branches.entries().filter(|branch| branch.predicted()).count());
            let _ = sample.values.map(|values| values.counters().count());
            let _ = tail.user_registers.map(|registers| (0..80).filter_map(|at| registers.get(at)).count());
        }
        Ok(Payload::Namespaces(namespaces)) => {
            let _ = namespaces.iter().count();
        }
        Ok(Payload::IdIndex(ids)) => {
            let _ = ids.iter().count();
        }
        Ok(Payload::ThreadMap(threads)) => {
            let _ = threads.iter().count();
        }
        Ok(_) | Err(_) => {}
    }
}
