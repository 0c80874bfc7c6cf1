//! The machine of a scenario: CPUs, processes, threads, modules, methods, and the stacks made of them.

use std::collections::HashMap;
use std::fmt;

use tracesift_etl::Guid;
use tracesift_etl::write::PointerSize;

/// Index into [`Machine::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Function(pub u32);

/// Index into the machine's interned stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StackId(pub u32);

/// A half of a stack: functions, leaf first, all in the kernel or all in user mode.
pub type Stack = Vec<Function>;

/// Where the code of a function lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// In an image: index into [`Machine::images`] and the offset of the one return address that stacks show.
    Native {
        /// Image.
        image: usize,
        /// Offset from its base.
        rva: u64,
    },
    /// Compiled at run time: index into [`Machine::methods`].
    Managed {
        /// Method.
        method: usize,
    },
    /// Nobody names it.
    Bare {
        /// Address.
        address: u64,
    },
}

/// Identity of a PDB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pdb {
    /// Signature.
    pub guid: Guid,
    /// Age.
    pub age: u32,
    /// File name.
    pub name: String,
}

/// Version resource of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageVersion {
    /// Description.
    pub description: String,
    /// Version, text and numbers alike.
    pub version: String,
    /// Product.
    pub product: String,
    /// Company.
    pub company: String,
}

/// An image file. It has the same base wherever it is loaded, as on a real machine between two boots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// File name.
    pub name: String,
    /// NT path.
    pub path: String,
    /// Base address.
    pub base: u64,
    /// Bytes in memory.
    pub size: u64,
    /// A kernel module: mapped once, seen by all processes.
    pub kernel: bool,
    /// Time stamp of the PE header.
    pub time_date_stamp: u32,
    /// Checksum of the PE header.
    pub checksum: u32,
    /// PDB.
    pub pdb: Option<Pdb>,
    /// Version resource.
    pub version: Option<ImageVersion>,
}

/// A managed module of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManagedModule {
    /// File name.
    pub name: String,
    /// Path.
    pub path: String,
    /// The runtime's id.
    pub id: u64,
}

/// How a recording learns of a method's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodOrigin {
    /// From the runtime, when the code was made: ticks and CPU of the event.
    Load {
        /// Ticks.
        ticks: i64,
        /// CPU.
        cpu: u16,
    },
    /// From the rundown at the end of the process or of the session.
    Rundown,
}

/// A managed method with code in one process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method {
    /// Index into [`Machine::processes`].
    pub process: usize,
    /// Index into [`Machine::managed_modules`].
    pub module: usize,
    /// Namespace and type.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Signature.
    pub signature: String,
    /// Address of the code.
    pub start: u64,
    /// Bytes of code.
    pub size: u32,
    /// How the recording learns of it.
    pub origin: MethodOrigin,
}

/// One life of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Process id; may be used again by a later life.
    pub pid: u32,
    /// Process id of the creator.
    pub parent_pid: u32,
    /// File name of the image.
    pub name: String,
    /// Command line.
    pub command_line: String,
    /// Terminal-services session.
    pub session: u32,
    /// Sub-authorities of the owner below `S-1-5`.
    pub user: Vec<u32>,
    /// Images loaded, as indices into [`Machine::images`].
    pub images: Vec<usize>,
    /// Ticks of the start; `None`: before the recording.
    pub start: Option<i64>,
    /// Ticks of the end; `None`: after the recording.
    pub end: Option<i64>,
    /// Exit status.
    pub exit_code: i32,
}

/// One life of a thread. The first [`Machine::cpus`] threads are the idle threads of the CPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Index into [`Machine::processes`].
    pub process: usize,
    /// Thread id; may be used again by a later life.
    pub tid: u32,
    /// Name; empty when it has none.
    pub name: String,
    /// Base priority.
    pub base_priority: u8,
    /// Key of the service that it works for.
    pub service_tag: u32,
    /// Ticks of its start record; `None`: before the recording.
    pub start: Option<i64>,
    /// Ticks of its end record; `None`: after the recording.
    pub end: Option<i64>,
}

/// A function's identity: module and name without arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MethodName {
    /// File name of the module; `None` for code that nobody names.
    pub module: Option<String>,
    /// Function; `module+0xRVA` for native code, whose names need symbols.
    pub function: String,
}

impl fmt::Display for MethodName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.module {
            Some(module) => write!(f, "{module}!{}", self.function),
            None => f.write_str(&self.function),
        }
    }
}

