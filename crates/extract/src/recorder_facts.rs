//! The file that the recorder left beside a recording (`X.machine.json`): facts about the machine
//! that no event has, and marks.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

mod energy;
mod process_memory;

use serde_json::Value;
use tracesift_trace::info::{SourceFile, TraceInfo};
use tracesift_trace::rows::MemoryStateRow;

pub(crate) use energy::{EnergyCounter, EnergyReading, EnergyReadings};
pub(crate) use process_memory::ProcessMemory;

/// Larger documents are nobody's facts.
const LARGEST: u64 = 16 << 20;
/// Facts and marks kept at most.
const MOST: usize = 10_000;
/// Processes whose descriptors are kept at most, of each of two looks.
const MOST_PROCESSES: usize = 1 << 16;
/// Descriptors that are kept at most, of each of two looks.
const MOST_DESCRIPTORS: usize = 1 << 20;

/// The document beside a recording, as far as it is of use.
#[derive(Debug, Default)]
pub(crate) struct RecorderFacts {
    /// Paths in the document, `cpu.model`, with their values.
    facts: Vec<(String, String)>,
    /// Minutes to add to UTC to get the recorder's local time.
    utc_offset_minutes: Option<i32>,
    marks: Vec<Mark>,
    /// The recorded machine's `[vdso]`.
    vdso: Option<Vec<u8>>,
    arguments: Vec<Arguments>,
    memory: Vec<MemoryReading>,
    process_memory: Vec<ProcessMemory>,
    energy: EnergyReadings,
    descriptors: Looks,
}

/// What the recorder saw of the descriptors of processes.
#[derive(Debug, Default)]
pub(crate) struct Looks {
    /// At the beginning, in the order of time.
    pub(crate) start: Vec<ProcessDescriptors>,
    /// At the end, in the order of time.
    pub(crate) end: Vec<ProcessDescriptors>,
}

/// The descriptors of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProcessDescriptors {
    pub(crate) pid: u32,
    /// Begin of the look, ticks of the recording's clock.
    pub(crate) from: i64,
    /// Its end.
    pub(crate) to: i64,
    /// The current directory.
    pub(crate) directory: Option<String>,
    /// Numbers in order, with the targets of their links.
    pub(crate) open: Vec<(i32, String)>,
    /// Numbers that go when the process starts another program, in order.
    pub(crate) close_on_exec: Vec<i32>,
}

/// Memory of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MemoryReading {
    /// Ticks of the recording's clock.
    pub(crate) ticks: i64,
    /// The figures; its time is not set.
    pub(crate) row: MemoryStateRow,
}

/// The arguments that a process had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arguments {
    /// Ticks of the recording's clock.
    pub(crate) ticks: i64,
    pub(crate) pid: u32,
    pub(crate) command_line: String,
}

/// What the user wrote down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Ticks of the recording's clock.
    pub(crate) ticks: i64,
    pub(crate) text: String,
}

impl RecorderFacts {
    /// Reads the document; without one, or with one that is none, there are no facts.
    pub(crate) fn beside(sources: &[SourceFile]) -> Self {
        let source = sources.first().filter(|source| source.member.is_none());
        source.map(|source| Self::beside_file(Path::new(&source.path))).unwrap_or_default()
    }

    /// As [`Self::beside`], of the file itself.
    pub(crate) fn beside_file(recording: &Path) -> Self {
        let document = read(&recording.with_extension("machine.json"));
        document.map(|document| Self::of(&document)).unwrap_or_default()
    }

