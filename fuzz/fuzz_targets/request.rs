//! A request to the server of the page: the first line is the method, the second one the target, then a header per line up to an empty
//! one; the rest is a query and a name of a lane.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tracesift_view::fuzzing::{lane, lets_in, parameters};

fuzz_target!(|text: &str| {
    let mut lines = text.lines();
    let (method, target) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let headers: Vec<(&str, &[u8])> = lines
        .by_ref()
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name, value.as_bytes()))
        .collect();
    if lets_in(method, target, &headers) == Some(true) {
        // Without the token nobody gets more than the page, and its hosts are two.
        let path = target.split(['?', '#']).next().unwrap_or_default();
        assert!(!path.starts_with("/api/"), "{target}");
        let hosts: Vec<_> = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("host")).collect();
        assert!(matches!(hosts[..], [(_, b"127.0.0.1:1" | b"localhost:1")]), "{hosts:?}");
        assert!(method == "GET" || method == "POST");
    }
    let rest: Vec<&str> = lines.collect();
    for line in rest {
        if let Some(name) = lane(line) {
            assert_eq!(name, line);
        }
        for value in parameters(line).unwrap_or_default() {
            assert!(!value.is_empty());
        }
    }
});
