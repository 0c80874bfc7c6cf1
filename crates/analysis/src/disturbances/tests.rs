//! Examples and near misses of each kind, and what holds for all parts.

use proptest::prelude::*;

use super::{Activity, Disturbances, Kind, Occupant, PartFacts};

fn outside(image: &str) -> PartFacts<'_> {
    let (thread, tag) = (None, None);
    PartFacts { activity: Activity::Run, is_of_test: false, image, thread, tag, occupant: Occupant::Unknown }
}

fn of_test() -> PartFacts<'static> {
    PartFacts { is_of_test: true, ..outside("FileWriter.exe") }
}

fn tagged<'a>(part: PartFacts<'a>, tag: &'a str) -> PartFacts<'a> {
    PartFacts { tag: Some(tag), ..part }
}

fn thread<'a>(part: PartFacts<'a>, name: &'a str) -> PartFacts<'a> {
    PartFacts { thread: Some(name), ..part }
}

fn did(part: PartFacts<'_>, activity: Activity) -> PartFacts<'_> {
    PartFacts { activity, ..part }
}

fn ready(part: PartFacts<'_>, occupant: Occupant) -> PartFacts<'_> {
    PartFacts { activity: Activity::Ready, occupant, ..part }
}

#[test]
fn each_kind_has_examples_and_near_misses() {
    let system = || outside("System");
    let cases = [
        (Kind::Unknown, did(of_test(), Activity::Unknown), did(of_test(), Activity::Wait)),
        (Kind::Unknown, did(system(), Activity::OpenWait), did(of_test(), Activity::OpenWait)),
        (Kind::Unknown, did(system(), Activity::OpenWait), did(system(), Activity::Wait)),
        (Kind::Recorder, outside("perf"), outside("perfect")),
        (Kind::Recorder, outside("WPR.exe"), PartFacts { image: "wpr.exe", ..of_test() }),
        (Kind::Recorder, tagged(of_test(), "Windows\\Event tracing"), tagged(of_test(), "Windows\\Event log")),
        (Kind::Antivirus, outside("MSMPENG.EXE"), outside("MsMpEng2.exe")),
        (Kind::Antivirus, outside("falcon-sensor-b"), outside("falcon")),
        (Kind::Antivirus, did(outside("clamd"), Activity::Wait), PartFacts { image: "clamd", ..of_test() }),
        (Kind::Antivirus, tagged(of_test(), "Antivirus\\Avast\\Hooks in processes"), tagged(of_test(), "Antivirus2")),
        (Kind::Antivirus, ready(outside("ekrn.exe"), Occupant::Test), ready(of_test(), Occupant::Test)),
        (
            Kind::Checkpoint,
            tagged(system(), "File system\\NTFS\\NTFS Checkpoint Volume"),
            tagged(of_test(), "File system\\NTFS\\NTFS Checkpoint Volume"),
        ),
        (Kind::Checkpoint, tagged(system(), "Windows\\NTFS Checkpoint Volume"), tagged(system(), "File system\\NTFS")),
        (Kind::Checkpoint, thread(outside("jbd2/sda1-8"), "jbd2/sda1-8"), outside("jbd2")),
        (Kind::Checkpoint, outside("kworker/u16:3-flush-8:0"), outside("kworker/u16:3-events_unbound")),
        (
            Kind::Paging,
            tagged(of_test(), "Memory\\Page fault\\Hard"),
            tagged(of_test(), "Memory\\Page fault\\Demand zero"),
        ),
        (Kind::Paging, thread(outside("kswapd0"), "kswapd0"), thread(outside("kworker/0:1"), "khugepaged")),
        (Kind::Updates, outside("TiWorker.exe"), outside("Worker.exe")),
        (Kind::Updates, outside("unattended-upgr"), PartFacts { image: "apt-get", ..of_test() }),
        (Kind::Updates, outside("apt.systemd.dai"), outside("adapt")),
        (Kind::CpuTaken, ready(of_test(), Occupant::Other), ready(of_test(), Occupant::Test)),
        (Kind::CpuTaken, ready(system(), Occupant::Other), ready(of_test(), Occupant::Unknown)),
        (Kind::CpuAsleep, ready(of_test(), Occupant::Idle), PartFacts { occupant: Occupant::Idle, ..of_test() }),
        (Kind::Interrupts, did(of_test(), Activity::Interrupt), of_test()),
    ];
    let all = Disturbances::standard();
    for (kind, example, near_miss) in &cases {
        assert_eq!(all.kind_of(example), Some(*kind), "{example:?}");
        assert_eq!(all.kind_of(near_miss), None, "{near_miss:?}");
    }
    for kind in Kind::ALL {
        assert!(cases.iter().any(|(known, ..)| *known == kind), "{kind} has no example");
    }
}

#[test]
fn the_first_kind_that_fits_counts() {
    let all = Disturbances::standard();
    let scanner = || outside("MsMpEng.exe");
    assert_eq!(all.kind_of(&did(scanner(), Activity::OpenWait)), Some(Kind::Unknown));
    assert_eq!(all.kind_of(&ready(scanner(), Occupant::Other)), Some(Kind::Antivirus));
    assert_eq!(all.kind_of(&tagged(scanner(), "Memory\\Page fault\\Hard")), Some(Kind::Antivirus));
    assert_eq!(all.kind_of(&tagged(did(of_test(), Activity::Interrupt), "Antivirus\\ESET")), Some(Kind::Antivirus));
    // Where a thread lost the CPU is not the reason for its loss.
    assert_eq!(all.kind_of(&tagged(ready(of_test(), Occupant::Other), "Antivirus\\ESET")), Some(Kind::CpuTaken));
    assert_eq!(all.kind_of(&tagged(ready(of_test(), Occupant::Test), "Antivirus\\ESET")), None);
}

#[test]
fn a_kind_that_does_not_count_is_no_other_kind() {
    let waits = did(outside("MsMpEng.exe"), Activity::OpenWait);
    let chosen = Disturbances::choose("antivirus").expect("a kind");
    assert_eq!(chosen.kind_of(&waits), None);
    assert_eq!(chosen.kind_of(&outside("MsMpEng.exe")), Some(Kind::Antivirus));
    assert_eq!(Disturbances::choose("none").expect("no kinds").kind_of(&waits), None);
    assert_eq!(Disturbances::choose("!unknown").expect("all but one").kind_of(&waits), None);
}

#[test]
fn scanners_and_recorders_are_known_whatever_counts() {
    let none = Disturbances::choose("none").expect("no kinds");
    assert!(none.is_antivirus("msmpeng.exe") && none.is_antivirus("clamd") && !none.is_antivirus("wpr.exe"));
    assert!(none.is_recorder("Wpr.EXE") && none.is_recorder("perf") && !none.is_recorder("performance"));
    assert!(none.version() > 0);
}

/// Kinds, as bits.
fn kinds() -> impl Strategy<Value = usize> {
    0..1_usize << Kind::ALL.len()
}

fn chosen(kinds: usize) -> Disturbances {
    let words = (0..).zip(Kind::ALL).filter(|(bit, _)| kinds >> bit & 1 == 1).map(|(_, kind)| kind.word());
    let text = words.collect::<Vec<_>>().join(",");
    Disturbances::choose(if text.is_empty() { "none" } else { &text }).expect("kinds")
}

fn part() -> impl Strategy<Value = PartFacts<'static>> {
    let activity = prop::sample::select(vec![
        Activity::Run,
        Activity::Interrupt,
        Activity::Ready,
        Activity::Wait,
        Activity::OpenWait,
        Activity::Unknown,
    ]);
    let occupant = prop::sample::select(vec![Occupant::Test, Occupant::Other, Occupant::Idle, Occupant::Unknown]);
    let image =
        prop::sample::select(vec!["MsMpEng.exe", "perf", "app.exe", "apt", "System", "jbd2/sda1-8", "kswapd0", ""]);
    let thread = prop::option::of(prop::sample::select(vec!["jbd2/sda1-8", "kswapd0", "writer-1", ""]));
    let tag = prop::option::of(prop::sample::select(vec![
        "Antivirus\\Avast",
        "Memory\\Page fault\\Hard",
        "File system\\NTFS\\Log file",
        "Linux\\Recording (perf)",
        "Other",
        "",
    ]));
    (activity, any::<bool>(), image, thread, tag, occupant).prop_map(
        |(activity, is_of_test, image, thread, tag, occupant)| PartFacts {
            activity,
            is_of_test,
            image,
            thread,
            tag,
            occupant,
        },
    )
}

proptest! {
    /// A kind that is left out turns its parts into the test's own, and no others into anything else.
    #[test]
    fn fewer_kinds_only_leave_out(all in kinds(), mask in kinds(), part in part()) {
        let (more, fewer) = (chosen(all), chosen(all & mask));
        let expected = more.kind_of(&part).filter(|kind| fewer.kinds().contains(kind));
        prop_assert_eq!(fewer.kind_of(&part), expected);
    }

    /// What a test's own thread runs and waits for has no names of others in it.
    #[test]
    fn names_do_not_count_in_the_test(part in part(), image in "\\PC{0,8}", name in prop::option::of("\\PC{0,8}")) {
        let all = Disturbances::standard();
        let mine = PartFacts { is_of_test: true, ..part };
        let renamed = PartFacts { image: &image, thread: name.as_deref(), ..mine };
        prop_assert_eq!(all.kind_of(&mine), all.kind_of(&renamed));
    }
}
