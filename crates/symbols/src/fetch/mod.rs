//! The driver: files, servers and the cache for look-ups.
//!
//! Why not the crate `symsrv`: it asks with `reqwest` and `tokio`, without any time-out or bound on what comes, begins anew what broke off, does
//! not remember what was not there, and takes whatever a server answers for the file. What is left to take over is the grammar of the search
//! path and the names in a store, which here belong to the machine that is tested without a network (`search`).
//!
//! What a server sends is not believed: it goes into a part of our own (`part`), must begin as the wanted format does, is read, and only when the
//! reader has found the wanted identity in it, and names, it gets its name in a store.

mod directories;
mod download;
mod driver;
mod expand;
mod hosts;
mod http;
mod misses;
mod part;
mod permits;
mod readers;
mod resolve;
mod store;
mod unidentified;

pub use directories::{beside, default_directory, short_names, short_names_file};
pub use http::Limits;
pub use readers::{DownloadNumber, Names, Observer, Readers, Reading, Silence};
pub use resolve::{Options, Resolution, Symbols};
