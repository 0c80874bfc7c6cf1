//! What the endpoints answer about a recording of the demo, against `dump timeline`.

use serde_json::{Value, json};
use tracesift_ask::answer::Value as Cell;
use tracesift_ask::options::Plan;
use tracesift_ask::question;
use tracesift_ask::recording::Source;

use crate::support::{Frame, Running};

/// The rows of a command as objects, with texts and integers.
pub(crate) fn answer(server: &Running, words: &[String]) -> Vec<Value> {
    let name = words[..2].join(" ");
    let known = question::DUMP.iter().find(|known| known.command == name).unwrap();
    let options: Vec<&str> = words[2..].iter().map(String::as_str).collect();
    let (when, plan) = known.plan(&options).unwrap();
    let Plan::Archives(asking) = plan else { panic!("not about archives") };
    let sources = [Source::archive(server.archive.clone())];
    let outcome = tracesift_ask::ask(&sources, &*asking.question, &when);
    assert!(outcome.failures.is_empty(), "{words:?}: {:?}", outcome.failures);
    let columns = &outcome.answer.columns;
    let object = |row: &Vec<Cell>| {
        let cell = |(column, cell): (&tracesift_ask::answer::Column, &Cell)| {
            let value = match cell {
                Cell::Text(text) => Value::from(text.to_string()),
                Cell::Int(value) => Value::from(*value),
                Cell::Integers(values) => Value::from(values.clone()),
                _ => Value::Null,
            };
            (column.key.to_owned(), value)
        };
        Value::Object(columns.iter().zip(row).map(cell).collect())
    };
    outcome.answer.rows().map(object).collect()
}

pub(crate) fn session(server: &Running) -> (i64, i64) {
    let session = server.get("/api/1/session").json();
    let recording = &session["recordings"][0];
    (recording["start_ns"].as_i64().unwrap(), recording["end_ns"].as_i64().unwrap())
}

pub(crate) fn lanes(server: &Running, query: &str) -> Vec<Value> {
    let response = server.get(&format!("/api/1/lanes?of=r0{query}"));
    assert_eq!(response.status, 200, "{query}: {response:?}");
    response.json()["lanes"].as_array().unwrap().clone()
}

pub(crate) fn ids(lanes: &[Value]) -> Vec<String> {
    lanes.iter().map(|lane| lane["id"].as_str().unwrap().to_owned()).collect()
}

/// The words of a head, of a series.
fn words(frame: &Frame, series: &str) -> Vec<String> {
    serde_json::from_value(frame.head["words"][series].clone()).unwrap()
}

#[test]
fn the_session_tells_what_there_is() {
    let server = Running::start();
    let session = server.get("/api/1/session").json();
    let recording = &session["recordings"][0];
    assert_eq!(
        (&recording["id"], &recording["file"], &recording["format"]),
        (&json!("r0"), &json!("demo.sift"), &json!("etl"))
    );
    assert_eq!((&recording["has"]["samples"], &recording["has"]["switches"]), (&json!(true), &json!(true)));
    assert!(recording["rows"]["cpu_samples"].as_i64().unwrap() > 0);
    assert!(recording["wall_start"].as_str().unwrap().ends_with('Z'));
    assert_eq!(session["start"]["recording"], "r0");
    assert_eq!(session["tag_files"], json!([{ "id": "builtin", "name": "built-in" }]));
    // Neither the path of an archive nor the token is in it.
    let text = session.to_string();
    assert!(!text.contains(server.archive.to_str().unwrap()) && !text.contains(&server.token));
}

