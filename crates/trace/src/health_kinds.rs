//! The kinds of trouble that an extract counts: one table with word, severity, meaning and cure.
//!
//! `docs/health.md` is made from this table.

/// A kind of trouble, by its place in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HealthKind(u8);

/// What a kind means for the figures of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The recorder lost records: figures may be too small. `trace.json` says so, too.
    Lost,
    /// A part of the recording could not be read, or contradicts itself: no figure has it.
    Unreadable,
    /// Answers whose figures depend on this limit say so in a sentence.
    Limit,
    /// Recordings without damage have such rows, too.
    Usual,
}

impl Severity {
    /// One word for it, as `docs/health.md` has it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Unreadable => "unreadable",
            Self::Limit => "limit",
            Self::Usual => "usual",
        }
    }

    /// Its meaning for figures: a sentence or two.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Lost => "The recorder lost records. Figures may be too small.",
            Self::Unreadable => "A part of the recording could not be read, or contradicts itself. No figure has it.",
            Self::Limit => "Answers whose figures depend on this limit say so in a sentence.",
            Self::Usual => "Recordings without damage have such rows, too.",
        }
    }

    /// All severities, the worst first.
    pub const ALL: [Self; 4] = [Self::Lost, Self::Unreadable, Self::Limit, Self::Usual];
}

struct Entry {
    word: &'static str,
    severity: Severity,
    meaning: &'static str,
    cure: &'static str,
}

