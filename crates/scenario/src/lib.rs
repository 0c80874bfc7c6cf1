//! Writes synthetic recordings in which every figure is known.
