//! The call stacks of an archive's events, as texts.

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_archive::{Archive, Error};
use tracesift_trace::rows::{EventRow, FrameRow, ModuleRow, StackRow, SymbolRow};
use tracesift_trace::{FrameId, StackId, view};

view! {
    /// The stack of an event.
    #[derive(Clone, Copy, Debug)]
    struct StackOfEvent of EventRow { stack }
}

view! {
    /// The function of a frame.
    #[derive(Clone, Debug)]
    struct FunctionOfFrame of SymbolRow { frame, module, function }
}

/// Frames of a stack and names of a frame that are shown: more only a forged archive has.
const MAX_FRAMES: usize = 4096;
const MAX_NAMES: usize = 64;

/// Stacks by id. They take as much memory as the distinct stacks of the events do.
#[derive(Debug, Default)]
pub(super) struct StoredStacks {
    stacks: FxHashMap<StackId, Vec<FrameId>>,
    /// Names of a frame: the function itself, then those that it was inlined into.
    frames: FxHashMap<FrameId, Vec<String>>,
}

impl StoredStacks {
    /// Reads the stacks that the archive's events point at.
    pub(super) fn read(archive: &Archive) -> Result<Self, Error> {
        let mut wanted = FxHashSet::default();
        archive.scan(None, |row: &StackOfEvent| wanted.extend(row.stack))?;
        let mut stacks = FxHashMap::default();
        let mut frames: FxHashMap<FrameId, Vec<String>> = FxHashMap::default();
        archive.scan(None, |row: &StackRow| {
            if wanted.contains(&row.stack) {
                let shown = &row.frames[..row.frames.len().min(MAX_FRAMES)];
                frames.extend(shown.iter().map(|frame| (*frame, Vec::new())));
                stacks.insert(row.stack, shown.to_vec());
            }
        })?;
        let modules: Vec<ModuleRow> = archive.rows()?;
        archive.scan(None, |row: &FrameRow| {
            if let Some(names) = frames.get_mut(&row.frame) {
                let module = row.module.and_then(|module| modules.get(module.index()));
                names.clear();
                names.push(match (module, row.rva, row.address) {
                    (Some(module), Some(rva), _) => format!("{}+{rva:#x}", module.name),
                    (_, _, Some(address)) => format!("{address:#x}"),
                    _ => "[unknown]".to_owned(),
                });
            }
        })?;
        let mut named = None;
        archive.scan(None, |row: &FunctionOfFrame| {
            let Some(names) = frames.get_mut(&row.frame) else { return };
            // Rows of one frame stand together, the function itself first.
            if named != Some(row.frame) {
                named = Some(row.frame);
                names.clear();
            }
            if names.len() >= MAX_NAMES {
                return;
            }
            names.push(match &row.module {
                Some(module) => format!("{module}!{}", row.function),
                None => row.function.clone(),
            });
        })?;
        Ok(Self { stacks, frames })
    }

    /// The frames of a stack as texts, leaf first.
    pub(super) fn frames(&self, stack: Option<StackId>) -> impl Iterator<Item = &str> {
        let frames = stack.and_then(|stack| self.stacks.get(&stack)).into_iter().flatten();
        frames.filter_map(|frame| self.frames.get(frame)).flatten().map(String::as_str)
    }
}
