//! What the machine at hand does not do, in recordings made byte by byte: idle CPUs, other kernels, what is missing.

use tempfile::TempDir;
use tracesift_analysis::{Accounting, RecordingFacts, Span};
use tracesift_perf::Endianness;
use tracesift_trace::rows::{
    ContextSwitchRow, CpuFrequencyRow, CpuIdleStateRow, CpuRow, DiskIoRow, DiskOperation, ModuleRow, switch_flags,
};

use crate::extracted::Extracted;
use tracesift_fixtures::perf_data::Bytes;
use tracesift_fixtures::perf_tracepoints::{FREQUENCY, Format, IDLE, LIMITS, MEASURED, Recording, SWITCH};

/// Id of the control group.
const CGROUP: u64 = 1 << 21;

const WAKING: Format =
    Format { system: "sched", name: "sched_waking", fields: "\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n" };
/// As kernels before 4.13 have it.
const COMPLETE: Format = Format {
    system: "block",
    name: "block_rq_complete",
    fields: "\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n\
        \tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n\tfield:int errors;\toffset:28;\tsize:4;\tsigned:1;\n\
        \tfield:char rwbs[8];\toffset:32;\tsize:8;\tsigned:1;\n",
};
const ISSUE: Format = Format { name: "block_rq_issue", ..COMPLETE };

/// A recording becomes an archive.
pub(crate) trait Extracting {
    /// The archive, read back.
    fn extracted(&self) -> Extracted;
}

impl Extracting for Recording {
    fn extracted(&self) -> Extracted {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("perf.data");
        std::fs::write(&path, self.file()).unwrap();
        if let Some(facts) = &self.facts {
            std::fs::write(path.with_extension("machine.json"), facts).unwrap();
        }
        Extracted::of(&path)
    }
}

#[test]
fn who_wakes_an_idle_cpu_knows_how_deep_it_slept() {
    for endian in [Endianness::LittleEndian, Endianness::BigEndian] {
        let mut recording = Recording::new(endian, vec![IDLE, FREQUENCY, SWITCH]);
        let power = |state: u32, cpu: u32| {
            move |raw: &mut Bytes| {
                raw.u32(state).u32(cpu);
            }
        };
        let switch = |prev: u32, next: u32| {
            move |raw: &mut Bytes| {
                raw.u32(prev).u32(0).u64(1).u32(next).u32(0);
            }
        };
        let leaves = u32::MAX;
        recording
            .sample(2, 5, 1_000, 1, switch(5, 0))
            // Was entered before the recording.
            .sample(0, 0, 1_010, 0, power(leaves, 0))
            .sample(0, 0, 1_020, 1, power(1, 1))
            .sample(0, 0, 1_030, 1, power(leaves, 1))
            .sample(0, 0, 1_040, 1, power(3, 1))
            // From another CPU.
            .sample(1, 7, 1_050, 0, power(2_400_000, 1))
            .sample(0, 0, 1_060, 1, power(leaves, 1))
            .sample(2, 0, 1_070, 1, switch(0, 5))
            .sample(2, 5, 1_080, 1, switch(5, 6))
            .sample(0, 0, 1_090, 0, power(2, 0))
            .sample(0, 0, 1_095, 0, power(4, 0))
            .sample(2, 6, 1_100, 1, switch(6, 5));
        let extracted = recording.extracted();
        let idle = extracted.archive.rows::<CpuIdleStateRow>().unwrap();
        let stay = |cpu, start, time, state| CpuIdleStateRow { time, cpu, start, state };
        // The last one lasts to the end.
        assert_eq!(idle, [stay(1, 20, 30, 1), stay(1, 40, 60, 3), stay(0, 95, 100, 4)], "{endian:?}");
        assert_eq!(extracted.health.get("idle_states_without_end"), 1);
        let rate = CpuFrequencyRow { time: 50, cpu: 1, khz: 2_400_000, ..CpuFrequencyRow::default() };
        assert_eq!(extracted.archive.rows::<CpuFrequencyRow>().unwrap(), [rate]);
        let mut states: Vec<(i64, Option<i8>)> = extracted
            .switches
            .iter()
            .filter(|row| row.cpu.is_some())
            .map(|row| (row.time, row.previous_c_state))
            .collect();
        states.sort_unstable();
        assert_eq!(states, [(0, None), (70, Some(3)), (80, None), (100, None)], "{:?}", extracted.switches);
    }
}

