//! A comparison as what a report is made of.

use tracesift_ask::compare::changes::{Change, Changes};
use tracesift_ask::compare::difference::{DifferenceRow, Mark, ShownRow};
use tracesift_ask::compare::figures::ComparedFigure;
use tracesift_ask::compare::gates::GateOutcome;
use tracesift_ask::compare::graph::GraphNode;
use tracesift_ask::compare::metrics::ComparedMetric;
use tracesift_ask::compare::run::Run;
use tracesift_ask::compare::stacks::CpuTree;
use tracesift_ask::compare::{Case, CaseResult, Compared, Verdict};
use tracesift_report::model::comparison as model;
use tracesift_report::model::difference::{Figure, Step};

use super::comparison::{is_flagged, order_words, run_name, shown_remark, verdict, verdict_word};

/// States in the order in which they are drawn, with what they are called.
const STATES: [(&str, &str); 5] =
    [("run", "Runs"), ("wait", "Waits"), ("ready", "Ready"), ("unknown", "Unknown"), ("outside", "Not in the window")];

/// The page. `trees` has the CPU time of each case by stack.
pub(crate) fn text(compared: &Compared, trees: &[Result<CpuTree, String>]) -> String {
    tracesift_report::comparison_page(&report(compared, trees))
}

fn report(compared: &Compared, trees: &[Result<CpuTree, String>]) -> model::Report {
    let mut notes = Vec::new();
    for (case, label) in &compared.unpaired {
        notes.push(format!("{case} is in {label} only."));
    }
    notes.extend(compared.failed.iter().map(|name| format!("Left out, because the test failed: {name}.")));
    notes.extend(compared.failures.iter().map(|failure| format!("Left out: {}.", failure.reason)));
    match compared.neither {
        0 => {}
        1 => notes.push("1 run belongs to neither set.".to_owned()),
        more => notes.push(format!("{more} runs belong to neither set.")),
    }
    let corrected = compared.corrected();
    model::Report {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        cases: compared
            .cases
            .iter()
            .zip(corrected)
            .enumerate()
            .map(|(place, (case, p_corrected))| of_case(case, p_corrected, trees.get(place)))
            .collect(),
        mean_changes: compared.mean_ratios().map(|ratios| ratios.map(|ratio| ratio - 1.0)),
        notes,
    }
}

fn of_case(case: &Case, p_corrected: Option<f64>, tree: Option<&Result<CpuTree, String>>) -> model::Case {
    let kinds = kinds(case);
    let mut order: Vec<usize> = (0..case.runs.len()).collect();
    order.sort_by(|x, y| case.runs[*x].time.cmp(&case.runs[*y].time).then(x.cmp(y)));
    let place_in_time = |run: usize| order.iter().position(|place| *place == run).unwrap_or(0);
    let run = |(place, run)| of_run(case, place, run, place_in_time(place), &kinds);
    model::Case {
        name: case.name.clone(),
        labels: case.labels.clone(),
        order: order_words(case.order).to_owned(),
        comparable: case.comparable.state(),
        reasons: case
            .comparable
            .reasons
            .iter()
            .map(|reason| model::Reason { severity: reason.severity.word(), text: reason.text.clone() })
            .collect(),
        outcome: case.result.as_ref().map(|result| of_result(case, result, tree)),
        p_corrected,
        gates: case.gates.iter().map(of_gate).collect(),
        changes: of_changes(&case.changes),
        modules: [case.changes.same_modules, case.changes.unknown_modules],
        runs: case.runs.iter().enumerate().map(run).collect(),
        kinds,
    }
}

/// The kinds of time that some run has: states, then disturbances.
fn kinds(case: &Case) -> Vec<model::Kind> {
    let states = STATES.map(|(word, label)| model::Kind {
        word: word.to_owned(),
        label: label.to_owned(),
        is_disturbance: false,
    });
    let mut found: Vec<_> = case.runs.iter().flat_map(|run| run.disturbances().into_keys()).collect();
    found.sort_unstable();
    found.dedup();
    let disturbances = found.into_iter().map(|kind| model::Kind {
        word: kind.word().to_owned(),
        label: format!("disturbed: {kind}"),
        is_disturbance: true,
    });
    states.into_iter().chain(disturbances).collect()
}

fn of_run(case: &Case, place: usize, run: &Run, order: usize, kinds: &[model::Kind]) -> model::Run {
    let (states, disturbances) = (run.states(), run.disturbances());
    let part = |kind: &model::Kind| {
        let disturbance = || disturbances.iter().find(|(of, _)| of.word() == kind.word).map(|(_, time)| *time);
        let time = if kind.is_disturbance { disturbance() } else { states.get(kind.word.as_str()).copied() };
        time.unwrap_or(0)
    };
    model::Run {
        name: run_name(case, place),
        set: usize::from(place >= case.split),
        recording: run.name.clone(),
        date: run.date.clone(),
        order,
        duration: run.duration(),
        window: run.window(),
        reported: run.reported,
        undisturbed: run.undisturbed(),
        parts: kinds.iter().map(part).collect(),
        warnings: run.warnings.clone(),
    }
}

fn of_gate(gate: &GateOutcome) -> model::Gate {
    model::Gate { text: gate.text.clone(), state: gate.state.word(), reason: gate.reason.clone() }
}

