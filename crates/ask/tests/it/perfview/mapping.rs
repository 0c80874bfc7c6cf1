//! Where names or values differ from PerfView's for a reason.

use super::baseline::Event;
use super::value::Shown;

/// Fields that PerfView computes from others or from other events, and where in the record their facts stand.
const COMPUTED: &[(&str, &str)] = &[
    // Sums of the generations, and the oldest generation with a size.
    ("GC/HeapStats", "TotalHeapSize"),
    ("GC/HeapStats", "TotalPromoted"),
    ("GC/HeapStats", "Depth"),
    // Looked up in the BulkType events by TypeID.
    ("GC/FinalizeObject", "TypeName"),
    // The last part of ModuleILPath.
    ("Loader/*", "ModuleILFileName"),
    // Bits of MethodFlags.
    ("Method/*", "OptimizationTier"),
    // TimeDateStamp as a date.
    ("*", "BuildTime"),
    // The upper byte of CreateOptions; PerfView shows the rest of it in parts.
    ("Create", "CreateDisposition"),
    ("Create", "CreateOptions"),
    // The size of the part of a manifest.
    ("ManifestData", "PayloadLength"),
    // Looked up in the FileIO name events by FileKey.
    ("DiskIO/*", "FileName"),
    ("Memory/HardFault", "FileName"),
    // The record's time less InitialTime; for disks PerfView's model of a queue.
    ("Memory/HardFault", "ElapsedTimeMSec"),
    ("DiskIO/*", "DiskServiceTimeMSec"),
    // The record's CPU, by which events are matched here anyway.
    ("PerfInfo/Sample", "ProcessorNumber"),
    // Ids of the record's header: who logged it.
    ("Thread/*", "ParentThreadID"),
    ("Thread/*", "ParentProcessID"),
    // The process of that id and not the recorded name.
    ("SystemConfig/Services", "ProcessName"),
    // PerfView reads the IPv4 records of version 2 by an older layout.
    ("UdpIp/*", "context"),
    ("UdpIp/*", "dsize"),
];

/// The same field by another name.
const RENAMED: &[(&str, &str, &str)] = &[
    ("Create", "IrpPtr", "Irp"),
    ("Create", "FileAttributes", "CreateAttributes"),
    ("DiskIO/*", "ElapsedTimeMSec", "HighResResponseTime"),
    ("DiskIO/*", "Priority", "IrpFlags"),
    ("EventTrace", "UtcOffsetMinutes", "Bias"),
    ("PerfInfo/Sample", "Priority", "Flags"),
    ("PerfInfo/Sample", "ExecutingDPC", "Flags"),
    ("PerfInfo/Sample", "ExecutingISR", "Flags"),
    // TraceEvent keeps the name of version 2, where another field stood.
    ("Thread/*", "StartAddr", "Affinity"),
    ("Type/BulkType", "TypeID_0", "Values"),
    ("Type/BulkType", "TypeName_0", "Values"),
];

/// Kinds that PerfView turns into tables or attaches to other events in place of listing them.
const NOT_LISTED: &[&str] = &[
    "Windows Kernel/EventTrace/PartitionInfo",
    "Windows Kernel/FileIO/FileCreate",
    "Windows Kernel/FileIO/FileDelete",
    "Windows Kernel/FileIO/FileRundown",
    "Windows Kernel/Image/HypercallPage",
    "Windows Kernel/StackWalk/KeyDelete",
    "Windows Kernel/StackWalk/KeyRundown",
    "Windows Kernel/StackWalk/Stack",
    "Windows Kernel/StackWalk/StackKeyKernel",
    "Windows Kernel/StackWalk/StackKeyUser",
    "Windows Kernel/SystemConfig/DPI",
    "Windows Kernel/SystemConfig/OpticalMedia",
    "Windows Kernel/Thread/DCStart",
    "Windows Kernel/Thread/DCStop",
    "Microsoft-Windows-DotNETRuntime/ClrStack/Walk",
    "Microsoft-Windows-DotNETRuntime/Method/ILToNativeMap",
    "Microsoft-Windows-DotNETRuntimeRundown/Method/DCStopVerbose",
    "Microsoft-Windows-DotNETRuntimeRundown/Method/ILToNativeMapDCStop",
];

/// PerfView's name of a kind of event.
pub(crate) fn kind(provider: &str, event: &str) -> String {
    match (provider, event) {
        // Two of the kernel's events TraceEvent takes for those of a provider of its own, one has no name there.
        ("Windows Kernel", "SystemConfig/Platform" | "Image/KernelBase") => format!("MSNT_SystemTrace/{event}"),
        ("Windows Kernel", "SysConfig/DeviceFamily") => "Windows Kernel/SysConfig/Opcode(37)".to_owned(),
        _ => format!("{provider}/{event}"),
    }
}

/// Whether PerfView lists the event: it leaves out the samples of idle threads, except those of interrupts.
pub(crate) fn is_listed(kind: &str, tid: Option<u32>, flags: Option<i128>) -> bool {
    kind != "Windows Kernel/PerfInfo/Sample" || tid != Some(0) || flags.is_some_and(|flags| flags & 3 != 0)
}

/// Our name of a field; `None` for those that PerfView computes.
pub(crate) fn field<'f>(kind: &str, field: &'f str) -> Option<&'f str> {
    let event = event_of(kind);
    if COMPUTED.iter().any(|(of, name)| *name == field && matches(of, event)) {
        return None;
    }
    let renamed = RENAMED.iter().find(|(of, theirs, _)| *theirs == field && matches(of, event));
    Some(renamed.map_or(field, |(_, _, ours)| ours))
}

/// Whether PerfView does not list such events.
pub(crate) fn is_not_listed(kind: &str) -> bool {
    NOT_LISTED.contains(&kind)
}