#[test]
fn limits_of_clock_rates_hold_until_the_next_ones() {
    for endian in [Endianness::LittleEndian, Endianness::BigEndian] {
        let mut recording = Recording::new(endian, vec![FREQUENCY, LIMITS]);
        let rate = |khz: u32, cpu: u32| {
            move |raw: &mut Bytes| {
                raw.u32(khz).u32(cpu);
            }
        };
        let limits = |least: u32, most: u32, cpu: u32| {
            move |raw: &mut Bytes| {
                raw.u32(least).u32(most).u32(cpu);
            }
        };
        recording
            // Before its first rate nothing is known that limits could be compared with.
            .sample(1, 7, 1_000, 0, limits(800_000, 3_000_000, 1))
            .sample(0, 7, 1_010, 0, rate(2_000_000, 1))
            .sample(0, 7, 1_020, 0, rate(1_000_000, 0))
            .sample(1, 7, 1_030, 0, limits(800_000, 2_000_000, 1))
            // The same limits once more change nothing.
            .sample(1, 7, 1_040, 0, limits(800_000, 2_000_000, 1))
            .sample(0, 7, 1_050, 0, rate(900_000, 1));
        let extracted = recording.extracted();
        let row = |time, cpu, khz, max_khz: Option<i64>| {
            let min_khz = max_khz.map(|_| 800_000);
            CpuFrequencyRow { time, cpu, khz, max_khz, min_khz, span: None }
        };
        let expected = [
            row(10, 1, 2_000_000, Some(3_000_000)),
            row(20, 0, 1_000_000, None),
            row(30, 1, 2_000_000, Some(2_000_000)),
            row(50, 1, 900_000, Some(2_000_000)),
        ];
        assert_eq!(extracted.archive.rows::<CpuFrequencyRow>().unwrap(), expected, "{endian:?}");
    }
}

#[test]
fn mean_clock_rates_are_of_the_time_since_the_event_before() {
    let facts = r#"{"format": 1, "power": {"limits": [
        {"cpus": "0-1", "base_khz": 2600000, "hardware_max_khz": 4200000, "max_khz": 3000000, "min_khz": 800000}
    ]}}"#;
    for endian in [Endianness::LittleEndian, Endianness::BigEndian] {
        let mut recording = Recording::new(endian, vec![MEASURED, LIMITS]).with_facts("x86_64", facts.to_owned());
        let mean = |khz: u32| {
            move |raw: &mut Bytes| {
                raw.u32(90).u32(0).u32(20).u32(21).u64(7).u64(8).u64(9).u32(khz).u32(0);
            }
        };
        recording
            .sample(0, 5, 1_000, 1, mean(2_000_000))
            .sample(0, 5, 1_010, 0, mean(1_000_000))
            .sample(0, 5, 1_030, 1, mean(3_000_000))
            .sample(1, 7, 1_035, 0, |raw: &mut Bytes| {
                raw.u32(800_000).u32(2_000_000).u32(1);
            })
            .sample(0, 5, 1_040, 1, mean(1_900_000))
            // Of lost events nothing is known.
            .record(2, 0, 1_045, |out: &mut Bytes| {
                out.u64(100).u64(3);
            })
            .sample(0, 5, 1_050, 1, mean(1_500_000))
            .sample(0, 5, 1_070, 1, mean(1_600_000))
            // The driver does not know it.
            .sample(0, 5, 1_080, 1, mean(0));
        let extracted = recording.extracted();
        let row = |time, span, khz, most| CpuFrequencyRow {
            time,
            cpu: 1,
            khz,
            max_khz: Some(most),
            min_khz: Some(800_000),
            span: Some(span),
        };
        let expected =
            [row(30, 30, 3_000_000, 3_000_000), row(40, 10, 1_900_000, 2_000_000), row(70, 20, 1_600_000, 2_000_000)];
        assert_eq!(extracted.archive.rows::<CpuFrequencyRow>().unwrap(), expected, "{endian:?}");
        let rates = |cpu| CpuRow { cpu, nominal_khz: Some(2_600_000), max_khz: Some(4_200_000), ..CpuRow::default() };
        assert_eq!(extracted.archive.rows::<CpuRow>().unwrap(), [rates(0), rates(1)]);
    }
}

