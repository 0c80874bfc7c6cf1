//! The bars, one after the other.

use std::path::Path;

use anyhow::{Context as _, ensure};
use rayon::prelude::*;
use tracesift_ask::compare::difference::Part;
use tracesift_ask::compare::run::Run;
use tracesift_ask::compare::{Case, CaseResult, Verdict};
use tracesift_scenario::SplitMix64;
use tracesift_scenario::causal::pairs::{Pair, pair};
use tracesift_scenario::causal::workload::{Expected, Injection, Workload};
use tracesift_scenario::causal::{History, Noise, run};

use super::runs::{Format, case, compared, draw, in_order, measure_all};
use super::truth::{Place, found_deltas, is_expected, is_first, true_means};

const MS: i64 = 1_000_000;

/// What a bar needs, in per cent.
enum Need {
    AtLeast(f64),
    AtMost(f64),
}

/// All bars; an error if one is missed.
pub(super) fn all(directory: &Path) -> anyhow::Result<()> {
    let mut bars = Bars { directory, missed: Vec::new() };
    bars.injections()?;
    bars.equal_sets()?;
    bars.power_of_the_duration()?;
    bars.power_of_a_method()?;
    bars.under_load()?;
    bars.clock()?;
    bars.scanner()?;
    bars.drift()?;
    ensure!(bars.missed.is_empty(), "missed: {}", bars.missed.join("; "));
    Ok(())
}

struct Bars<'a> {
    directory: &'a Path,
    missed: Vec<String>,
}

