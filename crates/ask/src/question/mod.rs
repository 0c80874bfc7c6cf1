//! One module per question, and the list of them all.
//!
//! A new question of `dump` is a module with a struct `Options` ([`QuestionOptions`]), its line `pub mod` here, and its line in
//! [`every_question`](crate::every_question). The command line, its help, completions, documents and the fuzz target follow.

#[cfg(doc)]
use crate::options::QuestionOptions;
use crate::options::Registered;
use crate::table_question::StackMeasure;

pub mod assemblies;
pub mod contention;
pub mod cpu;
pub mod disk;
pub mod dns;
pub mod energy;
pub mod events;
pub mod exceptions;
mod exit_stacks;
pub mod faults;
pub mod file;
pub mod frequency;
pub mod gc;
pub mod gcalloc;
pub mod gdi;
pub mod handles;
pub mod idle;
pub mod instants;
pub mod interrupts;
pub mod jit;
pub mod lbr;
pub mod mark;
pub mod memory;
pub mod merged_cpu;
pub mod merged_methods;
pub mod merged_processes;
pub mod methods;
pub mod minifilter;
pub mod missing;
pub mod objectref;
pub mod overview;
pub mod path;
pub(crate) mod paths;
pub mod pmc;
pub mod power;
pub mod process;
pub mod regions;
pub mod registry;
mod running;
pub mod sockets;
pub mod stacks;
pub mod stats;
pub mod syscalls;
pub mod tcp;
pub mod testrun;
pub mod threadpool;
pub mod threads;
pub mod timeline;
pub mod tracelog;
pub mod udp;
pub mod ui;
pub mod version;
pub mod virtualalloc;
pub mod waits;

/// Hands the questions of `dump` to a macro, in the order of the help. Each has its line of help, its variant and its module, whose name is
/// the word behind `dump`.
#[macro_export]
macro_rules! every_question {
    ($apply:ident) => {
        $apply! {
            /// Which process used the CPU, in which methods and stack tags
            Cpu(cpu),
            /// Where the time of each thread went, and who woke it
            Threads(threads),
            /// Call trees of CPU, waits, disk, faults, and more, per process
            Stacks(stacks),
            /// The longest waits, who ended each, what that one did meanwhile
            Waits(waits),
            /// Where each millisecond of a test went: an account that adds up
            Path(path),
            /// When processes, threads, CPUs, disks were busy, by time buckets
            Timeline(timeline),
            /// When windows did not react, and why
            #[command(visible_alias = "ui-delays")]
            Ui(ui),
            /// Which threads waited for locks that others held, and how long
            Contention(contention),
            /// When thread pools of .NET programs lacked threads, how work waited
            Threadpool(threadpool),
            /// Which system calls were made, how long they took, which failed
            Syscalls(syscalls),
            /// How long interrupts, DPCs and softirqs took, by driver and more
            Interrupts(interrupts),
            /// Which processes touched pages that were not in their memory
            Faults(faults),
            /// Reads and writes by disk and file, and how busy the disks were
            Disk(disk),
            /// Which files were opened, read and written, how long, what failed
            File(file),
            /// Which keys of the registry were used, how long, what failed
            Registry(registry),
            /// How long virus scanners and other filter drivers delayed files
            Minifilter(minifilter),
            /// Which names were looked up, and how long it took
            Dns(dns),
            /// TCP connections: how much, how fast, and what was sent again
            Tcp(tcp),
            /// Which processes exchanged datagrams (UDP) with whom
            Udp(udp),
            /// What processes did with sockets, how long it took, what failed
            Sockets(sockets),
            /// When marks were written, and how much time passed between them
            Mark(mark),
            /// Spans between two events: requests, tasks, .NET collections …
            Regions(regions),
            /// How fast CPUs were clocked, and when they were parked or capped
            Frequency(frequency),
            /// How long CPUs stayed in which idle states, and who woke them
            Idle(idle),
            /// How much energy the processor used, and processes by estimate
            Energy(energy),
            /// What hardware counters counted: CPI, branches, cache misses
            Pmc(pmc),
            /// Which functions were called, as last branch records tell
            Lbr(lbr),
            /// Which power settings were in force, and which differ
            Power(power),
            /// Which handles were made and not closed, by which process
            Handles(handles),
            /// Which windows, fonts and bitmaps were made and not freed
            Gdi(gdi),
            /// Kernel objects with their handles: who shares them, what is left
            Objectref(objectref),
            /// How much memory processes and the machine hold, how it changed
            Memory(memory),
            /// Memory that was allocated and not freed
            #[command(visible_alias = "allocations")]
            Virtualalloc(virtualalloc),
            /// How long .NET garbage collections stopped processes, and why
            Gc(gc),
            /// How many bytes of which types of .NET were allocated, by whom
            Gcalloc(gcalloc),
            /// Which .NET methods were compiled, how long it took, who waited
            Jit(jit),
            /// Which .NET assemblies were loaded, when, and by whom
            Assemblies(assemblies),
            /// Single events of any provider: how many, sums of their fields
            Events(events),
            /// What programs log by TraceLogging and EventSource
            Tracelog(tracelog),
            /// Exceptions and signals: messages, who threw, who caught them
            #[command(visible_alias = "exception")]
            Exceptions(exceptions),
            /// Which processes lived, for how long, and how they ended
            Process(process),
            /// Which modules were loaded, in which version
            Version(version),
            /// Which tests the recordings belong to
            #[command(visible_alias = "test-run")]
            Testrun(testrun),
            /// What a recording or archive consists of
            Stats(stats),
        }
    };
}

