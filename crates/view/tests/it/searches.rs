//! Hits of a search, and their figures against the commands that they name.

use serde_json::{Value, json};
use tracesift_testing::archive::{create, finish_as};
use tracesift_testing::rows::{frame, process, stack, thread};
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{CpuSampleRow, FileIoRow, FileRow, ModuleRow, SymbolRow};
use tracesift_trace::{FileId, FrameId, ModuleId, ProcessId, RowSink as _, StackId, ThreadId};

use crate::endpoints::{answer, lanes};
use crate::support::Running;

/// The lines of an answer.
fn search(server: &Running, body: &Value) -> Vec<Value> {
    let response = server.post("/api/1/search", body);
    assert_eq!(response.status, 200, "{response:?}");
    let text = String::from_utf8(response.body).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Hits of a kind with what came behind them: figures and density.
fn found(lines: &[Value], kind: &str) -> Vec<(Value, Value, Value)> {
    let of = |key: &str, name: &Value| {
        let all: Vec<&Value> =
            lines.iter().map(|line| &line[key]).filter(|of| of["kind"] == kind && of["name"] == *name).collect();
        assert!(all.len() <= 1, "{name}: {all:?}");
        all.first().map_or(Value::Null, |of| (*of).clone())
    };
    let hits = lines.iter().filter(|line| line["kind"] == kind);
    hits.map(|hit| (hit.clone(), of("figures", &hit["name"]), of("density", &hit["name"]))).collect()
}

fn words(of: &Value) -> Vec<String> {
    serde_json::from_value(of["words"].clone()).unwrap()
}

fn sum(rows: &[Value], key: &str) -> i64 {
    rows.iter().filter_map(|row| row[key].as_i64()).sum()
}

/// The sum of a density, and its values where there are any.
fn values(density: &Value) -> Vec<i64> {
    if density.is_null() { Vec::new() } else { serde_json::from_value(density["values"].clone()).unwrap() }
}

/// Compares a density with the row of the command that it names.
fn check_density(server: &Running, density: &Value, lane: &str) {
    let rows = answer(server, &words(density));
    let row = rows.iter().find(|row| row["lane"] == lane).unwrap_or_else(|| panic!("{density}"));
    assert_eq!((&row["from_ns"], &row["bucket_ns"]), (&density["first_ns"], &density["bucket_ns"]));
    assert_eq!(row["values"], density["values"]);
}

/// Compares methods with `dump cpu`, and modules with `dump timeline`. How many of each had samples.
fn check_code(server: &Running, body: &Value) -> [usize; 2] {
    let lines = search(server, body);
    let mut counts = [0; 2];
    for (hit, figures, density) in found(&lines, "method") {
        let name = hit["name"].as_str().unwrap();
        let mut rows = answer(server, &words(&hit));
        // A wildcard in place of a sign may fit other methods.
        rows.retain(|row| match row["module"].as_str() {
            Some(module) => format!("{module}!{}", row["method"].as_str().unwrap()) == name,
            None => row["method"] == name,
        });
        assert_eq!(
            (&figures["count"], &figures["time_ns"]),
            (&sum(&rows, "samples").into(), &sum(&rows, "cpu_ns").into()),
            "{hit}"
        );
        assert_eq!(values(&density).iter().sum::<i64>(), figures["time_ns"], "{hit}");
        if !density.is_null() {
            check_density(server, &density, name);
            counts[0] += 1;
        }
    }
    for (hit, figures, density) in found(&lines, "module") {
        let rows = answer(server, &words(&hit));
        let name = hit["name"].as_str().unwrap().rsplit(['\\', '/']).next().unwrap();
        let of = |rows: &[Value], key: &str| {
            rows.iter().find(|row| row["lane"] == name).map_or(Value::from(0), |row| row[key].clone())
        };
        assert_eq!(figures["time_ns"], of(&rows, "total_ns"), "{hit}");
        let mut samples = words(&hit);
        samples.extend(["--measure".to_owned(), "samples".to_owned()]);
        assert_eq!(figures["count"], of(&answer(server, &samples), "total"), "{hit}");
        assert_eq!(values(&density).iter().sum::<i64>(), figures["time_ns"], "{hit}");
        if !density.is_null() {
            check_density(server, &density, name);
            counts[1] += 1;
        }
    }
    counts
}

#[test]
fn searches_find_names() {
    let server = Running::start();
    let process = lanes(&server, "&parent=processes").remove(0);
    let name = process["name"].as_str().unwrap().split('(').next().unwrap().to_uppercase();
    let hits = search(&server, &json!({ "recording": "r0", "text": name, "kinds": ["process"] }));
    assert!(hits.iter().any(|hit| hit["lane"] == process["id"]), "{hits:?}");
    assert!(search(&server, &json!({ "recording": "r0", "text": "no such name at all" })).is_empty());
    assert!(!search(&server, &json!({ "recording": "r0", "text": ".exe" })).is_empty());
    let wrong = |body: Value| server.post("/api/1/search", &body).status;
    assert_eq!(wrong(json!({ "recording": "r0", "text": " " })), 400);
    assert_eq!(wrong(json!({ "recording": "r0", "text": "a".repeat(201) })), 400);
    assert_eq!(wrong(json!({ "recording": "r0", "text": "a", "kinds": ["path"] })), 400);
}

#[test]
fn methods_and_modules_have_the_figures_of_their_commands() {
    let server = Running::start();
    let body = |text: &str| json!({ "recording": "r0", "text": text, "kinds": ["method", "module"] });
    let [methods, modules] = check_code(&server, &body("write"));
    assert!(methods > 3, "{methods}");
    let [_, more] = check_code(&server, &body(".dll"));
    assert!(modules + more > 3, "{more}");
    let of_part = json!({ "recording": "r0", "text": "create", "kinds": ["method", "module"],
        "from": 700_000_123, "to": 1_900_000_001_i64 });
    assert!(check_code(&server, &of_part)[0] > 0);
    // All names come before the first figure.
    let lines = search(&server, &json!({ "recording": "r0", "text": "e" }));
    let is_figure = |line: &Value| !line["figures"].is_null() || line["density"]["kind"] == "file";
    let first = lines.iter().position(is_figure).unwrap();
    assert!(lines[first..].iter().all(|line| line["kind"].is_null()), "names come first");
}

/// Two processes and the idle loop; functions of one name in two modules, recursion, a sample without a stack, files with two numbers.
fn odd_server() -> Running {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = create(&directory.path().join("odd.sift"));
    writer.write_table(&[process(0, 0, "Idle"), process(1, 100, "a"), process(2, 200, "b")]);
    writer.write_table(&[thread(0, 0, 0), thread(1, 1, 1000), thread(2, 2, 2000)]);
    let module = |module: i32, path: &str, name: &str| ModuleRow {
        module: ModuleId(module),
        path: path.to_owned(),
        name: name.to_owned(),
        ..ModuleRow::default()
    };
    writer.write_table(&[
        module(0, "C:\\x\\odd.dll", "odd.dll"),
        module(1, "C:\\y\\odd.dll", "odd.dll"),
        module(2, "/lib/o;*.so", "o;*.so"),
    ]);
    writer.write_table(&[frame(0, 10), frame(1, 11), frame(2, 12), frame(3, 13)]);
    let symbol = |frame: i32, module: Option<&str>, function: &str| SymbolRow {
        frame: FrameId(frame),
        module: module.map(str::to_owned),
        function: function.to_owned(),
        ..SymbolRow::default()
    };
    writer.write_table(&[
        symbol(0, Some("odd.dll"), "odd::run<*>"),
        symbol(1, Some("o;*.so"), "odd::run<*>"),
        symbol(2, None, "!odd!x"),
        symbol(3, Some("odd.dll"), "odd.run<1>"),
    ]);
    writer.write_table(&[stack(0, &[0, 0, 1]), stack(1, &[2, 0]), stack(2, &[3, 1, 3])]);
    for place in 0..900_i64 {
        let of = i32::try_from(place % 3).unwrap();
        let (stack, frame) = match place % 5 {
            4 => (None, Some(FrameId(1))),
            3 => (None, None),
            known => (Some(StackId(i32::try_from(known).unwrap())), None),
        };
        writer.cpu_sample(&CpuSampleRow {
            time: place * 7,
            process: ProcessId(of),
            thread: ThreadId(of),
            weight: 1 + place % 4,
            stack,
            frame,
            ..CpuSampleRow::default()
        });
    }
    let file = |file: i32, path: &str| FileRow { file: FileId(file), path: path.to_owned() };
    writer.write_table(&[
        file(0, "C:\\odd\\a.txt"),
        file(1, "C:\\odd\\b;*.txt"),
        file(2, "C:\\odd\\a.txt"),
        file(3, "C:\\odd\\never"),
    ]);
    for place in 0..500_i64 {
        let of = i32::try_from(place % 3).unwrap();
        writer.file_io(&FileIoRow {
            time: place * 12 + 40,
            start: place * 12 + 40 - place % 41,
            process: ProcessId(of),
            thread: ThreadId(of),
            operation: i8::try_from(place % 11).unwrap(),
            file: (place % 4 != 3).then(|| FileId(i32::try_from(place % 4).unwrap())),
            open: Some(place % 13 == 0),
            ..FileIoRow::default()
        });
    }
    let info = TraceInfo { end_ns: 6_300, cpu_count: 2, ..TraceInfo::default() };
    Running::of(finish_as(writer, info), directory)
}

#[test]
fn odd_names_have_the_figures_of_their_commands() {
    let server = odd_server();
    for range in
        [json!({ "from": 0, "to": 6_300 }), json!({ "from": 100, "to": 4_001 }), json!({ "from": 6_290, "to": 6_301 })]
    {
        let mut body = json!({ "recording": "r0", "text": "o", "kinds": ["method", "module"] });
        body.as_object_mut().unwrap().extend(range.as_object().unwrap().clone());
        let [methods, modules] = check_code(&server, &body);
        assert!(methods > 0 && modules > 0, "{methods} {modules} {range}");
        body["kinds"] = json!(["file"]);
        let lines = search(&server, &body);
        let all = found(&lines, "file");
        assert_eq!(all.len(), 3, "{all:?}");
        for (hit, figures, density) in all {
            let mut rows = answer(&server, &words(&hit));
            rows.retain(|row| row["path"] == hit["name"]);
            assert_eq!(figures["count"], sum(&rows, "operations"), "{hit}");
            assert_eq!(figures["time_ns"], sum(&rows, "total_ns"), "{hit}");
            let values = values(&density);
            assert_eq!(values.iter().sum::<i64>(), figures["count"], "{hit}");
            // Each bucket is the answer of the same command about its time.
            for (place, value) in values.iter().enumerate().step_by(37) {
                let (first, width) = (density["first_ns"].as_i64().unwrap(), density["bucket_ns"].as_i64().unwrap());
                let start = first + width * i64::try_from(place).unwrap();
                let end = (start + width).min(body["to"].as_i64().unwrap_or(i64::MAX));
                let mut words: Vec<String> =
                    words(&hit).into_iter().filter(|word| !word.starts_with("--time")).collect();
                words.push(format!("--time={start}ns..{end}ns"));
                let mut rows = answer(&server, &words);
                rows.retain(|row| row["path"] == hit["name"]);
                assert_eq!(*value, sum(&rows, "operations"), "{words:?}");
            }
        }
    }
}
