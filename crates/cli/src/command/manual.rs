//! `completions` and `man`, both made from the definition of the command line.

use std::io::{self, Write as _};
use std::path::Path;

use anyhow::Context as _;
use clap::CommandFactory as _;

use crate::args::Cli;
use crate::exit::Exit;

/// Prints the completion script of a shell.
pub(crate) fn completions(shell: clap_complete::Shell) -> anyhow::Result<Exit> {
    // The generator panics when it cannot write, so it writes into memory.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "tracesift", &mut script);
    io::stdout().write_all(&script)?;
    Ok(Exit::Fine)
}

/// Writes a page per command into a directory, or prints the main page.
pub(crate) fn pages(out: Option<&Path>) -> anyhow::Result<Exit> {
    match out {
        Some(directory) => {
            let cannot = || format!("cannot write the manual pages to {}", directory.display());
            std::fs::create_dir_all(directory).with_context(cannot)?;
            clap_mangen::generate_to(Cli::command(), directory).with_context(cannot)?;
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut page)?;
            io::stdout().write_all(&page)?;
        }
    }
    Ok(Exit::Fine)
}
