//! How the numbers are made, for readers who have nothing but the page.

/// What a reader has to know, in the words of the documentation.
pub(super) const TEXTS: [&str; 5] = [
    "The window is the time of the test. The account is a walk backward from the end of the window. It gives each nanosecond to one \
     thread that the test needed or waited for: this thread ran, waited, or was ready for a CPU, or the recording does not tell. This \
     is the path. Its shares add up to the length of the window exactly (dump path).",
    "A disturbance is a part of the path that somebody else took from the test: a virus scanner, a checkpoint of the file system, \
     another process that had the CPU. Pictures show disturbances hatched. The undisturbed time is the window without disturbances.",
    "A finding is a known cause that the recording has: a rule whose figures all reach their thresholds. Findings of path time come \
     first, the largest first, because only path time tells how much shorter the test would be. Figures of path time can overlap those \
     of other findings. The command below a finding shows the same figure with its details.",
    "A threshold is a part of the window, a part of the time of all CPUs, or a number. It stands beside each figure. A rule whose figures \
     the recording does not have is not looked at: a figure that was not recorded is never 0.",
    "The documentation of tracesift has the details: docs/questions/explain.md, docs/questions/path.md and docs/questions/numbers.md. \
     tracesift explain --format json has all numbers of this page in ns.",
];
