//! A recording from the parts that its threads play, each on a CPU of its own, so that every figure is a sum of parts.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;

use tracesift_scenario::{
    Code, Event, Function, Image, ImageVersion, Machine, Pdb, PointerSize, Process, Ready, Record, Recording, Sample,
    Scenario, StackId, Switch, Thread, Walk,
};

/// Ticks of a millisecond at 10 MHz.
const MS: i64 = 10_000;
/// Places of functions in an image: the return address that stacks show lies in each.
const STEP: u64 = 0x400;
const RETURN: u64 = 0x80;
/// Thread states of Windows, and the reason `UserRequest`.
const RUNNING: i8 = 2;
const WAITING: i8 = 5;
const USER_REQUEST: i8 = 6;

/// What a thread does for some milliseconds, with this stack, leaf first. `module!function` has a name in the module's symbols,
/// `module+` has none.
pub(super) enum Part {
    Runs(i64, &'static [&'static str]),
    Waits(i64, &'static [&'static str]),
}

/// Two halves of a stack, and its leaf.
#[derive(Clone, Copy)]
struct Halves {
    kernel: Option<StackId>,
    user: Option<StackId>,
    leaf: Function,
}

/// The recording while it is made.
pub(super) struct Film {
    machine: Machine,
    /// Milliseconds between two samples of a CPU.
    interval: i64,
    /// Makes the identities of its symbol files other than those of other recordings.
    number: u32,
    versions: HashMap<&'static str, (&'static str, &'static str)>,
    /// Names with their functions; those of each image are in the order of their places.
    functions: Vec<(&'static str, Function)>,
    records: Vec<Record>,
    next_cpu: u16,
    end: i64,
}

impl Film {
    /// One in which at most so many threads play. `System` has all drivers.
    pub(super) fn new(number: u32, cpus: u16, interval: i64) -> Self {
        let machine = Machine::new(cpus, 10_000_000, PointerSize::Eight);
        let mut film = Self {
            machine,
            interval,
            number,
            versions: HashMap::new(),
            functions: Vec::new(),
            records: Vec::new(),
            next_cpu: 0,
            end: 0,
        };
        film.process(4, "System", "");
        film
    }

    /// The file version and the product of a module, which has them where it is mentioned later.
    pub(super) fn version(&mut self, module: &'static str, version: &'static str, product: &'static str) {
        self.versions.insert(module, (version, product));
    }

    pub(super) fn process(&mut self, pid: u32, name: &'static str, command_line: &str) -> usize {
        let images = if name == "System" { Vec::new() } else { vec![self.image(name)] };
        self.machine.processes.push(Process {
            pid,
            parent_pid: 4,
            name: name.to_owned(),
            command_line: command_line.to_owned(),
            session: 1,
            user: vec![1001],
            images,
            start: None,
            end: None,
            exit_code: 0,
        });
        self.machine.processes.len() - 1
    }

    /// Loads a module into a process.
    pub(super) fn load(&mut self, process: usize, module: &'static str) {
        let image = self.image(module);
        let owner = if self.machine.images[image].kernel { 1 } else { process };
        let images = &mut self.machine.processes[owner].images;
        if !images.contains(&image) {
            images.push(image);
        }
    }

