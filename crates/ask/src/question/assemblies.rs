//! `dump assemblies`: which assemblies .NET programs loaded, when, and by whom.

use tracesift_trace::rows::AssemblyRow;
use tracesift_trace::{ProcessId, view};

use crate::answer::{ColumnOf, Kind};
use crate::recording_label::RowSource;
use crate::table_question::{self, Condition, Dimension, Measure, TableQuestion};

view! {
    /// An assembly that was loaded.
    #[derive(Clone, Debug)]
    pub struct Assembly of AssemblyRow { time, start, process, thread, name, path, flags, there, open, stack }
}

/// Assemblies of .NET programs.
#[derive(Clone, Copy, Debug)]
pub struct Assemblies;

/// What is asked.
pub type Question = table_question::Question<Assemblies>;

/// The options.
pub type Options = table_question::Options<Assemblies>;

/// Bits of the flags.
const SHARED: i64 = 1;
const DYNAMIC: i64 = 2;
const PRECOMPILED: i64 = 4;
const COLLECTIBLE: i64 = 8;
const READY_TO_RUN: i64 = 16;
const KNOWN: i64 = SHARED | DYNAMIC | PRECOMPILED | COLLECTIBLE | READY_TO_RUN;

impl TableQuestion for Assemblies {
    type Row = Assembly;

    const NAME: &'static str = "assemblies";
    const WHAT: [&'static str; 2] = ["assembly of .NET", "assemblies of .NET"];
    const SOURCE: RowSource = RowSource::windows("Default");
    const MOST: &'static str = "most loads";

    const DIMENSIONS: &'static [Dimension<Assembly>] = &[
        Dimension::process(),
        Dimension::thread(|row| row.thread),
        Dimension::text("name", "Name", |row: &Assembly| Some(short(&row.name)))
            .meaning("Name of the assembly, without version, culture and key.")
            .filtered("--name", ["assembly", "assemblies"], "Only these assemblies: mscorlib, 'System.*'"),
        Dimension::text("path", "Path", |row: &Assembly| row.path.as_deref())
            .meaning("Path of the file. Empty: the assembly has no file, or no event tells it.")
            .filtered("--path", ["path", "paths"], r"Only assemblies of these files: '*\GAC_MSIL\*'"),
        Dimension::words("kind", "Kind", |row: &Assembly| Some(row.flags & KNOWN), kind)
            .meaning("`precompiled` (NGEN or ReadyToRun), `dynamic` (made by the program), `collectible`, `shared` by application domains, or several; else `plain`.")
            .filtered("--kind", ["kind", "kinds"], "Only these kinds: '*dynamic*', plain"),
        Dimension::method(|row: &Assembly| (row.stack, None))
            .meaning("Function that loaded it, as `module!function`: the leaf of the stack.")
            .coarse(),
        Dimension::tag(|row: &Assembly| row.stack).coarse(),
        Dimension::stack(|row: &Assembly| row.stack).coarse().meaning("The functions of the stack of the load."),
    ];

    const MEASURES: &'static [Measure<Assembly>] = &[
        Measure::distinct("process", "processes", "Processes").meaning("Number of processes that had it loaded."),
        Measure::distinct("name", "assemblies", "Assemblies").meaning("Number of assemblies by name."),
        Measure::rows("count", "Count")
            .meaning("Number of times that it was loaded into an application domain, also before the recording.")
            .sorted(&["count"])
            .total("assemblies"),
        Measure::rows_if("loaded", "Loaded", |row: &Assembly| row.there != Some(true))
            .meaning("Those of them that were loaded in the recording.")
            .sorted(&["loaded"])
            .total("loaded"),
        Measure::rows_if("unloaded", "Unloaded", |row: &Assembly| row.open != Some(true))
            .meaning("Those of them that were unloaded, or whose process ended, in the recording.")
            .sorted(&["unloaded"]),
        Measure::first("first_ns", "First")
            .meaning("When the first of them was loaded; of one that was there before, the start of its process or of the recording.")
            .sorted(&["start", "time"]),
    ];

    const CONDITIONS: &'static [Condition<Assembly>] = &[Condition {
        option: "--loaded",
        holds: |row| row.there != Some(true),
        help: "Only assemblies that were loaded in the recording",
    }];

    const LIST: &'static [ColumnOf<Assembly>] = &[
        ColumnOf::details(
            "full_name",
            "Full name",
            Kind::Text,
            |row| row.name.as_str().into(),
            "Whole name, with version, culture and key.",
        ),
        ColumnOf::details(
            "there",
            "There",
            Kind::Bool,
            |row| row.there.into(),
            "Whether it was loaded before the recording.",
        ),
        ColumnOf::details(
            "open",
            "Open",
            Kind::Bool,
            |row| row.open.into(),
            "Whether it is loaded at the end of the recording.",
        ),
    ];

    const BY: &'static [&'static str] = &["process"];
    const SORT: &'static str = "count";
    const SHORT: &'static [&'static str] = &["process", "time", "top", "name", "loaded", "by", "list", "sort", "csv"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump assemblies X.sift", "how many assemblies each process has"),
        ("tracesift dump assemblies X.sift -p App --loaded --list --sort start", "the order of loads"),
        ("tracesift dump assemblies X.sift --by name,path", "each assembly, and where it is"),
        ("tracesift dump assemblies X.sift --loaded --by stack --top 5", "who loads most"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] =
        &[&["--by=name"], &["--by=path"], &["--by=kind"], &["--loaded"], &["--by=method"], &["--by=stack"]];

    fn process(row: &Assembly) -> Option<ProcessId> {
        row.process
    }

    fn times(row: &Assembly) -> (i64, i64) {
        (row.start, row.time.max(row.start))
    }
}

/// The name without version, culture and key.
fn short(name: &str) -> &str {
    name.split_once(',').map_or(name, |(short, _)| short)
}

fn kind(flags: i64) -> String {
    let words = [
        (PRECOMPILED | READY_TO_RUN, "precompiled"),
        (DYNAMIC, "dynamic"),
        (COLLECTIBLE, "collectible"),
        (SHARED, "shared"),
    ];
    let words: Vec<&str> = words.iter().filter(|(bit, _)| flags & bit != 0).map(|(_, word)| *word).collect();
    if words.is_empty() { "plain".to_owned() } else { words.join(" ") }
}