/// The machine of a scenario.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Host name.
    pub name: String,
    /// Logical CPUs.
    pub cpus: u16,
    /// Ticks per second.
    pub frequency: i64,
    /// Ticks at time zero.
    pub zero_ticks: i64,
    /// Time zero as FILETIME.
    pub start_filetime: i64,
    /// Pointer size.
    pub pointer_size: PointerSize,
    /// Image files.
    pub images: Vec<Image>,
    /// Managed modules.
    pub managed_modules: Vec<ManagedModule>,
    /// Managed methods.
    pub methods: Vec<Method>,
    /// Functions that stacks are made of.
    pub functions: Vec<Code>,
    /// Processes; the first one is Idle (pid 0).
    pub processes: Vec<Process>,
    /// Threads; the first [`Machine::cpus`] are the idle threads.
    pub threads: Vec<Thread>,
    stacks: Vec<Stack>,
    stack_ids: HashMap<Stack, StackId>,
}

impl Machine {
    /// A machine with nothing but its idle process.
    #[must_use]
    pub fn new(cpus: u16, frequency: i64, pointer_size: PointerSize) -> Self {
        let idle = Process {
            pid: 0,
            parent_pid: 0,
            name: "Idle".to_owned(),
            command_line: String::new(),
            session: 0,
            user: Vec::new(),
            images: Vec::new(),
            start: None,
            end: None,
            exit_code: 0,
        };
        let idle_thread = Thread {
            process: 0,
            tid: 0,
            name: String::new(),
            base_priority: 0,
            service_tag: 0,
            start: None,
            end: None,
        };
        Self {
            name: "TRACESIFT".to_owned(),
            cpus,
            frequency,
            zero_ticks: 3_600 * frequency,
            // 2022-04-04 10:15:00 UTC.
            start_filetime: 132_935_409_000_000_000,
            pointer_size,
            images: Vec::new(),
            managed_modules: Vec::new(),
            methods: Vec::new(),
            functions: Vec::new(),
            processes: vec![idle],
            threads: vec![idle_thread; usize::from(cpus)],
            stacks: Vec::new(),
            stack_ids: HashMap::new(),
        }
    }

    /// Adds a function.
    pub fn add_function(&mut self, code: Code) -> Function {
        self.functions.push(code);
        Function(self.functions.len() as u32 - 1)
    }

    /// The id of a half stack.
    pub fn stack_id(&mut self, stack: &[Function]) -> StackId {
        if let Some(id) = self.stack_ids.get(stack) {
            return *id;
        }
        let id = StackId(self.stacks.len() as u32);
        self.stacks.push(stack.to_vec());
        self.stack_ids.insert(stack.to_vec(), id);
        id
    }

    /// The half stack behind an id.
    #[must_use]
    pub fn stack(&self, id: StackId) -> &[Function] {
        &self.stacks[id.0 as usize]
    }

    /// Address that stacks show for a function.
    #[must_use]
    pub fn address(&self, function: Function) -> u64 {
        match self.functions[function.0 as usize] {
            Code::Native { image, rva } => self.images[image].base + rva,
            // A return address lies behind a call, never at the start of the code.
            Code::Managed { method } => self.methods[method].start + u64::from(self.methods[method].size) / 2,
            Code::Bare { address } => address,
        }
    }

    /// Whether a function is kernel code.
    #[must_use]
    pub fn is_kernel(&self, function: Function) -> bool {
        matches!(self.functions[function.0 as usize], Code::Native { image, .. } if self.images[image].kernel)
    }

    /// Name that a reader without symbols gives to a function.
    #[must_use]
    pub fn name_of(&self, function: Function) -> MethodName {
        match self.functions[function.0 as usize] {
            Code::Native { image, rva } => {
                let module = self.images[image].name.clone();
                MethodName { function: format!("{module}+0x{rva:x}"), module: Some(module) }
            }
            Code::Managed { method } => {
                let method = &self.methods[method];
                MethodName {
                    module: Some(self.managed_modules[method.module].name.clone()),
                    function: format!("{}.{}", method.namespace, method.name),
                }
            }
            Code::Bare { address } => MethodName { module: None, function: format!("0x{address:x}") },
        }
    }

    /// Nanoseconds since time zero: floor((ticks − T0) · 10⁹ / frequency).
    #[must_use]
    pub fn ns(&self, ticks: i64) -> i64 {
        let scaled = i128::from(ticks - self.zero_ticks) * 1_000_000_000;
        scaled.div_euclid(i128::from(self.frequency)) as i64
    }

    /// The first tick that is not before `ns` nanoseconds since time zero.
    #[must_use]
    pub fn ticks(&self, ns: i64) -> i64 {
        let scaled = i128::from(ns) * i128::from(self.frequency);
        self.zero_ticks - (-scaled).div_euclid(1_000_000_000) as i64
    }

    /// The FILETIME at or after `ticks`.
    #[must_use]
    pub fn filetime(&self, ticks: i64) -> i64 {
        let scaled = i128::from(ticks - self.zero_ticks) * 10_000_000;
        self.start_filetime - (-scaled).div_euclid(i128::from(self.frequency)) as i64
    }

    /// Process id of a thread.
    #[must_use]
    pub fn pid_of(&self, thread: usize) -> u32 {
        self.processes[self.threads[thread].process].pid
    }
}
