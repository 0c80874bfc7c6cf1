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

/// Counts of a whole recording. Records can be added in any order.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    total: Option<Count>,
    by_header: FxHashMap<HeaderKind, u64>,
    keys: FxHashMap<Key, Count>,
    self_describing: FxHashMap<Guid, FxHashMap<Vec<u8>, u64>>,
    provider_names: FxHashMap<Guid, String>,
}

impl Count {
    fn new(time: i64) -> Self {
        Self { records: 0, bytes: 0, stacks: 0, first_time: time, last_time: time }
    }

    fn add(&mut self, record: &Record<'_>, stacks: u64) {
        self.records += 1;
        self.bytes += record.bytes().len() as u64;
        self.stacks += stacks;
        self.first_time = self.first_time.min(record.time());
        self.last_time = self.last_time.max(record.time());
    }
}

impl Counts {
    /// Counts all records of a file, and the damage of its buffers.
    #[must_use]
    pub fn of(file: &EtlFile) -> (Self, DamageLog) {
        let mut counts = Self::default();
        let mut reader = BufferReader::default();
        for buffer in file.buffers() {
            reader.records(file, buffer).for_each(|record| counts.add(&record));
        }
        (counts, reader.damage().clone())
    }

    /// Counts a record.
    pub fn add(&mut self, record: &Record<'_>) {
        let mut stacks = 0;
        for item in record.extended_items() {
            match item.kind {
                ItemKind::STACK_32 | ItemKind::STACK_64 | ItemKind::STACK_KEY_32 | ItemKind::STACK_KEY_64 => stacks = 1,
                ItemKind::SCHEMA => self.add_name(record, item.event_name()),
                ItemKind::PROVIDER_TRAITS => {
                    self.add_provider(record, item.provider_traits().map(|traits| traits.name))
                }
                _ => {}
            }
        }
        self.total.get_or_insert(Count::new(record.time())).add(record, stacks);
        self.keys.entry(Key::of(record)).or_insert(Count::new(record.time())).add(record, stacks);
        *self.by_header.entry(record.kind()).or_default() += 1;
    }

    /// Counts a stack that was found elsewhere, for a record with this key that was or will be added.
    pub fn add_stack(&mut self, key: Key) {
        if let Some(count) = self.keys.get_mut(&key) {
            count.stacks += 1;
        }
        if let Some(total) = &mut self.total {
            total.stacks += 1;
        }
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
    pub const fn total(&self) -> Option<&Count> {
        self.total.as_ref()
    }

    /// Records by header type, in the order of the types.
    #[must_use]
    pub fn by_header(&self) -> Vec<(HeaderKind, u64)> {
        let mut kinds: Vec<_> = self.by_header.iter().map(|(kind, count)| (*kind, *count)).collect();
        kinds.sort_unstable();
        kinds
    }

    /// Records by key, the most frequent first.
    #[must_use]
    pub fn by_key(&self) -> Vec<(Key, Count)> {
        let mut keys: Vec<_> = self.keys.iter().map(|(key, count)| (*key, *count)).collect();
        keys.sort_unstable_by_key(|(key, count)| (std::cmp::Reverse(count.records), *key));
        keys
    }

    /// Records with this key.
    #[must_use]
    pub fn get(&self, key: Key) -> Option<&Count> {
        self.keys.get(&key)
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
