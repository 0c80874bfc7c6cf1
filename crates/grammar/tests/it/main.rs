//! Words that people type, against the plainest possible readers of them.

mod patterns;
