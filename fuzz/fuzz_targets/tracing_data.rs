//! Formats of tracepoints, and raw data that are read by them.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tracesift_perf::TracingData;

fuzz_target!(|bytes: &[u8]| {
    let Some((&[low, high], rest)) = bytes.split_first_chunk() else { return };
    let (raw, formats) = rest.split_at(usize::from(u16::from_le_bytes([low, high])).min(rest.len()));
    let Ok(data) = TracingData::parse(formats) else { return };
    for field in data.formats().iter().flat_map(|format| &format.fields).chain(&data.header_page) {
        let _ = (field.bytes(raw, data.endian), field.text(raw, data.endian));
        let _ = (field.signed(raw, data.endian), field.unsigned(raw, data.endian));
        let _ = field.elements(raw, data.endian).count();
    }
    let _ = (data.printk_formats().count(), data.saved_cmdlines().count(), data.incomplete());
    for format in data.formats() {
        assert!(data.by_id(format.id).is_some() && data.by_name(&format.system, &format.name).is_some());
    }
});
