//! `record --status`: what was started, what killed recordings left, and how much room there is.

use std::io::{self, Write as _};
use std::path::Path;

use tracesift_ask::command_line;
use tracesift_ask::recording_label::path_text;
use tracesift_record::disk_space::{self, Growth};
use tracesift_record::session::{Course, Session, Status};
use tracesift_record::{Leftover, Options, leftovers};

use crate::command::extract::size;
use crate::exit::Exit;
use crate::output::cell;
use crate::terminal::Messages;

/// Less time than this until the disk is full is too little.
const LITTLE_TIME: u64 = 60;

/// Tells of the recording that was started, and of leftovers.
pub(super) fn run(messages: &Messages) -> anyhow::Result<Exit> {
    let status = Session::of_this_user()?.status();
    match &status {
        None => messages.note("no recording is running"),
        Some(status) => tell(status, messages)?,
    }
    let beside = status.as_ref().and_then(|status| status.output.parent()).map(Path::to_owned);
    let here = std::env::current_dir().unwrap_or_default();
    say_leftovers(&here, None, messages);
    if let Some(beside) = beside.filter(|beside| *beside != here) {
        say_leftovers(&beside, None, messages);
    }
    let records = status.is_some_and(|status| status.course == Course::Records);
    Ok(if records { Exit::Fine } else { Exit::NothingUsable })
}

fn tell(status: &Status, messages: &Messages) -> anyhow::Result<()> {
    let output = near(&status.output);
    let since = &status.since;
    match status.course {
        Course::Records => {
            let marks = if status.marks == 1 { "1 mark".to_owned() } else { format!("{} marks", status.marks) };
            let room =
                disk_space::left(&status.output).map(|left| format!("; {} are free", size(left))).unwrap_or_default();
            let line = format!("recording since {since} into {output}: {} so far, {marks}{room}", size(status.bytes));
            writeln!(io::stdout(), "{}", cell::clean(&line))?;
            messages.next("tracesift record --stop   (or --mark TEXT, --cancel)");
        }
        Course::Ended => {
            let line = format!("the recording that was started at {since} has ended: {output}, {}", size(status.bytes));
            writeln!(io::stdout(), "{}", cell::clean(&line))?;
            messages.next("tracesift record --stop   (says how it ended)");
        }
        Course::Gone => messages.warning(&format!(
            "the recording that was started at {since} into {output} was killed, or the machine was started anew"
        )),
    }
    Ok(())
}

/// What killed recordings left in a directory, and what to do about it. A recording of the same name removes what it left there.
pub(super) fn say_leftovers(directory: &Path, output: Option<&Path>, messages: &Messages) {
    let name = output.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    for leftover in leftovers(directory) {
        let Leftover { directory, bytes, recording, .. } = &leftover;
        if name.as_ref() == Some(&leftover.name) {
            messages.note(&format!(
                "{} ({}), left by a recording that was killed, is removed",
                near(directory),
                size(*bytes)
            ));
            continue;
        }
        messages.warning(&format!("{} ({}) was left by a recording that was killed", near(directory), size(*bytes)));
        let remove = if cfg!(windows) { "rmdir /s" } else { "rm -r" };
        let remove = format!("`{remove} {}` removes it", command_line::quoted(&near(directory)));
        messages.note(&match recording {
            Some(recording) => format!(
                "`tracesift extract {} --out .` reads what it has; {remove}",
                command_line::quoted(&near(recording))
            ),
            None => remove,
        });
    }
}

/// How fast a recording grows, and how long that can go on.
pub(super) fn room_text(options: &Options, output: &Path) -> String {
    let Growth { least, most } = growth(options);
    let mut text = format!("grows by about {} to {} a second", size(least), size(most));
    if options.ring.is_some() {
        text = "stays in memory until it ends".to_owned();
    }
    let room = disk_space::left(output)
        .map_or_else(String::new, |left| format!("; {} are free where it is written", size(left)));
    format!("the recording {text}{room}")
}

/// Says that the disk may soon be full.
pub(super) fn warn_of_little_room(options: &Options, output: &Path, messages: &Messages) {
    let growth = growth(options);
    let (Some(left), None) = (disk_space::left(output), options.ring) else { return };
    if left < growth.most.saturating_mul(LITTLE_TIME) && options.rotation.is_none_or(|rotation| rotation.keep.is_none())
    {
        let seconds = |per_second: u64| left / per_second.max(1);
        messages.warning(&format!(
            "{} are free where the recording is written: full after about {} to {} s",
            size(left),
            seconds(growth.most),
            seconds(growth.least)
        ));
    }
}

/// On this machine.
pub(crate) fn growth(options: &Options) -> Growth {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    disk_space::growth(options, u32::try_from(cpus).unwrap_or(u32::MAX))
}

/// A path as one would name it from here.
pub(super) fn near(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    path_text(path.strip_prefix(here).unwrap_or(path))
}
