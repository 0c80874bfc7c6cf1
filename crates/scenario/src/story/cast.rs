//! The cast of the story: the machine, its modules and functions, processes and threads.

use std::collections::HashMap;

use tracesift_etl::Guid;
use tracesift_etl::write::PointerSize;

use crate::machine::{
    Code, Function, Image, ImageVersion, Machine, ManagedModule, Method, MethodOrigin, Pdb, Process, StackId, Thread,
};

/// Native modules with their functions. The place in the list decides the address, so new functions go to the end.
const NATIVE: &[(&str, bool, &[&str])] = &[
    (
        "ntoskrnl.exe",
        true,
        &[
            "KiIdleLoop",
            "KiSystemServiceCopyEnd",
            "KiSwapContext",
            "KiSwapThread",
            "KiCommitThreadWait",
            "KeWaitForSingleObject",
            "KeRemovePriQueue",
            "KeDelayExecutionThread",
            "NtWriteFile",
            "NtCreateFile",
            "NtClose",
            "NtWaitForSingleObject",
            "NtDelayExecution",
            "NtReadFile",
            "IopParseDevice",
            "IofCallDriver",
            "CcCopyWriteEx",
            "CcFlushCache",
            "ExpWorkerThread",
            "PspSystemThreadStartup",
            "KiStartSystemThread",
            "ExAcquireResourceExclusiveLite",
            "ExpWaitForResource",
            "KeSetEvent",
            "KiExecuteAllDpcs",
            "KiRetireDpcList",
            "KiTimerExpiration",
            "KeWaitForMultipleObjects",
            "MiIssueHardFault",
            "MmAccessFault",
            "KiPageFault",
            "MiWriteComplete",
            "RtlFindNextForwardRunClear",
            "KiDispatchInterrupt",
            "IoRemoveIoCompletion",
        ],
    ),
    (
        "Ntfs.sys",
        true,
        &[
            "NtfsCheckpointVolume",
            "NtfsCheckpointAllVolumes",
            "NtfsFsdCreate",
            "NtfsCommonCreate",
            "NtfsCopyWriteA",
            "NtfsFsdCleanup",
            "NtfsCommonCleanup",
            "NtfsFreeRecentlyDeallocated",
            "NtfsFsdWrite",
            "NtfsAcquireSharedVcb",
        ],
    ),
    ("FLTMGR.SYS", true, &["FltpDispatch", "FltpCreate", "FltpPerformPreCallbacks", "FltpPerformPostCallbacks"]),
    ("WdFilter.sys", true, &["MpPreCreate", "MpPostCreate", "MpPreWrite", "MpPreCleanup", "MpAsyncFileScan"]),
    (
        "ntdll.dll",
        false,
        &[
            "RtlUserThreadStart",
            "NtWriteFile",
            "NtCreateFile",
            "NtClose",
            "NtWaitForSingleObject",
            "NtDelayExecution",
            "RtlAllocateHeap",
            "TppWorkerThread",
            "NtReadFile",
            "NtRemoveIoCompletion",
        ],
    ),
    ("kernel32.dll", false, &["BaseThreadInitThunk"]),
    (
        "KERNELBASE.dll",
        false,
        &["WriteFile", "CreateFileW", "CloseHandle", "WaitForSingleObjectEx", "SleepEx", "ReadFile"],
    ),
    ("hostfxr.dll", false, &["hostfxr_main_startupinfo"]),
    ("hostpolicy.dll", false, &["corehost_main"]),
    (
        "coreclr.dll",
        false,
        &[
            "RunMain",
            "Assembly::ExecuteMainMethod",
            "TieredCompilationBackgroundWorker::Run",
            "EEStartup",
            "ThreadNative::KickOffThread",
            "JIT_New",
            "CLREventWaitHelper",
        ],
    ),
    ("clrjit.dll", false, &["Compiler::compCompile", "LinearScan::allocateRegisters"]),
    ("FileWriter.exe", false, &["wmain"]),
    ("mpengine.dll", false, &["ScanFile", "scan_pe", "UfsScannerWrapper::ScanFile", "hashscan"]),
    ("MsMpEng.exe", false, &["ServiceMain"]),
    ("explorer.exe", false, &["CTray::MainThreadProc"]),
    ("svchost.exe", false, &["ServiceStarter"]),
    ("cmd.exe", false, &["ExecPgm"]),
    ("storport.sys", true, &["RaidUnitCompleteRequest"]),
];

