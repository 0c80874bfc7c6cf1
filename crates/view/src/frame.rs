//! Frames: a head of JSON and columns of numbers, so laid out that a page can use the numbers where they stand.
//!
//! ```text
//! u32 length of all behind it │ u32 length of the head │ head, filled up with spaces │ column │ column │ …
//! ```
//!
//! `arrays` of the head tells how each column is written ([`Array`]): lanes have many columns of short times, and many without any amount.
//! All numbers are little-endian. Each column begins at a multiple of eight bytes from the start of the frame, and a frame ends at one.

use serde_json::Value;

use crate::failure::Failure;

/// Each column begins at a multiple of so many bytes.
const ALIGNMENT: usize = 8;

/// Whole numbers above this are no longer exact as `f64`.
const LARGEST: i64 = 1 << 53;

/// How a column is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Array {
    /// Not at all: it has nothing but 0.
    Zero,
    /// As 32-bit integers.
    I32,
    /// As 64-bit floating-point numbers.
    F64,
}

impl Array {
    /// The shortest one that has all of a column.
    fn of(column: &[f64]) -> Self {
        let mut all = Self::Zero;
        for number in column {
            // The bits tell a whole number from any other, 0 from -0 and no number from all of them.
            if f64::from(*number as i32).to_bits() != number.to_bits() {
                return Self::F64;
            }
            if *number != 0.0 {
                all = Self::I32;
            }
        }
        all
    }

    fn word(self) -> &'static str {
        match self {
            Self::Zero => "zero",
            Self::I32 => "i32",
            Self::F64 => "f64",
        }
    }

    fn bytes(self, column: &[f64]) -> usize {
        let number = match self {
            Self::Zero => 0,
            Self::I32 => size_of::<i32>(),
            Self::F64 => size_of::<f64>(),
        };
        (column.len() * number).next_multiple_of(ALIGNMENT)
    }

    fn write(self, column: &[f64], bytes: &mut Vec<u8>) {
        match self {
            Self::Zero => {}
            Self::I32 => column.iter().for_each(|number| bytes.extend_from_slice(&(*number as i32).to_le_bytes())),
            Self::F64 => column.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes())),
        }
        bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
    }
}

/// A frame with a head, which is an object, and columns.
pub(crate) fn frame(mut head: Value, columns: &[Vec<f64>]) -> Result<Vec<u8>, Failure> {
    let arrays: Vec<Array> = columns.iter().map(|column| Array::of(column)).collect();
    if let Some(fields) = head.as_object_mut() {
        fields.insert("arrays".to_owned(), arrays.iter().map(|array| array.word()).collect());
    }
    let mut head = head.to_string().into_bytes();
    head.resize(head.len().next_multiple_of(ALIGNMENT), b' ');
    let all = || arrays.iter().zip(columns);
    let numbers: usize = all().map(|(array, column)| array.bytes(column)).sum();
    let length = |bytes: usize| u32::try_from(bytes).map_err(|_| Failure::bad("answer: too large for a frame"));
    let behind = size_of::<u32>() + head.len() + numbers;
    let mut bytes = Vec::with_capacity(size_of::<u32>() + behind);
    bytes.extend(length(behind)?.to_le_bytes());
    bytes.extend(length(head.len())?.to_le_bytes());
    bytes.append(&mut head);
    all().for_each(|(array, column)| array.write(column, &mut bytes));
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

    use super::{Array, frame, number};

    #[test]
    fn columns_stand_at_multiples_of_eight() {
        for text in ["", "a", "abcdefg", "é"] {
            let columns = [vec![1.0, f64::NAN], vec![0.0; 3], vec![-2.0, 7.0, 0.0], vec![], vec![0.5]];
            let bytes = frame(json!({ "x": text }), &columns).unwrap();
            let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
            let at = 8 + word(4);
            assert_eq!((word(0) + 4, word(4) % 8, bytes.len()), (bytes.len(), 0, at + 2 * 8 + 2 * 8 + 8));
            let head: serde_json::Value = serde_json::from_slice(&bytes[8..at]).unwrap();
            assert_eq!((&head["x"], &head["arrays"]), (&json!(text), &json!(["f64", "zero", "i32", "zero", "f64"])));
            let long = |at: usize| f64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
            let short = |at: usize| i32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
            assert!(long(at) == 1.0 && long(at + 8).is_nan() && long(at + 32) == 0.5);
            assert_eq!([short(at + 16), short(at + 20), short(at + 24)], [-2, 7, 0]);
        }
    }

    #[test]
    fn a_column_is_as_short_as_its_numbers_allow() {
        let largest = f64::from(i32::MAX);
        for (number, array) in [
            (0.0, Array::Zero),
            (largest, Array::I32),
            (f64::from(i32::MIN), Array::I32),
            (largest + 1.0, Array::F64),
            (0.5, Array::F64),
            (-0.0, Array::F64),
            (f64::NAN, Array::F64),
            (f64::INFINITY, Array::F64),
        ] {
            assert_eq!(Array::of(&[0.0, number]), array, "{number}");
        }
    }

    #[test]
    fn only_exact_numbers_are_numbers() {
        assert!(number(1 << 53) == 9_007_199_254_740_992.0 && number(-7) == -7.0);
        assert!(number((1 << 53) + 1).is_nan() && number(i64::MIN).is_nan());
    }
}
