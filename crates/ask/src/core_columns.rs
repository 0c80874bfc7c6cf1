//! Columns about the kinds of core on which something ran, and their clock rates: shown with
//! `--cores`.

use crate::answer::{Column, ColumnOf, Kind, View};
use crate::core_figures::CoreFigures;
use crate::needs::Needs;

/// A row that has such figures.
pub trait OfCores {
    /// The figures.
    fn cores(&self) -> CoreFigures;
}

/// Keys of the columns.
const KEYS: [&str; 5] =
    ["cpu_fast_cores_ns", "cpu_efficient_cores_ns", "frequency_mhz", "frequency_of_nominal", "cpu_normalized_ns"];

/// Shows the columns in a table.
pub fn show(columns: &mut [Column]) {
    columns.iter_mut().filter(|column| KEYS.contains(&column.key)).for_each(|column| column.view = View::Always);
}

/// CPU on the fastest kind of core.
#[must_use]
pub const fn fast<R: OfCores>() -> ColumnOf<R> {
    ColumnOf::machine(
        KEYS[0],
        "P-cores",
        Kind::Milliseconds,
        |row: &R| row.cores().fast.into(),
        "Sampled CPU on the fastest kind of core, with `--cores`; empty where the recording does not tell kinds.",
    )
    .shown(View::Nowhere)
    .made_of(Needs::NOTHING)
}

/// CPU on the other kinds.
#[must_use]
pub const fn efficient<R: OfCores>() -> ColumnOf<R> {
    ColumnOf::machine(
        KEYS[1],
        "E-cores",
        Kind::Milliseconds,
        |row: &R| row.cores().efficient.into(),
        "Sampled CPU on all other kinds of core, with `--cores`.",
    )
    .shown(View::Nowhere)
    .made_of(Needs::NOTHING)
}

/// Mean clock rate.
#[must_use]
pub const fn frequency<R: OfCores>() -> ColumnOf<R> {
    ColumnOf::machine(
        KEYS[2],
        "MHz",
        Kind::Number(0),
        |row: &R| row.cores().khz.map(|khz| khz / 1000.0).into(),
        "Mean clock rate, weighted with the CPU time of the samples at which the rate of their CPU was known, with `--cores`.",
    )
    .shown(View::Nowhere)
    .made_of(Needs::NOTHING)
}

/// Its share of the nominal rate.
#[must_use]
pub const fn of_nominal<R: OfCores>() -> ColumnOf<R> {
    ColumnOf::machine(
        KEYS[3],
        "Of nominal",
        Kind::Number(2),
        |row: &R| row.cores().of_nominal.into(),
        "Mean of the clock rate's share of the nominal one, weighted alike, with `--cores`; empty where no nominal rate is known.",
    )
    .shown(View::Nowhere)
    .made_of(Needs::NOTHING)
}

/// CPU at the nominal rate.
#[must_use]
pub const fn normalized<R: OfCores>() -> ColumnOf<R> {
    ColumnOf::machine(
        KEYS[4],
        "Normalized",
        Kind::Milliseconds,
        |row: &R| row.cores().normalized.map(|ns| ns.round() as i64).into(),
        "Sampled CPU, each sample weighted with its share of the nominal clock rate, with `--cores`: what the work takes at nominal \
         rates, so that runs on differently clocked machines compare. Samples at an unknown rate count as they are.",
    )
    .shown(View::Nowhere)
    .made_of(Needs::NOTHING)
}
