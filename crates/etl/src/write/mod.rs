//! Writes recordings.
