//! What limits the figures of a recording, in sentences: they stand beside every answer.

use tracesift_trace::Health;

/// The sentences that the health counters give.
pub(crate) fn caveats(health: &Health) -> Vec<String> {
    health
        .iter()
        .filter_map(|(kind, counter)| match kind {
            "broken_switch_chain" if counter.count == 1 => {
                Some("the chain of switches is broken once: the time around it is unknown".to_owned())
            }
            "broken_switch_chain" => Some(format!(
                "the chain of switches is broken {} times: the time around them is unknown",
                counter.count
            )),
            // These say it themselves.
            "sampled_switches" | "switches_of_single_tasks" | "no_cpu_event" => counter.example.clone(),
            _ => None,
        })
        .collect()
}
