//! Names of functions, each taken apart once.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use rayon::prelude::*;

use crate::names::split;
use crate::{Error, FunctionId, TableBuilder, demangle};

/// A function that nothing names.
const UNKNOWN: &str = "[unknown]";
/// What stands behind the name of a function that a stub calls.
pub(super) const STUB: &str = "@plt";
/// Bytes of all names together. Texts in files may overlap, so many entries could share one long text.
const MAX_BYTES: usize = 1 << 30;

/// Collects names.
#[derive(Debug)]
pub(super) struct Names<'a> {
    source: &'static str,
    /// By the place of their bytes in memory: linkers join texts that are the same, and what is left of them the table finds.
    numbers: HashMap<(usize, usize), u32, FixedState>,
    texts: Vec<&'a [u8]>,
}

impl<'a> Names<'a> {
    /// None yet; `source` is the word for where they come from.
    pub(super) fn new(source: &'static str) -> Self {
        Self { source, numbers: HashMap::default(), texts: Vec::new() }
    }

    /// The number of a name.
    pub(super) fn add(&mut self, name: &'a [u8]) -> u32 {
        *self.numbers.entry((name.as_ptr().addr(), name.len())).or_insert_with(|| {
            self.texts.push(name);
            u32::try_from(self.texts.len() - 1).unwrap_or(u32::MAX)
        })
    }

    /// The functions by the numbers of their names.
    pub(super) fn resolve(self, builder: &mut TableBuilder) -> Result<Vec<FunctionId>, Error> {
        if self.texts.iter().map(|text| text.len()).sum::<usize>() > MAX_BYTES {
            return Err(Error::Malformed("names that overlap".to_owned()));
        }
        /// Names at once, so that few of them are in memory twice.
        const CHUNK: usize = 1 << 14;
        let mut functions = Vec::with_capacity(self.texts.len());
        for texts in self.texts.chunks(CHUNK) {
            let names: Vec<_> = texts
                .par_iter()
                .with_min_len(64)
                .map(|text| {
                    let text = String::from_utf8_lossy(text);
                    // A stub is none of the functions of that name, whatever their arguments.
                    let (text, stub) = text.strip_suffix(STUB).map_or((&*text, ""), |name| (name, STUB));
                    let name = demangle(text);
                    let (function, arguments) = split(&name);
                    let arguments = arguments.filter(|_| stub.is_empty()).map(str::to_owned);
                    (format!("{function}{stub}"), arguments)
                })
                .collect();
            functions.extend(names.iter().map(|(function, arguments)| {
                let function = if function.is_empty() { UNKNOWN } else { function };
                builder.function(function, arguments.as_deref(), self.source)
            }));
        }
        Ok(functions)
    }
}
