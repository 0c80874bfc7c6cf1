//! Call trees: where time was spent, from the outermost function inwards, or from the innermost outwards.
//!
//! * [`path`]: what one stack is in the tree: which frames are lines, and in which order
//! * [`tree`]: the lines with their time, added up
//! * [`lines`]: the tree as a reader sees it, in order, small lines summed up
//!
//! Nothing here loses time: the own times of all lines add up to the total, whatever was folded, cut off or summed up.

pub mod lines;
pub mod path;
pub mod tree;

pub use lines::{Limits, Line, What};
pub use path::{Direction, Role, Shape, Step};
pub use tree::CallTree;
