//! Runs perf: to record, and to say what it recorded.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use tempfile::TempDir;
use tracesift_fixtures::skipped;

/// What perf calls an address outside of any module.
pub(crate) const UNKNOWN: &str = "[unknown]";

/// A recording that lasts as long as the test.
pub(crate) struct Recorded {
    pub(crate) file: PathBuf,
    /// What the program wrote.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "known programs run there"))]
    pub(crate) output: String,
    /// What perf says of the recording.
    said: String,
    _directory: TempDir,
}

/// A sample as perf script prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScriptSample {
    /// ns of the recording's clock.
    pub(crate) time: i64,
    pub(crate) pid: i64,
    pub(crate) tid: i64,
    /// `None` where it was not recorded.
    pub(crate) cpu: Option<i64>,
    pub(crate) period: i64,
    /// Leaf first: address (of a mapped file the offset in it) and the file's path.
    pub(crate) frames: Vec<(u64, String)>,
}

/// An event as perf script prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScriptEvent {
    pub(crate) comm: String,
    /// ns of the recording's clock.
    pub(crate) time: i64,
    pub(crate) pid: i64,
    pub(crate) tid: i64,
    pub(crate) cpu: i64,
    /// System and name.
    pub(crate) event: String,
    /// Its fields, as the kernel would print them.
    pub(crate) text: String,
}

/// Records a program with everything around it; prints why and gives `None` where that is not possible.
pub(crate) fn record(arguments: &[&str], program: &[&str]) -> Option<Recorded> {
    // On a loaded machine perf sometimes writes records too late to be sorted, and says so. What it prints of them is in
    // another order than their times.
    for _ in 0..5 {
        let recorded = record_as_it_comes(arguments, program)?;
        if !recorded.said.contains("out of order events") {
            return Some(recorded);
        }
    }
    skipped("perf records events out of order each time");
    None
}

/// As [`record`], whatever is lost or late.
pub(crate) fn record_as_it_comes(arguments: &[&str], program: &[&str]) -> Option<Recorded> {
    record_once(arguments, program).map_err(|why| skipped(&why)).ok()
}

/// One recording at a time: each sees all that the machine does.
static RECORDING: Mutex<()> = Mutex::new(());

fn record_once(arguments: &[&str], program: &[&str]) -> Result<Recorded, String> {
    let _alone = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("perf.data");
    let output = Command::new("perf")
        .arg("record")
        .args(arguments)
        .arg("-o")
        .arg(&file)
        .arg("--")
        .args(program)
        .stdin(Stdio::null())
        .output();
    match output {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err("perf is absent".to_owned()),
        Err(error) => Err(format!("perf cannot be run: {error}")),
        Ok(output) => {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let (said, printed) = (text(&output.stderr), text(&output.stdout));
            match output.status.success() {
                true => Ok(Recorded { file, output: printed, said, _directory: directory }),
                false => Err(format!("perf cannot record: {said}")),
            }
        }
    }
}

/// A line of `perf sched timehist`: a slice on a CPU and the time off it before. Times in µs, cut off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Slice {
    /// When the thread left the CPU.
    pub(crate) end: i64,
    pub(crate) cpu: i16,
    /// −1 for a thread that has lost its id.
    pub(crate) tid: i64,
    /// Since it had left before.
    pub(crate) wait: i64,
    /// From a wake-up on, out of that.
    pub(crate) delay: i64,
    pub(crate) run: i64,
}

/// A tracepoint as perf script prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Traced {
    /// ns of the recording's clock.
    pub(crate) time: i64,
    pub(crate) tid: i64,
    pub(crate) cpu: i16,
    /// `system:name`.
    pub(crate) event: String,
    /// Its fields as the kernel's format prints them.
    pub(crate) text: String,
}

/// What the records of switches tell, each with its time and the tid; idle threads are not among them.
#[derive(Debug, Default)]
pub(crate) struct SwitchRecords {
    /// Threads that come.
    pub(crate) comes: BTreeSet<(i64, i64)>,
    /// Threads that go and could run on.
    pub(crate) preempted: BTreeSet<(i64, i64)>,
}

/// A record of a switch, as `perf script --show-switch-events` prints it.
struct SwitchRecord {
    /// -1 where it is not printed.
    cpu: i32,
    time: i64,
    /// The thread that goes, else the one that comes; `None` for an idle thread, and for one that has lost its ids.
    tid: Option<i64>,
    goes: bool,
    is_preempted: bool,
    /// Who comes instead of the thread that goes, where that is said.
    next: Option<i64>,
}

