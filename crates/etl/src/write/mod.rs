//! Writes recordings.
//!
//! A [`Writer`] streams records into per-CPU buffers and the buffers into any `Write + Seek`, so that memory stays at one
//! open buffer per CPU however long the recording is. The result is a true `.etl`: header buffer, sequence numbers,
//! record alignment and filler as the kernel writes them; on request with compressed buffers as the merge tool writes
//! them, with 32-bit records, or with the buffer headers of Windows 7.
//!
//! [`payload`] encodes the payloads of the kernel and .NET events; a [`Head`] says which header a record gets.

pub mod payload;

mod buffer;
mod head;
mod pointer_size;
mod session;
mod writer;
mod xpress;

pub use head::{Extended, Head, Hook};
pub use pointer_size::PointerSize;
pub use session::{Clock, CpuNumbering, SessionOptions};
pub use writer::{WriteError, Writer};
pub use xpress::Compressor;

#[cfg(test)]
mod tests;
