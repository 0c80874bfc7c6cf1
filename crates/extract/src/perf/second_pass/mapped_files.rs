//! Paths of files that the kernel names by their inodes: mappings of processes tell them.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use tracesift_perf::{FileId, Mapping};
use tracesift_trace::ProcessId;
use tracesift_trace::file_names::PathId;

use super::syscalls::DescriptorLives;
use crate::perf::tracepoint::Inode;

/// Mappings of all processes, at most.
const MAX_MAPPINGS: usize = 1 << 20;
/// Inodes with a name, at most.
const MAX_INODES: usize = 1 << 20;
/// Bits of the minor number in the kernel's own device numbers.
const MINOR_BITS: u32 = 20;

/// Names of files by inode, and by the addresses where processes have them.
#[derive(Default)]
pub(crate) struct MappedFiles {
    inodes: FxHashMap<Inode, PathId>,
    /// A child shares the mappings of its creator until one of both maps something.
    spaces: FxHashMap<ProcessId, Arc<Space>>,
    mappings: usize,
}

/// First address of each mapping, its end, and its file. Nothing tells that a mapping goes, but what comes in its place.
#[derive(Clone, Debug, Default)]
struct Space(BTreeMap<u64, (u64, PathId)>);

impl Space {
    fn map(&mut self, start: u64, end: u64, path: PathId) {
        let before = self.0.range(..start).next_back().map(|(start, mapping)| (*start, *mapping));
        if let Some((first, (last, known))) = before.filter(|(_, (last, _))| *last > start) {
            self.0.insert(first, (start, known));
            if last > end {
                self.0.insert(end, (last, known));
            }
        }
        let covered: Vec<u64> = self.0.range(start..end).map(|(start, _)| *start).collect();
        for first in covered {
            if let Some((last, known)) = self.0.remove(&first).filter(|(last, _)| *last > end) {
                self.0.insert(end, (last, known));
            }
        }
        self.0.insert(start, (end, path));
    }

    fn at(&self, address: u64) -> Option<PathId> {
        let (_, (end, path)) = self.0.range(..=address).next_back()?;
        (address < *end).then_some(*path)
    }
}

impl MappedFiles {
    /// A process maps a file.
    pub(crate) fn map(&mut self, process: ProcessId, mapping: &Mapping<'_>, descriptors: &mut DescriptorLives) {
        let name = String::from_utf8_lossy(mapping.name);
        // Memory without a file has a name with two slashes.
        if !name.starts_with('/') || name.starts_with("//") {
            return;
        }
        let Some(path) = descriptors.path_id(name.strip_suffix(" (deleted)").unwrap_or(&name)) else { return };
        if let FileId::Inode { major, minor, inode, .. } = mapping.file
            && inode != 0
        {
            self.learn(Inode { device: major << MINOR_BITS | minor, inode }, path);
        }
        let end = mapping.start.saturating_add(mapping.length);
        if mapping.start >= end || self.mappings >= MAX_MAPPINGS {
            return;
        }
        let space = self.spaces.entry(process).or_default();
        if Arc::strong_count(space) > 1 {
            // What both have had is there twice from now on. Without room for it only what comes is known.
            let copied = space.0.len();
            match self.mappings.saturating_add(copied) < MAX_MAPPINGS {
                true => self.mappings += copied,
                false => *space = Arc::default(),
            }
        }
        let space = Arc::make_mut(space);
        // A mapping can take the place of others, or part one in two.
        let before = space.0.len();
        space.map(mapping.start, end, path);
        self.mappings = (self.mappings + space.0.len()).saturating_sub(before);
    }

    /// An inode is the file of a path.
    pub(crate) fn learn(&mut self, inode: Inode, path: PathId) {
        if self.inodes.len() < MAX_INODES || self.inodes.contains_key(&inode) {
            self.inodes.insert(inode, path);
        }
    }

    /// A process begins with the memory of its creator.
    pub(crate) fn fork(&mut self, parent: ProcessId, child: ProcessId) {
        if let Some(space) = self.spaces.get(&parent).cloned().filter(|_| parent != child) {
            self.spaces.insert(child, space);
        }
    }

