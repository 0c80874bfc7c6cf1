//! `symbols load`: archives get the names of their code.

use std::io::{self, Write as _};

use tracesift_extract::symbols::load_symbols;

use crate::args::symbols::LoadArgs;
use crate::command::found;
use crate::command::symbols::{finder, found as said};
use crate::exit::Exit;
use crate::output::cell::clean;
use crate::progress::Progress;
use crate::terminal::Messages;

/// Names one archive after the other; their modules are searched side by side.
pub(super) fn run(args: &LoadArgs, messages: &Messages) -> anyhow::Result<Exit> {
    let (found, mut failed) = found::find(&args.files.inputs(), messages);
    for recording in &found.recordings {
        let path = recording.files.first().map(|path| path.display().to_string()).unwrap_or_default();
        messages.error(&format!("{path} is a recording and no archive"));
        messages.hint(&format!("`tracesift extract {path} --symbols {}` extracts and names it", args.symbols));
        failed += 1;
    }
    if found.archives.is_empty() {
        if failed == 0 {
            messages.error("there is no archive to name; `tracesift extract` makes them");
        }
        return Ok(Exit::NothingUsable);
    }
    let progress = Progress::new(found.archives.len());
    let finder = finder(&args.symbols, &[], args.sysroot.as_deref(), &args.search, &progress, messages)?;
    let mut named = 0;
    for archive in &found.archives {
        let result = load_symbols(archive, &finder);
        progress.done();
        match result {
            Ok(names) => {
                let line = format!("{}: {}", archive.display(), said(&names));
                progress.suspend(|| writeln!(io::stdout(), "{}", clean(&line)))?;
                named += 1;
            }
            Err(error) => {
                progress.suspend(|| messages.error(&error.to_string()));
                failed += 1;
            }
        }
    }
    Ok(Exit::of(named, failed))
}
