//! A report is one HTML file that people send to each other: it needs no network, and no script but for hovering, zooming, searching
//! and sorting.
//!
//! ```text
//!  a model of plain data ──► parts (a chart or a table each) ──► page: style, script, and the hashes that allow them
//! ```
//!
//! [`model`] is what a report is made of; it knows neither archives nor the command line. Each other file draws one part: `verdict`,
//! `strip`, `waterfall`, `bars`, `flame`, `table`, `changes`, `runs` and `method`. `page` puts them together. Every
//! number stands beside its raw value, in an attribute `data-v`, so that a program can read the page back.
//!
//! Names come out of recordings, so out of strangers' hands. All text goes through `html`, which escapes it. The page forbids itself
//! everything but its own style and script, by their hashes.

mod bars;
mod changes;
mod colours;
mod flame;
mod html;
mod method;
pub mod model;
pub mod numbers;
mod page;
mod runs;
mod scale;
mod strip;
mod table;
mod verdict;
mod waterfall;

pub use page::page;
