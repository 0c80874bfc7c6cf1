//! All profiles with what they record.

use super::{Linux, LinuxEvent, Profile, Provider, Windows};
use crate::stacks::StackClass;

const fn plain(name: &'static str) -> LinuxEvent {
    LinuxEvent { name, stacks: None, without_perf: false, filter: "", since: (0, 0) }
}

const fn stacked(name: &'static str, class: StackClass) -> LinuxEvent {
    LinuxEvent { stacks: Some(class), ..plain(name) }
}

const fn beside_perf(name: &'static str, class: StackClass) -> LinuxEvent {
    LinuxEvent { without_perf: true, ..stacked(name, class) }
}

/// An event of sockets of which only those of the Internet are recorded.
const fn of_internet(name: &'static str) -> LinuxEvent {
    LinuxEvent { filter: "family == 2 || family == 10", ..beside_perf(name, StackClass::Network) }
}

const NO_LINUX: Linux = Linux {
    samples: false,
    events: &[],
    calls: &[],
    counted: &[],
    sampled: &[],
    branches: false,
    names: false,
    energy: false,
    process_memory: false,
    paths: false,
    descriptors: false,
};

const NO_WINDOWS: Windows =
    Windows { keywords: &[], stacks: &[], providers: &[], counted: &[], sampled: &[], branches: false };

const NO_PROVIDER: Provider = Provider {
    name: "",
    guid: None,
    level: 5,
    keywords: 0,
    stacks: None,
    stack_events: &[],
    without_events: &[],
    rundown_only: false,
    rundown: 0,
};

/// Who leaves a CPU and who comes. Hardware counters are read there.
pub(crate) const SWITCH: LinuxEvent = stacked("sched:sched_switch", StackClass::Switch);

/// Page faults that needed no data, and page faults for which data had to be read. Their samples have addresses, which those of
/// other software events do not.
pub(crate) const PAGE_FAULTS: [&str; 2] = ["minor-faults", "major-faults"];

const MAJOR_FAULTS: LinuxEvent = stacked(PAGE_FAULTS[1], StackClass::Memory);

/// A page fault needs a page of a file. Older kernels do not tell.
const PAGE_NEEDED: LinuxEvent = plain("filemap:mm_filemap_fault");

/// A page of a file gets memory, to be read or written next.
const PAGE_ADDED: LinuxEvent = plain("filemap:mm_filemap_add_to_page_cache");

/// All system calls; single ones are not recorded beside them.
pub(crate) const ALL_CALLS: [&str; 2] = ["raw_syscalls:sys_enter", "raw_syscalls:sys_exit"];

const SWITCHES: &[LinuxEvent] = &[
    SWITCH,
    stacked("sched:sched_waking", StackClass::Ready),
    plain("sched:sched_wakeup_new"),
    plain("power:cpu_idle"),
];

const SWITCH_KEYWORDS: &[&str] = &["CSwitch", "ReadyThread"];
const SWITCH_STACKS: &[(&str, StackClass)] = &[("CSwitch", StackClass::Switch), ("ReadyThread", StackClass::Ready)];

/// Exceptions (0x8000), what was compiled and loaded while recording (0x18). Begins of compilations have level 5. The stacks are those
/// of exceptions (80) and of begins of compilations (145).
const DOT_NET: Provider = Provider {
    name: "Microsoft-Windows-DotNETRuntime",
    guid: Some("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4"),
    level: 5,
    keywords: 0x8098,
    stacks: Some(StackClass::Exception),
    stack_events: &[80, 145],
    ..NO_PROVIDER
};

/// Garbage collections (0x1). The stacks are those of allocation ticks (10) and of requests for a collection (35).
const DOT_NET_GC: Provider = Provider {
    name: "Microsoft-Windows-DotNETRuntime",
    guid: Some("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4"),
    level: 5,
    keywords: 0x1,
    stacks: Some(StackClass::Memory),
    stack_events: &[10, 35],
    ..NO_PROVIDER
};

