//! Class Memory and provider Kernel-Memory: the lists of pages of the machine, and the memory of each process.
//!
//! The kernel logs them about twice a second, to the session of the kernel as events of the class Memory, and as events of the
//! provider Microsoft-Windows-Kernel-Memory. Both have the same fields. Sizes are numbers of pages.

use super::array::Addresses;
use super::reader::Reader;
use super::{Payload, PayloadError};
use crate::guid::Guid;

/// The provider Microsoft-Windows-Kernel-Memory.
pub const KERNEL_MEMORY: Guid = Guid::from_u128(0xd1d93ef7_e1f2_4f45_9943_03d245fe6c00);

/// Priorities of standby pages in events of the class Memory, which do not tell their number.
const PRIORITIES: u32 = 8;

/// The lists of pages: Memory 112, version 0, and Kernel-Memory 1, versions 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageLists<'a> {
    /// Pages that are free and zeroed.
    pub zero: u64,
    /// Pages that are free.
    pub free: u64,
    /// Pages that wait to be written.
    pub modified: u64,
    /// Pages that wait to be written by another component than the memory manager.
    pub modified_no_write: u64,
    /// Pages that the memory manager does not use, because of errors.
    pub bad: u64,
    /// Cached pages that can be given away, by priority.
    pub standby: Addresses<'a>,
    /// Standby pages that were given away since the start of the system, by priority.
    pub repurposed: Addresses<'a>,
    /// Those of `modified` that wait to be written into the page file.
    pub modified_page_file: Option<u64>,
    /// Pages of the paged pool. Kernel-Memory only, as are the others.
    pub paged_pool: Option<u64>,
    /// Pages of the non-paged pool.
    pub nonpaged_pool: Option<u64>,
    /// Pages that are locked for I/O.
    pub mdl: Option<u64>,
    /// Committed pages of all processes and the kernel.
    pub commit: Option<u64>,
}

impl PageLists<'_> {
    /// Opcode in the class Memory.
    pub const OPCODE: u8 = 112;
    /// Event id in the provider Kernel-Memory.
    pub const ID: u16 = 1;
}

impl<'a> Payload<'a> for PageLists<'a> {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        lists(reader, PRIORITIES)
    }
}

/// [`PageLists`] as the provider Kernel-Memory logs them: the number of priorities stands in front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProviderPageLists<'a>(pub PageLists<'a>);

impl<'a> Payload<'a> for ProviderPageLists<'a> {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        let priorities = reader.u8("number of priorities")?;
        lists(reader, priorities.into()).map(Self)
    }
}

fn lists<'a>(reader: &mut Reader<'a>, priorities: u32) -> Result<PageLists<'a>, PayloadError> {
    Ok(PageLists {
        zero: reader.pointer("zeroed pages")?,
        free: reader.pointer("free pages")?,
        modified: reader.pointer("modified pages")?,
        modified_no_write: reader.pointer("modified pages that are not written")?,
        bad: reader.pointer("bad pages")?,
        standby: reader.addresses(priorities, "standby pages")?,
        repurposed: reader.addresses(priorities, "repurposed pages")?,
        modified_page_file: reader.optional(|reader| reader.pointer("modified pages of the page file")),
        paged_pool: reader.optional(|reader| reader.pointer("paged pool")),
        nonpaged_pool: reader.optional(|reader| reader.pointer("non-paged pool")),
        mdl: reader.optional(|reader| reader.pointer("locked pages")),
        commit: reader.optional(|reader| reader.pointer("committed pages")),
    })
}

/// Memory of processes: Memory 125 and Kernel-Memory 2, both in versions 1 and 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessMemories<'a> {
    /// As many processes as the event says, each as long as the version says.
    bytes: &'a [u8],
    pointer_size: u8,
    has_stores: bool,
}

/// Memory of one process, in pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessMemory {
    /// Process id.
    pub process_id: u32,
    /// Working set.
    pub working_set: u64,
    /// Committed memory.
    pub commit: u64,
    /// Virtual size.
    pub virtual_size: u64,
    /// The part of the working set that no other process can share.
    pub private_working_set: u64,
    /// Compressed memory. Version 2.
    pub stores: Option<ProcessStores>,
}

/// Compressed memory of a process, in pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessStores {
    /// Memory that the store of the process takes.
    pub store: u64,
    /// Memory that lies in the store, before compression.
    pub stored: u64,
    /// Memory that was promised and is not committed.
    pub commit_debt: u64,
    /// Committed memory that several processes share.
    pub shared_commit: u64,
}

impl<'a> ProcessMemories<'a> {
    /// Opcode in the class Memory.
    pub const OPCODE: u8 = 125;
    /// Event id in the provider Kernel-Memory.
    pub const ID: u16 = 2;

