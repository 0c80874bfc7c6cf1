//! The one table: ETWAnalyzer's columns, question by question, with ours behind them.

use tracesift_ask::answer::Answer;

use super::cell::{As, Source};

/// A column of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct CsvColumn {
    /// Its name there; `{first}` and `{last}` stand for formats of times, `{level}` for the number of parts of a directory.
    pub(super) name: &'static str,
    /// Its text.
    pub(super) source: Source,
}

/// The questions with such files.
pub(super) const QUESTIONS: &[&str] = &[
    "cpu",
    "process",
    "version",
    "stats",
    "disk",
    "file",
    "dns",
    "exception",
    "mark",
    "memory",
    "pmc",
    "tcp",
    "virtualalloc",
];

/// The columns of an answer; `None` where ETWAnalyzer writes no such file.
pub(super) fn of(answer: &Answer) -> Option<&'static [CsvColumn]> {
    let has = |key: &str| answer.columns.iter().any(|column| column.key == key);
    match answer.question {
        "cpu" if has("method") => Some(METHODS),
        "cpu" => Some(CPU),
        "process" => Some(PROCESS),
        "version" if answer.rows().any(|row| of_a_process(answer, row)) => Some(VERSION_PER_PROCESS),
        "version" => Some(VERSION),
        "stats" => Some(STATS),
        "disk" if has("total_service_ns") => Some(DISK),
        "file" if has("open_close_ns") => Some(FILE),
        "dns" if has("answer") => Some(DNS),
        "exceptions" if has("hresult") => Some(EXCEPTIONS),
        "memory" if has("diff_working_set") => Some(MEMORY),
        "mark" if has("since_zero_ns") => Some(MARK),
        "pmc" if has("mhz") => Some(PMC),
        "tcp" if has("connections") => Some(TCP),
        "virtualalloc" if has("not_released") => Some(ALLOCATIONS),
        _ => None,
    }
}

fn of_a_process(answer: &Answer, row: &[tracesift_ask::answer::Value]) -> bool {
    let at = answer.columns.iter().position(|column| column.key == "pid");
    at.and_then(|at| row.get(at)).is_some_and(|pid| *pid != tracesift_ask::answer::Value::None)
}

const fn options() -> CsvColumn {
    CsvColumn { name: "CSVOptions", source: Source::Options }
}

const fn nothing(name: &'static str) -> CsvColumn {
    CsvColumn { name, source: Source::Nothing }
}

