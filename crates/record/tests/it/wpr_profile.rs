//! The recording profile for wpr: well-formed, of the elements that WPR documents, whole and named by its rules.

use std::collections::BTreeSet;
use std::path::Path;

use roxmltree::{Document, Node};
use tracesift_record::windows::{command, profile};
use tracesift_record::{Options, ProfileFile, Scope, profiles};

/// The elements that WPR documents, as far as a profile of ours may use them, each with those that may be in it.
const ELEMENTS: &[(&str, &[&str])] = &[
    ("WindowsPerformanceRecorder", &["Profiles"]),
    (
        "Profiles",
        &["SystemCollector", "EventCollector", "SystemProvider", "HardwareCounter", "EventProvider", "Profile"],
    ),
    ("SystemCollector", &["BufferSize", "Buffers"]),
    ("EventCollector", &["BufferSize", "Buffers"]),
    ("SystemProvider", &["Keywords", "Stacks"]),
    ("HardwareCounter", &["Counters", "Events", "SampledCounters", "LastBranch"]),
    ("EventProvider", &["Keywords", "CaptureStateOnSave", "EventFilters", "StackFilters"]),
    ("Profile", &["Collectors", "TraceMergeProperties"]),
    ("Keywords", &["Keyword"]),
    ("CaptureStateOnSave", &["Keyword"]),
    ("Stacks", &["Stack"]),
    ("Counters", &["Counter"]),
    ("Events", &["Event"]),
    ("SampledCounters", &["SampledCounter"]),
    ("LastBranch", &["Events"]),
    ("EventFilters", &["EventId"]),
    ("StackFilters", &["EventId"]),
    ("Collectors", &["SystemCollectorId", "EventCollectorId"]),
    ("SystemCollectorId", &["BufferSize", "Buffers", "SystemProviderId", "HardwareCounterId"]),
    ("EventCollectorId", &["BufferSize", "Buffers", "EventProviders"]),
    ("EventProviders", &["EventProviderId"]),
    ("TraceMergeProperties", &["TraceMergeProperty"]),
    ("TraceMergeProperty", &["DeletePreMergedTraceFiles", "CustomEvents"]),
    ("CustomEvents", &["CustomEvent"]),
];

/// Elements that only have a value.
const VALUES: &[&str] = &[
    "BufferSize",
    "Buffers",
    "Keyword",
    "Stack",
    "Counter",
    "Event",
    "SampledCounter",
    "EventId",
    "SystemProviderId",
    "HardwareCounterId",
    "EventProviderId",
    "DeletePreMergedTraceFiles",
    "CustomEvent",
];

fn all() -> Options {
    Options { profiles: profiles::PROFILES.iter().collect(), ..Options::default() }
}

fn check(node: Node<'_, '_>) {
    let name = node.tag_name().name();
    let children: Vec<&str> = node.children().filter(Node::is_element).map(|child| child.tag_name().name()).collect();
    match ELEMENTS.iter().find(|(element, _)| *element == name) {
        Some((_, allowed)) => {
            // In the order in which they are documented.
            let places: Vec<usize> = children
                .iter()
                .map(|child| {
                    allowed.iter().position(|known| known == child).unwrap_or_else(|| panic!("{child} in {name}"))
                })
                .collect();
            assert!(places.is_sorted(), "{name}: {children:?}");
        }
        None => {
            assert!(VALUES.contains(&name), "{name} is not documented");
            assert!(children.is_empty() && node.has_attribute("Value"), "{name}");
        }
    }
    node.children().filter(Node::is_element).for_each(check);
}

fn by_name<'a>(document: &'a Document<'a>, name: &'static str) -> impl Iterator<Item = Node<'a, 'a>> {
    document.descendants().filter(move |node| node.has_tag_name(name))
}

