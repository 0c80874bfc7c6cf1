//! The memory that a block of a 7z file needs, by its header.

use sevenz_rust2::{Coder, EncoderMethod};

/// Bytes of the dictionary that this coder of a 7z block needs, as its properties say; 0 for methods without one.
#[must_use]
pub fn dictionary(coder: &Coder) -> u64 {
    let properties = coder.properties();
    match coder.encoder_method_id() {
        EncoderMethod::ID_LZMA => {
            properties.get(1..5).and_then(|size| size.try_into().ok()).map_or(0, u32::from_le_bytes).into()
        }
        EncoderMethod::ID_LZMA2 => {
            // Powers of two and one and a half times those, from 4 KiB; 40 stands for 4 GiB.
            let step = u32::from(properties.first().copied().unwrap_or(0).min(40));
            u64::from(2 | step & 1) << (step / 2 + 11)
        }
        _ => 0,
    }
}
