//! Reports of `compare`: every number on the page is a number of the JSON, read back from the page.

use std::collections::BTreeMap;

use roxmltree::{Document, Node};
use serde_json::Value;
use tempfile::TempDir;

use crate::gates::builds;
use crate::support::{run, tracesift};

fn page(directory: &TempDir, sets: [&str; 2], more: &[&str]) -> String {
    let arguments = [&["compare", sets[0], sets[1], "-p", "app", "-o", "report.html"], more].concat();
    let said = run(directory.path(), &arguments);
    assert!(!said.starts_with("exit: 64"), "{said}");
    std::fs::read_to_string(directory.path().join("report.html")).unwrap()
}

fn json(directory: &TempDir, sets: [&str; 2], more: &[&str]) -> Value {
    let arguments = [&["compare", sets[0], sets[1], "-p", "app", "-o", "compare.json"], more].concat();
    let said = run(directory.path(), &arguments);
    assert!(!said.starts_with("exit: 64"), "{said}");
    serde_json::from_slice(&std::fs::read(directory.path().join("compare.json")).unwrap()).unwrap()
}

/// The main part, which is well-formed XML.
fn main_of(page: &str) -> Document<'_> {
    let (from, to) = (page.find("<main>").unwrap(), page.find("</main>").unwrap());
    Document::parse(&page[from..to + "</main>".len()]).unwrap()
}

fn table<'a>(document: &'a Document<'a>, class: &str) -> Vec<Node<'a, 'a>> {
    let is_meant = |node: &Node<'_, '_>| {
        node.has_tag_name("table") && node.attribute("class").unwrap_or_default().split(' ').any(|of| of == class)
    };
    let table = document.descendants().find(is_meant).unwrap_or_else(|| panic!("a table {class}"));
    let body = table.children().find(|node| node.has_tag_name("tbody")).unwrap();
    body.children().filter(|node| node.has_tag_name("tr")).collect()
}

fn head(row: Node<'_, '_>) -> String {
    let head = row.children().find(|cell| cell.has_tag_name("th")).unwrap();
    head.descendants().filter(|node| node.is_text()).filter_map(|node| node.text()).collect()
}

/// The values of the cells that are no head.
fn values(row: Node<'_, '_>) -> Vec<Option<f64>> {
    let cells = row.children().filter(|cell| cell.has_tag_name("td"));
    cells.map(|cell| cell.attribute("data-v").map(|value| value.parse().unwrap())).collect()
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().unwrap()
}

#[test]
fn every_number_of_a_report_is_one_of_the_json() {
    let directory = builds();
    let gates = ["--fail-if", "undisturbed > +5%", "--fail-if", "wait:*x* < -1ms"];
    let (page, json) = (page(&directory, ["old", "new"], &gates), json(&directory, ["old", "new"], &gates));
    let (document, case) = (main_of(&page), &json["cases"][0]);
    let sentence = document.descendants().find(|node| node.attribute("data-key") == Some("sentence")).unwrap();
    assert_eq!(sentence.text(), case["verdict"]["sentence"].as_str());

    let figures = list(case, "figures");
    let rows = table(&document, "figures");
    assert_eq!(rows.len(), figures.len());
    for (row, figure) in rows.into_iter().zip(figures) {
        let expected = ["a_median_ns", "b_median_ns", "ratio", "low", "p"].map(|key| figure[key].as_f64());
        assert_eq!(values(row)[..5], expected, "{figure}");
        let high = row.descendants().find_map(|cell| cell.attribute("data-high")).unwrap();
        assert_eq!(high.parse().ok(), figure["high"].as_f64());
        assert_eq!(row.children().next_back().unwrap().text(), figure["verdict"].as_str());
    }
    for (row, gate) in table(&document, "gates").into_iter().zip(list(case, "gates")) {
        let texts: Vec<Option<&str>> = row.children().map(|cell| cell.text()).collect();
        assert_eq!(texts, ["state", "text", "reason"].map(|key| gate[key].as_str()));
    }
    for (row, metric) in table(&document, "metrics").into_iter().zip(list(case, "metrics")) {
        assert_eq!(row.attribute("data-metric"), metric["name"].as_str());
        let expected = ["a_mean", "b_mean", "ratio", "p_family"].map(|key| metric[key].as_f64());
        assert_eq!(values(row)[..4], expected, "{metric}");
    }
    if let Some(parts) = case["by_counters"].as_object() {
        let found: Vec<Option<f64>> = table(&document, "counters").into_iter().map(|row| values(row)[0]).collect();
        assert_eq!(found, parts.values().map(Value::as_f64).collect::<Vec<_>>());
    }
    check_steps(&document, case);
    check_rows(&document, case);
    check_runs(&document, case);
    check_flame(&document, case);
}

