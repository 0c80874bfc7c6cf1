//! Where each command line of the posts runs, and with which row its answer begins.
//!
//! The figures are those of the posts where they state some (7,461 ms of checkpoint, CPI, 12 s of DNS, 1,349 ms of virus scanner), and
//! else those that the recordings were written with: [`super::recordings`], and `tracesift_scenario::story` for the demo.

/// What a line answers with.
pub(super) enum Answer {
    /// An archive, and part of the sentence that tells of it.
    Archive(&'static str, &'static str),
    /// Lines of the answer that follow each other, with one blank between words.
    Rows(&'static [&'static str]),
    /// A file, some of its columns, and their cells in all rows.
    Csv(&'static str, &'static [&'static str], &'static [&'static [&'static str]]),
}

use Answer::{Archive, Csv, Rows};

const SERIALIZERS: &str = "disk/D:/Source/git/SerializerTests/SerializerTestResults/_0_14_06";

/// Of each line, in the order of the file, the working directory and the answer.
pub(super) const LINES: &[(&str, Answer)] = &[
    // Drivers of virus scanners, checkpoints of the file system: profiler driven development.
    (
        "disk",
        Archive(
            "c:/temp/CreateSerial_7066ms_TRACESIFT_CLT_TestStatus-Passed_20220404-103500.sift",
            "78 of 78 frames named",
        ),
    ),
    (
        "demo",
        Rows(&[
            "CreateSerial_14527ms_TRACESIFT_CLT_TestStatus-Passed_20220404-102500 2022-04-04 10:25:00",
            "System(4)",
            r"538.0 0.0 0.0 File system\Cache manager\Write behind",
            r"857.0 6,604.0 0.0 File system\NTFS\NTFS Checkpoint Volume",
        ]),
    ),
    // The post adds them up to 7,461 ms.
    (
        "demo",
        Rows(&[
            "CPU ms Wait ms Ready ms Stack tag",
            "System(4) CPU 857.0 ms, wait 6,604.0 ms, ready 0.0 ms",
            r"857.0 6,604.0 0.0 File system\NTFS\NTFS Checkpoint Volume",
        ]),
    ),
    (
        "demo",
        Rows(&[
            "CPU ms Self ms Wait ms Ready ms Method",
            "System(4)",
            r"857.0 857.0 6,604.0 0.0 File system\NTFS\NTFS Checkpoint Volume",
            "873.0 0.0 6,604.0 0.0 Ntfs.sys!NtfsCheckpointVolume",
        ]),
    ),
    (
        "demo",
        Rows(&[
            "CPU ms Wait ms Ready ms Stack tag",
            r"FileWriter.exe(9872) +- FileWriter.exe -generate C:\temp\Test serial",
            "17.0 0.0 0.0 No stack",
        ]),
    ),
    (
        "demo",
        Rows(&[
            "CPU ms Self ms Wait ms Ready ms Last-First s First s Last s Method",
            r"FileWriter.exe(9872) +- FileWriter.exe -generate C:\temp\Test serial",
            "563.0 563.0 0.0 0.0 12.676 0.473 13.149 \
             System.Private.CoreLib.dll!System.Buffers.TlsOverPerCoreLockedStacksArrayPool`1[System.Char].Rent",
        ]),
    ),
    ("placeholder", Rows(&["CPU ms Self ms Wait ms Method", "test.exe(1000) test.exe", "40.0 40.0 0.0 test.exe!xxx"])),
    (
        "demo",
        Rows(&[
            "CPU ms Self ms Wait ms Ready ms Method",
            r"FileWriter.exe(9872) +- FileWriter.exe -generate C:\temp\Test serial",
            "0.0 0.0 740.0 0.0 ntoskrnl.exe!MiIssueHardFault",
        ]),
    ),
    (
        "demo",
        Rows(&[
            "Instructions Cycles CPI Cache misses MPKI MHz Run ms Process",
            "23,445,492,786 28,134,600,000 1.20 97,389,000 4.15 2,600 10,821.0 FileWriter.exe(9872) +-",
        ]),
    ),
    // The first recording lies in both directories.
    (
        "demo",
        Csv(
            "PMC_Summary.csv",
            &["TestCase", "Test Time in ms", "CPI", "SourceDirectory"],
            &[
                &["CreateSerial", "12695", "1.20", "../Take_Test1"],
                &["CreateSerial", "12695", "1.20", ""],
                &["CreateParallel", "11024", "1.20", ""],
                &["CreateSerial", "14527", "0.88", ""],
                &["CreateParallel", "9156", "0.90", ""],
                &["CreateSerial", "7066", "0.69", ""],
                &["CreateParallel", "3135", "0.71", ""],
            ],
        ),
    ),
    // Processors with two kinds of cores.
    (
        "demo",
        Rows(&[
            "power settings 55, settings that differ 3",
            "Setting Balanced FastCoresFirst",
            "processor",
            "Heterogeneous policy 4 3",
        ]),
    ),
    // The files below the limit show 0, and are those that the post looks for.
    (
        "hybrid",
        Rows(&[
            "E_Cores_Normal 2022-04-04 12:15:00 CPU 0.0 ms, samples 0, processes 0",
            "P_Cores_Normal 2022-04-04 12:15:00 CPU 120,000.0 ms, samples 240, processes 1",
        ]),
    ),
    // Many slow calls.
    ("failing", Archive("test.sift", "42 samples")),
    (
        "disk",
        Rows(&[
            "Process Module Processes File version Product version Product Path",
            r"ManySlowCalls.exe(500) coreclr.dll 1 7.0.323.6910 7.0.323.6910 Microsoft .NET C:\Programs\coreclr.dll",
        ]),
    ),
    (
        "drivers",
        Rows(&[
            "Intercepted 2022-04-04 12:15:00 CPU 150,000.0 ms, wait 0.0 ms",
            "CPU ms Self ms Wait ms Method File version Product version Product Company Description Driver vendor \
             Driver category",
            "SlowCalls.exe(600) CPU 150,000.0 ms, wait 0.0 ms SlowCalls.exe",
            "150,000.0 150,000.0 0.0 tedrdrv.sys!tedrdrv.sys+0x1080 8.0.1.32767 8.0.1.32767 Cortex XDR Example Ltd. \
             tedrdrv of a post Palo Alto Networks activity monitor",
        ]),
    ),
    // Serializers.
    (
        "disk",
        Archive(
            "D:/Source/git/SerializerTests/SerializerTestResults/_0_14_06/FirstCall.sift",
            "2 of 2 frames named, 2 modules found, 0 not",
        ),
    ),
    (
        SERIALIZERS,
        Csv(
            "FirstCall_Process.csv",
            &["ProcessName", "Start Time", "End Time", "CommandLine"],
            &[
                &[
                    "SerializerTests.exe",
                    "0.100",
                    "0.320",
                    "SerializerTests.exe -test firstcall cross -serializer firstcall#datacontract",
                ],
                &[
                    "SerializerTests.exe",
                    "1.100",
                    "1.555",
                    "SerializerTests.exe -test firstcall ngen -serializer firstcall#datacontract",
                ],
                &[
                    "SerializerTests.exe",
                    "2.100",
                    "2.430",
                    "SerializerTests.exe -test firstcall -serializer firstcall#protobuf",
                ],
            ],
        ),
    ),
    (
        SERIALIZERS,
        Rows(&[
            "CPU ms Samples Cores Priority Start s Stop s Process Command line",
            "220.0 220 1 8.0 0.100 0.320 SerializerTests.exe(710) +- \
             SerializerTests.exe -test firstcall cross -serializer firstcall#datacontract",
            "455.0 455 1 8.0 1.100 1.555 SerializerTests.exe(711) +- \
             SerializerTests.exe -test firstcall ngen -serializer firstcall#datacontract",
        ]),
    ),
    (
        SERIALIZERS,
        Rows(&[
            "CPU ms Samples Cores Priority Process Module File version Product version Product Company Description",
            "455.0 455 1 8.0 SerializerTests.exe(711) +- SerializerTests.exe 1.0.0.0 1.0.0.0 protobuf Example Ltd. \
             SerializerTests of a post",
        ]),
    ),
    // Slow browsing.
    ("disk", Archive("c:/temp/SlowBrowsing_Skyrmion.sift", "60 events")),
    (
        "disk/c:/temp",
        Rows(&[
            "Processes Total ms Longest ms Queries Timed out Failed Name Statuses",
            "1 12,038.0 12,038.0 4 2 0 graph.oculus.com found 4",
        ]),
    ),
    (
        "disk/c:/temp",
        Rows(&[
            "1 12,038.0 12,038.0 4 2 0 graph.oculus.com found 4",
            "Start s Duration ms Process Name Type Status Late servers Servers Answer",
            "38.416 0.0 OVRServer_x64.exe(6624) 6628 graph.oculus.com A found ::ffff:10.0.0.9;",
        ]),
    ),
    (
        "browsing",
        Rows(&[
            "CPU ms Self ms Wait ms Ready ms Last-First s First s Last s Method",
            "firefox.exe(800) firefox.exe",
            "2.0 2.0 10,550.0 0.0 10.552 1.001 11.552 dnsapi.dll!DnsQueryEx",
        ]),
    ),
    // A slow system.
    ("disk", Archive("c:/temp/SlowSystem.sift", "9 of 10 frames named, 8 modules found, 1 not")),
    (
        "disk",
        Rows(&[
            "CPU ms Samples Cores Priority Process Command line",
            "1.0 1 1 8.0 quiet.exe(905) quiet.exe",
            "3.0 3 1 8.0 SearchIndexer.exe(904) SearchIndexer.exe",
        ]),
    ),
    (
        "disk",
        Rows(&[
            "CPU ms Wait ms Ready ms Stack tag",
            "SearchIndexer.exe(904) SearchIndexer.exe",
            r"3.0 40.0 0.0 Antivirus\Windows Defender",
            "cmd.exe(902) cmd.exe",
            r"11.0 1,349.0 0.0 Antivirus\Windows Defender",
        ]),
    ),
    (
        "disk",
        Rows(&[
            "CPU ms Self ms Wait ms Ready ms Method",
            "cmd.exe(902) cmd.exe",
            r"11.0 11.0 1,349.0 0.0 Antivirus\Windows Defender",
            "11.0 0.0 1,349.0 0.0 KERNELBASE.dll!CreateProcessInternalW",
            "explorer.exe(903) explorer.exe",
            r"15.0 15.0 1,600.0 0.0 Antivirus\Windows Defender",
            "15.0 0.0 1,600.0 0.0 KERNELBASE.dll!CreateFileW",
        ]),
    ),
    (
        "disk",
        Rows(&[
            "CPU ms Self ms Wait ms Ready ms Last-First s First Last Method",
            "cmd.exe(902) cmd.exe",
            r"11.0 11.0 1,349.0 0.0 1.360 2022-04-04 12:15:00.500 2022-04-04 12:15:01.860 Antivirus\Windows Defender",
        ]),
    ),
    (
        "disk",
        Rows(&[
            "CPU ms Self ms Wait ms Ready ms Method File version Product version Product Company Description \
             Driver vendor Driver category",
            "cmd.exe(902) cmd.exe",
            "11.0 11.0 1,349.0 0.0 WdFilter.sys!WdFilter.sys+0x1880 4.18.2203.5 4.18.2203.5 \
             Microsoft Windows Operating System Example Ltd. WdFilter of a post Microsoft antivirus",
        ]),
    ),
];