impl Bars<'_> {
    /// Prints a figure beside what it must be.
    #[expect(clippy::print_stdout, reason = "a benchmark's output is its result")]
    fn bar(&mut self, what: &str, hits: usize, of: usize, need: Need) {
        let percent = 100.0 * hits as f64 / of.max(1) as f64;
        let (is_met, need) = match need {
            Need::AtLeast(least) => (percent >= least, format!("at least {least} %")),
            Need::AtMost(most) => (percent <= most, format!("at most {most} %")),
        };
        let word = if is_met { "" } else { "  MISSED" };
        println!("{what}: {hits} of {of} = {percent:.1} %, must be {need}{word}");
        if !is_met {
            self.missed.push(what.to_owned());
        }
    }

    fn runs(&self, histories: &[History], format: Format, name: &str) -> anyhow::Result<Vec<Run>> {
        measure_all(self.directory, histories, format, name)
    }

    /// 200 pairs with one change each: what was put in is the first row, with its time.
    fn injections(&mut self) -> anyhow::Result<()> {
        const PAIRS: usize = 200;
        let kinds: Vec<Injection> = Injection::ALL.into_iter().filter(|kind| *kind != Injection::None).collect();
        let (mut first, mut exact, mut sampled, mut covered) = (0, [0, 0], [0, 0], [0, 0]);
        for number in 0..PAIRS {
            let kind = kinds[number % kinds.len()];
            let count = [3, 5, 10][number / kinds.len() % 3];
            let cv = 10_000 * (1 + number as i64 % 5);
            let noise = Noise { step_cv_ppm: cv, run_cv_ppm: cv / 2, ..Noise::default() };
            let pair = pair(kind, &workload_of(kind), &noise, (count, count), 0xB4 + number as u64);
            let format = format_of(kind);
            let a = self.runs(&pair.a, format, &format!("p{number}a"))?;
            let b = self.runs(&pair.b, format, &format!("p{number}b"))?;
            let case = compared(&a, &b)?;
            let result = result(&case)?;
            let is_found = is_first(&result.difference, kind.expected());
            first += usize::from(is_found);
            if !is_found {
                explain_miss(number, kind, count, cv, result);
            }
            let near = Nearness::of(&pair, &case, format)?;
            add(&mut exact, near.exact);
            add(&mut sampled, near.sampled);
            add(&mut covered, near.covered);
        }
        self.bar("the change is the first row", first, PAIRS, Need::AtLeast(95.0));
        self.bar("exact parts of it are within 2 %", exact[0], exact[1], Need::AtLeast(100.0));
        self.bar("sampled parts are within 2 % or 3 standard errors", sampled[0], sampled[1], Need::AtLeast(99.0));
        self.bar("intervals of 95 % cover the truth", covered[0], covered[1], Need::AtLeast(92.0));
        Ok(())
    }

    /// Equal sets: 10 machines, 2,000 splits of 40 runs each. The bar of 6 % applies to each machine and to all together. Of the first
    /// 200 splits the largest count is told without a bar: a test that calls 5 % of equal sets different has more than 16 of 200 for
    /// one machine of fifty by chance.
    fn equal_sets(&mut self) -> anyhow::Result<()> {
        const SPLITS: usize = 2_000;
        const FEW: usize = 200;
        let (mut changed, mut flagged, mut worst, mut worst_of_few) = (0, 0, [0, 0], [0, 0]);
        for machine in 0..10_i64 {
            let noise = Noise {
                step_cv_ppm: 10_000 * (1 + machine % 5),
                run_cv_ppm: 5_000 * (machine % 7),
                outlier_percent: if machine % 3 == 0 { 10 } else { 0 },
                foreign: if machine % 4 == 1 { vec![(25 * MS, 10 * MS); 5] } else { Vec::new() },
                timer: if machine % 5 == 2 { 15_625_000 } else { 0 },
                ..Noise::default()
            };
            let histories = histories(&Workload::default(), &noise, 40, 0xA0 + machine as u64);
            let format = if machine % 2 == 0 { Format::Etl } else { Format::Perf };
            let runs = self.runs(&histories, format, &format!("m{machine}"))?;
            let found = trials(SPLITS, |dice| {
                let mixed = draw(&runs, 20, dice);
                let case = compared(&mixed[..10], &mixed[10..])?;
                let result = result(&case)?;
                Ok([is_change(result), is_flagged(result)])
            })?;
            let count =
                |found: &[[bool; 2]]| [0, 1].map(|kind: usize| found.iter().filter(|found| found[kind]).count());
            let (counts, of_few) = (count(&found), count(&found[..FEW]));
            changed += counts[0];
            flagged += counts[1];
            worst = [worst[0].max(counts[0]), worst[1].max(counts[1])];
            worst_of_few = [worst_of_few[0].max(of_few[0]), worst_of_few[1].max(of_few[1])];
        }
        self.bar("equal sets are called different", changed, 10 * SPLITS, Need::AtMost(6.0));
        self.bar("a row of equal sets is flagged", flagged, 10 * SPLITS, Need::AtMost(6.0));
        self.bar("equal sets are called different, worst machine", worst[0], SPLITS, Need::AtMost(6.0));
        self.bar("a row of equal sets is flagged, worst machine", worst[1], SPLITS, Need::AtMost(6.0));
        self.bar("equal sets are called different, worst first 200 (no bar)", worst_of_few[0], FEW, Need::AtLeast(0.0));
        self.bar("a row of equal sets is flagged, worst first 200 (no bar)", worst_of_few[1], FEW, Need::AtLeast(0.0));
        Ok(())
    }

    /// 5 % more duration at a spread of 3 %, 10 and 10 runs.
    fn power_of_the_duration(&mut self) -> anyhow::Result<()> {
        const TRIALS: usize = 1_000;
        let noise = Noise { run_cv_ppm: 30_000, ..Noise::default() };
        let before = Workload::default();
        let after = Workload { report: before.report + length_of(&before) / 20, ..before.clone() };
        let a = self.runs(&histories(&before, &noise, 200, 0xD0), Format::Perf, "d-a")?;
        let b = self.runs(&histories(&after, &noise, 200, 0xD1), Format::Perf, "d-b")?;
        // Labels are exchanged freely, and in the blocks of runs that were recorded in turn, which cost a little.
        let found = trials(TRIALS, |dice| {
            let (a, b) = (draw(&a, 10, dice), draw(&b, 10, dice));
            let [free, blocks] = [case(in_order(&a, &b, false))?, compared(&a, &b)?];
            let [free, blocks] = [result(&free)?, result(&blocks)?].map(|result| result.duration.comparison.test);
            Ok([free, blocks].map(|test| [test.p_greater <= 0.05, test.p <= 0.05]))
        })?;
        let count = |order: usize, side: usize| found.iter().filter(|found| found[order][side]).count();
        self.bar("5 % more is found, one-sided", count(0, 0), TRIALS, Need::AtLeast(95.0));
        self.bar("5 % more is found, two-sided", count(0, 1), TRIALS, Need::AtLeast(90.0));
        self.bar("5 % more is found in blocks, one-sided (no bar)", count(1, 0), TRIALS, Need::AtLeast(0.0));
        self.bar("5 % more is found in blocks, two-sided (no bar)", count(1, 1), TRIALS, Need::AtLeast(0.0));
        Ok(())
    }

    /// A method with a fifth of 3 s grows by 5 % of the run.
    fn power_of_a_method(&mut self) -> anyhow::Result<()> {
        const TRIALS: usize = 1_000;
        let noise = Noise { run_cv_ppm: 30_000, ..Noise::default() };
        let before = Workload { prepare: 900 * MS, report: 600 * MS, items: 260, ..Workload::default() };
        let length = length_of(&before);
        let after = Workload { report: before.report + length / 20, ..before.clone() };
        let a = self.runs(&histories(&before, &noise, 100, 0xE0), Format::Etl, "e-a")?;
        let b = self.runs(&histories(&after, &noise, 100, 0xE1), Format::Etl, "e-b")?;
        let expected = Expected::Key("run", "Report.build");
        for (count, least) in [(10, 99.0), (5, 95.0), (3, 70.0)] {
            let found = trials(TRIALS, |dice| {
                let case = compared(&draw(&a, count, dice), &draw(&b, count, dice))?;
                let difference = &result(&case)?.difference;
                let is_flagged = |place: usize| difference.shown[place].row().is_some_and(|row| row.is_flagged);
                Ok(is_first(difference, expected) && is_flagged(0))
            })?;
            let hits = found.iter().filter(|found| **found).count();
            let what = format!(
                "a method of {:.1} s grows by 5 % of the run: first and flagged, {count} + {count}",
                length as f64 / 1e9
            );
            self.bar(&what, hits, TRIALS, Need::AtLeast(least));
        }
        Ok(())
    }

    /// 5 % more in one method while other programs want all CPUs.
    fn under_load(&mut self) -> anyhow::Result<()> {
        const TRIALS: usize = 400;
        let before = Workload::default();
        let foreign = vec![(25 * MS, 5 * MS); before.cpus];
        let noise = Noise { step_cv_ppm: 20_000, run_cv_ppm: 10_000, foreign, ..Noise::default() };
        let after = Workload { report: before.report + length_of(&before) / 20, ..before.clone() };
        let a = self.runs(&histories(&before, &noise, 100, 0xF0), Format::Etl, "f-a")?;
        let b = self.runs(&histories(&after, &noise, 100, 0xF1), Format::Etl, "f-b")?;
        let expected = Expected::Key("run", "Report.build");
        let found = trials(TRIALS, |dice| {
            let case = compared(&draw(&a, 10, dice), &draw(&b, 10, dice))?;
            let result = result(&case)?;
            let is_own = |shown: &&tracesift_ask::compare::difference::ShownRow| {
                shown.row().is_none_or(|row| row.disturbance().is_none())
            };
            let first = result.difference.shown.iter().find(is_own);
            let p = [&result.undisturbed, &result.duration].map(|figure| figure.comparison.test.p <= 0.05);
            Ok([p[0], first.is_some_and(|shown| is_expected(shown, expected)), p[1]])
        })?;
        let counts = [0, 1, 2].map(|kind: usize| found.iter().filter(|found| found[kind]).count());
        self.bar("under load: the undisturbed time shows 5 % more", counts[0], TRIALS, Need::AtLeast(90.0));
        self.bar("under load: the method is the first row of the test's own", counts[1], TRIALS, Need::AtLeast(95.0));
        self.bar("under load: the duration shows it, too (no bar)", counts[2], TRIALS, Need::AtLeast(0.0));
        Ok(())
    }

    /// A clock that is a tenth lower: one row, and no method beside it.
    fn clock(&mut self) -> anyhow::Result<()> {
        const TRIALS: usize = 200;
        let workload = workload_of(Injection::Clock);
        let noise = Noise { step_cv_ppm: 20_000, run_cv_ppm: 5_000, ..Noise::default() };
        let slow = Noise { clock: 900, ..noise.clone() };
        let a = self.runs(&histories(&workload, &noise, 60, 0xC0), Format::Etl, "c-a")?;
        let b = self.runs(&histories(&workload, &slow, 60, 0xC1), Format::Etl, "c-b")?;
        let found = trials(TRIALS, |dice| {
            let case = compared(&draw(&a, 10, dice), &draw(&b, 10, dice))?;
            let difference = &result(&case)?.difference;
            let speed = difference.shown.iter().find(|shown| matches!(shown.part, Part::Speed(_)));
            let explains = speed.is_some_and(|shown| shown.delta * 10 >= difference.total * 8);
            let method = difference.shown.iter().filter_map(|shown| shown.row());
            Ok(explains && !method.into_iter().any(|row| row.is_flagged && row.state() == "run"))
        })?;
        let hits = found.iter().filter(|found| **found).count();
        self.bar("a lower clock is one row, and no method beside it", hits, TRIALS, Need::AtLeast(90.0));
        Ok(())
    }

    /// A scanner in 2 of 5 runs of one set.
    fn scanner(&mut self) -> anyhow::Result<()> {
        const PAIRS: usize = 50;
        let noise = Noise { step_cv_ppm: 5_000, run_cv_ppm: 1_000, ..Noise::default() };
        let mut hits = 0;
        for number in 0..PAIRS {
            let kind = Injection::Scanner(2);
            let pair = pair(kind, &Workload::default(), &noise, (5, 5), 0x5C00 + number as u64);
            let a = self.runs(&pair.a, Format::Perf, &format!("s{number}a"))?;
            let b = self.runs(&pair.b, Format::Perf, &format!("s{number}b"))?;
            let case = compared(&a, &b)?;
            let result = result(&case)?;
            let first = result.difference.shown.first().context("no row")?;
            let named = first.most.iter().map(|place| case.runs[*place].id.clone()).collect::<Vec<_>>();
            let mut expected = vec![b[0].id.clone(), b[1].id.clone()];
            expected.sort();
            let mut found = named.clone();
            found.sort();
            let is_same = result.undisturbed.verdict == Verdict::Same;
            let is_found = is_expected(first, kind.expected()) && found == expected && is_same;
            hits += usize::from(is_found);
            if !is_found {
                explain_miss(number, kind, 5, 5_000, result);
            }
        }
        self.bar(
            "a scanner in 2 of 5 runs: named with its runs, the rest is the same",
            hits,
            PAIRS,
            Need::AtLeast(100.0),
        );
        Ok(())
    }

    /// A machine that becomes a tenth slower in the course of a session of 20 equal runs.
    fn drift(&mut self) -> anyhow::Result<()> {
        const TRIALS: usize = 1_000;
        const PLACES: usize = 20;
        let mut pools: Vec<Vec<Run>> = Vec::new();
        for place in 0..PLACES {
            let clock = 1_000 * 1_000 / (1_000 + 100 * place as i64 / PLACES as i64);
            let noise = Noise { step_cv_ppm: 20_000, run_cv_ppm: 10_000, clock, ..Noise::default() };
            let histories = histories(&Workload::default(), &noise, 15, 0x1D00 + place as u64);
            pools.push(self.runs(&histories, Format::Perf, &format!("t{place}"))?);
        }
        let found = trials(TRIALS, |dice| {
            let session: Vec<Run> = pools.iter().map(|pool| pool[dice.index(pool.len())].clone()).collect();
            // In turn, and one set after the other.
            let (mut a, mut b) = (Vec::new(), Vec::new());
            for (place, run) in session.iter().enumerate() {
                if (place / 2 + place) % 2 == 0 { a.push(run.clone()) } else { b.push(run.clone()) }
            }
            let in_turn = case(in_order(&a, &b, true))?;
            let (old, new) = session.split_at(PLACES / 2);
            let after = case(in_order(old, new, false))?;
            let is_warned = after.comparable.reasons.iter().any(|reason| reason.key == "order");
            Ok([is_change(result(&in_turn)?), is_warned, is_change(result(&after)?)])
        })?;
        let counts = [0, 1, 2].map(|kind: usize| found.iter().filter(|found| found[kind]).count());
        self.bar("drift: equal sets in turn are called different", counts[0], TRIALS, Need::AtMost(7.0));
        self.bar("drift: of sets one after the other it is said", counts[1], TRIALS, Need::AtLeast(100.0));
        self.bar("drift: those are called different (no bar)", counts[2], TRIALS, Need::AtLeast(0.0));
        Ok(())
    }
}