/// A kernel that traces nothing in the context of some threads, such as the idle thread of one CPU.
#[test]
fn switch_records_complete_what_the_tracepoint_leaves_out() {
    const CONTEXT_SWITCH: u64 = 1 << 26;
    const GOES: u16 = 1 << 13;
    const IS_PREEMPTED: u16 = 1 << 14;
    use switch_flags::{BROKEN, GAP, OPEN_LEFT, OPEN_RIGHT, PREEMPTED};
    let switch = |prev: u32, state: u64, next: u32| {
        move |raw: &mut Bytes| {
            raw.u32(prev).u32(0).u64(state).u32(next).u32(0);
        }
    };
    let wakes = |pid: u32| {
        move |raw: &mut Bytes| {
            raw.u32(pid).u32(0);
        }
    };
    for endian in [Endianness::LittleEndian, Endianness::BigEndian] {
        let mut recording = Recording::new(endian, vec![SWITCH, WAKING]);
        recording.flags |= CONTEXT_SWITCH;
        recording
            .comm(8, 8, 990, "8")
            .sample(0, 5, 1_000, 1, switch(5, 1, 0))
            .switch_record(GOES, 5, 1_001, 1, 0)
            .switch_record(0, 0, 1_002, 1, 5)
            .sample(1, 7, 1_050, 0, wakes(5))
            // The idle thread goes without a word.
            .switch_record(0, 5, 1_060, 1, 0)
            .sample(0, 5, 1_100, 1, switch(5, 1, 6))
            .switch_record(GOES, 5, 1_101, 1, 6)
            .switch_record(0, 6, 1_102, 1, 5)
            // Only the tracepoint is missing.
            .switch_record(GOES | IS_PREEMPTED, 6, 1_120, 1, 5)
            .switch_record(0, 5, 1_121, 1, 6)
            .sample(0, 5, 1_130, 1, switch(5, 1, 4))
            // Of thread 4 nothing is seen but that 6 comes behind it.
            .switch_record(0, 6, 1_150, 1, 4)
            .sample(0, 6, 1_160, 1, switch(6, 1, 4))
            // The first switch of a CPU: who knows since when 3 was there.
            .switch_record(0, 8, 1_170, 0, 3)
            .sample(0, 4, 1_200, 1, switch(4, 1, 5));
        let extracted = recording.extracted();
        extracted.check_accounts();
        let rows = |tid: i64| -> Vec<(i64, i64, Option<i64>, i16)> {
            let is_it = |row: &&ContextSwitchRow| extracted.threads[row.thread.index()].tid == tid;
            let rows = extracted.switches.iter().filter(is_it);
            rows.map(|row| (row.off_time, row.time, row.ready_time, row.flags)).collect()
        };
        assert_eq!(rows(5), [(10, 70, Some(60), 0), (110, 130, None, 0), (140, 210, None, 0)], "{endian:?}");
        assert_eq!(
            rows(6),
            [(10, 110, None, OPEN_LEFT), (130, 160, None, PREEMPTED), (170, 210, None, OPEN_RIGHT)],
            "{endian:?}"
        );
        assert_eq!(rows(4), [(10, 140, None, OPEN_LEFT), (160, 170, None, BROKEN), (210, 210, None, OPEN_RIGHT)]);
        assert_eq!(rows(3), [(10, 180, None, GAP | BROKEN), (180, 210, None, BROKEN | OPEN_RIGHT)]);
        assert_eq!(rows(8), [(10, 180, None, OPEN_LEFT)]);
        assert_eq!(extracted.health.get("completed_switches"), 4);
        assert_eq!(extracted.health.get("broken_switch_chain"), 2);
    }
}

/// Spans off the CPU of a thread: from, to, and flags.
fn spans(extracted: &Extracted, tid: i64) -> Vec<(i64, i64, i16)> {
    let is_it = |row: &&ContextSwitchRow| extracted.threads[row.thread.index()].tid == tid;
    extracted.switches.iter().filter(is_it).map(|row| (row.off_time, row.time, row.flags)).collect()
}