/// Whether the numbers of events differ for a known reason.
pub(crate) fn count_differs(recording: &str, kind: &str, ours: usize, theirs: usize) -> bool {
    // Ten methods are missing in PerfView's list; the records are there, and nobody knows why it leaves them out.
    (recording, kind, ours, theirs) == ("net.4.5.2.x86", "Microsoft-Windows-DotNETRuntime/Method/LoadVerbose", 405, 395)
}

/// Whether process and thread are the same.
pub(crate) fn same_ids(event: &Event, pid: Option<u32>, tid: Option<u32>) -> bool {
    let same = |theirs: i64, ours: Option<u32>| theirs == ours.map_or(-1, i64::from);
    match event.kind.strip_prefix("Windows Kernel/") {
        // The thread that issued the request, as the event states it. PerfView shows the one that logged the record, and of a flush
        // its time in place of the thread.
        Some("DiskIO/ReadInit" | "DiskIO/WriteInit" | "DiskIO/FlushInit" | "DiskIO/FlushBuffers") => tid.is_some(),
        // PerfView leaves out the thread of these, which is one of the process.
        Some("Image/Unload" | "Process/Stop") => same(event.pid, pid) && event.tid == -1,
        // The record of a service is about the service's process; PerfView adds the thread that logged it.
        Some("SystemConfig/Services") => same(event.pid, pid),
        _ => same(event.pid, pid) && same(event.tid, tid),
    }
}

/// PerfView's process names have no extension and are "Process(pid)" where it knows none.
pub(crate) fn same_process(theirs: &str, ours: &str) -> bool {
    let stem = ours.strip_suffix(".exe").unwrap_or(ours);
    let unknown = theirs.is_empty() || theirs.starts_with("Process(");
    unknown || theirs.eq_ignore_ascii_case(stem) || theirs.eq_ignore_ascii_case(ours)
}

/// PerfView shows fields of later versions as nothing.
pub(crate) fn may_be_absent(_: &str, _: &str, theirs: &str) -> bool {
    matches!(theirs, "0" | "0.000" | "0x00000000" | "-1" | "False" | "None")
}

/// Whether a value differs for a known reason.
pub(crate) fn value_differs(kind: &str, field: &str, theirs: &str, ours: &Shown) -> bool {
    match (event_of(kind), field) {
        // Flags with a name for 0, and numbers that PerfView leaves without their names.
        _ if theirs == "None" && ours.number() == Some(0) => true,
        // PerfView prints the number of a character.
        ("PrimitiveTypesTest", "char_type") => {
            let number = ours.text.chars().next().map(|character| u32::from(character).to_string());
            number.as_deref() == Some(theirs)
        }
        // The file says unsigned (TraceLogging type 10); PerfView takes it for signed.
        ("PrimitiveTypesTest", "int64_type") => {
            theirs.parse::<i128>().ok().map(|number| number + (1 << 64)) == ours.number()
        }
        // Paths stand as they were recorded; PerfView shows them with their drive letters.
        (_, "FileName" | "ImageName") => {
            let shown = theirs.trim_end_matches("...").to_lowercase();
            let ours = ours.text.to_lowercase().replace("\\systemroot\\", "c:\\windows\\");
            let ours = ours.replace("\\device\\harddiskvolume2\\", "c:\\").replace("\\device\\mup\\", "\\\\");
            ours.starts_with(&shown) || format!("c:{ours}").starts_with(&shown)
        }
        // Ticks of 100 ns.
        (event, "ElapsedTimeMSec") if event.starts_with("DiskIO/") => {
            let ms = theirs.replace(',', "").parse::<f64>().ok();
            ms.zip(ours.number()).is_some_and(|(ms, ticks)| (ticks as f64 / 1e4 - ms).abs() < 0.001)
        }
        // PerfView takes the priority out of the flags.
        (event, "Priority") if event.starts_with("DiskIO/") => ours.text.contains(&format!("Priority{theirs}")),
        (event, "IrpFlags") if event.starts_with("DiskIO/") => {
            let rest = ours.text.split('|').filter(|name| !name.starts_with("Priority")).collect::<Vec<_>>().join(", ");
            rest.starts_with(theirs.trim_end_matches("...")) || rest.is_empty() && theirs == "None"
        }
        ("PerfInfo/Sample", "Priority") => {
            ours.number().map(|flags| (flags >> 3).to_string()).as_deref() == Some(theirs)
        }
        ("PerfInfo/Sample", "ExecutingDPC") => ours.number().map(|flags| flags & 1 != 0) == Some(theirs == "True"),
        ("PerfInfo/Sample", "ExecutingISR") => ours.number().map(|flags| flags & 2 != 0) == Some(theirs == "True"),
        // PerfView counts images of the kernel to process 0.
        ("ImageID", "ProcessID") => theirs == "0" && ours.number() == Some(4),
        ("Create", "ShareAccess") => {
            let bits = [("ReadWrite", 3), ("Delete", 4), ("Read", 1), ("Write", 2)];
            let value = theirs.split(", ").map(|name| bits.iter().find(|(known, _)| *known == name).map_or(0, |b| b.1));
            ours.number() == Some(value.sum())
        }
        ("Type/BulkType", _) => ours.text.contains(theirs.trim_start_matches("0x0").trim_end_matches("...")),
        _ => false,
    }
}

fn event_of(kind: &str) -> &str {
    kind.split_once('/').map_or(kind, |(_, event)| event)
}

/// Whether an event is meant: by its name, by all of a class (`Class/*`), or by `*`.
fn matches(pattern: &str, event: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => event.starts_with(start),
        None => pattern == event,
    }
}
