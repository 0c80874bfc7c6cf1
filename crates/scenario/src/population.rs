//! The processes and threads of a random scenario, and their stacks.

use std::collections::HashMap;

use tracesift_etl::Guid;
use tracesift_etl::write::PointerSize;

use crate::emit::kernel_base;
use crate::machine::{
    Code, Function, Image, ImageVersion, Machine, ManagedModule, Method, MethodOrigin, Pdb, Process, StackId, Thread,
};
use crate::rng::SplitMix64;

const FUNCTIONS_PER_IMAGE: u64 = 8;
const METHODS_PER_PROCESS: usize = 6;
const STACKS_PER_PROCESS: usize = 24;
const KERNEL_STACKS: usize = 16;
const LAST_EXECUTABLE: u64 = 2;

/// Images, methods and stacks to choose from.
#[derive(Debug)]
pub(crate) struct Population {
    kernel_stacks: Vec<StackId>,
    /// User-mode functions that every process has.
    shared: Vec<Function>,
    /// Images that every process has.
    shared_images: Vec<usize>,
    /// Executables: the images that a process has of its own, the program last, and their functions.
    executables: Vec<(Vec<usize>, Vec<Function>)>,
    user_stacks: HashMap<usize, Vec<StackId>>,
}

impl Population {
    /// Fills `machine` with System and so many processes of so many threads.
    pub(crate) fn new(machine: &mut Machine, rng: &mut SplitMix64, processes: u16, threads: u16) -> Self {
        let kernel = kernel_base(machine.pointer_size) + 0x0200_0000;
        let mut kernel_functions = Vec::new();
        let mut kernel_images = Vec::new();
        for (index, name) in ["ntoskrnl.exe", "Ntfs.sys", "WdFilter.sys", "FLTMGR.SYS"].into_iter().enumerate() {
            let path = if index == 0 {
                format!(r"\SystemRoot\system32\{name}")
            } else {
                format!(r"\SystemRoot\System32\drivers\{name}")
            };
            let image = add_image(machine, name, &path, kernel + index as u64 * 0x0100_0000, true);
            kernel_functions.extend(add_functions(machine, image));
            kernel_images.push(image);
        }
        let mut population = Self {
            kernel_stacks: Vec::new(),
            shared: Vec::new(),
            shared_images: Vec::new(),
            executables: Vec::new(),
            user_stacks: HashMap::new(),
        };
        for (index, name) in ["ntdll.dll", "kernelbase.dll"].into_iter().enumerate() {
            let base = user_base(machine) + 0x0700_0000 + index as u64 * 0x0040_0000;
            let path = format!(r"\Device\HarddiskVolume3\Windows\System32\{name}");
            let image = add_image(machine, name, &path, base, false);
            population.shared.extend(add_functions(machine, image));
            population.shared_images.push(image);
        }
        for index in 0..=LAST_EXECUTABLE {
            let name = format!("Worker{index}.exe");
            let is_32_bit = index == LAST_EXECUTABLE && matches!(machine.pointer_size, PointerSize::Eight);
            let mut own = (Vec::new(), Vec::new());
            if is_32_bit {
                // A 32-bit program on a 64-bit machine has libraries of both kinds, some of the same name.
                let path = r"\Device\HarddiskVolume3\Windows\SysWOW64\ntdll.dll";
                let image = add_image(machine, "ntdll.dll", path, 0x7720_0000, false);
                own.1.extend(add_functions(machine, image));
                own.0.push(image);
            }
            let folder = if is_32_bit { "Program Files (x86)" } else { "Program Files" };
            let path = format!(r"\Device\HarddiskVolume3\{folder}\Work\{name}");
            let first = if is_32_bit { 0 } else { user_base(machine) };
            let image = add_image(machine, &name, &path, first + 0x0040_0000 + index * 0x0040_0000, false);
            own.1.extend(add_functions(machine, image));
            own.0.push(image);
            population.executables.push(own);
        }
        for index in 0..3u64 {
            machine.managed_modules.push(ManagedModule {
                name: format!("Library{index}.dll"),
                path: format!(r"C:\Program Files\Work\Library{index}.dll"),
                id: 0x0055_0000 + index * 0x1000,
            });
        }
        for _ in 0..KERNEL_STACKS {
            let stack = random_stack(rng, &kernel_functions, 9);
            population.kernel_stacks.push(machine.stack_id(&stack));
        }
        population.add_system(machine, kernel_images);
        for index in 0..u32::from(processes) {
            let process = population.add_process(machine, rng, 1_000 + index * 4, 4);
            for _ in 0..threads {
                add_thread(machine, process, 8);
            }
        }
        population
    }

