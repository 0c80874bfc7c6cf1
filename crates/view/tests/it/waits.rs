//! Kinds of waits: those of `dump waits`, for one lane and for several at once.

use std::collections::BTreeMap;

use serde_json::json;

use crate::endpoints::{answer, ids, lanes, session};
use crate::support::{Frame, Running};

#[test]
fn waits_have_the_kinds_of_the_command() {
    let server = Running::start();
    let (start, end) = session(&server);
    let ranges = [(start, end + 1), (start + (end - start) / 3, start + (end - start) / 2)];
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for process in ids(&lanes(&server, "&parent=processes")) {
        let threads: Vec<String> = ids(&lanes(&server, &format!("&parent={process}")));
        let threads: Vec<String> = threads.into_iter().filter(|id| id.starts_with("thread:")).collect();
        for (from, to) in ranges.iter().filter(|_| !threads.is_empty()) {
            let body = json!({ "recording": "r0", "lanes": threads, "from": from, "to": to });
            let frames = Frame::all(&server.post("/api/1/spans", &body).body);
            assert_eq!(frames.iter().map(|frame| frame.head["lane"].as_str().unwrap()).collect::<Vec<_>>(), threads);
            let mut found: Vec<(i64, i64, String)> = Vec::new();
            for (frame, lane) in frames.iter().zip(&threads) {
                let body = json!({ "recording": "r0", "lane": lane, "from": from, "to": to });
                let alone = Frame::all(&server.post("/api/1/spans", &body).body);
                assert_eq!(alone[0].head, frame.head);
                for (place, kind) in frame.column("kind").iter().enumerate() {
                    let is_wait = frame.column("state")[place] == 2.0;
                    assert_eq!(kind.is_nan(), !is_wait, "{lane} {place}");
                    assert_eq!(kind.to_bits(), alone[0].column("kind")[place].to_bits());
                    let (start, end) = (frame.column("start")[place] as i64, frame.column("end")[place] as i64);
                    if is_wait && end > start {
                        let word = frame.head["kinds"][*kind as usize].as_str().unwrap().to_owned();
                        *kinds.entry(word.clone()).or_default() += 1;
                        found.push((start, end, word));
                    }
                }
            }
            let words: Vec<String> = serde_json::from_value(frames[0].head["words"].clone()).unwrap();
            let text = |row: &serde_json::Value| row["kind"].as_str().unwrap().to_owned();
            let waits = answer(&server, &words);
            let mut expected: Vec<(i64, i64, String)> = waits
                .iter()
                .map(|row| (row["from_ns"].as_i64().unwrap(), row["to_ns"].as_i64().unwrap(), text(row)))
                .collect();
            found.sort();
            expected.sort();
            assert_eq!(found, expected, "{words:?}");
        }
    }
    assert!(kinds.len() > 1, "{kinds:?}");
}
