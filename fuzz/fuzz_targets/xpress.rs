//! A compressed stream.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tracesift_etl::xpress;

fuzz_target!(|bytes: &[u8]| {
    let Some((length, stream)) = bytes.split_first_chunk::<2>() else { return };
    let mut output = vec![0; usize::from(u16::from_le_bytes(*length))];
    let decoded = xpress::decompress(stream, &mut output);
    assert!(decoded.produced <= output.len() && decoded.consumed <= stream.len());
    assert_eq!(decoded.stopped.is_none(), decoded.produced == output.len());
});
