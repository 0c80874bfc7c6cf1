//! A history as an ETW recording.
//!
//! Code of programs is compiled at run time, so that it has names without symbol files. Functions of the
//! kernel get theirs from [`symbol_files`].

use std::collections::HashMap;

use tracesift_etl::Guid;
use tracesift_etl::write::PointerSize;
use tracesift_etl::write::payload::thread_state;

use super::history::{Entry, History, Leave, What};
use super::kernel::windows;
use super::samples::{Sampled, samples};
use super::world::{DiskOp, Part, StackNo, WaitKind};
use crate::machine::{
    Code, Function, Image, Machine, ManagedModule, Method, MethodName, MethodOrigin, Pdb, Process, StackId, Thread,
};
use crate::record::{DiskIo, Event, HardFault, Ready, Record, Sample, Switch, Walk};
use crate::story::SymbolFile;
use crate::{KeyStyle, Recording, Scenario, StackStyle};

/// The first instant of a recording, ticks.
const ZERO: i64 = 3_600_000_000_000;
const KERNEL: u64 = 0xFFFF_F805_1000_0000;
const USER: u64 = 0x7FF6_0000_0000;
const IMAGE_BYTES: u64 = 0x0020_0000;
/// Where the files of managed modules are mapped.
const FILES: u64 = USER + 0x0800_0000;
const FUNCTION_BYTES: u64 = 0x400;
/// From the start of a process to that of its first thread, ns: its images are loaded meanwhile.
const BEFORE_THREAD: i64 = 500;
/// Stacks show one return address per function.
const RETURN_OFFSET: u64 = 0x80;

/// Thread id of a thread of the world, in all recordings of it.
#[must_use]
pub fn tid(thread: usize) -> u32 {
    5_000 + thread as u32 * 4
}

/// Process id of a process of the world; on Linux of those that are not the kernel's.
#[must_use]
pub fn pid(process: usize) -> u32 {
    if process == 0 { 4 } else { 2_000 + process as u32 * 4 }
}

/// The name that an archive has for a function of a program; `None` for those of the kernel, which need
/// [`symbol_files`].
#[must_use]
pub fn method_name(code: &super::world::Code) -> Option<MethodName> {
    let (namespace, name) = parts_of(&code.name);
    let module = Some(format!("{}.dll", code.module));
    (!code.kernel).then(|| MethodName { module, function: format!("{namespace}.{name}") })
}

/// Namespace with type, and method.
fn parts_of(name: &str) -> (&str, &str) {
    name.rsplit_once('.').unwrap_or(("Program", name))
}

/// Writes a history down as the scenario of an ETW recording, with samples at an interval of so many ns.
#[must_use]
pub fn scenario(history: &History, interval: i64) -> Scenario {
    let mut writer = Writer::new(history);
    let mut records: Vec<Record> = Vec::new();
    for (place, entry) in history.log.iter().enumerate() {
        let lost = history.lost.binary_search(&place).is_ok();
        records.extend(writer.records(entry).into_iter().filter(|_| !lost));
    }
    records.extend(samples(history, interval).iter().map(|sample| writer.sample(sample)));
    records.sort_by_key(|record| (record.ticks, record.cpu));
    let mut recording = Recording::new(ZERO + history.end);
    recording.stacks = StackStyle::Keys(KeyStyle { create: false, capacity: None, rundown: true });
    recording.compress = true;
    recording.sample_interval = Some((interval / 100) as u32);
    recording.files = vec![r"\Device\HarddiskVolume3\Work\data.bin".to_owned()];
    recording.events_lost = history.lost.len() as u32;
    Scenario { machine: writer.machine, records, recording }
}

/// Breakpad files with the names of the kernel's functions in a recording, as a symbol store.
#[must_use]
pub fn symbol_files(history: &History) -> Vec<SymbolFile> {
    let mut writer = Writer::new(history);
    history.log.iter().for_each(|entry| _ = writer.records(entry));
    let mut files: Vec<(usize, Vec<String>)> = Vec::new();
    let named = |((_, function), (image, rva)): (&(String, String), &(usize, u64))| (*image, *rva, function.clone());
    let mut functions: Vec<(usize, u64, String)> = writer.kernel.iter().map(named).collect();
    functions.sort_unstable();
    for (image, rva, function) in functions {
        if files.last().is_none_or(|(last, _)| *last != image) {
            files.push((image, Vec::new()));
        }
        if let Some((_, lines)) = files.last_mut() {
            lines.push(format!("PUBLIC {:x} 0 {function}\n", rva - RETURN_OFFSET));
        }
    }
    files.iter().filter_map(|(image, lines)| SymbolFile::publics(&writer.machine.images[*image], lines)).collect()
}

