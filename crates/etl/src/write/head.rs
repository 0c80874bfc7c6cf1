//! Record headers: which header kind a record gets, and its bytes.

use super::pointer_size::PointerSize;
use crate::format::{MARKER_RECORD, event_flag};
use crate::guid::Guid;

/// Kind of a kernel record: group, type within it, and version of the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hook {
    /// Event class, the high byte of the hook id.
    pub group: u8,
    /// Event type, the low byte of the hook id.
    pub opcode: u8,
    /// Version of the payload.
    pub version: u8,
}

impl Hook {
    /// The kind `group`/`opcode` in version `version`.
    #[must_use]
    pub const fn new(group: u8, opcode: u8, version: u8) -> Self {
        Self { group, opcode, version }
    }

    /// The same kind in another version.
    #[must_use]
    pub const fn with_version(self, version: u8) -> Self {
        Self { version, ..self }
    }
}

/// The header of a record.
#[derive(Clone, Copy, Debug)]
pub enum Head<'a> {
    /// PERFINFO: kernel record without thread and process, 16 bytes.
    Perfinfo {
        /// Kind of the record.
        hook: Hook,
        /// Up to seven hardware counters between header and payload.
        counters: &'a [u64],
    },
    /// SYSTEM: kernel record with the thread that logged it, 32 bytes.
    System {
        /// Kind of the record.
        hook: Hook,
        /// Process of the thread.
        pid: u32,
        /// Thread that logged it.
        tid: u32,
    },
    /// FULL (EVENT_TRACE_HEADER): classic event with the GUID of its class, 48 bytes.
    Full {
        /// GUID of the event class.
        class: Guid,
        /// Type within the class.
        opcode: u8,
        /// Version of the payload.
        version: u16,
        /// Process, `u32::MAX` where unknown.
        pid: u32,
        /// Thread, `u32::MAX` where unknown.
        tid: u32,
    },
    /// EVENT_HEADER: manifest and self-describing events, 80 bytes and extended items.
    Event {
        /// GUID of the provider.
        provider: Guid,
        /// Event id.
        id: u16,
        /// Version of the payload.
        version: u8,
        /// Channel.
        channel: u8,
        /// Level.
        level: u8,
        /// Opcode.
        opcode: u8,
        /// Task.
        task: u16,
        /// Keyword bits.
        keyword: u64,
        /// Activity.
        activity: Guid,
        /// Process.
        pid: u32,
        /// Thread.
        tid: u32,
        /// Extended items, in this order.
        extended: &'a [Extended<'a>],
    },
}

/// One extended item of an EVENT_HEADER record.
#[derive(Clone, Copy, Debug)]
pub enum Extended<'a> {
    /// Related activity.
    RelatedActivity(Guid),
    /// Call stack, leaf first; the frames have the pointer size of the traced system.
    Stack {
        /// 0, or the number under which the user half arrives later.
        match_id: u64,
        /// Frames.
        frames: &'a [u64],
    },
    /// Any other item.
    Raw {
        /// Type of the item.
        kind: u16,
        /// Its data.
        data: &'a [u8],
    },
}

/// Version bits 8 to 10 hold the number of counters.
const MAX_COUNTERS: usize = 7;

