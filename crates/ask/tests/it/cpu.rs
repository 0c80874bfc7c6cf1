//! What must hold for `dump cpu` whatever the rows are.

use proptest::prelude::*;
use tracesift_ask::filter::{ProcessFilter, ProcessPatterns};
use tracesift_ask::main_modules::MainModules;
use tracesift_ask::order::{Between, Top};
use tracesift_ask::question::cpu::{Question, Row, Sort, rows};
use tracesift_testing::rows;
use tracesift_trace::ProcessId;
use tracesift_trace::rows::{Origin, ProcessRow, ProcessSummaryRow};

fn process(index: usize, pid: i64, name: &str) -> ProcessRow {
    let id = ProcessId::from_index(index).0;
    let origin = if name == "DPC/ISR" { Origin::Pseudo } else { Origin::Rundown };
    ProcessRow { origin, ..rows::process(id, pid, name) }
}

fn figures(index: usize, samples: i64) -> ProcessSummaryRow {
    ProcessSummaryRow {
        process: ProcessId::from_index(index),
        samples,
        samples_without_stack: 0,
        cpu: samples * 1_000_000,
        run: None,
        wait: None,
        ready: None,
        open: None,
        unknown: None,
        switches: None,
        cores_used: 1,
        priority: None,
        first: None,
        last: None,
        methods: 0,
        methods_kept: 0,
    }
}

/// Idle loop, interrupts, and processes of two names.
fn machine(samples: &[i64]) -> (Vec<ProcessRow>, Vec<ProcessSummaryRow>) {
    let processes = samples
        .iter()
        .enumerate()
        .map(|(index, _)| match index {
            0 => process(index, 0, "Idle"),
            1 => process(index, 0, "DPC/ISR"),
            _ => process(index, index as i64, if index % 2 == 0 { "even.exe" } else { "odd.exe" }),
        })
        .collect();
    (processes, samples.iter().enumerate().map(|(index, samples)| figures(index, *samples)).collect())
}

fn ask(samples: &[i64], question: &Question) -> Vec<Row> {
    let (processes, figures) = machine(samples);
    rows(false, &processes, &figures, &MainModules::default(), question)
}

fn cpu(rows: &[Row]) -> i64 {
    rows.iter().map(|row| row.figures.cpu).sum()
}

fn samples() -> impl Strategy<Value = Vec<i64>> {
    prop::collection::vec(0..1_000_i64, 2..20)
}

proptest! {
    #[test]
    fn the_rows_add_up_and_ascend(samples in samples()) {
        let rows = ask(&samples, &Question::default());
        prop_assert_eq!(cpu(&rows), samples.iter().sum::<i64>() * 1_000_000);
        prop_assert!(rows.iter().skip(1).all(|row| !row.idle));
        let busy: Vec<i64> = rows.iter().filter(|row| !row.idle).map(|row| row.figures.cpu).collect();
        prop_assert!(busy.is_sorted());
    }

    #[test]
    fn a_filter_and_its_opposite_make_the_whole(samples in samples(), list in "(even|odd|4|3;5|!2|idle|dpc/isr|\\*e\\*)") {
        let question = |process: String| Question {
            filter: ProcessFilter { process: ProcessPatterns::parse(&process), ..ProcessFilter::default() },
            ..Question::default()
        };
        // The opposite of a list of patterns is the list of their exclusions.
        let opposite = list.split(';').map(|item| match item.strip_prefix('!') {
            Some(item) => item.to_owned(),
            None => format!("!{item}"),
        });
        let opposite = opposite.collect::<Vec<_>>().join(";");
        let parts = cpu(&ask(&samples, &question(list))) + cpu(&ask(&samples, &question(opposite)));
        prop_assert_eq!(parts, cpu(&ask(&samples, &Question::default())));
    }

    #[test]
    fn the_largest_are_the_end_of_all(samples in samples(), take in 0..25_usize, skip in 0..5_usize) {
        let all: Vec<Row> = ask(&samples, &Question::default()).into_iter().filter(|row| !row.idle).collect();
        let question = Question { top: Top { take: Some(take), skip }, ..Question::default() };
        let some: Vec<Row> = ask(&samples, &question).into_iter().filter(|row| !row.idle).collect();
        let end = all.len().saturating_sub(skip);
        prop_assert_eq!(&some[..], &all[end.saturating_sub(take)..end]);
    }

    #[test]
    fn every_order_has_the_same_rows(samples in samples(), min in 0..500_i64) {
        let within = Between { min: Some(min * 1_000_000), max: None };
        let names = |sort| {
            let mut names: Vec<i64> = ask(&samples, &Question { sort, cpu: within, ..Question::default() })
                .iter()
                .map(|row| row.process.process.0.into())
                .collect();
            names.sort_unstable();
            names
        };
        let by_cpu = names(Sort::Cpu);
        for sort in [Sort::Samples, Sort::Priority, Sort::Cores, Sort::Wait, Sort::Start, Sort::First, Sort::Name] {
            prop_assert_eq!(&names(sort), &by_cpu);
        }
    }
}
