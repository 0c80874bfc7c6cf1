//! `events`: single events of recordings, as they are.

use std::ops::ControlFlow;

use chrono::Local;
use tracesift_archive::Archive;
use tracesift_ask::Reads;
use tracesift_ask::events::{
    EventFilter, EventLine, Scanned, Search, scan, scan_archive, time_in_archive, time_in_recording,
};
use tracesift_ask::recording::{Source, name_of};
use tracesift_ask::recording_label::is_imported;
use tracesift_extract::event_kinds::KERNEL_PROVIDER;
use tracesift_extract::input::{InputRecording, OpenOptions};
use tracesift_extract::linux_events::PERF;
use tracesift_extract::{EventSelection, open};
use tracesift_grammar::TimeRange;

use crate::args::events::EventsArgs;
use crate::command::found;
use crate::command::temporary::TemporaryArchives;
use crate::exit::Exit;
use crate::output::events::EventWriter;
use crate::output::target::Target;
use crate::terminal::{self, Messages};
use crate::watching;

/// Events of which the notes at the end tell one by one.
const MAX_NOTES: usize = 10;

/// Prints the events.
pub(crate) fn run(args: &EventsArgs, messages: &Messages) -> anyhow::Result<Exit> {
    let format = args.format()?;
    let (mut found, failed) = found::find_events(&args.files.inputs(), messages);
    found::keep_selected(&mut found, &args.runs.selection(Local::now().naive_local()));
    if found::nothing_left(&found, failed, messages) {
        return Ok(Exit::NothingUsable);
    }
    let (recordings, temporary) = if args.needs_stacks() {
        let chosen = EventSelection::Chosen(args.filter().choice());
        (Vec::new(), TemporaryArchives::of(&found.recordings, (chosen, Reads::Everything), messages)?)
    } else {
        (found.recordings, TemporaryArchives::default())
    };
    let archives = found.archives.into_iter().map(Source::archive);
    let mut sources: Vec<Source> = temporary.sources.iter().cloned().chain(archives).collect();
    // A recording is read without a look at any watch: Ctrl-C then ends the program.
    if recordings.is_empty() {
        sources = sources.into_iter().map(|source| source.watched_by(watching::watch())).collect();
    }
    let target = args.out.clone().map_or(Target::Stdout, Target::File);
    let width = if args.wide || !target.is_terminal() { None } else { terminal::width() };
    let failed = failed + temporary.failed;
    target.write(|out| {
        let writer = EventWriter::new(out, format, width)?;
        let left = args.limit.unwrap_or(u64::MAX);
        let alone = recordings.len() + sources.len() == 1;
        let mut printer =
            Printer { args, messages, writer, left, alone, usable: 0, failed, events: 0, why: Vec::new() };
        for recording in &recordings {
            printer.recording(recording)?;
        }
        for source in &sources {
            printer.archive(source)?;
        }
        printer.finish()
    })
}

/// Prints the events of one input after the other.
struct Printer<'a, 'o> {
    args: &'a EventsArgs,
    messages: &'a Messages,
    writer: EventWriter<'o>,
    /// Events that may still be printed.
    left: u64,
    /// There is one input only.
    alone: bool,
    usable: usize,
    failed: usize,
    events: u64,
    /// Why the only input had no event that passes.
    why: Vec<String>,
}

impl Printer<'_, '_> {
    /// A recording, while it is read.
    fn recording(&mut self, recording: &InputRecording) -> anyhow::Result<()> {
        if self.left == 0 {
            return Ok(());
        }
        let opened = match open(recording, &OpenOptions::default()) {
            Ok(opened) => opened,
            Err(error) => return self.fail(&error),
        };
        for one in &opened {
            if self.left == 0 {
                break;
            }
            self.usable += 1;
            self.writer.recording(&one.name, self.alone && opened.len() == 1)?;
            match time_in_recording(one, self.args.time.time) {
                Ok(time) => self.print(time, |filter, visit| Ok(scan(&one.files, filter, visit)?))?,
                Err(reason) => {
                    self.usable -= 1;
                    self.fail(&reason)?;
                }
            }
        }
        Ok(())
    }

