//! The programs that are recorded.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock};

/// One recording at a time: each sees all that the machine does.
pub(crate) static RECORDING: Mutex<()> = Mutex::new(());

/// The program: it lies where that of the tests does, and is built there if it does not.
pub(crate) fn workload(name: &str) -> PathBuf {
    static BUILT: OnceLock<()> = OnceLock::new();
    let directory = Path::new(env!("CARGO_BIN_EXE_tracesift")).parent().unwrap();
    let path = directory.join(name);
    if !path.exists() {
        BUILT.get_or_init(|| build(directory));
    }
    assert!(path.exists(), "{}", path.display());
    path
}

fn build(directory: &Path) {
    // Debug builds are those of the profile `dev`, and lie in `debug`.
    let profile = match directory.file_name().unwrap().to_str().unwrap() {
        "debug" => "dev",
        other => other,
    };
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--locked", "-p", "tracesift-workloads", "--profile", profile])
        .args(["--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml"), "--target-dir"])
        .arg(directory.parent().unwrap())
        .status()
        .unwrap();
    assert!(status.success());
}
