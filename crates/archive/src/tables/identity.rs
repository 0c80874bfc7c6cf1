//! Who ran: processes, threads, modules and where modules were mapped.

use tracesift_trace::rows::{ModuleRow, Origin, ProcessModuleRow, ProcessRow, ThreadRow};
use tracesift_trace::{ModuleId, ProcessId, ThreadId};

use crate::column::Timing;
use crate::table::table;

table! {
    ProcessRow in "processes", always: true, Timing::Untimed,
    "One life of a pid: a pid that is used again is another row.";
    process: ProcessId, Delta, "", "Row id, given at first sight.", "made by the extract";
    pid: i64, Plain, "", "Process id of the operating system.", "Process/Start ProcessId";
    name: String, Plain, "", "File name of the image, such as `FileWriter.exe`; on Linux the last name of the first thread, in full where that was cut at 15 bytes and the file of the program begins with it; `pid N` when nothing named it.", "Process/Start ImageFileName; perf COMM, MMAP2";
    command_line: Option<String>, Plain, "", "Command line; on Linux the path of the program that it started last, where that was recorded.", "Process/Start CommandLine; sched:sched_process_exec filename";
    parent_pid: Option<i64>, Plain, "", "Process id of the creator.", "Process/Start ParentId";
    parent: Option<ProcessId>, Plain, "", "The creator, when it was alive at the start of this process.", "`processes`";
    session: Option<i32>, Plain, "", "Terminal-services session.", "Process/Start SessionId";
    user: Option<String>, Dictionary, "", "Security identifier of the owner, such as `S-1-5-18`.", "Process/Start UserSID";
    package: Option<String>, Dictionary, "", "Full name of the app package.", "Process/Start PackageFullName (from version 4)";
    application: Option<String>, Dictionary, "", "Application user model id.", "Process/Start ApplicationId (from version 4)";
    start: Option<i64>, Plain, "ns", "Start inside the recording; null: it ran before.", "time of Process/Start";
    end: Option<i64>, Plain, "ns", "End inside the recording; null: it runs on.", "time of Process/Stop";
    exit_code: Option<i32>, Plain, "", "Exit status, when the end was seen.", "Process/Stop ExitStatus";
    wow64: Option<bool>, Plain, "", "Whether it is a 32-bit process on a 64-bit system.", "Process Flags (from version 4)";
    origin: Origin, Dictionary, "", "How the recording knows of it: 0 start or end seen, 1 rundown only, 2 inferred from records that carry its id, 3 made by the model (`DPC/ISR`).", "made by the extract";
    cgroup: Option<String>, Dictionary, "", "Path of its control group, the last one that a sample showed it in (`perf record --all-cgroups`); from schema 1.3.", "PERF_RECORD_CGROUP, perf sample cgroup";
    container: Option<String>, Dictionary, "", "Id of the container that this group belongs to: docker, podman, containerd, CRI-O, LXC; from schema 1.3.", "path of the control group";
    pid_namespace: Option<i64>, Dictionary, "", "Inode of its pid namespace (`perf record --namespaces`), which the processes of a container share; from schema 1.3.", "PERF_RECORD_NAMESPACES";
}

table! {
    ThreadRow in "threads", always: true, Timing::Untimed,
    "One life of a tid. The idle thread is one row per CPU.";
    thread: ThreadId, Delta, "", "Row id, given at first sight.", "made by the extract";
    process: ProcessId, Plain, "", "The process that it belongs to.", "Thread/Start ProcessId";
    tid: i64, Plain, "", "Thread id of the operating system; 0 for the idle threads.", "Thread/Start TThreadId";
    name: Option<String>, Plain, "", "Thread name (description).", "Thread/SetName ThreadName; perf COMM";
    start: Option<i64>, Plain, "ns", "Start inside the recording; null: it ran before.", "time of Thread/Start";
    end: Option<i64>, Plain, "ns", "End inside the recording; null: it runs on.", "time of the Thread/CSwitch that leaves it Terminated, else of Thread/Stop";
    base_priority: Option<i8>, Plain, "", "Base priority.", "Thread/Start BasePriority (from version 3)";
    service_tag: Option<i64>, Plain, "", "Service tag: which service a thread of a service host works for.", "Thread/Start SubProcessTag";
    service: Option<String>, Dictionary, "", "Name of that service.", "SystemConfig/Services";
    start_address: Option<i64>, Plain, "", "Win32 start address; addresses above 2^63 are negative.", "Thread/Start Win32StartAddr";
    idle_cpu: Option<i16>, Plain, "", "CPU of an idle thread.", "made by the extract";
    origin: Origin, Dictionary, "", "How the recording knows of it; values as in `processes`.", "made by the extract";
}

