//! ETWAnalyzer's extracts as archives, so that stores which were made with it stay queryable.
//!
//! Such an extract is one JSON document with the sums of a whole recording, and a few more beside it (`X_Derived_*.json`), loose or
//! together in a 7z container (`X.json7z`). It holds no events, so what comes out is an archive of summaries: processes, CPU per
//! process, CPU, wait and ready per method, modules, marks, disk operations, connections, DNS queries, memory, power settings. What
//! ETWAnalyzer did not write down is null, or said in a caveat.
//!
//! Data flows one way: `source` finds and opens the documents, [`document`] is what stands in them, [`Extract`] what it means as rows, and
//! [`import()`] writes these. Files come from strangers: their size, their depth and the number of their elements have
//! limits, and a row that makes no sense is counted and left out.

mod bounded;
mod caveats;
mod costs;
pub mod document;
mod error;
mod extract;
mod identity;
mod import;
mod limits;
mod machine;
mod methods;
mod modules;
mod processes;
mod sections;
mod source;
mod tags;
mod time;
mod values;

pub use error::Error;
pub use extract::Extract;
pub use import::{Options, Outcome, Report, import};
pub use limits::Limits;
pub use source::main_of_part;
pub use tags::{TagRow, TagSource};
