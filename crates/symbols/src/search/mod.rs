//! The search for names, and its order: pure values, no file and no network.
//!
//! A [`SearchPath`] is what users write, a [`Scope`] what it means on this machine, a [`Lookup`] the search for one binary. Names
//! in identities come from strangers; whatever path is made of them is a [`Below`], which leads down from a directory of the user's and
//! nowhere else.

mod attempt;
mod below;
mod candidates;
mod file_name;
mod lookup;
mod origin;
mod path;
mod pointer;
mod request;
mod short_names;
mod wanted;

pub use attempt::{Attempt, Why};
pub use below::Below;
pub use candidates::Place;
pub use file_name::FileName;
pub use lookup::Lookup;
pub use origin::{Scope, Surroundings};
pub use path::{Element, PathError, SearchPath, Store};
pub use request::{Answer, Contents, FileNumber, Request, Step};
pub use short_names::{ShortNameError, ShortNames};
pub use wanted::{Identity, Image, Key, Source};