macro_rules! health_kinds {
    ($($name:ident = $word:literal, $severity:ident, $meaning:literal, $cure:literal;)*) => {
        /// Places in the table, in its order.
        #[derive(Clone, Copy)]
        #[expect(clippy::upper_case_acronyms, non_camel_case_types, reason = "the names are those of the constants")]
        #[repr(u8)]
        enum Place { $($name),* }

        const ENTRIES: &[Entry] = &[$(Entry {
            word: $word, severity: Severity::$severity, meaning: $meaning, cure: $cure,
        }),*];

        impl HealthKind {
            $(#[doc = $meaning] pub const $name: Self = Self(Place::$name as u8);)*
        }
    };
}

health_kinds! {
    // What the recorder lost.
    EVENTS_LOST = "events_lost", Lost, "The recorder lost this many events.",
        "Record with larger buffers (`tracesift record --buffer SIZE`) or fewer events.";
    BUFFERS_LOST = "buffers_lost", Lost, "The recorder lost this many buffers of events.",
        "Record with more buffers, to a faster disk, or fewer events.";
    BUFFERS_WITH_LOST_EVENTS = "buffers_with_lost_events", Lost, "A buffer carries the mark that events before it were lost.", "";
    BUFFERS_AFTER_LOST_BUFFERS = "buffers_after_lost_buffers", Lost, "A buffer carries the mark that buffers before it were lost.", "";
    MISSING_BUFFERS = "missing_buffers", Lost, "The file has fewer buffers than its header says were written.",
        "Check that the copy of the file is complete.";
    LOSS_RECORD = "loss_record", Lost, "A record of a real-time session reports lost events or buffers.", "";
    CPU_DROPPED_RECORDS = "cpu_dropped_records", Usual, "The session says when a CPU last dropped records.", "";

    // Damage of an .etl file.
    TRUNCATED_BUFFER = "truncated_buffer", Unreadable, "The file ends inside a buffer.", "Check that the copy of the file is complete.";
    BAD_BUFFER_HEADER = "bad_buffer_header", Unreadable,
        "The header of a buffer is not plausible. The reader skipped to the next plausible header, or corrected the size.", "";
    UNDECODABLE_BUFFER = "undecodable_buffer", Unreadable, "A compressed buffer does not decompress to the length in its header.", "";
    BAD_RECORD = "bad_record", Unreadable, "The header of a record is not plausible. The rest of its buffer is left out.", "";
    MISSING_HEADER_BUFFER = "missing_header_buffer", Unreadable,
        "The file does not begin with the description of its session. The clock is assumed.", "Give all files of the session.";
    ZEROED_REGION = "zeroed_region", Unreadable, "Zeros stand where a buffer should be.", "Check that the copy of the file is complete.";
    UNKNOWN_BUFFER_KIND = "unknown_buffer_kind", Unreadable, "A buffer has a kind that this version cannot read.", "";
    UNSUPPORTED_COMPRESSION = "unsupported_compression", Unreadable, "A buffer is compressed with a method that this version cannot read.", "";
    UNKNOWN_RECORD = "unknown_record", Unreadable, "The recorder marked a record as failed, or its header has a reserved type.", "";
    UNREADABLE_BUFFER = "unreadable_buffer", Unreadable, "The operating system could not read a buffer.", "Copy the file to a local disk.";

    // Damage of a perf.data file.
    TRUNCATED = "truncated", Unreadable, "A section, or the data that the header announces, ends behind the end of the file.",
        "Check that the copy of the file is complete.";
    UNFINISHED = "unfinished", Unreadable,
        "The recorder never wrote the length of its data: it was killed. All data up to the end of the file is read.", "";
    WALK_STOPPED = "walk_stopped", Unreadable, "No further record can be found behind this place.", "";
    SHORT_RECORD = "short_record", Unreadable, "A record is too short for its type or for the format of its event.", "";
    UNKNOWN_EVENT = "unknown_event", Unreadable, "A record names no event of the recording, or two events share an id.", "";
    BAD_ATTRIBUTE = "bad_attribute", Unreadable, "The description of an event cannot be read.", "";
    BAD_FEATURE = "bad_feature", Unreadable, "A feature section of the header cannot be read.", "";
    BAD_TRACING_DATA = "bad_tracing_data", Unreadable, "The formats of tracepoints cannot be read, or not all of them.", "";
    UNDECODABLE = "undecodable", Unreadable, "Compressed records cannot be decompressed.", "";
    UNREADABLE = "unreadable", Unreadable, "The operating system could not read bytes of the file.", "Copy the file to a local disk.";
    TOO_MANY = "too_many", Unreadable, "The file has more events, ids or build ids than a recording can have. The rest is left out.", "";

    // Damage of either.
    LATE_RECORD = "late_record", Unreadable,
        "A record came up after later records had been passed on. In an `.etl` it gets the time of the later records.", "";
    OTHER_DAMAGE = "other_damage", Unreadable, "Damage of another kind.", "";

    // Records that cannot be used.
    UNDECODABLE_PAYLOAD = "undecodable_payload", Unreadable, "The payload of a Windows event does not fit its layout.", "";
    UNDECODABLE_RECORDS = "undecodable_records", Unreadable, "The fields of a record of a `perf.data` cannot be read.", "";
    UNREADABLE_EVENT_METADATA = "unreadable_event_metadata", Unreadable,
        "The recording's description of its events cannot be read, or is larger than any recording needs.", "";
    CONTRADICTING_ROWS = "contradicting_rows", Unreadable, "Switch rows contradict each other or the table of threads.", "";
    STACK_FRAMES_UNREADABLE = "stack_frames_unreadable", Unreadable, "Frames of stacks could not be read back from a temporary file.",
        "Check the disk of the temporary directory.";
    PROCESSOR_BEYOND_GROUP_0 = "processor_beyond_group_0", Unreadable,
        "A clock rate or a counter of energy belongs to a processor beyond group 0. The extract does not know its number.", "";
    UNKNOWN_TRACEPOINT_FORMAT = "unknown_tracepoint_format", Unreadable,
        "The recording has no format of a tracepoint that the extract needs.", "";
    SAMPLES_OF_NO_EVENT = "samples_of_no_event", Unreadable, "A sample has an id that no event of the recording has.", "";
    INCOMPLETE_SYSCALLS = "incomplete_syscalls", Unreadable, "An entry or exit of a system call lacks its fields.",
        "Record tracepoints with their raw data (perf's default for tracepoints).";
    INCOMPLETE_DISK_EVENTS = "incomplete_disk_events", Unreadable, "An event of the block layer lacks its fields.", "";
    INCOMPLETE_POWER_EVENTS = "incomplete_power_events", Unreadable, "A clock rate or idle state lacks its fields.", "";
    INCOMPLETE_HEAP_EVENTS = "incomplete_heap_events", Unreadable, "A call of `malloc`, `calloc`, `realloc` or `free`, or its return, lacks its fields. It has no effect on the rows.", "";
    INCOMPLETE_NETWORK_EVENTS = "incomplete_network_events", Unreadable, "An event of a socket lacks its fields.", "";

    // Sums of another tool.
    UNLISTED_PROCESSES = "unlisted_processes", Usual, "An import has rows of a process that its list of processes lacks.", "";
    ROWS_OF_UNKNOWN_PROCESSES = "rows_of_unknown_processes", Unreadable, "An import names a process that its extract does not have.", "";
    UNREADABLE_METHOD_ROWS = "unreadable_method_rows", Unreadable, "A row of methods of an import has no valid numbers.", "";
    UNREADABLE_SECTION_ROWS = "unreadable_section_rows", Unreadable, "A row of an import has no time, or names a thing that its extract does not have.", "";
    UNREADABLE_MODULES = "unreadable_modules", Unreadable, "A module of an import cannot be read.", "";

    // Context switches.
    BROKEN_SWITCH_CHAIN = "broken_switch_chain", Limit,
        "The thread that a CPU switches from is not the thread that it switched to before. The time between is unknown.",
        "Record with larger buffers; lost switch events are the usual cause.";
    SAMPLED_SWITCHES = "sampled_switches", Limit, "Context switches are samples. No time off the CPU can be computed.",
        "Record all of them: `-c 1` for the event, or `tracesift record --profile CSwitch`.";
    SWITCHES_OF_SINGLE_TASKS = "switches_of_single_tasks", Limit,
        "Switch records tell only when threads leave a CPU, or cover only single processes. Wait and ready time are missing.",
        "Record the whole machine: `tracesift record --profile CSwitch`.";
    UNRECORDED_CPUS = "unrecorded_cpus", Limit,
        "Only some of the CPUs were recorded. What threads do on the other CPUs is missing, and counts as wait or ready time.",
        "Record all CPUs: `perf record -a` without `-C`, or `tracesift record`.";
    COMPLETED_SWITCHES = "completed_switches", Usual,
        "A switch that `sched:sched_switch` left out was taken from the switch records of the kernel.", "";
    THREAD_MOVED_UNSEEN = "thread_moved_unseen", Usual, "A thread runs on a CPU without a recorded switch to it.", "";
    SWITCH_IN_AFTER_THREAD_END = "switch_in_after_thread_end", Usual, "A CPU switches to a thread that has ended.", "";
    INCOMPLETE_SWITCHES = "incomplete_switches", Usual, "A switch lacks its time, CPU, thread or fields.", "";

    // CPU samples.
    NO_CPU_EVENT = "no_cpu_event", Limit, "No event of the recording is CPU time.",
        "Name one with `tracesift extract --event`, or record `cpu-clock` or `cycles`.";
    ONLY_USER_MODE = "only_user_mode", Limit,
        "CPU time was sampled in user mode only. Time in the kernel is missing.",
        "Record as root, or set `kernel.perf_event_paranoid` to 1 or less.";
    SAMPLES_WITHOUT_TIME = "samples_without_time", Limit,
        "Samples of CPU time have no time. Sums over the whole recording hold; figures by time do not.",
        "Record with `perf record --timestamp`, or `tracesift record`.";
    SAMPLES_OF_GUESTS = "samples_of_guests", Usual, "A sample hit a guest of a virtual machine. It has no row.", "";
    SAMPLED_TRACEPOINTS = "sampled_tracepoints", Usual, "A tracepoint was sampled: the recording has only a part of its events.", "";
    MULTIPLEXED_COUNTERS = "multiplexed_counters", Usual, "A counter shared its hardware with others and counted only a part of the time.",
        "Record fewer counters at once.";
    BRANCHES_OVER_BUDGET = "branches_over_budget", Limit, "More pairs of instructions branched than are followed. The other branches were left out.", "";
    CHANGED_COUNTERS = "changed_counters", Limit, "Somebody else changed hardware counters of a CPU: counts across the change are not known.",
        "End other programs that use hardware counters.";
    COUNTERS_WENT_BACK = "counters_went_back", Usual, "A hardware counter was lower than at the switch before. Its count between them is not known.", "";
    ODD_COUNTER_GROUPS = "odd_counter_groups", Unreadable, "A switch has other counters than the first switch. Its counters are left out.", "";

    // Memory, disk, system calls, faults, idle states.
    MEMORY_READ_TWICE = "memory_read_twice", Usual, "The recording has the memory from two sources. The source that came first is in the tables.", "";
    INCOMPLETE_MEMORY_EVENTS = "incomplete_memory_events", Unreadable, "An event about the memory of a process lacks fields. It has no row.", "";
    MEMORY_OF_UNKNOWN_PROCESS = "memory_of_unknown_process", Usual, "The memory of a process changed before the recording told which process it is.", "";
    RECLAIMS_WITHOUT_BEGIN = "reclaims_without_begin", Usual, "Reclaim or compaction of memory ended that began before the recording. It has no row.", "";
    RECLAIMS_WITHOUT_END = "reclaims_without_end", Usual, "The end of a reclaim or compaction of memory was not recorded. It has no row.", "";
    DISK_IO_WITHOUT_COMPLETION = "disk_io_without_completion", Usual, "A disk operation began and did not end inside of the recording.", "";
    DISK_COMPLETIONS_MISSING = "disk_completions_missing", Limit,
        "More than a tenth of the disk operations have no recorded end. They have no row. Some kernels write no events while a CPU is idle.", "";
    DISK_REQUESTERS_OVER_BUDGET = "disk_requesters_over_budget", Usual,
        "More disk operations were under way than are followed. The thread, the stack or the file of the oldest ones was forgotten.", "";
    DISK_COMPLETIONS_WITHOUT_START = "disk_completions_without_start", Usual, "A disk operation ended that began before the recording.", "";
    OTHER_DISK_OPERATIONS = "other_disk_operations", Usual, "A disk operation is no read, write or flush (a discard, for example). It has no row.", "";
    FAILED_DISK_OPERATIONS = "failed_disk_operations", Usual, "A disk operation ended with an error.", "";
    FILE_OPERATIONS_WITHOUT_END = "file_operations_without_end", Usual, "A file operation began and did not end inside of the recording. Its row is open.", "";
    FILE_OPERATION_ENDS_WITHOUT_START = "file_operation_ends_without_start", Usual, "A file operation ended that began before the recording, or that is of no kind with rows.", "";
    FILTER_CALLS_WITHOUT_END = "filter_calls_without_end", Usual, "A file system filter driver was called, and the recording does not have the end of the call. Its row is open.", "";
    OTHER_FILE_SOURCE = "other_file_source", Usual, "Two sources tell of the same file operations. One of them has rows.", "";
    INTERRUPTS_WITHOUT_BEGIN = "interrupts_without_begin", Usual, "An interrupt, a deferred procedure call, a softirq, a timer or a work item ended that began before the recording. It has no row.", "";
    INTERRUPTS_WITHOUT_END = "interrupts_without_end", Usual, "The end of an interrupt, a softirq, a timer or a work item is not in the recording. It has no row.", "";
    INCOMPLETE_INTERRUPTS = "incomplete_interrupts", Unreadable, "An event of an interrupt, a softirq, a timer or a work item lacks its fields or its CPU.", "";
    LOCK_WAITS_WITHOUT_BEGIN = "lock_waits_without_begin", Usual, "A wait for a lock ended that began before the recording. It has no row.", "";
    LOCK_WAITS_WITHOUT_END = "lock_waits_without_end", Usual, "The end of a wait for a lock is not in the recording, though the thread went on. It has no row.", "";
    INCOMPLETE_LOCK_EVENTS = "incomplete_lock_events", Unreadable, "An event of a lock lacks its fields.", "";
    WORK_ITEMS_WITHOUT_ENQUEUE = "work_items_without_enqueue", Usual, "A thread took work of a thread pool, or began a task, that was queued before the recording, or that was not queued at all. It has no row.", "";
    WORK_ITEMS_WITHOUT_DEQUEUE = "work_items_without_dequeue", Usual, "Work waited for a thread when events were lost, or when more work waited than is followed. It has no row.", "";
    SYSCALLS_WITHOUT_ENTRY = "syscalls_without_entry", Usual, "A system call ended that began before the recording.", "";
    SYSCALLS_WITHOUT_THREAD = "syscalls_without_thread", Usual, "The entry or return of a system call of Windows, and no context switch tells which thread ran on the CPU. It has no row.",
        "Record context switches, too.";
    SYSCALLS_WITHOUT_EXIT = "syscalls_without_exit", Usual, "The exit of a system call was not recorded.", "";
    PAGE_FAULT_EVENTS_LEFT_OUT = "page_fault_events_left_out", Usual, "Several events tell of the same page faults. One of them counts.", "";
    PAGE_FAULTS_WITHOUT_THREAD = "page_faults_without_thread", Usual, "A page fault names no thread, and no context switch tells which thread ran. It has no row.",
        "Record context switches, too.";
    IDLE_STATES_WITHOUT_END = "idle_states_without_end", Usual, "The end of an idle state was not recorded.", "";

    ENERGY_READINGS_WITHOUT_ROW = "energy_readings_without_row", Usual,
        "A counter of energy was set back, was read twice at one instant, or is one of more than 65,536: what it counted before this reading has no row.", "";

    // Stacks of Windows.
    UNDEFINED_STACK_KEY = "undefined_stack_key", Usual, "A stack refers to a key that the recording does not define.", "";
    STACK_HALF_DROPPED = "stack_half_dropped", Usual, "Half of a stack was dropped at the memory budget.", "Extract with more `--memory`.";
    LATE_STACKS_OVER_BUDGET = "late_stacks_over_budget", Usual, "Halves of stacks that came seconds late were dropped at the memory budget.",
        "Extract with more `--memory`.";

    // Stacks that were unwound from a copy of the stack.
    USER_STACKS_CUT = "user_stacks_cut", Usual, "A stack is longer than the copy of it.", "Record with `--call-graph dwarf,65528`.";
    USER_STACKS_WITHOUT_FILE = "user_stacks_without_file", Usual, "A stack ends in a file that is missing on this machine.",
        "Extract on the recorded machine, or with `--sysroot DIR`.";
    USER_STACKS_WITH_ANOTHER_FILE = "user_stacks_with_another_file", Usual, "A stack ends in a file whose build id on this machine is another.",
        "Extract with `--sysroot DIR` of the recorded machine.";
    USER_STACKS_WITH_UNREADABLE_FILE = "user_stacks_with_unreadable_file", Usual, "A stack ends in a file that cannot be read.", "";
    USER_STACKS_WITHOUT_UNWIND_INFORMATION = "user_stacks_without_unwind_information", Usual,
        "A stack ends in code without unwind information.", "";
    USER_STACKS_OUTSIDE_OF_IMAGES = "user_stacks_outside_of_images", Usual, "A stack ends in memory that no file was mapped to, such as JIT code.",
        "Record with `--call-graph fp` if the runtime keeps frame pointers.";
    USER_STACKS_LOST = "user_stacks_lost", Usual, "The unwind information leads to an impossible address.", "";
    USER_STACKS_TOO_LONG = "user_stacks_too_long", Usual, "A stack has more frames than an archive keeps.", "";
    USER_STACKS_BY_FRAME_POINTERS = "user_stacks_by_frame_pointers", Usual,
        "Frames without unwind information were stepped over by their frame pointers.", "";
    USER_STACKS_OF_32_BIT = "user_stacks_of_32_bit", Usual, "The registers are those of a 32-bit program, whose stacks are not unwound.", "";
    USER_STACKS_OF_OTHER_PROCESSORS = "user_stacks_of_other_processors", Usual, "The processor is neither x86-64 nor 64-bit Arm.", "";
    USER_STACKS_WITHOUT_REGISTERS = "user_stacks_without_registers", Usual, "The stack pointer was not recorded.", "";

    // Names and fields.
    EVENTS_WITHOUT_SCHEMA = "events_without_schema", Usual, "No description of the fields of an event exists. `events` shows its bytes.", "";
    EVENTS_UNLIKE_THEIR_SCHEMA = "events_unlike_their_schema", Usual, "The payload of an event does not fit its description.", "";
    FIELDS_NOT_AS_EXPECTED = "fields_not_as_expected", Usual,
        "A field of a provider's event is missing or has another type than a table needs: the event has no row there.", "";
    DNS_QUERIES_WITHOUT_ANSWER = "dns_queries_without_answer", Usual,
        "Queries for names without an answer made room for newer ones: their rows end too early, as `open`.", "";
    DNS_ANSWERS_WITHOUT_CALL = "dns_answers_without_call", Usual,
        "A query for a name ended that began before the recording, and its end does not tell the name. It has no row.", "";
    OTHER_NETWORK_SOURCE = "other_network_source", Usual,
        "An event of the network has no row, since a richer source of the recording tells the same.", "";
    CONNECTIONS_OVER_BUDGET = "connections_over_budget", Usual,
        "A connection made room for newer ones: it has several rows.", "";
    SOCKET_CALLS_WITHOUT_BEGIN = "socket_calls_without_begin", Usual,
        "A call of a socket ended that began before the recording. It has no row.", "";
    SOCKET_CALLS_WITHOUT_END = "socket_calls_without_end", Usual,
        "Calls of sockets without an end made room for newer ones: their rows end too early, without a status.", "";
    FOCUS_CHANGES_MISSING = "focus_changes_missing", Usual,
        "A change of the focus is not in the recording, as a later one tells. The row of the process that had it ends too early.", "";
    GC_WITHOUT_BEGIN = "gc_without_begin", Usual,
        "A garbage collection of .NET ended that began before the recording, or whose begin was lost. It has no row.", "";
    COMPILATIONS_OVER_BUDGET = "compilations_over_budget", Usual,
        "More methods of .NET were being compiled than are followed. The oldest compilations count as not finished.", "";
    EXCEPTIONS_OVER_BUDGET = "exceptions_over_budget", Usual,
        "More exceptions or signals were under way than are followed. Of the oldest ones it is not known who caught them.", "";
    CATCH_WITHOUT_THROW = "catch_without_throw", Usual,
        "A catch block ran, and the throw of its exception is not in the recording.", "";
    INCOMPLETE_EXCEPTIONS = "incomplete_exceptions", Unreadable, "An event of a signal lacks its fields. It has no row.", "";
    HANDLES_WITHOUT_END = "handles_without_end", Usual,
        "Handles, kernel objects or views ended without an event: their value was in use anew, or more were open than are followed. Their rows end too late or too early.", "";
    ALLOCATIONS_OVER_BUDGET = "allocations_over_budget", Usual,
        "More memory blocks were open than are followed. The oldest ones count as not given back.", "";
    FREES_OF_UNKNOWN_MEMORY = "frees_of_unknown_memory", Usual, "Memory was given back that the recording does not know: it was allocated before.", "";
    MODULES_WITHOUT_SYMBOLS = "modules_without_symbols", Usual, "A module has frames without a name.",
        "`tracesift symbols missing` lists them; `symbols load --symbols PATH` names them.";
    METHODS_OVER_BUDGET = "methods_over_budget", Usual, "A method of JIT code was left out at the memory budget.", "Extract with more `--memory`.";
    IL_MAPS_OVER_BUDGET = "il_maps_over_budget", Usual, "The map from JIT code to IL was left out at the memory budget.", "Extract with more `--memory`.";
    REGISTRY_NAMES_OVER_BUDGET = "registry_names_over_budget", Usual, "The name of a key of the registry was left out at the memory budget. The key is called by its number.", "";
    REGISTRY_WITHOUT_BEGIN = "registry_without_begin", Usual, "An operation on the registry began before the recording, or its event does not tell when. Its row has no duration.", "";
    FILE_NAMES_OVER_BUDGET = "file_names_over_budget", Usual, "The name of a file was left out at the memory budget.", "Extract with more `--memory`.";
}

impl HealthKind {
    /// All kinds, in the order of the table.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..ENTRIES.len()).filter_map(|place| u8::try_from(place).ok()).map(Self)
    }

    /// The kind with that [word](Self::word).
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::all().find(|kind| kind.word() == word)
    }

    /// The kind of a place of damage, by the word that a reader of recordings has for it.
    #[must_use]
    pub fn of_damage(word: &str) -> Self {
        Self::of_word(word).unwrap_or(Self::OTHER_DAMAGE)
    }

    /// The word in archives and answers; stable.
    #[must_use]
    pub const fn word(self) -> &'static str {
        self.entry().word
    }

    /// What it means for figures.
    #[must_use]
    pub const fn severity(self) -> Severity {
        self.entry().severity
    }

    /// One sentence or two: what happened.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        self.entry().meaning
    }

    /// What helps; empty where nothing does.
    #[must_use]
    pub const fn cure(self) -> &'static str {
        self.entry().cure
    }

    #[expect(clippy::indexing_slicing, reason = "places are made by the table only")]
    const fn entry(self) -> &'static Entry {
        &ENTRIES[self.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::HealthKind;

    #[test]
    fn a_word_is_of_one_kind() {
        for kind in HealthKind::all() {
            assert_eq!(HealthKind::of_word(kind.word()), Some(kind));
            assert!(
                kind.meaning().ends_with('.') && (kind.cure().is_empty() || kind.cure().ends_with('.')),
                "{kind:?}"
            );
        }
        assert_eq!(HealthKind::of_word("broken_switch_chain"), Some(HealthKind::BROKEN_SWITCH_CHAIN));
    }
}
