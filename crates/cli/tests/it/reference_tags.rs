//! The built-in rules for stacks beside those that come with ETWAnalyzer, tag by tag, over all recordings of the demo.
//!
//! The figures of the reference were counted with its own `default.stacktags` (`--tag-file`), once. A line without a reason is a tag
//! that both have. Where ours say more, or something else, the line says why, and the figures of all its tags still add up to the same.

use std::collections::BTreeMap;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::tracesift;

/// CPU, wait and ready time in ms; the plain sums, which add up over tags.
type Figures = [i64; 3];

struct Line {
    process: &'static str,
    reference: &'static [(&'static str, Figures)],
    ours: &'static [&'static str],
    /// Why ours are others. Empty: they mean the same.
    reason: &'static str,
}

const LINES: &[Line] = &[
    Line {
        process: "System",
        reference: &[("Windows\\NTFS Checkpoint Volume", [1_545, 11_940, 0])],
        ours: &["File system\\NTFS\\NTFS Checkpoint Volume"],
        reason: "",
    },
    Line {
        process: "System",
        reference: &[("Antivirus - Windows Defender\\Filter Driver WdFilter.sys", [28, 0, 0])],
        ours: &["Antivirus\\Windows Defender"],
        reason: "",
    },
    Line {
        process: "System",
        reference: &[("Other", [2_095, 185_854, 1_235])],
        ours: &["File system\\Cache manager\\Write behind", "Waits\\Work (thread pool)"],
        reason: "write behind and workers without work have names of their own",
    },
    Line {
        process: "FileWriter.exe",
        reference: &[("Antivirus - Windows Defender\\Filter Driver WdFilter.sys", [4_920, 16_340, 6_584])],
        ours: &["Antivirus\\Windows Defender"],
        reason: "",
    },
    Line {
        process: "FileWriter.exe",
        reference: &[
            ("Other", [27_729, 740, 12_660]),
            ("Waits\\File System Callback - possible Virus Scanner", [19_120, 0, 0]),
            ("Waits\\Normal Waits\\IO Completion Port Wait", [0, 195, 0]),
            ("Waits\\Normal Waits\\OS Wait", [0, 116_439, 0]),
            ("Waits\\Thread Sleep", [0, 4_500, 0]),
        ],
        ours: &[
            ".NET\\Allocation",
            ".NET\\I/O",
            ".NET\\JIT\\Tiered compilation",
            ".NET\\Tasks",
            ".NET\\Text",
            ".NET\\Thread pool",
            "File system\\Cache manager",
            "File system\\NTFS\\Close and clean-up",
            "File system\\NTFS\\Create and open",
            "Memory\\Heap allocate",
            "Other",
            "Waits\\Event",
            "Waits\\Lock\\Kernel",
            "Waits\\Work (thread pool)",
        ],
        reason: "a stack below the filter manager is work of the file system unless a scanner's driver is in it; .NET has tags, \
                 and its background compiler's pauses are the compiler's",
    },
    Line {
        process: "MsMpEng.exe",
        reference: &[("Antivirus - Windows Defender", [166_218, 0, 1_147])],
        ours: &["Antivirus\\Windows Defender"],
        reason: "",
    },
    Line {
        process: "MsMpEng.exe",
        reference: &[("Waits\\Normal Waits\\IO Completion Port Wait", [0, 293_043, 5_854])],
        ours: &["Waits\\Work (thread pool)"],
        reason: "",
    },
    Line {
        process: "DPC/ISR",
        reference: &[("Other", [1_837, 0, 0])],
        ours: &["Windows\\Deferred procedure calls"],
        reason: "deferred procedure calls have a name of their own",
    },
    Line {
        process: "cmd.exe",
        reference: &[("Waits\\Normal Waits\\OS Wait", [0, 58_101, 0])],
        ours: &["Waits\\Event"],
        reason: "",
    },
    Line {
        process: "explorer.exe",
        reference: &[("Waits\\Normal Waits\\OS Wait", [0, 118_861, 596])],
        ours: &["Waits\\Event"],
        reason: "",
    },
    Line {
        process: "svchost.exe",
        reference: &[("Waits\\Normal Waits\\OS Wait", [0, 178_836, 594])],
        ours: &["Waits\\Event"],
        reason: "",
    },
];

/// Tags that both sets call the same, with the reference's figures.
const COMMON: [(&str, &str, Figures); 9] = [
    ("FileWriter.exe", "No stack", [31, 0, 0]),
    ("MsMpEng.exe", "No stack", [0, 14_485, 0]),
    ("System", "No stack", [0, 4_897, 0]),
    ("cmd.exe", "No stack", [0, 1_776, 0]),
    ("cmd.exe", "Other", [60, 0, 0]),
    ("explorer.exe", "No stack", [0, 1_225, 0]),
    ("explorer.exe", "Other", [1_620, 0, 41]),
    ("svchost.exe", "No stack", [0, 2_415, 0]),
    ("svchost.exe", "Other", [1_460, 0, 28]),
];

fn figures(row: &Value) -> Figures {
    ["cpu_ns", "wait_sum_ns", "ready_sum_ns"].map(|key| row[key].as_i64().unwrap_or(0) / 1_000_000)
}

#[test]
fn the_built_in_tags_say_what_the_reference_says_but_for_what_is_listed() {
    let directory = TempDir::new().unwrap();
    tracesift(directory.path(), &["demo", "demo"]);
    let text = tracesift(directory.path(), &["dump", "cpu", "demo", "--stacktags", "*", "--format", "json"]);
    let rows: Vec<Value> = serde_json::from_str(&text).unwrap();
    let mut found: BTreeMap<(String, String), Figures> = BTreeMap::new();
    for row in &rows {
        let key = |name: &str| row[name].as_str().unwrap().to_owned();
        let sum = found.entry((key("process"), key("stack_tag"))).or_default();
        sum.iter_mut().zip(figures(row)).for_each(|(sum, figure)| *sum += figure);
    }
    let mut take = |process: &str, tag: &str| {
        found.remove(&(process.to_owned(), tag.to_owned())).unwrap_or_else(|| panic!("no {tag} in {process}"))
    };
    let add = |sum: Figures, more: Figures| [sum[0] + more[0], sum[1] + more[1], sum[2] + more[2]];
    for Line { process, reference, ours, reason } in LINES {
        assert!(!reason.is_empty() || (reference.len(), ours.len()) == (1, 1), "{process}: {ours:?}");
        let theirs = reference.iter().fold([0; 3], |sum, (_, figures)| add(sum, *figures));
        let sum = ours.iter().fold([0; 3], |sum, tag| add(sum, take(process, tag)));
        assert_eq!(sum, theirs, "{process}: {ours:?} beside {reference:?}");
    }
    for (process, tag, figures) in COMMON {
        assert_eq!(take(process, tag), figures, "{tag} of {process}");
    }
    assert_eq!(found, BTreeMap::new(), "tags that no line knows");

    // The post's own command line: "up to 7461 ms" are CPU and wait of the checkpoint in the slowest run.
    let line = [
        "-dump",
        "CPU",
        "-ProcessName",
        "System",
        "-StackTags",
        "*checkpoint*",
        "-fd",
        "*14527*",
        "-ShowTotal",
        "method",
    ];
    let shown = tracesift(&directory.path().join("demo"), &line);
    let row = shown.lines().find(|line| line.contains("NTFS Checkpoint Volume")).unwrap();
    let numbers: Vec<f64> = row.split_whitespace().filter_map(|word| word.replace(',', "").parse().ok()).collect();
    assert!(numbers.contains(&857.0) && numbers.contains(&6_604.0), "{shown}");
}
