//! Lists and maps of JSON that end with an error where a stranger made them too long.
//!
//! A short text such as `{},{},{}` would otherwise become rows a hundred times its size. So each list has a length that no sound extract
//! reaches, and all that are read for one document share a budget of memory.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

thread_local! {
    /// Bytes that elements may still take; `None`: there were more. Visitors have nowhere else to look.
    static LEFT: Cell<Option<usize>> = const { Cell::new(Some(usize::MAX)) };
}

/// Reads a document whose lists may have elements of so many bytes, texts not counted. Gives what is left of them; `None`: there were more.
pub(crate) fn within<T>(bytes: usize, read: impl FnOnce() -> T) -> (T, Option<usize>) {
    let before = LEFT.replace(Some(bytes));
    let result = read();
    (result, LEFT.replace(before))
}

/// Takes the memory of one more element.
pub(crate) fn spend<T, E: Error>() -> Result<(), E> {
    LEFT.set(LEFT.get().and_then(|left| left.checked_sub(size_of::<T>())));
    LEFT.get().map(|_| ()).ok_or_else(|| E::custom("more rows than any recording has"))
}

/// A list of at most `MAX` elements; `null` is an empty one.
#[derive(Clone, Debug, PartialEq)]
pub struct List<T, const MAX: usize>(pub Vec<T>);

/// The entries of an object, in their order, at most `MAX`; `null` has none.
#[derive(Clone, Debug, PartialEq)]
pub struct Entries<T, const MAX: usize>(pub Vec<(String, T)>);

impl<T, const MAX: usize> Default for List<T, MAX> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T, const MAX: usize> Default for Entries<T, MAX> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

struct ListVisitor<T, const MAX: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for ListVisitor<T, MAX> {
    type Value = List<T, MAX>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a list")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(List::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = access.next_element()? {
            if elements.len() == MAX {
                return Err(A::Error::custom(format_args!("a list of more than {MAX} elements")));
            }
            spend::<T, A::Error>()?;
            elements.push(element);
        }
        Ok(List(elements))
    }
}

struct EntriesVisitor<T, const MAX: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for EntriesVisitor<T, MAX> {
    type Value = Entries<T, MAX>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Entries::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = access.next_entry()? {
            if entries.len() == MAX {
                return Err(A::Error::custom(format_args!("an object of more than {MAX} entries")));
            }
            spend::<(String, T), A::Error>()?;
            entries.push(entry);
        }
        Ok(Entries(entries))
    }
}

impl<'de, T: Deserialize<'de>, const MAX: usize> Deserialize<'de> for List<T, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ListVisitor(PhantomData))
    }
}

impl<'de, T: Deserialize<'de>, const MAX: usize> Deserialize<'de> for Entries<T, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EntriesVisitor(PhantomData))
    }
}
