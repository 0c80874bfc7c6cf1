//! The images of a recording, each read when the first stack leads through it.

use tracesift_trace::ModuleId;
use tracesift_trace::modules::{AddressSpace, Modules};
use tracesift_unwind::{Image, ImageAt, Missing, Space};

use crate::image_files::{ImageFiles, Unusable};

/// How often all images may be dropped because they take too much memory. Beyond that those that do not fit stay out.
const MAX_RESTARTS: usize = 64;

/// What became of an image.
#[derive(Debug)]
enum Slot {
    Unread,
    Read(Box<Image>),
    Unusable(Unusable),
}

/// Images by module.
#[derive(Debug)]
pub(super) struct Images {
    files: ImageFiles,
    slots: Vec<Slot>,
    used: usize,
    budget: usize,
    restarts: usize,
}

/// The images as a process has them at a time.
pub(super) struct InProcess<'a> {
    pub(super) images: &'a mut Images,
    pub(super) modules: &'a Modules,
    pub(super) space: AddressSpace,
    pub(super) ticks: i64,
}

impl Images {
    /// None read; `budget` bounds their bytes.
    pub(super) fn new(files: ImageFiles, budget: usize) -> Self {
        Self { files, slots: Vec::new(), used: 0, budget, restarts: 0 }
    }

    /// Why a module has no image.
    pub(super) fn why(&self, module: ModuleId) -> Option<&Unusable> {
        match self.slots.get(module.index())? {
            Slot::Unusable(why) => Some(why),
            Slot::Unread | Slot::Read(_) => None,
        }
    }

    fn get(&mut self, module: ModuleId, modules: &Modules) -> Option<&Image> {
        let index = module.index();
        if self.slots.len() <= index {
            // Ids are given out without gaps: there are as many as modules.
            self.slots.resize_with(modules.modules.len().max(index + 1), || Slot::Unread);
        }
        if matches!(self.slots.get(index), Some(Slot::Unread)) {
            let slot = self.read(module, modules);
            *self.slots.get_mut(index)? = slot;
        }
        match self.slots.get(index)? {
            Slot::Read(image) => Some(image),
            Slot::Unread | Slot::Unusable(_) => None,
        }
    }

    fn read(&mut self, module: ModuleId, modules: &Modules) -> Slot {
        let Some(row) = modules.modules.get(module.index()) else {
            return Slot::Unusable(Unusable::NoFile(String::new()));
        };
        // An index takes about as much again as what it is made of.
        let image = match self.files.image(&row.path, row.build_id.as_deref(), self.budget / 2) {
            Ok(image) => image,
            Err(why) => return Slot::Unusable(why),
        };
        if self.used.saturating_add(image.bytes()) > self.budget {
            if self.restarts == MAX_RESTARTS {
                return Slot::Unusable(Unusable::Unreadable("memory budget for unwind information".to_owned()));
            }
            self.restarts += 1;
            self.used = 0;
            self.slots.iter_mut().filter(|slot| matches!(slot, Slot::Read(_))).for_each(|slot| *slot = Slot::Unread);
        }
        self.used = self.used.saturating_add(image.bytes());
        Slot::Read(Box::new(image))
    }
}

impl Space for InProcess<'_> {
    type Reason = ModuleId;

    fn image_at(&mut self, address: u64) -> Result<ImageAt<'_>, Missing<ModuleId>> {
        let (module, offset) = self.modules.find(self.space, address, self.ticks).ok_or(Missing::NoImage)?;
        let image = self.images.get(module, self.modules).ok_or(Missing::Unusable(module))?;
        let address = image.address_of(offset).ok_or(Missing::NoImage)?;
        Ok(ImageAt { image, key: module.0.cast_unsigned(), address })
    }

    /// CPython has made one per function with `-X perf`: `sub $8, %rsp; call *%rcx; add $8, %rsp; ret`, called by the interpreter to call it
    /// again.
    fn is_trampoline(&mut self, callee: u64, caller: u64) -> bool {
        let module = |address| self.modules.find(self.space, address, self.ticks).map(|(module, _)| module);
        let (Some(callee), Some(caller)) = (module(callee), module(caller)) else { return false };
        let name = self.modules.modules.get(caller.index()).map_or("", |row| row.name.as_str());
        callee == caller && (name.starts_with("python") || name.starts_with("libpython"))
    }
}
