//! Bytes that mean nothing: every decoder ends in a value or an error, and never claims more bytes than there are.

use proptest::prelude::*;
use tracesift_etl::payload::{Addresses, ImageId, SystemConfig};
use tracesift_fixtures::payloads::decode_everything;

/// Bytes among which counts, lengths, NULs and identifiers are likelier than in noise.
fn payloads() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![4 => Just(0_u8), 2 => Just(1_u8), 1 => Just(0xFF_u8), 3 => any::<u8>()];
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200),
        prop::collection::vec(byte.clone(), 0..200),
        prop::collection::vec(byte, 0..900),
    ]
}

proptest! {
    #[test]
    fn no_bytes_make_a_decoder_panic(
        payload in payloads(),
        opcode in any::<u8>(),
        version in prop_oneof![0_u8..8, any::<u8>()],
        pointer_size in prop_oneof![Just(4_u8), Just(8_u8), any::<u8>()],
    ) {
        decode_everything(&payload, opcode, version, pointer_size);
        for opcode in 0..=64 {
            let _ = format!("{:?}", SystemConfig::parse(&payload, opcode, version, pointer_size));
            let _ = format!("{:?}", ImageId::parse(&payload, opcode, version, pointer_size));
        }
    }

    #[test]
    fn addresses_agree_from_both_ends(bytes in prop::collection::vec(any::<u8>(), 0..100), narrow in any::<bool>()) {
        let addresses = Addresses::new(&bytes, if narrow { 4 } else { 8 });
        let forward: Vec<u64> = addresses.iter().collect();
        let mut backward: Vec<u64> = addresses.iter().rev().collect();
        backward.reverse();
        prop_assert_eq!(&forward, &backward);
        prop_assert_eq!(forward.len(), addresses.len());
        for (index, address) in forward.iter().enumerate() {
            prop_assert_eq!(addresses.get(index), Some(*address));
        }
    }
}

#[test]
fn every_small_version_and_length() {
    for fill in [0_u8, 1, 4, 0x41, 0xFF] {
        let payload = vec![fill; 900];
        for length in (0..100).chain([528, 568, 652, 800, 828, 900]) {
            for version in 0..=6 {
                for pointer_size in [4, 8] {
                    decode_everything(&payload[..length], fill, version, pointer_size);
                }
            }
        }
    }
}