impl Head<'_> {
    /// Bytes of the header with everything up to the payload, or `None` when it cannot be written: more than seven counters.
    pub(super) fn bytes(&self, system: PointerSize) -> Option<usize> {
        match self {
            Self::Perfinfo { counters, .. } => (counters.len() <= MAX_COUNTERS).then_some(16 + 8 * counters.len()),
            Self::System { .. } => Some(32),
            Self::Full { .. } => Some(48),
            Self::Event { extended, .. } => {
                Some(80 + extended.iter().map(|item| (8 + item.data_bytes(system)).next_multiple_of(8)).sum::<usize>())
            }
        }
    }

    /// Appends the header of a record of `size` bytes.
    pub(super) fn encode(&self, out: &mut Vec<u8>, size: u16, time: i64, record: PointerSize, system: PointerSize) {
        let wide = record == PointerSize::Eight;
        match *self {
            Self::Perfinfo { hook, counters } => {
                kernel_marker(out, hook, (counters.len() as u16) << 8, if wide { 0x11 } else { 0x10 }, size);
                out.extend_from_slice(&time.to_le_bytes());
                for counter in counters {
                    out.extend_from_slice(&counter.to_le_bytes());
                }
            }
            Self::System { hook, pid, tid } => {
                kernel_marker(out, hook, 0, if wide { 0x02 } else { 0x01 }, size);
                out.extend_from_slice(&tid.to_le_bytes());
                out.extend_from_slice(&pid.to_le_bytes());
                out.extend_from_slice(&time.to_le_bytes());
                out.extend_from_slice(&[0; 8]);
            }
            Self::Full { class, opcode, version, pid, tid } => {
                out.extend_from_slice(&size.to_le_bytes());
                out.extend_from_slice(&[if wide { 0x14 } else { 0x0A }, MARKER_RECORD, opcode, 0]);
                out.extend_from_slice(&version.to_le_bytes());
                out.extend_from_slice(&tid.to_le_bytes());
                out.extend_from_slice(&pid.to_le_bytes());
                out.extend_from_slice(&time.to_le_bytes());
                out.extend_from_slice(&class.to_bytes());
                out.extend_from_slice(&[0; 8]);
            }
            Self::Event {
                provider,
                id,
                version,
                channel,
                level,
                opcode,
                task,
                keyword,
                activity,
                pid,
                tid,
                extended,
            } => {
                out.extend_from_slice(&size.to_le_bytes());
                out.extend_from_slice(&[if wide { 0x13 } else { 0x12 }, MARKER_RECORD]);
                let flags = if extended.is_empty() { 0 } else { event_flag::EXTENDED_INFO };
                out.extend_from_slice(&flags.to_le_bytes());
                out.extend_from_slice(&[0; 2]);
                out.extend_from_slice(&tid.to_le_bytes());
                out.extend_from_slice(&pid.to_le_bytes());
                out.extend_from_slice(&time.to_le_bytes());
                out.extend_from_slice(&provider.to_bytes());
                out.extend_from_slice(&id.to_le_bytes());
                out.extend_from_slice(&[version, channel, level, opcode]);
                out.extend_from_slice(&task.to_le_bytes());
                out.extend_from_slice(&keyword.to_le_bytes());
                out.extend_from_slice(&[0; 8]);
                out.extend_from_slice(&activity.to_bytes());
                for (index, item) in extended.iter().enumerate() {
                    item.encode(out, system, index + 1 < extended.len());
                }
            }
        }
    }
}

fn kernel_marker(out: &mut Vec<u8>, hook: Hook, version_bits: u16, kind: u8, size: u16) {
    out.extend_from_slice(&(u16::from(hook.version) | version_bits).to_le_bytes());
    out.extend_from_slice(&[kind, MARKER_RECORD]);
    out.extend_from_slice(&size.to_le_bytes());
    out.extend_from_slice(&[hook.opcode, hook.group]);
}

impl Extended<'_> {
    fn data_bytes(&self, system: PointerSize) -> usize {
        match self {
            Self::RelatedActivity(_) => 16,
            Self::Stack { frames, .. } => 8 + frames.len() * system.bytes(),
            Self::Raw { data, .. } => data.len(),
        }
    }

    fn encode(&self, out: &mut Vec<u8>, system: PointerSize, another_follows: bool) {
        let data = self.data_bytes(system);
        let size = (8 + data).next_multiple_of(8);
        let kind = match self {
            Self::RelatedActivity(_) => 1,
            Self::Stack { .. } if system == PointerSize::Four => 5,
            Self::Stack { .. } => 6,
            Self::Raw { kind, .. } => *kind,
        };
        for word in [size as u16, kind, u16::from(another_follows), data as u16] {
            out.extend_from_slice(&word.to_le_bytes());
        }
        match self {
            Self::RelatedActivity(activity) => out.extend_from_slice(&activity.to_bytes()),
            Self::Stack { match_id, frames } => {
                out.extend_from_slice(&match_id.to_le_bytes());
                for frame in *frames {
                    out.extend_from_slice(&frame.to_le_bytes()[..system.bytes()]);
                }
            }
            Self::Raw { data, .. } => out.extend_from_slice(data),
        }
        out.resize(out.len() + size - 8 - data, 0);
    }
}
