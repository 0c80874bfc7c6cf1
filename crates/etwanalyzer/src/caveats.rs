//! What limits the figures of an import, in sentences: they stand beside every answer.

use tracesift_trace::Health;

use crate::document::{Document, Methods};

/// The sentences. `has_waits`: whether waits are known.
pub(crate) fn caveats(document: &Document, has_waits: bool, health: &Health) -> Vec<String> {
    let cpu = document.cpu.as_ref();
    let mut caveats = vec![
        "imported from ETWAnalyzer: sums over the whole recording without events, so exclusive CPU, numbers of samples and figures per \
         thread or time range are unknown"
            .to_owned(),
    ];
    let methods = cpu.and_then(|cpu| cpu.methods.as_ref());
    if cpu.is_none_or(|cpu| cpu.per_process_ms.0.is_empty() && methods.is_none_or(is_empty)) {
        caveats.push("the extract has no CPU figures".to_owned());
    }
    if let Some(methods) = methods.filter(|methods| !is_empty(methods)) {
        caveats.push("CPU is in whole ms: of processes cut, of methods rounded".to_owned());
        if methods.contains_all_cpu_data != Some(true) {
            caveats.push("methods of 10 ms and less are missing: the extract was made without -allCPU".to_owned());
        }
        if methods.has_samples == Some(false) {
            caveats.push(
                "CPU of methods is run time from context switches: the recording has no CPU samples with stacks"
                    .to_owned(),
            );
        }
    }
    if has_waits {
        caveats.push(
            "waits and ready times of methods are in whole ms, cut, and end at the switch-in, so that overlaps differ slightly".to_owned(),
        );
    }
    if document.trace_header.is_none_or(|header| header.events_lost.is_none()) {
        caveats.push("the extract does not say whether events were lost while recording".to_owned());
    }
    let left_out: i64 = health.iter().map(|(_, counter)| counter.count).fold(0, i64::saturating_add);
    if left_out > 0 {
        caveats.push(format!("{left_out} rows of the extract could not be used as they are: `dump stats` tells which"));
    }
    caveats
}

fn is_empty(methods: &Methods) -> bool {
    methods.method_stats_per_process.0.is_empty()
}
