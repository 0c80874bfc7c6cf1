//! Garbage collections: real recordings against figures that a separate program took from their events, and a recording made byte by byte.

use std::collections::BTreeMap;

use tracesift_archive::Archive;
use tracesift_etl::Guid;
use tracesift_etl::write::PointerSize;
use tracesift_fixtures::cases;
use tracesift_scenario::providers::{self, Logged};
use tracesift_testing::recording::Recording;
use tracesift_trace::rows::{GcCollectionRow, GcFinalizedRow, GcSuspensionRow, ProcessRow, StackRow};

use crate::recordings::support::extract_file;

const RUNTIME: Guid = Guid::from_u128(0xe13c0d23_ccbc_4e12_931b_d9cc2eee27e4);
const PRIVATE: Guid = Guid::from_u128(0x763fd754_7086_4dfe_95eb_c01a46faf4ca);

/// The tables of a recording, with the rows of one process each.
struct Tables {
    stacks: Vec<StackRow>,
    processes: Vec<ProcessRow>,
    collections: Vec<GcCollectionRow>,
    suspensions: Vec<GcSuspensionRow>,
    finalized: Vec<GcFinalizedRow>,
}

impl Tables {
    fn of(archive: &Archive) -> Self {
        Self {
            processes: archive.rows().expect("processes"),
            collections: archive.rows().expect("collections"),
            suspensions: archive.rows().expect("suspensions"),
            finalized: archive.rows().expect("finalized"),
            stacks: archive.rows().expect("stacks"),
        }
    }

    fn real(name: &str) -> Option<Self> {
        let file = cases(&format!("etl/{name}"))?;
        let extracted = extract_file(&file).unwrap_or_else(|error| panic!("{name}: {error}"));
        Some(Self::of(&extracted.archives()[0]))
    }

    fn is(&self, process: tracesift_trace::ProcessId, pid: i64) -> bool {
        self.processes[process.index()].pid == pid
    }

    fn collections(&self, pid: i64) -> Vec<&GcCollectionRow> {
        self.collections.iter().filter(|row| self.is(row.process, pid)).collect()
    }

    fn suspensions(&self, pid: i64) -> Vec<&GcSuspensionRow> {
        self.suspensions.iter().filter(|row| self.is(row.process, pid)).collect()
    }

    /// Number, sum and maximum of the pauses, sum of durations, and the largest heap after a collection.
    fn figures(&self, pid: i64) -> (usize, i64, i64, i64, i64) {
        let rows = self.collections(pid);
        let pauses = || rows.iter().map(|row| row.pause.expect("a pause"));
        (
            rows.len(),
            pauses().sum(),
            pauses().max().expect("a pause"),
            rows.iter().map(|row| row.time - row.start).sum(),
            rows.iter().filter_map(|row| row.heap_size).max().expect("a size"),
        )
    }

    /// Number and sum of the suspensions without a collection.
    fn others(&self, pid: i64) -> (usize, i64) {
        let rows = self.suspensions(pid);
        let others = || rows.iter().filter(|row| row.collection.is_none());
        (others().count(), others().map(|row| row.time - row.start).sum())
    }

    fn finalized(&self, pid: i64) -> i64 {
        self.finalized.iter().filter(|row| self.is(row.process, pid)).map(|row| row.count).sum()
    }

    fn all_sum(&self, pid: i64) -> i64 {
        self.suspensions(pid).iter().map(|row| row.time - row.start).sum()
    }
}

