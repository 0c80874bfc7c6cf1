//! Questions about what threads wait for, and about the power of CPUs.

use super::{Question, Rival};

pub(super) const QUESTIONS: &[Question] = &[
    Question {
        arguments: &["disk"],
        rival: Some(Rival {
            columns: "file;reads;read_bytes;read_service_ns;writes;write_bytes;write_service_ns;flushes;flush_service_ns;total_bytes;\
                  total_service_ns;response_avg_ns;response_max_ns;busy_ns;drive",
            query: include_str!("queries/disk.sql"),
        }),
    },
    Question {
        arguments: &["faults", "--top", "10"],
        rival: Some(Rival {
            columns: "file;process;pid;threads;faults;hard_faults;hard_bytes;hard_time_sum_ns;longest_ns",
            query: include_str!("queries/faults.sql"),
        }),
    },
    Question {
        arguments: &["file", "--top", "10"],
        rival: Some(Rival {
            columns: "file;path;process;pid;operations;opens;open_close_ns;reads;read_bytes;read_ns;writes;write_bytes;write_ns;failed;\
                  total_bytes;total_ns;longest_ns",
            query: include_str!("queries/file.sql"),
        }),
    },
    Question {
        arguments: &["minifilter"],
        rival: Some(Rival {
            columns: "file;calls;failed;total_ns;union_ns;longest_ns;avg_ns;driver",
            query: include_str!("queries/minifilter.sql"),
        }),
    },
    Question {
        arguments: &["dns", "--top", "10"],
        rival: Some(Rival {
            columns: "file;processes;total_ns;max_ns;queries;timed_out;failed;name",
            query: include_str!("queries/dns.sql"),
        }),
    },
    Question {
        arguments: &["tcp", "--top", "10"],
        rival: Some(Rival {
            columns: "file;process;pid;received_packets;received_bytes;sent_packets;sent_bytes;retransmits;retransmit_delay_ns;connection",
            query: include_str!("queries/tcp.sql"),
        }),
    },
    Question {
        arguments: &["sockets", "--top", "10"],
        rival: Some(Rival {
            columns: "file;process;pid;calls;failed;sent_bytes;received_bytes;sum_ns;total_ns;avg_ns;longest_ns;operation",
            query: include_str!("queries/sockets.sql"),
        }),
    },
    Question {
        arguments: &["memory", "--top", "10"],
        rival: Some(Rival {
            columns: "file;process;pid;diff_commit;commit;diff_working_set;working_set",
            query: include_str!("queries/memory.sql"),
        }),
    },
    Question {
        arguments: &["virtualalloc", "--top", "10"],
        rival: Some(Rival {
            columns: "file;process;pid;commits;commit_bytes;freed;freed_bytes;max_commit_bytes;not_released;not_released_bytes;kind",
            query: include_str!("queries/virtualalloc.sql"),
        }),
    },
    Question {
        arguments: &["handles", "--top", "10"],
        rival: Some(Rival {
            columns: "file;process;pid;open_first;made;closed;diff;open_last;peak;leaked;type",
            query: include_str!("queries/handles.sql"),
        }),
    },
    Question {
        arguments: &["gdi", "--top", "10"],
        rival: Some(Rival {
            columns: "file;process;pid;open_first;made;closed;diff;open_last;peak;leaked;type",
            query: include_str!("queries/gdi.sql"),
        }),
    },
    Question {
        arguments: &["udp", "--top", "10"],
        rival: Some(Rival {
            columns: "file;process;pid;received_packets;received_bytes;sent_packets;sent_bytes;bytes;connection",
            query: include_str!("queries/udp.sql"),
        }),
    },
    Question {
        arguments: &["frequency"],
        rival: Some(Rival {
            columns: "file;cpu;run_ns;known_ns;mean_mhz;min_mhz;max_mhz",
            query: include_str!("queries/frequency.sql"),
        }),
    },
    Question {
        arguments: &["energy"],
        rival: Some(Rival {
            columns: "file;counter;package;energy_uj;watts;readings;span_ns",
            query: include_str!("queries/energy.sql"),
        }),
    },
    Question {
        arguments: &["objectref", "--top", "10"],
        rival: Some(Rival {
            columns: "file;object;handle_count;open;processes;created_ns",
            query: include_str!("queries/objectref.sql"),
        }),
    },
    Question { arguments: &["memory", "--total-memory"], rival: None },
    Question { arguments: &["power"], rival: None },
    Question { arguments: &["idle"], rival: None },
    Question { arguments: &["mark"], rival: None },
];
