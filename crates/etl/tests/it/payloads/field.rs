//! A decoded field in a form that can be held against JSON.

use serde_json::Value;
use tracesift_etl::Guid;
use tracesift_etl::payload::{Addresses, AnsiStr, Sid, WideStr};

/// A decoded field.
#[derive(Debug, PartialEq)]
pub(crate) enum Field {
    Absent,
    Integer(i128),
    Float(f64),
    Text(String),
    List(Vec<Field>),
    Object(Fields),
}

/// Fields by their JSON names.
pub(crate) type Fields = Vec<(&'static str, Field)>;

impl Field {
    /// Is this what the case says? Integers are numbers, decimal strings or hexadecimal strings there.
    pub(crate) fn is(&self, expected: &Value) -> bool {
        match (self, expected) {
            (Self::Integer(value), Value::Number(number)) => {
                number.as_i64().map(i128::from).or(number.as_u64().map(i128::from)) == Some(*value)
            }
            (Self::Integer(value), Value::String(text)) => {
                let number = match text.strip_prefix("0x") {
                    Some(digits) => i128::from_str_radix(digits, 16),
                    None => text.parse(),
                };
                number == Ok(*value)
            }
            (Self::Float(value), Value::Number(number)) => number.as_f64() == Some(*value),
            (Self::Text(text), Value::String(expected)) => text == expected,
            (Self::List(items), Value::Array(expected)) => {
                items.len() == expected.len() && items.iter().zip(expected).all(|(item, expected)| item.is(expected))
            }
            (Self::Object(fields), Value::Object(expected)) => {
                fields.len() == expected.len()
                    && fields.iter().all(|(name, field)| expected.get(*name).is_some_and(|value| field.is(value)))
            }
            _ => false,
        }
    }
}

macro_rules! integers {
    ($($type:ty)*) => {
        $(impl From<$type> for Field {
            fn from(value: $type) -> Self {
                Self::Integer(i128::from(value))
            }
        })*
    };
}

integers!(bool u8 u16 u32 u64 i8 i32 i64);

impl From<f64> for Field {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

macro_rules! texts {
    ($($type:ty)*) => {
        $(impl From<$type> for Field {
            fn from(value: $type) -> Self {
                Self::Text(value.to_string())
            }
        })*
    };
}

texts!(WideStr<'_> AnsiStr<'_> Sid<'_> Guid &str);

impl From<Addresses<'_>> for Field {
    fn from(addresses: Addresses<'_>) -> Self {
        Self::List(addresses.iter().map(Self::from).collect())
    }
}

impl<T: Into<Field>> From<Option<T>> for Field {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Absent, T::into)
    }
}

/// `fields![value; json_name => value.field, …]`
macro_rules! fields {
    ($($name:ident => $value:expr),* $(,)?) => {
        vec![$((stringify!($name), $crate::payloads::field::Field::from($value))),*]
    };
}

pub(crate) use fields;