/// Namespace and type, name, signature.
type MethodText = (&'static str, &'static str, &'static str);

/// Managed modules with their methods.
const MANAGED: &[(&str, &[MethodText])] = &[
    (
        "FileWriter.dll",
        &[
            ("FileWriter.Program", "Main", "void  (class System.String[])"),
            ("FileWriter.DataGenerator", "CreateFiles", "instance void  ()"),
            ("FileWriter.DataGenerator", "CreateFilesParallel", "instance void  (int32)"),
            ("FileWriter.DataGenerator+<>c__DisplayClass9_0", "<CreateFilesParallel>b__0", "instance void  (int32)"),
        ],
    ),
    (
        "System.Private.CoreLib.dll",
        &[
            ("System.IO.StreamWriter", "WriteLine", "instance void  (class System.String)"),
            ("System.IO.StreamWriter", "Dispose", "instance void  (bool)"),
            ("System.IO.StreamWriter", "Flush", "instance void  (bool,bool)"),
            ("System.IO.Strategies.OSFileStreamStrategy", ".ctor", "instance void  (class System.String)"),
            ("System.IO.Strategies.OSFileStreamStrategy", "Dispose", "instance void  (bool)"),
            ("System.IO.RandomAccess", "WriteAtOffset", "void  (class SafeFileHandle,int64)"),
            (
                "System.Runtime.CompilerServices.DefaultInterpolatedStringHandler",
                "ToStringAndClear",
                "instance class System.String  ()",
            ),
            (
                "System.Runtime.CompilerServices.DefaultInterpolatedStringHandler",
                "AppendFormatted",
                "instance void  (!!0)",
            ),
            ("System.Buffers.TlsOverPerCoreLockedStacksArrayPool`1[System.Char]", "Rent", "instance !0[]  (int32)"),
            ("System.Text.UTF8Encoding", "GetBytes", "instance int32  (char*,int32,uint8*,int32)"),
            ("System.Threading.Thread", "StartCallback", "instance void  ()"),
            ("System.Threading.ThreadPoolWorkQueue", "Dispatch", "bool  ()"),
            ("System.Threading.ManualResetEventSlim", "Wait", "instance bool  (int32)"),
        ],
    ),
    ("System.Threading.Tasks.Parallel.dll", &[("System.Threading.Tasks.Parallel", "For", "void  (int32,int32)")]),
];

const FIRST_RVA: u64 = 0x1000;
const RVA_STEP: u64 = 0x400;
const FUNCTION_BYTES: u64 = 0x200;
/// Stacks show one return address per function, so that each function is one frame.
const RETURN_OFFSET: u64 = 0x80;

/// A native function of the story, for whoever writes symbols for its modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// File name of the module.
    pub module: &'static str,
    /// Start of the function, from the module's base.
    pub rva: u64,
    /// Bytes of code.
    pub size: u64,
    /// The one return address in it that stacks show.
    pub return_rva: u64,
    /// Name.
    pub function: &'static str,
}

/// All native functions of the story.
#[must_use]
pub fn symbols() -> Vec<Symbol> {
    NATIVE.iter().flat_map(|(module, _, functions)| module_symbols(module, functions)).collect()
}

/// The images of the story with their functions.
pub(super) fn images() -> impl Iterator<Item = (Image, Vec<Symbol>)> {
    let images = NATIVE.iter().enumerate();
    images.map(|(index, (module, kernel, functions))| {
        (image(index, module, *kernel), module_symbols(module, functions).collect())
    })
}

