//! What code lies where and when: images, compiled methods, and where the kernel begins. Nothing of it changes once it is known.

use crate::address_map::Epoch;
use crate::ids::ProcessId;
use crate::methods::Methods;
use crate::modules::{AddressSpace, Modules};

/// Images and methods of all processes.
#[derive(Debug)]
pub struct CodeMap {
    /// What was mapped.
    pub modules: Modules,
    /// What was compiled.
    pub methods: Methods,
    /// The lowest address of kernel mode.
    pub kernel_from: u64,
}

impl CodeMap {
    /// Whether an address is kernel mode.
    #[must_use]
    pub fn is_kernel(&self, address: u64) -> bool {
        address >= self.kernel_from
    }

    /// The space that an address of a process lies in.
    pub(crate) fn space_of(&self, process: ProcessId, address: u64) -> AddressSpace {
        if self.is_kernel(address) { AddressSpace::Kernel } else { AddressSpace::Process(process) }
    }
}

/// A time in which neither images nor methods of a space change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpaceEpoch {
    from: i64,
    until: i64,
    pub(crate) images: u32,
    pub(crate) methods: u32,
    /// Number of the space and this time. The same time has another one when it is looked at again.
    pub(crate) number: u32,
}

impl SpaceEpoch {
    const NEVER: Self = Self { from: i64::MAX, until: i64::MIN, images: 0, methods: 0, number: 0 };

    fn at(space: AddressSpace, ticks: i64, code: &CodeMap, number: u32) -> Self {
        let images = code.modules.epoch(space, ticks);
        let methods = match space {
            AddressSpace::Kernel => Epoch::WHOLE,
            AddressSpace::Process(process) => code.methods.epoch(process, ticks),
        };
        Self {
            from: images.from.max(methods.from),
            until: images.until.min(methods.until),
            images: images.number,
            methods: methods.number,
            number,
        }
    }
}

/// The epochs that were asked for last, one per space: times mostly grow.
#[derive(Debug)]
pub(crate) struct SpaceEpochs {
    kernel: SpaceEpoch,
    processes: Vec<SpaceEpoch>,
    /// How many were asked for.
    count: u32,
}

impl Default for SpaceEpochs {
    fn default() -> Self {
        Self { kernel: SpaceEpoch::NEVER, processes: Vec::new(), count: 0 }
    }
}

impl SpaceEpochs {
    /// The epoch of a space at a time.
    #[inline]
    pub(crate) fn at(&mut self, space: AddressSpace, ticks: i64, code: &CodeMap) -> SpaceEpoch {
        let known = match space {
            AddressSpace::Kernel => &mut self.kernel,
            AddressSpace::Process(process) => {
                if self.processes.len() <= process.index() {
                    self.processes.resize(process.index() + 1, SpaceEpoch::NEVER);
                }
                &mut self.processes[process.index()]
            }
        };
        if ticks < known.from || known.until <= ticks {
            self.count = self.count.saturating_add(1);
            *known = SpaceEpoch::at(space, ticks, code, self.count);
        }
        *known
    }
}
