//! Stack tags as rows: figures per process and tag, as ETWAnalyzer's own rules made them.

use tracesift_trace::rows::TagSummaryRow;
use tracesift_trace::{Health, ProcessId};

use crate::document::{Moment, StackTags};
use crate::identity::Identities;
use crate::processes::ms;

/// Which rules made a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TagSource {
    /// `default.stacktags`, where each stack has one tag, and `GCAndJit.stacktags`, which counts some of them again.
    Summary,
    /// `Special.stacktags`, the users' own.
    Special,
}

/// One tag of one process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagRow {
    /// The process.
    pub process: ProcessId,
    /// The tag; `\` separates levels, as in `JIT\Normal JIT`.
    pub tag: String,
    /// Which rules.
    pub source: TagSource,
    /// Sampled CPU, ns; ETWAnalyzer rounds it up to whole ms.
    pub cpu: i64,
    /// Plain sum of the waits over the threads, ns, rounded up to whole ms; `None` where no switches were recorded.
    pub wait: Option<i64>,
    /// First time seen, ns since time zero.
    pub first: Option<i64>,
    /// Last time seen, ns since time zero. Where switches were recorded it is that of the last switch, also before the last sample.
    pub last: Option<i64>,
}

impl TagRow {
    /// As table `tag_summary` has it: of waits the plain sum is known, of samples and threads nothing.
    #[must_use]
    pub fn row(&self) -> TagSummaryRow {
        TagSummaryRow {
            process: self.process,
            tag_set: None,
            tag: self.tag.clone(),
            samples: 0,
            cpu: self.cpu,
            exclusive_cpu: 0,
            wait: None,
            wait_sum: self.wait,
            wait_count: None,
            wait_longest: None,
            ready: None,
            ready_sum: None,
            ready_count: None,
            ready_longest: None,
            switches: None,
            threads: None,
            first: self.first,
            last: self.last,
        }
    }
}

/// The rows of one part.
pub(crate) fn rows(
    part: &StackTags,
    source: TagSource,
    zero: Moment,
    has_switches: bool,
    identities: &mut Identities,
    health: &mut Health,
) -> Vec<TagRow> {
    let mut rows = Vec::new();
    for stats in &part.stats.0 {
        let Some(process) = identities.find(&stats.key, health) else { continue };
        rows.extend(stats.value.0.iter().map(|tag| {
            let first = tag.first.filter(|first| first.is_known()).map(|first| first.ns_since(zero));
            TagRow {
                process,
                tag: tag.name.clone(),
                source,
                cpu: ms(tag.cpu_ms),
                wait: has_switches.then(|| ms(tag.wait_ms)),
                first,
                last: first.zip(tag.duration).map(|(first, duration)| first.saturating_add(duration.ns)),
            }
        }));
    }
    rows
}