struct Writer<'a> {
    history: &'a History,
    machine: Machine,
    /// Functions of the kernel: image and offset.
    kernel: HashMap<(String, String), (usize, u64)>,
    functions: HashMap<(Option<usize>, String, String), Function>,
    modules: HashMap<String, usize>,
    /// How each thread left its CPU last.
    left: HashMap<usize, (Leave, StackNo)>,
    operations: u64,
}

impl<'a> Writer<'a> {
    fn new(history: &'a History) -> Self {
        let world = &history.world;
        let mut machine = Machine::new(world.speeds.len() as u16, 1_000_000_000, PointerSize::Eight);
        machine.zero_ticks = ZERO;
        let cpus = world.speeds.len();
        for (index, process) in world.processes.iter().enumerate() {
            let name = if index == 0 { process.name.clone() } else { format!("{}.exe", process.name) };
            machine.processes.push(Process {
                pid: pid(index),
                parent_pid: if index == 0 { 0 } else { 4 },
                command_line: if index == 0 { String::new() } else { format!(r"C:\Work\{name}") },
                name,
                session: u32::from(process.part == Part::Test),
                user: if index == 0 { Vec::new() } else { vec![1001] },
                images: Vec::new(),
                start: None,
                end: None,
                exit_code: 0,
            });
        }
        for (index, thread) in world.threads.iter().enumerate() {
            // A thread that was never made is listed nowhere.
            let never = (thread.starts.is_none() && history.timelines[index].born.is_none()).then_some(i64::MAX);
            machine.threads.push(Thread {
                process: thread.process + 1,
                tid: tid(index),
                name: thread.name.clone(),
                base_priority: thread.priority,
                service_tag: 0,
                start: never,
                end: never,
            });
        }
        let mut writer = Self {
            history,
            machine,
            kernel: HashMap::new(),
            functions: HashMap::new(),
            modules: HashMap::new(),
            left: HashMap::new(),
            operations: 0,
        };
        for (index, process) in world.processes.iter().enumerate().skip(1) {
            let image = writer.image(&format!("{}.exe", process.name), USER + index as u64 * IMAGE_BYTES, false);
            writer.machine.processes[index + 1].images.push(image);
        }
        for entry in &history.log {
            writer.life(entry, cpus);
        }
        writer
    }

    /// Starts and ends, which the rundown needs before all records.
    fn life(&mut self, entry: &Entry, cpus: usize) {
        let ticks = ZERO + entry.time;
        match entry.what {
            What::Start { thread, by, process: first } => {
                self.machine.threads[cpus + thread].start = Some(ticks);
                let process = self.machine.threads[cpus + thread].process;
                if first {
                    self.machine.processes[process].start = Some(ticks - BEFORE_THREAD);
                    self.machine.processes[process].parent_pid = self.machine.pid_of(cpus + by);
                }
            }
            What::End { thread, process: last } => {
                self.machine.threads[cpus + thread].end = Some(ticks);
                let process = self.machine.threads[cpus + thread].process;
                if last {
                    self.machine.processes[process].end = Some(ticks + 1);
                }
            }
            _ => {}
        }
    }

