//! Processes, threads, modules and the mappings of modules.

use crate::ids::{ModuleId, ProcessId, ThreadId};
use crate::row;

/// How the recording came to know of a process or thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(i8)]
pub enum Origin {
    /// A start or end record was seen.
    #[default]
    Event = 0,
    /// Known from rundown only: it lived from end to end.
    Rundown = 1,
    /// No record of its own; inferred from records that carry its id.
    Inferred = 2,
    /// Made by the model: the pseudo-process `DPC/ISR`, parts of the system such as its caches.
    Pseudo = 3,
}

row! {
    /// One process instance: a pid that is used again is another row.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct ProcessRow in "processes", always: true, since: 0, Untimed() {
        /// Row id, in the order of first occurrence.
        process: ProcessId, Delta, "", "made by the extract";
        /// Process id of the operating system.
        pid: i64, Plain, "", "Process/Start ProcessId";
        /// File name of the image, such as `FileWriter.exe`; on Linux the last name of the first
        /// thread, in full where the kernel cut it at 15 bytes and the file of the program begins
        /// with it; `pid N` when nothing named it.
        name: String, Plain, "", "Process/Start ImageFileName; perf COMM, MMAP2";
        /// Command line; on Linux the path of the program that it started last, where the recording
        /// has it.
        command_line: Option<String>, Plain, "", "Process/Start CommandLine; sched:sched_process_exec filename";
        /// Process id of the creator.
        parent_pid: Option<i64>, Plain, "", "Process/Start ParentId";
        /// The creator, when it was alive at the start of this process.
        parent: Option<ProcessId>, Plain, "", "`processes`";
        /// Terminal-services session.
        session: Option<i32>, Plain, "", "Process/Start SessionId";
        /// Security identifier of the owner, such as `S-1-5-18`.
        user: Option<String>, Dictionary, "", "Process/Start UserSID";
        /// Full name of the app package.
        package: Option<String>, Dictionary, "", "Process/Start PackageFullName (from version 4)";
        /// Application user model id.
        application: Option<String>, Dictionary, "", "Process/Start ApplicationId (from version 4)";
        /// Start inside the recording; null: it ran before.
        start: Option<i64>, Plain, "ns", "time of Process/Start";
        /// End inside the recording; null: it runs on.
        end: Option<i64>, Plain, "ns", "time of Process/Stop";
        /// Exit status, when the end was seen.
        exit_code: Option<i32>, Plain, "", "Process/Stop ExitStatus";
        /// Whether it is a 32-bit process on a 64-bit system.
        wow64: Option<bool>, Plain, "", "Process Flags (from version 4)";
        /// Source of the row: 0 a start or end record, 1 rundown only, 2 inferred from records that
        /// carry its id, 3 made by the model (`DPC/ISR`).
        origin: Origin, Dictionary, "", "made by the extract";
        /// Path of its control group, as its last sample shows it (`perf record --all-cgroups`).
        cgroup: Option<String>, Dictionary, "", "PERF_RECORD_CGROUP, perf sample cgroup", since: 3;
        /// Id of the container that this group belongs to: docker, podman, containerd, CRI-O, LXC.
        container: Option<String>, Dictionary, "", "path of the control group", since: 3;
        /// Inode of its pid namespace (`perf record --namespaces`); the processes of a container
        /// share one.
        pid_namespace: Option<i64>, Dictionary, "", "PERF_RECORD_NAMESPACES", since: 3;
    }
}

row! {
    /// One thread instance: a tid that is used again is another row. The idle thread is one row per
    /// CPU.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct ThreadRow in "threads", always: true, since: 0, Untimed() {
        /// Row id, in the order of first occurrence.
        thread: ThreadId, Delta, "", "made by the extract";
        /// The process of the thread.
        process: ProcessId, Plain, "", "Thread/Start ProcessId";
        /// Thread id of the operating system; 0 for the idle threads.
        tid: i64, Plain, "", "Thread/Start TThreadId";
        /// Thread name (description).
        name: Option<String>, Plain, "", "Thread/SetName ThreadName; perf COMM";
        /// Start inside the recording; null: it ran before.
        start: Option<i64>, Plain, "ns", "time of Thread/Start";
        /// End inside the recording; null: it runs on.
        end: Option<i64>, Plain, "ns", "time of the Thread/CSwitch that leaves it Terminated, else of Thread/Stop";
        /// Base priority at the start or in the rundown, whichever is first.
        base_priority: Option<i8>, Plain, "", "Thread/Start BasePriority (from version 3)";
        /// Service tag: the key of the service that a thread of a service host works for.
        service_tag: Option<i64>, Plain, "", "Thread/Start SubProcessTag";
        /// Name of that service.
        service: Option<String>, Dictionary, "", "SystemConfig/Services";
        /// Win32 start address; addresses above 2^63 are negative.
        start_address: Option<i64>, Plain, "", "Thread/Start Win32StartAddr";
        /// CPU of an idle thread.
        idle_cpu: Option<i16>, Plain, "", "made by the extract";
        /// Source of the row; values as in `processes`.
        origin: Origin, Dictionary, "", "made by the extract";
    }
}

