//! A machine whose counters of energy are known: each CPU uses energy by its clock rate, whether it works or not, so that the
//! energy of each process is known, too. The readings are written as events of Windows or as the recorder reads them on Linux.

use tracesift_etl::payload::PROCESSOR_POWER;
use tracesift_etl::write::PointerSize;
use tracesift_etl::write::payload::{Bytes, ContextSwitch, Thread, thread_state};

use crate::providers::{KernelRecord, Logged};

/// Event id of the counter of a processor.
pub const PROCESSOR: u16 = 113;
/// Event id of the counter of a package.
pub const PACKAGE: u16 = 114;

const MS: i64 = 1_000_000;
/// State of the idle thread when it leaves its CPU.
const RUNNING: i8 = 2;

/// The counter `number` of a processor shows `value`.
#[must_use]
pub fn processor(time: i64, processor: (u16, u8), number: u32, value: u64, pointer_size: PointerSize) -> Logged {
    let mut payload = Bytes::new(pointer_size);
    payload.u16(processor.0);
    payload.u8(processor.1);
    payload.u32(number);
    payload.u64(value);
    logged(time, PROCESSOR, payload)
}

/// The counter `number` of a package shows `value`.
#[must_use]
pub fn package(time: i64, number: u32, value: u64, pointer_size: PointerSize) -> Logged {
    let mut payload = Bytes::new(pointer_size);
    payload.u32(number);
    payload.u64(value);
    logged(time, PACKAGE, payload)
}

fn logged(time: i64, id: u16, payload: Bytes) -> Logged {
    Logged { time, cpu: 0, provider: PROCESSOR_POWER, id, version: 0, pid: 4, tid: 8, payload: payload.into_vec() }
}

/// A run of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The CPU.
    pub cpu: u16,
    /// Its process and the thread.
    pub thread: (u32, u32),
    /// From and to, ms.
    pub span: (i64, i64),
}

/// A context switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// When, ms.
    pub time: i64,
    /// The CPU.
    pub cpu: u16,
    /// Process and thread that leave; 0 is the idle loop.
    pub old: (u32, u32),
    /// Process and thread that come.
    pub new: (u32, u32),
}

/// What happens on the machine. Times are ms since its start.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// CPUs.
    pub cpus: u16,
    /// When a CPU gets which clock rate, MHz, in the order of time.
    pub rates: Vec<(i64, u16, i64)>,
    /// Runs in the order of time; those of a CPU do not overlap, and the CPU is idle between two of them.
    pub runs: Vec<Run>,
    /// When the counters are read.
    pub readings: Vec<i64>,
}

impl Machine {
    /// Two CPUs that change their clock rates, and two processes that take turns. Of the process 700 a thread runs on each CPU.
    #[must_use]
    pub fn of_two_cpus() -> Self {
        let run = |cpu, thread, from, to| Run { cpu, thread, span: (from, to) };
        Self {
            cpus: 2,
            rates: vec![(0, 0, 1000), (0, 1, 2000), (1200, 0, 3000), (2600, 0, 1000), (3100, 1, 500)],
            runs: vec![
                run(0, (700, 704), 100, 900),
                run(1, (800, 804), 200, 1300),
                run(0, (700, 704), 1100, 1500),
                run(1, (700, 708), 1300, 1340),
                run(0, (800, 808), 1500, 2700),
                run(1, (800, 804), 2900, 3400),
            ],
            readings: vec![0, 1000, 2000, 3000, 3700],
        }
    }

    fn rate(&self, cpu: u16, at: i64) -> i64 {
        self.rates.iter().rev().find(|(time, of, _)| *of == cpu && *time <= at).map_or(0, |(.., mhz)| *mhz)
    }

    /// What a CPU uses in a span of time: one unit per MHz and ms.
    #[must_use]
    pub fn used(&self, cpu: u16, (from, to): (i64, i64)) -> i64 {
        (from..to).map(|at| self.rate(cpu, at)).sum()
    }

    /// What all CPUs use.
    #[must_use]
    pub fn used_by_all(&self, span: (i64, i64)) -> i64 {
        (0..self.cpus).map(|cpu| self.used(cpu, span)).sum()
    }

    /// What CPUs use in a span while the process runs on them. `cpu`: only this one.
    #[must_use]
    pub fn used_by(&self, pid: u32, cpu: Option<u16>, (from, to): (i64, i64)) -> i64 {
        let runs = self.runs.iter().filter(|run| run.thread.0 == pid && cpu.is_none_or(|cpu| cpu == run.cpu));
        runs.map(|run| self.used(run.cpu, (run.span.0.max(from), run.span.1.min(to)))).sum()
    }

    /// The readings of both kinds of counters as Windows logs them: number 0 of the package, number 3 of each processor. They show
    /// `first` at first.
    #[must_use]
    pub fn windows_readings(&self, first: u64, pointer_size: PointerSize) -> Vec<Logged> {
        let value = |used: i64| first.wrapping_add(used.cast_unsigned());
        let mut events = Vec::new();
        for time in &self.readings {
            let span = (0, *time);
            events.push(package(time * MS, 0, value(self.used_by_all(span)), pointer_size));
            events.extend((0..self.cpus).map(|cpu| {
                let number = (0, u8::try_from(cpu).unwrap_or(u8::MAX));
                processor(time * MS, number, 3, value(self.used(cpu, span)), pointer_size)
            }));
        }
        events
    }

