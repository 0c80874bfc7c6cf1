//! The functions of modules, with what was inlined into them.

use std::ops::Range;

use foldhash::fast::FixedState;
use hashbrown::{HashMap, HashSet};

use super::SOURCE;
use super::annotations::{self, Inlined};
use super::dbi::Module;
use super::imports::{Imports, lines_of};
use super::lines::{Files, Line, ModuleLines, Names};
use super::pieces::{Piece, Pieces};
use super::records::{Record, Records};
use super::sections::{Contributions, Sections};
use super::types::Types;
use crate::fields::Fields;
use crate::undecorate::undecorate;
use crate::{FunctionId, TableBuilder};

/// `CV_SIGNATURE_C13`: how the symbols of a module begin.
const SIGNATURE: u32 = 4;
/// Functions are inlined into each other, and blocks lie within blocks, some dozen levels deep.
const MAX_DEPTH: usize = 256;
/// A stretch takes some bytes in every function that was inlined around it. More than that many stretches per byte only a forged module has.
const MAX_PIECES_PER_BYTE: usize = 2;

/// Functions of all modules so far.
#[derive(Debug)]
pub(super) struct Program<'a> {
    sections: &'a Sections,
    contributions: &'a Contributions,
    names: &'a Names,
    types: &'a Types,
    files: Files,
    /// Functions that were inlined, by their id.
    inlined: HashMap<u32, Option<FunctionId>, FixedState>,
    /// Argument lists by the type of the function, and whether that is an id.
    arguments: HashMap<(u32, bool), Option<String>, FixedState>,
    own: Tier,
    /// Functions in whose place is another module's code: the linker has folded them, as the code is the same.
    folded: Tier,
    procedures: Vec<Range<u32>>,
    orphans: Vec<Line>,
    lines: ModuleLines,
    scratch: Scratch,
}

/// Pieces, and where functions begin, of which the first one counts.
#[derive(Debug, Default)]
struct Tier {
    pieces: Pieces,
    starts: HashSet<u32, FixedState>,
}

/// What belongs to code, but to no function.
pub(super) struct Orphans {
    /// Where functions are, in order.
    pub(super) procedures: Vec<Range<u32>>,
    /// Lines outside of them, in order.
    pub(super) lines: Vec<Line>,
}

/// Buffers for one module.
#[derive(Debug, Default)]
struct Scratch {
    /// The pieces of the scopes that are open, outer ones first.
    open: Vec<Piece>,
    scopes: Vec<Scope>,
    stretches: Vec<Inlined>,
    /// Functions by their places, for code that was separated from them.
    functions: Vec<(u32, FunctionId)>,
    separated: Vec<(Separated, usize)>,
    /// Whether the function at hand is.
    folded: bool,
    /// How many pieces the module may still make.
    budget: usize,
}

/// A function, a function inlined into it, or a block of one.
#[derive(Clone, Debug)]
struct Scope {
    /// Its own stretches, or those of what it lies in.
    pieces: Range<usize>,
    /// From where on `Scratch::open` is its own.
    own: usize,
    /// Where the function starts.
    start: u32,
}

#[derive(Clone, Copy, Debug)]
struct Separated {
    start: u32,
    end: u32,
    parent: u32,
}

impl Scope {
    /// The same stretches for a scope within it, which begins when so many pieces are open.
    fn within(self, open: usize) -> Self {
        Self { own: open, ..self }
    }
}

impl<'a> Program<'a> {
    pub(super) fn new(
        sections: &'a Sections,
        contributions: &'a Contributions,
        names: &'a Names,
        types: &'a Types,
    ) -> Self {
        Self {
            sections,
            contributions,
            names,
            types,
            files: Files::default(),
            inlined: HashMap::default(),
            arguments: HashMap::default(),
            own: Tier::default(),
            folded: Tier::default(),
            procedures: Vec::new(),
            orphans: Vec::new(),
            lines: ModuleLines::default(),
            scratch: Scratch::default(),
        }
    }

    /// Adds the functions and lines of a module.
    pub(super) fn add(&mut self, module: &Module<'_>, stream: &[u8], imports: &Imports, builder: &mut TableBuilder) {
        let symbols = &stream[..stream.len().min(usize::try_from(module.symbols).unwrap_or(usize::MAX))];
        self.lines.read(lines_of(module, stream), self.sections, &mut self.files, self.names, builder);
        let mut fields = Fields::new(symbols);
        if fields.u32() == Some(SIGNATURE) {
            self.scratch.budget = stream.len().saturating_mul(MAX_PIECES_PER_BYTE);
            self.scratch.functions.clear();
            let symbols = fields.rest();
            self.walk(symbols, None, module.number, imports, builder);
            self.scratch.functions.sort_by_key(|(start, _)| *start);
            for (separated, at) in std::mem::take(&mut self.scratch.separated) {
                self.walk(&symbols[symbols.len() - at..], Some(separated), module.number, imports, builder);
            }
        }
        self.orphans.extend(self.lines.lines.iter().filter(|line| !line.used));
    }