table! {
    ModuleRow in "modules", always: true, Timing::Untimed,
    "One image file by name, size and time stamp (on Linux by path and build id), however often it is mapped.";
    module: ModuleId, Delta, "", "Row id, given at first sight.", "made by the extract";
    name: String, Plain, "", "File name, such as `ntdll.dll`.", "Image/Load FileName";
    path: String, Plain, "", "Path, with drive letter where the volume mapping is known, else as recorded.", "Image/Load FileName, SysConfig/VolumeMapping";
    size: i64, Plain, "bytes", "Size of the image in memory.", "Image/Load ImageSize";
    time_date_stamp: Option<i64>, Plain, "s", "Time stamp of the PE header; with `size` the identity of the image.", "Image/Load TimeDateStamp";
    checksum: Option<i64>, Plain, "", "Checksum of the PE header.", "Image/Load ImageChecksum";
    pdb_name: Option<String>, Plain, "", "Name of the PDB.", "ImageID/DbgID_RSDS";
    pdb_guid: Option<String>, Plain, "", "GUID of the PDB, lower case with dashes.", "ImageID/DbgID_RSDS";
    pdb_age: Option<i32>, Plain, "", "Age of the PDB.", "ImageID/DbgID_RSDS";
    managed_pdb_name: Option<String>, Plain, "", "Name of the managed PDB of a precompiled image.", "Loader/ModuleLoad, ModuleDCStart, ModuleDCStop";
    managed_pdb_guid: Option<String>, Plain, "", "GUID of the managed PDB.", "Loader/ModuleLoad, ModuleDCStart, ModuleDCStop";
    managed_pdb_age: Option<i32>, Plain, "", "Age of the managed PDB.", "Loader/ModuleLoad, ModuleDCStart, ModuleDCStop";
    original_file_name: Option<String>, Plain, "", "Original file name from the version resource.", "ImageID/FileVersion";
    file_version: Option<String>, Dictionary, "", "File version text from the version resource.", "ImageID/FileVersion";
    binary_file_version: Option<String>, Dictionary, "", "Binary file version, such as `10.0.19041.1`.", "ImageID/FileVersion";
    product_version: Option<String>, Dictionary, "", "Product version text.", "ImageID/FileVersion";
    product_name: Option<String>, Dictionary, "", "Product name.", "ImageID/FileVersion";
    company: Option<String>, Dictionary, "", "Company name.", "ImageID/FileVersion";
    description: Option<String>, Plain, "", "File description.", "ImageID/FileVersion";
    build_id: Option<String>, Plain, "", "Build id of an ELF file, lower-case hex digits; from schema 1.2.", "perf MMAP2, HEADER_BUILD_ID";
}

table! {
    ProcessModuleRow in "process_modules", always: true, Timing::Untimed,
    "One mapping of a module into a process. Kernel modules are mapped into the System process, on Linux into the pseudo-process `Kernel`. On Linux a mapping that a process has from its creator has no row of its own.";
    process: ProcessId, Plain, "", "The process.", "Image/Load ProcessId";
    module: ModuleId, Plain, "", "The module.", "`modules`";
    base: i64, Plain, "", "Base address: where offset 0 of the module lies, or would lie; addresses above 2^63 are negative.", "Image/Load ImageBase; perf MMAP, MMAP2 addr - pgoff";
    size: i64, Plain, "bytes", "Size of the mapping.", "Image/Load ImageSize";
    load: Option<i64>, Plain, "ns", "Load inside the recording; null: loaded before.", "time of Image/Load";
    unload: Option<i64>, Plain, "ns", "Unload inside the recording; null: stays loaded.", "time of Image/Unload";
}