impl Recorded {
    /// What the records of switches tell. Where whole CPUs were watched, the record of who goes says who comes, and where it is
    /// missing, that of who comes: kernels leave out some of the idle threads' without a word.
    pub(crate) fn switch_records(&self, of_cpus: bool) -> SwitchRecords {
        let fields = if of_cpus { "pid,tid,cpu,time" } else { "pid,tid,time" };
        let text = self.perf(&["script", "--show-switch-events", "--ns", "-F", fields]);
        let (mut told, mut running) = (SwitchRecords::default(), BTreeMap::new());
        for SwitchRecord { cpu, time, tid, goes, is_preempted, next } in text.lines().filter_map(parse_switch) {
            told.preempted.extend(tid.filter(|_| is_preempted).map(|tid| (time, tid)));
            let comes = if goes { next } else { tid };
            let is_there = of_cpus && running.insert(cpu, comes) == Some(comes) && !goes;
            told.comes.extend(comes.filter(|_| !is_there).map(|tid| (time, tid)));
        }
        told
    }

    /// Sum of the periods of an event: how many there were, also where only some were recorded.
    pub(crate) fn weight_of(&self, event: &str) -> i64 {
        let text = self.perf(&["script", "-F", "event,period"]);
        let period = |line: &str| {
            let (period, name) = line.trim().split_once(' ')?;
            (name.trim().trim_end_matches(':') == event).then(|| period.parse::<i64>().ok())?
        };
        text.lines().filter_map(period).sum()
    }

    /// How much was lost: as each event counts it where the kernel does so, else as the records say.
    pub(crate) fn lost(&self) -> u64 {
        let text = self.perf(&["report", "-D"]);
        let sum = |what: &str, before: char| -> u64 {
            let lines = text.lines().filter(|line| line.contains(what));
            lines.filter_map(|line| line.rsplit(before).next()?.trim().parse::<u64>().ok()).sum()
        };
        sum("PERF_RECORD_LOST_SAMPLES", ':').max(sum("PERF_RECORD_LOST:", ':'))
    }

    /// What `perf script` prints with these fields.
    pub(crate) fn script(&self, fields: &str) -> String {
        self.perf(&["script", "--ns", "-F", fields])
    }

    /// What `perf script` prints of switches, forks and exits.
    pub(crate) fn script_of_tasks(&self) -> String {
        self.perf(&["script", "--ns", "-F", "pid,tid,cpu,time", "--show-switch-events", "--show-task-events"])
    }

    /// What perf adds up of waits for locks, by thread; empty where it cannot.
    pub(crate) fn lock_contention(&self) -> String {
        let arguments = ["lock", "contention", "-t", "-i"];
        let output = Command::new("perf").args(arguments).arg(&self.file).stdin(Stdio::null()).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if output.status.success() { text(&output.stdout) + &text(&output.stderr) } else { String::new() }
    }

    /// Counts of one event by tid, as threads had them when they ended (`perf record -s`).
    pub(crate) fn totals_by_tid(&self) -> BTreeMap<i64, i64> {
        let text = self.perf(&["report", "--stdio", "-T"]);
        let rows = text.split("TID").last().unwrap().lines().skip(1).map(str::split_whitespace);
        let mut totals = BTreeMap::new();
        for mut words in rows {
            let mut next = || words.next()?.parse::<i64>().ok();
            if let (Some(_), Some(tid), Some(count)) = (next(), next(), next()) {
                *totals.entry(tid).or_default() += count;
            }
        }
        totals
    }

    /// The tracepoints in order of time.
    pub(crate) fn tracepoints(&self) -> Vec<Traced> {
        let text = self.perf(&["script", "--ns", "-F", "tid,cpu,time,event,trace"]);
        text.lines().filter_map(parse_traced).collect()
    }

    /// What perf makes of the switches: every slice of every thread but the idle ones.
    pub(crate) fn timehist(&self) -> Vec<Slice> {
        let text = self.perf(&["sched", "timehist", "--no-call-graph"]);
        text.lines().filter_map(parse_slice).collect()
    }

    fn perf(&self, arguments: &[&str]) -> String {
        let output = Command::new("perf")
            .args(arguments)
            .arg("-i")
            .arg(&self.file)
            // Debug files are not looked for on the network.
            .env("DEBUGINFOD_URLS", "")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The samples of the first event, in order of time.
    pub(crate) fn samples(&self) -> Vec<ScriptSample> {
        let events = self.perf(&["evlist"]);
        self.samples_of(events.lines().next().unwrap().trim())
    }

    /// The samples of an event, in order of time.
    pub(crate) fn samples_of(&self, event: &str) -> Vec<ScriptSample> {
        let text = self.perf(&["script", "--ns", "--no-inline", "-F", "pid,tid,cpu,time,event,period,ip,dso"]);
        let mut samples: Vec<ScriptSample> = Vec::new();
        let mut wanted = false;
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            if line.starts_with('\t') {
                samples
                    .last_mut()
                    .filter(|_| wanted)
                    .into_iter()
                    .for_each(|sample| sample.frames.push(parse_frame(line)));
                continue;
            }
            let sample = parse_head(line, event);
            wanted = sample.is_some();
            samples.extend(sample);
        }
        samples
    }