macro_rules! register {
    ($($(#[$about:meta])* $variant:ident($module:ident),)*) => {
        /// The questions of `dump`.
        pub const DUMP: &[Registered] = &[$(Registered::of::<$module::Options>(concat!("dump ", stringify!($module)))),*];
    };
}

every_question!(register);

/// What call trees, flame graphs and profiles can be of, beside the time of threads.
pub const STACK_MEASURES: &[StackMeasure] = &[
    StackMeasure::of::<faults::Faults, 0>(),
    StackMeasure::of::<faults::Faults, 1>(),
    StackMeasure::of::<disk::Disk, 0>(),
    StackMeasure::of::<disk::Disk, 1>(),
    StackMeasure::of::<file::FileOperations, 0>(),
    StackMeasure::of::<file::FileOperations, 1>(),
    StackMeasure::of::<minifilter::Minifilter, 0>(),
    StackMeasure::of::<registry::Registry, 0>(),
    StackMeasure::of::<interrupts::Interrupts, 0>(),
    StackMeasure::of::<contention::Contention, 0>(),
    StackMeasure::of::<threadpool::Delays<false>, 0>(),
    StackMeasure::of::<threadpool::Delays<true>, 0>(),
    StackMeasure::of::<memory::pressure::Pressure, 0>(),
    StackMeasure::of::<dns::Dns, 0>(),
    StackMeasure::of::<tcp::Traffic, 0>(),
    StackMeasure::of::<gc::Gc, 0>(),
    StackMeasure::of::<handles::Handles, 0>(),
    StackMeasure::of::<virtualalloc::Allocations, 0>(),
    StackMeasure::of::<virtualalloc::Allocations, 1>(),
    StackMeasure::of::<pmc::Samples, 0>(),
    StackMeasure::of::<pmc::Samples, 1>(),
    StackMeasure::of::<pmc::Samples, 2>(),
    StackMeasure::of::<pmc::Samples, 3>(),
    StackMeasure::of::<pmc::Samples, 4>(),
    StackMeasure::of::<jit::Jit, 0>(),
    StackMeasure::of::<gcalloc::GcAllocations, 0>(),
    StackMeasure::of::<exceptions::Exceptions, 0>(),
];

/// The questions that have commands of their own.
const OTHERS: &[Registered] = &[
    Registered::of::<overview::Options>("overview"),
    Registered::of::<instants::Options>("time"),
    Registered::of::<missing::Options>("symbols missing"),
];

/// Every question.
pub fn all() -> impl Iterator<Item = &'static Registered> {
    DUMP.iter().chain(OTHERS)
}

#[cfg(test)]
mod tests {
    use super::all;

    /// The fuzz target asks in these ways, the documents and completions take their columns.
    #[test]
    fn every_question_can_be_asked_in_all_its_ways() {
        for question in all() {
            for arguments in question.ways() {
                let asked = question.plan(&arguments);
                assert!(asked.is_ok(), "{} {arguments:?}: {:?}", question.command, asked.err());
                let words: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
                assert!(!question.columns(&words).is_empty(), "{} {arguments:?}", question.command);
            }
            assert!(question.plan(&["--no-such-option"]).is_err(), "{}", question.command);
        }
    }
}
