//! Sums of hardware counters per process, from differences between context switches.

use serde::Deserialize;
use tracesift_trace::rows::CounterSummaryRow;
use tracesift_trace::{Health, ProcessId, counter_roles};

use super::branches::Branches;
use crate::bounded::{Entries, List};
use crate::document::{Process, ProcessReference};
use crate::identity::Identities;
use crate::limits::{COUNTERS, PROCESSES};
use crate::values::Integer;

/// `PMC`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Pmc {
    /// Hardware counters.
    pub counters: List<Counter, COUNTERS>,
    /// Branches between methods.
    #[serde(rename = "LBRData")]
    pub lbr_data: Branches,
}

/// An element of `Counters`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Counter {
    /// Name of the counter, as the recorder has it.
    pub counter_name: Option<String>,
    /// Sums by index of the process.
    pub process_map: Entries<Integer, PROCESSES>,
}

/// One sum.
#[derive(Clone, Copy, Debug)]
struct Sum {
    /// Place in the names.
    counter: usize,
    process: Option<ProcessId>,
    is_idle: bool,
    value: i64,
}

/// The sums that can be rows.
#[derive(Debug, Default)]
pub(crate) struct CounterRows {
    names: Vec<String>,
    sums: Vec<Sum>,
    /// Length of the session, ns.
    end: i64,
}

impl CounterRows {
    pub(super) fn read(
        part: Vec<Counter>,
        end: i64,
        processes: &[Process],
        identities: &mut Identities,
        health: &mut Health,
    ) -> Self {
        let mut rows = Self { end, ..Self::default() };
        for (counter, Counter { counter_name, process_map }) in part.into_iter().enumerate() {
            rows.names.push(counter_name.unwrap_or_default());
            for (key, value) in process_map.0 {
                let process = identities.find(&ProcessReference::parse(&key), health);
                let listed = process.and_then(|process| processes.get(process.index()));
                match value.count() {
                    Some(value) => {
                        let is_idle = listed.is_some_and(|listed| listed.process_id == 0);
                        rows.sums.push(Sum { counter, process, is_idle, value });
                    }
                    None => super::unreadable(health, || "a hardware counter without a sum".to_owned()),
                }
            }
        }
        rows
    }

    /// Table `counter_summary`, row by row.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(&CounterSummaryRow)) {
        let roles = counter_roles::roles(self.names.iter().map(String::as_str));
        for Sum { counter, process, is_idle, value } in &self.sums {
            visit(&CounterSummaryRow {
                process: *process,
                counter: self.names.get(*counter).cloned().unwrap_or_default(),
                role: roles.get(*counter).copied().flatten(),
                source: SWITCHES,
                best: Some(true),
                idle: Some(*is_idle),
                value: Some(*value),
                end: self.end,
                ..CounterSummaryRow::default()
            });
        }
    }
}

/// Counts are differences between the switches to a thread and away from it.
const SWITCHES: i8 = 0;
