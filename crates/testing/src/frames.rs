//! Frames of the page's server: a head of JSON, and columns of numbers.

use serde_json::Value;

/// A frame.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Its head.
    pub head: Value,
    /// Its columns, in the order of the head.
    pub columns: Vec<Vec<f64>>,
}

/// The frames of a body.
///
/// # Panics
/// When they are none.
#[must_use]
pub fn frames(mut bytes: &[u8]) -> Vec<Frame> {
    let mut frames = Vec::new();
    while !bytes.is_empty() {
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("a length")) as usize;
        let (length, head) = (word(0) + 4, word(4));
        assert!(length.is_multiple_of(8) && head.is_multiple_of(8), "columns do not stand at multiples of eight");
        let mut numbers = &bytes[8 + head..length];
        let head: Value = serde_json::from_slice(&bytes[8..8 + head]).expect("JSON");
        let count = ["columns", "count", "frames"].iter().find_map(|of| head[of].as_u64()).unwrap_or(0);
        let count = usize::try_from(count).expect("small");
        let mut column = |array: &Value| {
            let size = match array.as_str().expect("a word") {
                "zero" => return vec![0.0; count],
                "i32" => 4,
                _ => 8,
            };
            let bytes;
            (bytes, numbers) = numbers.split_at((count * size).next_multiple_of(8));
            let number = |bytes: &[u8]| match bytes.try_into() {
                Ok(bytes) => f64::from_le_bytes(bytes),
                Err(_) => i32::from_le_bytes(bytes.try_into().expect("four bytes")).into(),
            };
            bytes.chunks(size).take(count).map(number).collect()
        };
        let columns: Vec<_> = head["arrays"].as_array().expect("arrays").iter().map(&mut column).collect();
        assert!(numbers.is_empty(), "numbers of no column: {head}");
        bytes = &bytes[length..];
        frames.push(Frame { head, columns });
    }
    frames
}
