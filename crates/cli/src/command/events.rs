//! `events`: single events of recordings, as they are.

use std::ops::ControlFlow;

use tracesift_ask::events::{Scanned, scan};
use tracesift_extract::input::{OpenOptions, Recording};
use tracesift_extract::{OpenedRecording, open, survey};

use crate::args::events::EventsArgs;
use crate::command::found;
use crate::exit::Exit;
use crate::output::events::EventWriter;
use crate::output::target::Target;
use crate::terminal::{self, Messages};

/// Events of which the notes at the end tell one by one.
const MAX_NOTES: usize = 10;

/// Prints the events.
pub(crate) fn run(args: &EventsArgs, messages: &Messages) -> anyhow::Result<Exit> {
    let (found, mut failed) = found::find_recordings(&args.inputs(), messages);
    if found::nothing_left(&found, failed, messages) {
        return Ok(Exit::NothingUsable);
    }
    for archive in &found.archives {
        failed += 1;
        messages.error(&format!(
            "{} is an archive, which does not keep single events; name its recording",
            archive.display()
        ));
    }
    if found.recordings.is_empty() {
        return Ok(Exit::NothingUsable);
    }
    let target = args.out.clone().map_or(Target::Stdout, Target::File);
    let width = if args.wide || !target.is_terminal() { None } else { terminal::width() };
    let (mut usable, mut events) = (0, 0);
    target.write(|out| {
        let mut writer = EventWriter::new(out, args.format, width)?;
        let mut left = args.limit.unwrap_or(u64::MAX);
        for recording in &found.recordings {
            if left == 0 {
                break;
            }
            let opened = match open_named(recording) {
                Ok(opened) => opened,
                Err(error) => {
                    failed += 1;
                    messages.error(&error.to_string());
                    continue;
                }
            };
            usable += 1;
            let alone = found.recordings.len() == 1 && opened.len() == 1;
            for opened in &opened {
                if left == 0 {
                    break;
                }
                writer.recording(&opened.name, alone)?;
                let scanned = print(opened, args, &mut left, &mut writer)?;
                events += scanned.events;
                note_unreadable(&scanned, messages);
            }
        }
        writer.finish()?;
        Ok(())
    })?;
    if usable > 0 && events == 0 {
        messages.note("no event passes the filters");
    }
    Ok(Exit::of(usable, failed))
}

fn open_named(recording: &Recording) -> anyhow::Result<Vec<OpenedRecording>> {
    Ok(open(recording, &OpenOptions::default())?)
}

fn print(
    opened: &OpenedRecording,
    args: &EventsArgs,
    left: &mut u64,
    writer: &mut EventWriter<'_>,
) -> anyhow::Result<Scanned> {
    let mut survey = survey(&opened.files)?;
    let mut failure = None;
    let scanned = scan(&opened.files, &mut survey, &args.filter(), &mut |event| {
        if let Err(error) = writer.event(event) {
            failure = Some(anyhow::Error::from(error));
            return ControlFlow::Break(());
        }
        *left -= 1;
        if *left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    failure.map_or(Ok(scanned), Err)
}

/// Says which events could not be taken apart.
fn note_unreadable(scanned: &Scanned, messages: &Messages) {
    for ((provider, event), unreadable) in scanned.unreadable.iter().take(MAX_NOTES) {
        if unreadable.without_schema > 0 {
            messages
                .note(&format!("{provider}/{event}: {} events without a schema, shown raw", unreadable.without_schema));
        }
        if let Some(example) = &unreadable.example {
            messages.note(&format!(
                "{provider}/{event}: {} events do not fit their schema ({example})",
                unreadable.misfits
            ));
        }
    }
    if scanned.unreadable.len() > MAX_NOTES {
        messages.note(&format!("{} further kinds of events are shown raw", scanned.unreadable.len() - MAX_NOTES));
    }
}