/// Methods of .NET processes that were compiled before the recording.
const DOT_NET_RUNDOWN: Provider = Provider {
    name: "Microsoft-Windows-DotNETRuntimeRundown",
    guid: Some("a669021c-c450-4609-a035-5af59af4df18"),
    rundown_only: true,
    rundown: 0x5_0138,
    ..NO_PROVIDER
};

/// Which window has the focus (0x2000), and which does not respond (0x40000).
const FOCUS: Provider = Provider {
    name: "Microsoft-Windows-Win32k",
    guid: Some("8c416c79-d49b-4f01-a467-e56d3aa8234c"),
    keywords: 0x4_2000,
    stacks: Some(StackClass::Focus),
    ..NO_PROVIDER
};

const POWER: Provider = Provider {
    name: "Microsoft-Windows-Kernel-Power",
    guid: Some("331c3b3a-2005-44c2-ac5e-77220c37d6b4"),
    level: 4,
    keywords: 0x4,
    rundown: 0x4,
    ..NO_PROVIDER
};

/// All profiles, in the order in which they are listed.
pub const PROFILES: &[Profile] = &[
    Profile {
        name: "Default",
        about: "CPU samples, disk; on Windows .NET exceptions and window focus, too",
        with_default: false,
        linux: Linux {
            samples: true,
            events: &[
                stacked("block:block_rq_issue", StackClass::Disk),
                plain("block:block_rq_requeue"),
                plain("block:block_rq_complete"),
                plain("block:block_rq_insert"),
                stacked("block:block_bio_queue", StackClass::Disk),
                plain("sched:sched_process_exec"),
            ],
            ..NO_LINUX
        },
        windows: Windows {
            keywords: &[
                "ProcessThread",
                "Loader",
                "CpuConfig",
                "SampledProfile",
                "DiskIO",
                "DiskIOInit",
                "Filename",
                "HardFaults",
                "MemoryInfo",
                "MemoryInfoWS",
            ],
            stacks: &[("SampledProfile", StackClass::Cpu), ("ProcessCreate", StackClass::Process)],
            providers: &[DOT_NET, DOT_NET_RUNDOWN, FOCUS, POWER],
            ..NO_WINDOWS
        },
    },
    Profile {
        name: "CSwitch",
        about: "Default, and context switches with who woke whom: waits, ready times, precise CPU",
        with_default: true,
        linux: Linux { events: SWITCHES, ..NO_LINUX },
        windows: Windows { keywords: SWITCH_KEYWORDS, stacks: SWITCH_STACKS, ..NO_WINDOWS },
    },
    Profile {
        name: "Disk",
        about: "Default, and failed disk operations (Linux), stacks and parts of disk operations (Windows)",
        with_default: true,
        linux: Linux { events: &[plain("block:block_rq_error"), plain("block:block_rq_requeue")], ..NO_LINUX },
        windows: Windows {
            keywords: &["DiskIO", "DiskIOInit", "SplitIO"],
            stacks: &[
                ("DiskReadInit", StackClass::Disk),
                ("DiskWriteInit", StackClass::Disk),
                ("DiskFlushInit", StackClass::Disk),
            ],
            ..NO_WINDOWS
        },
    },
    Profile {
        name: "MiniFilter",
        about: "Default, and what file system filter drivers such as virus scanners do (Windows)",
        with_default: true,
        linux: NO_LINUX,
        windows: Windows { keywords: &["FilterIO", "FilterIOFailure", "FilterIOFastIO", "FilterIOInit"], ..NO_WINDOWS },
    },
    Profile {
        name: "File",
        about: "Default, and operations on files",
        with_default: true,
        linux: Linux {
            events: &[PAGE_ADDED],
            calls: &[
                "open",
                "openat",
                "openat2",
                "creat",
                "close",
                "read",
                "pread64",
                "readv",
                "preadv",
                "preadv2",
                "write",
                "pwrite64",
                "writev",
                "pwritev",
                "pwritev2",
                "copy_file_range",
                "sendfile64",
                "splice",
                "fsync",
                "fdatasync",
                "sync_file_range",
                "newstat",
                "newlstat",
                "newfstat",
                "newfstatat",
                "statx",
                "access",
                "faccessat",
                "faccessat2",
                "ftruncate",
                "truncate",
                "fallocate",
                "unlink",
                "unlinkat",
                "rmdir",
                "rename",
                "renameat",
                "renameat2",
                "getdents64",
                "mkdir",
                "mkdirat",
                "open_by_handle_at",
                "dup",
                "dup2",
                "dup3",
                "fcntl",
                "close_range",
                "chdir",
                "fchdir",
            ],
            paths: true,
            descriptors: true,
            ..NO_LINUX
        },
        windows: Windows {
            keywords: &["FileIO", "FileIOInit", "Filename"],
            stacks: &[
                ("FileCreate", StackClass::File),
                ("FileRead", StackClass::File),
                ("FileWrite", StackClass::File),
                ("FileDelete", StackClass::File),
                ("FileRename", StackClass::File),
            ],
            ..NO_WINDOWS
        },
    },
    Profile {
        name: "Network",
        about: "Default, and TCP connections, their traffic and losses, and queries for names",
        with_default: true,
        linux: Linux {
            events: &[
                beside_perf("sock:inet_sock_set_state", StackClass::Network),
                of_internet("sock:sock_send_length"),
                of_internet("sock:sock_recv_length"),
                plain("tcp:tcp_probe"),
                plain("tcp:tcp_retransmit_skb"),
                plain("tcp:tcp_retransmit_synack"),
                plain("tcp:tcp_cong_state_set"),
                plain("tcp:tcp_receive_reset"),
                stacked("tcp:tcp_send_reset", StackClass::Network),
                plain("tcp:tcp_destroy_sock"),
                plain("udp:udp_fail_queue_rcv_skb"),
                // Packets that are dropped: those that are only consumed have the reason 1.
                LinuxEvent { filter: "reason > 1", since: (6, 3), ..plain("skb:kfree_skb") },
                plain("net:net_dev_queue"),
                plain("net:netif_receive_skb"),
            ],
            names: true,
            ..NO_LINUX
        },
        windows: Windows {
            providers: &[
                Provider {
                    name: "Microsoft-Windows-TCPIP",
                    guid: Some("2f07e2ee-15db-40f1-90ef-9d7ba282188a"),
                    stacks: Some(StackClass::Network),
                    // Who requests or accepts a connection, posts data, and receives some.
                    stack_events: &[1002, 1017, 1074, 1159],
                    // Timers, deliveries and the firewall's verdict on every packet.
                    without_events: &[1064, 1065, 1090, 1157, 1205, 1206, 1319, 1320, 1454, 1455],
                    rundown: 0xffff_ffff,
                    ..NO_PROVIDER
                },
                Provider {
                    name: "Microsoft-Windows-DNS-Client",
                    guid: Some("1c95126e-7eea-49a9-a3fe-a378b03ddb4d"),
                    ..NO_PROVIDER
                },
            ],
            ..NO_WINDOWS
        },
    },
    Profile {
        name: "Sockets",
        about: "Default, and operations on sockets",
        with_default: true,
        linux: Linux {
            events: &[
                beside_perf("sock:inet_sock_set_state", StackClass::Network),
                of_internet("sock:sock_send_length"),
                of_internet("sock:sock_recv_length"),
            ],
            calls: &[
                "socket",
                "connect",
                "accept",
                "accept4",
                "bind",
                "listen",
                "shutdown",
                "sendto",
                "recvfrom",
                "sendmsg",
                "recvmsg",
                "sendmmsg",
                "recvmmsg",
                "getsockopt",
                "setsockopt",
                "poll",
                "ppoll",
                "select",
                "pselect6",
                "epoll_wait",
                "epoll_pwait",
                "epoll_pwait2",
            ],
            ..NO_LINUX
        },
        windows: Windows {
            providers: &[Provider {
                name: "Microsoft-Windows-Winsock-AFD",
                guid: Some("e53c6823-7bb8-44bb-90dc-3f86090d48a6"),
                stacks: Some(StackClass::Network),
                ..NO_PROVIDER
            }],
            ..NO_WINDOWS
        },
    },
    Profile {
        name: "SysCall",
        about: "Default, and every system call",
        with_default: true,
        linux: Linux {
            events: &[
                beside_perf(ALL_CALLS[0], StackClass::Syscall),
                LinuxEvent { without_perf: true, ..plain(ALL_CALLS[1]) },
            ],
            ..NO_LINUX
        },
        windows: Windows {
            // Calls do not say which thread makes them; that follows from the switches.
            keywords: &["SystemCall", "CSwitch"],
            stacks: &[("SystemCallEnter", StackClass::Syscall)],
            ..NO_WINDOWS
        },
    },
    Profile {
        name: "Interrupts",
        about: "Default, and interrupts and what they put off: DPCs (Windows), softirqs, timers, work items (Linux)",
        with_default: true,
        linux: Linux {
            events: &[
                plain("irq:irq_handler_entry"),
                plain("irq:irq_handler_exit"),
                plain("irq:softirq_raise"),
                plain("irq:softirq_entry"),
                plain("irq:softirq_exit"),
                LinuxEvent { since: (6, 4), ..plain("irq:tasklet_entry") },
                LinuxEvent { since: (6, 4), ..plain("irq:tasklet_exit") },
                plain("timer:hrtimer_expire_entry"),
                plain("timer:hrtimer_expire_exit"),
                plain("timer:timer_expire_entry"),
                plain("timer:timer_expire_exit"),
                plain("workqueue:workqueue_queue_work"),
                plain("workqueue:workqueue_execute_start"),
                plain("workqueue:workqueue_execute_end"),
            ],
            ..NO_LINUX
        },
        windows: Windows {
            // The routines do not say which thread they interrupt; that follows from the switches.
            keywords: &["DPC", "Interrupt", "CSwitch"],
            ..NO_WINDOWS
        },
    },
    Profile {
        name: "Registry",
        about: "Default, and operations on keys and values of the registry (Windows)",
        with_default: true,
        linux: NO_LINUX,
        windows: Windows { keywords: &["Registry"], ..NO_WINDOWS },
    },
    Profile {
        name: "Contention",
        about: "Default, and waits for locks: of .NET programs (Windows), of the kernel (Linux)",
        with_default: true,
        linux: Linux {
            events: &[stacked("lock:contention_begin", StackClass::Switch), plain("lock:contention_end")],
            ..NO_LINUX
        },
        windows: Windows {
            providers: &[Provider {
                name: "Microsoft-Windows-DotNETRuntime",
                guid: Some("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4"),
                // Contention, threads and their pool, wait handles.
                keywords: 0x400_0001_4000,
                stacks: Some(StackClass::Switch),
                stack_events: &[81, 301],
                ..NO_PROVIDER
            }],
            ..NO_WINDOWS
        },
    },
    Profile {
        name: "Exceptions",
        about: "Default, and exceptions of .NET with who catches them (Windows), signals and exceptions of C++ (Linux)",
        with_default: true,
        linux: Linux {
            events: &[stacked("signal:signal_generate", StackClass::Exception), plain("signal:signal_deliver")],
            ..NO_LINUX
        },
        windows: Windows {
            // The end of a process tells whether an exception ended it; catch blocks have level 4.
            keywords: &["ProcessThread"],
            providers: &[DOT_NET],
            ..NO_WINDOWS
        },
    },
    Profile {
        name: "Memory",
        about: "Default, and memory of processes and of the machine, page faults (Linux: major ones, and reclaim)",
        with_default: true,
        linux: Linux {
            events: &[
                plain("kmem:rss_stat"),
                stacked("vmscan:mm_vmscan_direct_reclaim_begin", StackClass::Memory),
                plain("vmscan:mm_vmscan_direct_reclaim_end"),
                stacked("vmscan:mm_vmscan_memcg_reclaim_begin", StackClass::Memory),
                plain("vmscan:mm_vmscan_memcg_reclaim_end"),
                plain("vmscan:mm_vmscan_kswapd_wake"),
                plain("vmscan:mm_vmscan_kswapd_sleep"),
                stacked("compaction:mm_compaction_begin", StackClass::Memory),
                plain("compaction:mm_compaction_end"),
                plain("oom:mark_victim"),
                // Minor ones may be 100,000 in a second, each with a stack.
                MAJOR_FAULTS,
                PAGE_NEEDED,
                PAGE_ADDED,
            ],
            process_memory: true,
            ..NO_LINUX
        },
        windows: Windows {
            keywords: &["MemoryInfo", "MemoryInfoWS", "ProcessCounter", "HardFaults", "AllFaults"],
            stacks: &[("HardFault", StackClass::Memory)],
            providers: &[Provider {
                name: "Microsoft-Windows-Kernel-Memory",
                guid: Some("d1d93ef7-e1f2-4f45-9943-03d245fe6c00"),
                // Lists of pages, memory of processes and sessions, working sets of suspended apps.
                keywords: 0xe0,
                ..NO_PROVIDER
            }],
            ..NO_WINDOWS
        },
    },
    Profile {
        name: "VirtualAlloc",
        about: "memory that processes map and free, on Linux page faults, too; no CPU samples, for long recordings",
        with_default: false,
        linux: Linux {
            events: &[stacked(PAGE_FAULTS[0], StackClass::Memory), MAJOR_FAULTS, PAGE_NEEDED, PAGE_ADDED],
            calls: &["mmap", "munmap", "mremap", "mprotect", "brk", "madvise"],
            ..NO_LINUX
        },
        windows: Windows {
            keywords: &["ProcessThread", "Loader", "CpuConfig", "MemoryInfo", "VirtualAllocation", "VAMap"],
            stacks: &[("VirtualAllocation", StackClass::Memory), ("ProcessCreate", StackClass::Process)],
            providers: &[DOT_NET, DOT_NET_RUNDOWN],
            ..NO_WINDOWS
        },
    },
    Profile {
        name: "GC",
        about: "Default, and garbage collections of .NET with who made them necessary (Windows)",
        with_default: true,
        linux: NO_LINUX,
        windows: Windows { providers: &[DOT_NET_GC], ..NO_WINDOWS },
    },
    Profile {
        name: "UI",
        about: "Default, and delays of windows: fetched and dispatched messages, the focus (Windows)",
        with_default: true,
        linux: NO_LINUX,
        windows: Windows {
            // What delayed a window, and who ended its waits.
            keywords: SWITCH_KEYWORDS,
            stacks: SWITCH_STACKS,
            providers: &[Provider {
                name: "Microsoft-Windows-Win32k",
                guid: Some("8c416c79-d49b-4f01-a467-e56d3aa8234c"),
                // The focus, activity of the user, windows that do not respond, threads, the message pump.
                keywords: 0xE6_2000,
                stacks: Some(StackClass::Focus),
                // Messages come in thousands; their stacks tell nothing.
                stack_events: &[2, 37, 38],
                ..NO_PROVIDER
            }],
            ..NO_WINDOWS
        },
    },
    Profile {
        name: "UserGDILeaks",
        about: "windows, menus, fonts and brushes that are made and freed; for long recordings (Windows)",
        with_default: false,
        linux: NO_LINUX,
        windows: Windows {
            keywords: &["ProcessThread", "Loader", "CpuConfig"],
            stacks: &[("ProcessCreate", StackClass::Process)],
            providers: &[
                DOT_NET_RUNDOWN,
                Provider {
                    name: "Microsoft-Windows-Win32k",
                    guid: Some("8c416c79-d49b-4f01-a467-e56d3aa8234c"),
                    // Operations on handles of the window manager and of GDI.
                    keywords: 0x300_0000_0000,
                    stacks: Some(StackClass::Handle),
                    ..NO_PROVIDER
                },
            ],
            ..NO_WINDOWS
        },
    },
    Profile {
        name: "Handle",
        about: "Default, and handles (on Linux descriptors) that are made and closed",
        with_default: true,
        linux: Linux {
            calls: &[
                "openat",
                "open",
                "openat2",
                "creat",
                "open_by_handle_at",
                "close",
                "close_range",
                "dup",
                "dup2",
                "dup3",
                "fcntl",
                "pipe",
                "pipe2",
                "socket",
                "socketpair",
                "accept",
                "accept4",
                "eventfd",
                "eventfd2",
                "epoll_create",
                "epoll_create1",
                "timerfd_create",
                "memfd_create",
                "pidfd_open",
                "pidfd_getfd",
                "inotify_init",
                "inotify_init1",
                "signalfd",
                "signalfd4",
                "userfaultfd",
                "fanotify_init",
                "perf_event_open",
                "io_uring_setup",
                "chdir",
                "fchdir",
            ],
            paths: true,
            descriptors: true,
            ..NO_LINUX
        },
        windows: Windows {
            keywords: &["Handle", "Object"],
            stacks: &[
                ("HandleCreate", StackClass::Handle),
                ("HandleClose", StackClass::Handle),
                ("HandleDuplicate", StackClass::Handle),
            ],
            ..NO_WINDOWS
        },
    },
    Profile {
        name: "PMCSample",
        about: "Default, and samples of hardware counters: mispredicted branches, misses of the last cache",
        with_default: true,
        linux: Linux {
            sampled: &[("branch-misses", 100_003), ("cache-references", 100_003), ("cache-misses", 100_003)],
            ..NO_LINUX
        },
        windows: Windows {
            keywords: &["PmcProfile"],
            stacks: &[("PmcInterrupt", StackClass::Counter)],
            sampled: &[("BranchMispredictions", 65_536), ("LLCReference", 65_536), ("LLCMisses", 65_536)],
            ..NO_WINDOWS
        },
    },
    Profile {
        name: "PMCBranch",
        about: "CSwitch, and per slice on a CPU cycles, instructions and mispredicted branches",
        with_default: true,
        linux: Linux { events: SWITCHES, counted: &["cycles", "instructions", "branch-misses"], ..NO_LINUX },
        windows: Windows {
            keywords: SWITCH_KEYWORDS,
            stacks: SWITCH_STACKS,
            counted: &["TotalCycles", "InstructionRetired", "BranchMispredictions"],
            ..NO_WINDOWS
        },
    },
    Profile {
        name: "PMCLLC",
        about: "CSwitch, and per slice on a CPU cycles, instructions and misses of the last cache",
        with_default: true,
        linux: Linux { events: SWITCHES, counted: &["cycles", "instructions", "cache-misses"], ..NO_LINUX },
        windows: Windows {
            keywords: SWITCH_KEYWORDS,
            stacks: SWITCH_STACKS,
            counted: &["TotalCycles", "InstructionRetired", "LLCMisses"],
            ..NO_WINDOWS
        },
    },
    Profile {
        name: "LBR",
        about: "Default, and the last branches before each sample",
        with_default: true,
        linux: Linux { branches: true, ..NO_LINUX },
        windows: Windows { keywords: SWITCH_KEYWORDS, branches: true, ..NO_WINDOWS },
    },
    Profile {
        name: "Power",
        about: "Default, and frequencies and idle states of CPUs, and energy",
        with_default: true,
        linux: Linux {
            events: &[
                plain("power:cpu_frequency"),
                plain("power:cpu_frequency_limits"),
                plain("power:pstate_sample"),
                plain("power:cpu_idle"),
                plain("power:suspend_resume"),
                plain("thermal:thermal_temperature"),
            ],
            energy: true,
            ..NO_LINUX
        },
        windows: Windows {
            keywords: &["Power", "IdleStates"],
            providers: &[Provider {
                name: "Microsoft-Windows-Kernel-Processor-Power",
                guid: Some("0f67e49f-fe51-4e9f-b490-6f2948cc6027"),
                level: 4,
                rundown: 0xffff_ffff,
                ..NO_PROVIDER
            }],
            ..NO_WINDOWS
        },
    },
];
