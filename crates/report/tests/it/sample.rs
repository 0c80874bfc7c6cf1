//! A made-up comparison.

use tracesift_report::model::comparison::{
    Case, Change, Cpu, Gate, Kind, Metric, Node, Outcome, Reason, Report, Row, Run,
};
use tracesift_report::model::difference::{Figure, Step};

/// Numbers that look like chance.
struct Numbers(u64);

impl Numbers {
    /// From 0 to 1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / (1_u64 << 31) as f64
    }
}

fn median(mut values: Vec<i64>) -> f64 {
    values.sort_unstable();
    (values[(values.len() - 1) / 2] + values[values.len() / 2]) as f64 / 2.0
}

fn mean(values: &[i64]) -> f64 {
    values.iter().sum::<i64>() as f64 / values.len() as f64
}

const KINDS: [(&str, &str, bool); 7] = [
    ("run", "Runs", false),
    ("wait", "Waits", false),
    ("ready", "Ready", false),
    ("unknown", "Unknown", false),
    ("antivirus", "disturbed: antivirus", true),
    ("checkpoint", "disturbed: checkpoint", true),
    ("cpu-taken", "disturbed: cpu-taken", true),
];

fn runs(count: usize, numbers: &mut Numbers) -> Vec<Run> {
    let mut runs = Vec::new();
    for set in [0, 1] {
        for number in 0..count {
            let usual = [120e6 + 9e6 * set as f64, 32e6, 3e6, 0.2e6, 1e6, 0.0, 8e6];
            let mut parts: Vec<i64> = usual.iter().map(|part| (part * (0.97 + 0.06 * numbers.next())) as i64).collect();
            parts[6] = (parts[6] as f64 * (numbers.next() * 8.0).powi(2) / 10.0) as i64;
            if number % 4 == 1 {
                parts[5] = 40_000_000;
            }
            let duration = parts.iter().sum();
            runs.push(Run {
                name: format!("{}{}", ["old", "new"][set], number + 1),
                set,
                recording: format!(
                    "Create_{}ms_PC_CLT_TestStatus-Passed_20220404-10{number:02}00",
                    duration / 1_000_000
                ),
                date: Some(format!("2022-04-04 10:{number:02}:00")),
                order: 2 * number + set,
                duration,
                window: duration,
                reported: None,
                undisturbed: parts[..4].iter().sum(),
                parts,
                warnings: Vec::new(),
            });
        }
    }
    runs
}

fn figure(word: &'static str, runs: &[Run], value: fn(&Run) -> i64) -> Figure {
    let of_set = |set: usize| runs.iter().filter(|run| run.set == set).map(value).collect::<Vec<i64>>();
    let medians = [median(of_set(0)), median(of_set(1))];
    let change = medians[1] / medians[0] - 1.0;
    let is_noisy = word == "duration";
    Figure {
        word,
        medians,
        means: [mean(&of_set(0)), mean(&of_set(1))],
        change,
        interval: (runs.len() > 2).then_some(if is_noisy {
            [change - 0.22, change + 0.25]
        } else {
            [change - 0.012, change + 0.013]
        }),
        p: (runs.len() > 2).then_some(if is_noisy { 0.41 } else { 0.0004 }),
        verdict: if is_noisy { "undecided" } else { "slower" }.to_owned(),
        detectable: Some(if is_noisy { 0.31 } else { 0.014 }),
        test: "permutation",
        labellings: 20_000,
        is_exhaustive: false,
        values: runs.iter().map(value).collect(),
        outliers: if is_noisy { vec![0] } else { Vec::new() },
    }
}