fn switched(prev: u32, next: u32) -> impl FnOnce(&mut Bytes) {
    move |raw: &mut Bytes| {
        raw.u32(prev).u32(0).u64(1).u32(next).u32(0);
    }
}

/// `PERF_RECORD_EXIT`, or `PERF_RECORD_FORK`.
fn task(recording: &mut Recording, kind: u32, (pid, tid): (u32, u32), time: u64) {
    recording.record(kind, 0, time, |out| {
        out.u32(pid).u32(pid).u32(tid).u32(pid).u64(time);
    });
}

/// Recorders write of processes first, then switch the kernel's records on, and then the tracepoint.
#[test]
fn what_is_recorded_begins_before_the_tracepoint_and_behind_the_processes() {
    let mut recording = Recording::new(Endianness::LittleEndian, vec![SWITCH]);
    recording.flags |= 1 << 26;
    recording
        .comm(5, 5, 900, "5")
        .switch_record(1 << 13, 5, 1_000, 1, 6)
        .switch_record(0, 6, 1_001, 1, 5)
        .switch_record(1 << 13, 6, 1_020, 1, 5)
        .switch_record(0, 5, 1_021, 1, 6)
        .sample(0, 5, 1_050, 1, switched(5, 6))
        .sample(0, 6, 1_060, 1, switched(6, 5));
    let extracted = recording.extracted();
    extracted.check_accounts();
    assert_eq!((extracted.info.start_ns, extracted.info.end_ns), (100, 160));
    assert_eq!(spans(&extracted, 5), [(100, 120, 0), (150, 160, 0)]);
    let open = switch_flags::OPEN_LEFT;
    assert_eq!(spans(&extracted, 6)[..2], [(100, 100, open), (120, 150, 0)]);
    assert_eq!(extracted.health.get("broken_switch_chain"), 0);
}

/// The newest events of each CPU: nobody knows who ran on CPU 1 before its first one.
#[test]
fn a_cpu_of_a_ring_is_unknown_before_its_first_event() {
    let mut recording = Recording::new(Endianness::LittleEndian, vec![SWITCH]);
    recording.flags |= 1 << 27;
    recording
        .sample(0, 5, 1_000, 0, switched(5, 6))
        .sample(0, 7, 1_100, 1, switched(7, 8))
        .sample(0, 6, 1_110, 0, switched(6, 5))
        .sample(0, 8, 1_150, 1, switched(8, 7));
    let extracted = recording.extracted();
    extracted.check_accounts();
    let run = |tid: i64| {
        let threads = &extracted.threads;
        let mut accounting = Accounting::new(&RecordingFacts::from(&extracted.info), Span::ALL, threads);
        extracted.switches.iter().for_each(|row| accounting.switch(row, &mut |_| {}));
        let accounts = accounting.finish(&mut |_| {});
        let account = accounts.threads.iter().find(|account| threads[account.thread.index()].tid == tid).unwrap();
        (account.run, account.unknown)
    };
    assert_eq!(run(7), (0, 100));
    assert_eq!(run(8), (50, 0));
    assert_eq!(run(6), (110, 0));
    assert_eq!(extracted.health.get("broken_switch_chain"), 0);
}

/// `perf record -C 1`: what thread 5 did on CPU 0 is missing.
#[test]
fn a_recording_of_some_of_the_cpus_says_so() {
    let unrecorded = |recorded: &[u64]| {
        let mut recording = Recording::new(Endianness::LittleEndian, vec![SWITCH]);
        recording.cpus = Some(3);
        recording.data.record(69, 0, |out| {
            out.u64(recorded.len() as u64);
            for cpu in recorded {
                out.u64s(&[100, 0, *cpu, u64::MAX]);
            }
        });
        recording.sample(0, 5, 1_000, 1, switched(5, 6)).sample(0, 6, 1_100, 1, switched(6, 5));
        let extracted = recording.extracted();
        let example = extracted.health.iter().find(|(kind, _)| kind.word() == "unrecorded_cpus");
        example.map(|(_, counter)| (counter.count, counter.example.clone().unwrap_or_default()))
    };
    let (count, example) = unrecorded(&[1]).unwrap();
    assert_eq!(count, 2);
    assert!(example.starts_with("only CPU 1 of 3 CPUs was recorded: what threads do on the other CPUs"), "{example}");
    let (count, example) = unrecorded(&[0, 2, 2]).unwrap();
    assert_eq!(count, 1);
    assert!(example.starts_with("only CPUs 0, 2 of 3 CPUs were recorded"), "{example}");
    assert_eq!(unrecorded(&[0, 1, 2]), None);
    // Single threads, on whatever CPU they are.
    assert_eq!(unrecorded(&[u64::MAX]), None);
}