fn module_symbols(module: &'static str, functions: &'static [&'static str]) -> impl Iterator<Item = Symbol> {
    functions.iter().zip(0u64..).map(move |(function, index)| {
        let rva = FIRST_RVA + index * RVA_STEP;
        Symbol { module, rva, size: FUNCTION_BYTES, return_rva: rva + RETURN_OFFSET, function }
    })
}

/// A stack as its two halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Halves {
    pub(super) kernel: Option<StackId>,
    pub(super) user: Option<StackId>,
    pub(super) leaf: Function,
}

/// Index of each process of the cast in [`Machine::processes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    System = 1,
    MsMpEng = 2,
    Svchost = 3,
    Explorer = 4,
    Cmd = 5,
    FileWriter = 6,
}

/// The machine with its people.
#[derive(Debug)]
pub(super) struct Cast {
    pub(super) machine: Machine,
    functions: HashMap<String, Function>,
}

impl Cast {
    pub(super) fn new(command_line: &str) -> Self {
        let mut machine = Machine::new(8, 10_000_000, PointerSize::Eight);
        let mut functions = HashMap::new();
        for (index, (module, kernel, names)) in NATIVE.iter().enumerate() {
            machine.images.push(image(index, module, *kernel));
            for symbol in module_symbols(module, names) {
                let function = machine.add_function(Code::Native { image: index, rva: symbol.return_rva });
                functions.insert(format!("{module}!{}", symbol.function), function);
            }
        }
        let process = |pid, parent_pid, name: &str, command_line: &str, user: &[u32], images: Vec<usize>| Process {
            pid,
            parent_pid,
            name: name.to_owned(),
            command_line: command_line.to_owned(),
            session: u32::from(!user.is_empty()),
            user: user.to_vec(),
            images,
            start: None,
            end: None,
            exit_code: 0,
        };
        let kernel = (0..NATIVE.len()).filter(|index| NATIVE[*index].1).collect();
        let with = |names: &[&str]| {
            let base = ["ntdll.dll", "kernel32.dll", "KERNELBASE.dll"];
            let wanted = |index: &usize| base.contains(&NATIVE[*index].0) || names.contains(&NATIVE[*index].0);
            (0..NATIVE.len()).filter(wanted).collect::<Vec<usize>>()
        };
        let defender = r#""C:\ProgramData\Microsoft\Windows Defender\Platform\4.18.2202.4-0\MsMpEng.exe""#;
        let service = r"C:\Windows\system32\svchost.exe -k LocalServiceNetworkRestricted -p";
        let runtime = ["FileWriter.exe", "hostfxr.dll", "hostpolicy.dll", "coreclr.dll", "clrjit.dll"];
        machine.processes.extend([
            process(4, 0, "System", "", &[], kernel),
            process(3_124, 740, "MsMpEng.exe", defender, &[], with(&["MsMpEng.exe", "mpengine.dll"])),
            process(1_104, 740, "svchost.exe", service, &[], with(&["svchost.exe"])),
            process(5_210, 5_100, "explorer.exe", r"C:\Windows\Explorer.EXE", &[1001], with(&["explorer.exe"])),
            process(8_436, 5_210, "cmd.exe", r"cmd.exe /c RunPerformanceTests.cmd", &[1001], with(&["cmd.exe"])),
            process(9_872, 8_436, "FileWriter.exe", command_line, &[1001], with(&runtime)),
        ]);
        let mut cast = Self { machine, functions };
        cast.add_methods();
        cast
    }

    fn add_methods(&mut self) {
        for (module_index, (module, methods)) in MANAGED.iter().enumerate() {
            let folder = if module_index == 0 {
                r"D:\Source\FileWriter\bin\Release\net6.0"
            } else {
                r"C:\Program Files\dotnet\shared\Microsoft.NETCore.App\6.0.3"
            };
            self.machine.managed_modules.push(ManagedModule {
                name: (*module).to_owned(),
                path: format!(r"{folder}\{module}"),
                id: 0x7FFB_1000_0000 + module_index as u64 * 0x1_0000,
            });
            for (namespace, name, signature) in *methods {
                let index = self.machine.methods.len();
                self.machine.methods.push(Method {
                    process: Role::FileWriter as usize,
                    module: module_index,
                    namespace: (*namespace).to_owned(),
                    name: (*name).to_owned(),
                    signature: (*signature).to_owned(),
                    start: 0x7FFB_2000_0000 + index as u64 * 0x1000,
                    size: 0x300,
                    origin: MethodOrigin::Rundown,
                });
                let function = self.machine.add_function(Code::Managed { method: index });
                self.functions.insert(format!("{namespace}.{name}"), function);
            }
        }
    }