    /// All pieces, and what is left for public symbols.
    pub(super) fn finish(mut self) -> (Pieces, Orphans) {
        self.procedures.sort_by_key(|procedure| procedure.start);
        self.orphans.sort_by_key(|line| line.start);
        let mut pieces = self.folded.pieces;
        pieces.append(self.own.pieces);
        (pieces, Orphans { procedures: self.procedures, lines: self.orphans })
    }

    /// Goes over records: of all functions, or of one part of a function that stands elsewhere, up to its end.
    fn walk(
        &mut self,
        symbols: &[u8],
        separated: Option<Separated>,
        module: u16,
        imports: &Imports,
        builder: &mut TableBuilder,
    ) {
        let mut records = Records::new(symbols);
        self.scratch.open.clear();
        self.scratch.scopes.clear();
        self.scratch.folded = false;
        if let Some(separated) = separated {
            let functions = &self.scratch.functions;
            let parent = functions.binary_search_by_key(&separated.parent, |(start, _)| *start);
            let Some((_, function)) = parent.ok().and_then(|at| functions.get(at)).copied() else { return };
            self.function(function, separated.start, separated.end, builder);
        }
        while let Some(record) = records.next() {
            match record {
                Record::Procedure { length, kind, by_id, offset, section, name } => {
                    let start = self.sections.rva(section, offset);
                    self.scratch.folded =
                        start.and_then(|start| self.contributions.at(start)).is_some_and(|(owner, _)| owner != module);
                    let Some(start) = start.filter(|start| self.tier().starts.insert(*start)) else {
                        self.scratch.scope(None);
                        continue;
                    };
                    let types = self.types;
                    let kind = imports.resolve(kind).unwrap_or(0);
                    let arguments = self.arguments.entry((kind, by_id)).or_insert_with(|| types.arguments(kind, by_id));
                    let function = named(name, arguments.as_deref(), builder);
                    self.scratch.functions.push((start, function));
                    self.function(function, start, start.saturating_add(length), builder);
                }
                Record::Thunk { length, offset, section, name } => {
                    self.scratch.folded = false;
                    match self.sections.rva(section, offset).filter(|_| !name.is_empty()) {
                        Some(start) => {
                            let function = named(name, None, builder);
                            self.function(function, start, start.saturating_add(length), builder);
                        }
                        None => self.scratch.scope(None),
                    }
                }
                Record::Separated { length, offset, parent_offset, section, parent_section } => {
                    let start = self.sections.rva(section, offset);
                    if let (Some(start), Some(parent)) = (start, self.sections.rva(parent_section, parent_offset)) {
                        let part = Separated { start, end: start.saturating_add(length), parent };
                        self.scratch.separated.push((part, records.rest().len()));
                    }
                    // Its content comes when all functions are known.
                    self.scratch.scope(None);
                }
                Record::Inlined { function, annotations } => {
                    self.inlined(function, imports, annotations, builder);
                }
                Record::Scope => {
                    let around = self.scratch.scopes.last().cloned();
                    self.scratch.scope(around.map(|around| around.within(self.scratch.open.len())));
                }
                Record::End => {
                    if let Some(scope) = self.scratch.scopes.pop() {
                        self.scratch.open.truncate(scope.own);
                    }
                    if separated.is_some() && self.scratch.scopes.is_empty() {
                        return;
                    }
                }
                Record::Public { .. } | Record::Other => {}
            }
        }
    }

    fn tier(&mut self) -> &mut Tier {
        if self.scratch.folded { &mut self.folded } else { &mut self.own }
    }

    /// Keeps the pieces that were opened from a place on.
    fn keep(&mut self, own: usize) {
        let tier = if self.scratch.folded { &mut self.folded } else { &mut self.own };
        tier.pieces.extend(&self.scratch.open[own..]);
    }

