//! What a report of explanations is made of. Instants are in ns since time zero of the recording.

use super::comparison::Kind;

/// A report.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The version of the program that made it.
    pub tool_version: String,
    /// A section each.
    pub explanations: Vec<Explanation>,
}

/// What explains a recording.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// Name of the recording.
    pub name: String,
    /// The answer in a sentence or two.
    pub sentence: String,
    /// The account of the window, or the reason why there is none.
    pub account: Result<Account, String>,
    /// The rules that fit, the one that explains most time first.
    pub findings: Vec<Finding>,
    /// The rules that could not be looked at, by reason.
    pub unlooked: Vec<Unlooked>,
    /// What limits the figures.
    pub warnings: Vec<String>,
}

/// The account of a window.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// What it is made of: `full`, `switches` or `samples`.
    pub level: &'static str,
    /// The process of the thread that the account starts from.
    pub process: Option<String>,
    /// This thread.
    pub thread: Option<String>,
    /// Start of the window.
    pub from: i64,
    /// Length of the window, ns.
    pub length: i64,
    /// The window without disturbances, ns.
    pub undisturbed: i64,
    /// The time by state, then by kind of disturbance. The shares add up to the length of the window.
    pub shares: Vec<Share>,
    /// The largest rows, the largest first.
    pub largest: Vec<Row>,
    /// How many rows the account has.
    pub rows: usize,
}

/// A part of a window.
#[derive(Clone, Debug, Default)]
pub struct Share {
    /// The kind of time.
    pub kind: Kind,
    /// Its time, ns.
    pub time: i64,
}

/// A row of the account.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// What it is.
    pub text: String,
    /// Its time, ns.
    pub time: i64,
}

/// A rule that a recording fits.
#[derive(Clone, Debug, Default)]
pub struct Finding {
    /// The rule.
    pub rule: String,
    /// What was found, in a sentence.
    pub sentence: String,
    /// The figures; the first one is what the finding is about.
    pub figures: Vec<Figure>,
    /// The time that it explains, ns.
    pub time: Option<i64>,
    /// Whether this is path time.
    pub is_on_path: bool,
    /// Where in time it lies; `None` of a finding that is no path time.
    pub place: Option<Place>,
    /// The command that shows it.
    pub command: String,
}

/// A figure that reached its threshold.
#[derive(Clone, Debug, Default)]
pub struct Figure {
    /// It as people read it.
    pub text: String,
    /// It as a number.
    pub number: f64,
    /// The unit of the number: `ns`, `integer`, `bytes` or `number`.
    pub unit: &'static str,
    /// Its part of what the threshold is a part of, a ratio.
    pub share: Option<f64>,
    /// The threshold.
    pub threshold: String,
}

/// Where in time something lies.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// Its first and its last instant.
    pub span: [i64; 2],
    /// Start and end of each of its longest segments, in the order of time.
    pub longest: Vec<[i64; 2]>,
}

/// Rules that could not be looked at.
#[derive(Clone, Debug, Default)]
pub struct Unlooked {
    /// Why.
    pub why: String,
    /// The rules.
    pub rules: Vec<String>,
}