#[test]
fn every_lane_has_the_numbers_of_the_command_that_it_names() {
    let server = Running::start();
    let (start, end) = session(&server);
    let groups = ids(&lanes(&server, ""));
    assert!(groups.contains(&"processes".to_owned()) && groups.contains(&"cpus".to_owned()), "{groups:?}");
    let mut all = vec!["processes".to_owned(), "cpus".to_owned()];
    for group in &groups {
        let below = lanes(&server, &format!("&parent={group}"));
        assert!(!below.is_empty(), "{group}");
        for id in ids(&below) {
            if id.starts_with("process:") || id.starts_with("disk:") {
                all.extend(ids(&lanes(&server, &format!("&parent={id}"))));
            }
            if id.starts_with("tags:") {
                all.extend(ids(&lanes(&server, &format!("&parent={id}"))));
            } else if id != "mark:0" {
                all.push(id);
            }
        }
    }
    let ranges = [
        (start, end + 1, 60),
        (-2 * (end / 4), 5 * (end / 4), 7),
        ((start + end) / 3, (start + end) / 2, 333),
        (start, start + 3, 10),
    ];
    let mut compared = 0;
    for (from, to, columns) in ranges {
        let body = json!({ "recording": "r0", "from": from, "to": to, "columns": columns, "lanes": all });
        let response = server.post("/api/1/columns", &body);
        assert_eq!(response.status, 200, "{response:?}");
        let frames = Frame::all(&response.body);
        assert_eq!(frames.iter().map(|frame| frame.head["lane"].as_str().unwrap()).collect::<Vec<_>>(), all);
        for frame in &frames {
            for series in frame.head["series"].as_array().unwrap() {
                let series = series.as_str().unwrap();
                // Who ran longest is in no question.
                if series == "top" {
                    continue;
                }
                check(&server, frame, series);
                compared += 1;
            }
        }
    }
    assert!(compared > 100, "{compared}");
}

/// Compares a series with the rows of the command that has it: those of the lane, or all that add up to it.
pub(crate) fn check(server: &Running, frame: &Frame, series: &str) {
    let lane = frame.head["lane"].as_str().unwrap();
    let words = words(frame, series);
    let rows = answer(server, &words);
    let is_of = |row: &&Value| match lane.split(':').next().unwrap() {
        "cpu" | "frequency" => row["cpu"].as_i64() == lane.rsplit(':').next().unwrap().parse().ok(),
        "disk" => row["disk"] == lane.split(':').nth(1).unwrap(),
        "thread" | "process" | "event" => Some(row["lane"].as_str().unwrap()) == name(server, lane).as_deref(),
        "tag" => row["stack_tag"] == lane.splitn(3, ':').nth(2).unwrap(),
        "network" | "memory" => row["kind"] == series,
        "region" => row["kind"] == lane.split_once(':').unwrap().1,
        "gc" | "jit" => {
            row["pid"] == words[words.iter().position(|word| word == "-p").unwrap() + 1].parse::<i64>().unwrap()
        }
        "counter" => row["counter"] == lane.split_once(':').unwrap().1,
        _ => true,
    };
    let values = frame.column(series);
    let (first, width) = (frame.head["first_ns"].as_i64().unwrap(), frame.head["bucket_ns"].as_i64().unwrap());
    let (start, end) = session(server);
    // Columns outside of the recorded time have no figure.
    let is_recorded = |place: usize| {
        let from = first + width * i64::try_from(place).unwrap();
        from <= end && from + width > start
    };
    let mut expected: Vec<f64> =
        (0..values.len()).map(|place| if is_recorded(place) { 0.0 } else { f64::NAN }).collect();
    for row in rows.iter().filter(is_of) {
        assert_eq!(row["bucket_ns"], width, "{words:?}");
        let before = usize::try_from((row["from_ns"].as_i64().unwrap() - first) / width).unwrap();
        for (sum, value) in expected[before..].iter_mut().zip(row["values"].as_array().unwrap()) {
            *sum += value.as_f64().unwrap();
        }
    }
    // Before the first reading of memory nothing is known, which the command has as 0.
    let is_unknown = |value: f64| value.is_nan() || value == 0.0 && lane.starts_with("memory");
    let same = |(a, b): (&f64, &f64)| a == b || is_unknown(*a) && is_unknown(*b);
    assert!(values.iter().zip(&expected).all(same), "{lane} {series} {words:?}: {values:?}, not {expected:?}");
}

