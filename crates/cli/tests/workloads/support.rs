//! The program that is tested.

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs it in a directory, and keeps what it keeps there.
pub(crate) fn tracesift(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracesift"));
    command.current_dir(directory).env("XDG_CACHE_HOME", directory.join("cache"));
    command.args(arguments).stdin(Stdio::null()).output().unwrap()
}

/// Its messages.
pub(crate) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
