//! The server of the page that shows recordings: it listens on 127.0.0.1 only, and answers nobody but the page that it served.
//!
//! ```text
//! browser ──► serve (connections) ──► guard (who asks) ──► routes ──► work (two at a time, watched) ──► lanes, columns, ask …
//! ```
//!
//! The page names recordings `r0`, `r1` …, never a path, and nothing that it asks for writes. The questions of the command line come
//! in through [`Answers`], which the program implements: an answer has the bytes of `tracesift … --format json`.

mod answers;
mod ask;
mod assets;
mod at;
mod body;
mod failure;
mod flame;
mod frame;
#[doc(hidden)]
pub mod fuzzing;
mod guard;
mod kept;
mod lane;
mod open;
mod patient;
mod query;
mod recording;
mod routes;
mod search;
mod serve;
mod session;
mod spans;
mod state;
mod streamed;
mod token;
mod warm;
mod work;

pub use answers::{Answered, Answers, Refused};
pub use open::UrlFile;
pub use recording::{Given, TagFile};
pub use serve::{ServeError, Server, Settings};
pub use session::Start;
