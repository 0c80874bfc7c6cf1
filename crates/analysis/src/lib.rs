//! What the numbers mean: pure functions over the rows of a recording.