row! {
    /// One image file by name, size and time stamp (on Linux by path and build id), however often
    /// it is mapped.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct ModuleRow in "modules", always: true, since: 0, Untimed() {
        /// Row id, in the order of first occurrence.
        module: ModuleId, Delta, "", "made by the extract";
        /// File name, such as `ntdll.dll`.
        name: String, Plain, "", "Image/Load FileName";
        /// Path, with drive letter where the volume mapping is known, else as recorded.
        path: String, Plain, "", "Image/Load FileName, SysConfig/VolumeMapping";
        /// Size of the image in memory.
        size: i64, Plain, "bytes", "Image/Load ImageSize";
        /// Time stamp of the PE header; with `size` the identity of the image.
        time_date_stamp: Option<i64>, Plain, "s", "Image/Load TimeDateStamp";
        /// Checksum of the PE header.
        checksum: Option<i64>, Plain, "", "Image/Load ImageChecksum";
        /// Name of the PDB, from the CodeView record (RSDS).
        pdb_name: Option<String>, Plain, "", "ImageID/DbgID_RSDS";
        /// GUID of the PDB, lower case with dashes.
        pdb_guid: Option<String>, Plain, "", "ImageID/DbgID_RSDS";
        /// Age of the PDB.
        pdb_age: Option<i32>, Plain, "", "ImageID/DbgID_RSDS";
        /// Name of the managed PDB of a precompiled image.
        managed_pdb_name: Option<String>, Plain, "", "Loader/ModuleLoad, ModuleDCStart, ModuleDCStop";
        /// GUID of the managed PDB.
        managed_pdb_guid: Option<String>, Plain, "", "Loader/ModuleLoad, ModuleDCStart, ModuleDCStop";
        /// Age of the managed PDB.
        managed_pdb_age: Option<i32>, Plain, "", "Loader/ModuleLoad, ModuleDCStart, ModuleDCStop";
        /// Original file name from the version resource.
        original_file_name: Option<String>, Plain, "", "ImageID/FileVersion";
        /// File version text from the version resource.
        file_version: Option<String>, Dictionary, "", "ImageID/FileVersion";
        /// Binary file version, such as `10.0.19041.1`.
        binary_file_version: Option<String>, Dictionary, "", "ImageID/FileVersion";
        /// Product version text.
        product_version: Option<String>, Dictionary, "", "ImageID/FileVersion";
        /// Product name.
        product_name: Option<String>, Dictionary, "", "ImageID/FileVersion";
        /// Company name.
        company: Option<String>, Dictionary, "", "ImageID/FileVersion";
        /// File description.
        description: Option<String>, Plain, "", "ImageID/FileVersion";
        /// Build id of an ELF file, lower-case hex digits.
        build_id: Option<String>, Plain, "", "perf MMAP2, HEADER_BUILD_ID", since: 2;
    }
}

row! {
    /// One mapping of a module into a process. Kernel modules are mapped into the System process,
    /// on Linux into the pseudo-process `Kernel`. On Linux a mapping that a process inherits from
    /// its creator has no row of its own.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct ProcessModuleRow in "process_modules", always: true, since: 0, Untimed() {
        /// The process.
        process: ProcessId, Plain, "", "Image/Load ProcessId";
        /// The module.
        module: ModuleId, Plain, "", "`modules`";
        /// Base address: where offset 0 of the module lies, or would lie; addresses above 2^63 are
        /// negative.
        base: i64, Plain, "", "Image/Load ImageBase; perf MMAP, MMAP2 addr - pgoff";
        /// Size of the mapping.
        size: i64, Plain, "bytes", "Image/Load ImageSize";
        /// Load inside the recording; null: loaded before.
        load: Option<i64>, Plain, "ns", "time of Image/Load";
        /// Unload inside the recording; null: stays loaded.
        unload: Option<i64>, Plain, "ns", "time of Image/Unload";
    }
}
