//! Compares two sets of durations that stand on the command line, with a gate at +5 %.
//!
//! ```text
//! cargo run -p tracesift-statistics --example two_sets -- 100 102 99 101 103 / 104 107 103.5 106 109
//! ```

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::error::Error;

use tracesift_statistics::{Confidence, Design, Figure, Gate, Labellings, Limit, Side};

fn main() -> Result<(), Box<dyn Error>> {
    let (mut sides, mut values, mut side) = (Vec::new(), Vec::new(), Side::A);
    for argument in std::env::args().skip(1) {
        if argument == "/" {
            side = Side::B;
        } else {
            values.push(argument.parse::<f64>()?);
            sides.push(side);
        }
    }
    let labellings = Labellings::new(Design::in_order(&sides)?, 1);
    let figure = Figure::logarithms(&labellings, &values)?;
    let comparison = figure.compare(Confidence::default());
    let (low, high) = comparison.effect.change_interval();
    let percent = 100.0 * comparison.effect.change();
    println!("{percent:+.1} % [{:+.1}, {:+.1}], {:?}", 100.0 * low, 100.0 * high, comparison.test);
    println!("{:?}", comparison.verdict(0.01));
    if let Some(spread) = comparison.spread {
        println!("these runs show changes from {:.1} % on", 100.0 * spread.detectable(Confidence::default()));
    }
    let gate = Gate::Above(Limit::Ratio(0.05)).test(&labellings, &values, Confidence::default())?;
    println!("gate +5 %: {:?}", gate.decide(gate.p_beyond(), 1));
    Ok(())
}