fn of_changes(changes: &Changes) -> Vec<model::Change> {
    let change = |group, name: &String, change: Change, a: &[String], b: &[String], time| model::Change {
        group,
        name: name.clone(),
        change: change.word(),
        values: [a.to_vec(), b.to_vec()],
        time,
    };
    let facts = changes.facts.iter().map(|fact| change("Fact", &fact.key, fact.change, &fact.a, &fact.b, None));
    let modules = changes.modules.iter();
    let modules = modules.map(|of| change("Module", &of.module, of.change, &of.a, &of.b, Some(of.time)));
    let processes = changes.processes.iter();
    let word = |place: usize| if place == 0 { Change::Gone } else { Change::New };
    let processes = processes.map(|(name, place)| change("Process", name, word(*place), &[], &[], None));
    let mut all: Vec<model::Change> = facts.chain(modules).chain(processes).collect();
    // What varies inside of a set does not tell the sets apart.
    all.sort_by_key(|change| change.change == Change::Varies.word());
    all
}

fn of_result(case: &Case, result: &CaseResult, tree: Option<&Result<CpuTree, String>>) -> model::Outcome {
    let CaseResult { duration, undisturbed, difference, metrics, sentence } = result;
    let values = |value: fn(&Run) -> i64| case.runs.iter().map(value).collect();
    let mut rows: Vec<model::Row> = difference.rows.iter().map(of_row).collect();
    rows.sort_by(|x, y| {
        let weight = |row: &model::Row| (row.delta.unsigned_abs(), (row.means[0] + row.means[1]).to_bits());
        weight(y).cmp(&weight(x))
    });
    let is_change = |figure: &&ComparedFigure| matches!(figure.verdict, Verdict::Slower | Verdict::Faster);
    let leading = [undisturbed, duration].into_iter().find(is_change).unwrap_or(undisturbed);
    let missing = metrics.missing.iter().map(|metric| [metric.text.to_owned(), metric.why.clone()]);
    model::Outcome {
        sentence: sentence.clone(),
        verdict: verdict_word(leading.verdict).to_owned(),
        figures: vec![of_figure(duration, values(Run::duration)), of_figure(undisturbed, values(Run::undisturbed))],
        confidence: duration.comparison.confidence.level(),
        means: duration.means,
        difference: difference.total,
        steps: difference.shown.iter().map(|shown| of_shown(shown, case)).collect(),
        nodes: difference.graph.iter().map(of_node).collect(),
        cpu: tree.and_then(|tree| tree.as_ref().ok()).map(of_tree),
        no_cpu: tree.and_then(|tree| tree.as_ref().err()).cloned().unwrap_or_default(),
        rows,
        metrics: metrics.compared.iter().map(of_metric).collect(),
        unknown_metrics: missing.collect(),
        by_counters: metrics.by_counters.map(|parts| [parts.instructions, parts.cycles, parts.clock]),
    }
}

/// A figure, with its values where they are drawn.
pub(super) fn of_figure(figure: &ComparedFigure, values: Vec<i64>) -> Figure {
    let test = figure.comparison.test;
    Figure {
        word: figure.name,
        medians: figure.medians,
        means: figure.means,
        change: figure.change(),
        interval: figure.interval().map(|(low, high)| [low, high]),
        p: figure.p(),
        verdict: verdict(figure).to_owned(),
        detectable: figure.detectable,
        test: figure.test_word(),
        labellings: test.labellings,
        is_exhaustive: test.exhaustive,
        values,
        outliers: figure.outliers.clone(),
    }
}

/// A part of the difference between the sets of a case.
pub(super) fn of_shown(shown: &ShownRow, case: &Case) -> Step {
    let row = shown.row();
    Step {
        text: shown.text(),
        remark: shown_remark(shown, case).trim_start_matches([';', ' ']).replace("  ", " · "),
        delta: shown.delta,
        half_width: row.and_then(|row| row.half_width),
        is_flagged: is_flagged(shown),
        is_disturbance: row.is_some_and(|row| row.disturbance().is_some()),
    }
}

fn of_tree(tree: &CpuTree) -> model::Cpu {
    model::Cpu { nodes: tree.nodes.iter().map(of_node).collect(), means: tree.means, difference: tree.delta }
}

fn of_node(node: &GraphNode) -> model::Node {
    model::Node {
        depth: node.depth,
        level: node.level,
        label: node.label.clone(),
        is_disturbance: node.is_disturbance,
        means: node.means,
        delta: node.delta,
        own: node.own,
        half_width: node.half_width,
    }
}

fn of_row(row: &DifferenceRow) -> model::Row {
    model::Row {
        text: row.text(),
        means: row.means,
        delta: row.delta,
        half_width: row.half_width,
        p: row.p,
        is_flagged: row.is_flagged,
        mark: row.mark.map(Mark::word),
    }
}

fn of_metric(metric: &ComparedMetric) -> model::Metric {
    model::Metric {
        name: metric.name.to_owned(),
        text: metric.text.to_owned(),
        means: metric.means.map(|mean| mean.to_string()),
        numbers: metric.means.map(|mean| mean.number()),
        change: metric.change(),
        p: metric.p,
        is_flagged: metric.is_flagged,
    }
}
