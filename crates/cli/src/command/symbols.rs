//! `symbols`: names of code.

use tracesift_extract::symbols::Named;

use crate::args::Symbols;
use crate::command::dump::{Printer, ask_archives};
use crate::exit::Exit;
use crate::terminal::Messages;

/// Does what is asked.
pub(crate) fn run(action: &Symbols, no_color: bool, messages: &Messages) -> anyhow::Result<Exit> {
    match action {
        Symbols::Missing(args) => {
            let printer = Printer::new(&args.output, no_color)?;
            ask_archives((&args.files, &args.runs, &args.output), &args.question(), &printer, messages)
        }
    }
}

/// `12,345 of 12,400 frames named, 31 modules found, 4 not`
pub(crate) fn found(named: &Named) -> String {
    let missing = named.nameless.iter().filter(|module| module.reason.is_some()).count();
    format!("{} of {} frames named, {} modules found, {missing} not", named.named, named.frames, named.modules)
}
