//! One line of a stack.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use super::{FrameId, StringId};

/// Where the code of a frame comes from. Viewers show it as a colour or a category.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// Native code of a program or a library.
    User,
    /// The kernel and its drivers.
    Kernel,
    /// Code of a runtime such as .NET, whether precompiled or not.
    Managed,
    /// Code that was made while the program ran and belongs to no file.
    Jit,
    /// Code without a name.
    Unresolved,
    /// No code: a thread that was waited for, or what a thread did that did not run.
    State,
    /// No code: others or the machine took this time from what was measured.
    Disturbance,
}

impl Origin {
    /// Every origin, in the order in which viewers list them.
    pub const ALL: [Self; 7] =
        [Self::User, Self::Kernel, Self::Managed, Self::Jit, Self::Unresolved, Self::State, Self::Disturbance];

    /// The word that stands in legends.
    pub fn label(self) -> &'static str {
        match self {
            Self::User => "User",
            Self::Kernel => "Kernel",
            Self::Managed => "Managed",
            Self::Jit => "JIT",
            Self::Unresolved => "Unresolved",
            Self::State => "Thread or state",
            Self::Disturbance => "Disturbance",
        }
    }
}

/// One line of a stack: a function, and where in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The function, without its module. For code without a name a text that says where it lies, such as `ntdll.dll+0x1a2b`.
    pub function: StringId,
    /// The module (`ntdll.dll`, `libc.so.6`), or the empty text.
    pub module: StringId,
    /// The source file, or the empty text.
    pub file: StringId,
    /// The line in the source file, from one.
    pub line: Option<u32>,
    /// The address relative to the module; absolute where there is no module.
    pub address: Option<u64>,
    /// Where the code comes from.
    pub origin: Origin,
    /// The function has no code of its own here: it was inlined into the frame that is its parent in the stack.
    pub inlined: bool,
}

impl Frame {
    /// A frame of which only the function and its origin are known.
    pub fn named(function: StringId, origin: Origin) -> Self {
        Self {
            function,
            module: StringId::EMPTY,
            file: StringId::EMPTY,
            line: None,
            address: None,
            origin,
            inlined: false,
        }
    }
}

/// Frames, each stored once.
#[derive(Clone, Debug, Default)]
pub(super) struct Frames {
    rows: Vec<Frame>,
    table: HashTable<u32>,
    state: RandomState,
}

impl Frames {
    pub(super) fn intern(&mut self, frame: Frame) -> FrameId {
        let Self { rows, table, state } = self;
        let hash = state.hash_one(frame);
        if let Some(&row) = table.find(hash, |&row| rows[row as usize] == frame) {
            return FrameId(row);
        }
        let id = FrameId::next(rows.len());
        rows.push(frame);
        table.insert_unique(hash, id.0, |&row| state.hash_one(rows[row as usize]));
        id
    }

    pub(super) fn rows(&self) -> &[Frame] {
        &self.rows
    }
}
