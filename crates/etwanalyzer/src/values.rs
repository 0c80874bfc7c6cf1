//! Values that versions of ETWAnalyzer, or of its JSON library, write in more than one way.
//!
//! They are read by hand: what serde offers for alternatives first keeps everything in memory, which strangers can make large.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::bounded::List;
use crate::limits::MODULES;

/// A number; what is none, such as .NET's `"NaN"`, is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Number(pub Option<f64>);

struct NumberVisitor;

impl<'de> Visitor<'de> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a number")
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Number, E> {
        Ok(Number(Some(number)))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Number, E> {
        Ok(Number(Some(number as f64)))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Number, E> {
        Ok(Number(Some(number as f64)))
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Number, E> {
        Ok(Number(None))
    }

    fn visit_unit<E: Error>(self) -> Result<Number, E> {
        Ok(Number(None))
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

/// A whole number, or a flag as 0 or 1; what is none, such as a text, is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Integer(
    /// Numbers above 2⁶³ are negative.
    pub Option<i64>,
);

impl Integer {
    /// A number that is not below zero.
    #[must_use]
    pub fn count(self) -> Option<i64> {
        self.0.filter(|number| *number >= 0)
    }
}

struct IntegerVisitor;

impl Visitor<'_> for IntegerVisitor {
    type Value = Integer;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a whole number")
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Integer, E> {
        Ok(Integer(Some(flag.into())))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Integer, E> {
        Ok(Integer(Some(number)))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Integer, E> {
        Ok(Integer(Some(number.cast_signed())))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Integer, E> {
        let is_whole = number.fract() == 0.0 && number.abs() < 9e15;
        Ok(Integer(is_whole.then_some(number as i64)))
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Integer, E> {
        Ok(Integer(None))
    }

    fn visit_unit<E: Error>(self) -> Result<Integer, E> {
        Ok(Integer(None))
    }
}

impl<'de> Deserialize<'de> for Integer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IntegerVisitor)
    }
}

/// Something of which only the presence counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Present;

impl<'de> Deserialize<'de> for Present {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_ignored_any(IgnoredAny).map(|_| Self)
    }
}

/// Texts to which others refer by place: a list, or an object with the list `Strings`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SharedStrings(pub List<Option<String>, MODULES>);

struct SharedStringsVisitor;

impl<'de> Visitor<'de> for SharedStringsVisitor {
    type Value = SharedStrings;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a list of texts")
    }

    fn visit_unit<E: Error>(self) -> Result<SharedStrings, E> {
        Ok(SharedStrings::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, access: A) -> Result<SharedStrings, A::Error> {
        List::deserialize(serde::de::value::SeqAccessDeserializer::new(access)).map(SharedStrings)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<SharedStrings, A::Error> {
        let mut strings = List::default();
        while let Some(key) = access.next_key::<String>()? {
            if key == "Strings" {
                strings = access.next_value()?;
            } else {
                access.next_value::<IgnoredAny>()?;
            }
        }
        Ok(SharedStrings(strings))
    }
}

impl<'de> Deserialize<'de> for SharedStrings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SharedStringsVisitor)
    }
}
