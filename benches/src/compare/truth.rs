//! What a comparison must find, and what it found.

use std::collections::BTreeMap;

use tracesift_ask::compare::difference::{Difference, Part, ShownRow};
use tracesift_scenario::causal::History;
use tracesift_scenario::causal::pairs::test_account;
use tracesift_scenario::causal::path::Key;
use tracesift_scenario::causal::workload::Expected;

/// Whether what was put in is the first row; of a method with another name, whether its time is said to have moved there.
pub(super) fn is_first(difference: &Difference, expected: Expected) -> bool {
    if let Expected::Key("run", "Worker.calculate") = expected {
        return difference.shown.iter().any(|shown| {
            matches!(&shown.part, Part::Moved(sites) if sites.iter().any(|site| site.contains("Worker.calculate")))
        });
    }
    difference.shown.first().is_some_and(|shown| is_expected(shown, expected))
}

/// Whether a row is what was put in.
pub(super) fn is_expected(shown: &ShownRow, expected: Expected) -> bool {
    match (&shown.part, expected) {
        (Part::Row(row), Expected::Key(state, text)) => {
            row.disturbance().is_none() && row.state() == state && row.text().contains(text)
        }
        (Part::Row(row), Expected::Disturbance(kind)) => row.disturbance() == Some(&*kind.replace(' ', "-")),
        (Part::Speed(_), Expected::Speed) => true,
        _ => false,
    }
}

/// A part of a path that is known exactly: its state, and whether it is the main thread's; or of code the method, too.
pub(super) type Place = (&'static str, bool, String);

/// The mean time of each exact part in the runs of a set, ns; and of each method.
pub(super) fn true_means(histories: &[History]) -> (BTreeMap<Place, f64>, BTreeMap<Place, f64>) {
    let (mut exact, mut methods) = (BTreeMap::new(), BTreeMap::new());
    let part = 1.0 / histories.len() as f64;
    for history in histories {
        for (key, ns) in test_account(history) {
            let Some((place, is_code)) = place(&key) else { continue };
            let mut whole = place.clone();
            if is_code {
                *methods.entry(place).or_insert(0.0) += part * ns as f64;
                whole.2.clear();
            }
            *exact.entry(whole).or_insert(0.0) += part * ns as f64;
        }
    }
    (exact, methods)
}

fn place(key: &Key) -> Option<(Place, bool)> {
    if key.process != "app" {
        return None;
    }
    let is_main = key.thread == "main";
    let method = key.what.rsplit_once('!').map_or(key.what.as_str(), |(_, method)| method);
    match key.state {
        "run" => Some((("run", is_main, method.to_owned()), true)),
        state => Some(((state, is_main, String::new()), false)),
    }
}

/// What a comparison found for each of these.
pub(super) fn found_deltas(difference: &Difference) -> (BTreeMap<Place, f64>, BTreeMap<Place, f64>) {
    let (mut exact, mut methods) = (BTreeMap::new(), BTreeMap::new());
    for row in &difference.rows {
        let [process, thread, _, _, site, _, _] = row.names();
        if process != Some("app") {
            continue;
        }
        let (is_main, delta) = (thread == Some("main"), row.delta as f64);
        if row.state() == "run" {
            let method = site.and_then(|site| site.rsplit_once('!')).map(|(_, method)| method.to_owned());
            *methods.entry(("run", is_main, method.unwrap_or_default())).or_insert(0.0) += delta;
        }
        *exact.entry((row.state(), is_main, String::new())).or_insert(0.0) += delta;
    }
    (exact, methods)
}
