//! Every payload decoder on arbitrary bytes; the first three choose opcode, version and pointer size.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tracesift_fixtures::payloads::decode_everything;

fuzz_target!(|data: &[u8]| {
    if let Some(([opcode, version, pointer_size], payload)) = data.split_first_chunk() {
        decode_everything(payload, *opcode, *version, *pointer_size);
    }
});
