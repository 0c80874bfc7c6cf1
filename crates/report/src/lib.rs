//! A report is one HTML file that people send to each other: it needs no network, and no script but for hovering, zooming, searching
//! and sorting.
//!
//! ```text
//!  a model of plain data ──► parts (a chart or a table each) ──► page: style, script, and the hashes that allow them
//! ```
//!
//! [`model`] is what reports are made of; it knows neither archives nor the command line. `comparison`, `history` and `explanation`
//! are the pages, with a file for each of their parts. `frame` is what they have in common. Every number stands beside its raw value,
//! in an attribute `data-v`, so that a program can read the page back.
//!
//! Names come out of recordings, so out of strangers' hands. All text goes through `html`, which escapes it. The page forbids itself
//! everything but its own style and script, by their hashes.

mod colours;
mod comparison;
mod explanation;
mod figures;
mod frame;
mod history;
mod html;
pub mod model;
pub mod numbers;
mod picture;
mod scale;
mod waterfall;

pub use comparison::page as comparison_page;
pub use explanation::page as explanation_page;
pub use history::page as history_page;
