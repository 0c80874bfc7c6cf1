//! The command line of perf for combinations of profiles, rights and machines, line by line.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use tracesift_record::linux::capabilities::{Capabilities, Tracefs};
use tracesift_record::linux::command::{plan, tracepoints};
use tracesift_record::linux::energy::Access;
use tracesift_record::{Each, Options, Rate, Rotation, Scope, profiles};

fn options(names: &[&str]) -> Options {
    Options { profiles: names.iter().map(|name| profiles::find(name).unwrap()).collect(), ..Options::default() }
}

/// A machine with every event; its user may do everything.
fn machine() -> Capabilities {
    let all: Vec<&profiles::Profile> = profiles::PROFILES.iter().collect();
    Capabilities::of_any_machine(tracepoints(&all).collect())
}

fn with_counters() -> Capabilities {
    Capabilities { hardware_counters: true, branch_records: true, ..machine() }
}

fn user(paranoid: i32, tracefs: Tracefs) -> Capabilities {
    Capabilities { privileged: false, root: false, paranoid, tracefs, tracepoints: BTreeSet::new(), ..machine() }
}

/// One option per line, and what is missing below.
fn told(options: &Options, machine: &Capabilities) -> String {
    match plan(options, machine) {
        Err(error) => format!("error: {error}\nhint: {:?}\n", error.hint()),
        Ok(plan) => {
            let mut text = plan.arguments.join(" ").replace(" -", "\n-");
            text.push('\n');
            for shortfall in plan.shortfalls {
                writeln!(text, "missing: {}\n   hint: {:?}", shortfall.what, shortfall.remedy).unwrap();
            }
            text
        }
    }
}

#[test]
fn profiles_add_up() {
    for (name, profiles) in [
        ("default", &["Default"][..]),
        ("cswitch", &["CSwitch"]),
        ("cswitch_and_network", &["Network", "CSwitch"]),
        ("virtual_alloc", &["VirtualAlloc"]),
        ("sockets_and_handle", &["Sockets", "Handle"]),
        ("all_calls_instead_of_single_ones", &["File", "SysCall"]),
        ("power", &["Power", "CSwitch"]),
        ("without_counterpart", &["UserGDILeaks"]),
        ("partly_without_counterpart", &["MiniFilter"]),
    ] {
        insta::assert_snapshot!(name, told(&options(profiles), &machine()));
    }
}

#[test]
fn hardware_counters() {
    for (name, profiles) in
        [("pmc_branch_and_llc", &["PMCBranch", "PMCLLC"][..]), ("pmc_sample", &["PMCSample"]), ("lbr", &["LBR"])]
    {
        insta::assert_snapshot!(name, told(&options(profiles), &with_counters()));
        insta::assert_snapshot!(format!("{name}_without_counters"), told(&options(profiles), &machine()));
    }
    let own = Options { counters: vec!["cycles".to_owned(), "stalls".to_owned()], ..options(&["PMCLLC"]) };
    insta::assert_snapshot!("own_counters", told(&own, &with_counters()));
}

#[test]
fn rights() {
    let options = options(&["CSwitch", "File"]);
    for (name, machine) in [
        ("nobody", user(3, Tracefs::Forbidden)),
        ("own_processes", user(2, Tracefs::Forbidden)),
        ("own_kernel", user(1, Tracefs::Missing)),
        ("all_cpus", user(0, Tracefs::Readable)),
        ("tracepoints", Capabilities { privileged: false, paranoid: -1, ..machine() }),
    ] {
        insta::assert_snapshot!(name, told(&options, &machine));
    }
}

/// Whoever is root already is not told to become it.
#[test]
fn probes_that_cannot_be_set() {
    let hints = |root: bool| {
        let machine = Capabilities { kprobes: false, uprobes: false, root, ..machine() };
        let options = Options { heap: Some(7), ..options(&["File", "Network"]) };
        let shortfalls = plan(&options, &machine).unwrap().shortfalls;
        shortfalls.into_iter().filter_map(|shortfall| shortfall.remedy).collect::<Vec<_>>()
    };
    let uprobes = "on a kernel with uprobes, on x86-64, 64-bit Arm or RISC-V";
    let kprobes = "on a kernel with kprobes";
    let expected = |how: &str| [uprobes, kprobes, uprobes].map(|place| format!("{how} {place}"));
    assert_eq!(hints(true), expected("record"));
    assert_eq!(hints(false), expected("run as root,"));
}

