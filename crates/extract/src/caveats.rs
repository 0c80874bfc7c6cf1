//! What limits the figures of a recording, in sentences: they stand beside every answer.

use tracesift_trace::Health;

/// The sentences that the health counters give.
pub(crate) fn caveats(health: &Health) -> Vec<String> {
    health.iter().filter_map(|(kind, counter)| caveat(kind, counter.count, counter.example.as_deref())).collect()
}

/// The sentence that a counter of the health table gives, where figures of answers depend on what it counts.
#[must_use]
pub fn caveat(kind: &str, count: i64, example: Option<&str>) -> Option<String> {
    match kind {
        "broken_switch_chain" if count == 1 => {
            Some("the chain of switches is broken once: the time around it is unknown".to_owned())
        }
        "broken_switch_chain" => {
            Some(format!("the chain of switches is broken {count} times: the time around them is unknown"))
        }
        // These say it themselves.
        "sampled_switches" | "switches_of_single_tasks" | "no_cpu_event" => example.map(str::to_owned),
        _ => None,
    }
}
