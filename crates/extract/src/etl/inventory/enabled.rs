//! The events that a recording had enabled: without rows of their tables nothing happened.

use tracesift_etl::Guid;
use tracesift_etl::class::{DNS_CLIENT, WIN32K, WINSOCK_AFD};
use tracesift_etl::payload::dotnet::{FRAMEWORK_PROVIDER, RUNTIME_PROVIDER, TASKS_PROVIDER};
use tracesift_etl::payload::{HeaderExtension, KERNEL_FILE, KERNEL_NETWORK, ProviderEnabled, TCPIP};

/// Groups of kernel events as the flags of the kernel name them, and the tables that they make. Bits 29 to 31 are the number of the word.
const GROUPS: [(u32, &[&str]); 19] = [
    // EVENT_TRACE_FLAG_CSWITCH
    (0x10, &["context_switches"]),
    // EVENT_TRACE_FLAG_DPC
    (0x20, &["interrupts"]),
    // EVENT_TRACE_FLAG_INTERRUPT
    (0x40, &["interrupts"]),
    // EVENT_TRACE_FLAG_SYSTEMCALL
    (0x80, &["syscalls"]),
    // EVENT_TRACE_FLAG_DISK_IO
    (0x100, &["disk_io"]),
    // EVENT_TRACE_FLAG_MEMORY_PAGE_FAULTS
    (0x1000, &["page_faults"]),
    // EVENT_TRACE_FLAG_MEMORY_HARD_FAULTS
    (0x2000, &["hard_faults"]),
    // EVENT_TRACE_FLAG_VIRTUAL_ALLOC
    (0x4000, &["allocations"]),
    // EVENT_TRACE_FLAG_NETWORK_TCPIP
    (0x1_0000, &["connections", "network_io"]),
    // EVENT_TRACE_FLAG_REGISTRY
    (0x2_0000, &["registry"]),
    // EVENT_TRACE_FLAG_FILE_IO_INIT
    (0x400_0000, &["file_io"]),
    // EVENT_TRACE_FLAG_PROFILE
    (0x100_0000, &["cpu_samples"]),
    // PERF_POOL
    (0x2000_0040, &["allocations"]),
    // PERF_MEMINFO
    (0x2008_0000, &["memory_state"]),
    // PERF_MEMINFO_WS
    (0x2080_0000, &["memory_processes"]),
    // PERF_OB_HANDLE
    (0x8000_0040, &["handles"]),
    // PERF_OB_OBJECT
    (0x8000_0080, &["object_references"]),
    // PERF_FLT_IO
    (0x8010_0000, &["filter_calls"]),
    // PERF_FLT_FASTIO
    (0x8020_0000, &["filter_calls"]),
];

/// All keywords of a provider.
const ALL: u64 = u64::MAX;

/// Providers whose events make tables: the keywords and the level that have all of these events.
const PROVIDERS: [(Guid, u64, u8, &[&str]); 16] = [
    (DNS_CLIENT, ALL, 5, &["dns_queries"]),
    (WINSOCK_AFD, ALL, 5, &["socket_calls"]),
    (TCPIP, ALL, 5, &["connections", "network_io"]),
    (KERNEL_NETWORK, ALL, 5, &["connections", "network_io"]),
    (KERNEL_FILE, ALL, 5, &["file_io"]),
    (WIN32K, ALL, 5, &["focus", "ui_delays"]),
    // GC
    (RUNTIME_PROVIDER, 0x1, 4, &["gc_collections", "gc_suspensions"]),
    (RUNTIME_PROVIDER, 0x1, 5, &["clr_allocations"]),
    // Loader
    (RUNTIME_PROVIDER, 0x8, 4, &["assemblies"]),
    // Loader and JIT
    (RUNTIME_PROVIDER, 0x18, 5, &["jit_methods"]),
    // Contention
    (RUNTIME_PROVIDER, 0x4000, 4, &["lock_waits"]),
    // Exception
    (RUNTIME_PROVIDER, 0x8000, 2, &["exceptions"]),
    // Threading
    (RUNTIME_PROVIDER, 0x1_0000, 4, &["thread_pool"]),
    (RUNTIME_PROVIDER, 0x1_0000, 5, &["work_items"]),
    // Tasks
    (TASKS_PROVIDER, 0x2, 4, &["work_items"]),
    // ThreadPool
    (FRAMEWORK_PROVIDER, 0x2, 5, &["work_items"]),
];

/// How many providers of sessions are remembered: a machine has some dozens of sessions.
const MAX_PROVIDERS: usize = 4096;

/// What was enabled at any time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Enabled {
    group_masks: [u32; 8],
    /// Events of providers that a session gets: the place in `PROVIDERS`, and the session.
    providers: Vec<(usize, Box<str>)>,
}

impl Enabled {
    /// Takes what a session says of itself.
    pub(super) fn take(&mut self, extension: &HeaderExtension) {
        for (mask, more) in self.group_masks.iter_mut().zip(extension.group_masks) {
            *mask |= more;
        }
    }

    /// Takes what a session enabled, be it this recording's or another one.
    pub(super) fn take_provider(&mut self, enabled: &ProviderEnabled<'_>) {
        for (place, (provider, keywords, level, _)) in PROVIDERS.iter().enumerate() {
            let is_it = *provider == enabled.provider && enabled.has(*keywords, *level);
            if !is_it || self.providers.len() >= MAX_PROVIDERS {
                continue;
            }
            let entry = (place, enabled.session.to_string().into());
            if !self.providers.contains(&entry) {
                self.providers.push(entry);
            }
        }
    }

    /// The tables, by name: those of the kernel, and those of the providers that one of the recording's sessions enabled.
    pub(crate) fn tables(&self, sessions: &[&str]) -> Vec<String> {
        let is_on = |flag: u32| self.group_masks[(flag >> 29) as usize] & flag & 0x1fff_ffff != 0;
        let of_kernel = GROUPS.iter().filter(|(flag, _)| is_on(*flag)).map(|(_, tables)| *tables);
        let own = self.providers.iter().filter(|(_, session)| sessions.contains(&&**session));
        let of_providers = own.map(|(place, _)| PROVIDERS[*place].3);
        let mut tables: Vec<String> = Vec::new();
        for table in of_kernel.chain(of_providers).flatten() {
            if !tables.iter().any(|known| known == table) {
                tables.push((*table).to_owned());
            }
        }
        tables
    }
}
