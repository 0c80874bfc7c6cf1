//! `dump pmc`: what hardware counters counted, for threads, and by the code that samples hit.

mod figures;
mod options;
mod samples;
mod threads;

pub use self::options::Options;
pub use self::samples::{Question as SampledQuestion, Samples};
pub use self::threads::{Question, Threads};
