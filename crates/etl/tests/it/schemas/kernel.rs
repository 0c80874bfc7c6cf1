//! Layouts of kernel classes that no recording at hand holds, byte by byte after the structures that Windows writes.

use crate::schemas::build::classic;
use crate::schemas::shown;

const FILE_IO: u128 = 0x90cbdc39_4a3e_11d1_84f4_0000f80464e3;
const JOB: u128 = 0x3282fc76_feed_498e_8aa7_e70f459d430e;
const LAST_BRANCH: u128 = 0x99134383_5248_43fc_834b_529454e75df3;
const MEMORY: u128 = 0x3d6fa8d3_fe05_11d0_9dda_00c04fd7ba7c;
const OBJECT: u128 = 0x89497f50_effe_4440_8cf2_ce6b1cdcaca7;
const PERF_INFO: u128 = 0xce1dbfb4_137e_4da6_87b0_3f59aa102cbc;
const POWER: u128 = 0xe43445e0_0903_48c3_b878_ff0fccebdd04;
const THREAD: u128 = 0x3d6fa8d1_fe05_11d0_9dda_00c04fd7ba7c;
const THREAD_POOL: u128 = 0xc861d0e2_a2c1_4d36_9f9c_970bab943a12;

/// A payload in the order in which a C compiler lays it out.
#[derive(Default)]
struct Bytes {
    bytes: Vec<u8>,
    pointer_size: usize,
}

impl Bytes {
    fn of(pointer_size: usize) -> Self {
        Self { pointer_size, ..Self::default() }
    }

    /// A number of so many bytes at a multiple of its size; what lies between is anything.
    fn number(mut self, size: usize, value: u64) -> Self {
        self.bytes.resize(self.bytes.len().next_multiple_of(size), 0xee);
        self.bytes.extend(&value.to_le_bytes()[..size]);
        self
    }

    fn pointer(self, value: u64) -> Self {
        let size = self.pointer_size;
        self.number(size, value)
    }

    /// The structure's end: it is as long as a multiple of the alignment.
    fn aligned(mut self, alignment: usize) -> Self {
        self.bytes.resize(self.bytes.len().next_multiple_of(alignment), 0xee);
        self
    }

    fn shown(&self, class: u128, opcode: u8, version: u8) -> String {
        let mut record = classic(class, opcode, version, &self.bytes);
        record[2] = if self.pointer_size == 4 { 0x0a } else { 0x14 };
        shown(&[record])
    }
}

#[test]
fn jobs() {
    let identity = Bytes::of(8).number(8, 0x1111_2222_3333_4444).number(8, 0).number(4, 7);
    assert_eq!(
        identity.number(4, 0x1234).number(4, 2).number(4, 0xc000_0005).shown(JOB, 36, 2),
        "Windows Kernel/Job/RemoveProcess ContainerID=33334444-2222-1111-0000-000000000000 JobID=7 ProcessID=4660 \
        RemovalFlags=0x2 ExitStatus=0xc0000005"
    );
}

#[test]
fn processors_that_go_idle() {
    let enter = Bytes::of(8).number(4, 2).number(2, 0x11).number(1, 3).number(8, 5000);
    assert_eq!(
        enter.shown(POWER, 57, 2),
        "Windows Kernel/Power/IdleStateEnter State=2 Properties=DueInterrupt|PlatformEnter ExpectedWakeReason=3 \
        ExpectedDuration=5000"
    );
    let selection = |reasons: u64| Bytes::of(8).number(4, 1).number(4, reasons);
    assert_eq!(
        selection(2).number(4, 0x8000_0002).number(4, 0x1234).shown(POWER, 61, 2),
        "Windows Kernel/Power/IdleProcessorSelection SelectedState=1 VetoedStates=2 VetoReasons=[SystemLatency, 4660]"
    );
    let hostile = selection(u64::from(u32::MAX)).number(4, 0);
    assert!(hostile.shown(POWER, 61, 2).contains("stopped: field VetoReasons"));
    for pointer_size in [4, 8] {
        assert_eq!(
            Bytes::of(pointer_size).number(4, 90).number(8, 3).shown(POWER, 54, 2),
            "Windows Kernel/Power/PpmThermalConstraint Constraint=90 Processors=0x3"
        );
    }
}

#[test]
fn gaps_between_numbers_and_pointers() {
    for pointer_size in [4, 8] {
        let bytes = || Bytes::of(pointer_size);
        assert_eq!(
            bytes().number(4, 5).pointer(0x1000).number(1, 6).aligned(pointer_size).shown(THREAD, 45, 2),
            "Windows Kernel/Thread/WaitSingle ThreadID=5 Object=0x1000 ObjectType=6"
        );
        assert_eq!(
            bytes()
                .number(4, 1)
                .pointer(0x2000)
                .number(4, 9)
                .number(2, 1)
                .number(1, 2)
                .number(1, 1)
                .shown(PERF_INFO, 55, 2),
            "Windows Kernel/PerfInfo/BatchedSample Entries=1 Samples=[{InstructionPointer=0x2000, ThreadID=9, Count=1, \
            Flags=ExecutingISR, Rank=1}]"
        );
        assert_eq!(
            bytes().number(8, 77).number(4, 5).number(4, 6).number(4, 3).pointer(1).pointer(2).pointer(0).shown(
                LAST_BRANCH,
                32,
                2
            ),
            "Windows Kernel/LastBranchRecording/Sample EventTimeStamp=77 ProcessID=5 ThreadID=6 \
            Filters=FilterKernel|FilterUser Branches=[{FromAddress=0x1, ToAddress=0x2}]"
        );
        // The same as it stands in memory, and without what only fills up.
        for object in [bytes().pointer(0x3000).number(2, 4), bytes().pointer(0x3000).number(2, 4).aligned(pointer_size)]
        {
            assert_eq!(object.shown(OBJECT, 48, 2), "Windows Kernel/Object/CreateObject Object=0x3000 ObjectType=4");
        }
    }
}

