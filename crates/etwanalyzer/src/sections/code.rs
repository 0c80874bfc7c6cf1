//! Code of which an extract has the names alone: a frame per name.

use rustc_hash::FxHashMap;
use tracesift_trace::FrameId;
use tracesift_trace::rows::{FrameRow, SymbolRow};

use crate::methods;

/// Names in the symbols of an import come from the extract.
const SOURCE: &str = "etwanalyzer";

/// The frames of all sections.
#[derive(Debug, Default)]
pub(crate) struct NamedCode {
    known: FxHashMap<String, FrameId>,
    /// Table `frames`.
    pub(crate) frames: Vec<FrameRow>,
    /// Table `symbols`.
    pub(crate) symbols: Vec<SymbolRow>,
}

impl NamedCode {
    /// The frame of a name.
    pub(super) fn frame(&mut self, name: &str) -> FrameId {
        if let Some(frame) = self.known.get(name) {
            return *frame;
        }
        let frame = FrameId::from_index(self.frames.len());
        self.known.insert(name.to_owned(), frame);
        let (name, arguments) = methods::with_arguments(name);
        self.frames.push(FrameRow { frame, ..FrameRow::default() });
        self.symbols.push(SymbolRow {
            frame,
            module: name.module.map(str::to_owned),
            function: name.function.to_owned(),
            arguments: arguments.map(str::to_owned),
            source: SOURCE.to_owned(),
            ..SymbolRow::default()
        });
        frame
    }
}
