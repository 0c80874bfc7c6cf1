//! Frames: a head of JSON and columns of numbers, so laid out that a page can use the numbers where they stand.
//!
//! ```text
//! u32 length of all behind it │ u32 length of the head │ head, filled up with spaces │ f64 … f64 │ f64 … f64 │ …
//! ```
//!
//! All numbers are little-endian. The columns begin at a multiple of eight bytes from the start of the frame, and a frame ends at one.

use serde_json::Value;

use crate::failure::Failure;

/// Bytes of a number.
const NUMBER: usize = 8;

/// Whole numbers above this are no longer exact as `f64`.
const LARGEST: i64 = 1 << 53;

/// A frame.
pub(crate) fn frame(head: &Value, columns: &[Vec<f64>]) -> Result<Vec<u8>, Failure> {
    let mut head = head.to_string().into_bytes();
    head.resize(head.len().next_multiple_of(NUMBER), b' ');
    let numbers = columns.iter().map(Vec::len).sum::<usize>();
    let length = |bytes: usize| u32::try_from(bytes).map_err(|_| Failure::bad("answer: too large for a frame"));
    let behind = size_of::<u32>() + head.len() + numbers * NUMBER;
    let mut bytes = Vec::with_capacity(size_of::<u32>() + behind);
    bytes.extend(length(behind)?.to_le_bytes());
    bytes.extend(length(head.len())?.to_le_bytes());
    bytes.append(&mut head);
    for number in columns.iter().flatten() {
        bytes.extend(number.to_le_bytes());
    }
    Ok(bytes)
}

/// A whole number; one that is no longer exact is no number.
pub(crate) fn number(value: i64) -> f64 {
    if value.unsigned_abs() > LARGEST.unsigned_abs() { f64::NAN } else { value as f64 }
}

/// Whole numbers.
pub(crate) fn numbers(values: &[i64]) -> Vec<f64> {
    values.iter().copied().map(number).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{frame, number};

    #[test]
    fn columns_stand_at_multiples_of_eight() {
        for text in ["", "a", "abcdefg", "é"] {
            let bytes = frame(&json!({ "x": text }), &[vec![1.0, f64::NAN], vec![-2.0]]).unwrap();
            let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
            assert_eq!((word(0) + 4, bytes.len() % 8, word(4) % 8), (bytes.len(), 0, 0));
            let head: serde_json::Value = serde_json::from_slice(&bytes[8..8 + word(4)]).unwrap();
            assert_eq!(head["x"], text);
            let number = |at: usize| f64::from_le_bytes(bytes[8 + word(4) + at * 8..][..8].try_into().unwrap());
            assert!((number(0), number(2)) == (1.0, -2.0) && number(1).is_nan());
        }
    }

    #[test]
    fn only_exact_numbers_are_numbers() {
        assert!(number(1 << 53) == 9_007_199_254_740_992.0 && number(-7) == -7.0);
        assert!(number((1 << 53) + 1).is_nan() && number(i64::MIN).is_nan());
    }
}