fn nodes(name: &str, numbers: &mut Numbers, total: [f64; 2]) -> Vec<Node> {
    let mut nodes = Vec::new();
    let mut node = |depth, level, label: &str, share: f64, change: f64, half: f64, is_disturbance| {
        let [a, b] = [total[0] * share, total[0] * share * (1.0 + change)];
        nodes.push(Node {
            depth,
            level,
            label: label.to_owned(),
            is_disturbance,
            means: [a, b],
            delta: (b - a) as i128,
            own: (b - a) as i128,
            half_width: Some(half * a),
        });
    };
    node(0, "state", "runs", 0.7, 0.08, 0.02, false);
    node(1, "who", &format!("{name} main"), 0.5, 0.11, 0.02, false);
    for (tag, share, change) in [("Compression", 0.25, 0.24), ("JSON", 0.15, -0.06), ("Memory\\Allocation", 0.1, 0.02)]
    {
        node(2, "tag", tag, share, change, 0.03, false);
        for method in 0..5 {
            let part = [0.4, 0.25, 0.15, 0.1, 0.1][method];
            let own = change * (0.5 + numbers.next());
            node(3, "site", &format!("app.dll!{tag}.Method{method}"), share * part, own, 0.08, false);
        }
    }
    node(1, "who", &format!("{name} worker-#"), 0.2, 0.01, 0.04, false);
    node(2, "site", "app.dll!Worker.Loop", 0.15, 0.01, 0.05, false);
    node(0, "state", "waits", 0.2, -0.01, 0.05, false);
    node(1, "who", &format!("{name} main"), 0.2, -0.01, 0.05, false);
    node(2, "tag", "disk 0 read: File system\\Read", 0.18, -0.03, 0.01, false);
    node(0, "state", "disturbed: cpu-taken", 0.1, 0.4, 0.9, true);
    node(1, "who", "chromium main", 0.06, 0.6, 0.8, true);
    nodes
}

fn rows(name: &str, count: usize, numbers: &mut Numbers, difference: i128) -> Vec<Row> {
    let mut rows: Vec<Row> = (0..count)
        .map(|number| {
            let a = 20e6 * numbers.next().powi(4);
            let delta = (2e6 * (numbers.next() - 0.5)) as i128 / (1 + number as i128);
            Row {
                text: format!("{name} main runs app.dll!Namespace.Type{number}.Method (Compression), for app.dll!Main"),
                means: [a, a + delta as f64],
                delta,
                half_width: Some(300_000.0 * numbers.next()),
                p: (number < 20).then(|| numbers.next()),
                is_flagged: number % 9 == 0,
                mark: (number == 3).then_some("new"),
            }
        })
        .collect();
    let sum: i128 = rows.iter().skip(1).map(|row| row.delta).sum();
    if let Some(first) = rows.first_mut() {
        first.delta = difference - sum;
    }
    rows
}

fn steps(name: &str, difference: i128) -> Vec<Step> {
    let step = |text: String, remark: &str, delta: i128, half: Option<f64>, is_flagged, is_disturbance| Step {
        text,
        remark: remark.to_owned(),
        delta,
        half_width: half,
        is_flagged,
        is_disturbance,
    };
    let mut steps = vec![
        step(
            "disturbed: cpu-taken".to_owned(),
            "chromium, rustc; most in new4, old2",
            6_200_000,
            Some(9e6),
            false,
            true,
        ),
        step(format!("{name} main runs app.dll!Compression.Deflate"), "new", 8_900_000, Some(1.9e6), true, false),
        step(format!("{name} main runs app.dll!Json.Parse (JSON)"), "", -1_700_000, Some(0.6e6), true, false),
        step(format!("{name} main waits for disk 0 read"), "", -400_000, Some(0.5e6), false, false),
    ];
    let sum: i128 = steps.iter().map(|step| step.delta).sum();
    steps.push(step("all others (31 rows)".to_owned(), "", difference - sum, None, false, false));
    steps
}

fn metrics() -> Vec<Metric> {
    let metric = |name: &str, text: &str, means: [&str; 2], numbers: [f64; 2], p, is_flagged| Metric {
        name: name.to_owned(),
        text: text.to_owned(),
        means: means.map(str::to_owned),
        numbers,
        change: (numbers[0] != 0.0).then(|| numbers[1] / numbers[0] - 1.0),
        p,
        is_flagged,
    };
    vec![
        metric("cpu", "CPU time of the test", ["121.0 ms", "130.2 ms"], [121e6, 130.2e6], Some(0.0003), true),
        metric("page-faults", "page faults", ["1,204", "1,210"], [1_204.0, 1_210.0], Some(0.8), false),
    ]
}