    fn of(document: &Value) -> Self {
        if document["format"] != 1 {
            return Self::default();
        }
        let mut facts = Vec::new();
        for (name, value) in document.as_object().into_iter().flatten() {
            if !["descriptors", "energy", "format", "memory", "process_memory", "processes", "vdso"]
                .contains(&name.as_str())
            {
                collect(value, name.clone(), &mut facts);
            }
        }
        facts.retain(|(path, _)| !path.starts_with("recording.marks"));
        let offset = document["utc_offset_minutes"].as_i64().and_then(|minutes| i32::try_from(minutes).ok());
        let all = document["recording"]["marks"].as_array();
        let monotonic = |mark: &&Value| mark["at"]["clock"] == "CLOCK_MONOTONIC";
        let mark = |mark: &Value| {
            Some(Mark { ticks: mark["at"]["clock_ns"].as_i64()?, text: mark["text"].as_str()?.to_owned() })
        };
        let mut marks: Vec<Mark> = all.into_iter().flatten().filter(monotonic).filter_map(mark).take(MOST).collect();
        marks.sort_by_key(|mark| mark.ticks);
        let vdso = document["vdso"].as_str().and_then(bytes_of_hex);
        let process = |process: &Value| {
            Some(Arguments {
                ticks: process["seen_ns"].as_i64()?,
                pid: process["pid"].as_u64()?.try_into().ok()?,
                command_line: process["command_line"].as_str()?.to_owned(),
            })
        };
        let arguments = noted(&document["processes"], process, |arguments| arguments.ticks);
        let memory = noted(&document["memory"], memory_reading, |reading| reading.ticks);
        let process_memory = ProcessMemory::all(&document["process_memory"]);
        let energy = EnergyReadings::of(&document["energy"]);
        let looks = &document["descriptors"];
        let descriptors = Looks { start: look(&looks["start"]), end: look(&looks["end"]) };
        Self { facts, utc_offset_minutes: offset, marks, vdso, arguments, memory, process_memory, energy, descriptors }
    }

    /// The descriptors of processes, if they were looked at on the recording's clock.
    pub(crate) fn take_descriptors(&mut self, clock: &str) -> Looks {
        let Looks { start, end } = &mut self.descriptors;
        Looks { start: on_clock(clock, start), end: on_clock(clock, end) }
    }

    /// Memory of the machine in the order of time, if it was read on the recording's clock.
    pub(crate) fn take_memory(&mut self, clock: &str) -> Vec<MemoryReading> {
        on_clock(clock, &mut self.memory)
    }

    /// Memory of processes in the order of time, if it was read on the recording's clock.
    pub(crate) fn take_process_memory(&mut self, clock: &str) -> Vec<ProcessMemory> {
        on_clock(clock, &mut self.process_memory)
    }

    /// Readings of its counters of energy, if they were read on the recording's clock.
    pub(crate) fn take_energy(&mut self, clock: &str) -> EnergyReadings {
        if is_theirs(clock) { std::mem::take(&mut self.energy) } else { EnergyReadings::default() }
    }

    /// The arguments of processes in the order in which they were seen, if that was on the recording's clock.
    pub(crate) fn take_arguments(&mut self, clock: &str) -> Vec<Arguments> {
        on_clock(clock, &mut self.arguments)
    }

    /// The recorded machine's `[vdso]`, an ELF file if nobody has forged it.
    pub(crate) fn take_vdso(&mut self) -> Option<Vec<u8>> {
        self.vdso.take()
    }

    /// What the document says at a path, `kernel`.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.facts.iter().find(|(known, _)| known == path).map(|(_, value)| value.as_str())
    }

    /// The marks in order, if they were made on the recording's clock.
    pub(crate) fn take_marks(&mut self, clock: &str) -> Vec<Mark> {
        on_clock(clock, &mut self.marks)
    }

    /// Minutes to add to the recorder's local time to get UTC.
    pub(crate) fn utc_offset_minutes(&self) -> Option<i32> {
        self.utc_offset_minutes.filter(|minutes| minutes.abs() < 24 * 60).map(|minutes| -minutes)
    }

    /// Adds the facts to what the recording tells.
    pub(crate) fn describe(self, info: &mut TraceInfo) {
        // Of a Windows recording that is in its header.
        if let Some(minutes) = self.utc_offset_minutes().filter(|_| info.kind == "perf") {
            info.utc_offset_minutes = minutes;
        }
        info.facts = self.facts;
    }
}

/// What was noted, if it was on the recording's clock.
fn on_clock<T>(clock: &str, noted: &mut Vec<T>) -> Vec<T> {
    if is_theirs(clock) { std::mem::take(noted) } else { Vec::new() }
}

/// Whether a recording has the clock by which the recorder notes.
fn is_theirs(clock: &str) -> bool {
    clock == "CLOCK_MONOTONIC"
}

/// The items of a list that can be read, in the order of time.
fn noted<T>(list: &Value, read: impl Fn(&Value) -> Option<T>, ticks: impl Fn(&T) -> i64) -> Vec<T> {
    let items = list.as_array().into_iter().flatten();
    let mut noted: Vec<T> = items.filter_map(read).take(MOST).collect();
    noted.sort_by_key(ticks);
    noted
}