    fn add_system(&mut self, machine: &mut Machine, images: Vec<usize>) {
        let process = machine.processes.len();
        machine.processes.push(Process {
            pid: 4,
            parent_pid: 0,
            name: "System".to_owned(),
            command_line: String::new(),
            session: 0,
            user: Vec::new(),
            images,
            start: None,
            end: None,
            exit_code: 0,
        });
        for _ in 0..2 {
            add_thread(machine, process, 12);
        }
    }

    /// Adds a process with methods of its own, at the same addresses as those of every other process.
    pub(crate) fn add_process(
        &mut self,
        machine: &mut Machine,
        rng: &mut SplitMix64,
        pid: u32,
        parent_pid: u32,
    ) -> usize {
        let process = machine.processes.len();
        let (own_images, own_functions) = self.executables[rng.index(self.executables.len())].clone();
        let name = own_images.last().map(|image| machine.images[*image].name.clone()).unwrap_or_default();
        let mut images = self.shared_images.clone();
        images.extend(own_images);
        machine.processes.push(Process {
            pid,
            parent_pid,
            command_line: format!("\"C:\\Program Files\\Work\\{name}\" -life {process}"),
            name,
            session: 1,
            user: vec![1001],
            images,
            start: None,
            end: None,
            exit_code: rng.below(3) as i32,
        });
        let mut functions = self.shared.clone();
        functions.extend(own_functions);
        for index in 0..METHODS_PER_PROCESS {
            machine.methods.push(Method {
                process,
                module: rng.index(machine.managed_modules.len()),
                namespace: format!("Work.Life{process}"),
                name: format!("Step{index}"),
                signature: "void  (int32)".to_owned(),
                start: user_base(machine) + 0x0300_0000 + index as u64 * 0x400,
                size: 0x200,
                origin: MethodOrigin::Rundown,
            });
            let method = machine.methods.len() - 1;
            functions.push(machine.add_function(Code::Managed { method }));
        }
        let stacks = (0..STACKS_PER_PROCESS)
            .map(|_| {
                let stack = random_stack(rng, &functions, 14);
                machine.stack_id(&stack)
            })
            .collect();
        self.user_stacks.insert(process, stacks);
        process
    }

    pub(crate) fn kernel_stack(&self, rng: &mut SplitMix64) -> StackId {
        self.kernel_stacks[rng.index(self.kernel_stacks.len())]
    }

    /// A user half; `None` for processes that live in the kernel.
    pub(crate) fn user_stack(&self, rng: &mut SplitMix64, process: usize) -> Option<StackId> {
        let stacks = self.user_stacks.get(&process)?;
        Some(stacks[rng.index(stacks.len())])
    }
}

/// First address of a process' images.
fn user_base(machine: &Machine) -> u64 {
    match machine.pointer_size {
        PointerSize::Four => 0,
        PointerSize::Eight => 0x7FF6_0000_0000,
    }
}

/// A path through `functions`, now and then recursive.
fn random_stack(rng: &mut SplitMix64, functions: &[Function], deepest: usize) -> Vec<Function> {
    let depth = 1 + rng.index(deepest);
    let mut stack: Vec<Function> = Vec::with_capacity(depth);
    for _ in 0..depth {
        let again = stack.last().copied().filter(|_| rng.chance(10));
        stack.push(again.unwrap_or(functions[rng.index(functions.len())]));
    }
    stack
}

fn add_thread(machine: &mut Machine, process: usize, base_priority: u8) {
    let tid = 100 + machine.threads.len() as u32 * 4;
    machine.threads.push(Thread {
        process,
        tid,
        name: if tid.is_multiple_of(3) { format!("worker {tid}") } else { String::new() },
        base_priority,
        service_tag: 0,
        start: None,
        end: None,
    });
}

fn add_image(machine: &mut Machine, name: &str, path: &str, base: u64, kernel: bool) -> usize {
    let index = machine.images.len() as u32;
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    machine.images.push(Image {
        name: name.to_owned(),
        path: path.to_owned(),
        base,
        size: 0x0020_0000,
        kernel,
        time_date_stamp: 0x5F00_0000 + index,
        checksum: 0x0001_0000 + index,
        pdb: (!index.is_multiple_of(4)).then(|| Pdb {
            guid: Guid::from_u128(0x5CE4_A210_0000_0000_0000_0000_0000_0000 + u128::from(index)),
            age: 1 + index,
            name: format!("{stem}.pdb"),
        }),
        version: index.is_multiple_of(2).then(|| ImageVersion {
            description: format!("{stem} of a synthetic recording"),
            version: format!("10.0.19041.{index}"),
            product: "Synthetic".to_owned(),
            company: "Nobody".to_owned(),
        }),
    });
    machine.images.len() - 1
}

fn add_functions(machine: &mut Machine, image: usize) -> Vec<Function> {
    (1..=FUNCTIONS_PER_IMAGE).map(|index| machine.add_function(Code::Native { image, rva: index * 0x1_1000 })).collect()
}
