//! The timeline tables of an archive: figures of all lanes by buckets of 2^k ns, in levels of ever longer buckets.
//!
//! ```text
//! rows of some neighbouring buckets ──► Window ──► tiles of level 0 ──► Timelines ──► tiles of all levels, in the order of rows
//! ```
//!
//! A recording is taken window by window. Within a window a piece of time is added to its two ends, whatever its length, and what
//! lies between is made of differences. A thread that sleeps all through a window takes no memory for its buckets.

mod cells;
mod cover;
mod levels;
mod pyramid;
mod tables;
mod tile;
mod tops;
mod window;

pub use cover::{Cover, Wanted};
pub use levels::{BLOCK, LEVEL_OF_THREADS, Levels, Limits};
pub use tables::{
    CpuTile, DiskTile, EventTile, ProcessTile, ThreadTile, TileTarget, Timelines, cpu_row, disk_row, process_row,
    thread_row,
};
pub use tile::Tile;
pub use window::{SwitchOnCpu, TiledLanes, TiledOperation, TiledSample, Window, WindowTiles};
