//! The methods of every stack of an archive: names from `symbols` where there are some, else module and RVA.

use std::thread;

use rustc_hash::FxHashMap;
use tracesift_analysis::{MethodId, MethodNames, StackFrames, StackMethods};
use tracesift_archive::{Archive, Error};
use tracesift_trace::rows::{FrameRow, ModuleRow, SymbolRow};
use tracesift_trace::{FrameId, ModuleId, view};

use crate::summary_source::{FrameInModule, SummarySource};

view! {
    /// The columns of a frame that methods finer than functions need.
    #[derive(Clone, Copy, Debug)]
    struct FrameAtAddress of FrameRow { frame, module, rva, address }
}

view! {
    /// The columns of a symbol that methods finer than functions need.
    #[derive(Clone, Debug)]
    struct LineOfFrame of SymbolRow { frame, module, function, arguments, file, line }
}

/// Methods for which there is room before they come.
const MOST_ROOM: usize = 1 << 16;

/// What is one method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Granularity {
    /// How fine.
    pub by: By,
    /// Frames without a symbol are one method per module.
    pub fold_unresolved: bool,
    /// Functions with other arguments are other methods, and have them in their names.
    pub arguments: bool,
}

/// How fine methods are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// Module and function, the method of all summaries.
    #[default]
    Function,
    /// The lines of a function, where the symbols tell them.
    Line,
    /// The instructions of a function.
    Address,
}

/// The methods of stacks with their names.
#[derive(Debug, Default)]
pub struct NamedStacks {
    /// Which methods a stack has.
    pub stacks: StackMethods,
    /// What they are called.
    pub names: MethodNames,
}

impl NamedStacks {
    /// Those of an archive.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub fn of(archive: &Archive, granularity: Granularity) -> Result<Self, Error> {
        // Half of the time goes into the stacks, which know nothing of names.
        thread::scope(|scope| {
            let stacks = scope.spawn(|| stack_frames(archive));
            let mut named = Self::of_frames(archive, granularity)?;
            named.stacks.set_stacks(stacks.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
            Ok(named)
        })
    }

    /// Those of an archive, without its stacks: for questions about single frames.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub fn of_frames(archive: &Archive, granularity: Granularity) -> Result<Self, Error> {
        if granularity == Granularity::default() {
            let frames = usize::try_from(archive.row_count::<FrameRow>()).unwrap_or(usize::MAX);
            return Self::frames_by_function(archive, frames.min(MOST_ROOM));
        }
        let mut naming = Naming::new(granularity, archive.rows()?);
        // The addresses of frames are needed again where their symbols come.
        let mut addresses: FxHashMap<FrameId, i64> = FxHashMap::default();
        archive.scan(None, |row: &FrameAtAddress| {
            let address = row.rva.or(row.address);
            if let (By::Address, Some(address)) = (granularity.by, address) {
                addresses.insert(row.frame, address);
            }
            naming.frame(&row.into(), address);
        })?;
        let mut function = String::new();
        archive.scan(None, |row: &LineOfFrame| {
            function.clone_from(&row.function);
            if granularity.arguments {
                function.push_str(row.arguments.as_deref().unwrap_or_default());
            }
            let names = &mut naming.named.names;
            let method = names.function(row.module.as_deref(), &function);
            let method = match (granularity.by, &row.file, row.line, addresses.get(&row.frame)) {
                (By::Line, Some(file), Some(line), _) => names.at_line(method, file, line),
                (By::Address, _, _, Some(&address)) => names.at_address(method, address),
                _ => method,
            };
            naming.symbol(row.frame, method);
        })?;
        Ok(naming.named)
    }

    /// Those of the summaries.
    pub(crate) fn by_function(source: &impl SummarySource) -> Result<Self, Error> {
        let mut named = Self::frames_by_function(source, 0)?;
        let mut stacks = StackFrames::default();
        source.stacks(|stack, frames| stacks.add(stack, frames))?;
        named.stacks.set_stacks(stacks);
        Ok(named)
    }

    /// `room`: about so many methods are to be expected.
    fn frames_by_function(source: &impl SummarySource, room: usize) -> Result<Self, Error> {
        let mut naming = Naming::new(Granularity::default(), source.modules()?.into_owned());
        naming.named.names.reserve(room);
        source.frames(|row| naming.frame(row, None))?;
        source.symbols(|frame, module, function| {
            let method = naming.named.names.function(module, function);
            naming.symbol(frame, method);
        })?;
        Ok(naming.named)
    }
}

/// The stacks of an archive.
///
/// # Errors
/// When the table cannot be read.
pub fn stack_frames(archive: &Archive) -> Result<StackFrames, Error> {
    let mut stacks = StackFrames::default();
    archive.scan_stacks(|stack, frames| stacks.add(stack, frames))?;
    Ok(stacks)
}

/// Names on the way: all frames first, then the symbols, which name some of them anew.
struct Naming {
    granularity: Granularity,
    modules: Vec<ModuleRow>,
    named: NamedStacks,
    /// The functions of the frame whose symbols are coming: the innermost first.
    inlined: Vec<MethodId>,
    current: Option<FrameId>,
}

impl Naming {
    fn new(granularity: Granularity, modules: Vec<ModuleRow>) -> Self {
        Self { granularity, modules, named: NamedStacks::default(), inlined: Vec::new(), current: None }
    }

    /// A frame; methods by address need its address.
    fn frame(&mut self, row: &FrameInModule, address: Option<i64>) {
        let module = |id: ModuleId| {
            let row = usize::try_from(id.0).ok().and_then(|index| self.modules.get(index));
            row.map_or("", |row| row.name.as_str())
        };
        let names = &mut self.named.names;
        let method = match (row.module, row.rva) {
            (Some(id), Some(_)) if self.granularity.fold_unresolved => names.unresolved(module(id)),
            (Some(id), Some(rva)) => names.without_symbol(module(id), rva),
            _ => names.unknown(),
        };
        let method = match (self.granularity.by, address) {
            (By::Address, Some(address)) => names.at_address(method, address),
            _ => method,
        };
        self.named.stacks.add_frame(row.frame, &[method]);
    }

    /// Rows of one frame stand together, the function itself first.
    fn symbol(&mut self, frame: FrameId, method: MethodId) {
        if self.current != Some(frame) {
            self.inlined.clear();
            self.current = Some(frame);
        }
        self.inlined.push(method);
        self.named.stacks.add_frame(frame, &self.inlined);
    }
}