    /// A thread that plays these parts from a millisecond on and is idle later.
    pub(super) fn thread(&mut self, process: usize, from: i64, parts: &[Part]) -> usize {
        let (thread, cpu) = (self.machine.threads.len(), self.next_cpu);
        assert!(cpu < self.machine.cpus, "each thread has a CPU");
        self.next_cpu += 1;
        self.machine.threads.push(Thread {
            process,
            tid: 1_000 + 4 * thread as u32,
            name: String::new(),
            base_priority: 8,
            service_tag: 0,
            start: None,
            end: None,
        });
        let idle = usize::from(cpu);
        let mut at = from;
        self.switch(at, cpu, (idle, thread), None);
        for part in parts {
            match part {
                Part::Runs(length, stack) => {
                    let stack = self.stack(process, stack);
                    assert_eq!(length % self.interval, 0, "samples are as long as the part");
                    (0..length / self.interval).for_each(|number| {
                        let middle = at * MS + number * self.interval * MS + self.interval * MS / 2;
                        self.sample(middle, cpu, thread, stack);
                    });
                    at += length;
                }
                Part::Waits(length, stack) => {
                    let stack = self.stack(process, stack);
                    self.switch(at, cpu, (thread, idle), None);
                    at += length;
                    self.ready(at, cpu, thread);
                    self.switch(at, cpu, (idle, thread), Some(stack));
                }
            }
        }
        self.switch(at, cpu, (thread, idle), None);
        self.end = self.end.max(at + 1);
        thread
    }

    /// A process lives from one millisecond to another, as its only thread. `by` is a thread that runs when it starts.
    pub(super) fn lives(&mut self, thread: usize, from: i64, to: i64, by: usize) {
        let process = self.machine.threads[thread].process;
        let (start, end) = (self.at(from) - 1_000, self.at(to) - 100);
        let cpu = (by - usize::from(self.machine.cpus)) as u16;
        let own = (thread - usize::from(self.machine.cpus)) as u16;
        self.machine.processes[process].start = Some(start);
        self.machine.processes[process].end = Some(end);
        self.machine.threads[thread].start = Some(start + 100);
        self.machine.threads[thread].end = Some(end - 10);
        for (ticks, cpu, event) in [
            (start, cpu, Event::ProcessStart { process, by }),
            (start + 100, cpu, Event::ThreadStart { thread, by }),
            (end - 10, own, Event::ThreadEnd { thread }),
            (end, own, Event::ProcessEnd { process, by: thread }),
        ] {
            self.records.push(Record { ticks, cpu, event });
        }
    }

    /// Writes the recording, and symbols into a store.
    pub(super) fn write(self, recording: &Path, symbols: &Path) {
        std::fs::create_dir_all(recording.parent().unwrap()).unwrap();
        for image in 0..self.machine.images.len() {
            self.write_symbols(image, symbols);
        }
        let mut written = Recording::new(self.machine.zero_ticks + self.end * MS);
        written.sample_interval = Some((self.interval * MS) as u32);
        let scenario = Scenario { machine: self.machine, records: self.records, recording: written };
        std::fs::write(recording, scenario.bytes().unwrap()).unwrap();
    }

    fn write_symbols(&self, image: usize, store: &Path) {
        let named = self.functions.iter().filter_map(|(name, function)| {
            let (_, name) = name.split_once('!')?;
            match self.machine.functions[function.0 as usize] {
                Code::Native { image: of, rva } if of == image => Some((name, rva - RETURN)),
                _ => None,
            }
        });
        let publics = named.fold(String::new(), |mut text, (name, rva)| {
            writeln!(text, "PUBLIC {rva:x} 0 {name}").unwrap();
            text
        });
        let Some(pdb) = self.machine.images[image].pdb.as_ref().filter(|_| !publics.is_empty()) else { return };
        let id = format!("{}{:X}", pdb.guid.to_string().replace('-', "").to_uppercase(), pdb.age);
        let directory = store.join(&pdb.name).join(&id);
        std::fs::create_dir_all(&directory).unwrap();
        let text = format!("MODULE windows x86_64 {id} {}\n{publics}", pdb.name);
        let stem = pdb.name.trim_end_matches(".pdb");
        std::fs::write(directory.join(format!("{stem}.sym")), text).unwrap();
    }

    fn at(&self, ms: i64) -> i64 {
        self.machine.zero_ticks + ms * MS
    }