/// .NET Framework tells the begin of each collection twice.
#[test]
fn net_452_x64_has_its_collections() {
    let Some(tables) = Tables::real("net.4.5.2.x64.etl.zip") else { return };
    assert_eq!(tables.figures(3676), (263, 28_970_600, 1_417_700, 24_950_300, 58_744));
    assert_eq!((tables.suspensions(3676).len(), tables.all_sum(3676)), (264, 28_975_000));
    assert_eq!(tables.others(3676), (1, 4_400));
    assert!(tables.collections(3676).iter().all(|row| (row.generation, row.kind, row.reason) == (0, 0, 0)));
    assert_eq!(tables.figures(3988), (1, 10_877_100, 10_877_100, 10_827_500, 25_979_308));
    assert_eq!(tables.collections(3988)[0].generation, 1);
    assert_eq!((tables.finalized(3676), tables.finalized(3988)), (5, 49));
    assert!(tables.finalized.iter().all(|row| row.type_name.is_some()), "{:?}", tables.finalized);
    // Each request has the stack of the thread that allocated.
    for row in tables.collections(3676) {
        assert_eq!((row.trigger_reason, row.trigger_thread), (Some(0), row.thread));
        assert!(tables.stacks[row.stack.expect("a stack").index()].frames.len() > 10);
        assert_eq!((row.suspensions, row.heaps, row.open), (1, Some(1), None));
        // What the histories say of generations, and what the statistics say.
        assert_eq!(row.size_after.as_ref().map(|sizes| sizes.iter().sum::<i64>()), row.heap_size);
    }
    let first = tables.collections(3676)[0];
    assert_eq!(first.size_before.as_deref(), Some(&[4_194_352, 24, 24, 36_712, 0][..]));
    assert_eq!(first.free.as_deref(), Some(&[0, 3_224, 0, 0, 0][..]));
    assert_eq!((first.promoted.as_deref(), first.since_pause), (Some(&[18_736, 0, 0, 0, 0][..]), None));
    // Ticks up to the last collection are in one collection each.
    let allocated: i64 = tables.collections(3676).iter().filter_map(|row| row.allocated).sum();
    assert!((1_000_000_000..1_107_714_400).contains(&allocated), "{allocated}");
}

#[test]
fn net_452_x86_has_its_collections() {
    let Some(tables) = Tables::real("net.4.5.2.x86.etl.zip") else { return };
    let (count, pause, longest, duration, largest) = tables.figures(3644);
    assert_eq!((count, pause, longest, duration, largest), (80, 5_923_600, 902_000, 4_737_100, 32_512));
    assert_eq!((tables.suspensions(3644).len(), tables.all_sum(3644)), (81, 5_931_400));
    assert_eq!(tables.finalized(3644), 5);
    let row = tables.collections(3644)[0];
    assert_eq!(row.size_after.as_ref().map(|sizes| sizes.iter().sum::<i64>()), row.heap_size);
}

#[test]
fn gcevents_has_two_induced_collections() {
    let Some(tables) = Tables::real("gcevents.etl.zip") else { return };
    assert_eq!(tables.figures(179_596), (2, 1_328_800, 786_700, 702_700 + 512_200, 657_192));
    let rows = tables.collections(179_596);
    assert_eq!(rows.iter().map(|row| (row.generation, row.reason)).collect::<Vec<_>>(), [(1, 1), (2, 1)]);
    assert_eq!((tables.finalized(179_596), rows[1].finalized), (6, Some(6)));
    assert_eq!(rows[0].survival.as_deref(), Some(&[27, 0, 0, 0, 0][..]));
}

/// A collection of generation 0 runs in the first pause of one in the background, which ends on another thread.
#[test]
fn dynamic_events_has_a_background_collection() {
    let Some(tables) = Tables::real("DynamicEvents.etl.zip") else { return };
    let pid = 7608;
    assert_eq!(tables.figures(pid), (1_217, 849_606_600, 4_515_400, 800_062_300, 5_039_200));
    let mut by_generation: BTreeMap<(i8, i8), (usize, i64)> = BTreeMap::new();
    for row in tables.collections(pid) {
        let of = by_generation.entry((row.generation, row.kind)).or_default();
        *of = (of.0 + 1, of.1 + row.time - row.start);
    }
    let expected = [((0, 0), (1_215, 794_746_000)), ((1, 0), (1, 2_690_200)), ((2, 1), (1, 2_626_100))];
    assert_eq!(by_generation, BTreeMap::from(expected));
    let suspending: i64 = tables.collections(pid).iter().filter_map(|row| row.suspending).sum();
    assert_eq!((suspending, tables.others(pid)), (10_398_300, (0, 0)));
    let rows = tables.collections(pid);
    let of = |number: i32| rows.iter().find(|row| row.number == number).expect("the collection");
    let parts = [14_297_905_600, 14_298_265_600, 14_298_867_500, 14_299_130_700, 14_299_820_800, 14_300_214_400];
    assert_eq!((of(197).start, of(197).pauses.as_deref()), (14_297_935_600, Some(&parts[..])));
    assert_eq!(of(198).pauses.as_deref(), Some(&parts[1..3]));
    assert_eq!((of(197).suspensions, of(198).suspensions), (2, 0));
    assert_eq!((of(197).heap_size.is_some(), of(197).size_before.is_some()), (true, true));
    // The last collection has what follows it.
    assert_eq!(rows.iter().filter_map(|row| row.finalized).sum::<i64>(), 46);
    assert_eq!(tables.others(10_740), (1, 16_300));
}

