//! Questions about what made code slow.

use super::{Question, Rival};

pub(super) const QUESTIONS: &[Question] = &[
    Question {
        arguments: &["jit", "--top", "10"],
        rival: Some(Rival {
            columns: "file;process;pid;threads;methods;sum_ns;foreground_ns;background_ns;union_ns;longest_ns;il_bytes;native_bytes",
            query: include_str!("queries/jit.sql"),
        }),
    },
    Question {
        arguments: &["gcalloc", "--top", "10"],
        rival: Some(Rival {
            columns: "file;process;pid;bytes;large_bytes;samples;type",
            query: include_str!("queries/gcalloc.sql"),
        }),
    },
    Question {
        arguments: &["exceptions", "--top", "10"],
        rival: Some(Rival {
            columns: "file;process;pid;count;rethrown;caught;unhandled;first_ns;type;message",
            query: include_str!("queries/exceptions.sql"),
        }),
    },
    Question {
        arguments: &["contention", "--top", "10"],
        rival: Some(Rival {
            columns: "file;process;pid;waits;sum_ns;union_ns;avg_ns;longest_ns;first_ns;kind",
            query: include_str!("queries/contention.sql"),
        }),
    },
    Question {
        arguments: &["syscalls", "--top", "10"],
        rival: Some(Rival {
            columns: "file;process;pid;calls;failed;duration_sum_ns;duration_avg_ns;longest_ns;first_ns;call",
            query: include_str!("queries/syscalls.sql"),
        }),
    },
    Question {
        arguments: &["interrupts", "--top", "10"],
        rival: Some(Rival {
            columns: "file;count;time_ns;exclusive_ns;avg_ns;p50_ns;p99_ns;max_ns;over_100us;over_1ms;first_ns;driver",
            query: include_str!("queries/interrupts.sql"),
        }),
    },
    Question {
        arguments: &["registry", "--top", "10"],
        rival: Some(Rival {
            columns: "file;calls;failed;sum_ns;avg_ns;longest_ns;first_ns;key",
            query: include_str!("queries/registry.sql"),
        }),
    },
    Question {
        arguments: &["threadpool", "--top", "10"],
        rival: Some(Rival {
            columns: "file;process;pid;events;adjusted;starvations;most_workers;started;stopped;first_ns",
            query: include_str!("queries/threadpool.sql"),
        }),
    },
    Question {
        arguments: &["gc", "--top", "10"],
        rival: Some(Rival {
            columns: "file;process;pid;collections;gen0;gen1;gen2;pause_sum_ns;pause_max_ns;pause_p50_ns",
            query: include_str!("queries/gc.sql"),
        }),
    },
    Question {
        arguments: &["assemblies", "--top", "10"],
        rival: Some(Rival {
            columns: "file;process;pid;assemblies;count;loaded;unloaded;first_ns",
            query: include_str!("queries/assemblies.sql"),
        }),
    },
    Question {
        arguments: &["events", "--top", "10"],
        rival: Some(Rival {
            columns: "file;count;first_ns;last_ns;provider;event;id",
            query: include_str!("queries/events.sql"),
        }),
    },
    Question { arguments: &["ui", "--top", "10"], rival: None },
    Question { arguments: &["lbr", "--top", "10"], rival: None },
    Question { arguments: &["regions", "--top", "10"], rival: None },
    Question { arguments: &["gcalloc", "--by", "stack", "--top", "10"], rival: None },
    Question { arguments: &["contention", "--by", "stack", "--top", "10"], rival: None },
];