/// How near the rows of a comparison are to the truth: hits, and of how many.
struct Nearness {
    exact: [usize; 2],
    sampled: [usize; 2],
    covered: [usize; 2],
}

impl Nearness {
    fn of(pair: &Pair, case: &Case, format: Format) -> anyhow::Result<Self> {
        let difference = &result(case)?.difference;
        let ([exact_a, methods_a], [exact_b, methods_b]) =
            (<[_; 2]>::from(true_means(&pair.a)), <[_; 2]>::from(true_means(&pair.b)));
        let (exact, methods) = found_deltas(difference);
        let delta = |a: &std::collections::BTreeMap<Place, f64>,
                     b: &std::collections::BTreeMap<Place, f64>,
                     place: &Place| { b.get(place).unwrap_or(&0.0) - a.get(place).unwrap_or(&0.0) };
        let mut near = Self { exact: [0, 0], sampled: [0, 0], covered: [0, 0] };
        let places: std::collections::BTreeSet<&Place> = exact_a.keys().chain(exact_b.keys()).collect();
        for place in places {
            let truth = delta(&exact_a, &exact_b, place);
            // A smaller difference has no 2 %.
            if truth.abs() >= 1e6 {
                let found = exact.get(place).copied().unwrap_or(0.0);
                near.exact[0] += usize::from((found - truth).abs() <= 0.02 * truth.abs());
                near.exact[1] += 1;
            }
        }
        // perf's functions of programs have no names here.
        if format == Format::Perf {
            return Ok(near);
        }
        let runs = case.runs.len() as f64 / 2.0;
        let places: std::collections::BTreeSet<&Place> = methods_a.keys().chain(methods_b.keys()).collect();
        for place in places {
            let truth = delta(&methods_a, &methods_b, place);
            if truth.abs() >= 1e6 {
                let found = methods.get(place).copied().unwrap_or(0.0);
                let time = methods_a.get(place).unwrap_or(&0.0) + methods_b.get(place).unwrap_or(&0.0);
                // Each set's mean is known to the square root of its samples.
                let error = (time * super::runs::INTERVAL as f64 / runs).sqrt();
                near.sampled[0] += usize::from((found - truth).abs() <= (0.02 * truth.abs()).max(3.0 * error));
                near.sampled[1] += 1;
            }
        }
        near.cover(pair, case)?;
        Ok(near)
    }

