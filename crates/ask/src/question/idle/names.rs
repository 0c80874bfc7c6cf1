//! What the recorder noted about the idle states of a Linux machine.

use rustc_hash::FxHashMap;
use tracesift_trace::cpu_list;
use tracesift_trace::info::TraceInfo;

/// The beginning of the paths of these facts.
const PATH: &str = "power.idle.";
/// More CPUs only a forged document has.
const MOST_CPUS: usize = 4096;

/// An idle state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StateFacts {
    pub(super) name: Option<String>,
    /// The time that the CPU needs to leave it, µs.
    pub(super) latency: Option<i64>,
}

/// Idle states of all CPUs.
#[derive(Debug, Default)]
pub(super) struct Names {
    group_of: FxHashMap<i16, String>,
    /// By group and number.
    states: FxHashMap<(String, i16), StateFacts>,
}

impl Names {
    pub(super) fn of(info: &TraceInfo) -> Self {
        let (mut names, mut room) = (Self::default(), MOST_CPUS);
        for (path, value) in &info.facts {
            let Some((group, fact)) = path.strip_prefix(PATH).and_then(|rest| rest.split_once('.')) else { continue };
            if fact == "cpus" {
                for cpu in cpu_list::numbers(value).take(room) {
                    names.group_of.insert(cpu, group.to_owned());
                    room -= 1;
                }
                continue;
            }
            let Some((state, fact)) = fact.strip_prefix("states.").and_then(|rest| rest.split_once('.')) else {
                continue;
            };
            let Ok(state) = state.parse() else { continue };
            let facts = names.states.entry((group.to_owned(), state)).or_default();
            match fact {
                "name" => facts.name = Some(value.clone()),
                "latency_us" => facts.latency = value.parse().ok(),
                _ => {}
            }
        }
        names
    }

    pub(super) fn get(&self, cpu: i16, state: Option<i16>) -> Option<&StateFacts> {
        self.states.get(&(self.group_of.get(&cpu)?.clone(), state?))
    }
}
