//! Every payload decoder on arbitrary bytes; the first three choose opcode, version and pointer size.

#![no_main]

#[path = "../../crates/etl/tests/it/payloads/everything.rs"]
mod everything;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Some(([opcode, version, pointer_size], payload)) = data.split_first_chunk() {
        everything::decode_everything(payload, *opcode, *version, *pointer_size);
    }
});
