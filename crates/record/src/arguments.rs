//! Command lines of the processes that run while something is recorded: perf notes the name of a program and not its arguments.
//!
//! They are looked at when the recorder is at work, and from time to time: what starts and ends between two looks has none.

use std::collections::HashMap;
use std::fs;
use std::io::Read as _;

use crate::facts::{Instant, ProcessFacts};

/// Bytes of a command line; the rest of a longer one is left out.
const LONGEST: u64 = 2048;
/// Bytes of all command lines.
const MOST_BYTES: usize = 1 << 20;
/// Command lines that are kept.
const MOST: usize = 8192;
/// Looks at a process that is new: it has its creator's command line until it starts a program of its own.
const NEW: u8 = 3;
/// Ticks between two looks at all processes: they may start another program.
const ALL: u32 = 20;
/// Processes that are looked at again.
const MOST_AGAIN: usize = 2000;

/// What was noted until now.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    noted: Vec<ProcessFacts>,
    bytes: usize,
    /// Processes that are there, as they were at the last look.
    known: HashMap<u32, Known>,
    /// The last process id that was given out.
    last: Option<String>,
    ticks: u32,
}

#[derive(Debug, Default)]
struct Known {
    command_line: String,
    looks: u8,
}

impl Arguments {
    /// Looks at all processes; the recorder is at work.
    pub(crate) fn begin() -> Self {
        let mut arguments = Self { last: last_process(), ..Self::default() };
        arguments.look(true);
        arguments
    }

    /// Looks at what is new. To be called some twenty times per second.
    pub(crate) fn tick(&mut self) {
        self.ticks = self.ticks.wrapping_add(1);
        let again = self.ticks.is_multiple_of(ALL) && self.known.len() <= MOST_AGAIN;
        let last = last_process();
        if again || last != self.last || self.known.values().any(|known| known.looks < NEW) {
            self.last = last;
            self.look(again);
        }
    }

    /// The command lines in the order in which they were seen.
    pub(crate) fn finish(self) -> Vec<ProcessFacts> {
        self.noted
    }

    fn look(&mut self, again: bool) {
        if self.noted.len() >= MOST || self.bytes >= MOST_BYTES {
            return;
        }
        let mut before = std::mem::take(&mut self.known);
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
            let mut known = before.remove(&pid).unwrap_or_default();
            if again || known.looks < NEW {
                known.looks = known.looks.saturating_add(1).min(NEW);
                let text = command_line(pid).filter(|text| *text != known.command_line);
                if let Some(text) = text {
                    // After it was read, so that it cannot be that of a program which was started later.
                    self.note(pid, &text);
                    known.command_line = text;
                }
            }
            self.known.insert(pid, known);
        }
    }

    fn note(&mut self, pid: u32, command_line: &str) {
        let Instant { clock: Some(_), clock_ns: Some(seen_ns), .. } = Instant::now() else { return };
        if self.noted.len() < MOST && self.bytes.saturating_add(command_line.len()) <= MOST_BYTES {
            self.bytes += command_line.len();
            self.noted.push(ProcessFacts { pid, seen_ns, command_line: command_line.to_owned() });
        }
    }
}

/// The last process id that was given out: while it stays, nothing was started.
fn last_process() -> Option<String> {
    let load = fs::read_to_string("/proc/loadavg").ok()?;
    load.split_whitespace().last().map(str::to_owned)
}

/// The arguments of a process, as one would type them. The kernel's own threads have none, nor have processes that have ended.
fn command_line(pid: u32) -> Option<String> {
    let mut bytes = Vec::new();
    fs::File::open(format!("/proc/{pid}/cmdline")).ok()?.take(LONGEST).read_to_end(&mut bytes).ok()?;
    Some(joined(&bytes)).filter(|text| !text.is_empty())
}

/// Arguments that end with a 0 each, as one text. Those that a shell would take apart are in quotes.
fn joined(bytes: &[u8]) -> String {
    let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let text = String::from_utf8_lossy(bytes.get(..end).unwrap_or_default());
    if !text.contains('\0') {
        // A program that shows something else there writes one text.
        return text.into_owned();
    }
    let plain = |argument: &str| {
        let is_plain =
            |byte: u8| byte.is_ascii_alphanumeric() || b"-_=+./:,@%^[]{}~#".contains(&byte) || !byte.is_ascii();
        !argument.is_empty() && argument.bytes().all(is_plain)
    };
    let quoted = |argument: &str| {
        if plain(argument) { argument.to_owned() } else { format!("'{}'", argument.replace('\'', "'\\''")) }
    };
    text.split('\0').map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_one_text_that_a_shell_would_take_apart_again() {
        for (bytes, text) in [
            (&b"python3\0prod.py\0"[..], "python3 prod.py"),
            (b"sh\0-c\0echo 'a b'; ls\0", r"sh -c 'echo '\''a b'\''; ls'"),
            (b"a\0\0b\0", "a '' b"),
            (b"nginx: master process\0\0\0\0", "nginx: master process"),
            (b"cut\0in the mid", "cut 'in the mid'"),
            (b"", ""),
            (b"\0\0", ""),
            (b"a\0\xff\0", "a \u{fffd}"),
        ] {
            assert_eq!(joined(bytes), text);
        }
    }

    #[test]
    fn this_process_is_noted_once() {
        let mut arguments = Arguments::begin();
        (0..ALL + 1).for_each(|_| arguments.tick());
        let noted = arguments.finish();
        let own: Vec<_> = noted.iter().filter(|facts| facts.pid == std::process::id()).collect();
        let [own] = own[..] else { panic!("{own:?}") };
        let program = std::env::args().next().unwrap();
        assert!(own.command_line.starts_with(&program), "{own:?}");
    }
}
