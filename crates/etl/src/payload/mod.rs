//! Event payloads, typed.