    /// The processes.
    pub fn iter(&self) -> impl Iterator<Item = ProcessMemory> + use<'a> {
        let Self { bytes, pointer_size, has_stores } = *self;
        bytes.chunks_exact(length(pointer_size, has_stores)).filter_map(move |entry| {
            let mut reader = Reader::new(entry, pointer_size);
            let process_id = reader.u32("process id").ok()?;
            let mut pages = || reader.pointer("pages").ok();
            Some(ProcessMemory {
                process_id,
                working_set: pages()?,
                commit: pages()?,
                virtual_size: pages()?,
                private_working_set: pages()?,
                stores: match has_stores {
                    true => Some(ProcessStores {
                        store: pages()?,
                        stored: pages()?,
                        commit_debt: pages()?,
                        shared_commit: pages()?,
                    }),
                    false => None,
                },
            })
        })
    }
}

/// Bytes of a process in the event.
fn length(pointer_size: u8, has_stores: bool) -> usize {
    let sizes = if has_stores { 8 } else { 4 };
    4 + sizes * if pointer_size == 4 { 4 } else { 8 }
}

impl<'a> Payload<'a> for ProcessMemories<'a> {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        let has_stores = match version {
            1 => false,
            2 => true,
            _ => return Err(PayloadError::UnknownVersion { what: "MemInfoWS", version }),
        };
        let count = reader.u32("number of processes")? as usize;
        let pointer_size = reader.pointer_size();
        let bytes = reader.bytes(count.saturating_mul(length(pointer_size, has_stores)), "memory of processes")?;
        Ok(Self { bytes, pointer_size, has_stores })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The little-endian fields of a payload: numbers of pages as wide as a pointer.
    fn payload(pointer_size: u8, head: &[u8], pages: &[u64]) -> Vec<u8> {
        let mut bytes = head.to_vec();
        pages.iter().for_each(|pages| bytes.extend(&pages.to_le_bytes()[..usize::from(pointer_size)]));
        bytes
    }

    #[test]
    fn lists_in_both_pointer_sizes() {
        let standby: Vec<u64> = (10..18).collect();
        let repurposed: Vec<u64> = (20..28).collect();
        for pointer_size in [4, 8] {
            let start = [&[1, 2, 3, 4, 5][..], &standby, &repurposed].concat();
            let of_class = payload(pointer_size, &[], &[&start[..], &[6]].concat());
            let lists = PageLists::parse(&of_class, 0, pointer_size).unwrap();
            let plain = [lists.zero, lists.free, lists.modified, lists.modified_no_write, lists.bad];
            assert_eq!(plain, [1, 2, 3, 4, 5]);
            assert!(lists.standby.iter().eq(standby.iter().copied()));
            assert!(lists.repurposed.iter().eq(repurposed.iter().copied()));
            assert_eq!((lists.modified_page_file, lists.paged_pool, lists.commit), (Some(6), None, None));

            let of_provider = payload(pointer_size, &[8], &[&start[..], &[6, 7, 8, 9, 30]].concat());
            let ProviderPageLists(lists) = ProviderPageLists::parse(&of_provider, 1, pointer_size).unwrap();
            let more = [lists.modified_page_file, lists.paged_pool, lists.nonpaged_pool, lists.mdl, lists.commit];
            assert_eq!(more, [6, 7, 8, 9, 30].map(Some));
            for end in 0..of_class.len() - usize::from(pointer_size) {
                assert!(PageLists::parse(&of_class[..end], 0, pointer_size).is_err(), "{end} bytes are too few");
            }
        }
    }

    #[test]
    fn processes_in_both_pointer_sizes_and_versions() {
        for pointer_size in [4, 8] {
            for (version, fields) in [(1, 4_u64), (2, 8)] {
                let mut bytes = 2_u32.to_le_bytes().to_vec();
                for pid in [100_u32, 200] {
                    let pages: Vec<u64> = (1..=fields).map(|field| u64::from(pid) + field).collect();
                    bytes.extend(payload(pointer_size, &pid.to_le_bytes(), &pages));
                }
                let memories = ProcessMemories::parse(&bytes, version, pointer_size).unwrap();
                let found: Vec<ProcessMemory> = memories.iter().collect();
                let stores = |pid: u64| ProcessStores {
                    store: pid + 5,
                    stored: pid + 6,
                    commit_debt: pid + 7,
                    shared_commit: pid + 8,
                };
                let expected = [100_u32, 200].map(|process_id| {
                    let pid = u64::from(process_id);
                    ProcessMemory {
                        process_id,
                        working_set: pid + 1,
                        commit: pid + 2,
                        virtual_size: pid + 3,
                        private_working_set: pid + 4,
                        stores: (version == 2).then(|| stores(pid)),
                    }
                });
                assert_eq!(found, expected);
                for end in 0..bytes.len() {
                    assert!(ProcessMemories::parse(&bytes[..end], version, pointer_size).is_err(), "{end} bytes");
                }
                assert!(ProcessMemories::parse(&bytes, 0, pointer_size).is_err(), "version 0 has other entries");
            }
        }
    }
}
