//! Figures of processes, threads, CPUs, disks and events by buckets of time: what pictures of a long recording are drawn from.

use crate::ids::{ProcessId, ThreadId};
use crate::row;
use crate::schema::{Row, TableDefinition};

/// A row of a timeline table ends before a bucket whose number is a multiple of this. So whoever reads some buckets finds all rows
/// that have them from the last such bucket on.
pub const TIMELINE_BLOCK: i64 = 256;

/// The timeline tables.
pub const TIMELINE_TABLES: [&TableDefinition; 5] = [
    TimelineProcessRow::TABLE,
    TimelineThreadRow::TABLE,
    TimelineCpuRow::TABLE,
    TimelineDiskRow::TABLE,
    TimelineEventRow::TABLE,
];

row! {
    /// What a process did in a bucket of time. Buckets of level 0 are 2^k ns long, with the smallest
    /// k from 16 to 30 that gives them 1,400 switches and samples on average, and 10 on average to a
    /// bucket of a process, a bucket counting where the process has switches or samples; those of
    /// each further level four times as long, up to a level with at most 1,024 buckets, and at least
    /// up to level 2. Bucket n of a level is the time from n × `width` to (n + 1) × `width`, cut to the recorded
    /// time. Equal neighbours are one row; a row ends before a bucket whose number is a multiple of
    /// 256. Without a row all figures are 0. The figures are those of `dump threads` and `dump cpu`
    /// with `--time` = the bucket. Only archives with at least 2 million switches and samples have
    /// the table. It is a cache. Rows are sorted by `level`, `bucket` and `process`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TimelineProcessRow in "timeline_processes", always: false, since: 7, Untimed() {
        /// The level, from 0.
        level: i8, Dictionary, "", "made by the extract";
        /// Length of a bucket.
        width: i64, Dictionary, "ns", "made by the extract";
        /// Number of the bucket: its start divided by `width`.
        bucket: i64, Delta, "", "made by the extract";
        /// Number of buckets, this one and those behind it, that have these figures.
        buckets: i16, Dictionary, "", "made by the extract";
        /// The process.
        process: ProcessId, Delta, "", "`processes`";
        /// Sampled CPU: sum of the weights.
        cpu: i64, Dictionary, "ns", "`cpu_samples`";
        /// Number of samples.
        samples: i64, Dictionary, "", "`cpu_samples`";
        /// Time that its threads lived, summed over the threads, as all that follow. The rest of it,
        /// `life` − `run` − `ready` − `open` − `unknown`, is the time blocked.
        life: i64, Dictionary, "ns", "`threads`";
        /// Time on the CPUs from switches (precise).
        run: i64, ByteStreamSplit, "ns", "`context_switches`";
        /// Time ready to run without a CPU.
        ready: i64, ByteStreamSplit, "ns", "`context_switches`";
        /// Time off the CPU since before the thread was first seen.
        open: i64, Dictionary, "ns", "`context_switches`";
        /// Time of which nothing is known.
        unknown: i64, Dictionary, "ns", "`context_switches`, `threads`";
        /// Number of switch-ins.
        switches: i64, Dictionary, "", "`context_switches`";
        /// The largest `cpu` of a bucket of level 0 in it; null in level 0.
        peak_cpu: Option<i64>, Dictionary, "ns", "`cpu_samples`";
        /// The largest `run` of a bucket of level 0 in it; null in level 0.
        peak_run: Option<i64>, ByteStreamSplit, "ns", "`context_switches`";
    }
}

row! {
    /// What a thread did in a bucket of time. Levels and buckets are those of `timeline_processes`;
    /// the table begins with level 2. It is a cache. Rows are sorted by `level`, `bucket` and
    /// `thread`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TimelineThreadRow in "timeline_threads", always: false, since: 7, Untimed() {
        /// The level, from 2.
        level: i8, Dictionary, "", "made by the extract";
        /// Length of a bucket.
        width: i64, Dictionary, "ns", "made by the extract";
        /// Number of the bucket: its start divided by `width`.
        bucket: i64, Delta, "", "made by the extract";
        /// Number of buckets, this one and those behind it, that have these figures.
        buckets: i16, Dictionary, "", "made by the extract";
        /// The thread.
        thread: ThreadId, Delta, "", "`threads`";
        /// Time that it lived. The rest of it, `life` − `run` − `ready` − `open` − `unknown`, is the
        /// time blocked.
        life: i64, Dictionary, "ns", "`threads`";
        /// Time on a CPU from switches (precise).
        run: i64, ByteStreamSplit, "ns", "`context_switches`";
        /// Time ready to run without a CPU.
        ready: i64, ByteStreamSplit, "ns", "`context_switches`";
        /// Time off the CPU since before the thread was first seen.
        open: i64, Dictionary, "ns", "`context_switches`";
        /// Time of which nothing is known.
        unknown: i64, Dictionary, "ns", "`context_switches`, `threads`";
        /// Number of switch-ins.
        switches: i64, Dictionary, "", "`context_switches`";
    }
}

