//! How the numbers are made, for readers who have nothing but the page.

use crate::html::Html;
use crate::model::comparison::Outcome;
use crate::numbers::grouped;

/// What a reader has to know, in the words of the documentation.
pub(super) const TEXTS: [&str; 7] = [
    "A run is one recording of a whole machine. Its window is the time of the test. A backward walk from the end of the window gives \
     each nanosecond to one thread that the test needed or waited for: it ran, waited, or was ready for a CPU. These parts add up to \
     the duration of the run exactly (dump path).",
    "A disturbance is a part that somebody else took from the test: a virus scanner, a checkpoint of the file system, another process \
     that had the CPU. The rule looks at the part alone and never at the set. Undisturbed is the duration without disturbances.",
    "The change is the median of the differences of all pairs of runs, on logarithms. Its interval and p come from a permutation of \
     the labels of the runs; below four runs in a set, Welch's test on logarithms takes its place. Samples and switches inside of a \
     run are never counted as repetitions.",
    "The waterfall and the rows divide the difference of the means, because means add up. A row is as coarse as one cause explains it. \
     ± is half the width of the interval of a row. A row with * is no chance: the test looks at all rows of all levels and the metrics \
     together, so that among equal sets the risk that anything has a * is that of a single test.",
    "The levels of the flame graph are those of the rows: state or kind of disturbance; process and thread; stack tag, or what ended a \
     wait; method, or the process that had the CPU; the wait of the test that the time was spent for. A level that tells nothing about \
     a part is left out. A part is grey if its difference is smaller than ±. If all code runs longer by one factor, colour is about the \
     rest.",
    "A gate fails if the change is beyond its limit by more than chance, and passes if the interval of the change ends before the \
     limit. Otherwise it is undecided.",
    "The documentation of tracesift has the details: docs/questions/compare.md, docs/questions/path.md and docs/questions/numbers.md. \
     tracesift compare --format json --stacks has all numbers of this page in ns.",
];

/// The tests of the figures, in words.
pub(crate) fn add_tests(html: &mut Html, outcome: &Outcome) {
    for figure in &outcome.figures {
        let labellings = grouped(&figure.labellings.to_string());
        let test = match figure.test {
            "permutation" if figure.is_exhaustive => format!("permutation test, all {labellings} labellings"),
            "permutation" => format!("permutation test, {labellings} labellings by chance"),
            "welch" => "Welch's test on logarithms".to_owned(),
            "predictive" => "a single run against the spread of the other set, on logarithms".to_owned(),
            _ => "no test".to_owned(),
        };
        html.element("p", &[("class", &"remark")], &format!("{}: {test}.", crate::figures::name(figure)));
    }
}