/// A reading of memory. Without its time and the free memory it is none.
fn memory_reading(reading: &Value) -> Option<MemoryReading> {
    let bytes = |key: &str| reading[key].as_i64().filter(|bytes| *bytes >= 0);
    let (free, cached) = (bytes("free")?, bytes("cached"));
    let row = MemoryStateRow {
        free: Some(free),
        active: bytes("total")
            .zip(cached)
            .map(|(total, cached)| total.saturating_sub(free).saturating_sub(cached))
            .filter(|active| *active >= 0),
        commit: bytes("committed"),
        commit_limit: bytes("commit_limit"),
        available: bytes("available"),
        cached,
        dirty: bytes("dirty"),
        writeback: bytes("writeback"),
        swap_used: bytes("swap_used"),
        slab: bytes("slab"),
        swapped_in: bytes("swapped_in"),
        swapped_out: bytes("swapped_out"),
        scanned: bytes("scanned"),
        reclaimed: bytes("reclaimed"),
        active_file: bytes("active_file"),
        inactive_file: bytes("inactive_file"),
        active_anon: bytes("active_anon"),
        inactive_anon: bytes("inactive_anon"),
        refaulted: bytes("refaulted"),
        ..MemoryStateRow::default()
    };
    Some(MemoryReading { ticks: reading["seen_ns"].as_i64()?, row })
}

/// A look at the descriptors of processes.
fn look(processes: &Value) -> Vec<ProcessDescriptors> {
    let mut room = MOST_DESCRIPTORS;
    let open = |text: &Value| {
        let (number, target) = text.as_str()?.split_once(' ')?;
        let number = number.parse().ok().filter(|number: &i32| *number >= 0)?;
        Some((number, target.to_owned()))
    };
    let process = |process: &Value| {
        let descriptors = process["open"].as_array()?;
        room = room.checked_sub(descriptors.len())?;
        let mut open: Vec<(i32, String)> = descriptors.iter().filter_map(open).collect();
        open.sort_unstable();
        open.dedup_by_key(|(number, _)| *number);
        let numbers = process["close_on_exec"].as_array().into_iter().flatten().take(descriptors.len());
        let mut close_on_exec: Vec<i32> = numbers.filter_map(|number| number.as_i64()?.try_into().ok()).collect();
        close_on_exec.sort_unstable();
        Some(ProcessDescriptors {
            pid: process["pid"].as_u64()?.try_into().ok()?,
            from: process["from_ns"].as_i64()?,
            to: process["to_ns"].as_i64()?,
            directory: process["cwd"].as_str().map(str::to_owned),
            open,
            close_on_exec,
        })
    };
    let processes = processes.as_array().into_iter().flatten().take(MOST_PROCESSES);
    let mut found: Vec<ProcessDescriptors> = processes.filter_map(process).collect();
    found.retain(|process| process.from <= process.to);
    found.sort_by_key(|process| (process.to, process.pid));
    found
}

fn bytes_of_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |digit: u8| char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok());
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let bytes = pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect();
    if rest.is_empty() { bytes } else { None }
}

fn read(path: &Path) -> Option<Value> {
    let file = File::open(path).ok().filter(|file| file.metadata().is_ok_and(|file| file.is_file()))?;
    let mut text = Vec::new();
    let length = file.take(LARGEST + 1).read_to_end(&mut text).ok()?;
    if length as u64 > LARGEST { None } else { serde_json::from_slice(&text).ok() }
}

