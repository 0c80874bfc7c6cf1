//! Recordings and archives that a test makes.
