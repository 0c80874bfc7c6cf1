//! Page faults of Windows, recorded byte by byte.

use tracesift_etl::write::payload::{Bytes, ContextSwitch, Stack, thread_state};
use tracesift_etl::write::{Head, Hook, PointerSize, SessionOptions, Writer};
use tracesift_extract::{Options, TableChoice};
use tracesift_testing::recording::Recording;
use tracesift_trace::rows::{FrameRow, HardFaultRow, PageFaultRow, StackRow, ThreadRow, page_fault_kinds};

const KERNEL: u64 = 0x8000_1000;

fn kernel_address(pointers: PointerSize) -> u64 {
    match pointers {
        PointerSize::Four => KERNEL,
        PointerSize::Eight => KERNEL | 0xFFFF_F800_0000_0000,
    }
}

#[test]
fn each_kind_has_its_thread_address_and_instruction() {
    for pointers in [PointerSize::Four, PointerSize::Eight] {
        let kernel = kernel_address(pointers);
        let session = SessionOptions { pointer_size: pointers, ..SessionOptions::default() };
        let zero = session.zero_ticks;
        let mut out = Writer::create(std::io::Cursor::new(Vec::new()), session.clone()).expect("a recording is begun");
        let mut record = |ticks: i64, head: &Head<'_>, encode: &dyn Fn(&mut Bytes)| {
            let mut bytes = Bytes::new(pointers);
            encode(&mut bytes);
            out.record(0, zero + ticks, head, bytes.as_slice()).expect("written");
        };
        let fault = |address: u64, counter: u64| {
            move |out: &mut Bytes| {
                out.pointer(address);
                out.pointer(counter);
            }
        };
        let asked = |opcode: u8| Head::System { hook: Hook::new(2, opcode, 2), pid: 7, tid: 8 };
        let short = |opcode: u8| Head::Perfinfo { hook: Hook::new(2, opcode, 2), counters: &[] };
        // Nobody is known to run.
        record(5, &short(10), &fault(0x10, 0x20));
        for opcode in 10..=15_u8 {
            record(10 + i64::from(opcode), &asked(opcode), &fault(0x1000 * u64::from(opcode), 0x2000));
        }
        record(28, &Head::Perfinfo { hook: Stack::HOOK, counters: &[] }, &|out| {
            Stack { event_time: zero + 25, pid: 7, tid: 8, frames: &[0x2000, 0x3000] }.encode(out);
        });
        let switch =
            ContextSwitch { new_tid: 9, old_tid: 8, old_state: thread_state::WAITING, ..ContextSwitch::default() };
        record(30, &Head::Perfinfo { hook: ContextSwitch::HOOK, counters: &[] }, &|out| switch.encode(out));
        record(31, &short(11), &fault(0x5000, kernel));
        // Not the bytes of a fault.
        record(32, &short(11), &|out| out.u32(1));
        let bytes = out.finish(session.start_filetime + 1_000).expect("finished").into_inner();
        let extracted = Recording::of("faults.etl", &bytes).extract();
        let archive = &extracted.archive;
        let rows: Vec<PageFaultRow> = archive.rows().expect("faults");
        let threads: Vec<ThreadRow> = archive.rows().expect("threads");
        let found: Vec<_> = rows
            .iter()
            .map(|row| (row.time, row.kind, row.address, row.kernel, threads[row.thread.index()].tid, row.weight))
            .collect();
        let mut expected: Vec<_> = (0..6_i8)
            .map(|at| {
                let (time, address) = (2_000 + 100 * i64::from(at), 0x1000 * (10 + i64::from(at)));
                (time, page_fault_kinds::TRANSITION + at, Some(address), Some(false), 8, 1)
            })
            .collect();
        expected.push((3_100, page_fault_kinds::DEMAND_ZERO, Some(0x5000), Some(true), 9, 1));
        assert_eq!(found, expected, "{pointers:?}");
        // The last of the six has a stack, the others their instruction.
        let frames: Vec<FrameRow> = archive.rows().expect("frames");
        let stacks: Vec<StackRow> = archive.rows().expect("stacks");
        let address = |frame: tracesift_trace::FrameId| frames[frame.index()].address;
        let instruction = rows[0].frame.and_then(address);
        assert_eq!((rows[0].stack, instruction), (None, Some(0x2000)));
        assert_eq!((rows[5].frame, rows[5].kind), (None, page_fault_kinds::ACCESS_VIOLATION));
        let stack = stacks.iter().find(|stack| Some(stack.stack) == rows[5].stack).expect("a stack");
        assert_eq!(stack.frames.iter().map(|frame| address(*frame)).collect::<Vec<_>>(), [Some(0x2000), Some(0x3000)]);
        assert_eq!(archive.rows::<HardFaultRow>().expect("hard faults"), []);
        let health = &extracted.report.health;
        assert_eq!(health.get("page_faults_without_thread"), 1, "{health:?}");
        // Switches tell whose fault it is, also where their table is not wanted.
        let options = Options { tables: TableChoice::only(&["page_faults"]), ..Options::default() };
        let alone = Recording::of("faults.etl", &bytes).extract_with(&options);
        let of_whom = |rows: &[PageFaultRow]| rows.iter().map(|row| (row.time, row.thread)).collect::<Vec<_>>();
        assert_eq!(of_whom(&alone.archive.rows().expect("faults")), of_whom(&rows));
    }
}
