//! Every format as the same table: thread, frames, weight.

use std::collections::{BTreeMap, HashMap};
use std::io::Read;

use serde_json::Value;
use tracesift_export::{Profile, Unit};

use crate::formats::protobuf::{number, numbers, packed, part, parts};

/// Weight by thread id and frames, outermost first, as `module!function`.
pub(crate) type Table = BTreeMap<(u64, Vec<String>), u64>;

/// The table of the profile itself.
pub(crate) fn truth(profile: &Profile) -> Table {
    let catalog = &profile.catalog;
    let mut table = Table::new();
    for sample in profile.samples.iter() {
        let mut frames: Vec<_> =
            catalog.frames_of(sample.stack).map(|frame| catalog.label(&catalog.frames()[frame.row()])).collect();
        frames.reverse();
        let tid = u64::from(catalog.threads()[sample.thread.row()].tid);
        *table.entry((tid, frames)).or_default() += sample.weight;
    }
    table.retain(|_, weight| *weight > 0);
    table
}

/// Of lines grouped by threads.
pub(crate) fn folded(text: &str) -> Table {
    let mut table = Table::new();
    for line in text.lines() {
        let (frames, weight) = line.rsplit_once(' ').expect("a weight");
        let mut frames = frames.split(';').map(str::to_owned);
        let (_process, thread) = (frames.next(), frames.next().expect("a thread"));
        let known = table.insert((last_id(&thread), frames.collect()), weight.parse().expect("a number"));
        assert_eq!(known, None, "twice: {line}");
    }
    table
}

/// The id in brackets at the end of a name.
fn last_id(name: &str) -> u64 {
    let (_, id) = name.rsplit_once('(').expect("an id");
    id.trim_end_matches(')').parse().expect("a number")
}

pub(crate) fn speedscope(text: &str, unit: Unit) -> Table {
    let file: Value = serde_json::from_str(text).expect("JSON");
    let frames: Vec<&str> = list(&file["shared"]["frames"]).map(|frame| frame["name"].as_str().unwrap()).collect();
    let mut table = Table::new();
    for profile in list(&file["profiles"]) {
        assert_eq!(profile["type"], "sampled");
        let word = match unit {
            Unit::Nanoseconds => "nanoseconds",
            Unit::Bytes => "bytes",
            Unit::Count => "none",
        };
        assert_eq!(profile["unit"], word);
        let tid = last_id(profile["name"].as_str().unwrap());
        let (samples, weights) = (list(&profile["samples"]), list(&profile["weights"]));
        assert_eq!(samples.len(), weights.len());
        let mut total = 0;
        for (sample, weight) in samples.zip(weights) {
            let path = list(sample).map(|frame| frames[index(frame)].to_owned()).collect();
            total += weight.as_u64().unwrap();
            *table.entry((tid, path)).or_default() += weight.as_u64().unwrap();
        }
        assert_eq!(profile["endValue"], total);
    }
    table.retain(|_, weight| *weight > 0);
    table
}

pub(crate) fn firefox(text: &str, unit: Unit) -> Table {
    let file: Value = serde_json::from_str(text).expect("JSON");
    let shared = &file["shared"];
    for table in ["stackTable", "frameTable", "funcTable", "resourceTable", "nativeSymbols", "sources"] {
        assert_columns(&shared[table]);
    }
    let text = |id: &Value| shared["stringArray"][index(id)].as_str().unwrap().to_owned();
    let label = |frame: &Value| {
        let function = &shared["frameTable"]["func"][index(frame)];
        let name = text(&shared["funcTable"]["name"][index(function)]);
        match shared["funcTable"]["resource"][index(function)].as_i64() {
            Some(-1) => name,
            Some(resource) => format!("{}!{name}", text(&shared["resourceTable"]["name"][resource as usize])),
            None => panic!("no resource"),
        }
    };
    let mut table = Table::new();
    for thread in list(&file["threads"]) {
        assert_columns(&thread["samples"]);
        assert_columns(&thread["markers"]);
        assert!(list(&thread["samples"]["time"]).map(|time| time.as_f64().unwrap()).is_sorted());
        let samples = &thread["samples"];
        let (word, scale) = match unit {
            Unit::Nanoseconds => ("tracing-ms", 1e6),
            Unit::Bytes => ("bytes", 1.0),
            Unit::Count => ("samples", 1.0),
        };
        assert_eq!(samples["weightType"], word);
        for (stack, weight) in list(&samples["stack"]).zip(list(&samples["weight"])) {
            let mut path = Vec::new();
            let mut next = stack;
            while !next.is_null() {
                path.push(label(&shared["stackTable"]["frame"][index(next)]));
                let caller = &shared["stackTable"]["prefix"][index(next)];
                assert!(caller.is_null() || index(caller) < index(next), "callers stand first");
                next = caller;
            }
            path.reverse();
            let weight = (weight.as_f64().unwrap() * scale).round() as u64;
            *table.entry((thread["tid"].as_u64().unwrap(), path)).or_default() += weight;
        }
    }
    table.retain(|_, weight| *weight > 0);
    table
}