    fn image(&mut self, name: &'static str) -> usize {
        if let Some(index) = self.machine.images.iter().position(|image| image.name == name) {
            return index;
        }
        let index = self.machine.images.len();
        let kernel = name.ends_with(".sys") || name == "ntoskrnl.exe";
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let (version, product) = self.versions.get(name).copied().unwrap_or(("10.0.19041.1", "Windows"));
        let folder = if kernel { r"\SystemRoot\System32\drivers" } else { r"\Device\HarddiskVolume3\Programs" };
        let identity = format!("73656564-0000-0000-{:04x}-{index:012x}", self.number);
        self.machine.images.push(Image {
            name: name.to_owned(),
            path: format!(r"{folder}\{name}"),
            base: if kernel { 0xFFFF_F805_1000_0000 } else { 0x7FFC_1000_0000 } + index as u64 * 0x0100_0000,
            size: 0x0010_0000,
            kernel,
            time_date_stamp: 0x6200_0000 + self.number * 0x100 + index as u32,
            checksum: 0x9000 + index as u32,
            pdb: Some(Pdb { guid: identity.parse().unwrap(), age: 1, name: format!("{stem}.pdb") }),
            version: Some(ImageVersion {
                description: format!("{stem} of a post"),
                version: version.to_owned(),
                product: product.to_owned(),
                company: "Example Ltd.".to_owned(),
            }),
        });
        index
    }

    fn function(&mut self, process: usize, name: &'static str) -> Function {
        let module = name.split(['!', '+']).next().unwrap_or(name);
        self.load(process, module);
        if let Some((_, function)) = self.functions.iter().find(|(known, _)| *known == name) {
            return *function;
        }
        let image = self.image(module);
        let rva = STEP * (4 + self.functions.len() as u64) + RETURN;
        let function = self.machine.add_function(Code::Native { image, rva });
        self.functions.push((name, function));
        function
    }

    fn stack(&mut self, process: usize, names: &[&'static str]) -> Halves {
        let functions: Vec<Function> = names.iter().map(|name| self.function(process, name)).collect();
        let kernel = functions.iter().take_while(|function| self.machine.is_kernel(**function)).count();
        let (kernel, user) = functions.split_at(kernel);
        let machine = &mut self.machine;
        let mut half = |frames: &[Function]| (!frames.is_empty()).then(|| machine.stack_id(frames));
        Halves { kernel: half(kernel), user: half(user), leaf: functions[0] }
    }

    fn switch(&mut self, ms: i64, cpu: u16, (old, new): (usize, usize), stack: Option<Halves>) {
        let ticks = self.at(ms);
        let idles = old == usize::from(cpu);
        let event = Event::Switch(Switch {
            old,
            new,
            old_state: if idles { RUNNING } else { WAITING },
            wait_reason: if idles { 0 } else { USER_REQUEST },
            user_mode_wait: true,
            new_priority: 8,
            old_priority: 8,
            previous_c_state: 0,
            walk: stack.map(|stack| walk(stack, ticks, cpu)),
            counters: Vec::new(),
        });
        self.records.push(Record { ticks, cpu, event });
    }

    /// The timer makes a thread ready a microsecond before it runs.
    fn ready(&mut self, ms: i64, cpu: u16, thread: usize) {
        let event = Event::Ready(Ready {
            thread,
            by: usize::from(cpu),
            adjust_reason: 1,
            adjust_increment: 1,
            flags: 1,
            walk: None,
        });
        self.records.push(Record { ticks: self.at(ms) - 10, cpu, event });
    }

    fn sample(&mut self, ticks: i64, cpu: u16, thread: usize, stack: Halves) {
        let ticks = self.machine.zero_ticks + ticks;
        let event = Event::Sample(Sample {
            thread,
            function: stack.leaf,
            count: 1,
            in_dpc: false,
            in_isr: false,
            priority: 8,
            walk: Some(walk(stack, ticks, cpu)),
        });
        self.records.push(Record { ticks, cpu, event });
    }
}

fn walk(stack: Halves, ticks: i64, cpu: u16) -> Walk {
    Walk { kernel: stack.kernel, user: stack.user, user_ticks: ticks + 200, user_cpu: cpu }
}