#[test]
fn every_element_is_documented_and_every_id_is_there() {
    for options in [
        Options::default(),
        all(),
        Options { ring: Some(512 << 20), stacks: "all".parse().unwrap(), ..all() },
        Options { stacks: "none".parse().unwrap(), ..all() },
        Options { counters: vec!["A&B \"C\" <D>".to_owned()], ..all() },
    ] {
        let text = profile::recording_profile(&options, Some("a&b.exe"));
        let document = Document::parse(&text).unwrap();
        check(document.root_element());
        for (definition, reference) in [
            ("SystemCollector", "SystemCollectorId"),
            ("EventCollector", "EventCollectorId"),
            ("SystemProvider", "SystemProviderId"),
            ("EventProvider", "EventProviderId"),
            ("HardwareCounter", "HardwareCounterId"),
        ] {
            let ids: Vec<&str> = by_name(&document, definition).map(|node| node.attribute("Id").unwrap()).collect();
            let defined: BTreeSet<&str> = ids.iter().copied().collect();
            assert_eq!(ids.len(), defined.len(), "{definition} has an id twice");
            assert!(ids.iter().all(|id| !id.is_empty() && !id.contains([':', ' '])), "{ids:?}");
            let used: BTreeSet<&str> =
                by_name(&document, reference).map(|node| node.attribute("Value").unwrap()).collect();
            assert_eq!(defined, used, "{definition}");
        }
    }
}

#[test]
fn every_profile_is_there_for_files_and_for_memory() {
    let mut found = Vec::new();
    for chosen in profiles::PROFILES {
        let text = profile::recording_profile(&only(&[chosen.name]), None);
        let document = Document::parse(&text).unwrap();
        let attribute = |node: Node<'_, '_>, name: &str| node.attribute(name).unwrap().to_owned();
        for node in by_name(&document, "Profile") {
            let [name, level, mode] = ["Name", "DetailLevel", "LoggingMode"].map(|key| attribute(node, key));
            assert_eq!(attribute(node, "Id"), format!("{name}.{level}.{mode}"));
            assert!(!attribute(node, "Description").is_empty());
            found.push((name, mode));
        }
    }
    let expected: Vec<(String, String)> = profiles::PROFILES
        .iter()
        .flat_map(|profile| ["File", "Memory"].map(|mode| (profile.name.to_owned(), mode.to_owned())))
        .collect();
    assert_eq!(found, expected);
    // Of the list that users know none is missing.
    for name in [
        "Default",
        "CSwitch",
        "MiniFilter",
        "File",
        "Network",
        "Sockets",
        "SysCall",
        "VirtualAlloc",
        "UserGDILeaks",
        "Handle",
        "PMCSample",
        "PMCBranch",
        "PMCLLC",
        "LBR",
    ] {
        assert!(found.iter().any(|(profile, _)| profile == name), "{name}");
    }
}

/// Options with these profiles.
fn only(names: &[&str]) -> Options {
    Options {
        profiles: names.iter().map(|name| profiles::find(name).expect("a profile")).collect(),
        ..Options::default()
    }
}

#[test]
fn only_the_profiles_asked_for_are_written() {
    let text = profile::recording_profile(&only(&["CSwitch", "File"]), None);
    let document = Document::parse(&text).unwrap();
    let names: Vec<&str> = by_name(&document, "Profile").map(|node| node.attribute("Name").unwrap()).collect();
    assert_eq!(names, ["CSwitch", "CSwitch", "File", "File"]);
    assert_eq!(by_name(&document, "SystemProvider").count(), 2);
    // What runs is what is written: the command line starts these two.
    let started =
        command::plan(&only(&["CSwitch", "File"]), Path::new("x.wprp"), Path::new("temp"), Path::new("x.etl")).start;
    let started: Vec<&str> = started.iter().filter_map(|word| word.strip_prefix("x.wprp!")).collect();
    assert_eq!(started, ["CSwitch", "File"]);
}

