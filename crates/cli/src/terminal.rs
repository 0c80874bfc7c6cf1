//! Abilities of the terminal, and messages to the user on standard error.

use std::io::{self, IsTerminal as _, Write as _};

use anstyle::{AnsiColor, Style};
use terminal_size::{Height, Width};

use crate::output::{cell::clean, wrap};

/// Messages on standard error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Messages {
    color: bool,
    /// Only errors are said, without what to do about them.
    quiet: bool,
}

impl Messages {
    /// Messages, coloured on a terminal that shows colours; if `quiet`, errors only.
    pub(crate) fn new(no_color: bool, quiet: bool) -> Self {
        Self { color: !no_color && shows_color(io::stderr().is_terminal()), quiet }
    }

    /// Something failed.
    pub(crate) fn error(&self, text: &str) {
        self.print("error", AnsiColor::Red, text);
    }

    /// What to do about it.
    pub(crate) fn hint(&self, text: &str) {
        self.say("hint", AnsiColor::Cyan, text);
    }

    /// Something is less than exact.
    pub(crate) fn warning(&self, text: &str) {
        self.say("warning", AnsiColor::Yellow, text);
    }

    /// Good to know.
    pub(crate) fn note(&self, text: &str) {
        self.say("note", AnsiColor::Cyan, text);
    }

    fn say(&self, label: &str, color: AnsiColor, text: &str) {
        if !self.quiet {
            self.print(label, color, text);
        }
    }

    /// The command that goes on from here, on a line that can be copied.
    pub(crate) fn next(&self, command: &str) {
        if !self.quiet {
            self.print_line("next", AnsiColor::Green, &clean(command));
        }
    }

    fn print(&self, label: &str, color: AnsiColor, text: &str) {
        let text = clean(text);
        match terminal_size::terminal_size_of(io::stderr()).map(columns) {
            Some(width) => self.print_line(label, color, &wrap::message(&text, label.len() + 2, width)),
            None => self.print_line(label, color, &text),
        }
    }

    fn print_line(&self, label: &str, color: AnsiColor, text: &str) {
        let style = if self.color { Style::new().bold().fg_color(Some(color.into())) } else { Style::new() };
        // Nobody is left to tell when standard error is gone.
        let _ = writeln!(io::stderr(), "{style}{label}{style:#}: {text}");
    }
}

/// Whether standard output shows colours.
pub(crate) fn stdout_shows_color(no_color: bool) -> bool {
    !no_color && shows_color(io::stdout().is_terminal())
}

fn shows_color(is_terminal: bool) -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    // A console of Windows has to be told to understand colours, and would show them as text if it does not.
    let understands = || anstyle_query::windows::enable_ansi_colors() != Some(false);
    is_terminal && !is_set("NO_COLOR") && !is_dumb() && understands()
}

/// Whether standard error shows bars, which are drawn again and again.
pub(crate) fn stderr_shows_bars() -> bool {
    io::stderr().is_terminal() && !is_dumb()
}

/// Whether the terminal says that it can do nothing but print.
fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Columns of the terminal behind standard output.
pub(crate) fn width() -> Option<usize> {
    terminal_size::terminal_size_of(io::stdout()).map(columns)
}

fn columns((width, _): (Width, Height)) -> usize {
    usize::from(width.0)
}