/// All columns of a table are as long as it says.
fn assert_columns(table: &Value) {
    for (name, column) in table.as_object().expect("a table") {
        if let Some(column) = column.as_array() {
            assert_eq!(column.len() as u64, table["length"], "{name}");
        }
    }
}

fn list(value: &Value) -> impl ExactSizeIterator<Item = &Value> {
    value.as_array().expect("a list").iter()
}

fn index(value: &Value) -> usize {
    value.as_u64().expect("an index") as usize
}

pub(crate) fn unzip(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(bytes).read_to_end(&mut plain).expect("gzip");
    plain
}

pub(crate) fn pprof(bytes: &[u8], unit: Unit) -> Table {
    let file = unzip(bytes);
    let texts: Vec<&str> = parts(&file, 6).into_iter().map(|text| str::from_utf8(text).unwrap()).collect();
    assert_eq!(texts[0], "");
    let word = match unit {
        Unit::Nanoseconds => "nanoseconds",
        Unit::Bytes => "bytes",
        Unit::Count => "count",
    };
    let units: Vec<&str> = parts(&file, 1).into_iter().map(|value| texts[number(value, 2) as usize]).collect();
    assert_eq!(units, ["count", word]);
    let functions: HashMap<u64, &str> = parts(&file, 5)
        .into_iter()
        .map(|function| (number(function, 1), texts[number(function, 2) as usize]))
        .collect();
    let locations: HashMap<u64, Vec<&str>> = parts(&file, 4)
        .into_iter()
        .map(|location| {
            let lines = parts(location, 4).into_iter().map(|line| functions[&number(line, 1)]).collect();
            (number(location, 1), lines)
        })
        .collect();
    let mut table = Table::new();
    for sample in parts(&file, 2) {
        let innermost_first = packed(part(sample, 1)).into_iter().flat_map(|id| locations[&id].iter().copied());
        let mut path: Vec<String> = innermost_first.map(str::to_owned).collect();
        path.reverse();
        let tid = parts(sample, 3).into_iter().find(|label| texts[number(label, 1) as usize] == "tid").expect("a tid");
        *table.entry((number(tid, 3), path)).or_default() += packed(part(sample, 2))[1];
    }
    table.retain(|_, weight| *weight > 0);
    table
}

pub(crate) fn perfetto(bytes: &[u8]) -> Table {
    let (mut functions, mut modules) = (HashMap::new(), HashMap::new());
    let (mut mappings, mut frames) = (HashMap::new(), HashMap::new());
    let (mut stacks, mut threads) = (HashMap::new(), HashMap::new());
    let text = |bytes: &[u8]| str::from_utf8(bytes).unwrap().to_owned();
    let mut table = Table::new();
    for packet in parts(bytes, 1) {
        assert_eq!(number(packet, 10), 1, "one sequence");
        for interned in parts(packet, 12) {
            functions.extend(parts(interned, 5).into_iter().map(|row| (number(row, 1), text(part(row, 2)))));
            modules.extend(parts(interned, 17).into_iter().map(|row| (number(row, 1), text(part(row, 2)))));
            mappings.extend(parts(interned, 19).into_iter().map(|row| (number(row, 1), number(row, 7))));
            frames.extend(parts(interned, 6).into_iter().map(|row| (number(row, 1), (number(row, 2), number(row, 3)))));
            stacks.extend(parts(interned, 7).into_iter().map(|row| (number(row, 1), numbers(row, 2))));
            threads.extend(parts(interned, 48).into_iter().map(|row| (number(row, 1), number(row, 3))));
        }
        for sample in parts(packet, 135) {
            let label = |frame: &u64| {
                let (function, mapping) = frames[frame];
                match mapping {
                    0 => functions[&function].clone(),
                    _ => format!("{}!{}", modules[&mappings[&mapping]], functions[&function]),
                }
            };
            let path = stacks[&number(sample, 6)].iter().map(label).collect();
            *table.entry((threads[&number(sample, 2)], path)).or_default() += number(sample, 11);
        }
    }
    table.retain(|_, weight| *weight > 0);
    table
}
