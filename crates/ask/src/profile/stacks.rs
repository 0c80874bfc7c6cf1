//! The stacks of an archive in the catalog of a profile: only those that are asked for, each once.

use rustc_hash::FxHashMap;
use tracesift_archive::{Archive, Error, Projection};
use tracesift_export::{Catalog, Frame, Origin, StackId as ExportedStack, StringId};
use tracesift_trace::rows::{FrameRow, ModuleRow, StackRow, SymbolRow};
use tracesift_trace::{FrameId, ModuleId, StackId};

use super::At;
use crate::question::methods::MethodPatterns;

const SYMBOLS: Projection<SymbolRow> =
    Projection::of(&["frame", "depth", "module", "function", "file", "line", "source"]);
const FRAMES: Projection<FrameRow> = Projection::of(&["frame", "module", "rva", "address"]);

/// Images of the Windows kernel that are not called `*.sys`.
const KERNEL: [&str; 6] = ["ntoskrnl.exe", "ntkrnlmp.exe", "ntkrnlpa.exe", "ntkrpamp.exe", "hal.dll", "kdcom.dll"];
/// Names from a runtime that tells what it compiles.
const JIT: [&str; 3] = ["jit", "perf-map", "jitdump"];
/// Names of code that a runtime manages.
const MANAGED: [&str; 3] = ["rundown", "entry-point", "portable-pdb"];

/// Stacks with names, made as they are asked for.
pub(super) struct Stacks {
    modules: Vec<ModuleRow>,
    frames: FxHashMap<FrameId, FrameRow>,
    /// Functions of a frame, the innermost first.
    symbols: FxHashMap<FrameId, Vec<SymbolRow>>,
    stacks: FxHashMap<StackId, Box<[FrameId]>>,
    /// Functions that a stack must have one of.
    methods: MethodPatterns,
    /// Those that were asked for; `None` where no method is one that is wanted.
    known: FxHashMap<At, Option<ExportedStack>>,
    exported: FxHashMap<FrameId, Box<[(tracesift_export::FrameId, bool)]>>,
}

impl Stacks {
    pub(super) fn of(archive: &Archive, methods: &MethodPatterns) -> Result<Self, Error> {
        let mut stacks = Self {
            modules: archive.rows()?,
            frames: FxHashMap::default(),
            symbols: FxHashMap::default(),
            stacks: FxHashMap::default(),
            methods: methods.clone(),
            known: FxHashMap::default(),
            exported: FxHashMap::default(),
        };
        archive.scan(FRAMES, None, |row: &FrameRow| {
            stacks.frames.insert(row.frame, *row);
        })?;
        archive.scan(SYMBOLS, None, |row: &SymbolRow| {
            stacks.symbols.entry(row.frame).or_default().push(row.clone());
        })?;
        archive.scan(Projection::ALL, None, |row: &StackRow| {
            stacks.stacks.insert(row.stack, row.frames.as_slice().into());
        })?;
        Ok(stacks)
    }

    /// The stack in the catalog; `None` where it has none of the wanted methods.
    pub(super) fn get(&mut self, at: At, catalog: &mut Catalog) -> Option<ExportedStack> {
        if let Some(known) = self.known.get(&at) {
            return *known;
        }
        let frames: Box<[FrameId]> = match at {
            At::Stack(stack) => self.stacks.get(&stack).cloned().unwrap_or_default(),
            At::Frame(frame) => [frame].into(),
            At::Nowhere => Box::default(),
        };
        let mut wanted = self.methods.is_empty();
        let mut outermost_first = Vec::with_capacity(frames.len());
        for frame in frames.iter().rev() {
            let functions = self.frame(*frame, catalog);
            wanted |= functions.iter().any(|(_, wanted)| *wanted);
            outermost_first.extend(functions.iter().rev().map(|(function, _)| *function));
        }
        let stack = wanted.then(|| match outermost_first.is_empty() {
            true => ExportedStack::NONE,
            false => catalog.stack(outermost_first),
        });
        self.known.insert(at, stack);
        stack
    }

    /// The functions of a frame, the innermost first, each with whether it is one that a stack must have.
    fn frame(&mut self, frame: FrameId, catalog: &mut Catalog) -> &[(tracesift_export::FrameId, bool)] {
        let Self { modules, frames, symbols, methods, exported, .. } = self;
        exported.entry(frame).or_insert_with(|| {
            let row = frames.get(&frame);
            let module = row.and_then(|row| row.module).and_then(|id| module(modules, id));
            let address = row.and_then(|row| row.rva.or(row.address)).map(i64::cast_unsigned);
            let named = symbols.get(&frame).map(Vec::as_slice).unwrap_or_default();
            if named.is_empty() {
                let (module, function) = match (module, address) {
                    (Some(module), Some(rva)) => (Some(module), format!("{module}+{rva:#x}")),
                    _ => (None, "[unknown]".to_owned()),
                };
                let wanted = methods.matches(module, &function);
                let text = Frame {
                    module: catalog.string(module.unwrap_or_default()),
                    address,
                    ..Frame::named(catalog.string(&function), Origin::Unresolved)
                };
                return [(catalog.frame(text), wanted)].into();
            }
            let outermost = named.len() - 1;
            let function = |(place, symbol): (usize, &SymbolRow)| {
                let module = symbol.module.as_deref();
                let frame = Frame {
                    function: catalog.string(&symbol.function),
                    module: module.map_or(StringId::EMPTY, |module| catalog.string(module)),
                    file: symbol.file.as_deref().map_or(StringId::EMPTY, |file| catalog.string(file)),
                    line: symbol.line.and_then(|line| u32::try_from(line).ok()),
                    address,
                    origin: origin(module, &symbol.source),
                    inlined: place < outermost,
                };
                (catalog.frame(frame), methods.matches(module, &symbol.function))
            };
            named.iter().enumerate().map(function).collect()
        })
    }
}

fn module(modules: &[ModuleRow], id: ModuleId) -> Option<&str> {
    usize::try_from(id.0).ok().and_then(|index| modules.get(index)).map(|row| row.name.as_str())
}

fn origin(module: Option<&str>, source: &str) -> Origin {
    if JIT.contains(&source) {
        return Origin::Jit;
    }
    if MANAGED.contains(&source) {
        return Origin::Managed;
    }
    let module = module.unwrap_or_default().to_ascii_lowercase();
    let kernel = module.ends_with(".sys") || module.starts_with('[') || KERNEL.contains(&module.as_str());
    if kernel { Origin::Kernel } else { Origin::User }
}

#[cfg(test)]
mod tests {
    use tracesift_export::Origin;

    use super::origin;

    #[test]
    fn origins() {
        assert_eq!(origin(Some("Ntfs.sys"), "pdb"), Origin::Kernel);
        assert_eq!(origin(Some("ntoskrnl.exe"), "pdb"), Origin::Kernel);
        assert_eq!(origin(Some("[kernel.kallsyms]"), "kallsyms"), Origin::Kernel);
        assert_eq!(origin(Some("app.dll"), "jit"), Origin::Jit);
        assert_eq!(origin(Some("System.Private.CoreLib.dll"), "rundown"), Origin::Managed);
        assert_eq!(origin(Some("app.exe"), "dwarf"), Origin::User);
    }
}
