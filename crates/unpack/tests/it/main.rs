//! Care for the decoders of packed files.

mod looping;
