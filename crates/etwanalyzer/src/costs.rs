//! One row of `CostsAsString`: the figures of a method in a process, as numbers with spaces in between.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

use crate::bounded::spend;
use crate::limits::METHODS;
use crate::time::seconds_as_ns;

/// The figures of a method in a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Place of its name in `MethodNames`.
    pub method: u32,
    /// Inclusive CPU, rounded to ms.
    pub cpu_ms: u32,
    /// Union of its waits, rounded down to ms; 0 also where no switches were recorded.
    pub wait_ms: u32,
    /// First time seen, ns since the start of the session.
    pub first: i64,
    /// Last time seen, ns since the start of the session.
    pub last: i64,
    /// Distinct threads.
    pub threads: u32,
    /// Mean number of frames between it and the leaf.
    pub depth: u32,
    /// Union of its ready spans, rounded down to ms; absent in old extracts.
    pub ready_ms: Option<u32>,
    /// Mean of all single ready spans, µs; absent in old extracts.
    pub ready_average_us: Option<u32>,
    /// Switch-ins whose stack has it; absent in old extracts.
    pub switches: Option<u32>,
}

impl Cost {
    /// Reads a row. Old extracts have 7 numbers, later ones 8, new ones 10; what comes behind these is passed over.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut fields = text.split(' ').filter(|field| !field.is_empty());
        let mut number = || fields.next()?.parse::<u32>().ok();
        let (method, cpu_ms, wait_ms) = (number()?, number()?, number()?);
        let (first, last) = (seconds_as_ns(fields.next()?)?, seconds_as_ns(fields.next()?)?);
        let (threads, depth) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        // What is there must be a number.
        let ready_ms = fields.next().map(str::parse).transpose().ok()?;
        let ready_average_us = fields.next().map(str::parse).transpose().ok()?;
        let switches = fields.next().map(str::parse).transpose().ok()?;
        let ordered = first <= last;
        ordered.then_some(Self {
            method,
            cpu_ms,
            wait_ms,
            first,
            last,
            threads,
            depth,
            ready_ms,
            ready_average_us,
            switches,
        })
    }
}

/// The rows of one process. Texts that are no rows are counted and not kept: `""` takes three bytes of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// Those that could be read.
    pub rows: Vec<Cost>,
    /// How many could not.
    pub unreadable: usize,
    /// The beginning of the first one of these.
    pub example: String,
}

/// Characters that are kept of a text that is no row.
const SHOWN: usize = 80;

/// One of the texts.
struct CostText(Result<Cost, String>);

struct CostVisitor;

impl Visitor<'_> for CostVisitor {
    type Value = CostText;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a text of numbers")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<CostText, E> {
        Ok(CostText(Cost::parse(text).ok_or_else(|| text.chars().take(SHOWN).collect())))
    }
}

impl<'de> Deserialize<'de> for CostText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(CostVisitor)
    }
}

struct CostsVisitor;

impl<'de> Visitor<'de> for CostsVisitor {
    type Value = Costs;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a list")
    }

    fn visit_unit<E: Error>(self) -> Result<Costs, E> {
        Ok(Costs::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Costs, A::Error> {
        let mut costs = Costs::default();
        while let Some(CostText(cost)) = access.next_element()? {
            match cost {
                Ok(_) if costs.rows.len() == METHODS => {
                    return Err(A::Error::custom(format_args!("a list of more than {METHODS} elements")));
                }
                Ok(cost) => {
                    spend::<Cost, A::Error>()?;
                    costs.rows.push(cost);
                }
                Err(text) => {
                    if costs.unreadable == 0 {
                        costs.example = text;
                    }
                    costs.unreadable += 1;
                }
            }
        }
        Ok(costs)
    }
}

impl<'de> Deserialize<'de> for Costs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CostsVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::Cost;

    #[test]
    fn rows_of_all_versions() {
        let old = Cost::parse("563 36540 0 0.5987 38.0158 1 23").expect("7 numbers");
        assert_eq!((old.method, old.cpu_ms, old.wait_ms, old.threads, old.depth), (563, 36_540, 0, 1, 23));
        assert_eq!((old.first, old.last), (598_700_000, 38_015_800_000));
        assert_eq!((old.ready_ms, old.ready_average_us, old.switches), (None, None, None));
        let later = Cost::parse("1 2 3 0.0000 1.0000 4 5 6").expect("8 numbers");
        assert_eq!((later.ready_ms, later.switches), (Some(6), None));
        let new = Cost::parse("1 2 3 0.0000 1.0000 4 5 6 70 8").expect("10 numbers");
        assert_eq!((new.ready_ms, new.ready_average_us, new.switches), (Some(6), Some(70), Some(8)));
        assert_eq!(Cost::parse("1 2 3 0.0000 1.0000 4 5 6 70 8 what comes"), Some(new));
    }

    #[test]
    fn what_is_no_row() {
        for text in [
            "",
            "1 2 3 0.0 1.0 4",
            "-1 2 3 0.0 1.0 4 5",
            "99999999999 2 3 0.0 1.0 4 5",
            "1 2,0 3 0.0 1.0 4 5",
            "1 2 3 1.0 0.0 4 5",
            "1 2 3 NaN 1.0 4 5",
            "1 2 3 0.0 1.0 4 5 x",
        ] {
            assert_eq!(Cost::parse(text), None, "{text}");
        }
    }
}