const fn of_key(name: &'static str, keys: &'static [&'static str], how: As) -> CsvColumn {
    CsvColumn { name, source: Source::Of(keys, how) }
}

const fn plain(name: &'static str, keys: &'static [&'static str]) -> CsvColumn {
    of_key(name, keys, As::Plain)
}

const fn process(name: &'static str) -> CsvColumn {
    CsvColumn { name, source: Source::Process }
}

const CPU: &[CsvColumn] = &[
    options(),
    plain("TestCase", &["test"]),
    of_key("Date", &["date"], As::Date),
    plain("Test Time in ms", &["test_ms"]),
    of_key("CPU ms", &["cpu_ns", "run_ns"], As::Milliseconds),
    of_key("Average Priority", &["priority"], As::Tenths),
    plain("#Cores", &["cores_used"]),
    nothing("Baseline"),
    process("Process"),
    plain("ParentPid", &["parent_pid"]),
    plain("ProcessName", &["process"]),
    of_key("Start Time", &["start_ns"], As::Local),
    plain("CommandLine", &["command_line"]),
    of_key("SourceJsonFile", &["file"], As::FileStem),
    of_key("SourceDirectory", &["file"], As::Directory),
    of_key("IsNewProcess", &["start_ns"], As::IsThere),
    plain("FileVersion", &["binary_file_version"]),
    plain("VersionString", &["file_version"]),
    plain("ProductVersion", &["product_version"]),
    plain("ProductName", &["product"]),
    plain("Description", &["description"]),
    of_key("Directory", &["path"], As::Directory),
];

const METHODS: &[CsvColumn] = &[
    options(),
    plain("Test Case", &["test"]),
    of_key("Date", &["date"], As::Date),
    plain("Test Time in ms", &["test_ms"]),
    plain("Module", &["module"]),
    plain("Method", &["method", "stack_tag"]),
    of_key("CPU ms", &["cpu_ns", "run_ns"], As::Milliseconds),
    of_key("Wait ms", &["wait_ns"], As::Milliseconds),
    of_key("Ready ms", &["ready_ns"], As::Milliseconds),
    of_key("Ready Average us", &["ready_average_ns"], As::Microseconds),
    nothing("CPU ms Efficiency Class 0"),
    nothing("Average Frequency Efficiency Class 0"),
    nothing("FrequencyRelativeToNominal % Efficiency Class 0"),
    nothing("UsedCores Class 0"),
    nothing("CPU ms Efficiency Class 1"),
    nothing("Average Frequency Efficiency Class 1"),
    nothing("FrequencyRelativeToNominal % Efficiency Class 1"),
    nothing("UsedCores Class 1"),
    nothing("Enabled Cores"),
    plain("# Threads", &["threads"]),
    // That of the process there; ours is of the method's own samples, another figure.
    nothing("Average Priority"),
    nothing("Baseline"),
    process("Process"),
    plain("ProcessName", &["process"]),
    plain("Session", &["session"]),
    of_key("Start Time", &["start_ns"], As::Local),
    // CPU weighted by the mean depth there, which no row of ours has.
    nothing("StackDepth"),
    of_key("FirstLastCall Duration in s", &["duration_ns"], As::Seconds),
    of_key("First Call time in {first}", &["first_ns"], As::First),
    of_key("Last Call time in {last}", &["last_ns"], As::Last),
    plain("CommandLine", &["command_line"]),
    plain("SourceFile", &["file"]),
    of_key("IsNewProcess", &["start_ns"], As::IsThere),
    CsvColumn { name: "Module and Driver Info", source: Source::ModuleInfo },
    nothing("DeepSleep Ready Min us"),
    nothing("NonDeepSleep Ready Min us"),
    of_key("DeepSleep Ready Max us", &["ready_deep_sleep_max_ns"], As::FineMicroseconds),
    of_key("NonDeepSleep Ready Max us", &["ready_other_max_ns"], As::FineMicroseconds),
    nothing("DeepSleep Ready 5% Percentile us"),
    nothing("NonDeepSleep Ready 5% Percentile us"),
    nothing("DeepSleep Ready 25% Percentile us"),
    nothing("NonDeepSleep Ready 25% Percentile us"),
    of_key("DeepSleep Ready 50% Percentile us (Median)", &["ready_deep_sleep_p50_ns"], As::FineMicroseconds),
    of_key("NonDeepSleep Ready 50% Percentile us (Median)", &["ready_other_p50_ns"], As::FineMicroseconds),
    of_key("DeepSleep Ready 90% Percentile us", &["ready_deep_sleep_p90_ns"], As::FineMicroseconds),
    of_key("NonDeepSleep Ready 90% Percentile us", &["ready_other_p90_ns"], As::FineMicroseconds),
    of_key("DeepSleep Ready 95% Percentile us", &["ready_deep_sleep_p95_ns"], As::FineMicroseconds),
    of_key("NonDeepSleep Ready 95% Percentile us", &["ready_other_p95_ns"], As::FineMicroseconds),
    of_key("DeepSleep Ready 99% Percentile us", &["ready_deep_sleep_p99_ns"], As::FineMicroseconds),
    of_key("NonDeepSleep Ready 99% Percentile us", &["ready_other_p99_ns"], As::FineMicroseconds),
    // In this order there.
    nothing("NonDeepSleep Sum for > 99% Percentile us"),
    nothing("DeepSleep Sum for > 99% Percentile us"),
    nothing("NonDeepSleep Sum us"),
    nothing("DeepSleep Sum us"),
    plain("DeepSleep Ready Count", &["ready_deep_sleep_count"]),
    plain("NonDeepSleep Ready Count", &["ready_other_count"]),
    plain("Context Switch Count", &["switches"]),
];

const DISK: &[CsvColumn] = &[
    options(),
    plain("TestCase", &["test"]),
    of_key("Date", &["date"], As::Date),
    plain("Test Time in ms", &["test_ms"]),
    nothing("Baseline"),
    plain("Level{level}Directory", &["path", "dir", "drive"]),
    of_key("DiskTotalTimeIOInus", &["total_service_ns"], As::Microseconds),
    of_key("DiskReadTimeInus", &["read_service_ns"], As::Microseconds),
    of_key("DiskWriteTimeInus", &["write_service_ns"], As::Microseconds),
    of_key("DiskFlushTimeInus", &["flush_service_ns"], As::Microseconds),
    plain("DiskWrittenBytes", &["write_bytes"]),
    plain("DiskReadBytes", &["read_bytes"]),
    of_key("DiskReadPerf MB/s", &["read_throughput"], As::Tenths),
    of_key("DiskWritePerf MB/s", &["write_throughput"], As::Tenths),
    of_key("% Active", &["active_percent"], As::Tenths),
    of_key("DiskNumber", &["disk", "disk_numbers"], As::Names),
    of_key("Processes", &["who", "process_names"], As::Names),
    of_key("SourceDirectory", &["file"], As::Directory),
    of_key("SourceJsonFile", &["file"], As::FileStem),
];

const FILE: &[CsvColumn] = &[
    options(),
    plain("TestCase", &["test"]),
    of_key("Date", &["date"], As::Date),
    plain("Test Time in ms", &["test_ms"]),
    nothing("Baseline"),
    process("Process"),
    plain("ProcessName", &["process"]),
    CsvColumn { name: "File Directory", source: Source::FileDirectory },
    of_key("FileName", &["path"], As::FileName),
    plain("Open Count", &["opens"]),
    of_key("Open Duration us", &["open_ns"], As::Microseconds),
    plain("Open Status", &["errors"]),
    plain("Close Count", &["closes"]),
    of_key("Close Duration us", &["close_ns"], As::Microseconds),
    plain("Read Count", &["reads"]),
    of_key("Read Duration us", &["read_ns"], As::Microseconds),
    plain("Read Accessed Bytes", &["read_asked"]),
    plain("Read MaxFilePosition", &["read_max_position"]),
    plain("Write Count", &["writes"]),
    of_key("Write Duration us", &["write_ns"], As::Microseconds),
    plain("Write Accessed Bytes", &["write_asked"]),
    plain("Write MaxFilePosition", &["write_max_position"]),
    plain("SetSecurity Count", &["set_security"]),
    nothing("SetSecurity Times"),
    plain("File Delete Count", &["deletes"]),
    plain("File Rename Count", &["renames"]),
    of_key("File Open Close Time Duration (us)", &["open_close_ns"], As::Microseconds),
    plain("CommandLine", &["command_line"]),
];

/// The last reading of each process; there the first one has a row, too.
const MEMORY: &[CsvColumn] = &[
    options(),
    of_key("Time", &["last_ns"], As::Local),
    process("Process"),
    plain("ProcessName", &["process"]),
    plain("Session", &["session"]),
    of_key("Commit MiB", &["commit"], As::Mebibytes),
    of_key("Shared CommitMiB", &["shared_commit"], As::Mebibytes),
    of_key("Working Set MiB", &["working_set"], As::Mebibytes),
    of_key("Working Set Private MiB", &["private_working_set"], As::Mebibytes),
    plain("CommandLine", &["command_line"]),
    nothing("Baseline"),
    plain("TestCase", &["test"]),
    plain("Test Time in ms", &["test_ms"]),
    of_key("SourceJsonFile", &["file"], As::FileStem),
    plain("Machine", &["machine"]),
];

/// A row per query there.
const DNS: &[CsvColumn] = &[
    options(),
    plain("TestCase", &["test"]),
    of_key("Date", &["date"], As::Date),
    plain("Test Time in ms", &["test_ms"]),
    nothing("Baseline"),
    process("Process"),
    plain("ProcessName", &["process"]),
    plain("DNS Query", &["name"]),
    plain("Query StatusCode", &["status_code"]),
    CsvColumn { name: "TimedOut", source: Source::TimedOut },
    of_key("Start Time", &["start"], As::Time),
    of_key("Duration in s", &["duration_ns"], As::Seconds),
    plain("Queried Network Adapters", &["adapters"]),
    plain("Server List", &["servers"]),
    plain("DNS Result", &["answer"]),
    plain("CommandLine", &["command_line"]),
];

/// A row per exception there.
const EXCEPTIONS: &[CsvColumn] = &[
    options(),
    of_key("Time", &["time"], As::Time),
    plain("Exception Type", &["type"]),
    plain("Message", &["message"]),
    process("Process"),
    plain("ProcessName", &["process"]),
    plain("Thread", &["tid"]),
    nothing("Session"),
    nothing("Start Time"),
    plain("CommandLine", &["command_line"]),
    of_key("StackTrace", &["stack"], As::Lines),
    plain("TestCase", &["test"]),
    nothing("Baseline"),
    of_key("PerformedAt", &["date"], As::Date),
    of_key("SourceJsonFile", &["file"], As::FileStem),
];

const PROCESS: &[CsvColumn] = &[
    options(),
    plain("TestCase", &["test"]),
    of_key("TestDate", &["date"], As::Date),
    plain("ProcessName", &["process"]),
    process("ProcessName(pid)"),
    plain("Parent ProcessId", &["parent_pid"]),
    plain("Session", &["session"]),
    plain("Return Code", &["exit_status", "exit_code"]),
    of_key("NewProcess", &["start_ns"], As::IsThere),
    of_key("Start Time", &["start_ns"], As::Time),
    of_key("End Time", &["end_ns"], As::Time),
    of_key("LifeTime in minutes", &["duration_ns"], As::Minutes),
    plain("User", &["account"]),
    plain("CommandLine", &["command_line"]),
    nothing("Baseline"),
    plain("SourceFile", &["file"]),
];

const VERSION: &[CsvColumn] = &[
    options(),
    plain("TestCase", &["test"]),
    plain("Test Time in ms", &["test_ms"]),
    plain("Machine", &["machine"]),
    of_key("TestDate", &["date"], As::Date),
    nothing("Main Version"),
    plain("Module", &["module"]),
    plain("Module Version", &["binary_file_version", "file_version"]),
    nothing("ModuleBuildDate"),
    nothing("BuildDate(MainModule - Module) in days"),
    plain("SourceFile", &["file"]),
];

const VERSION_PER_PROCESS: &[CsvColumn] = &[
    options(),
    plain("TestCase", &["test"]),
    plain("Test Time in ms", &["test_ms"]),
    plain("Machine", &["machine"]),
    of_key("TestDate", &["date"], As::Date),
    process("Process"),
    plain("DllName", &["module"]),
    of_key("Dll Path", &["path"], As::Directory),
    CsvColumn { name: "Versions", source: Source::ModuleInfo },
    plain("SourceFile", &["file"]),
];

const STATS: &[CsvColumn] = &[
    options(),
    of_key("TestCase", &["file"], As::TestName),
    of_key("TestDate", &["file"], As::TestDate),
    of_key("Test Time in ms", &["file"], As::TestMs),
    plain("SourceFile", &["file"]),
    plain("Machine", &["machine"]),
    plain("SourceETLFileName", &["member", "file"]),
    nothing("Baseline"),
    nothing("UsedExtractOptions"),
    plain("OSName", &["os_name"]),
    nothing("WinSatOSName"),
    nothing("OSBuild"),
    plain("OSVersion", &["os_build"]),
    plain("MemorySizeMB", &["memory_mib"]),
    plain("NumberOfProcessors", &["cpu_count"]),
    nothing("CPUProcessorGroups"),
    plain("CPUSpeedMHz", &["cpu_mhz"]),
    of_key("SessionStart", &["start_time_utc"], As::LocalOfUtc),
    of_key("SessionEnd", &["end_time_utc"], As::LocalOfUtc),
    of_key("BootTime", &["boot_time_utc"], As::LocalOfUtc),
    nothing("Model"),
    nothing("AdDomain"),
    nothing("IsDomainJoined"),
    nothing("DisplaysHorizontalResolution"),
    nothing("DisplaysVerticalResolution"),
    nothing("DisplayNames"),
    nothing("MainModuleVersion"),
    nothing("Network"),
    nothing("DisplaysMemoryMiB"),
];

const TCP: &[CsvColumn] = &[
    options(),
    of_key("Directory", &["file"], As::Directory),
    of_key("FileName", &["file"], As::FileStem),
    of_key("Date", &["date"], As::Date),
    plain("Test Case", &["test"]),
    plain("Test Time in ms", &["test_ms"]),
    nothing("Baseline"),
    process("Process"),
    plain("ProcessName", &["process"]),
    nothing("Start Time"),
    nothing("End Time"),
    nothing("Duration in s"),
    plain("SourceIP", &["local"]),
    plain("Source Port", &["local-port"]),
    plain("DestinationIP", &["remote"]),
    plain("Destination Port", &["remote-port"]),
    plain("TCB", &["tcb"]),
    plain("ConnectionIdx", &["connection_id"]),
    plain("Sent Packets (Total per connection)", &["sent_packets"]),
    plain("Sent Bytes (Total per connection)", &["sent_bytes"]),
    plain("Received Packets (Total per connection)", &["received_packets"]),
    plain("Received Bytes (Total per connection)", &["received_bytes"]),
    plain("Retransmitted Packets (Total per connection)", &["retransmits"]),
    of_key("% Retransmitted Packets (Total per connection)", &["retransmit_percent"], As::Tenths),
    plain("TCP Template", &["template"]),
    of_key("Connection Open Time", &["start_ns"], As::Time),
    of_key("Connection Close Time", &["end_ns"], As::Time),
    of_key("Client Reset Time", &["reset_ns"], As::Time),
    of_key("Last Sent Time", &["last_sent_ns"], As::Time),
    of_key("Last Received Time", &["last_received_ns"], As::Time),
    plain("Keep Alive", &["keep_alives"]),
    of_key("Max Receive Delay", &["max_receive_gap_ns"], As::FineSeconds),
    of_key("Max Send Delay", &["max_send_gap_ns"], As::FineSeconds),
    of_key("SendRate (MB/s)", &["send_rate"], As::Mebibytes),
    of_key("ReceiveRate (MB/s)", &["receive_rate"], As::Mebibytes),
    plain("Stat Bytes In", &["stat_bytes_in"]),
    plain("Stat Bytes Out", &["stat_bytes_out"]),
    plain("Stat Segments In", &["stat_segments_in"]),
    plain("Stat Segments Out", &["stat_segments_out"]),
    of_key("Reset Time", &["timed_out_ns"], As::Time),
    plain("Posted Packets", &["posted_packets"]),
    nothing("Injected Packets"),
    plain("CommandLine", &["command_line"]),
];

/// A row per process.
const ALLOCATIONS: &[CsvColumn] = &[
    options(),
    of_key("FileName", &["file"], As::FileStem),
    of_key("Date", &["date"], As::Date),
    plain("TestCase", &["test"]),
    plain("Test Time in ms", &["test_ms"]),
    nothing("Baseline"),
    process("Process"),
    plain("ProcessName", &["process"]),
    nothing("Start Time"),
    plain("CommandLine", &["command_line"]),
    plain("NotReleasedCount", &["not_released"]),
    plain("NotReleasedSizeInBytes", &["not_released_bytes"]),
    plain("CommitCount", &["commits"]),
    plain("CommitSizeInBytes", &["commit_bytes"]),
    plain("FreedCount", &["freed"]),
    plain("FreedSizeInBytes", &["freed_bytes"]),
    plain("MaxCommitSizeInBytes", &["max_commit_bytes"]),
];

const MARK: &[CsvColumn] = &[
    options(),
    of_key("Directory", &["file"], As::Directory),
    of_key("FileName", &["file"], As::FileStem),
    of_key("Date", &["date"], As::Date),
    plain("Test Case", &["test"]),
    plain("Test Time in ms", &["test_ms"]),
    nothing("Baseline"),
    of_key("Mark Time", &["time_ns"], As::Time),
    of_key("Time Diff To Zero in s", &["since_zero_ns"], As::FineSeconds),
    plain("Mark Message", &["text"]),
];

const PMC: &[CsvColumn] = &[
    options(),
    plain("TestCase", &["test"]),
    of_key("Date", &["date"], As::Date),
    plain("Test Time in ms", &["test_ms"]),
    plain("Instructions", &["instructions"]),
    plain("Cycles", &["cycles"]),
    plain("CPI", &["cpi"]),
    plain("Branches", &["branches"]),
    plain("BranchMispredicts", &["branch_mispredicts"]),
    plain("BrMispredict %", &["mispredict_percent"]),
    plain("CacheMisses", &["cache_misses"]),
    plain("LLCReferences", &["llc_references"]),
    plain("CacheMiss %", &["miss_percent"]),
    nothing("Baseline"),
    process("Process"),
    plain("ProcessName", &["process"]),
    plain("CommandLine", &["command_line"]),
    of_key("SourceJsonFile", &["file"], As::FileStem),
    of_key("SourceDirectory", &["file"], As::Directory),
];

#[cfg(test)]
mod tests {
    use tracesift_ask::Ask as _;
    use tracesift_ask::answer::{Column, descriptions};
    use tracesift_ask::question::{
        cpu, disk, exceptions, file, mark, memory, methods, pmc, process, stats, tcp, version, virtualalloc,
    };

    use super::{
        ALLOCATIONS, CPU, CsvColumn, DISK, DNS, EXCEPTIONS, FILE, MARK, MEMORY, METHODS, PMC, PROCESS, STATS, Source,
        TCP, VERSION, VERSION_PER_PROCESS,
    };

    #[test]
    fn columns_of_ours_exist() {
        let check = |what: &str, columns: &[CsvColumn], known: Vec<Column>| {
            for column in columns {
                if let Source::Of(keys, _) = column.source {
                    // One that stands for another where that has nothing may be of another form of the question.
                    let is_known = |key: &&str| known.iter().any(|column| column.key == *key);
                    assert!(keys.iter().all(is_known), "{what}: {}: {keys:?}", column.name);
                }
            }
        };
        check("cpu", CPU, cpu::COLUMNS.descriptions());
        check("methods", METHODS, methods::COLUMNS.descriptions());
        check("process", PROCESS, process::COLUMNS.descriptions());
        check("version", VERSION, version::COLUMNS.descriptions());
        check("version per process", VERSION_PER_PROCESS, version::COLUMNS.descriptions());
        check("stats", STATS, descriptions(stats::COLUMNS));
        check("mark", MARK, mark::COLUMNS.descriptions());
        check("virtualalloc", ALLOCATIONS, virtualalloc::Question::all_columns());
        check("pmc", PMC, pmc::Question::all_columns());
        check("tcp", TCP, tcp::Question::all_columns());
        check("disk", DISK, disk::Question::all_columns());
        check("file", FILE, file::Question::all_columns());
        check("exception", EXCEPTIONS, exceptions::Question::list_columns());
        check("memory", MEMORY, memory::Question::default().columns());
    }

    /// The names that the page on ETWAnalyzer gives, in its order.
    #[test]
    fn names_are_those_of_the_reference() {
        let names = |columns: &[CsvColumn]| columns.iter().map(|column| column.name).collect::<Vec<_>>().join(";");
        assert_eq!(
            names(CPU),
            "CSVOptions;TestCase;Date;Test Time in ms;CPU ms;Average Priority;#Cores;Baseline;Process;ParentPid;ProcessName;\
             Start Time;CommandLine;SourceJsonFile;SourceDirectory;IsNewProcess;FileVersion;VersionString;ProductVersion;\
             ProductName;Description;Directory"
        );
        assert_eq!(
            names(PROCESS),
            "CSVOptions;TestCase;TestDate;ProcessName;ProcessName(pid);Parent ProcessId;Session;Return Code;NewProcess;\
             Start Time;End Time;LifeTime in minutes;User;CommandLine;Baseline;SourceFile"
        );
        assert!(names(METHODS).starts_with(
            "CSVOptions;Test Case;Date;Test Time in ms;Module;Method;CPU ms;Wait ms;Ready ms;Ready Average us;"
        ));
        assert_eq!(METHODS.len(), 57);
        assert!(names(DISK).ends_with(
            ";Level{level}Directory;DiskTotalTimeIOInus;DiskReadTimeInus;DiskWriteTimeInus;DiskFlushTimeInus;DiskWrittenBytes;\
             DiskReadBytes;DiskReadPerf MB/s;DiskWritePerf MB/s;% Active;DiskNumber;Processes;SourceDirectory;SourceJsonFile"
        ));
        assert!(names(FILE).contains(
            ";File Directory;FileName;Open Count;Open Duration us;Open Status;Close Count;Close Duration us;Read Count;\
             Read Duration us;Read Accessed Bytes;Read MaxFilePosition;Write Count;Write Duration us;Write Accessed Bytes;\
             Write MaxFilePosition;SetSecurity Count;SetSecurity Times;File Delete Count;File Rename Count;\
             File Open Close Time Duration (us)"
        ));
        assert!(names(DNS).ends_with(
            ";Process;ProcessName;DNS Query;Query StatusCode;TimedOut;Start Time;Duration in s;Queried Network Adapters;\
             Server List;DNS Result;CommandLine"
        ));
        assert!(names(TCP).ends_with(
            ";SourceIP;Source Port;DestinationIP;Destination Port;TCB;ConnectionIdx;Sent Packets (Total per connection);\
             Sent Bytes (Total per connection);Received Packets (Total per connection);\
             Received Bytes (Total per connection);Retransmitted Packets (Total per connection);\
             % Retransmitted Packets (Total per connection);TCP Template;Connection Open Time;Connection Close Time;\
             Client Reset Time;Last Sent Time;Last Received Time;Keep Alive;Max Receive Delay;Max Send Delay;\
             SendRate (MB/s);ReceiveRate (MB/s);Stat Bytes In;Stat Bytes Out;Stat Segments In;Stat Segments Out;Reset Time;\
             Posted Packets;Injected Packets;CommandLine"
        ));
        assert!(names(PMC).contains(
            ";Test Time in ms;Instructions;Cycles;CPI;Branches;BranchMispredicts;BrMispredict %;CacheMisses;LLCReferences;\
             CacheMiss %;"
        ));
        assert_eq!(
            names(EXCEPTIONS),
            "CSVOptions;Time;Exception Type;Message;Process;ProcessName;Thread;Session;Start Time;CommandLine;StackTrace;\
             TestCase;Baseline;PerformedAt;SourceJsonFile"
        );
        assert!(names(MARK).ends_with(";Mark Time;Time Diff To Zero in s;Mark Message"));
        assert_eq!(
            names(ALLOCATIONS),
            "CSVOptions;FileName;Date;TestCase;Test Time in ms;Baseline;Process;ProcessName;Start Time;CommandLine;\
             NotReleasedCount;NotReleasedSizeInBytes;CommitCount;CommitSizeInBytes;FreedCount;FreedSizeInBytes;\
             MaxCommitSizeInBytes"
        );
        assert_eq!(
            names(MEMORY),
            "CSVOptions;Time;Process;ProcessName;Session;Commit MiB;Shared CommitMiB;Working Set MiB;\
             Working Set Private MiB;CommandLine;Baseline;TestCase;Test Time in ms;SourceJsonFile;Machine"
        );
    }
}
