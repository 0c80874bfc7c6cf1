//! Records that describe others, and those that they describe: each behind two bytes with its length.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tracesift_etl::Record;
use tracesift_etl::schema::Schemas;

/// What one event may become as text: its payload of at most 64 KiB as separate digits, names of members and of values.
const MAX_TEXT: usize = 64 << 20;

fuzz_target!(|bytes: &[u8]| {
    let mut records = Vec::new();
    let mut rest = bytes;
    while let Some(([low, high], behind)) = rest.split_first_chunk::<2>() {
        let length = usize::from(u16::from_le_bytes([*low, *high])).min(behind.len());
        records.extend(Record::parse(&behind[..length], 0, 0));
        rest = &behind[length..];
    }
    let mut schemas = Schemas::new();
    for record in records.iter().filter(|record| Schemas::has_schema(record)) {
        schemas.learn(record);
    }
    for record in &records {
        let Some(schema) = schemas.find(record) else { continue };
        let decoded = schema.decode(record);
        assert!(decoded.rest.len() <= record.payload().len());
        let mut text = String::new();
        decoded.write_json(&mut text);
        assert!(text.len() <= MAX_TEXT, "{} bytes", text.len());
        let _: serde_json::Value = serde_json::from_str(&text).expect("valid JSON");
        let _ = (schema.name(), schemas.provider_name(schema.provider));
        for (name, value) in &decoded.fields {
            let _ = (decoded.get(name), value.number());
        }
    }
});
