//! The questions: rows of one archive or of hundreds in, typed answers out. No terminal, no printing.
//!
//! Every question is a pure function from the rows of one recording to a [`answer::Section`]; [`ask()`] opens the
//! archives, runs it over them in parallel and puts the sections in order of time. A new question is a file in
//! [`question`] that implements [`Ask`], with its options ([`options::QuestionOptions`]), and a line of the list there.

pub mod absence;
pub mod answer;
mod ask;
pub mod asked;
pub mod candidates;
mod clock_rates;
pub mod column_choice;
pub mod columns;
pub mod command_line;
pub mod compare;
pub mod core_columns;
pub mod core_figures;
pub mod drivers;
pub mod etwanalyzer;
pub mod events;
pub mod explain;
pub mod filter;
pub mod granularity;
mod growth;
pub mod inputs;
pub mod inside;
mod inside_options;
pub mod keywords;
pub mod label_cut;
pub mod limit;
pub mod main_modules;
pub mod measure;
mod method_patterns;
pub mod module_columns;
pub mod needs;
pub mod nothing;
pub mod ntstatus;
pub mod options;
pub mod order;
mod over_files;
mod owned_rows;
pub mod path;
pub mod process_columns;
pub mod processes;
pub mod profile;
pub mod question;
pub mod recording;
pub mod recording_label;
mod regions;
pub mod runs;
pub mod shown;
mod sightings;
mod stack_ends;
mod stack_filter;
mod stack_labels;
mod stack_lines;
mod stack_names;
pub mod table_question;
pub mod tag_cache;
pub mod tag_files;
mod threads;
pub mod time_format;
pub mod time_spec;
mod time_windows;
pub mod totals;
pub mod tree;
pub mod usage_error;
pub mod user;
mod usual_options;
mod wait_reason;
pub mod words;
pub mod zero_time;

pub use ask::{Ask, Resolved, SeriesOptions, TimeOptions, When, WhenOptions, ask};
pub use inside_options::{InsideOptions, RegionOptions};
pub use method_patterns::MethodPatterns;
pub use usage_error::UsageError;
pub use usual_options::UsualOptions;
