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
