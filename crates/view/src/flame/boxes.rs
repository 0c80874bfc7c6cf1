//! The boxes of a flame graph, from the lines of a call tree.

use rustc_hash::FxHashMap;
use serde::Deserialize;

/// A line of `dump stacks`.
#[derive(Deserialize)]
pub(super) struct Line {
    pub(super) row: usize,
    pub(super) parent: Option<usize>,
    pub(super) process: Option<String>,
    pub(super) pid: Option<i64>,
    pub(super) start_ns: Option<i64>,
    pub(super) tid: Option<i64>,
    pub(super) total_ns: Option<i64>,
    pub(super) self_ns: Option<i64>,
    pub(super) total_bytes: Option<i64>,
    pub(super) self_bytes: Option<i64>,
    pub(super) total: Option<i64>,
    #[serde(rename = "self")]
    pub(super) own: Option<i64>,
    pub(super) kind: String,
    pub(super) more: Option<i64>,
    pub(super) module: Option<String>,
    pub(super) method: Option<String>,
}

/// A box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Drawn {
    pub(super) depth: usize,
    pub(super) start: i64,
    pub(super) weight: i64,
    pub(super) own: i64,
    pub(super) name: String,
    pub(super) module: Option<String>,
    pub(super) parent: Option<usize>,
    /// The line that it is of; `None`: it is a process or a thread.
    pub(super) line: Option<usize>,
}

impl Line {
    pub(super) fn weight(&self) -> i64 {
        self.total_ns.or(self.total_bytes).or(self.total).unwrap_or(0)
    }

    fn own(&self) -> i64 {
        self.self_ns.or(self.self_bytes).or(self.own).unwrap_or(0)
    }

    fn name(&self) -> String {
        match (&self.method, &self.module, self.kind.as_str()) {
            (_, _, "more") => format!("… {} more", self.more.unwrap_or(0)),
            (_, _, "no stack") => "[no stack]".to_owned(),
            (Some(method), ..) => method.clone(),
            (None, Some(module), _) => module.clone(),
            (None, None, kind) => kind.to_owned(),
        }
    }
}

/// The boxes in the order of the lines. Those of each process, or of each thread, stand on a box of it.
pub(super) fn boxes(lines: &[Line]) -> Vec<Drawn> {
    let mut all: Vec<Drawn> = Vec::with_capacity(lines.len() + 8);
    // The end of the last box on each box, and where lines became boxes.
    let mut ends: Vec<i64> = Vec::new();
    let mut at: FxHashMap<usize, usize> = FxHashMap::default();
    let (mut root, mut of) = (None, None);
    let mut end = 0_i64;
    for (place, line) in lines.iter().enumerate() {
        let owner = (line.pid, line.start_ns, line.tid);
        let parent = line.parent.and_then(|parent| at.get(&parent).copied());
        if parent.is_none() && (root.is_none() || of != Some(owner)) {
            let name = match (&line.process, line.pid) {
                (Some(process), Some(pid)) => format!("{process}({pid})"),
                (Some(process), None) => process.clone(),
                _ => "unknown process".to_owned(),
            };
            let name = line.tid.map_or(name.clone(), |tid| format!("{name} {tid}"));
            (root, of) = (Some(all.len()), Some(owner));
            all.push(Drawn { depth: 0, start: end, weight: 0, own: 0, name, module: None, parent: None, line: None });
            ends.push(end);
        }
        let Some(below) = parent.or(root) else { continue };
        let (Some(start), Some(depth)) = (ends.get(below).copied(), all.get(below).map(|below| below.depth + 1)) else {
            continue;
        };
        let weight = line.weight();
        ends[below] = start.saturating_add(weight);
        if parent.is_none() {
            all[below].weight = all[below].weight.saturating_add(weight);
            end = end.saturating_add(weight);
        }
        at.insert(line.row, all.len());
        let (name, own, module) = (line.name(), line.own(), line.module.clone());
        all.push(Drawn { depth, start, weight, own, name, module, parent: Some(below), line: Some(place) });
        ends.push(start);
    }
    all
}

/// The largest boxes with what they stand on; the others are left out.
pub(super) fn largest(all: Vec<Drawn>, most: usize) -> Vec<Drawn> {
    if all.len() <= most {
        return all;
    }
    let mut weights: Vec<i64> = all.iter().map(|one| one.weight).collect();
    let (_, least, _) = weights.select_nth_unstable_by(most, |a, b| b.cmp(a));
    let least = *least;
    // What a box stands on is at least as large, and stands before it.
    let mut kept: Vec<Drawn> = Vec::with_capacity(most);
    let mut at: Vec<Option<usize>> = Vec::with_capacity(all.len());
    for one in all {
        let parent = one.parent.map(|parent| at.get(parent).copied().flatten());
        let is_kept = one.weight > least && parent != Some(None);
        at.push(is_kept.then_some(kept.len()));
        if is_kept {
            kept.push(Drawn { parent: parent.flatten(), ..one });
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Drawn, Line, boxes, largest};

    fn lines() -> Vec<Line> {
        let line = |row: usize, parent: Option<usize>, pid: i64, total: i64, own: i64| {
            json!({ "row": row, "parent": parent, "process": "App", "pid": pid, "start_ns": null, "total_ns": total,
                "self_ns": own, "kind": "method", "more": null, "module": "m", "method": format!("f{row}") })
        };
        let all = json!([
            line(0, None, 1, 50, 10),
            line(1, Some(0), 1, 30, 30),
            line(2, Some(0), 1, 10, 10),
            line(3, None, 1, 5, 5),
            line(4, None, 2, 7, 0),
            line(5, Some(4), 2, 7, 7),
        ]);
        serde_json::from_value(all).unwrap()
    }

    #[test]
    fn boxes_stand_side_by_side_on_those_that_called() {
        let found = boxes(&lines());
        let places: Vec<_> = found.iter().map(|one| (one.name.as_str(), one.depth, one.start, one.weight)).collect();
        let expected = [
            ("App(1)", 0, 0, 55),
            ("f0", 1, 0, 50),
            ("f1", 2, 0, 30),
            ("f2", 2, 30, 10),
            ("f3", 1, 50, 5),
            ("App(2)", 0, 55, 7),
            ("f4", 1, 55, 7),
            ("f5", 2, 55, 7),
        ];
        assert_eq!(places, expected);
        assert_eq!(found.iter().map(|one| one.own).sum::<i64>(), 62);
    }

    #[test]
    fn the_largest_boxes_keep_what_they_stand_on() {
        let kept = largest(boxes(&lines()), 4);
        let names: Vec<_> = kept.iter().map(|one| (one.name.as_str(), one.parent)).collect();
        assert_eq!(names, [("App(1)", None), ("f0", Some(0)), ("f1", Some(1)), ("f2", Some(1))]);
        let all: Vec<Drawn> = largest(boxes(&lines()), 8);
        assert_eq!(all, boxes(&lines()));
    }
}