    /// The events of all tracepoints, in order of time.
    pub(crate) fn events(&self) -> Vec<ScriptEvent> {
        let text = self.perf(&["script", "--ns", "-F", "comm,pid,tid,cpu,time,event,trace"]);
        text.lines().filter(|line| !line.trim().is_empty()).map(parse_event).collect()
    }

    /// Samples of the first event by tid.
    pub(crate) fn report_by_tid(&self) -> BTreeMap<i64, u64> {
        self.report("pid", |name| name.split(':').next().unwrap().trim().parse().unwrap())
    }

    /// Samples of the first event by short module name.
    pub(crate) fn report_by_module(&self) -> BTreeMap<String, u64> {
        self.report("dso", |name| {
            // perf names memory of JIT code by the thread; an archive knows no file there.
            let name = name.trim();
            if name.starts_with("[JIT] tid ") { "[unknown]" } else { name }.to_owned()
        })
    }

    /// Samples of the first event in threads of a process by the symbol at their leaf, as the linker knows it.
    pub(crate) fn report_by_symbol(&self, pid: i64) -> BTreeMap<String, u64> {
        // perf filters what it has put together, so the thread must be part of it. The program has one.
        let fields = |text: &str| {
            let (thread, symbol) = text.split_once(';').unwrap();
            let symbol = symbol.trim().split_once("] ").map_or(symbol, |(_, name)| name).trim();
            (thread.split(':').next().unwrap().trim().parse() == Ok(pid)).then(|| symbol.to_owned())
        };
        let counts = self.report_with(&["--no-demangle", "--no-inline"], "pid,sym", fields);
        counts.into_iter().filter_map(|(symbol, count)| Some((symbol?, count))).collect()
    }

    fn report<K: Ord>(&self, key: &str, parse: impl Fn(&str) -> K) -> BTreeMap<K, u64> {
        self.report_with(&[], key, parse)
    }

    fn report_with<K: Ord>(&self, more: &[&str], key: &str, parse: impl Fn(&str) -> K) -> BTreeMap<K, u64> {
        let fields = format!("sample,{key}");
        let report = ["report", "--stdio", "--no-children", "-g", "none", "--percent-limit", "0", "-t", ";"];
        let text = self.perf(&[&report[..], more, &["-F", &fields]].concat());
        let mut counts = BTreeMap::new();
        // The report has a part per event; the first one is that of the first event.
        let mut parts = text.split("# Samples: ").skip(1);
        for line in parts.next().unwrap().lines().filter(|line| !line.starts_with('#')) {
            if let Some((count, name)) = line.split_once(';')
                && let Ok(count) = count.trim().parse::<u64>()
            {
                *counts.entry(parse(name)).or_default() += count;
            }
        }
        counts
    }
}

/// `   4335 [000] 48663.283745217:     block:block_rq_insert: 254,0 WS 65536 () 339307728 + 128 0x2,0,4 [dd]`
fn parse_traced(line: &str) -> Option<Traced> {
    let (tid, rest) = line.trim_start().split_once(' ')?;
    let (cpu, rest) = rest.trim_start().strip_prefix('[')?.split_once(']')?;
    let (time, rest) = rest.trim_start().split_once(": ")?;
    let (event, text) = rest.trim_start().split_once(": ").unwrap_or((rest.trim().trim_end_matches(':'), ""));
    let (seconds, fraction) = time.split_once('.')?;
    Some(Traced {
        time: seconds.parse::<i64>().ok()? * 1_000_000_000 + fraction.parse::<i64>().ok()?,
        tid: tid.parse().ok()?,
        cpu: cpu.parse().ok()?,
        event: event.to_owned(),
        text: text.trim().to_owned(),
    })
}

/// `   47684.718246 [0000]  memfd:sealed-91[32723/1]              0.000      0.018      0.024 `; the name may hold anything.
fn parse_slice(line: &str) -> Option<Slice> {
    let (time, rest) = line.trim_start().split_once(' ')?;
    let time = micros(time, 6)?;
    let (cpu, rest) = rest.trim_start().strip_prefix('[')?.split_once(']')?;
    let (rest, run) = rest.trim_end().rsplit_once(' ')?;
    let (rest, delay) = rest.trim_end().rsplit_once(' ')?;
    let (name, wait) = rest.trim_end().rsplit_once(' ')?;
    let ids = name.trim_end().strip_suffix(']')?.rsplit_once('[')?.1;
    let tid = ids.split('/').next()?.parse().ok()?;
    let [wait, delay, run] = [wait, delay, run].map(|time| micros(time, 3));
    Some(Slice { end: time, cpu: cpu.parse().ok()?, tid, wait: wait?, delay: delay?, run: run? })
}

