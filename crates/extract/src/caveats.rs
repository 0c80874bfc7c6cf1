//! Limits of the figures of a recording, in sentences. They stand beside every answer.

use tracesift_trace::health_kinds::Severity;
use tracesift_trace::{Health, HealthKind};

/// The sentences that the health counters give.
pub(crate) fn caveats(health: &Health) -> Vec<String> {
    health.iter().filter_map(|(kind, counter)| caveat(kind, counter.count, counter.example.as_deref())).collect()
}

/// The sentence that a counter of the health table gives, where figures of answers depend on what it counts.
#[must_use]
pub fn caveat(kind: HealthKind, count: i64, example: Option<&str>) -> Option<String> {
    match kind {
        HealthKind::BROKEN_SWITCH_CHAIN if count == 1 => {
            Some("the chain of switches is broken once: the time around it is unknown".to_owned())
        }
        HealthKind::BROKEN_SWITCH_CHAIN => {
            Some(format!("the chain of switches is broken {count} times: the time around them is unknown"))
        }
        // Their examples are sentences.
        kind if kind.severity() == Severity::Limit => example.map(str::to_owned),
        _ => None,
    }
}
