//! Trees of paths, against sums over the paths themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use tracesift_testing::archive::{Random, create, finish};
use tracesift_trace::rows::{FileIoRow, FileRow, ProcessRow, file_operations};
use tracesift_trace::{FileId, ProcessId};

use crate::answer::{Section, Value};
use crate::ask::Ask as _;
use crate::filter::ProcessFilter;
use crate::order::{Between, Top};
use crate::question::file::Question;
use crate::recording::{OpenRecording, Source};

const PATHS: [&str; 9] = [
    r"C:\a\x.txt",
    r"C:\a\b\y.txt",
    r"C:\a\b\z.txt",
    r"C:\a\bc\y.txt",
    r"C:\a",
    r"D:\b\y.txt",
    "D:",
    r"\\server\share\y.txt",
    r"C:\pagefile.sys",
];

/// A read: process, file, bytes, begin and end.
type Read = (i32, Option<usize>, i64, (i64, i64));

fn archive(directory: &Path, seed: u64) -> (PathBuf, Vec<Read>) {
    let mut random = Random(seed);
    let mut reads: Vec<Read> = (0..60)
        .map(|_| {
            let file = Some(random.below(PATHS.len() + 1)).filter(|file| *file < PATHS.len());
            let (start, length) = (random.below(900) as i64, random.below(90) as i64);
            (random.below(2) as i32, file, random.below(1_000) as i64, (start, start + length))
        })
        .collect();
    reads.sort_by_key(|(.., (_, end))| *end);
    let mut writer = create(&directory.join("tree.sift"));
    let process = |id: i32| ProcessRow {
        process: ProcessId(id),
        pid: 100 + i64::from(id),
        name: ["a.exe", "b.exe"][id as usize].to_owned(),
        ..ProcessRow::default()
    };
    writer.write_table(&[process(0), process(1)]);
    let id = |file: usize| FileId(i32::try_from(file).unwrap());
    let files = PATHS.iter().enumerate().map(|(file, path)| FileRow { file: id(file), path: (*path).to_owned() });
    writer.write_table(&files.collect::<Vec<_>>());
    let row = |(process, file, bytes, (start, time)): &Read| FileIoRow {
        time: *time,
        start: *start,
        process: ProcessId(*process),
        operation: file_operations::READ,
        transferred: Some(*bytes),
        file: file.map(id),
        ..FileIoRow::default()
    };
    writer.write_table(&reads.iter().map(row).collect::<Vec<_>>());
    (finish(writer), reads)
}

/// What a row of the tree has.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Node {
    path: String,
    depth: i64,
    operations: i64,
    bytes: i64,
    united: i64,
}

fn nodes(question: &Question, section: &Section) -> Vec<Node> {
    let columns = question.columns();
    let place = |key: &str| columns.iter().position(|column| column.key == key).expect("a column");
    let int = |row: &[Value], key: &str| match row[place(key)] {
        Value::Int(number) => number,
        ref other => panic!("{key} is {other:?}"),
    };
    let node = |row: &Vec<Value>| Node {
        path: if let Value::Text(path) = &row[place("path")] { path.clone() } else { panic!("{row:?}") },
        depth: int(row, "depth"),
        operations: int(row, "operations"),
        bytes: int(row, "total_bytes"),
        united: int(row, "union_ns"),
    };
    section.rows.iter().map(node).collect()
}

/// Whether a path is a node, or lies below it.
fn is_at_or_below(path: &str, node: &str) -> bool {
    path == node || path.strip_prefix(node).is_some_and(|rest| rest.starts_with('\\'))
}

const ROOTS: [&str; 4] = ["(no file)", "C:", "D:", r"\\server\share"];