/// `24030/24030 [001] 48065.125197495: PERF_RECORD_SWITCH_CPU_WIDE OUT preempt  next pid/tid: 23801/23803`
fn parse_switch(line: &str) -> Option<SwitchRecord> {
    let (head, what) = line.split_once("PERF_RECORD_SWITCH")?;
    let mut words = head.split_whitespace();
    let (ids, time, cpu) = (words.next()?, words.next_back()?, words.next());
    let time = micros(time.trim_end_matches(':'), 9)?;
    let cpu = cpu.map_or(Some(-1), |cpu| cpu.trim_matches(['[', ']']).parse().ok())?;
    let tid = |ids: &str| ids.trim().split_once('/')?.1.trim().parse::<i64>().ok().filter(|tid| *tid > 0);
    let next = what.split_once("next pid/tid:").and_then(|(_, ids)| tid(ids));
    let is_preempted = what.contains("preempt");
    Some(SwitchRecord { cpu, time, tid: tid(ids), goes: what.contains("OUT"), is_preempted, next })
}

/// `12.345` with this many digits behind the point, as a whole number.
fn micros(text: &str, digits: usize) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').filter(|(_, fraction)| fraction.len() == digits)?;
    format!("{whole}{fraction}").parse().ok()
}

/// `11286/11288 [000] 41699.262612966:    1001001 cpu-clock/freq=999/: `, without a stack ` 976f7 (/usr/lib/libc.so.6)` behind it.
fn parse_head(head: &str, wanted: &str) -> Option<ScriptSample> {
    let (ids, rest) = head.trim_start().split_once(' ').unwrap();
    let (pid, tid) = ids.split_once('/').unwrap();
    let rest = rest.trim_start();
    let (cpu, rest) = match rest.strip_prefix('[') {
        Some(rest) => {
            let (cpu, rest) = rest.split_once(']').unwrap();
            (Some(cpu.parse().unwrap()), rest.trim_start())
        }
        None => (None, rest),
    };
    let (time, rest) = rest.split_once(':').unwrap();
    let (period, rest) = rest.trim_start().split_once(' ').unwrap();
    let rest = rest.trim_start();
    let (event, rest) = rest.split_once(": ").unwrap_or((rest.trim_end().trim_end_matches(':'), ""));
    if event != wanted {
        return None;
    }
    let (seconds, fraction) = time.split_once('.').unwrap();
    Some(ScriptSample {
        time: seconds.parse::<i64>().unwrap() * 1_000_000_000 + fraction.parse::<i64>().unwrap(),
        pid: pid.parse().unwrap(),
        tid: tid.parse().unwrap(),
        cpu,
        period: period.parse().unwrap(),
        frames: if rest.trim().is_empty() { Vec::new() } else { vec![parse_frame(rest)] },
    })
}

/// `           976f7 (/usr/lib/x86_64-linux-gnu/libc.so.6)`
fn parse_frame(line: &str) -> (u64, String) {
    let (address, module) = line.trim().split_once(" (").unwrap();
    let module = module.strip_suffix(')').unwrap();
    // Where perf looks for the names of code without a file, whether or not that is there.
    let without_file = module.starts_with("/tmp/perf-") && module.ends_with(".map");
    let module = if without_file { UNKNOWN } else { module };
    (u64::from_str_radix(address, 16).unwrap(), module.to_owned())
}

/// ` a:b c] 11286/11288 [000] 41699.262612966: sched:sched_waking: comm=x pid=7`: anything may stand in a name but what is looked for.
fn parse_event(line: &str) -> ScriptEvent {
    let parse = |at: usize| {
        let (left, right) = line.split_at(at);
        let (comm, ids) = left.trim_end().rsplit_once(' ')?;
        let (pid, tid) = ids.split_once('/')?;
        let (cpu, rest) = right.strip_prefix('[')?.split_once(']')?;
        let (time, rest) = rest.trim_start().split_once(": ")?;
        let (seconds, fraction) = time.split_once('.')?;
        let (event, text) = rest.trim_start().split_once(": ").unwrap_or((rest.trim().trim_end_matches(':'), ""));
        Some(ScriptEvent {
            comm: comm.trim().to_owned(),
            time: seconds.parse::<i64>().ok()? * 1_000_000_000 + fraction.parse::<i64>().ok()?,
            pid: pid.parse().ok()?,
            tid: tid.parse().ok()?,
            cpu: cpu.parse().ok()?,
            event: event.to_owned(),
            text: text.to_owned(),
        })
    };
    line.match_indices('[').find_map(|(at, _)| parse(at)).unwrap_or_else(|| panic!("{line}"))
}
