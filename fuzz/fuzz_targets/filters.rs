//! What users write into filters: the first line is a filter, the rest a text to be filtered.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use tracesift_ask::filter::ProcessPatterns;
use tracesift_ask::inputs::FileFilter;
use tracesift_grammar::TimeRange;
use tracesift_grammar::{TimeUnit, parse_size, parse_time};
use tracesift_grammar::{Pattern, Patterns};

fuzz_target!(|text: &str| {
    let (filter, subject) = text.split_once('\n').unwrap_or((text, ""));
    let pattern = Pattern::new(filter);
    assert_eq!(pattern.is_literal(), !filter.contains(['*', '?']));
    if pattern.is_literal() {
        assert!(pattern.matches(filter));
    }
    // What matches also stands somewhere in itself, and a list of one pattern is that pattern.
    if pattern.matches(subject) {
        assert!(Pattern::new(&format!("*{filter}*")).matches(subject));
    }
    let single = !filter.contains([';', '!']) && filter.trim() == filter && !filter.is_empty();
    let patterns = Patterns::parse(filter);
    assert_eq!(patterns.to_string(), filter);
    if single {
        assert_eq!(patterns.matches(subject), pattern.matches(subject));
        assert_ne!(Patterns::parse(&format!("!{filter}")).matches(subject), pattern.matches(subject));
    }
    let _ = ProcessPatterns::parse(filter).matches(subject, 4711);
    let _ = FileFilter::parse(&[filter]).matches(Path::new(subject));

    if let Ok(range) = filter.parse::<TimeRange>() {
        let (start, end) = range.bounds();
        assert!(start <= end && range.overlaps(None, None));
        assert!(range.start.is_none_or(|start| range.contains(start)));
        assert!(range.end.is_none_or(|end| !range.contains(end)));
    }
    for unit in [TimeUnit::Seconds, TimeUnit::Milliseconds, TimeUnit::Microseconds] {
        let _ = parse_time(filter, unit);
    }
    let _ = parse_size(filter);
});