fn check_steps(document: &Document<'_>, case: &Value) {
    let rows = table(document, "waterfall");
    let ([first, .., last], steps) = (rows.as_slice(), list(case, "shown")) else { panic!("both means") };
    assert_eq!(rows.len(), steps.len() + 2);
    let figure = &case["figures"][0];
    let means = [values(*first)[0], values(*last)[0]];
    assert_eq!(means, ["a_mean_ns", "b_mean_ns"].map(|key| figure[key].as_f64()));
    let mut sum = means[0].unwrap();
    for (row, step) in rows[1..].iter().zip(steps) {
        assert_eq!(values(*row)[..2], ["delta_ns", "half_width_ns"].map(|key| step[key].as_f64()), "{step}");
        assert!(head(*row).starts_with(step["text"].as_str().unwrap()), "{step}");
        sum += step["delta_ns"].as_f64().unwrap();
    }
    assert!((sum - means[1].unwrap()).abs() < 1.0, "the bars end at the mean of the second set");
}

fn check_rows(document: &Document<'_>, case: &Value) {
    let number = |value: &Value, key: &str| value[key].as_f64();
    let mut expected: Vec<String> = Vec::new();
    for row in list(case, "rows") {
        let keys = ["a_ns", "b_ns", "delta_ns", "half_width_ns", "p_family"];
        expected.push(format!("{:?}", keys.map(|key| number(row, key))));
    }
    let rows = table(document, "rows");
    let mut found: Vec<String> = rows.iter().map(|row| format!("{:?}", &values(*row)[..5])).collect();
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
    let deltas: f64 = rows.iter().map(|row| values(*row)[2].unwrap()).sum();
    assert_eq!(Some(deltas), number(case, "difference_ns"));
}

fn check_runs(document: &Document<'_>, case: &Value) {
    let runs: Vec<&Value> = list(case, "sets").iter().flat_map(|set| list(set, "runs")).collect();
    let rows = table(document, "runs");
    assert_eq!(rows.len(), runs.len());
    for (place, (row, run)) in rows.into_iter().zip(runs).enumerate() {
        assert_eq!(values(row)[2..4], ["duration_ns", "undisturbed_ns"].map(|key| run[key].as_f64()));
        let cells = row.children().filter_map(|cell| Some((cell.attribute("data-kind")?, cell.attribute("data-v")?)));
        let parts: BTreeMap<&str, i64> =
            cells.map(|(kind, value)| (kind, value.parse().unwrap())).filter(|(_, value)| *value != 0).collect();
        let of = |key: &str, prefix: &str| -> Vec<(String, i64)> {
            let parts = run[key].as_object().unwrap().iter();
            parts.map(|(kind, time)| (format!("{prefix}{kind}"), time.as_i64().unwrap())).collect()
        };
        let expected: BTreeMap<String, i64> =
            of("states", "").into_iter().chain(of("disturbances", "disturbance ")).collect();
        let expected: BTreeMap<&str, i64> =
            expected.iter().filter(|(_, time)| **time != 0).map(|(kind, time)| (kind.as_str(), *time)).collect();
        assert_eq!(parts, expected);
        assert_eq!(parts.values().sum::<i64>(), run["duration_ns"].as_i64().unwrap());
        // Its marks in the strip plots.
        let number = place.to_string();
        let is_mark = |node: &Node<'_, '_>| node.attribute("data-run") == Some(&number) && !node.has_tag_name("tr");
        let marks: Vec<Option<&str>> = document
            .descendants()
            .filter(is_mark)
            .filter(|node| !node.has_tag_name("g"))
            .map(|node| node.attribute("data-v"))
            .collect();
        let [duration, own] = ["duration_ns", "undisturbed_ns"].map(|key| run[key].to_string());
        let [duration, own] = [Some(duration.as_str()), Some(own.as_str())];
        assert_eq!(marks, [duration, duration, own, own]);
    }
}