#[test]
fn what_counters_need_is_recorded_with_them() {
    let text = profile::recording_profile(&all(), None);
    let document = Document::parse(&text).unwrap();
    let keywords = |id: &str| -> BTreeSet<String> {
        let provider = by_name(&document, "SystemProvider").find(|node| node.attribute("Id") == Some(id)).unwrap();
        let keywords = provider.descendants().filter(|node| node.has_tag_name("Keyword"));
        keywords.map(|node| node.attribute("Value").unwrap().to_owned()).collect()
    };
    for (profile, keyword) in
        [("PMCBranch", "CSwitch"), ("PMCLLC", "CSwitch"), ("PMCSample", "PmcProfile"), ("SysCall", "CSwitch")]
    {
        assert!(keywords(&format!("SystemProvider_{profile}")).contains(keyword), "{profile}");
    }
    // Parts of operations say nothing without the operations, nor soft faults without the hard ones.
    for keyword in ["DiskIO", "DiskIOInit", "SplitIO", "SampledProfile"] {
        assert!(keywords("SystemProvider_Disk").contains(keyword), "{keyword}");
    }
    for keyword in ["HardFaults", "AllFaults", "MemoryInfo"] {
        assert!(keywords("SystemProvider_Memory").contains(keyword), "{keyword}");
    }
    let provider =
        by_name(&document, "SystemProvider").find(|node| node.attribute("Id") == Some("SystemProvider_Disk"));
    let stacks = provider.expect("Disk").descendants().filter(|node| node.has_tag_name("Stack"));
    let stacks: Vec<&str> = stacks.filter_map(|node| node.attribute("Value")).collect();
    for stack in ["DiskReadInit", "DiskWriteInit", "DiskFlushInit"] {
        assert!(stacks.contains(&stack), "{stacks:?}");
    }
    let counters = by_name(&document, "HardwareCounter").map(|node| node.attribute("Strict"));
    assert!(counters.into_iter().all(|strict| strict == Some("false")), "virtual machines have none");
}

fn lines(options: &Options) -> String {
    let plan = command::plan(options, Path::new("x.wprp"), Path::new("temp"), Path::new("x.etl"));
    let calls = plan.before.iter().chain([&plan.start, &plan.stop, &plan.cancel]).chain(&plan.after);
    let mut lines: Vec<String> = calls.map(|call| format!("wpr {}", call.join(" "))).collect();
    lines.extend(plan.shortfalls.iter().map(|shortfall| format!("missing: {}", shortfall.what)));
    lines.join("\n")
}

#[test]
fn command_lines() {
    let chosen = |names: &[&str]| names.iter().map(|name| profiles::find(name).expect("a profile")).collect();
    let own = ProfileFile { path: "own.wprp".into(), profile: Some("Mine".to_owned()) };
    for (name, options) in [
        ("wpr_default", Options::default()),
        ("wpr_combined", Options { profiles: chosen(&["File", "CSwitch", "Default"]), ..Options::default() }),
        ("wpr_long_term", Options { profiles: chosen(&["VirtualAlloc"]), ..Options::default() }),
        ("wpr_ring_and_rate", Options { ring: Some(1 << 30), rate: "10ms".parse().unwrap(), ..Options::default() }),
        ("wpr_own_profile", Options { profiles: Vec::new(), profile_files: vec![own], ..Options::default() }),
        ("wpr_only_process", Options { scope: Scope::Command, ..Options::default() }),
    ] {
        insta::assert_snapshot!(name, lines(&options));
    }
}

#[test]
fn buffers_as_large_as_was_asked_for() {
    let buffers = |bytes: Option<u64>| {
        let text = profile::recording_profile(&Options { buffer: bytes, ..Options::default() }, None);
        let document = Document::parse(&text).unwrap();
        let collector = document.descendants().find(|node| node.has_tag_name("SystemCollector")).unwrap();
        let value = |name: &str| {
            let node = collector.children().find(|node| node.has_tag_name(name)).unwrap();
            node.attribute("Value").unwrap().parse::<u64>().unwrap()
        };
        value("BufferSize") * value("Buffers")
    };
    assert_eq!(buffers(None), 256 << 10);
    assert_eq!(buffers(Some(1 << 30)), 1 << 20);
    assert_eq!(buffers(Some(1)), 4 << 10);
}
