//! Fields of the tracepoints of the page cache.

use super::fields::{Fields, Number};

/// What happens to a page of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PageStep {
    /// `mm_filemap_fault`: a fault needs it.
    Fault,
    /// `mm_filemap_add_to_page_cache`: it gets memory, and its content is read or written next.
    Added,
}

/// Fields of `filemap:mm_filemap_fault` and `mm_filemap_add_to_page_cache`.
#[derive(Clone, Debug)]
pub(crate) struct FilemapFields {
    pub(crate) step: PageStep,
    device: Number,
    inode: Number,
    index: Number,
    /// Pages as a power of two. Older kernels add single pages.
    order: Option<Number>,
}

/// A file as the kernel tells files apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Inode {
    /// Major number × 2^20 + minor number.
    pub(crate) device: u32,
    pub(crate) inode: u64,
}

impl Inode {
    /// Whether its file system lies on a device of its own: others have device numbers without a major one.
    pub(crate) fn is_of_disk(&self) -> bool {
        self.device >> 20 != 0
    }
}

/// Pages of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FilePages {
    pub(crate) file: Inode,
    /// The first page: offset in the file divided by the size of a page.
    pub(crate) index: i64,
    /// Number of pages.
    pub(crate) count: i64,
}

impl FilemapFields {
    /// Whether [`of`](Self::of) may know a tracepoint.
    pub(super) fn is_read_from(name: &str) -> bool {
        step(name).is_some()
    }

    pub(super) fn of(fields: &Fields<'_>, name: &str) -> Option<Self> {
        Some(Self {
            step: step(name)?,
            device: fields.number("s_dev")?,
            inode: fields.number("i_ino")?,
            index: fields.number("index")?,
            order: fields.number("order"),
        })
    }

    /// The pages; `None` where a field is missing or impossible.
    pub(crate) fn pages(&self, raw: &[u8]) -> Option<FilePages> {
        let device = (self.device.get(raw)? & i64::from(u32::MAX)) as u32;
        let inode = self.inode.get(raw)?.cast_unsigned();
        let index = self.index.get(raw).filter(|index| *index >= 0)?;
        let order = match &self.order {
            Some(order) => u32::try_from(order.get(raw)?).ok().filter(|order| *order < 40)?,
            None => 0,
        };
        Some(FilePages { file: Inode { device, inode }, index, count: 1 << order })
    }
}

fn step(name: &str) -> Option<PageStep> {
    match name {
        "filemap:mm_filemap_fault" => Some(PageStep::Fault),
        "filemap:mm_filemap_add_to_page_cache" => Some(PageStep::Added),
        _ => None,
    }
}