fn naive(reads: &[Read], depth: usize) -> BTreeMap<String, Node> {
    let path = |read: &Read| read.1.map_or("(no file)", |file| PATHS[file]);
    let mut all: BTreeSet<(String, usize)> = BTreeSet::new();
    for path in reads.iter().map(path) {
        let root = ROOTS.into_iter().find(|root| is_at_or_below(path, root)).expect("a root");
        let mut node = root.to_owned();
        all.insert((node.clone(), 0));
        let names = path[root.len()..].split('\\').filter(|name| !name.is_empty()).take(depth);
        for (above, name) in names.enumerate() {
            node = format!("{node}\\{name}");
            all.insert((node.clone(), above + 1));
        }
    }
    let node = |(node, depth): (String, usize)| {
        let below: Vec<&Read> = reads.iter().filter(|read| is_at_or_below(path(read), &node)).collect();
        let instants: BTreeSet<i64> = below.iter().flat_map(|(.., (start, end))| *start..*end).collect();
        let found = Node {
            path: node.clone(),
            depth: depth as i64,
            operations: below.len() as i64,
            bytes: below.iter().map(|read| read.2).sum(),
            united: instants.len() as i64,
        };
        (node, found)
    };
    all.into_iter().map(node).collect()
}

fn parent(node: &Node) -> Option<&str> {
    (node.depth > 0).then(|| &node.path[..node.path.rfind('\\').expect("a separator")])
}

/// Whether each node stands below the one above it, and siblings ascend by their bytes.
fn is_in_order(nodes: &[Node]) {
    let mut above: Vec<&str> = Vec::new();
    let mut latest: BTreeMap<Option<&str>, i64> = BTreeMap::new();
    for node in nodes {
        above.truncate(node.depth as usize);
        assert_eq!(above.last().copied(), parent(node), "{nodes:?}");
        assert!(latest.insert(parent(node), node.bytes).is_none_or(|before| before <= node.bytes), "{nodes:?}");
        above.push(&node.path);
    }
}

#[test]
fn a_node_has_everything_below_it() {
    for seed in 1..=8 {
        let directory = tempfile::tempdir().expect("a directory");
        let (archive, reads) = archive(directory.path(), seed);
        let recording = OpenRecording::open(&Source::archive(archive)).expect("an archive");
        let ask = |question: &Question| question.section(&recording).expect("an answer");
        for level in [None, Some(0), Some(1), Some(2)] {
            let mut question = Question::default().as_tree();
            question.dir_level = level;
            let section = ask(&question);
            let found = nodes(&question, &section);
            is_in_order(&found);
            let expected = naive(&reads, level.unwrap_or(100));
            let by_path: BTreeMap<String, Node> = found.iter().map(|node| (node.path.clone(), node.clone())).collect();
            assert_eq!((found.len(), &by_path), (expected.len(), &expected), "seed {seed}, {level:?}");
            // Totals count each operation once.
            assert_eq!(section.facts, ask(&Question::default()).facts);
        }
        let mut question = Question::default().as_tree();
        question.filter = ProcessFilter { process: "a.exe".into(), ..ProcessFilter::default() };
        let of_process: Vec<Read> = reads.iter().filter(|read| read.0 == 0).copied().collect();
        let found = nodes(&question, &ask(&question));
        let expected: Vec<Node> = naive(&of_process, 100).into_values().collect();
        assert_eq!(found.iter().map(|node| &node.path).collect::<BTreeSet<_>>().len(), expected.len());
        assert!(found.iter().all(|node| expected.contains(node)), "seed {seed}");

        // Of each directory the largest ones.
        let whole = Question::default().as_tree();
        let all = nodes(&whole, &ask(&whole));
        let mut question = whole.clone();
        question.top = Top { take: Some(1), skip: 0 };
        let found = nodes(&question, &ask(&question));
        is_in_order(&found);
        let mut above = None;
        let mut expected = Vec::new();
        while let Some(largest) = all.iter().rfind(|node| parent(node) == above) {
            expected.push(largest.clone());
            above = Some(&largest.path);
        }
        assert_eq!(found, expected, "seed {seed}");

        // A row that a limit leaves out has no children elsewhere: they are smaller.
        let limited = whole.groups_between("--min-count", Between { min: Some(9), max: None }).expect("an option");
        let found = nodes(&limited, &ask(&limited));
        let expected: Vec<Node> = all.into_iter().filter(|node| node.operations >= 9).collect();
        assert_eq!(found, expected, "seed {seed}");
    }
}
