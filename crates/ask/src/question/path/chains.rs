//! The chains of threads that lead to the rows of `dump path`.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use tracesift_analysis::path::Link;

use crate::answer::{Column, ColumnOf, Kind, Table, Value, View, descriptions, values};
use crate::path::account::Key;
use crate::path::chains::{Chains, OTHER_CHAINS, Wait};
use crate::path::parties::Parties;
use crate::path::places::{Place, Places};
use crate::path::rows::{self, Detail, Name, Namer};
use crate::path::witness::{Piece, Witness};

/// Chains of an account that are told apart, with the beginnings of chains.
const MOST_CHAINS: usize = 1 << 16;
/// Chains of all parts of an account that have sums.
const MOST_SUMS: usize = 1 << 17;
/// Chains of a row that an answer shows.
const SHOWN: usize = 10;

/// What a chain has.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    time: i64,
    pieces: u64,
}

impl Sum {
    fn add(&mut self, other: Self) {
        self.time = self.time.saturating_add(other.time);
        self.pieces += other.pieces;
    }
}

/// Sums of the chains that lead to the parts of an account. The anchor alone is no chain.
pub(super) struct ChainSums {
    chains: Chains<Place>,
    sums: FxHashMap<(Key, u32), Sum>,
}

impl Default for ChainSums {
    fn default() -> Self {
        Self { chains: Chains::new(MOST_CHAINS), sums: FxHashMap::default() }
    }
}

impl Witness for ChainSums {
    fn chain(&mut self, chain: &[Link], parties: &mut Parties<'_>, places: &mut Places<'_>) -> u32 {
        self.chains.of(chain, |thread| parties.of(thread), |stack| places.of(stack))
    }

    fn piece(&mut self, piece: &Piece) {
        if self.chains.is_anchor(piece.chain) {
            return;
        }
        let sum = Sum { time: piece.length, pieces: 1 };
        let place = (piece.key, piece.chain);
        if self.sums.len() < MOST_SUMS || self.sums.contains_key(&place) {
            self.sums.entry(place).or_default().add(sum);
        } else {
            self.sums.entry((piece.key, OTHER_CHAINS)).or_default().add(sum);
        }
    }
}

impl ChainSums {
    /// The largest chains of each row of the account, largest first.
    pub(super) fn of_rows(&self, namer: &Namer<'_, '_, '_>, detail: Detail, rows: &[rows::Row]) -> Vec<Vec<Chain>> {
        let mut of_keys: FxHashMap<Key, Vec<(u32, Sum)>> = FxHashMap::default();
        for ((key, chain), sum) in &self.sums {
            of_keys.entry(*key).or_default().push((*chain, *sum));
        }
        let mut of_names: BTreeMap<Name, BTreeMap<u32, Sum>> =
            rows.iter().map(|row| (row.name.clone(), BTreeMap::new())).collect();
        for (key, chains) in of_keys {
            if let Some(of_name) = of_names.get_mut(&namer.name(&key).coarse(detail)) {
                chains.into_iter().for_each(|(chain, sum)| of_name.entry(chain).or_default().add(sum));
            }
        }
        let chains = |row: &rows::Row| self.largest(namer, of_names.remove(&row.name).unwrap_or_default());
        rows.iter().map(chains).collect()
    }

    fn largest(&self, namer: &Namer<'_, '_, '_>, sums: BTreeMap<u32, Sum>) -> Vec<Chain> {
        let mut sums: Vec<(u32, Sum)> = sums.into_iter().collect();
        sums.sort_by_key(|(chain, sum)| (*chain == OTHER_CHAINS, Reverse(sum.time)));
        let known = sums.iter().take_while(|(chain, _)| *chain != OTHER_CHAINS).count();
        let others = sums.split_off(known.min(SHOWN));
        let mut chains: Vec<Chain> =
            sums.into_iter().map(|(chain, sum)| Chain { sum, links: self.links(namer, chain) }).collect();
        if !others.is_empty() {
            let mut sum = Sum::default();
            others.iter().for_each(|(_, other)| sum.add(*other));
            chains.push(Chain { sum, links: Vec::new() });
        }
        chains
    }

    fn links(&self, namer: &Namer<'_, '_, '_>, chain: u32) -> Vec<ChainLink> {
        let steps = self.chains.steps(chain);
        let waits = steps.iter().skip(1).map(|step| step.wait).chain([None]);
        let link = |(party, wait): (u32, Option<Wait<Place>>)| ChainLink {
            who: namer.party_text(party),
            waits_in: wait.map(|wait| match wait {
                Wait::At(place) => namer.place_text(place),
                Wait::Birth => "(start of the thread)".to_owned(),
            }),
        };
        steps.iter().map(|step| step.party).zip(waits).map(link).collect()
    }
}

/// A chain that leads to a row.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    sum: Sum,
    /// The threads, the anchor first; none of all other chains together.
    links: Vec<ChainLink>,
}

/// A thread of a chain.
#[derive(Clone, Debug)]
struct ChainLink {
    /// Roles of process and thread.
    who: String,
    /// Where it waited for the next one; `None` of the last one.
    waits_in: Option<String>,
}

impl Chain {
    fn text(&self) -> String {
        let link = |link: &ChainLink| match &link.waits_in {
            Some(place) => format!("{} ({place})", link.who),
            None => link.who.clone(),
        };
        match &self.links[..] {
            [] => "other chains".to_owned(),
            links => links.iter().map(link).collect::<Vec<_>>().join(" <- "),
        }
    }

    fn list(&self, texts: impl Iterator<Item = String>) -> Value {
        if self.links.is_empty() { Value::None } else { Value::List(texts.collect()) }
    }
}

const CHAIN: &[ColumnOf<Chain>] = &[
    ColumnOf::always(
        "path_ns",
        "Path",
        Kind::Milliseconds,
        |c| c.sum.time.into(),
        "Time of the row that the chain leads to.",
    ),
    ColumnOf::always(
        "pieces",
        "Pieces",
        Kind::Count,
        |c| c.sum.pieces.into(),
        "Number of stretches of time; of run time that samples divide the number of samples.",
    ),
    ColumnOf::people("chain", "Chain", Kind::Text, |c| c.text().into(), "The threads, and where each one waited."),
    ColumnOf::machine(
        "threads",
        "Threads",
        Kind::List,
        |c| c.list(c.links.iter().map(|link| link.who.clone())),
        "Roles of process and thread of each link. The first thread is that of the account, and the last one is that of the row. `null`: all other chains of the row together.",
    ),
    ColumnOf::machine(
        "waits_in",
        "Waits in",
        Kind::List,
        |c| c.list(c.links.iter().filter_map(|link| link.waits_in.clone())),
        "For each thread but the last one the method in which it waited for the next one; `(start of the thread)` where the next one created it.",
    ),
];

/// The columns of the objects in `chains`.
#[must_use]
pub fn chain_columns() -> Vec<Column> {
    descriptions(CHAIN).into_iter().filter(|column| column.view != View::People).collect()
}

/// The chains of a row as objects.
pub(super) fn table(chains: &[Chain]) -> Value {
    Value::Table(Table { columns: descriptions(CHAIN), rows: values(CHAIN, chains), is_sparse: false })
}