/// A thread that has ended leaves the CPU without its id.
#[test]
fn who_leaves_without_an_id_is_the_thread_that_ended() {
    let mut recording = Recording::new(Endianness::LittleEndian, vec![WAKING]);
    recording.flags |= 1 << 26;
    recording.comm(5, 6, 990, "6").switch_record(0, 6, 1_000, 1, 0);
    task(&mut recording, 4, (5, 6), 1_010);
    recording.switch_record(1 << 13, u32::MAX, 1_012, 1, 0).switch_record(0, 9, 1_100, 0, 0);
    let extracted = recording.extracted();
    extracted.check_accounts();
    let ended = extracted.threads.iter().find(|thread| thread.tid == 6).unwrap();
    assert_eq!(ended.end, Some(22));
    assert!(extracted.threads.iter().all(|thread| thread.tid >= 0), "{:?}", extracted.threads);
    assert_eq!(extracted.health.get("broken_switch_chain"), 0);
}

/// The thread that starts another program takes the id of the first one; nothing tells that the others end.
#[test]
fn another_program_ends_all_threads_but_one() {
    const IS_EXEC: u16 = 1 << 13;
    // With and without a record of the first thread's end.
    for first_ends in [false, true] {
        let mut recording = Recording::new(Endianness::LittleEndian, vec![SWITCH]);
        recording.comm(5, 5, 1_000, "old");
        task(&mut recording, 7, (5, 6), 1_010);
        if first_ends {
            task(&mut recording, 4, (5, 5), 1_015);
        }
        recording.record(3, IS_EXEC, 1_020, |out| {
            out.u32(5).u32(5).text(b"new", 8);
        });
        task(&mut recording, 4, (5, 5), 1_050);
        recording.comm(9, 9, 1_060, "9");
        let extracted = recording.extracted();
        let ends = |tid: i64| -> Vec<Option<i64>> {
            extracted.threads.iter().filter(|thread| thread.tid == tid).map(|thread| thread.end).collect()
        };
        let expected = if first_ends { vec![Some(15), Some(50)] } else { vec![Some(50)] };
        assert_eq!((ends(5), ends(6)), (expected, vec![Some(20)]));
        let process = extracted.processes.iter().find(|process| process.pid == 5).unwrap();
        assert_eq!((process.end, process.name.as_str()), (Some(50), "new"));
    }
}

#[test]
fn records_of_another_namespace_complete_nothing() {
    let mut recording = Recording::new(Endianness::LittleEndian, vec![SWITCH]);
    recording.flags |= 1 << 26;
    let switch = |prev: u32, next: u32| {
        move |raw: &mut Bytes| {
            raw.u32(prev).u32(0).u64(1).u32(next).u32(0);
        }
    };
    // What the recorder calls 2 and 3 are 102 and 103 outside.
    recording
        .sample(0, 2, 1_000, 1, switch(102, 103))
        .switch_record(1 << 13, 2, 1_001, 1, 3)
        .switch_record(0, 3, 1_002, 1, 2)
        .sample(0, 3, 1_010, 1, switch(103, 102));
    let extracted = recording.extracted();
    assert_eq!(extracted.health.get("completed_switches"), 0);
    assert_eq!(extracted.health.get("broken_switch_chain"), 0);
}