/// Bytes by kind of root of all collections of a process.
fn roots(rows: &[&GcCollectionRow]) -> Vec<i64> {
    let mut sums = Vec::new();
    for bytes in rows.iter().filter_map(|row| row.roots.as_deref()) {
        sums.resize(sums.len().max(bytes.len()), 0);
        sums.iter_mut().zip(bytes).for_each(|(sum, bytes)| *sum += bytes);
    }
    sums
}

/// The figures are those of the events that PerfView lists.
#[test]
fn gcevents_has_roots() {
    let Some(tables) = Tables::real("gcevents.etl.zip") else { return };
    let Some(baseline) = cases("etl/gcevents.baseline.txt") else { return };
    let baseline = std::fs::read_to_string(baseline).expect("a baseline");
    // PerfView's listing ends before the last kinds of the first collection, so that it has no kind twice.
    let mut collections = 0;
    let mut expected: Vec<(usize, usize, i64)> = Vec::new();
    for line in baseline.lines() {
        let number = |field: &str| {
            let (_, value) = line.split_once(&format!(" {field}=")).unwrap_or_else(|| panic!("{field}: {line}"));
            value.split(';').next().unwrap_or_default().replace(',', "").parse::<i64>().expect("a number")
        };
        if line.contains("/GC/Start ") {
            collections += 1;
        } else if line.contains("/GC/MarkWithType ") {
            expected.push((collections - 1, number("Type") as usize, number("Promoted")));
        }
    }
    let found: Vec<Vec<i64>> =
        tables.collections(179_596).iter().map(|row| row.roots.clone().expect("roots")).collect();
    assert_eq!(expected.len(), 5);
    for (collection, kind, bytes) in expected {
        assert_eq!(found[collection][kind], bytes, "kind {kind} of collection {collection}");
    }
    assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [8, 8]);
}

/// The recording brings its own description of the event, with another name for the bytes. The sums are those of `dump events`.
#[test]
fn dynamic_events_has_roots_and_events_without_a_layout() {
    let Some(tables) = Tables::real("DynamicEvents.etl.zip") else { return };
    let rows = tables.collections(7608);
    assert_eq!(roots(&rows), [8_635_460, 0, 3_626_243, 25_858_745, 0, 0, 0, 32_428]);
    // The one in the background tells none.
    let without: Vec<i32> = rows.iter().filter(|row| row.roots.is_none()).map(|row| row.number).collect();
    assert_eq!(without, [197]);
    let mut many: BTreeMap<String, usize> = BTreeMap::new();
    for text in rows.iter().filter_map(|row| row.dynamic.as_deref()) {
        for part in text.split("{\"name\":\"").skip(1) {
            *many.entry(part.split('"').next().unwrap_or_default().to_owned()).or_default() += 1;
        }
    }
    let expected = [("CommittedUsage", 2_433), ("SizeAdaptationSample", 1_215), ("SizeAdaptationTuning", 405)];
    assert_eq!(many, BTreeMap::from(expected.map(|(name, many)| (name.to_owned(), many))));
    let text = rows[0].dynamic.as_deref().expect("events");
    assert!(text.starts_with("[{\"name\":\"CommittedUsage\",\"TotalCommittedInUse\":"), "{text}");
}

/// .NET Framework tells no bytes.
#[test]
fn net_452_has_no_roots() {
    let Some(tables) = Tables::real("net.4.5.2.x86.etl.zip") else { return };
    assert!(tables.collections.iter().all(|row| row.roots.is_none() && row.dynamic.is_none()));
}

