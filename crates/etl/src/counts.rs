//! Counts the records of a recording by header type, class and provider.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::buffer_reader::BufferReader;
use crate::damage::DamageLog;
use crate::extended::ItemKind;
use crate::file::EtlFile;
use crate::guid::Guid;
use crate::header_kind::HeaderKind;
use crate::record::Record;

/// What records are counted by: their identity as it stands in the file, kernel classes with a GUID apart from hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Key {
    /// A record with a kernel hook.
    Kernel {
        /// Class group in the high byte, opcode in the low one.
        hook: u16,
        /// Version of the payload.
        version: u8,
    },
    /// A record with a class GUID.
    Classic {
        /// Class.
        guid: Guid,
        /// Type of the event inside its class.
        opcode: u8,
        /// Version of the payload.
        version: u8,
    },
    /// An event of a manifest, TraceLogging or EventSource provider.
    Event {
        /// Provider.
        provider: Guid,
        /// Number of the event.
        id: u16,
        /// Version of the payload.
        version: u8,
    },
    /// A WPP message.
    Message {
        /// GUID of the source file's messages; zero when the record carries none.
        guid: Guid,
        /// Number of the message.
        number: u16,
    },
}

impl Key {
    /// The key of a record.
    #[must_use]
    pub fn of(record: &Record<'_>) -> Self {
        let version = record.version();
        match record.kind() {
            HeaderKind::Event32 | HeaderKind::Event64 => Self::Event {
                provider: record.provider().unwrap_or_default(),
                id: record.event_id().unwrap_or(0),
                version,
            },
            HeaderKind::Message => {
                let message = record.message().unwrap_or_default();
                Self::Message { guid: message.guid.unwrap_or_default(), number: message.number }
            }
            _ => match record.hook() {
                Some(hook) => Self::Kernel { hook, version },
                None => {
                    Self::Classic { guid: record.class_guid().unwrap_or_default(), opcode: record.opcode(), version }
                }
            },
        }
    }
}

/// Records of one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// Records.
    pub records: u64,
    /// Their bytes, headers included, padding not.
    pub bytes: u64,
    /// Records with a stack: in an extended item, or reported with [`Counts::add_stack`].
    pub stacks: u64,
    /// Raw tick of the earliest record.
    pub first_time: i64,
    /// Raw tick of the latest record.
    pub last_time: i64,
}

/// A key in the [`Counts`] that gave it, for as many look-ups as there are records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyNumber(u32);

impl KeyNumber {
    /// The keys are numbered from 0 on, in the order in which they came.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Versions of a hook whose numbers are found without a search; the kernel is below it.
const VERSIONS: usize = 8;

/// Counts of a whole recording. Records can be added in any order.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// By number of the header kind.
    by_header: [u64; HeaderKind::NUMBERS],
    keys: Vec<(Key, Count)>,
    numbers: FxHashMap<Key, KeyNumber>,
    /// The numbers of kernel keys that came, by hook and version; made for the first of them.
    by_hook: Vec<Option<KeyNumber>>,
    /// That of the last record with a GUID: they often come in a row.
    last: Option<KeyNumber>,
    self_describing: FxHashMap<Guid, FxHashMap<Vec<u8>, u64>>,
    provider_names: FxHashMap<Guid, String>,
}

impl Count {
    fn new(time: i64) -> Self {
        Self { records: 0, bytes: 0, stacks: 0, first_time: time, last_time: time }
    }

    #[inline]
    fn add(&mut self, record: &Record<'_>, stacks: u64) {
        self.records += 1;
        self.bytes += record.bytes().len() as u64;
        self.stacks += stacks;
        self.first_time = self.first_time.min(record.time());
        self.last_time = self.last_time.max(record.time());
    }

    fn join(&mut self, other: &Self) {
        self.records += other.records;
        self.bytes += other.bytes;
        self.stacks += other.stacks;
        self.first_time = self.first_time.min(other.first_time);
        self.last_time = self.last_time.max(other.last_time);
    }
}

impl Counts {
    /// Counts all records of a file, and the damage of its buffers.
    #[must_use]
    pub fn of(file: &EtlFile) -> (Self, DamageLog) {
        let mut counts = Self::default();
        let mut reader = BufferReader::default();
        for buffer in file.buffers() {
            reader.records(file, buffer).for_each(|record| {
                counts.add(&record);
            });
        }
        (counts, reader.damage().clone())
    }

    /// Counts a record. Gives the number of its key, and whether it brought a stack.
    pub fn add(&mut self, record: &Record<'_>) -> (KeyNumber, bool) {
        let mut has_stack = false;
        for item in record.extended_items() {
            match item.kind {
                ItemKind::STACK_32 | ItemKind::STACK_64 | ItemKind::STACK_KEY_32 | ItemKind::STACK_KEY_64 => {
                    has_stack = true;
                }
                ItemKind::SCHEMA => self.add_name(record, item.event_name()),
                ItemKind::PROVIDER_TRAITS => {
                    self.add_provider(record, item.provider_traits().map(|traits| traits.name))
                }
                _ => {}
            }
        }
        if let Some(count) = self.by_header.get_mut(record.kind() as usize) {
            *count += 1;
        }
        let number = self.number_of(record);
        if let Some((_, count)) = self.keys.get_mut(number.index()) {
            count.add(record, u64::from(has_stack));
        }
        (number, has_stack)
    }

