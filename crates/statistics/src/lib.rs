//! Two sets of runs of the same test: is B slower than A, by how much, and where.
//!
//! Numbers go in and numbers come out. The crate reads no files, prints nothing, and has no dependency but for its error
//! type. Results are the same on every machine, for every number of threads, and for every order in which the runs are
//! given (with the exception of [`Design::in_order`](design::Design::in_order), which says so).
//!
//! # One figure
//!
//! A [`Design`] says which run belongs to which set, and which runs may exchange their labels. [`Labellings`] are drawn
//! from it once, and every figure of the comparison is tested with them. A [`Figure`] is one number per run.
//!
//! ```
//! use tracesift_statistics::{Confidence, Design, Figure, Labellings, Side, Verdict, seed_of};
//!
//! let ids = ["a1", "a2", "a3", "a4", "a5", "b1", "b2", "b3", "b4", "b5"];
//! let sides = [[Side::A; 5], [Side::B; 5]].concat();
//! let labellings = Labellings::new(Design::new(&ids, &sides)?, seed_of(&ids));
//!
//! let durations = [100.0, 102.0, 99.0, 101.0, 103.0, 104.0, 107.0, 103.5, 106.0, 109.0];
//! let comparison = Figure::logarithms(&labellings, &durations)?.compare(Confidence::default());
//!
//! assert_eq!(comparison.test.p, 2.0 / 252.0);
//! assert_eq!(format!("{:+.1} %", 100.0 * comparison.effect.change()), "+4.9 %");
//! assert_eq!(comparison.verdict(0.01), Verdict::Slower);
//! # Ok::<(), tracesift_statistics::Problem>(())
//! ```
//!
//! The parts of it:
//!
//! * [`order`]: runs that alternate are compared in blocks; others are said to be recorded one after the other
//! * [`design`], [`permutations`]: labels, blocks, strata, and all labellings that they allow
//! * [`two_sets`]: the test, the effect and its interval; [`statistic`] and [`interval`] tell how
//! * [`verdict`]: slower, faster, same or undecided; [`detectable`]: what the runs at hand could show
//! * [`gate`]: whether a change stays within a limit
//! * [`outliers`], [`gaps`]: runs that stand apart, and sets that have two modes
//!
//! # Many figures
//!
//! [`family`] tests hundreds of methods, waits and counters at once, so that the chance that *any* is flagged where
//! nothing differs is α. [`stabilise`] is the scale on which they are compared. [`adjust`] has the corrections of Holm and
//! of Benjamini and Hochberg for lists of p.
//!
//! # Where the difference is
//!
//! * [`rows`]: differences of means that add up exactly; [`remainders`]: so that they do in print, too
//! * [`split`]: more often or longer; more instructions, slower ones, or a lower clock
//! * [`speed`]: everything is slower by one factor
//! * [`sampling`]: how well samples tell a time
//!
//! # A series
//!
//! [`segments`] finds the runs at which a series changes, and how well their place is known.
//!
//! # What is not a number
//!
//! Functions that take values of runs return a [`Problem`] for NaN, infinities, lists of different length and empty sets.
//! Small functions return `None` where there is no result, and say when. Nothing panics.

pub mod adjust;
mod byte_sums;
pub mod confidence;
pub mod design;
pub mod detectable;
pub mod family;
pub mod figure;
pub mod gaps;
pub mod gate;
pub mod interval;
mod location;
pub mod order;
pub mod outliers;
pub mod permutations;
pub mod problem;
pub mod random;
pub mod remainders;
pub mod robust;
pub mod rows;
pub mod sampling;
pub mod segments;
pub mod speed;
pub mod split;
pub mod stabilise;
pub mod statistic;
pub mod student;
pub mod two_sets;
pub mod verdict;
pub mod welch;

pub use adjust::{benjamini_hochberg, holm};
pub use confidence::Confidence;
pub use design::{Design, Side};
pub use detectable::Spread;
pub use family::{Family, Key, KeyTest};
pub use figure::{Figure, Scale};
pub use gaps::Gap;
pub use gate::{Decision, Gate, GateTest, Limit};
pub use interval::Bound;
pub use order::Order;
pub use permutations::Labellings;
pub use problem::Problem;
pub use random::seed_of;
pub use remainders::Rounded;
pub use rows::RowDifference;
pub use segments::{ChangePoint, any_change, change_points};
pub use speed::{Speed, UnchangedKey};
pub use split::{ByCounters, Counted, Leaves, OftenLonger};
pub use two_sets::{Comparison, Effect, Method, Test};
pub use verdict::Verdict;
