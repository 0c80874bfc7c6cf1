//! The decompressors: what an encoder wrote comes back, and nothing that is no valid stream makes them panic.

use proptest::prelude::*;
use tracesift_etl::{lznt1, xpress};

use crate::common::compress;

/// Bytes with repetitions of all kinds of periods.
fn repetitive() -> impl Strategy<Value = Vec<u8>> {
    let piece = (prop::collection::vec(any::<u8>(), 1..40), 1..60usize);
    prop::collection::vec(piece, 0..30)
        .prop_map(|pieces| pieces.iter().flat_map(|(bytes, times)| bytes.repeat(*times)).collect())
}

proptest! {
    #[test]
    fn xpress_gives_back_what_was_encoded(input in repetitive()) {
        let stored = compress::compress(&input);
        let mut output = vec![0; input.len()];
        let decoded = xpress::decompress(&stored, &mut output);
        prop_assert_eq!(output, input);
        prop_assert_eq!((decoded.consumed, decoded.stopped), (stored.len(), None));
    }

    #[test]
    fn a_cut_stream_gives_the_start(input in repetitive(), keep in 0.0..1.0f64) {
        let stored = compress::compress(&input);
        let kept = (stored.len() as f64 * keep) as usize;
        let mut output = vec![0; input.len()];
        let decoded = xpress::decompress(&stored[..kept], &mut output);
        prop_assert_eq!(&output[..decoded.produced], &input[..decoded.produced]);
        prop_assert_eq!(decoded.stopped.is_none(), decoded.produced == input.len());
        prop_assert!(decoded.consumed <= kept);
    }

    #[test]
    fn less_output_than_there_is_can_be_asked_for(input in repetitive(), part in 0.0..1.0f64) {
        let stored = compress::compress(&input);
        let length = (input.len() as f64 * part) as usize;
        let mut output = vec![0; length];
        let decoded = xpress::decompress(&stored, &mut output);
        prop_assert_eq!(&output, &input[..length]);
        prop_assert_eq!((decoded.produced, decoded.stopped), (length, None));
    }

    #[test]
    fn random_streams_are_survived(input in prop::collection::vec(any::<u8>(), 0..600), length in 0..5000usize) {
        let mut output = vec![0; length];
        let decoded = xpress::decompress(&input, &mut output);
        prop_assert!(decoded.produced <= length && decoded.consumed <= input.len());
        prop_assert_eq!(decoded.stopped.is_none(), decoded.produced == length);
        let decoded = lznt1::decompress(&input, &mut output);
        prop_assert!(decoded.produced <= length && decoded.consumed <= input.len());
    }

    #[test]
    fn streams_of_matches_are_survived(
        items in prop::collection::vec((any::<u16>(), any::<u8>()), 1..200), length in 0..70_000usize
    ) {
        let mut input = Vec::new();
        for group in items.chunks(31) {
            input.extend([0xff, 0xff, 0xff, 0x7f, b'x']);
            for (word, byte) in group {
                input.extend((word & 0x1f | 7).to_le_bytes());
                input.push(*byte);
            }
        }
        let mut output = vec![0; length];
        let decoded = xpress::decompress(&input, &mut output);
        prop_assert_eq!(decoded.stopped.is_none(), decoded.produced == length);
    }
}
