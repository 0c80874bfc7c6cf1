//! The stacks of an archive in the catalog of a profile: only those that are asked for, each once.

use rustc_hash::FxHashMap;
use tracesift_analysis::{Attribution, StackFrames};
use tracesift_archive::{Archive, Error};
use tracesift_export::{Catalog, Frame, FrameId as ExportedFrame, Listed, Origin, StackId as ExportedStack, StringId};
use tracesift_extract::stack_methods::stack_frames;
use tracesift_trace::rows::{FrameRow, ModuleRow, SymbolRow};
use tracesift_trace::{FrameId, ModuleId, StackId, view};

use crate::method_patterns::MethodPatterns;

view! {
    /// The columns of a symbol that a profile shows.
    #[derive(Clone, Debug)]
    struct ShownSymbol of SymbolRow { frame, module, function, file, line, source }
}

view! {
    /// The columns of a frame that a profile shows.
    #[derive(Clone, Copy, Debug)]
    struct ShownFrame of FrameRow { frame, module, rva, address }
}

/// Frames below this number have a place in a list: 96 MiB of it, at most.
const LISTED: usize = 1 << 22;

/// Images of the Windows kernel that are not called `*.sys`.
const KERNEL: [&str; 6] = ["ntoskrnl.exe", "ntkrnlmp.exe", "ntkrnlpa.exe", "ntkrpamp.exe", "hal.dll", "kdcom.dll"];
/// Names from a runtime that tells what it compiles.
const JIT: [&str; 3] = ["jit", "perf-map", "jitdump"];
/// Names of code that a runtime manages.
const MANAGED: [&str; 3] = ["rundown", "entry-point", "portable-pdb"];

/// Stacks with names, made as they are asked for.
pub(super) struct Stacks {
    stacks: StackFrames,
    frames: Frames,
    /// Those that were asked for, in the catalog or as lists; `None` where no method is one that is wanted.
    known: FxHashMap<Attribution, Option<ExportedStack>>,
    outermost_first: Vec<ExportedFrame>,
}

/// Frames with names.
struct Frames {
    modules: Vec<ModuleRow>,
    rows: FxHashMap<FrameId, ShownFrame>,
    /// Functions of all frames: those of one stand together, the innermost first.
    symbols: Vec<ShownSymbol>,
    /// Where those of a frame begin and end.
    symbols_of: FxHashMap<FrameId, (usize, usize)>,
    /// Functions that a stack must have one of.
    methods: MethodPatterns,
    /// By number of the frame: where its functions are among `functions`.
    places: Vec<Option<(usize, usize)>>,
    /// The same of frames with larger numbers, which only a damaged archive has.
    others: FxHashMap<FrameId, (usize, usize)>,
    /// Functions of the frames that were asked for, the innermost first.
    functions: Vec<Function>,
}

/// A function of a frame.
#[derive(Clone, Copy)]
struct Function {
    frame: ExportedFrame,
    /// Whether it is one that a stack must have.
    wanted: bool,
}

impl Stacks {
    pub(super) fn of(archive: &Archive, methods: &MethodPatterns) -> Result<Self, Error> {
        let (stacks, frames) = rayon::join(|| stack_frames(archive), || Frames::of(archive, methods));
        Ok(Self { stacks: stacks?, frames: frames?, known: FxHashMap::default(), outermost_first: Vec::new() })
    }

    /// The stack in the catalog; `None` where it has none of the wanted methods.
    pub(super) fn get(&mut self, at: Attribution, catalog: &mut Catalog) -> Option<ExportedStack> {
        if let Some(known) = self.known.get(&at) {
            return *known;
        }
        let stack = self.walk(at, catalog).then(|| match self.outermost_first.is_empty() {
            true => ExportedStack::NONE,
            false => catalog.stack(self.outermost_first.iter().copied()),
        });
        self.known.insert(at, stack);
        stack
    }

    /// The stack as a list of the profile; `None` where it has none of the wanted methods.
    pub(super) fn list(&mut self, at: Attribution, listed: &mut Listed) -> Option<ExportedStack> {
        if let Some(known) = self.known.get(&at) {
            return *known;
        }
        let wanted = self.walk(at, &mut listed.catalog);
        let stack = wanted.then(|| listed.stacks.push(self.outermost_first.iter().copied()));
        self.known.insert(at, stack);
        stack
    }