#[test]
fn callbacks_of_a_thread_pool_end_as_they_begin() {
    for pointer_size in [4, 8] {
        let callback = (1..=5).fold(Bytes::of(pointer_size), Bytes::pointer);
        for (opcode, name) in [(32, "CBEnqueue"), (33, "CBDequeue"), (34, "CBStart"), (35, "CBStop")] {
            assert_eq!(
                callback.shown(THREAD_POOL, opcode, 2),
                format!(
                    "ThreadPool/ThreadPoolTrace/{name} PoolID=0x1 TaskID=0x2 CallbackFunction=0x3 CallbackContext=0x4 \
                    SubProcessTag=0x5"
                )
            );
        }
    }
}

#[test]
fn working_sets_of_sessions() {
    for pointer_size in [4, 8] {
        let entry = |mut bytes: Bytes, session: u32| {
            // Without gaps.
            bytes.bytes.extend(session.to_le_bytes());
            for pages in 1..=8u64 {
                bytes.bytes.extend(&pages.to_le_bytes()[..pointer_size]);
            }
            bytes
        };
        let text = entry(entry(Bytes::of(pointer_size).number(4, 2), 0), 1).shown(MEMORY, 126, 2);
        let pages = "WorkingSetPageCount=1, CommitPageCount=2, PagedPoolPageCount=3, PrivateWorkingSetPageCount=4, \
            StoreSizePageCount=5, StoredPageCount=6, CommitDebtInPages=7, SharedCommitInPages=8";
        assert_eq!(
            text,
            format!(
                "Windows Kernel/Memory/MemInfoSessionWS Count=2 Sessions=[{{SessionID=0, {pages}}}, {{SessionID=1, {pages}}}]"
            )
        );
    }
}

/// Bytes that Windows wrote; another program's comments have the values.
#[test]
fn handles_objects_and_views() {
    let wide =
        |text: &str| text.encode_utf16().chain([0]).fold(Bytes::of(8), |bytes, unit| bytes.number(2, unit.into()));
    let shown = |class, opcode, version, numbers: &[(usize, u64)], text: &str| {
        let add = |bytes: Bytes, (size, value): &(usize, u64)| bytes.number(*size, *value);
        let mut bytes = numbers.iter().fold(Bytes::of(8), add);
        bytes.bytes.extend(if text.is_empty() { Vec::new() } else { wide(text).bytes });
        bytes.shown(class, opcode, version)
    };
    assert_eq!(
        shown(OBJECT, 33, 2, &[(8, 0xFFFF_C281_94C5_33E0), (4, 0x7A0), (2, 16), (2, 0)], ""),
        "Windows Kernel/Object/CloseHandle Object=0xffffc28194c533e0 Handle=0x7a0 ObjectType=16 ObjectName="
    );
    let duplicate = [(8, 0xFFFF_C283_AEEA_3E60), (4, 0x5648), (4, 0x8000_1DDC), (4, 4), (2, 16), (2, 20_648), (2, 0)];
    assert_eq!(
        shown(OBJECT, 34, 3, &duplicate, ""),
        "Windows Kernel/Object/DuplicateHandle Object=0xffffc283aeea3e60 SourceHandle=0x5648 TargetHandle=0x80001ddc \
        TargetProcessID=4 ObjectType=16 SourceProcessID=20648"
    );
    assert_eq!(
        shown(OBJECT, 37, 2, &[(2, 8), (2, 0)], "Thread"),
        "Windows Kernel/Object/TypeDCEnd ObjectType=8 ObjectTypeName=Thread"
    );
    assert_eq!(
        shown(OBJECT, 39, 2, &[(8, 0xFFFF_810C_862E_09A0), (4, 4), (4, 0x8000_0044), (2, 19)], r"\KernelObjects\Low"),
        "Windows Kernel/Object/HandleDCEnd Object=0xffff810c862e09a0 ProcessID=4 Handle=0x80000044 ObjectType=19 \
        ObjectName=\\KernelObjects\\Low"
    );
    assert_eq!(
        shown(OBJECT, 48, 2, &[(8, 0xFFFF_A889_A613_C800), (2, 48), (2, 0), (4, 0)], ""),
        "Windows Kernel/Object/CreateObject Object=0xffffa889a613c800 ObjectType=48"
    );
    assert_eq!(
        shown(OBJECT, 50, 2, &[(8, 0xFFFF_A889_B33D_24B0), (4, 0x746c_6644), (4, 1)], ""),
        "Windows Kernel/Object/ReferenceObject Object=0xffffa889b33d24b0 Tag=Dflt Count=1"
    );
    let view =
        [(8, 0x2B9_3E7E_0000), (8, 0xFFFF_8208_2C3F_FB70), (8, 0xC1_0000_0000_0000), (8, 0x1000), (8, 0), (4, 6528)];
    assert_eq!(
        shown(FILE_IO, 37, 3, &view, ""),
        "Windows Kernel/FileIO/MapFile ViewBase=0x2b93e7e0000 FileKey=0xffff82082c3ffb70 MiscInfo=0xc1000000000000 \
        ViewSize=4096 ByteOffset=0 ProcessID=6528"
    );
}