/// The frames of a level are sums of the rows.
fn check_flame(document: &Document<'_>, case: &Value) {
    let frames: Vec<Node<'_, '_>> =
        document.descendants().filter(|node| node.attribute("data-level").is_some()).collect();
    let number = |node: &Node<'_, '_>, key: &str| -> f64 { node.attribute(key).unwrap().parse().unwrap() };
    let (root, frames) = frames.split_first().unwrap();
    assert_eq!(Some(number(root, "data-delta")), case["difference_ns"].as_f64());
    let mut sums: BTreeMap<(String, Option<String>), [f64; 3]> = BTreeMap::new();
    for row in list(case, "rows") {
        let text = |key: &str| row[key].as_str().map(str::to_owned);
        let state = match (text("disturbance"), row["state"].as_str()) {
            (Some(kind), _) => format!("disturbed: {kind}"),
            (None, Some("run")) => "runs".to_owned(),
            (None, Some("wait")) => "waits".to_owned(),
            (None, state) => state.unwrap().to_owned(),
        };
        let who = text("process").zip(text("thread")).map(|(process, thread)| format!("{process} {thread}"));
        for key in [None, who] {
            let sums = sums.entry((state.clone(), key)).or_default();
            for (sum, key) in sums.iter_mut().zip(["a_ns", "b_ns", "delta_ns"]) {
                *sum += row[key].as_f64().unwrap();
            }
        }
    }
    let mut state = "";
    let mut checked = 0;
    for frame in frames {
        let name = frame.attribute("data-name").unwrap();
        let key = match frame.attribute("data-level") {
            Some("state") => {
                state = name;
                (name.to_owned(), None)
            }
            Some("who") => (state.to_owned(), Some(name.to_owned())),
            _ => continue,
        };
        let sums = sums.get(&key).unwrap_or_else(|| panic!("{key:?}"));
        for (sum, key) in sums.iter().zip(["data-a", "data-b", "data-delta"]) {
            assert!((sum - number(frame, key)).abs() < 0.01, "{name} {key}");
        }
        // What is within its noise has no colour.
        let half = frame.attribute("data-half").unwrap().parse::<f64>();
        let is_noise = half.is_ok_and(|half| number(frame, "data-delta").abs() < half);
        assert!(!is_noise || frame.attribute("class") == Some("f"), "{name}");
        checked += 1;
    }
    assert!(checked >= 4, "{checked}");
}

#[test]
fn a_report_of_two_times_fifty_runs_is_small_and_needs_no_recordings() {
    let directory = builds();
    tracesift(directory.path(), &["compare", "old", "-p", "app", "--save-baseline", "old.json"]);
    tracesift(directory.path(), &["compare", "new", "-p", "app", "--save-baseline", "new.json"]);
    // Only the stacks are not in baselines.
    let without = |page: String, from: &str, to: &str| {
        let (before, rest) = page.split_once(from).unwrap_or_else(|| panic!("{from}"));
        format!("{before}{}", rest.split_once(to).unwrap().1)
    };
    let recordings = page(&directory, ["old=old", "new=new"], &[]);
    let recordings = without(recordings, "<figure class=\"flame-figure\" data-view=\"cpu\">", "</figure>");
    let baselines = page(&directory, ["old=old.json", "new=new.json"], &[]);
    let baselines = without(baselines, "<p class=\"remark\">No flame graph of the CPU", "</p>");
    assert!(baselines == recordings, "without recordings");
    for name in ["old", "new"] {
        let path = directory.path().join(format!("{name}.json"));
        let mut base: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let runs = base["runs"].as_array().unwrap().clone();
        let copies = (0..10).flat_map(|copy| runs.iter().cloned().map(move |run| (copy, run)));
        let copies = copies.map(|(copy, mut run)| {
            run["id"] = format!("{}-{copy}", run["id"].as_str().unwrap()).into();
            run
        });
        base["runs"] = copies.collect();
        std::fs::write(&path, base.to_string()).unwrap();
    }
    let large = page(&directory, ["old=old.json", "new=new.json"], &[]);
    assert!(large.len() <= 1_500_000 && large.contains("50 runs in old, 50 in new"), "{}", large.len());
}

#[test]
fn hostile_labels_and_gates_stay_text() {
    let directory = builds();
    let label = "<script>alert(1)'\"\u{202e}";
    let sets = [format!("{label}=old"), "new=new".to_owned()];
    let gates = ["--fail-if", "wait:<img src=x onerror=alert(2)> > 5%"];
    let page = page(&directory, [&sets[0], &sets[1]], &gates);
    assert_eq!(page.matches("<script").count(), 1, "its own");
    assert!(!page.contains("<img") && !page.contains('\u{202e}'));
    assert!(page.contains("&lt;script&gt;alert(1)&#39;&quot;\u{fffd}"));
    main_of(&page);
}