#[test]
fn how_long_and_how_often() {
    let rotation = |each| Some(Rotation { each, keep: None });
    let minutes = std::time::Duration::from_secs(300);
    for (name, options) in [
        ("ring", Options { ring: Some(1 << 30), ..options(&["Default"]) }),
        ("small_ring", Options { ring: Some(1), ..options(&["Default"]) }),
        ("rotated_by_time", Options { rotation: rotation(Each::Time(minutes)), ..options(&["Default"]) }),
        ("rotated_by_size", Options { rotation: rotation(Each::Bytes(2_000_000_000)), ..options(&["Default"]) }),
        ("fast", Options { rate: "8kHz".parse().unwrap(), ..options(&["Default"]) }),
        ("slow", Options { rate: "10ms".parse().unwrap(), ..options(&["Default"]) }),
        ("one_process", Options { scope: Scope::Processes(vec![7, 8]), ..options(&["CSwitch"]) }),
        ("command", Options { scope: Scope::Command, ..options(&["CSwitch"]) }),
    ] {
        insta::assert_snapshot!(name, told(&options, &Capabilities { max_rate: Some(4000), ..machine() }));
    }
    insta::assert_snapshot!("old_perf", told(&options(&["Default"]), &Capabilities { kernel: (4, 19), ..machine() }));
}

#[test]
fn stacks() {
    for (name, stacks, call_graph, machine) in [
        ("no_stacks", "none", "fp", machine()),
        ("file_stacks", "cpu,file", "fp", machine()),
        ("dwarf", "cpu,switch", "dwarf,16384", machine()),
        ("branch_records", "default", "lbr", with_counters()),
        ("no_branch_records", "default", "lbr", machine()),
    ] {
        let options = Options {
            stacks: stacks.parse().unwrap(),
            call_graph: call_graph.parse().unwrap(),
            ..options(&["CSwitch", "File"])
        };
        let told = told(&options, &machine);
        let calls_shown = told.lines().filter(|line| !line.contains("syscalls:") || line.contains("_read"));
        let text: Vec<&str> = calls_shown.filter(|line| *line != "--exclude-perf").collect();
        insta::assert_snapshot!(name, text.join("\n"));
    }
}

/// With a frequency for all events only some of the switches would be recorded.
#[test]
fn no_frequency_is_for_all_events() {
    for profile in profiles::PROFILES {
        for machine in [machine(), with_counters(), user(2, Tracefs::Missing)] {
            let Ok(plan) = plan(&options(&[profile.name]), &machine) else { continue };
            assert!(!plan.arguments.iter().any(|argument| argument == "-F" || argument == "-c"), "{}", profile.name);
            let events = plan.arguments.iter().filter(|argument| argument.contains(':'));
            for event in events {
                assert!(!event.contains("freq="), "{event}");
            }
        }
    }
}

#[test]
fn rates() {
    for (text, per_second) in
        [("8kHz", 8000), ("999", 999), ("999Hz", 999), ("10ms", 100), ("125us", 8000), ("1000ms", 1), ("1khz", 1000)]
    {
        assert_eq!(text.parse::<Rate>().unwrap().per_second(), per_second, "{text}");
    }
    for text in ["", "kHz", "9kHz", "100us", "2000ms", "1m", "0", "0Hz", "99999999999999999999"] {
        assert!(text.parse::<Rate>().is_err(), "{text}");
    }
    assert_eq!(Rate::default().per_second(), 999);
}

#[test]
fn buffers_as_large_as_was_asked_for() {
    let asked = |bytes: u64| Options { buffer: Some(bytes), ..options(&["Default"]) };
    let has = |options: &Options, machine: &Capabilities| {
        let arguments = plan(options, machine).unwrap().arguments;
        let place = arguments.iter().position(|argument| argument == "-m");
        place.map(|place| arguments[place + 1].clone())
    };
    assert_eq!(has(&options(&["Default"]), &machine()).as_deref(), Some("4M"));
    assert_eq!(has(&asked(16 << 20), &machine()).as_deref(), Some("16M"));
    // perf takes powers of two.
    assert_eq!(has(&asked(20 << 20), &machine()).as_deref(), Some("32M"));
    assert_eq!(has(&asked(256 << 10), &user(1, Tracefs::Readable)).as_deref(), Some("256K"));
    let too_large = plan(&asked(16 << 20), &user(1, Tracefs::Readable)).unwrap();
    assert!(!too_large.arguments.iter().any(|argument| argument == "-m"));
    assert!(too_large.shortfalls.iter().any(|shortfall| shortfall.what.contains("--buffer is left at 512KiB per CPU")));
}

#[test]
fn a_machine_without_counters_of_energy_says_so_once() {
    for (energy, said) in [
        (Access::Readable, None),
        (Access::Missing, Some("missing: energy is not recorded: this machine shows no counters")),
        (Access::Forbidden, Some("missing: energy is not recorded: this user may not read")),
    ] {
        let machine = Capabilities { energy, ..machine() };
        let text = told(&options(&["Power", "CSwitch"]), &machine);
        assert_eq!(text.matches("energy").count() > 0, said.is_some(), "{text}");
        assert!(said.is_none_or(|said| text.matches(said).count() == 1), "{text}");
        // Nobody asks for it.
        assert!(!told(&options(&["CSwitch"]), &machine).contains("energy"));
    }
}
