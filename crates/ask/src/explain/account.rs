//! What is shown of an account: its shares by state and disturbance, and its largest rows with their chains.

use std::collections::{BTreeMap, BTreeSet};

use tracesift_analysis::Span;
use tracesift_analysis::disturbances::Kind;
use tracesift_trace::ProcessId;

use super::places::{PlacesOfRows, Seen};
use crate::path::account::{Account, For};
use crate::path::rows::{self, Detail, Namer};
use crate::path::window::Window;

/// Rows that are shown.
const ROWS: usize = 5;

/// The account of a window.
#[derive(Clone, Debug)]
pub struct ExplainedAccount {
    /// Start of the window, ns since time zero.
    pub from: i64,
    /// Length of the window, ns. The shares add up to it.
    pub length: i64,
    /// What the account is made of: `full`, `switches` or `samples`.
    pub level: &'static str,
    /// Role of the process of the thread that the account starts from.
    pub process: Option<String>,
    /// Role of this thread.
    pub thread: Option<String>,
    /// The time by state and disturbance: first the test's own, then each the largest first.
    pub shares: Vec<Share>,
    /// The window without disturbances, ns.
    pub undisturbed: i64,
    /// The largest rows, the largest first.
    pub largest: Vec<LargestRow>,
    /// How many rows the account has.
    pub rows: usize,
    pub(crate) test: Option<ProcessId>,
    /// Roles of the processes of the test that have a part in the account.
    roles_of_test: BTreeSet<String>,
    /// All rows, the largest first.
    pub(crate) all: Vec<rows::Row>,
    pub(crate) places: PlacesOfRows,
}

/// A part of a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// `run`, `ready`, `wait` or `unknown`; of a disturbance `None`, as it has time of all states.
    pub state: Option<&'static str>,
    /// The kind of disturbance.
    pub disturbance: Option<&'static str>,
    /// Its time, ns.
    pub time: i64,
}

/// One of the largest rows.
#[derive(Clone, Debug)]
pub struct LargestRow {
    row: rows::Row,
    /// The row with its chain, as a text: `main waits in app!lock for owner # runs b.exe!work`.
    pub text: String,
}

impl LargestRow {
    fn new(row: &rows::Row, anchor: Option<&str>) -> Self {
        Self { text: text(&row.name, anchor), row: row.clone() }
    }

    /// Its time, ns.
    #[must_use]
    pub fn time(&self) -> i64 {
        self.row.time
    }

    /// `run`, `ready`, `wait` or `unknown`.
    #[must_use]
    pub fn state(&self) -> &'static str {
        self.row.name.state
    }

    /// The kind of disturbance that it is.
    #[must_use]
    pub fn disturbance(&self) -> Option<&'static str> {
        self.row.name.disturbance.map(Kind::word)
    }

    /// Process, thread, what ended a wait, tag, site, and tag and site of the wait that it was for.
    #[must_use]
    pub fn names(&self) -> [Option<&str>; 7] {
        self.row.name.texts()
    }
}

impl ExplainedAccount {
    pub(crate) fn of(account: &Account, namer: &Namer<'_, '_, '_>, seen: Seen) -> Self {
        let mut all = namer.rows(account, Detail::For);
        // Of equal ones the first name counts.
        all.sort_by_key(|row| std::cmp::Reverse(row.time));
        let Window { span, process, .. } = account.window;
        // The thread that the account starts from has the time that is for nobody else, unless a request went through several threads.
        let own = account.parts.iter().filter(|part| part.key.whom == For::Own).max_by_key(|part| part.time);
        let anchor = own.and_then(|part| namer.parties.party_of(part.key.party));
        let parties = account.parts.iter().filter_map(|part| namer.parties.party_of(part.key.party));
        let roles_of_test = parties.filter(|party| party.is_of_test).map(|party| party.process.clone()).collect();
        let length = span.length();
        let disturbed = all.iter().filter(|row| row.name.disturbance.is_some()).map(|row| row.time);
        let undisturbed = disturbed.fold(length, i64::saturating_sub);
        let thread = anchor.map(|party| party.thread.clone());
        let largest = all.iter().filter(|row| row.time > 0).take(ROWS);
        Self {
            from: span.start,
            length,
            level: account.level.word(),
            process: anchor.map(|party| party.process.clone()),
            shares: shares(&all),
            undisturbed,
            largest: largest.map(|row| LargestRow::new(row, thread.as_deref())).collect(),
            rows: all.len(),
            test: process,
            roles_of_test,
            thread,
            all,
            places: PlacesOfRows::of(seen, namer),
        }
    }

    /// A row with its chain, as a text, where its disturbance is known anyway.
    pub(crate) fn text_of(&self, row: &rows::Row) -> String {
        let known = rows::Name { disturbance: None, ..row.name.clone() };
        text(&known, self.thread.as_deref())
    }

    /// Whether a row is of a thread of the test.
    pub(crate) fn is_of_test(&self, row: &rows::Row) -> bool {
        row.name.process.as_ref().is_some_and(|process| self.roles_of_test.contains(process))
    }

    /// The window.
    pub(crate) fn span(&self) -> Span {
        Span { start: self.from, end: self.from.saturating_add(self.length) }
    }

    /// Time that the recording does not tell of, and that is no disturbance, ns.
    pub(crate) fn unknown(&self) -> i64 {
        let is_unknown = |share: &&Share| share.state == Some("unknown") && share.disturbance.is_none();
        self.shares.iter().filter(is_unknown).fold(0, |sum, share| sum.saturating_add(share.time))
    }

    /// The kinds of disturbances with their time, the largest first.
    pub(crate) fn disturbances(&self) -> impl Iterator<Item = (&'static str, i64)> {
        self.shares.iter().filter_map(|share| Some((share.disturbance?, share.time)))
    }
}

/// A row with its chain.
fn text(name: &rows::Name, anchor: Option<&str>) -> String {
    match (&name.for_site, anchor) {
        (Some(site), Some(anchor)) => {
            let mut own = name.clone();
            own.for_site = None;
            format!("{anchor} waits in {site} for: {}", rows::text(&own))
        }
        _ => rows::text(name),
    }
}

fn shares(rows: &[rows::Row]) -> Vec<Share> {
    let mut own: BTreeMap<&'static str, i64> = BTreeMap::new();
    let mut others: BTreeMap<Kind, i64> = BTreeMap::new();
    for row in rows {
        let time = match row.name.disturbance {
            Some(kind) => others.entry(kind).or_default(),
            None => own.entry(row.name.state).or_default(),
        };
        *time = time.saturating_add(row.time);
    }
    let mut shares: Vec<Share> =
        own.into_iter().map(|(state, time)| Share { state: Some(state), disturbance: None, time }).collect();
    shares.extend(others.into_iter().map(|(kind, time)| Share { state: None, disturbance: Some(kind.word()), time }));
    shares.sort_by_key(|share| (share.disturbance.is_some(), std::cmp::Reverse(share.time)));
    shares
}