    /// The clock rates as Windows logs them.
    #[must_use]
    pub fn windows_rates(&self, pointer_size: PointerSize) -> Vec<Logged> {
        let event = |(time, cpu, mhz): &(i64, u16, i64)| {
            let mut payload = Bytes::new(pointer_size);
            payload.u32(1);
            payload.u32(u32::try_from(*mhz).unwrap_or(0));
            payload.u16(0);
            payload.u8(u8::try_from(*cpu).unwrap_or(u8::MAX));
            payload.u32(80);
            Logged { id: 10, version: 2, ..logged(time * MS, 10, payload) }
        };
        self.rates.iter().map(event).collect()
    }

    /// The context switches, and the threads, as the kernel of Windows logs them.
    #[must_use]
    pub fn windows_switches(&self, pointer_size: PointerSize) -> Vec<KernelRecord> {
        let mut records = Vec::new();
        let mut put = |time: i64, cpu: u16, old_tid: u32, new_tid: u32| {
            let old_state = if old_tid == 0 { RUNNING } else { thread_state::WAITING };
            let switch = ContextSwitch {
                new_tid,
                old_tid,
                new_priority: 8,
                old_priority: 8,
                previous_c_state: 0,
                wait_reason: 0,
                wait_mode: 1,
                old_state,
                ideal_cpu: 0,
                new_wait_ticks: 0,
                remaining_quantum: 0,
            };
            let mut payload = Bytes::new(pointer_size);
            switch.encode(&mut payload);
            let hook = ContextSwitch::HOOK;
            records.push(KernelRecord {
                time: time * MS,
                cpu,
                hook,
                caller: (0, old_tid),
                payload: payload.into_vec(),
            });
        };
        self.switches().into_iter().for_each(|turn| put(turn.time, turn.cpu, turn.old.1, turn.new.1));
        records
    }

    /// The context switches in the order of time.
    #[must_use]
    pub fn switches(&self) -> Vec<Turn> {
        let mut switches = Vec::new();
        for cpu in 0..self.cpus {
            let runs: Vec<&Run> = self.runs.iter().filter(|run| run.cpu == cpu).collect();
            for (index, run) in runs.iter().enumerate() {
                let before = index.checked_sub(1).and_then(|before| runs.get(before));
                let old = before.filter(|before| before.span.1 == run.span.0).map_or((0, 0), |before| before.thread);
                switches.push(Turn { time: run.span.0, cpu, old, new: run.thread });
                if runs.get(index + 1).is_none_or(|next| next.span.0 > run.span.1) {
                    switches.push(Turn { time: run.span.1, cpu, old: run.thread, new: (0, 0) });
                }
            }
        }
        switches.sort_by_key(|turn| (turn.time, turn.cpu));
        switches
    }

    /// The threads of the processes, each once.
    #[must_use]
    pub fn threads(&self) -> Vec<(u32, u32)> {
        let mut threads: Vec<(u32, u32)> = self.runs.iter().map(|run| run.thread).collect();
        threads.sort_unstable();
        threads.dedup();
        threads
    }

    /// The threads as the kernel of Windows tells of those that run from the start.
    #[must_use]
    pub fn windows_threads(&self, pointer_size: PointerSize) -> Vec<KernelRecord> {
        let record = |(pid, tid): (u32, u32)| {
            let thread = Thread { pid, tid, start_address: 0, service_tag: 0, base_priority: 8, name: "" };
            let mut payload = Bytes::new(pointer_size);
            thread.encode(&mut payload);
            KernelRecord { time: 0, cpu: 0, hook: Thread::DC_START, caller: (4, 8), payload: payload.into_vec() }
        };
        self.threads().into_iter().map(record).collect()
    }

    /// The readings as the recorder writes them beside a recording of Linux whose clock shows `zero` at the start: the counters of a
    /// package, which starts again behind `highest`, and of its cores, which shows a half. The first reading is `first`.
    #[must_use]
    pub fn linux_readings(&self, zero: i64, first: u64, highest: u64) -> String {
        let value = |used: i64| (first + used.cast_unsigned()) % (highest + 1);
        let reading = |time: &i64| {
            let used = self.used_by_all((0, *time));
            format!("{{\"seen_ns\":{},\"values\":[{},{}]}}", zero + time * MS, value(used), value(used / 2))
        };
        let readings: Vec<String> = self.readings.iter().map(reading).collect();
        format!(
            "{{\"format\":1,\"energy\":{{\"counters\":[\
             {{\"zone\":\"intel-rapl:0\",\"name\":\"package-0\",\"highest_uj\":{highest}}},\
             {{\"zone\":\"intel-rapl:0:0\",\"name\":\"core\",\"highest_uj\":{highest}}}],\"readings\":[{}]}}}}",
            readings.join(",")
        )
    }
}
