//! Kinds of records: below 64 the kernel's (`perf_event_type` in include/uapi/linux/perf_event.h), from there on those of perf
//! itself (`perf_user_event_type` in tools/lib/perf/include/perf/event.h).

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $text:literal;)*) => {
        /// What a record is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Kind {
            $($(#[$doc])* $name,)*
            /// A feature of the header as a record of its own, as streams had it before the numbers from 69 on were given
            /// to other kinds; the number is the feature's.
            OldFeature(u8),
            /// A number that is newer than this reader.
            Other(u32),
        }

        impl Kind {
            /// The kind of a record's type number.
            #[must_use]
            #[inline]
            pub fn of(number: u32) -> Self {
                match number {
                    $($number => Self::$name,)*
                    other => Self::Other(other),
                }
            }

            /// The type number; for an old feature the one that streams gave it.
            #[must_use]
            pub fn number(self) -> u32 {
                match self {
                    $(Self::$name => $number,)*
                    Self::OldFeature(feature) => (u32::from(feature) + *OLD_FEATURES.start()).saturating_sub(FIRST_OLD_FEATURE),
                    Self::Other(number) => number,
                }
            }

            /// The field's word for it, without `PERF_RECORD_` and `HEADER_`; `None` for a number without a name.
            #[must_use]
            pub fn name(self) -> Option<&'static str> {
                match self {
                    $(Self::$name => Some($text),)*
                    Self::OldFeature(feature) => crate::feature::name(feature.into()),
                    Self::Other(_) => None,
                }
            }
        }
    };
}

kinds! {
    /// A mapping, without device and inode.
    Mmap = 1, "MMAP";
    /// Records that the kernel had no room for.
    Lost = 2, "LOST";
    /// A thread's name.
    Comm = 3, "COMM";
    /// The end of a thread.
    Exit = 4, "EXIT";
    /// Sampling is too frequent and paused.
    Throttle = 5, "THROTTLE";
    /// Sampling goes on.
    Unthrottle = 6, "UNTHROTTLE";
    /// The start of a thread or process.
    Fork = 7, "FORK";
    /// A counter of an inherited event at its thread's end.
    Read = 8, "READ";
    /// A sample.
    Sample = 9, "SAMPLE";
    /// A mapping with the identity of its file.
    Mmap2 = 10, "MMAP2";
    /// New trace data.
    Aux = 11, "AUX";
    /// Instruction trace starts.
    ItraceStart = 12, "ITRACE_START";
    /// Samples that the hardware lost.
    LostSamples = 13, "LOST_SAMPLES";
    /// A thread goes on or off a CPU, as its own recording sees it.
    Switch = 14, "SWITCH";
    /// A thread goes on or off a CPU, with the other thread.
    SwitchCpuWide = 15, "SWITCH_CPU_WIDE";
    /// Namespaces of a thread.
    Namespaces = 16, "NAMESPACES";
    /// A function that the kernel loaded or unloaded.
    Ksymbol = 17, "KSYMBOL";
    /// A BPF program is loaded or unloaded.
    BpfEvent = 18, "BPF_EVENT";
    /// The path of a control group.
    Cgroup = 19, "CGROUP";
    /// Kernel code was changed.
    TextPoke = 20, "TEXT_POKE";
    /// Which hardware event a trace belongs to.
    AuxOutputHwId = 21, "AUX_OUTPUT_HW_ID";
    /// The user half of a call chain, walked when its thread returned to user mode.
    CallchainDeferred = 22, "CALLCHAIN_DEFERRED";
    /// An event, in a stream.
    Attr = 64, "ATTR";
    /// A name of an event, in old streams.
    EventType = 65, "EVENT_TYPE";
    /// Formats of tracepoints, in a stream; they follow the record.
    TracingData = 66, "TRACING_DATA";
    /// A build id, in a stream.
    BuildId = 67, "BUILD_ID";
    /// All buffers were read once: nothing later is older than the end of the round before.
    FinishedRound = 68, "FINISHED_ROUND";
    /// Which CPU and thread an id belongs to.
    IdIndex = 69, "ID_INDEX";
    /// How an instruction trace is to be read.
    AuxtraceInfo = 70, "AUXTRACE_INFO";
    /// A piece of instruction trace; it follows the record.
    Auxtrace = 71, "AUXTRACE";
    /// An error while tracing.
    AuxtraceError = 72, "AUXTRACE_ERROR";
    /// The threads that were recorded.
    ThreadMap = 73, "THREAD_MAP";
    /// The CPUs that were recorded.
    CpuMap = 74, "CPU_MAP";
    /// How `perf stat` was run.
    StatConfig = 75, "STAT_CONFIG";
    /// A counter of `perf stat`.
    Stat = 76, "STAT";
    /// An interval of `perf stat`.
    StatRound = 77, "STAT_ROUND";
    /// Unit, scale, name or CPUs of an event.
    EventUpdate = 78, "EVENT_UPDATE";
    /// How hardware time becomes the recording's time.
    TimeConv = 79, "TIME_CONV";
    /// A feature of the header, in a stream.
    Feature = 80, "FEATURE";
    /// Compressed records.
    Compressed = 81, "COMPRESSED";
    /// What was there before the recording started is told.
    FinishedInit = 82, "FINISHED_INIT";
    /// Compressed records with their length apart from the padding.
    Compressed2 = 83, "COMPRESSED2";
    /// Figures of a BPF program.
    BpfMetadata = 84, "BPF_METADATA";
    /// Scheduler statistics of a CPU.
    SchedstatCpu = 85, "SCHEDSTAT_CPU";
    /// Scheduler statistics of a domain.
    SchedstatDomain = 86, "SCHEDSTAT_DOMAIN";
}

/// The numbers that streams gave to features before mainline gave them to other kinds.
pub(crate) const OLD_FEATURES: std::ops::RangeInclusive<u32> = 69..=80;
/// The feature of the first of them, the machine's name.
const FIRST_OLD_FEATURE: u32 = 3;

impl Kind {
    /// The feature that a number of [`OLD_FEATURES`] stands for.
    pub(crate) fn old_feature(number: u32) -> Self {
        Self::OldFeature((number.saturating_sub(*OLD_FEATURES.start()) + FIRST_OLD_FEATURE) as u8)
    }
}

/// The first number of perf's own kinds.
pub(crate) const FIRST_USER: u32 = 64;