/// Where another recorder asks for build ids, kernels say of every mapping that it has one.
#[test]
fn a_device_and_an_inode_are_no_build_id() {
    const BUILD_ID: u64 = 1 << 34;
    const HAS_BUILD_ID: u16 = 1 << 14;
    for endian in [Endianness::LittleEndian, Endianness::BigEndian] {
        let modules = |asked: bool, id: &'static [u8; 24]| {
            let mut recording = Recording::new(endian, vec![SWITCH]);
            recording.flags |= if asked { BUILD_ID } else { 0 };
            recording.record(10, HAS_BUILD_ID | 2, 1_000, |out| {
                out.u32(5).u32(5).u64s(&[0x1000, 0x1000, 0]).raw(id).u32(5).u32(2).text(b"/bin/x", 8);
            });
            let rows: Vec<ModuleRow> = recording.extracted().archive.rows().unwrap();
            let row = rows.into_iter().find(|row| row.name == "x").unwrap();
            row.build_id
        };
        const GIVEN: &[u8; 24] = b"\x04\0\0\0\x01\x02\x03\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
        // Disk 8:1, as a machine of this byte order writes it there.
        const DISK: &[u8; 24] = b"\x08\0\0\0\x01\0\0\0\xcb\xf8\x04\0\0\0\0\0\0\0\0\0\0\0\0\0";
        assert_eq!(modules(true, GIVEN).as_deref(), Some("01020304"), "{endian:?}");
        assert_eq!(modules(false, DISK), None, "{endian:?}");
        // Longer than any.
        const LONG: &[u8; 24] = b"\xfe\0\0\0\0\0\0\0\xcb\xf8\x04\0\0\0\0\0\0\0\0\0\0\0\0\0";
        assert_eq!(modules(true, LONG), None, "{endian:?}");
    }
}

#[test]
fn disks_of_an_old_kernel_with_what_is_missing() {
    for endian in [Endianness::LittleEndian, Endianness::BigEndian] {
        let mut recording = Recording::new(endian, vec![ISSUE, COMPLETE]);
        let request = |sector: u64, count: u32, errors: u32, letters: &'static [u8]| {
            move |raw: &mut Bytes| {
                raw.u32(8 << 20 | 1).u32(0).u64(sector).u32(count).u32(errors).text(letters, 8);
            }
        };
        recording
            .sample(0, 5, 1_000, 1, request(64, 16, 0, b"WS"))
            .sample(0, 5, 1_010, 1, request(800, 8, 0, b"R"))
            .sample(1, 0, 1_020, 0, request(64, 8, 0, b"WS"))
            .sample(1, 0, 1_030, 0, request(800, 8, 0xffff_fffb, b"R"))
            .sample(1, 0, 1_040, 0, request(72, 8, 0, b"WS"))
            // Never began, never ends, is none of these.
            .sample(1, 0, 1_050, 0, request(9_000, 8, 0, b"WS"))
            .sample(0, 6, 1_060, 0, request(9_100, 8, 0, b"WS"))
            .sample(1, 6, 1_070, 0, request(9_200, 8, 0, b"D"))
            .sample(0, 6, 1_080, 0, request(0, 0, 0, b"FWS"))
            .sample(1, 0, 1_090, 0, request(0, 0, 0, b"FWS"));
        let extracted = recording.extracted();
        let rows = extracted.archive.rows::<DiskIoRow>().unwrap();
        let short: Vec<_> = rows.iter().map(|row| (row.time, row.start, row.operation, row.offset, row.size)).collect();
        assert_eq!(
            short,
            [
                (30, 10, DiskOperation::Read, Some(409_600), 4096),
                (40, 0, DiskOperation::Write, Some(32_768), 8192),
                (90, 80, DiskOperation::Flush, None, 0)
            ],
            "{endian:?} {:?}",
            extracted.health
        );
        for kind in [
            "failed_disk_operations",
            "disk_completions_without_start",
            "disk_io_without_completion",
            "other_disk_operations",
        ] {
            assert_eq!(extracted.health.get(kind), 1, "{kind}");
        }
        let disk = &extracted.info.disks[0];
        assert_eq!((rows[0].disk, disk.number, disk.model.as_str()), (8 << 20 | 1, 8 << 20 | 1, "8:1"));
    }
}