    fn image(&mut self, name: &str, base: u64, kernel: bool) -> usize {
        let index = self.machine.images.len();
        let folder = if kernel { r"\SystemRoot\System32" } else { r"\Device\HarddiskVolume3\Work" };
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        // A file is the same in all runs, whatever order its code is met in.
        let build = name.bytes().fold(0x811C_9DC5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        self.machine.images.push(Image {
            name: name.to_owned(),
            path: format!(r"{folder}\{name}"),
            base,
            size: IMAGE_BYTES,
            kernel,
            time_date_stamp: 0x6000_0000 | build & 0x00FF_FFFF,
            checksum: 0x0001_0000 | build & 0xFFFF,
            pdb: Some(Pdb {
                guid: Guid::from_u128(0x6361_7573_616c_0000_0000_0000_0000_0000 + u128::from(build)),
                age: 1,
                name: format!("{stem}.pdb"),
            }),
            version: None,
        });
        index
    }

    /// A function of the kernel, or of a process.
    fn function(&mut self, process: Option<usize>, module: &str, name: &str) -> Function {
        let key = (process, module.to_owned(), name.to_owned());
        if let Some(function) = self.functions.get(&key) {
            return *function;
        }
        let code = match process {
            None => self.kernel_function(module, name),
            Some(process) => self.method(process, module, name),
        };
        let function = self.machine.add_function(code);
        self.functions.insert(key, function);
        function
    }

    fn kernel_function(&mut self, module: &str, name: &str) -> Code {
        let known = self.machine.images.iter().position(|image| image.kernel && image.name == module);
        let count = self.machine.images.len() as u64;
        let image = known.unwrap_or_else(|| {
            let image = self.image(module, KERNEL + count * IMAGE_BYTES, true);
            self.machine.processes[1].images.push(image);
            image
        });
        let others = self.kernel.values().filter(|(other, _)| *other == image).count() as u64;
        let rva = 0x1000 + others * FUNCTION_BYTES + RETURN_OFFSET;
        self.kernel.insert((module.to_owned(), name.to_owned()), (image, rva));
        Code::Native { image, rva }
    }

    /// A managed module, whose file its process has mapped.
    fn managed_module(&mut self, process: usize, module: &str) -> usize {
        if let Some(known) = self.modules.get(module) {
            return *known;
        }
        let number = self.machine.managed_modules.len();
        let name = format!("{module}.dll");
        let image = self.image(&name, FILES + number as u64 * IMAGE_BYTES, false);
        self.machine.processes[process + 1].images.push(image);
        let id = 0x7FFB_1000_0000 + number as u64 * 0x1_0000;
        let path = format!(r"C:\Work\{name}");
        self.machine.managed_modules.push(ManagedModule { name, path, id });
        self.modules.insert(module.to_owned(), number);
        number
    }

    fn method(&mut self, process: usize, module: &str, name: &str) -> Code {
        let method = self.machine.methods.len();
        let module = self.managed_module(process, module);
        let (namespace, name) = parts_of(name);
        self.machine.methods.push(Method {
            process: process + 1,
            module,
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            signature: "void  ()".to_owned(),
            start: USER + 0x1000_0000 + method as u64 * FUNCTION_BYTES,
            size: 0x200,
            origin: MethodOrigin::Rundown,
        });
        Code::Managed { method }
    }

    /// The stack of an event: functions of the kernel around those of a thread.
    fn walk(&mut self, kernel: &[&str], own: Option<(usize, StackNo)>, at: (i64, usize)) -> (Walk, Option<Function>) {
        let world = &self.history.world;
        let mut halves: [Vec<Function>; 2] = [Vec::new(), Vec::new()];
        for name in kernel {
            let (module, function) = name.split_once('!').unwrap_or(("ntoskrnl.exe", name));
            halves[0].push(self.function(None, module, function));
        }
        for code in own.and_then(|(_, stack)| world.stacks.get(stack.0)).into_iter().flatten() {
            let code = &world.codes[code.0];
            let process = own.map(|(thread, _)| world.threads[thread].process);
            // All code of the kernel's process is the kernel's.
            let is_kernel = code.kernel || process == Some(0);
            let function = self.function(process.filter(|_| !is_kernel), &code.module, &code.name);
            halves[usize::from(!is_kernel)].push(function);
        }
        let leaf = halves[0].first().or(halves[1].first()).copied();
        let mut id = |half: &[Function]| -> Option<StackId> { (!half.is_empty()).then(|| self.machine.stack_id(half)) };
        let (kernel, user) = (id(&halves[0]), id(&halves[1]));
        (Walk { kernel, user, user_ticks: ZERO + at.0, user_cpu: at.1 as u16 }, leaf)
    }

    fn index(&self, thread: Option<usize>, cpu: usize) -> usize {
        thread.map_or(cpu, |thread| self.history.world.speeds.len() + thread)
    }

    fn records(&mut self, entry: &Entry) -> Vec<Record> {
        let (ticks, cpu) = (ZERO + entry.time, entry.cpu as u16);
        let record = |ticks: i64, event: Event| Record { ticks, cpu, event };
        match &entry.what {
            What::Switch { old, leave, new } => vec![record(ticks, self.switch(entry, *old, *leave, *new))],
            What::Wake { thread, by, device, .. } => {
                let (kernel, own) = match device {
                    Some(device) => (windows::interrupt(*device), None),
                    None => (windows::READY, *by),
                };
                let (walk, _) = self.walk(kernel, own, (entry.time, entry.cpu));
                let ready = Ready {
                    thread: self.index(Some(*thread), 0),
                    by: self.index(by.map(|(by, _)| by), entry.cpu),
                    adjust_reason: 1,
                    adjust_increment: 1,
                    flags: u8::from(device.is_some()),
                    walk: Some(walk),
                };
                vec![record(ticks, Event::Ready(ready))]
            }
            What::Start { thread, by, process } => {
                let (thread, by) = (self.index(Some(*thread), 0), self.index(Some(*by), 0));
                let of = self.machine.threads[thread].process;
                let start = record(ticks - BEFORE_THREAD, Event::ProcessStart { process: of, by });
                let start = process.then_some(start);
                start.into_iter().chain([record(ticks, Event::ThreadStart { thread, by })]).collect()
            }
            What::End { thread, process } => {
                let thread = self.index(Some(*thread), 0);
                let of = self.machine.threads[thread].process;
                let end = process.then_some(record(ticks + 1, Event::ProcessEnd { process: of, by: thread }));
                [record(ticks, Event::ThreadEnd { thread })].into_iter().chain(end).collect()
            }
            What::Disk { thread, op, start, start_cpu } => {
                let (thread, start) = (self.index(Some(*thread), 0), ZERO + start);
                self.operations += 1;
                let offset = 0x1_0000_0000 + self.operations * 512;
                let write = *op == DiskOp::Write;
                let start_cpu = *start_cpu as u16;
                let disk = DiskIo { thread, write, start, start_cpu, file: 0, offset, size: 4_096 };
                let address = USER + 0x2000_0000 + self.operations * 0x1000;
                let fault = HardFault { thread, start, file: 0, offset, address, size: 4_096 };
                let fault = (*op == DiskOp::Fault).then_some(record(ticks, Event::HardFault(fault)));
                [record(ticks, Event::Disk(disk))].into_iter().chain(fault).collect()
            }
            What::Mark { thread, text } => {
                let thread = self.index(Some(*thread), 0);
                vec![record(ticks, Event::Mark { thread, text: text.clone() })]
            }
        }
    }

    fn switch(&mut self, entry: &Entry, old: Option<(usize, StackNo)>, leave: Leave, new: Option<usize>) -> Event {
        let left = new.and_then(|new| self.left.remove(&new).map(|(leave, stack)| (new, leave, stack)));
        let walk = left.map(|(new, leave, stack)| {
            self.walk(windows::leaving(leave), Some((new, stack)), (entry.time, entry.cpu)).0
        });
        if let Some((old, stack)) = old {
            self.left.insert(old, (leave, stack));
        }
        let (old, new) = (self.index(old.map(|(old, _)| old), entry.cpu), self.index(new, entry.cpu));
        let (old_state, wait_reason) = match leave {
            Leave::Waits(WaitKind::Sleep) => (thread_state::WAITING, 4),
            Leave::Waits(WaitKind::Disk(_) | WaitKind::Gate | WaitKind::Reply) => (thread_state::WAITING, 0),
            Leave::Waits(WaitKind::Stopped) => (thread_state::WAITING, 5),
            Leave::Waits(_) => (thread_state::WAITING, 6),
            Leave::Preempted => (thread_state::READY, 0),
            Leave::Ends => (thread_state::TERMINATED, 0),
            Leave::Idle => (2, 0),
        };
        let priority = |thread: usize| self.machine.threads[thread].base_priority as i8;
        Event::Switch(Switch {
            old,
            new,
            old_state,
            wait_reason,
            user_mode_wait: wait_reason == 6,
            new_priority: priority(new),
            old_priority: priority(old),
            previous_c_state: u8::from(leave == Leave::Idle),
            walk,
            counters: Vec::new(),
        })
    }

    fn sample(&mut self, sample: &Sampled) -> Record {
        let own = sample.running;
        let kernel = if own.is_none() { windows::IDLE } else { &[] };
        let (walk, leaf) = self.walk(kernel, own, (sample.time, sample.cpu));
        let thread = self.index(own.map(|(thread, _)| thread), sample.cpu);
        let function = leaf.unwrap_or_else(|| self.function(None, "ntoskrnl.exe", "KiIdleLoop"));
        let event = Event::Sample(Sample {
            thread,
            function,
            count: 1,
            in_dpc: false,
            in_isr: false,
            priority: self.machine.threads[thread].base_priority,
            walk: own.map(|_| walk),
        });
        Record { ticks: ZERO + sample.time, cpu: sample.cpu as u16, event }
    }
}