    /// A process ends, or has the memory of another program.
    pub(crate) fn forget(&mut self, process: ProcessId) {
        if let Some(space) = self.spaces.remove(&process)
            && let Some(space) = Arc::into_inner(space)
        {
            self.mappings = self.mappings.saturating_sub(space.0.len());
        }
    }

    /// The file that a process has at an address.
    pub(crate) fn at(&self, process: ProcessId, address: u64) -> Option<PathId> {
        self.spaces.get(&process)?.at(address)
    }

    /// The name of a file: the path by its inode, else by the address where a process has it, else device and inode.
    pub(crate) fn name(
        &mut self,
        process: ProcessId,
        inode: Inode,
        address: u64,
        descriptors: &mut DescriptorLives,
    ) -> Option<PathId> {
        if let Some(path) = self.inodes.get(&inode) {
            return Some(*path);
        }
        match self.at(process, address) {
            Some(path) => {
                self.learn(inode, path);
                Some(path)
            }
            None => descriptors.path_id(&text(inode)),
        }
    }

    /// The name of a file that nobody has mapped: as [`Self::name`].
    pub(crate) fn name_of_inode(&self, inode: Inode, descriptors: &mut DescriptorLives) -> Option<PathId> {
        self.inodes.get(&inode).copied().or_else(|| descriptors.path_id(&text(inode)))
    }
}

/// `254:0:1234`: major and minor number of the device, and the inode.
fn text(Inode { device, inode }: Inode) -> String {
    format!("{}:{}:{inode}", device >> MINOR_BITS, device & ((1 << MINOR_BITS) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_takes_the_place_of_those_below_it() {
        let mut space = Space::default();
        space.map(0x1000, 0x9000, PathId(1));
        space.map(0x3000, 0x4000, PathId(2));
        space.map(0x3800, 0x5000, PathId(3));
        space.map(0x8000, 0xa000, PathId(4));
        let found = [0xfff, 0x1000, 0x2fff, 0x3000, 0x37ff, 0x3800, 0x4fff, 0x5000, 0x7fff, 0x8000, 0x9fff, 0xa000];
        let expected =
            [None, Some(1), Some(1), Some(2), Some(2), Some(3), Some(3), Some(1), Some(1), Some(4), Some(4), None];
        assert_eq!(found.map(|address| space.at(address).map(|path| path.0)), expected);
        space.map(0, 0x1_0000, PathId(5));
        assert_eq!(space.0.len(), 1);
    }

    #[test]
    fn a_child_has_the_files_of_its_creator_until_it_maps_others() {
        let [parent, child] = [ProcessId(1), ProcessId(2)];
        let (mut files, mut descriptors) = (MappedFiles::default(), DescriptorLives::default());
        let mut map = |files: &mut MappedFiles, process, inode: u64, name: &[u8]| {
            let file = FileId::Inode { major: 254, minor: 0, inode, generation: 0 };
            let (start, length, file_offset, protection, flags) = (0x1000, 0x1000, 0, 1, 2);
            let (pid, tid, executable) = (1, 1, false);
            let mapping = Mapping { pid, tid, start, length, file_offset, file, protection, flags, executable, name };
            files.map(process, &mapping, &mut descriptors);
        };
        map(&mut files, parent, 5, b"/a (deleted)");
        files.fork(parent, child);
        assert_eq!(files.at(child, 0x1800), files.at(parent, 0x1800));
        map(&mut files, child, 6, b"/b");
        map(&mut files, child, 0, b"//anon");
        assert_eq!(files.mappings, 2, "what the child had is replaced");
        let mut name = |(process, inode)| {
            let inode = Inode { device: 254 << 20, inode };
            files.name(process, inode, 0x1800, &mut descriptors).map(|path| path.0)
        };
        let found = [(parent, 5), (child, 6), (child, 5), (parent, 9), (ProcessId(3), 8)].map(&mut name);
        // An inode that nobody told is the file at the address, from there on everywhere.
        assert_eq!(found, [Some(0), Some(1), Some(0), Some(0), Some(2)]);
        files.forget(child);
        files.forget(parent);
        assert_eq!(files.mappings, 0);
    }

    #[test]
    fn inodes_are_numbers_of_device_and_file() {
        assert_eq!(text(Inode { device: 254 << 20 | 3, inode: 77 }), "254:3:77");
    }
}
