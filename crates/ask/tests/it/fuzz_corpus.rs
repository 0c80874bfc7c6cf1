//! The filters that fuzzing starts from, in `fuzz/corpus/filters`: the first line is a filter, the second passes it. With
//! `WRITE_CORPUS=1` they are written.

use std::path::Path;

use tracesift_ask::filter::ProcessPatterns;
use tracesift_ask::inputs::FileFilter;
use tracesift_grammar::Patterns;
use tracesift_grammar::TimeRange;
use tracesift_grammar::parse_size;

const FILTERS: [(&str, &str); 6] = [
    ("list", "*Serial*;!*WithAV*\nCreateSerial_2"),
    ("wildcards", "*a*??b*\nxaaäöb"),
    ("process", "cmd;explorer.exe;!4712\ncmd.exe"),
    ("path", "runs/*Serial*;!*/x\n./runs/Serial_1.etl.zip"),
    ("time_range", "3.2s..7900ms\n"),
    ("size", "1.5GiB\n"),
];

#[test]
fn the_corpus_of_filters_is_what_its_names_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/filters");
    for (name, text) in FILTERS {
        if std::env::var_os("WRITE_CORPUS").is_some() {
            std::fs::create_dir_all(&folder).expect("a folder");
            std::fs::write(folder.join(name), text).expect("written");
        }
        assert_eq!(std::fs::read_to_string(folder.join(name)).expect("it is there"), text, "{name}");
        let (filter, subject) = text.split_once('\n').expect("two lines");
        assert!(match name {
            "process" => ProcessPatterns::parse(filter).matches(subject, 4711),
            "path" => FileFilter::parse(&[filter]).matches(Path::new(subject)),
            "time_range" => filter.parse::<TimeRange>().is_ok_and(|range| !range.is_everything()),
            "size" => parse_size(filter) == Ok(3 << 29),
            _ => Patterns::parse(filter).matches(subject),
        });
    }
}