    /// The functions of a stack, outermost first.
    pub(super) fn frames(&mut self, stack: StackId, catalog: &mut Catalog) -> &[ExportedFrame] {
        self.walk(Attribution::Stack(stack), catalog);
        &self.outermost_first
    }

    /// Fills in the functions of a stack, outermost first; whether it is wanted.
    fn walk(&mut self, at: Attribution, catalog: &mut Catalog) -> bool {
        let Self { stacks, frames, outermost_first, .. } = self;
        let single;
        let of_stack = match at {
            Attribution::Stack(stack) => stacks.of(stack),
            Attribution::Frame(frame) => {
                single = [frame];
                &single
            }
            Attribution::Nowhere => &[],
        };
        let mut wanted = frames.methods.is_empty();
        outermost_first.clear();
        for &frame in of_stack.iter().rev() {
            for function in frames.functions(frame, catalog).iter().rev() {
                wanted |= function.wanted;
                outermost_first.push(function.frame);
            }
        }
        wanted
    }
}

impl Frames {
    fn of(archive: &Archive, methods: &MethodPatterns) -> Result<Self, Error> {
        let mut frames = Self {
            modules: archive.rows()?,
            rows: FxHashMap::default(),
            symbols: Vec::new(),
            symbols_of: FxHashMap::default(),
            methods: methods.clone(),
            places: Vec::new(),
            others: FxHashMap::default(),
            functions: Vec::new(),
        };
        archive.scan(None, |row: &ShownFrame| {
            frames.rows.insert(row.frame, *row);
        })?;
        archive.scan(None, |row: &ShownSymbol| frames.symbols.push(row.clone()))?;
        let mut start = 0;
        for same in frames.symbols.chunk_by(|a, b| a.frame == b.frame) {
            let end = start + same.len();
            if let Some(first) = same.first() {
                frames.symbols_of.insert(first.frame, (start, end));
            }
            start = end;
        }
        Ok(frames)
    }

    /// The functions of a frame, the innermost first.
    #[inline]
    fn functions(&mut self, frame: FrameId, catalog: &mut Catalog) -> &[Function] {
        let place = usize::try_from(frame.0).ok().and_then(|place| self.places.get(place).copied().flatten());
        let (start, end) = match place {
            Some(known) => known,
            None => self.name(frame, catalog),
        };
        self.functions.get(start..end).unwrap_or_default()
    }

    /// Names a frame; says where its functions are.
    #[cold]
    fn name(&mut self, frame: FrameId, catalog: &mut Catalog) -> (usize, usize) {
        if let Some(known) = self.others.get(&frame) {
            return *known;
        }
        let start = self.functions.len();
        self.push_functions(frame, catalog);
        let found = (start, self.functions.len());
        match usize::try_from(frame.0).ok().filter(|place| *place < LISTED) {
            Some(place) => {
                if place >= self.places.len() {
                    self.places.resize(place + 1, None);
                }
                if let Some(known) = self.places.get_mut(place) {
                    *known = Some(found);
                }
            }
            None => {
                self.others.insert(frame, found);
            }
        }
        found
    }

    fn push_functions(&mut self, frame: FrameId, catalog: &mut Catalog) {
        let Self { modules, rows, symbols, symbols_of, methods, functions, .. } = self;
        let row = rows.get(&frame);
        let module = row.and_then(|row| row.module).and_then(|id| module(modules, id));
        let address = row.and_then(|row| row.rva.or(row.address)).map(i64::cast_unsigned);
        let named = symbols_of.get(&frame).and_then(|&(start, end)| symbols.get(start..end)).unwrap_or_default();
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
            functions.push(Function { frame: catalog.frame(text), wanted });
            return;
        }
        let outermost = named.len() - 1;
        functions.extend(named.iter().enumerate().map(|(place, symbol)| {
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
            Function { frame: catalog.frame(frame), wanted: methods.matches(module, &symbol.function) }
        }));
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