    /// The function with this name: `module!function` for native code, the full name for managed code.
    ///
    /// # Panics
    /// When the tables above do not have it: a mistake in the story.
    pub(super) fn function(&self, name: &str) -> Function {
        *self.functions.get(name).unwrap_or_else(|| panic!("no function {name} in the cast"))
    }

    /// The halves of a stack, leaf first.
    pub(super) fn stack(&mut self, parts: &[&[&str]]) -> Halves {
        let functions: Vec<Function> = parts.concat().iter().map(|name| self.function(name)).collect();
        let kernel_frames = functions.iter().take_while(|function| self.machine.is_kernel(**function)).count();
        let (kernel, user) = functions.split_at(kernel_frames);
        let machine = &mut self.machine;
        let mut half = |frames: &[Function]| (!frames.is_empty()).then(|| machine.stack_id(frames));
        Halves { kernel: half(kernel), user: half(user), leaf: functions[0] }
    }

    /// Adds a thread.
    pub(super) fn thread(&mut self, role: Role, name: &str, base_priority: u8) -> usize {
        let machine = &mut self.machine;
        let tid = 40 + 36 * machine.threads.len() as u32;
        machine.threads.push(Thread {
            process: role as usize,
            tid,
            name: name.to_owned(),
            base_priority,
            service_tag: 0,
            start: None,
            end: None,
        });
        machine.threads.len() - 1
    }
}

fn image(index: usize, name: &str, kernel: bool) -> Image {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let pdb_name = if name == "ntoskrnl.exe" { "ntkrnlmp.pdb".to_owned() } else { format!("{stem}.pdb") };
    let folder = match (name, kernel) {
        ("ntoskrnl.exe", _) => r"\SystemRoot\system32",
        (_, true) => r"\SystemRoot\System32\drivers",
        ("FileWriter.exe", _) => r"\Device\HarddiskVolume3\Source\FileWriter\bin\Release\net6.0",
        ("MsMpEng.exe" | "mpengine.dll", _) => {
            r"\Device\HarddiskVolume3\ProgramData\Microsoft\Windows Defender\Platform\4.18.2202.4-0"
        }
        ("coreclr.dll" | "clrjit.dll" | "hostpolicy.dll", _) => {
            r"\Device\HarddiskVolume3\Program Files\dotnet\shared\Microsoft.NETCore.App\6.0.3"
        }
        ("hostfxr.dll", _) => r"\Device\HarddiskVolume3\Program Files\dotnet\host\fxr\6.0.3",
        ("explorer.exe", _) => r"\Device\HarddiskVolume3\Windows",
        _ => r"\Device\HarddiskVolume3\Windows\System32",
    };
    let own = name == "FileWriter.exe";
    let base = if kernel { 0xFFFF_F805_1000_0000 } else { 0x7FFC_1000_0000 } + index as u64 * 0x0100_0000;
    Image {
        name: name.to_owned(),
        path: format!(r"{folder}\{name}"),
        base,
        size: 0x0080_0000,
        kernel,
        time_date_stamp: 0x6200_0000 + index as u32 * 0x1111,
        checksum: 0x0009_0000 + index as u32 * 0x77,
        pdb: Some(Pdb {
            guid: Guid::from_u128(0x7072_6f66_696c_6572_6472_6976_656e_0000 + index as u128),
            age: 1,
            name: pdb_name,
        }),
        version: Some(ImageVersion {
            description: format!("{stem} (synthetic)"),
            version: if own { "1.0.0.0".to_owned() } else { format!("10.0.19041.{}", 1500 + index) },
            product: if own { "FileWriter" } else { "Synthetic Operating System" }.to_owned(),
            company: if own { "FileWriter" } else { "tracesift demo" }.to_owned(),
        }),
    }
}
