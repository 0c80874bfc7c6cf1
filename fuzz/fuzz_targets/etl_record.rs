//! One record.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tracesift_etl::Record;

fuzz_target!(|bytes: &[u8]| {
    let Some(record) = Record::parse(bytes, 0, 0) else { return };
    assert!(record.bytes().len() <= bytes.len());
    assert!(record.payload().len() <= record.bytes().len());
    assert!([4, 8].contains(&record.pointer_size()));
    let _ =
        (record.class(), record.class_guid(), record.provider(), record.event_id(), record.level(), record.opcode());
    let _ = (record.pid(), record.tid(), record.processor_times(), record.keyword(), record.channel(), record.task());
    let _ = (record.activity_id(), record.related_activity_id(), record.instance(), record.message());
    let _ = (record.pebs_index(), record.counters().iter().count(), record.hook(), record.version());
    let mut bytes_of_items = 0;
    for item in record.extended_items() {
        bytes_of_items += 8 + item.data.len();
        if let Some(stack) = item.stack() {
            assert_eq!(stack.frames().count(), stack.len());
        }
        let _ = (item.stack_key(), item.event_name(), item.provider_traits().and_then(|traits| traits.group()));
    }
    assert!(bytes_of_items <= record.bytes().len());
    let _ = tracesift_etl::LogfileHeader::from_record(&record);
});