    /// Whether the interval of the first row covers what the change does on average.
    fn cover(&mut self, pair: &Pair, case: &Case) -> anyhow::Result<()> {
        let Expected::Key("run", method) = pair.injection.expected() else { return Ok(()) };
        let difference = &result(case)?.difference;
        let Some(row) = difference.shown.first().and_then(|shown| shown.row()) else { return Ok(()) };
        let (Some(half), true) = (row.half_width, row.text().contains(method)) else { return Ok(()) };
        let (_, a) = true_means(&pair.a);
        let (_, b) = true_means(&pair.b);
        let sum = |means: &std::collections::BTreeMap<Place, f64>| -> f64 {
            means.iter().filter(|(place, _)| place.2 == method).map(|(_, time)| time).sum()
        };
        let truth = sum(&b) - sum(&a);
        self.covered[0] += usize::from((row.delta as f64 - truth).abs() <= half);
        self.covered[1] += 1;
        Ok(())
    }
}

fn add(sums: &mut [usize; 2], more: [usize; 2]) {
    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}

/// Names of the kernel's functions tell what a disk, a checkpoint and a page fault are; names of managed methods tell the rest.
fn format_of(kind: Injection) -> Format {
    match kind {
        Injection::SlowDisk | Injection::Checkpoint | Injection::Scanner(_) => Format::Perf,
        Injection::PageFaults => Format::EtlWithKernel,
        _ => Format::Etl,
    }
}