/// The largest of the base buckets that lie in a column of a frame.
fn peak(server: &Running, frame: &Frame, name: &str, place: usize) -> Option<i64> {
    let words: Vec<String> = serde_json::from_value(frame.head["peak_words"][name].clone()).unwrap();
    let lane = frame.head["lane"].as_str().unwrap();
    let (first, width) = (frame.head["first_ns"].as_i64().unwrap(), frame.head["bucket_ns"].as_i64().unwrap());
    let (start, end) = (first + width * place as i64, first + width * (place as i64 + 1));
    let rows = answer(server, &words);
    let rows: Vec<&Value> = match lane.split(':').next().unwrap() {
        "process" => rows
            .iter()
            .filter(|row| Some(row["lane"].as_str().unwrap()) == self::name(server, lane).as_deref())
            .collect(),
        kind @ ("cpu" | "disk") => {
            let is_it = |row: &&Value| row[kind].to_string().trim_matches('"') == lane.split(':').nth(1).unwrap();
            rows.iter().filter(is_it).collect()
        }
        _ => rows.iter().collect(),
    };
    let (recorded_start, recorded_end) = session(server);
    let base = frame.head["peak_ns"].as_i64().unwrap();
    let from = start.div_euclid(base) + i64::from(start % base != 0);
    let from = from.max(recorded_start.div_euclid(base));
    let inside = (from..)
        .take_while(|bucket| ((bucket + 1) * base).min(recorded_end + 1) <= end && bucket * base <= recorded_end);
    let sum = |bucket: i64| {
        let value = |row: &&Value| {
            let at = usize::try_from(bucket - row["from_ns"].as_i64().unwrap().div_euclid(base)).unwrap();
            row["values"][at].as_i64().unwrap()
        };
        rows.iter().map(value).sum::<i64>()
    };
    inside.map(sum).max()
}

#[test]
fn peaks_are_the_largest_buckets_of_the_command_that_they_name() {
    let server = Running::start();
    let (start, end) = session(&server);
    let processes = ids(&lanes(&server, "&parent=processes"));
    let mut all: Vec<String> = processes.into_iter().take(3).collect();
    all.extend(["cpu:0", "cpus", "processes", "disks"].map(str::to_owned));
    for disk in ids(&lanes(&server, "&parent=disks")) {
        all.extend(ids(&lanes(&server, &format!("&parent={disk}"))));
        all.push(disk);
    }
    let mut compared = 0;
    for measure in [Value::Null, json!("cpu")] {
        for (from, to, columns) in [(start, end + 1, 2), (-end / 9, end, 3), (start, end + 1, 4000)] {
            let body = json!({ "recording": "r0", "from": from, "to": to, "columns": columns, "lanes": all, "measure": measure });
            let frames = Frame::all(&server.post("/api/1/columns", &body).body);
            for frame in frames {
                let Some(name) = frame.head["peaks"][0].as_str() else { continue };
                assert!(frame.head["peak_ns"].as_i64().unwrap() * 2 <= frame.head["bucket_ns"].as_i64().unwrap());
                for (place, found) in frame.peaks(name).iter().enumerate().take(columns) {
                    let expected = peak(&server, &frame, name, place).map_or(f64::NAN, |peak| peak as f64);
                    assert!(
                        *found == expected || found.is_nan() && expected.is_nan(),
                        "{} {name} {place}: {found} {expected}",
                        frame.head
                    );
                    compared += usize::from(*found > 0.0);
                }
            }
        }
    }
    assert!(compared > 20, "{compared}");
}

