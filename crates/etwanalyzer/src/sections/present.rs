//! Whether a section that is not imported has something in it.

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Whether a section has an element of a list, or a value that is neither empty nor 0. Nothing of it is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Content(pub bool);

/// What is nested deeper is taken for something.
const MAX_DEPTH: u8 = 16;

#[derive(Clone, Copy)]
struct ContentVisitor(u8);

impl<'de> DeserializeSeed<'de> for ContentVisitor {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        if self.0 == 0 {
            return deserializer.deserialize_ignored_any(IgnoredAny).map(|_| true);
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = bool;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("anything")
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<bool, E> {
        Ok(flag)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<bool, E> {
        Ok(number != 0)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<bool, E> {
        Ok(number != 0)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<bool, E> {
        Ok(number != 0.0)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<bool, E> {
        Ok(!text.is_empty())
    }

    fn visit_unit<E: Error>(self) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<bool, A::Error> {
        let mut has_element = false;
        while access.next_element::<IgnoredAny>()?.is_some() {
            has_element = true;
        }
        Ok(has_element)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<bool, A::Error> {
        let mut has_value = false;
        while access.next_key::<IgnoredAny>()?.is_some() {
            has_value |= access.next_value_seed(Self(self.0 - 1))?;
        }
        Ok(has_value)
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ContentVisitor(MAX_DEPTH).deserialize(deserializer).map(Self)
    }
}
