//! Damage of a recording: the parts that could not be read, counted by kind, with the first
//! examples.

/// Kinds of damage. The words are stable: they stand in archives and in scripts.
pub mod kind {
    /// A section, or the data that a header announces, ends beyond the end of the file.
    pub const TRUNCATED: &str = "truncated";
    /// The recorder never wrote the length of its data: it was killed. Everything up to the end of the file was read.
    pub const UNFINISHED: &str = "unfinished";
    /// No further record can be found from here on.
    pub const WALK_STOPPED: &str = "walk_stopped";
    /// A record is too short for the fields that its type or its event's format requires.
    pub const SHORT_RECORD: &str = "short_record";
    /// A record names no event of the recording, or two events share an id.
    pub const UNKNOWN_EVENT: &str = "unknown_event";
    /// The description of an event cannot be read.
    pub const BAD_ATTRIBUTE: &str = "bad_attribute";
    /// A feature of the header cannot be read.
    pub const BAD_FEATURE: &str = "bad_feature";
    /// The formats of tracepoints cannot be read, or not all of them.
    pub const BAD_TRACING_DATA: &str = "bad_tracing_data";
    /// Compressed records cannot be decompressed.
    pub const UNDECODABLE: &str = "undecodable";
    /// A record that came up only after later ones had been passed on.
    pub const LATE_RECORD: &str = "late_record";
    /// The operating system could not read bytes.
    pub const UNREADABLE: &str = "unreadable";
    /// More events, ids or build ids than a recording can have; the rest was left out.
    pub const TOO_MANY: &str = "too_many";
}

/// Examples kept per kind.
const EXAMPLES: usize = 8;

/// One place of damage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Offset in the file.
    pub offset: u64,
    /// What was found, in words.
    pub detail: String,
}

/// All damage of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamageCount {
    /// A word of [`kind`].
    pub kind: &'static str,
    /// How often.
    pub count: u64,
    /// The first occurrences, at most eight.
    pub examples: Vec<Damage>,
}

/// Damage counted by kind; its size does not grow with the damage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DamageLog {
    kinds: Vec<DamageCount>,
}

impl DamageLog {
    /// Counts one place of damage; `detail` is only called while examples are kept.
    pub fn add(&mut self, kind: &'static str, offset: u64, detail: impl FnOnce() -> String) {
        let index = self.kinds.iter().position(|known| known.kind == kind).unwrap_or_else(|| {
            self.kinds.push(DamageCount { kind, count: 0, examples: Vec::new() });
            self.kinds.len() - 1
        });
        let Some(entry) = self.kinds.get_mut(index) else { return };
        entry.count += 1;
        if entry.examples.len() < EXAMPLES {
            entry.examples.push(Damage { offset, detail: detail() });
        }
    }

    /// Adds what was found further on.
    pub(crate) fn extend(&mut self, further: Self) {
        for found in further.kinds {
            match self.kinds.iter_mut().find(|known| known.kind == found.kind) {
                Some(known) => {
                    known.count += found.count;
                    let room = EXAMPLES - known.examples.len();
                    known.examples.extend(found.examples.into_iter().take(room));
                }
                None => self.kinds.push(found),
            }
        }
    }

    /// The kinds of damage that occurred, in the order of their first occurrence.
    #[must_use]
    pub fn kinds(&self) -> &[DamageCount] {
        &self.kinds
    }

    /// How often damage of `kind` was found.
    #[must_use]
    pub fn count(&self, kind: &str) -> u64 {
        self.kinds.iter().find(|known| known.kind == kind).map_or(0, |known| known.count)
    }

    /// Whether nothing is damaged.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }
}
