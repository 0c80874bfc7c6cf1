//! Sampled CPU: weights, the process that is charged, and the methods on the stacks.

use super::{Builder, SampleTruth};
use crate::record::{Event, Record};

/// Interval of the timer source where nothing says another, 100 ns.
const DEFAULT_INTERVAL: u32 = 10_000;

pub(super) fn account(builder: &mut Builder<'_>, order: &[&Record]) {
    let mut interval = builder.scenario.recording.sample_interval.unwrap_or(DEFAULT_INTERVAL);
    let interrupts = builder.truth.processes.len() - 1;
    for record in order {
        let sample = match &record.event {
            Event::Interval { new, .. } => {
                interval = *new;
                continue;
            }
            Event::Sample(sample) => sample,
            _ => continue,
        };
        let idle = sample.thread < usize::from(builder.scenario.machine.cpus);
        let process = if idle && (sample.in_dpc || sample.in_isr) {
            interrupts
        } else {
            builder.scenario.machine.threads[sample.thread].process
        };
        let weight = i64::from(interval) * 100 * i64::from(sample.count);
        let truth = SampleTruth {
            time: builder.ns(record.ticks),
            cpu: record.cpu,
            thread: builder.thread(sample.thread),
            process,
            weight,
            stack: builder.stack(sample.walk),
            function: builder.name(sample.function),
        };
        charge(builder, &truth);
        builder.truth.samples.push(truth);
    }
}

fn charge(builder: &mut Builder<'_>, sample: &SampleTruth) {
    let truth = &mut builder.truth;
    let process = &mut truth.processes[sample.process];
    process.samples += 1;
    process.cpu += sample.weight;
    let Some(stack) = sample.stack else {
        process.samples_without_stack += 1;
        return;
    };
    let mut names = truth.stacks[stack].clone();
    if let Some(leaf) = names.first() {
        process.methods.entry(truth.names[*leaf].clone()).or_default().exclusive += sample.weight;
    }
    names.sort_unstable();
    names.dedup();
    for name in names {
        let method = process.methods.entry(truth.names[name].clone()).or_default();
        method.samples += 1;
        method.inclusive += sample.weight;
    }
}
