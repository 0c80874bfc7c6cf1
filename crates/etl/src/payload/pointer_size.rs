//! Payloads that were written with another pointer size than their header says.

use super::{Payload, PayloadError};

/// Decodes with the record's pointer size; takes 8 where that reading of a 4 does not work out and 8 does.
///
/// A program that replays 64-bit kernel payloads through the 32-bit logging interface gets 32-bit FULL headers around
/// them. A reading works out when it ends exactly at the payload's end and `plausible` accepts it.
pub(super) fn parse_either<'a, T: Payload<'a>>(
    payload: &'a [u8],
    version: u8,
    pointer_size: u8,
    plausible: impl Fn(&T) -> bool,
) -> Result<T, PayloadError> {
    let declared = T::parse_with_rest(payload, version, pointer_size);
    let works_out = |reading: &Result<(T, &[u8]), PayloadError>| matches!(reading, Ok((value, [])) if plausible(value));
    if pointer_size == 4 && !works_out(&declared) {
        let wide = T::parse_with_rest(payload, version, 8);
        if works_out(&wide) {
            return wide.map(|(value, _)| value);
        }
    }
    declared.map(|(value, _)| value)
}