/// Roots of several heaps add up; events of a thread belong to the collection that it runs; events that are cut cost themselves.
#[test]
fn roots_of_heaps_and_events_without_a_layout() {
    let marked = |time: i64, tid: u32, heap: u32, kind: u32, bytes: u64| {
        logged(
            time,
            tid,
            202,
            0,
            &[&heap.to_le_bytes(), &1_u16.to_le_bytes(), &kind.to_le_bytes(), &bytes.to_le_bytes()],
        )
    };
    let dynamic = |time: i64, name: &str, data: &[u8]| {
        let name: Vec<u8> = name.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect();
        logged(time, 44, 39, 0, &[&name, &(data.len() as u32).to_le_bytes(), data, &1_u16.to_le_bytes()])
    };
    let committed: Vec<u8> = [1_u8, 0].into_iter().chain((1_u64..=5).flat_map(u64::to_le_bytes)).collect();
    let on = On(44, 1);
    let events = [
        // No collection is known yet.
        vec![marked(90, 44, 0, 0, 7), dynamic(91, "Early", &[1])],
        on.suspend(100, 1),
        on.start(102, 1, 2, 1),
        vec![marked(103, 60, 0, 9, 1_000)],
        on.resume(110),
        on.suspend(200, 1),
        on.start(202, 2, 0, 2),
        vec![marked(203, 44, 0, 0, 10), marked(203, 45, 1, 0, 5), marked(204, 44, 0, 3, u64::MAX >> 1)],
        vec![marked(204, 45, 1, 3, 1), marked(204, 45, 1, 77, 1)],
        vec![dynamic(204, "CommittedUsage", &committed), dynamic(204, "a\"b", &[0xab, 0x01])],
        vec![logged(204, 44, 202, 0, &[&[1, 0, 0]]), logged(204, 44, 39, 0, &[&[65, 0, 0, 0, 255, 255, 255, 255, 1]])],
        on.stop(205, 2, 0),
        vec![dynamic(206, "Large", &[7; 5_000]), dynamic(206, "CommittedUsage", &[2, 0])],
        on.resume(207),
        On(48, 1).stop(500, 1, 2),
    ];
    for size in [PointerSize::Four, PointerSize::Eight] {
        let bytes = providers::write(size, 2, &[(PID, "one.exe")], events.concat()).expect("a recording");
        let extracted = Recording::of("gc.etl", &bytes).extract();
        let tables = Tables::of(&extracted.archive);
        let found: Vec<_> = tables.collections(PID.into()).iter().map(|row| (row.number, row.roots.clone())).collect();
        assert_eq!(found, [(2, Some(vec![15, 0, 0, i64::MAX])), (1, Some([vec![0; 9], vec![1_000]].concat()))]);
        let expected = concat!(
            r#"[{"name":"CommittedUsage","TotalCommittedInUse":1,"TotalCommittedInGlobalDecommit":2,"#,
            r#""TotalCommittedInFree":3,"TotalCommittedInGlobalFree":4,"TotalBookkeepingCommitted":5},"#,
            r#"{"name":"a\"b","data":"ab01"},{"name":"CommittedUsage","data":"0200"}]"#,
        );
        assert_eq!(tables.collections(PID.into())[0].dynamic.as_deref(), Some(expected));
        assert_eq!(tables.collections(PID.into())[1].dynamic, None);
        assert_eq!(extracted.report.health.get("fields_not_as_expected"), 2);
    }
}

const MS: i64 = 1_000_000;
const PID: u32 = 40;

/// An event of the runtime provider.
fn logged(time: i64, tid: u32, id: u16, version: u8, payload: &[&[u8]]) -> Logged {
    Logged { time: time * MS, cpu: 0, provider: RUNTIME, id, version, pid: PID, tid, payload: payload.concat() }
}

/// What tells of suspensions and collections, on a thread in a runtime of the process.
#[derive(Clone, Copy)]
struct On(u32, u16);

impl On {
    fn suspend(self, time: i64, reason: u32) -> Vec<Logged> {
        let runtime = self.1.to_le_bytes();
        let asked = logged(time, self.0, 9, 1, &[&reason.to_le_bytes(), &0_u32.to_le_bytes(), &runtime]);
        vec![asked, logged(time + 1, self.0, 8, 1, &[&runtime])]
    }

    fn resume(self, time: i64) -> Vec<Logged> {
        let runtime = self.1.to_le_bytes();
        vec![logged(time - 1, self.0, 7, 1, &[&runtime]), logged(time, self.0, 3, 1, &[&runtime])]
    }

    fn start(self, time: i64, number: u32, generation: u32, kind: u32) -> Vec<Logged> {
        let fields: [&[u8]; 5] = [
            &number.to_le_bytes(),
            &generation.to_le_bytes(),
            &1_u32.to_le_bytes(),
            &kind.to_le_bytes(),
            &self.1.to_le_bytes(),
        ];
        let nothing = 0_u64.to_le_bytes();
        let again = [&fields[..], &[&nothing]].concat();
        vec![logged(time, self.0, 1, 1, &fields), logged(time, self.0, 1, 2, &again)]
    }