    fn archive(&mut self, source: &Source) -> anyhow::Result<()> {
        if self.left == 0 {
            return Ok(());
        }
        let archive = match Archive::open(&source.archive) {
            Ok(archive) => archive.watched_by(&source.watch),
            Err(error) => return self.fail(&error),
        };
        source.watch.check()?;
        self.usable += 1;
        self.writer.recording(&name_of(&source.shown), self.alone)?;
        let info = archive.info();
        match is_imported(info) {
            true => {
                self.messages.note(&format!("{} was imported from sums, and has no events", source.shown.display()))
            }
            false => self.note_selection(&source.shown.display(), &info.events, &info.kind),
        }
        let time = match time_in_archive(info, &info.name, self.args.time.time) {
            Ok(time) => time,
            Err(reason) => {
                self.usable -= 1;
                return self.fail(&reason);
            }
        };
        let stacks = self.args.stacks;
        match self.print(time, |filter, visit| Ok(scan_archive(&archive, filter, stacks, visit)?)) {
            Err(error) if error.is::<tracesift_archive::Error>() && !source.watch.is_cancelled() => {
                self.usable -= 1;
                self.fail(&error)
            }
            printed => printed,
        }
    }

    fn print(
        &mut self,
        time: TimeRange,
        scan: impl Fn(&EventFilter, &mut dyn FnMut(&EventLine<'_>) -> ControlFlow<()>) -> anyhow::Result<Scanned>,
    ) -> anyhow::Result<()> {
        let mut failure = None;
        let filter = EventFilter { time, ..self.args.filter() };
        let scanned = scan(&filter, &mut |event| {
            if let Err(error) = self.writer.event(event) {
                failure = Some(anyhow::Error::from(error));
                return ControlFlow::Break(());
            }
            self.left -= 1;
            if self.left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if let Some(failure) = failure {
            return Err(failure);
        }
        let scanned = scanned?;
        self.events += scanned.events;
        if scanned.events == 0 && self.alone {
            let mut search = Search::new(&filter);
            scan(&EventFilter::default(), &mut |event| search.event(event))?;
            self.why = search.why(scanned.candidates.clone());
        }
        note_unreadable(&scanned, self.messages);
        for (field, name) in &scanned.named_fields {
            self.messages
                .note(&format!("{field}: archives keep the names of values, such as {name}; compare with those"));
        }
        Ok(())
    }

    fn fail(&mut self, error: &dyn std::fmt::Display) -> anyhow::Result<()> {
        self.failed += 1;
        self.messages.error(&error.to_string());
        Ok(())
    }

    /// Says which events an archive does not have.
    fn note_selection(&self, shown: &dyn std::fmt::Display, selection: &str, kind: &str) {
        let missing = match (selection, kind) {
            ("all" | "chosen", _) => return,
            ("default", "perf") if self.args.excludes(&[PERF, "sched"]) => return,
            ("default", "perf") => {
                "keeps no samples, switches and wake-ups, and none of perf's own records, one by one"
            }
            ("default", _) if self.args.excludes(&[KERNEL_PROVIDER]) => return,
            ("default", _) => "keeps the events of providers only, none of the kernel's",
            _ => "keeps no single events",
        };
        self.messages.note(&format!("{shown} {missing}"));
        self.messages.hint("`tracesift extract --events all` keeps all");
    }

    fn finish(self) -> anyhow::Result<Exit> {
        if self.writer.finish()? {
            self.messages.note("some lines are cut at the terminal's width: --wide shows all");
        }
        if self.usable > 0 && self.events == 0 {
            match self.why.as_slice() {
                [] => self.messages.note("no event passes the filters"),
                why => why.iter().for_each(|line| self.messages.note(&format!("no event passes the filters: {line}"))),
            }
            if self.args.fail_if_empty {
                return Ok(Exit::NothingUsable);
            }
        }
        Ok(Exit::of(self.usable, self.failed))
    }
}

/// Says which events could not be taken apart.
fn note_unreadable(scanned: &Scanned, messages: &Messages) {
    let count = |events: u64, [one, many]: [&str; 2]| format!("{events} {}", if events == 1 { one } else { many });
    for ((provider, event), unreadable) in scanned.unreadable.iter().take(MAX_NOTES) {
        if unreadable.without_schema > 0 {
            let events = count(unreadable.without_schema, ["event", "events"]);
            messages.note(&format!("{provider}/{event}: {events} without a schema, shown raw"));
        }
        if let Some(example) = &unreadable.example {
            let events = count(unreadable.misfits, ["event does not fit its", "events do not fit their"]);
            messages.note(&format!("{provider}/{event}: {events} schema ({example})"));
        }
    }
    if scanned.unreadable.len() > MAX_NOTES {
        messages.note(&format!("{} further kinds of events are shown raw", scanned.unreadable.len() - MAX_NOTES));
    }
}
