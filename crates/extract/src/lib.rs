//! Turns recordings into archives: inputs, readers, model and summaries wired together.