/// As kernels of 2025 have it.
const NEW_COMPLETE: Format = Format {
    system: "block",
    name: "block_rq_complete",
    fields: "\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n\
        \tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n\tfield:int error;\toffset:28;\tsize:4;\tsigned:1;\n\
        \tfield:unsigned short ioprio;\toffset:32;\tsize:2;\tsigned:0;\n\tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:0;\n",
};
const NEW_INSERT: Format = Format { name: "block_rq_insert", ..NEW_COMPLETE };
const NEW_ISSUE: Format = Format { name: "block_rq_issue", ..NEW_COMPLETE };
const NEW_REQUEUE: Format = Format { name: "block_rq_requeue", ..NEW_COMPLETE };

#[test]
fn disks_tell_time_in_the_queue_priority_and_error() {
    for endian in [Endianness::LittleEndian, Endianness::BigEndian] {
        let mut recording = Recording::new(endian, vec![NEW_INSERT, NEW_ISSUE, NEW_REQUEUE, NEW_COMPLETE]);
        let (insert, issue, requeue, complete) = (0, 1, 2, 3);
        let request = |sector: u64, priority: u16, error: i32| {
            move |raw: &mut Bytes| {
                raw.u32(8 << 20).u32(0).u64(sector).u32(8).u32(error.cast_unsigned());
                let [first, second] =
                    if endian == Endianness::BigEndian { priority.to_be_bytes() } else { priority.to_le_bytes() };
                raw.u8(first).u8(second).text(b"RS", 10);
            }
        };
        let (real_time, best_effort) = (1 << 13 | 2, 2 << 13 | 4);
        recording
            .sample(insert, 5, 1_000, 0, request(100, best_effort, 0))
            .sample(issue, 5, 1_010, 0, request(100, best_effort, 0))
            .sample(issue, 5, 1_012, 0, request(200, real_time, 0))
            // It goes back into the queue: the next issue counts.
            .sample(requeue, 0, 1_014, 0, request(100, best_effort, 0))
            .sample(issue, 0, 1_020, 0, request(100, best_effort, 0))
            .sample(complete, 0, 1_040, 0, request(200, real_time, -5))
            .sample(complete, 0, 1_050, 0, request(100, best_effort, 0))
            .sample(issue, 5, 1_060, 0, request(300, 0, 0))
            .record(2, 0, 1_065, |out| {
                out.u64(100).u64(3);
            })
            .sample(complete, 0, 1_070, 0, request(300, 0, 0));
        let extracted = recording.extracted();
        let rows = extracted.archive.rows::<DiskIoRow>().unwrap();
        let found: Vec<_> =
            rows.iter().map(|row| (row.time, row.queued, row.priority, row.io_class, row.error)).collect();
        let expected =
            [(40, None, 4, Some(8_194), Some(5)), (50, Some(20), 3, Some(16_388), None), (70, None, 0, Some(0), None)];
        assert_eq!(found, expected, "{endian:?} {:?}", extracted.health);
        // A completion may have been lost before the last one.
        let queues: Vec<_> = rows.iter().map(|row| (row.service, row.queue_start, row.queue_end)).collect();
        assert_eq!(
            queues,
            [(Some(28), Some(1), Some(1)), (Some(10), Some(0), Some(0)), (None, Some(0), Some(0))],
            "{endian:?}"
        );
    }
}

const NEW_ERROR: Format = Format { name: "block_rq_error", ..NEW_COMPLETE };

/// The kernel tells of a failure twice: in the completion, and behind it.
#[test]
fn a_failed_request_ends_once() {
    let request = |raw: &mut Bytes| {
        raw.u32(8 << 20).u32(0).u64(100).u32(8).u32((-5_i32).cast_unsigned()).u8(0).u8(0).text(b"W", 10);
    };
    let mut both = Recording::new(Endianness::LittleEndian, vec![NEW_ISSUE, NEW_COMPLETE, NEW_ERROR]);
    both.sample(0, 5, 1_010, 0, request)
        .sample(1, 0, 1_030, 0, request)
        .sample(2, 0, 1_031, 0, request)
        // The same sectors again: the error of the first does not end the second.
        .sample(0, 5, 1_040, 0, request)
        .sample(1, 0, 1_060, 0, request);
    let mut alone = Recording::new(Endianness::LittleEndian, vec![NEW_ISSUE, NEW_ERROR]);
    alone.sample(0, 5, 1_010, 0, request).sample(1, 0, 1_031, 0, request);
    for (recording, expected) in [(both, &[(10, 30, Some(5)), (40, 60, Some(5))][..]), (alone, &[(10, 31, Some(5))])] {
        let extracted = recording.extracted();
        let rows = extracted.archive.rows::<DiskIoRow>().unwrap();
        // Time zero is that of the first record.
        let found: Vec<_> = rows.iter().map(|row| (row.start, row.time, row.error)).collect();
        let first = expected[0].0 - found[0].0;
        let found: Vec<_> =
            found.into_iter().map(|(start, time, error)| (start + first, time + first, error)).collect();
        assert_eq!(found, expected, "{:?}", extracted.health);
        let failed = expected.len() as i64;
        assert_eq!(extracted.health.get("failed_disk_operations"), failed, "{:?}", extracted.health);
        assert_eq!(extracted.health.get("disk_completions_without_start"), 0, "{:?}", extracted.health);
        assert_eq!(extracted.health.get("disk_io_without_completion"), 0, "{:?}", extracted.health);
    }
}

