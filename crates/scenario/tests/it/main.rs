//! Synthetic recordings, against the truth that comes with them.

mod causal;
mod files;
mod linux;
mod scale;
mod story;
mod symbol_files;
mod truth;
