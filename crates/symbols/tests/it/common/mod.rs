//! The shared symbol files, and tools that know their formats.

#![allow(dead_code, reason = "each test uses another part")]

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The folder with the shared symbol files; prints why and gives `None` when it is absent.
#[expect(clippy::print_stdout, reason = "a skipped test says so")]
pub(crate) fn cases() -> Option<PathBuf> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/cases/symbols"));
    if path.is_dir() {
        return Some(path);
    }
    println!("skipped: ../shared/cases is absent");
    None
}

/// Whether all of these programs are there; prints what is missing.
#[expect(clippy::print_stdout, reason = "a skipped test says so")]
pub(crate) fn have(tools: &[&str]) -> bool {
    tools.iter().all(|tool| {
        let there = Command::new(tool).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
        if !there {
            println!("skipped: {tool} is absent");
        }
        there
    })
}
pub(crate) mod second_opinion;
pub(crate) mod symbolizer;