const EXEC: Format = Format {
    system: "sched",
    name: "sched_process_exec",
    fields: "\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;\n\
        \tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n",
};

#[test]
fn processes_have_whole_names_groups_and_namespaces() {
    const ID: &str = "4f1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8";
    const COMM_EXEC: u16 = 1 << 13;
    for endian in [Endianness::LittleEndian, Endianness::BigEndian] {
        let mut recording = Recording::new(endian, vec![EXEC]);
        recording.sample_type |= CGROUP;
        let text = |out: &mut Bytes, text: &str| {
            out.text(text.as_bytes(), (text.len() + 1).next_multiple_of(8));
        };
        let comm = |pid: u32, name: &'static str| move |out: &mut Bytes| text(out.u32(pid).u32(pid), name);
        let map = |pid: u32, path: &'static str| {
            move |out: &mut Bytes| text(out.u32(pid).u32(pid).u64s(&[0x1000, 0x1000, 0]), path)
        };
        let path = format!("/system.slice/docker-{ID}.scope");
        recording
            .record(19, 0, 1_000, |out| text(out.u64(7), &path))
            .record(19, 0, 1_000, |out| text(out.u64(8), "/user.slice"))
            .record(3, COMM_EXEC, 1_001, comm(5, "a-program-with-"))
            .record(1, 2, 1_002, map(5, "/usr/lib/ld.so"))
            .record(1, 2, 1_003, map(5, "/opt/x/a-program-with-a-long-name"))
            .record(16, 0, 1_004, |out| {
                out.u32(5).u32(5).u64(7);
                for kind in 0..7 {
                    out.u64s(&[4, 4_026_531_830 + kind]);
                }
            })
            // A child that has not started a program of its own.
            .record(7, 0, 1_005, |out| {
                out.u32(6).u32(5).u32(6).u32(5).u64(1_005);
            })
            .record(3, COMM_EXEC, 1_006, comm(9, "exactly-fifteen"))
            .record(1, 2, 1_007, map(9, "/bin/exactly-fifteen"));
        for (time, group) in [(1_010, 8_u64), (1_011, 7), (1_012, 99)] {
            recording.data.record(9, 2, |out| {
                out.u64(100).u32(5).u32(5).u64(time).u32(0).u32(0);
                let mut raw = Bytes::new(endian);
                raw.u64(0).u32(11 << 16 | 16).u32(5).text(b"/opt/x/run", 12);
                out.u32(raw.bytes.len() as u32).raw(&raw.bytes).u64(group);
            });
        }
        let extracted = recording.extracted();
        let process = |pid: i64| extracted.processes.iter().find(|row| row.pid == pid).unwrap();
        let five = process(5);
        assert_eq!(
            (five.name.as_str(), process(6).name.as_str()),
            ("a-program-with-a-long-name", "a-program-with-a-long-name")
        );
        assert_eq!(process(9).name, "exactly-fifteen");
        assert_eq!((five.cgroup.as_deref(), five.container.as_deref()), (Some(path.as_str()), Some(ID)), "{endian:?}");
        assert_eq!((five.pid_namespace, process(9).pid_namespace), (Some(4_026_531_833), None));
        assert_eq!(five.command_line.as_deref(), Some("/opt/x/run"));
        assert_eq!(process(6).cgroup, None);
    }
}
