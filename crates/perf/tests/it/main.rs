//! The reader of perf.data files, against reference decodes, independent walks, and damage.

mod ahead;
mod byte_order;
mod common;
mod corpus;
mod counts;
mod golden_header;
mod golden_records;
mod golden_tracepoints;
mod hostile;
mod order;
mod outline;