/// Everything that is neither a list nor an object nor unknown, below its path. The reader of JSON bounds the depth.
fn collect(value: &Value, path: String, facts: &mut Vec<(String, String)>) {
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match value {
        _ if facts.len() >= MOST => {}
        Value::Null => {}
        Value::Object(members) => members.iter().for_each(|(name, value)| collect(value, below(name), facts)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, value)| collect(value, below(&index.to_string()), facts));
        }
        Value::String(text) => facts.push((path, text.clone())),
        Value::Bool(_) | Value::Number(_) => facts.push((path, value.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn facts_are_paths_and_marks_are_in_order() {
        let mark = |ns: i64, text: &str| json!({"at": {"clock": "CLOCK_MONOTONIC", "clock_ns": ns}, "text": text});
        let document = json!({
            "format": 1,
            "cpu": {"model": "X", "threads": 2, "min_mhz": null},
            "disks": [{"name": "sda", "rotational": false}],
            "utc_offset_minutes": 120,
            "vdso": "7f454c46",
            "processes": [
                {"pid": 7, "seen_ns": 9, "command_line": "b late"},
                {"pid": 7, "seen_ns": 4, "command_line": "b early"},
                {"pid": -7, "seen_ns": 4, "command_line": "no process"},
            ],
            "memory": [
                {"seen_ns": 20, "total": 100, "free": 30, "cached": 50, "dirty": null},
                {"seen_ns": 10, "total": 100, "free": 40, "cached": 100, "dirty": 3, "swap_used": -1},
                {"seen_ns": 15, "total": 100},
            ],
            "recording": {"marks": [mark(7, "late"), mark(3, "early"), {"text": "when?"}], "command": ["a", "b"]},
        });
        let mut facts = RecorderFacts::of(&document);
        assert_eq!(facts.take_marks("scheduler clock"), []);
        let marks: Vec<(i64, String)> =
            facts.take_marks("CLOCK_MONOTONIC").into_iter().map(|mark| (mark.ticks, mark.text)).collect();
        assert_eq!(marks, [(3, "early".to_owned()), (7, "late".to_owned())]);
        assert_eq!(facts.take_vdso().as_deref(), Some(&b"\x7fELF"[..]));
        assert_eq!(facts.take_arguments("scheduler clock"), []);
        let arguments = facts.take_arguments("CLOCK_MONOTONIC");
        let lines: Vec<(i64, u32, &str)> =
            arguments.iter().map(|noted| (noted.ticks, noted.pid, noted.command_line.as_str())).collect();
        assert_eq!(lines, [(4, 7, "b early"), (9, 7, "b late")]);
        assert_eq!(facts.take_memory("scheduler clock"), []);
        let row = |free, cached| MemoryStateRow { free: Some(free), cached: Some(cached), ..MemoryStateRow::default() };
        assert_eq!(
            facts.take_memory("CLOCK_MONOTONIC"),
            [
                MemoryReading { ticks: 10, row: MemoryStateRow { dirty: Some(3), ..row(40, 100) } },
                MemoryReading { ticks: 20, row: MemoryStateRow { active: Some(20), ..row(30, 50) } },
            ]
        );
        let mut info = TraceInfo { kind: "perf".to_owned(), ..TraceInfo::default() };
        facts.describe(&mut info);
        assert_eq!(info.utc_offset_minutes, -120);
        let told: Vec<String> = info.facts.iter().map(|(path, value)| format!("{path}={value}")).collect();
        assert_eq!(
            told,
            [
                "cpu.model=X",
                "cpu.threads=2",
                "disks.0.name=sda",
                "disks.0.rotational=false",
                "utc_offset_minutes=120",
                "recording.command.0=a",
                "recording.command.1=b",
            ]
        );
    }

    #[test]
    fn looks_at_descriptors_are_in_order() {
        let process =
            |pid: i64, to: i64, open: Value| json!({"pid": pid, "from_ns": 1, "to_ns": to, "cwd": "/x", "open": open});
        let document = json!({
            "format": 1,
            "descriptors": {
                "start": [
                    process(8, 30, json!(["10 /a b", "2 pipe:[1]", "2 again", "-1 x", "y z", 7, "4"])),
                    {"pid": 7, "from_ns": 1, "to_ns": 20, "cwd": "/x", "open": ["5 /x", "6 /x"], "close_on_exec": [6, 5, 9]},
                    process(-1, 20, json!(["0 /x"])),
                    process(9, 0, json!(["0 /x"])),
                    {"pid": 9, "open": ["0 /x"]},
                ],
                "end": null,
            },
        });
        let mut facts = RecorderFacts::of(&document);
        assert!(facts.take_descriptors("scheduler clock").start.is_empty());
        let looks = facts.take_descriptors("CLOCK_MONOTONIC");
        let expected = |pid, to, open: &[(i32, &str)]| ProcessDescriptors {
            pid,
            from: 1,
            to,
            directory: Some("/x".to_owned()),
            open: open.iter().map(|(number, target)| (*number, (*target).to_owned())).collect(),
            close_on_exec: if pid == 7 { vec![5, 6] } else { Vec::new() },
        };
        let of_8 = expected(8, 30, &[(2, "again"), (10, "/a b")]);
        assert_eq!(looks.start, [expected(7, 20, &[(5, "/x"), (6, "/x")]), of_8]);
        assert!(looks.end.is_empty());
    }

    #[test]
    fn other_documents_are_no_facts() {
        for document in [json!({}), json!([1]), json!({"format": 2, "cpu": {"model": "X"}}), json!("text")] {
            let mut info = TraceInfo::default();
            RecorderFacts::of(&document).describe(&mut info);
            assert_eq!(info, TraceInfo::default());
        }
    }
}