#[test]
fn sets_that_are_not_comparable_have_a_report_that_says_so() {
    let directory = builds();
    let page = page(&directory, ["old", "old"], &[]);
    assert!(page.contains("Not comparable") && page.contains("Stops the comparison"), "{page}");
    let said = run(directory.path(), &["compare", "old", "new", "-p", "app", "--format", "html"]);
    assert!(said.starts_with("exit: 0") && said.contains("<!DOCTYPE html>"), "on standard output");
}

/// CPU time of the test in the windows of all runs of a set, ns: in all, and by method with what it called.
fn asked_cpu(directory: &TempDir, set: &str) -> (i64, BTreeMap<String, i64>) {
    let rows = |arguments: &[&str]| -> Vec<Value> {
        let text =
            tracesift(directory.path(), &[&["dump", "cpu", "-p", "app", "--format", "json"], arguments].concat());
        serde_json::from_str(&text).unwrap()
    };
    let (mut whole, mut methods) = (0, BTreeMap::new());
    for process in rows(&[set]) {
        let [start, end] = ["start_ns", "end_ns"].map(|key| process[key].as_i64().unwrap());
        let (archive, life) = (process["file"].as_str().unwrap(), format!("{start}ns..{end}ns"));
        whole += rows(&[archive, "--time", &life]).iter().map(|row| row["cpu_ns"].as_i64().unwrap()).sum::<i64>();
        for row in rows(&[archive, "--time", &life, "--methods", "*"]) {
            let [module, method] = ["module", "method"].map(|key| row[key].as_str().unwrap_or_default());
            *methods.entry(format!("{module}!{method}")).or_default() += row["cpu_ns"].as_i64().unwrap();
        }
    }
    (whole, methods)
}

#[test]
fn the_cpu_time_by_stack_is_that_of_dump_cpu() {
    let directory = builds();
    let json = json(&directory, ["old", "new"], &["--stacks"]);
    let nodes = list(&json["cases"][0], "cpu_stacks");
    for (set, key) in [("old", "a_ns"), ("new", "b_ns")] {
        let (whole, methods) = asked_cpu(&directory, set);
        assert!(whole > 0 && methods.len() > 3, "{methods:?}");
        let mean = |node: &Value| (node[key].as_f64().unwrap() * 5.0).round() as i64;
        let found: i64 = nodes.iter().filter(|node| node["depth"] == 0).map(mean).sum();
        assert_eq!(found, whole, "{set}");
        // A method that calls itself counts once: by the call above.
        let mut found: BTreeMap<&str, i64> = BTreeMap::new();
        let mut above: Vec<&str> = Vec::new();
        for node in nodes {
            above.truncate(node["depth"].as_u64().unwrap() as usize);
            let name = node["name"].as_str().unwrap();
            if !above.contains(&name) {
                *found.entry(name).or_default() += mean(node);
            }
            above.push(name);
        }
        let least = whole / 100;
        for (method, time) in methods.iter().filter(|(_, time)| **time > least) {
            let time_here = found.get(method.as_str()).copied().unwrap_or(0);
            // Parts below a 2,500th of the whole are left out.
            assert!((time_here - time).abs() <= whole / 250, "{set} {method}: {time_here} for {time} of {whole}");
        }
    }
    // Each part has at least the time of the parts that it is made of.
    for (place, node) in nodes.iter().enumerate() {
        let depth = |node: &Value| node["depth"].as_u64().unwrap();
        let inside = nodes[place + 1..].iter().take_while(|other| depth(other) > depth(node));
        let parts = inside.filter(|other| depth(other) == depth(node) + 1);
        let sum: f64 = parts.map(|other| other["b_ns"].as_f64().unwrap()).sum();
        assert!(sum <= node["b_ns"].as_f64().unwrap() + 1.0, "{node}");
    }
}

#[test]
fn a_baseline_has_no_cpu_time_by_stack() {
    let directory = builds();
    tracesift(directory.path(), &["compare", "old", "-p", "app", "--save-baseline", "old.json"]);
    let json = json(&directory, ["old.json", "new"], &["--stacks"]);
    let case = &json["cases"][0];
    assert!(list(case, "cpu_stacks").is_empty());
    assert!(case["no_cpu_stacks"].as_str().unwrap().contains("baseline"), "{case}");
    let page = page(&directory, ["old.json", "new"], &[]);
    assert!(page.contains("No flame graph of the CPU: some runs come from a baseline"));
}