/// A comparison of so many runs in each set, with so many rows.
pub(crate) fn report(count: usize, row_count: usize, name: &str) -> Report {
    let mut numbers = Numbers(7);
    let runs = runs(count, &mut numbers);
    let figures =
        vec![figure("duration", &runs, |run| run.duration), figure("undisturbed", &runs, |run| run.undisturbed)];
    let means = figures[0].means;
    let difference = (means[1] - means[0]).round() as i128;
    let outcome = Outcome {
        sentence: format!(
            "new is slower by 5.6 % (+8.7 ms of its own time): {name} main runs app.dll!Compression.Deflate (new), +8.9 ms. The duration does not show it, because of its spread of 22 %."
        ),
        verdict: "slower".to_owned(),
        confidence: 0.95,
        means,
        difference,
        steps: steps(name, difference),
        nodes: nodes(name, &mut numbers, means),
        rows: rows(name, row_count, &mut numbers, difference),
        metrics: metrics(),
        unknown_metrics: vec![["garbage collections".to_owned(), "not recorded".to_owned()]],
        by_counters: Some([6e6, 2e6, 1.2e6]),
        cpu: Some(Cpu { nodes: nodes(name, &mut numbers, means), means, difference }),
        no_cpu: String::new(),
        figures,
    };
    let change = |group, name: &str, change, a: &str, b: &str, time| Change {
        group,
        name: name.to_owned(),
        change,
        values: [a, b].map(|value| if value.is_empty() { Vec::new() } else { vec![value.to_owned()] }),
        time,
    };
    let case = Case {
        name: name.to_owned(),
        labels: ["old".to_owned(), "new".to_owned()],
        order: "interleaved".to_owned(),
        comparable: "reservations",
        reasons: vec![Reason { severity: "notes", text: "durations vary by 22–24 %".to_owned() }],
        outcome: Some(outcome),
        p_corrected: Some(0.0004),
        gates: vec![
            Gate {
                text: "undisturbed > +5 %".to_owned(),
                state: "failed",
                reason: "the change is +5.6 %, p 0.001".to_owned(),
            },
            Gate {
                text: "duration > +5 %".to_owned(),
                state: "undecided",
                reason: "about 80 runs per set would decide".to_owned(),
            },
            Gate { text: "cpu > +10 %".to_owned(), state: "passed", reason: "the change is at most +8.1 %".to_owned() },
        ],
        changes: vec![
            change("Fact", "recording.command.1", "changed", "0", "40", None),
            change("Module", "app.dll", "changed", "1.0.2", "1.1.0", Some(2_000_000_000)),
            change("Process", "chromium", "new", "", "", None),
        ],
        modules: [15, 2],
        runs,
        kinds: KINDS
            .iter()
            .map(|(word, label, is_disturbance)| Kind {
                word: (*word).to_owned(),
                label: (*label).to_owned(),
                is_disturbance: *is_disturbance,
            })
            .collect(),
    };
    Report { tool_version: "0.1.0".to_owned(), cases: vec![case], mean_changes: Some([0.04, 0.056]), notes: Vec::new() }
}

/// The same with a name in every place that has one.
pub(crate) fn hostile(mut report: Report, name: &str) -> Report {
    for case in &mut report.cases {
        case.labels = [name.to_owned(), name.to_owned()];
        case.reasons.push(Reason { severity: "confounds", text: name.to_owned() });
        for run in &mut case.runs {
            (run.name, run.recording, run.date) = (name.to_owned(), name.to_owned(), Some(name.to_owned()));
            run.warnings.push(name.to_owned());
        }
        for change in &mut case.changes {
            change.name = name.to_owned();
            change.values = [vec![name.to_owned()], vec![name.to_owned()]];
        }
        case.gates.iter_mut().for_each(|gate| (gate.text, gate.reason) = (name.to_owned(), name.to_owned()));
        if let Some(outcome) = &mut case.outcome {
            outcome.nodes.iter_mut().for_each(|node| node.label = name.to_owned());
            outcome.steps.iter_mut().for_each(|step| (step.text, step.remark) = (name.to_owned(), name.to_owned()));
            outcome.unknown_metrics.push([name.to_owned(), name.to_owned()]);
        }
    }
    report.notes.push(name.to_owned());
    report
}
