//! Classes of events that a recording has, each with the totals of the question about it.

use tracesift_archive::{Archive, Error};
use tracesift_trace::rows::{
    AllocationSummaryRow, CounterSummaryRow, CpuFrequencyRow, CpuIdleStateRow, EnergyRow, MarkRow, MemoryProcessRow,
    MemoryStateRow, PowerSettingRow, ReclaimRow, UiDelayRow,
};

use crate::answer::{ColumnOf, Fact, Kind, Value};
use crate::ask::Ask as _;
use crate::question::assemblies::Assemblies;
use crate::question::contention::Contention;
use crate::question::dns::Dns;
use crate::question::exceptions::Exceptions;
use crate::question::faults::Faults;
use crate::question::file::FileOperations;
use crate::question::gc::Gc;
use crate::question::gcalloc::GcAllocations;
use crate::question::gdi::Gdi;
use crate::question::handles::Handles;
use crate::question::interrupts::Interrupts;
use crate::question::jit::Jit;
use crate::question::minifilter::Minifilter;
use crate::question::pmc;
use crate::question::registry::Registry;
use crate::question::sockets::Sockets;
use crate::question::tcp::Tcp;
use crate::question::threadpool::ThreadPool;
use crate::question::udp::Udp;
use crate::question::virtualalloc::Allocations;
use crate::recording::OpenRecording;
use crate::table_question::{Question, TableQuestion};

/// A class of events that is in the recording.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassPart {
    /// The question about it: `dns`.
    pub question: &'static str,
    /// Its totals; none where its rows have no totals.
    pub totals: Vec<Fact>,
    /// The option with which the question has rows; empty where it needs none.
    pub option: &'static str,
}

/// The columns of the objects in `classes`.
pub(super) const COLUMNS: &[ColumnOf<ClassPart>] = &[
    ColumnOf::always(
        "question",
        "Question",
        Kind::Text,
        |c| c.question.into(),
        "The question about it: `dns` stands for `tracesift dump dns`.",
    ),
    ColumnOf::always(
        "totals",
        "Totals",
        Kind::Map,
        |c| Value::Map(c.totals.iter().map(|total| (total.label.to_owned(), total.value.clone())).collect()),
        "The totals of this question over the whole recording; times in ns, sizes in bytes.",
    ),
];

/// How the totals of a class are found; `None`: the recording has none of it.
type Class = fn(&OpenRecording) -> Result<Option<ClassPart>, Error>;

/// All classes that are in no other block of the overview.
const CLASSES: &[Class] = &[
    of::<FileOperations>,
    of::<Faults>,
    of::<Minifilter>,
    of::<Registry>,
    of::<Interrupts>,
    of::<Contention>,
    of::<ThreadPool>,
    of::<Dns>,
    of::<Tcp>,
    of::<Udp>,
    of::<Sockets>,
    allocations,
    of::<Gc>,
    of::<Handles>,
    of::<Gdi>,
    counters,
    of::<GcAllocations>,
    of::<Jit>,
    of::<Assemblies>,
    of::<Exceptions>,
    memory,
    |recording| known("frequency", recording, |archive| archive.row_count::<CpuFrequencyRow>() > 0),
    |recording| known("idle", recording, |archive| archive.row_count::<CpuIdleStateRow>() > 0),
    |recording| known("energy", recording, |archive| archive.row_count::<EnergyRow>() > 0),
    |recording| known("power", recording, |archive| archive.row_count::<PowerSettingRow>() > 0),
    |recording| known("ui", recording, |archive| archive.row_count::<UiDelayRow>() > 0),
    |recording| known("mark", recording, |archive| archive.row_count::<MarkRow>() > 0),
];

/// The classes that the recording has.
pub(super) fn of_recording(recording: &OpenRecording) -> Result<Vec<ClassPart>, Error> {
    let found = CLASSES.iter().map(|class| class(recording)).collect::<Result<Vec<_>, Error>>()?;
    Ok(found.into_iter().flatten().collect())
}

fn of<Q: TableQuestion>(recording: &OpenRecording) -> Result<Option<ClassPart>, Error> {
    if Q::count(recording.archive()) == 0 {
        return Ok(None);
    }
    // Of its rows nothing is looked at.
    let question = Question::<Q>::default().totals_only();
    let section = question.section(recording)?;
    // Another question's rows in the same table.
    let has_any = section.facts.iter().any(Fact::is_figure);
    let totals = section.facts.into_iter().filter(Fact::is_figure).collect();
    Ok(has_any.then_some(ClassPart { question: Q::NAME, totals, option: "" }))
}

fn counters(recording: &OpenRecording) -> Result<Option<ClassPart>, Error> {
    match of::<pmc::Threads>(recording)? {
        // Counters of other things than instructions and cycles have no totals.
        None => known("pmc", recording, |archive| archive.row_count::<CounterSummaryRow>() > 0),
        part => Ok(part),
    }
}

fn allocations(recording: &OpenRecording) -> Result<Option<ClassPart>, Error> {
    match of::<Allocations>(recording)? {
        // The sums of an import are those of processes, and have no totals.
        None => known("virtualalloc", recording, |archive| archive.row_count::<AllocationSummaryRow>() > 0),
        part => Ok(part),
    }
}

fn memory(recording: &OpenRecording) -> Result<Option<ClassPart>, Error> {
    let archive = recording.archive();
    let has = [
        (archive.row_count::<MemoryProcessRow>() > 0, ""),
        (archive.row_count::<MemoryStateRow>() > 0, "--total-memory"),
        (archive.row_count::<ReclaimRow>() > 0, "--pressure"),
    ];
    let option = has.into_iter().find(|(has, _)| *has).map(|(_, option)| option);
    Ok(option.map(|option| ClassPart { question: "memory", totals: Vec::new(), option }))
}

fn known(
    question: &'static str,
    recording: &OpenRecording,
    has: fn(&Archive) -> bool,
) -> Result<Option<ClassPart>, Error> {
    Ok(has(recording.archive()).then_some(ClassPart { question, totals: Vec::new(), option: "" }))
}
