//! The reader and the writer of ETL files, against real recordings, other readers, and damage.

#![expect(clippy::unwrap_used, reason = "the helpers of a test fail as the test does: by panicking")]

mod common;
mod container_compression;
mod container_corpus;
mod container_counts;
mod container_damage;
mod container_records;
mod dissect;
mod payloads;
mod schema_tables;
mod schemas;
