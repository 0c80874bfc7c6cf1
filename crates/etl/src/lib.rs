//! Reads and writes Windows ETW recordings (.etl) on any OS, without any Windows API.

pub mod payload;
pub mod write;
