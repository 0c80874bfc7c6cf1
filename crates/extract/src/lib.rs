//! Turns recordings into archives: inputs, readers, model and summaries wired together.

mod caveats;
mod clock;
mod error;
pub mod event_kinds;
mod event_selection;
mod events;
mod image_files;
pub mod input;
mod inventory;
mod kept_rows;
mod large_blocks;
mod machine;
mod opened;
mod paths;
mod perf;
mod pipeline;
mod progress;
mod row_writer;
mod scan_ahead;
pub mod stack_methods;
mod summaries;
mod survey;
pub mod symbols;
mod table_choice;
mod target;

pub use error::{Error, ReaderError};
pub use event_selection::{EventSelection, EventSelectionError};
pub use large_blocks::give_back_large_blocks;
pub use machine::Machine;
pub use opened::{Files, OpenedFile, OpenedRecording, open, open_file};
pub use perf::{LinuxSurvey, events as linux_events, survey_linux};
pub use pipeline::{Budget, Report};
pub use progress::{Step, Watch};
pub use survey::{Survey, survey};
pub use table_choice::{OPTIONAL_TABLES, TableChoice, TableChoiceError};
pub use target::{Extraction, Options, Outcome, extract, is_done, unwatched};