/// The name of a lane, as the lists have it.
fn name(server: &Running, lane: &str) -> Option<String> {
    thread_local! {
        static NAMES: std::cell::RefCell<std::collections::HashMap<(u16, String), String>> = std::cell::RefCell::default();
    }
    NAMES.with_borrow_mut(|names| {
        if !names.keys().any(|(port, _)| *port == server.port) {
            let mut parents = vec![String::new()];
            while let Some(parent) = parents.pop() {
                for below in lanes(server, &parent) {
                    let id = below["id"].as_str().unwrap().to_owned();
                    if below["children"] == true {
                        parents.push(format!("&parent={id}"));
                    }
                    names.insert((server.port, id), below["name"].as_str().unwrap().to_owned());
                }
            }
        }
        names.get(&(server.port, lane.to_owned())).cloned()
    })
}

#[test]
fn totals_of_lists_are_those_of_their_lanes() {
    let server = Running::start();
    let (start, end) = session(&server);
    let (from, to) = (start + (end - start) / 5, end - (end - start) / 5);
    for (parent, time) in [("processes", String::new()), ("processes", format!("&time={from}..{to}"))] {
        let (from, to) = if time.is_empty() { (start, end + 1) } else { (from, to) };
        let listed = lanes(&server, &format!("&parent={parent}{time}"));
        let body = json!({ "recording": "r0", "from": from, "to": to, "columns": 9, "lanes": ids(&listed) });
        let frames = Frame::all(&server.post("/api/1/columns", &body).body);
        for (lane, frame) in listed.iter().zip(&frames) {
            for (total, series) in [("run_ns", "run"), ("wait_ns", "wait"), ("ready_ns", "ready")] {
                let sum = frame.column(series).iter().sum::<f64>();
                assert_eq!(lane["totals"][total].as_f64(), Some(sum), "{lane}");
            }
        }
    }
    let sorted = |sort: &str| lanes(&server, &format!("&parent=processes&sort={sort}"));
    let waits: Vec<i64> = sorted("wait").iter().map(|lane| lane["totals"]["wait_ns"].as_i64().unwrap()).collect();
    assert!(waits.is_sorted_by(|a, b| a >= b));
    let names: Vec<String> = sorted("name").iter().map(|lane| lane["name"].as_str().unwrap().to_lowercase()).collect();
    assert!(names.is_sorted());
    assert_eq!(server.get("/api/1/lanes?of=r0&sort=size").status, 400);
    assert_eq!(server.get("/api/1/lanes?of=r0&time=5..5").status, 400);
    assert_eq!(server.get("/api/1/lanes?of=r0&parent=process:9999").status, 404);
    assert_eq!(server.get("/api/1/lanes").status, 400);
    assert!(lanes(&server, "&parent=processes&from=100000").is_empty());
}

#[test]
fn spans_add_up_to_the_columns() {
    let server = Running::start();
    let (start, end) = session(&server);
    let (from, to) = (start + (end - start) / 4, start + (end - start) / 2);
    let process = ids(&lanes(&server, "&parent=processes")).remove(0);
    let mut tried = ids(&lanes(&server, &format!("&parent={process}")));
    tried.extend(ids(&lanes(&server, "&parent=cpus")));
    let body = json!({ "recording": "r0", "from": from, "to": to, "columns": 1, "lanes": tried });
    let frames = Frame::all(&server.post("/api/1/columns", &body).body);
    for (lane, columns) in tried.iter().zip(&frames) {
        let body = json!({ "recording": "r0", "lane": lane, "from": from, "to": to, "most": 20000 });
        let response = server.post("/api/1/spans", &body);
        assert_eq!(response.status, 200, "{response:?}");
        let spans = Frame::all(&response.body).remove(0);
        if spans.head["more"] == true {
            continue;
        }
        for (number, state) in ["run", "ready", "wait", "open", "unknown"].iter().enumerate() {
            let times = spans.column("start").iter().zip(spans.column("end")).zip(spans.column("state"));
            let sum: f64 = times.filter(|(_, of)| **of == number as f64).map(|((start, end), _)| end - start).sum();
            if columns.head["series"].as_array().unwrap().iter().any(|series| series == state) {
                assert_eq!(columns.column(state), [sum], "{lane} {state}");
            }
        }
        assert!(spans.column("start").is_sorted());
    }
    let body = json!({ "recording": "r0", "lane": "cpu:0", "from": start, "to": end, "most": 1 });
    let few = Frame::all(&server.post("/api/1/spans", &body).body).remove(0);
    assert_eq!((&few.head["count"], &few.head["more"]), (&Value::Null, &json!(true)));
}