    fn stop(self, time: i64, number: u32, generation: u32) -> Vec<Logged> {
        vec![logged(time, self.0, 2, 1, &[&number.to_le_bytes(), &generation.to_le_bytes(), &self.1.to_le_bytes()])]
    }
}

/// A background collection with two foreground ones while it runs, two runtimes in a process, a lost stop.
#[test]
fn background_foreground_runtimes_and_a_lost_stop() {
    let (user, background, other) = (On(44, 1), On(48, 1), On(44, 2));
    let events = [
        user.suspend(100, 1),
        user.start(102, 1, 2, 1),
        user.resume(110),
        // The other runtime on the same thread, with the same number.
        other.suspend(111, 1),
        other.start(112, 1, 0, 0),
        other.stop(114, 1, 0),
        other.resume(116),
        user.suspend(200, 1),
        user.start(202, 2, 0, 2),
        user.stop(205, 2, 0),
        user.resume(207),
        user.suspend(300, 1),
        user.start(302, 3, 1, 2),
        user.stop(305, 3, 1),
        user.resume(309),
        background.suspend(400, 6),
        background.resume(420),
        background.stop(500, 1, 2),
        // The stop of the fourth is lost.
        user.suspend(600, 1),
        user.start(602, 4, 0, 0),
        user.resume(612),
        user.suspend(700, 1),
        user.start(702, 5, 0, 0),
        user.stop(704, 5, 0),
        user.resume(706),
        // A stop whose begin is not in the recording.
        other.stop(800, 99, 0),
    ];
    for size in [PointerSize::Four, PointerSize::Eight] {
        let bytes = providers::write(size, 2, &[(PID, "two.exe")], events.concat()).expect("a recording");
        let extracted = Recording::of("gc.etl", &bytes).extract();
        let tables = Tables::of(&extracted.archive);
        let found: Vec<_> = tables
            .collections(PID.into())
            .iter()
            .map(|row| (row.runtime, row.number, row.kind, row.pause.map(|pause| pause / MS), row.open.is_some()))
            .collect();
        let expected = [
            (2, 1, 0, Some(5), false),
            (1, 2, 2, Some(7), false),
            (1, 3, 2, Some(9), false),
            (1, 1, 1, Some(30), false),
            (1, 4, 0, Some(12), true),
            (1, 5, 0, Some(6), false),
        ];
        assert_eq!(found, expected);
        assert_eq!(tables.suspensions(PID.into()).len(), 7);
        assert_eq!(extracted.report.health.get("gc_without_begin"), 1);
    }
}

/// The private provider of .NET Framework tells names of finalized objects itself; an event that is cut costs itself.
#[test]
fn private_events_and_cut_events() {
    let name: Vec<u8> = "My.Type\0".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let object = [&1_u64.to_le_bytes()[..], &2_u64.to_le_bytes(), &9_u16.to_le_bytes(), &name].concat();
    let mut events: Vec<Logged> = (0..3)
        .map(|time| Logged {
            time: time * MS,
            cpu: 0,
            provider: PRIVATE,
            id: 192,
            version: 0,
            pid: PID,
            tid: 44,
            payload: object.clone(),
        })
        .collect();
    events.extend(On(44, 1).suspend(100, 1));
    events.extend(On(44, 1).start(102, 1, 0, 0));
    events.extend(On(44, 1).stop(103, 1, 0));
    events.extend(On(44, 1).resume(105));
    events.push(logged(106, 44, 1, 2, &[&[7, 0]]));
    let bytes = providers::write(PointerSize::Eight, 2, &[(PID, "one.exe")], events).expect("a recording");
    let extracted = Recording::of("gc.etl", &bytes).extract();
    let tables = Tables::of(&extracted.archive);
    let of_type = &tables.finalized[0];
    assert_eq!((of_type.type_name.as_deref(), of_type.count, of_type.last), (Some("My.Type"), 3, 2 * MS));
    assert_eq!((tables.collections.len(), tables.collections[0].pause), (1, Some(5 * MS)));
    assert_eq!(extracted.report.health.get("fields_not_as_expected"), 1);
}