    /// Opens a function's scope: its lines, and what has none.
    fn function(&mut self, function: FunctionId, start: u32, end: u32, builder: &mut TableBuilder) {
        let own = self.scratch.open.len();
        self.procedures.push(start..end);
        let first = self.lines.lines.partition_point(|line| line.end <= start);
        let mut at = start;
        for line in self.lines.lines[first..].iter_mut().take_while(|line| line.start < end) {
            line.used = true;
            let from = line.start.max(start);
            if at < from {
                let location = builder.location(None, function, None, 0);
                self.scratch.push(own, Piece { start: at, end: from, location });
            }
            at = line.end.min(end);
            let location = builder.location(None, function, line.file, line.line);
            self.scratch.push(own, Piece { start: from, end: at, location });
        }
        if at < end {
            let location = builder.location(None, function, None, 0);
            self.scratch.push(own, Piece { start: at, end, location });
        }
        self.keep(own);
        self.scratch.scope(Some(Scope { pieces: own..self.scratch.open.len(), own, start }));
    }

    /// Opens the scope of a function that was inlined into the one that is open: cut by the lines of that.
    fn inlined(&mut self, function: u32, imports: &Imports, annotations: &[u8], builder: &mut TableBuilder) {
        let Some(around) = self.scratch.scopes.last().cloned().filter(|scope| !scope.pieces.is_empty()) else {
            return self.scratch.scope(None);
        };
        let types = self.types;
        let global = imports.resolve(function).unwrap_or(0);
        let id = *self.inlined.entry(global).or_insert_with(|| {
            let (name, kind) = types.function(global)?;
            let arguments = types.arguments(kind, false);
            Some(named(name.as_bytes(), arguments.as_deref(), builder))
        });
        let Some(id) = id else {
            // Without a name it is part of what is around it.
            return self.scratch.scope(Some(around.within(self.scratch.open.len())));
        };
        let inlinee = self.lines.inlinees.get(&function).copied();
        let own = self.scratch.open.len();
        let mut stretches = std::mem::take(&mut self.scratch.stretches);
        stretches.clear();
        annotations::run(annotations, &mut stretches);
        for (at, stretch) in stretches.iter().enumerate() {
            let next = stretches.get(at + 1).map_or(u32::MAX, |next| next.start);
            let start = around.start.saturating_add(stretch.start);
            let end = around.start.saturating_add(stretch.end.min(next));
            let file = stretch.file.or(inlinee.map(|inlinee| inlinee.file));
            let file = file.and_then(|file| self.lines.file(file, &mut self.files, self.names, builder));
            let line = inlinee.and_then(|inlinee| u32::try_from(i64::from(inlinee.line) + stretch.line).ok());
            let outer = &self.scratch.open[around.pieces.clone()];
            let mut piece = around.pieces.start + outer.partition_point(|piece| piece.end <= start);
            while let Some(outer) = self.scratch.open[..around.pieces.end].get(piece).filter(|outer| outer.start < end)
            {
                let location = builder.location(Some(outer.location), id, file, line.unwrap_or(0));
                let cut = Piece { start: start.max(outer.start), end: end.min(outer.end), location };
                if !self.scratch.push(own, cut) {
                    break;
                }
                piece += 1;
            }
        }
        self.scratch.stretches = stretches;
        self.keep(own);
        self.scratch.scope(Some(Scope { pieces: own..self.scratch.open.len(), own, start: around.start }));
    }
}

impl Scratch {
    /// Adds a piece to the scope whose own ones begin at `own`; `false` when the module has made too many.
    fn push(&mut self, own: usize, piece: Piece) -> bool {
        if let Some(last) = self.open[own..].last_mut()
            && last.end == piece.start
            && last.location == piece.location
        {
            last.end = piece.end;
            return true;
        }
        let affordable = self.budget > 0;
        if affordable && piece.start < piece.end {
            self.budget -= 1;
            self.open.push(piece);
        }
        affordable
    }

    /// Opens a scope; without pieces if there is none, or if scopes lie too deep.
    fn scope(&mut self, scope: Option<Scope>) {
        let own = self.open.len();
        let empty = Scope { pieces: own..own, own, start: 0 };
        let Some(scope) = scope else { return self.scopes.push(empty) };
        let deep = self.scopes.len() >= MAX_DEPTH;
        self.scopes.push(if deep { Scope { own: scope.own, ..empty } } else { scope });
    }
}

/// A function by the name in a symbol, which is as people write it, or decorated where an assembler made it.
fn named(name: &[u8], arguments: Option<&str>, builder: &mut TableBuilder) -> FunctionId {
    let name = String::from_utf8_lossy(name);
    if name.starts_with('?') {
        let undecorated = undecorate(&name);
        return builder.function(&undecorated.name, undecorated.arguments.as_deref().or(arguments), SOURCE);
    }
    builder.function(&name, arguments, SOURCE)
}