#[test]
fn an_instant_has_the_span_around_it() {
    let server = Running::start();
    let (start, end) = session(&server);
    let middle = start + (end - start) / 2;
    let response = server.post("/api/1/at", &json!({ "recording": "r0", "lane": "cpu:0", "ns": middle }));
    assert_eq!(response.status, 200, "{response:?}");
    let found = response.json();
    if let Some(from) = found["span"]["start_ns"].as_i64() {
        assert!(from <= middle && middle < found["span"]["end_ns"].as_i64().unwrap());
        assert_eq!(found["span"]["state"], "run");
        let thread = found["span"]["thread"].as_str().unwrap();
        let of_thread = server.post("/api/1/at", &json!({ "recording": "r0", "lane": thread, "ns": middle })).json();
        assert_eq!(of_thread["span"]["state"], "run");
        assert_eq!(of_thread["span"]["cpu"], 0);
    }
    assert_eq!(server.post("/api/1/at", &json!({ "recording": "r0", "lane": "cpu:0", "ns": end + 9 })).status, 404);
    let of_group = server.post("/api/1/at", &json!({ "recording": "r0", "lane": "cpus", "ns": middle }));
    assert_eq!((of_group.status, &of_group.json()["span"]), (200, &Value::Null));
}

#[test]
fn answers_of_command_lines_come_as_they_are() {
    let server = Running::start();
    let response = server.post("/api/1/ask", &json!({ "recordings": ["r0"], "words": ["dump", "x y"] }));
    assert_eq!((response.status, response.json()), (200, json!([[0], ["dump", "x y"]])));
    assert_eq!(response.header("tracesift-command"), Some("dump%20x%20y"));
    assert_eq!(response.header("tracesift-rows"), Some("0"));
    assert_eq!(response.header("tracesift-notes"), Some("%5b%22a%20note%2c%20%c3%a9%22%5d"));
    let failed = |word: &str| {
        let response = server.post("/api/1/ask", &json!({ "recordings": ["r0"], "words": [word] }));
        (response.status, response.json())
    };
    assert_eq!(failed("wrong"), (400, json!({ "error": "words: wrong", "hint": "others" })));
    assert_eq!(failed("failed"), (422, json!({ "error": "file: failed", "hint": null })));
    let many = json!({ "recordings": ["r0"], "words": vec!["x"; 201] });
    assert_eq!(server.post("/api/1/ask", &many).status, 400);
    let flame = |words: Value| server.post("/api/1/flame", &json!({ "recordings": ["r0"], "words": words })).status;
    assert_eq!((flame(json!(["dump", "cpu"])), flame(json!([]))), (400, 400));
}

#[test]
fn an_archive_that_was_replaced_is_told() {
    let server = Running::start();
    let ask = || server.post("/api/1/ask", &json!({ "recordings": ["r0"], "words": ["x"] })).status;
    let list = || server.get("/api/1/lanes?of=r0&parent=processes").status;
    assert_eq!((ask(), list()), (200, 200));
    let description = server.archive.join("trace.json");
    let text = std::fs::read_to_string(&description).unwrap();
    std::fs::write(&description, text.replace("\"cpu_count\"", "\"other\"")).unwrap();
    assert_eq!((ask(), list()), (409, 409));
    std::fs::write(&description, text).unwrap();
    assert_eq!((ask(), list()), (200, 200));
    std::fs::rename(&server.archive, server.archive.with_extension("gone")).unwrap();
    assert_eq!((ask(), list()), (500, 500));
}
