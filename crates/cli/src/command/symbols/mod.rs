//! `symbols`: names of code.

mod cache;
mod finder;
mod load;
mod lookup;

use tracesift_extract::symbols::Named;

use crate::args::Symbols;
use crate::command::dump::answer;
use crate::exit::Exit;
use crate::terminal::Messages;

pub(crate) use finder::finder;

/// Does what is asked.
pub(crate) fn run(action: &Symbols, no_color: bool, messages: &Messages) -> anyhow::Result<Exit> {
    match action {
        Symbols::Load(args) => load::run(args, messages),
        Symbols::Missing(args) => answer(args, no_color, None, messages),
        Symbols::Lookup(args) => lookup::run(args, no_color, messages),
        Symbols::Cache(args) => cache::run(args, no_color, messages),
    }
}

/// `12,345 of 12,400 frames named, 31 modules found, 4 not`
pub(crate) fn found(named: &Named) -> String {
    let missing = named.nameless.iter().filter(|module| module.reason.is_some()).count();
    let of = format!("{} of {} frames named", grouped(named.named), grouped(named.frames));
    let lines = match named.lines {
        0 => String::new(),
        lines => format!(", {} lines of managed code", grouped(lines)),
    };
    format!("{of}, {} modules found, {missing} not{lines}", named.modules)
}

/// Digits by thousands.
fn grouped(number: u64) -> String {
    use tracesift_ask::answer::{Kind, Value};
    let value = Value::Int(i64::try_from(number).unwrap_or(i64::MAX));
    crate::output::cell::text(&value, Kind::Count, tracesift_ask::time_format::TimeStyle::default(), None)
}
