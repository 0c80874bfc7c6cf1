//! Damage of a recording: the parts that could not be read, counted by kind, with the first
//! examples.

/// Kinds of damage. The words are stable: they stand in archives and in scripts.
pub mod kind {
    /// The file ends inside a buffer.
    pub const TRUNCATED_BUFFER: &str = "truncated_buffer";
    /// A buffer header is not plausible; bytes were skipped up to the next one, or its size was corrected.
    pub const BAD_BUFFER_HEADER: &str = "bad_buffer_header";
    /// A compressed buffer does not decompress to the length that its header states.
    pub const UNDECODABLE_BUFFER: &str = "undecodable_buffer";
    /// A record's header is not plausible; the rest of its buffer was dropped.
    pub const BAD_RECORD: &str = "bad_record";
    /// The recording does not begin with a description of its session; its clock is assumed.
    pub const MISSING_HEADER_BUFFER: &str = "missing_header_buffer";
    /// Zeros where a buffer is expected.
    pub const ZEROED_REGION: &str = "zeroed_region";
    /// A buffer of a kind that cannot be decoded.
    pub const UNKNOWN_BUFFER_KIND: &str = "unknown_buffer_kind";
    /// A compression method that cannot be decoded.
    pub const UNSUPPORTED_COMPRESSION: &str = "unsupported_compression";
    /// A record that the recorder itself marks as failed, or whose header type is reserved.
    pub const UNKNOWN_RECORD: &str = "unknown_record";
    /// A record that came up only after later ones had been passed on; its time was raised to theirs.
    pub const LATE_RECORD: &str = "late_record";
    /// The operating system could not read a buffer.
    pub const UNREADABLE_BUFFER: &str = "unreadable_buffer";
}

/// Examples kept per kind.
const EXAMPLES: usize = 8;

/// One place of damage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// A word of [`kind`].
    pub kind: &'static str,
    /// Offset in the file.
    pub offset: u64,
    /// Bytes that could not be used.
    pub bytes: u64,
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
    /// Bytes that could not be used, over all occurrences.
    pub bytes: u64,
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
    pub fn add(&mut self, kind: &'static str, offset: u64, bytes: u64, detail: impl FnOnce() -> String) {
        self.add_many(kind, 1, offset, bytes, detail);
    }

    /// Counts `count` occurrences with one example.
    pub fn add_many(
        &mut self,
        kind: &'static str,
        count: u64,
        offset: u64,
        bytes: u64,
        detail: impl FnOnce() -> String,
    ) {
        let index = self.kinds.iter().position(|known| known.kind == kind).unwrap_or_else(|| {
            self.kinds.push(DamageCount { kind, count: 0, bytes: 0, examples: Vec::new() });
            self.kinds.len() - 1
        });
        let Some(entry) = self.kinds.get_mut(index) else { return };
        entry.count = entry.count.saturating_add(count);
        entry.bytes = entry.bytes.saturating_add(bytes);
        if entry.examples.len() < EXAMPLES {
            entry.examples.push(Damage { kind, offset, bytes, detail: detail() });
        }
    }

    /// Adds what another log counted.
    pub(crate) fn append(&mut self, other: Self) {
        for DamageCount { kind, count, bytes, examples } in other.kinds {
            let mut examples = examples.into_iter();
            let first = examples.next();
            self.add_many(kind, count, first.as_ref().map_or(0, |damage| damage.offset), bytes, || {
                first.map_or_else(String::new, |damage| damage.detail)
            });
            if let Some(entry) = self.kinds.iter_mut().find(|known| known.kind == kind) {
                entry.examples.extend(examples);
                entry.examples.truncate(EXAMPLES);
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
