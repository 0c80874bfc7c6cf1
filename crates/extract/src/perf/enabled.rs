//! The tables whose events a recording had enabled: without rows of such a table nothing happened.

use std::collections::BTreeSet;

use tracesift_perf::Metadata;

use super::second_pass::tables_of_call;
use super::tracepoint::{DnsFields, ExceptionFields, HeapFields, InterruptFields, LockFields, NetworkFields};

/// The events that hard faults are made of.
const HARD_FAULTS: [&str; 3] = ["major-faults", "filemap:mm_filemap_fault", "filemap:mm_filemap_add_to_page_cache"];

/// The name of an event without the terms behind it.
fn base_name(name: &str) -> &str {
    name.split('/').next().unwrap_or(name)
}

/// The tables, by name.
pub(super) fn tables(metadata: &Metadata) -> Vec<String> {
    let mut tables = BTreeSet::new();
    let mut hard_faults = HARD_FAULTS.to_vec();
    for event in 0..metadata.events.len() {
        let name = metadata.event_name(event);
        tables.extend(tables_of(base_name(&name)));
        hard_faults.retain(|needed| *needed != base_name(&name));
    }
    if hard_faults.is_empty() {
        tables.insert("hard_faults");
    }
    tables.into_iter().map(str::to_owned).collect()
}

fn tables_of(event: &str) -> Vec<&'static str> {
    match event {
        "sched:sched_switch" => vec!["context_switches"],
        "block:block_rq_complete" => vec!["disk_io"],
        "page-faults" | "minor-faults" | "major-faults" | "exceptions:page_fault_user" => vec!["page_faults"],
        "power:cpu_frequency" | "power:pstate_sample" => vec!["cpu_frequencies"],
        "power:cpu_idle" => vec!["cpu_idle_states"],
        "kmem:rss_stat" => vec!["memory_processes"],
        "vmscan:mm_vmscan_direct_reclaim_begin" | "vmscan:mm_vmscan_memcg_reclaim_begin" => vec!["reclaims"],
        "vmscan:mm_vmscan_direct_reclaim_end" | "vmscan:mm_vmscan_memcg_reclaim_end" => vec!["reclaims"],
        "sock:inet_sock_set_state" => vec!["connections"],
        // `handles` is of this event alone: by it, `compare` tells recordings of all calls from those of single calls.
        "raw_syscalls:sys_enter" => {
            vec!["syscalls", "file_io", "socket_calls", "allocations", "mapped_views", "handles"]
        }
        // It tells of packets that are given up, not of connections.
        "skb:kfree_skb" => Vec::new(),
        event if NetworkFields::is_read_from(event) => vec!["connections", "network_io"],
        event if DnsFields::is_read_from(event) => vec!["dns_queries"],
        event if ExceptionFields::is_read_from(event) => vec!["exceptions"],
        event if LockFields::is_read_from(event) => vec!["lock_waits"],
        event if InterruptFields::is_read_from(event) => vec!["interrupts"],
        event if HeapFields::is_read_from(event) => vec!["allocations"],
        event => match event.strip_prefix("syscalls:sys_enter_") {
            Some(call) => tables_of_call(call),
            None => Vec::new(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::tables_of;

    #[test]
    fn events_are_of_the_tables_that_they_make() {
        assert_eq!(tables_of("syscalls:sys_enter_read"), ["syscalls", "file_io"]);
        assert_eq!(tables_of("syscalls:sys_enter_newstat"), ["syscalls", "file_io"]);
        assert_eq!(tables_of("syscalls:sys_enter_connect"), ["syscalls", "socket_calls"]);
        assert_eq!(tables_of("syscalls:sys_enter_brk"), ["syscalls", "allocations"]);
        assert_eq!(tables_of("syscalls:sys_enter_futex"), ["syscalls"]);
        assert_eq!(tables_of("sock:sock_send_length"), ["connections", "network_io"]);
        for event in ["openat", "close", "dup", "socket", "mmap"].map(|call| format!("syscalls:sys_enter_{call}")) {
            assert!(!tables_of(&event).contains(&"handles"), "{event}");
        }
        assert!(tables_of("raw_syscalls:sys_enter").contains(&"handles"));
        assert!(tables_of("cycles").is_empty() && tables_of("skb:kfree_skb").is_empty());
    }
}