/// The test in which a change is made. A common factor needs several methods with samples enough.
fn workload_of(kind: Injection) -> Workload {
    match kind.expected() {
        Expected::Speed => Workload { items: 192, check: 3 * MS, hold: 2 * MS, ..Workload::default() },
        _ => Workload::default(),
    }
}

fn histories(workload: &Workload, noise: &Noise, count: usize, seed: u64) -> Vec<History> {
    let mut seeds = SplitMix64::new(seed);
    (0..count).map(|_| run(workload.world(), noise, seeds.next_u64())).collect()
}

/// The duration of a test in which nothing varies, ns.
fn length_of(workload: &Workload) -> i64 {
    let (start, end) = run(workload.world(), &Noise::default(), 0).window();
    end - start
}

/// The results of trials, each with dice of its own.
fn trials<T: Send>(
    count: usize,
    trial: impl Fn(&mut SplitMix64) -> anyhow::Result<T> + Sync,
) -> anyhow::Result<Vec<T>> {
    (0..count as u64).into_par_iter().map(|number| trial(&mut SplitMix64::new(0x7121_0000 + number))).collect()
}

fn result(case: &Case) -> anyhow::Result<&CaseResult> {
    case.result.as_ref().with_context(|| case.comparable.text())
}

fn is_change(result: &CaseResult) -> bool {
    matches!(result.duration.verdict, Verdict::Slower | Verdict::Faster)
}

fn is_flagged(result: &CaseResult) -> bool {
    let has_flag =
        |shown: &tracesift_ask::compare::difference::ShownRow| !matches!(shown.part, Part::Row(_) | Part::Others);
    result.metrics.compared.iter().any(|metric| metric.is_flagged)
        || result.difference.rows.iter().any(|row| row.is_flagged)
        || result.difference.shown.iter().any(|shown| shown.row().is_some_and(|row| row.is_flagged) || has_flag(shown))
}

#[expect(clippy::print_stdout, reason = "a benchmark's output is its result")]
fn explain_miss(number: usize, kind: Injection, count: usize, cv: i64, result: &CaseResult) {
    println!("  {number}: {kind:?}, {count} + {count}, CV {} %: {}", cv / 10_000, result.sentence);
    for shown in result.difference.shown.iter().take(4) {
        let flag = if shown.row().is_some_and(|row| row.is_flagged) { " *" } else { "" };
        println!("    {:+.1} ms{flag} {}", shown.delta as f64 / 1e6, shown.text());
    }
}