row! {
    /// What a CPU did in a bucket of time. Levels and buckets are those of `timeline_processes`. It
    /// is a cache. Rows are sorted by `level`, `bucket` and `cpu`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TimelineCpuRow in "timeline_cpus", always: false, since: 7, Untimed() {
        /// The level, from 0.
        level: i8, Dictionary, "", "made by the extract";
        /// Length of a bucket.
        width: i64, Dictionary, "ns", "made by the extract";
        /// Number of the bucket: its start divided by `width`.
        bucket: i64, Delta, "", "made by the extract";
        /// Number of buckets, this one and those behind it, that have these figures.
        buckets: i16, Dictionary, "", "made by the extract";
        /// The CPU.
        cpu: i16, Delta, "", "`context_switches`";
        /// Time in which threads ran on it (precise), without the idle loop.
        busy: i64, ByteStreamSplit, "ns", "`context_switches`";
        /// Time in which a thread or the idle loop is known to run on it: `known` − `busy` is the time
        /// of the idle loop.
        known: i64, Dictionary, "ns", "`context_switches`";
        /// The rest of the bucket. 0 in a bucket of level 0 where threads seem to
        /// run on it for longer than the bucket, since switches are lost, and of a CPU whose number
        /// is not below `cpu_count`. Buckets of further levels have the sum.
        unknown: i64, Dictionary, "ns", "made by the extract";
        /// Number of switch-ins, those of the idle loop included.
        switches: i64, Dictionary, "", "`context_switches`";
        /// The process that ran on it for the longest time, without the idle loop; of several the
        /// one with the smallest number. Null: none ran.
        top_process: Option<ProcessId>, Dictionary, "", "`threads`";
        /// How long it ran.
        top_run: i64, ByteStreamSplit, "ns", "`context_switches`";
    }
}

row! {
    /// What a disk did in a bucket of time. Operations count where they complete. Levels and buckets
    /// are those of `timeline_processes`. It is a cache. Rows are sorted by `level`, `bucket` and
    /// `disk`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TimelineDiskRow in "timeline_disks", always: false, since: 7, Untimed() {
        /// The level, from 0.
        level: i8, Dictionary, "", "made by the extract";
        /// Length of a bucket.
        width: i64, Dictionary, "ns", "made by the extract";
        /// Number of the bucket: its start divided by `width`.
        bucket: i64, Delta, "", "made by the extract";
        /// Number of buckets, this one and those behind it, that have these figures.
        buckets: i16, Dictionary, "", "made by the extract";
        /// Disk number, as in `disk_io`.
        disk: i32, Dictionary, "", "`disk_io`";
        /// Number of reads.
        reads: i64, Dictionary, "", "`disk_io`";
        /// Number of writes.
        writes: i64, Dictionary, "", "`disk_io`";
        /// Number of flushes.
        flushes: i64, Dictionary, "", "`disk_io`";
        /// Bytes of the reads.
        bytes_read: i64, Dictionary, "bytes", "`disk_io`";
        /// Bytes of the writes, and of flushes that have any.
        bytes_written: i64, Dictionary, "bytes", "`disk_io`";
        /// Time in which at least one operation was under way.
        busy: i64, ByteStreamSplit, "ns", "`disk_io`";
        /// Time in which operations were under way, summed over them: divided by the length of the
        /// bucket it is the mean depth of the queue.
        queue: i64, ByteStreamSplit, "ns", "`disk_io`";
        /// The longest time that an operation took that completed in it.
        longest: i64, ByteStreamSplit, "ns", "`disk_io`";
    }
}

row! {
    /// Number of the events of a kind in a bucket of time. Levels and buckets are those of
    /// `timeline_processes`. It is a cache. Rows are sorted by `level` and `bucket`.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct TimelineEventRow in "timeline_events", always: false, since: 7, Untimed() {
        /// The level, from 0.
        level: i8, Dictionary, "", "made by the extract";
        /// Length of a bucket.
        width: i64, Dictionary, "ns", "made by the extract";
        /// Number of the bucket: its start divided by `width`.
        bucket: i64, Delta, "", "made by the extract";
        /// Number of buckets, this one and those behind it, that have this count.
        buckets: i16, Dictionary, "", "made by the extract";
        /// Provider, as in `events`.
        provider: String, Dictionary, "", "`events`";
        /// Name of the event, as in `events`.
        event: String, Dictionary, "", "`events`";
        /// Number of events.
        count: i64, Dictionary, "", "`events`";
    }
}