    /// Counts a stack that was found elsewhere, for a record that was added.
    pub fn add_stack(&mut self, number: KeyNumber) {
        if let Some((_, count)) = self.keys.get_mut(number.index()) {
            count.stacks += 1;
        }
    }

    #[inline]
    fn number_of(&mut self, record: &Record<'_>) -> KeyNumber {
        if let Some(hook) = record.hook() {
            let version = usize::from(record.version());
            let place = usize::from(hook) * VERSIONS + version;
            if version < VERSIONS
                && let Some(number) = self.by_hook.get(place).copied().flatten()
            {
                return number;
            }
            let number = self.number(Key::of(record), record.time());
            if version < VERSIONS {
                if self.by_hook.is_empty() {
                    self.by_hook.resize((1 << 16) * VERSIONS, None);
                }
                if let Some(known) = self.by_hook.get_mut(place) {
                    *known = Some(number);
                }
            }
            return number;
        }
        let key = Key::of(record);
        if let Some(last) = self.last.filter(|last| self.keys.get(last.index()).is_some_and(|(known, _)| *known == key))
        {
            return last;
        }
        let number = self.number(key, record.time());
        self.last = Some(number);
        number
    }

    fn number(&mut self, key: Key, time: i64) -> KeyNumber {
        let next = KeyNumber(u32::try_from(self.keys.len()).unwrap_or(u32::MAX));
        *self.numbers.entry(key).or_insert_with(|| {
            self.keys.push((key, Count::new(time)));
            next
        })
    }

    fn add_name(&mut self, record: &Record<'_>, name: Option<&[u8]>) {
        let names = self.self_describing.entry(record.provider().unwrap_or_default()).or_default();
        let name = name.unwrap_or_default();
        match names.get_mut(name) {
            Some(count) => *count += 1,
            None => {
                names.insert(name.to_vec(), 1);
            }
        }
    }

    fn add_provider(&mut self, record: &Record<'_>, name: Option<&[u8]>) {
        if let (Some(provider), Some(name)) = (record.provider(), name) {
            self.provider_names.entry(provider).or_insert_with(|| String::from_utf8_lossy(name).into_owned());
        }
    }

    /// All records together; `None` when there are none.
    #[must_use]
    pub fn total(&self) -> Option<Count> {
        let mut counts = self.keys.iter().map(|(_, count)| *count);
        let first = counts.next()?;
        Some(counts.fold(first, |mut total, count| {
            total.join(&count);
            total
        }))
    }

    /// Records by header type, in the order of the types.
    #[must_use]
    pub fn by_header(&self) -> Vec<(HeaderKind, u64)> {
        let kinds = (0_u64..).zip(&self.by_header).filter(|(_, count)| **count > 0);
        kinds.map(|(number, count)| (HeaderKind::from_number(number), *count)).collect()
    }

    /// Records by key, the most frequent first.
    #[must_use]
    pub fn by_key(&self) -> Vec<(Key, Count)> {
        let mut keys = self.keys.clone();
        keys.sort_unstable_by_key(|(key, count)| (std::cmp::Reverse(count.records), *key));
        keys
    }

    /// Records with this key.
    #[must_use]
    pub fn get(&self, key: Key) -> Option<&Count> {
        let number = self.number_of_key(key)?;
        self.keys.get(number.index()).map(|(_, count)| count)
    }

    /// The number of a key that came.
    #[must_use]
    pub fn number_of_key(&self, key: Key) -> Option<KeyNumber> {
        self.numbers.get(&key).copied()
    }

    /// Self-describing (TraceLogging) events by provider and name, the most frequent first.
    #[must_use]
    pub fn self_describing(&self) -> Vec<(Guid, String, u64)> {
        let mut events: Vec<_> = self
            .self_describing
            .iter()
            .flat_map(|(provider, names)| {
                names.iter().map(|(name, count)| (*provider, String::from_utf8_lossy(name).into_owned(), *count))
            })
            .collect();
        events.sort_unstable_by(|a, b| b.2.cmp(&a.2).then_with(|| (&a.0, &a.1).cmp(&(&b.0, &b.1))));
        events
    }

    /// Name of a provider, as its own events state it.
    #[must_use]
    pub fn provider_name(&self, provider: Guid) -> Option<&str> {
        self.provider_names.get(&provider).map(String::as_str)
    }
}

/// Number of different CPUs among the buffers of a file.
#[must_use]
pub fn cpus_seen(file: &EtlFile) -> usize {
    file.buffers().iter().map(|buffer| buffer.cpu).collect::<FxHashSet<_>>().len()
}
