//! The tables that all threads share: stacks, frames, functions, modules, symbols, source files, texts.

use std::fmt;

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use tracesift_json::Writer;

use super::{KINDS, begin_table};
use crate::functions::Functions;
use crate::json::{OrNull, column, text};
use crate::profile::{Catalog, FrameId, StringId};

/// The modules of a catalog, which the format calls libraries and resources.
pub(super) struct Modules {
    pub(super) names: Vec<StringId>,
    rows: HashMap<StringId, usize, RandomState>,
}

impl Modules {
    pub(super) fn of(catalog: &Catalog) -> Self {
        let mut modules = Self { names: Vec::new(), rows: HashMap::default() };
        for frame in catalog.frames().iter().filter(|frame| frame.module != StringId::EMPTY) {
            modules.rows.entry(frame.module).or_insert_with(|| {
                modules.names.push(frame.module);
                modules.names.len() - 1
            });
        }
        modules
    }

    fn row(&self, module: StringId) -> Option<usize> {
        self.rows.get(&module).copied()
    }

    /// Writes the modules as resources.
    fn write(&self, json: &mut Writer<impl fmt::Write>) {
        begin_table(json, "resourceTable", self.names.len());
        column(json, "lib", 0..self.names.len());
        column(json, "name", self.names.iter().map(|name| name.0));
        column(json, "host", self.names.iter().map(|_| "null"));
        column(json, "type", self.names.iter().map(|_| 1));
        json.end_object();
    }
}

/// A row of the format's frame table. How deep a frame was inlined, and into what, is the stack's business in the catalog.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Placed {
    frame: FrameId,
    depth: u8,
    /// The frame that has the code.
    outer: FrameId,
}

/// The frame table's rows and, by stack, which of them its innermost frame is.
fn place_frames(catalog: &Catalog) -> (Vec<Placed>, Vec<u32>) {
    let mut known: HashMap<Placed, u32, RandomState> = HashMap::default();
    let mut rows: Vec<Placed> = Vec::new();
    let mut of_stack: Vec<u32> = Vec::with_capacity(catalog.stack_count());
    for stack in catalog.stacks() {
        let frame = catalog.leaf(stack);
        let placed = match catalog.caller(stack) {
            Some(caller) if catalog.frames()[frame.row()].inlined => {
                let caller = rows[of_stack[caller.row()] as usize];
                Placed { frame, depth: caller.depth.saturating_add(1), outer: caller.outer }
            }
            _ => Placed { frame, depth: 0, outer: frame },
        };
        of_stack.push(*known.entry(placed).or_insert_with(|| {
            rows.push(placed);
            rows.len() as u32 - 1
        }));
    }
    (rows, of_stack)
}

pub(super) fn write_shared(json: &mut Writer<impl fmt::Write>, catalog: &Catalog, modules: &Modules) {
    let functions = Functions::of(catalog);
    let (rows, of_stack) = place_frames(catalog);
    json.begin_object();
    begin_table(json, "stackTable", catalog.stack_count());
    column(json, "prefix", catalog.stacks().map(|stack| OrNull(catalog.caller(stack).map(|caller| caller.0))));
    column(json, "frame", &of_stack);
    json.end_object();
    json.new_line();
    let symbols = Symbols::of(catalog, modules, &functions, &rows);
    write_frames(json, catalog, &functions, &symbols, &rows);
    json.new_line();
    let sources = Sources::of(&functions);
    write_functions(json, &functions, modules, &sources);
    json.new_line();
    modules.write(json);
    json.new_line();
    symbols.write(json, &functions, modules);
    json.new_line();
    begin_table(json, "sources", sources.files.len());
    column(json, "uuid", sources.files.iter().map(|_| "null"));
    column(json, "filename", sources.files.iter().map(|file| file.0));
    json.end_object();
    json.new_line();
    json.key("stringArray");
    json.begin_array();
    for each in catalog.texts().chain(KINDS.iter().map(|kind| kind.label())) {
        text(json, each);
    }
    json.end_array();
    json.end_object();
}

