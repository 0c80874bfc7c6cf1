//! The keys of the columns of events, by which [`Keys`](tracesift_archive::Keys) shows them.

use tracesift_trace::schema::column_key;

pub(crate) const TIME: u64 = column_key("time");
pub(crate) const CPU: u64 = column_key("cpu");
pub(crate) const PROCESS: u64 = column_key("process");
pub(crate) const THREAD: u64 = column_key("thread");
pub(crate) const PROVIDER: u64 = column_key("provider");
pub(crate) const EVENT: u64 = column_key("event");
pub(crate) const ID: u64 = column_key("id");
pub(crate) const VERSION: u64 = column_key("version");
pub(crate) const OPCODE: u64 = column_key("opcode");
pub(crate) const LEVEL: u64 = column_key("level");
pub(crate) const ACTIVITY: u64 = column_key("activity");
pub(crate) const STACK: u64 = column_key("stack");
pub(crate) const GUID: u64 = column_key("guid");
