//! Limits of the figures of an import, in sentences. They stand beside every answer, so there are
//! few of them.

use tracesift_trace::Health;

use crate::document::{Document, Methods, Parts};

/// The sentences: what every import lacks, and in one more what is so with this one. `has_waits`: whether waits are known.
pub(crate) fn caveats(document: &Document, has_waits: bool, health: &Health) -> Vec<String> {
    let cpu = document.cpu.as_ref();
    let mut caveats = vec![
        "imported from ETWAnalyzer: CPU and waits are sums in whole ms without events, so no exclusive CPU, no numbers of samples, and \
         nothing per thread or time range"
            .to_owned(),
    ];
    let mut limits = Vec::new();
    let methods = cpu.and_then(|cpu| cpu.methods.as_ref());
    if cpu.is_none_or(|cpu| cpu.per_process_ms.0.is_empty() && methods.is_none_or(is_empty)) {
        limits.push("the extract has no CPU figures".to_owned());
    }
    if let Some(methods) = methods.filter(|methods| !is_empty(methods)) {
        if methods.contains_all_cpu_data != Some(true) {
            limits.push("methods of 10 ms and less are missing (extracted without -allCPU)".to_owned());
        }
        if methods.has_samples == Some(false) {
            limits.push("CPU of methods is run time from context switches, for want of samples with stacks".to_owned());
        }
    }
    if has_waits {
        limits.push("waits and ready times end at the switch-in, so that overlaps differ slightly".to_owned());
    }
    if document.trace_header.is_none_or(|header| header.events_lost.is_none()) {
        limits.push("whether events were lost is unknown".to_owned());
    }
    let left_out: i64 = health.iter().map(|(_, counter)| counter.count).fold(0, i64::saturating_add);
    if left_out > 0 {
        limits.push(format!("{left_out} rows could not be used as they are: `dump stats` tells which"));
    }
    if !limits.is_empty() {
        caveats.push(limits.join("; "));
    }
    caveats
}

/// The parts of an extract that are left out because of their size, by name.
pub(crate) fn not_imported(parts: &Parts) -> Option<String> {
    let names = &parts.too_large;
    (!names.is_empty())
        .then(|| format!("parts of the extract that are too large and not imported: {}", names.join(", ")))
}

fn is_empty(methods: &Methods) -> bool {
    methods.method_stats_per_process.0.is_empty()
}