fn write_frames(
    json: &mut Writer<impl fmt::Write>,
    catalog: &Catalog,
    functions: &Functions,
    symbols: &Symbols,
    rows: &[Placed],
) {
    let frame = |placed: &Placed| catalog.frames()[placed.frame.row()];
    let address = |placed: &Placed| {
        // An address without its library would say nothing, and one that is no exact number in the viewer something wrong.
        let frame = frame(placed);
        frame.address.filter(|&address| frame.module != StringId::EMPTY && address < 1 << 53)
    };
    begin_table(json, "frameTable", rows.len());
    column(json, "address", rows.iter().map(|row| address(row).map_or(-1, |address| address as i64)));
    column(json, "inlineDepth", rows.iter().map(|row| row.depth));
    column(json, "category", rows.iter().map(|row| frame(row).origin as usize));
    column(json, "subcategory", rows.iter().map(|_| 0));
    column(json, "func", rows.iter().map(|row| functions.of_frame(row.frame)));
    column(json, "nativeSymbol", rows.iter().map(|row| OrNull(symbols.row(functions, row))));
    column(json, "innerWindowID", rows.iter().map(|_| "null"));
    column(json, "line", rows.iter().map(|row| OrNull(frame(row).line)));
    column(json, "column", rows.iter().map(|_| "null"));
    json.end_object();
}

fn write_functions(json: &mut Writer<impl fmt::Write>, functions: &Functions, modules: &Modules, sources: &Sources) {
    let rows = &functions.frames;
    begin_table(json, "funcTable", rows.len());
    column(json, "name", rows.iter().map(|function| function.function.0));
    for key in ["isJS", "relevantForJS"] {
        column(json, key, rows.iter().map(|_| "false"));
    }
    let resource = |module| modules.row(module).map_or(-1, |row| row as i64);
    column(json, "resource", rows.iter().map(|function| resource(function.module)));
    column(json, "source", rows.iter().map(|function| OrNull(sources.rows.get(&function.file))));
    for key in ["lineNumber", "columnNumber"] {
        column(json, key, rows.iter().map(|_| "null"));
    }
    json.end_object();
}

/// The source files of a catalog.
struct Sources {
    files: Vec<StringId>,
    rows: HashMap<StringId, usize, RandomState>,
}

impl Sources {
    fn of(functions: &Functions) -> Self {
        let mut sources = Self { files: Vec::new(), rows: HashMap::default() };
        for function in functions.frames.iter().filter(|function| function.file != StringId::EMPTY) {
            sources.rows.entry(function.file).or_insert_with(|| {
                sources.files.push(function.file);
                sources.files.len() - 1
            });
        }
        sources
    }
}

/// The functions that have code. By them the viewer knows which calls were inlined.
struct Symbols {
    /// Functions and the lowest address seen in each: where they begin is not known.
    functions: Vec<(u32, u64)>,
    rows: HashMap<u32, usize, RandomState>,
}

impl Symbols {
    fn of(catalog: &Catalog, modules: &Modules, functions: &Functions, rows: &[Placed]) -> Self {
        let mut symbols = Self { functions: Vec::new(), rows: HashMap::default() };
        for outer in rows.iter().map(|row| row.outer) {
            let frame = catalog.frames()[outer.row()];
            if modules.row(frame.module).is_none() {
                continue;
            }
            let address = frame.address.filter(|&address| address < 1 << 53).unwrap_or(0);
            let function = functions.of_frame(outer);
            let row = *symbols.rows.entry(function).or_insert_with(|| {
                symbols.functions.push((function, address));
                symbols.functions.len() - 1
            });
            let lowest = &mut symbols.functions[row].1;
            *lowest = address.min(*lowest);
        }
        symbols
    }

    fn row(&self, functions: &Functions, placed: &Placed) -> Option<usize> {
        self.rows.get(&functions.of_frame(placed.outer)).copied()
    }

    fn write(&self, json: &mut Writer<impl fmt::Write>, functions: &Functions, modules: &Modules) {
        let frames = || self.functions.iter().map(|&(function, _)| functions.frames[function as usize]);
        begin_table(json, "nativeSymbols", self.functions.len());
        column(json, "libIndex", frames().map(|frame| modules.row(frame.module).unwrap_or(0)));
        column(json, "address", self.functions.iter().map(|symbol| symbol.1));
        column(json, "name", frames().map(|frame| frame.function.0));
        column(json, "functionSize", self.functions.iter().map(|_| "null"));
        json.end_object();
    }
}
