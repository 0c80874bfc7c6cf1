//! Events, line by line while they are read.

use std::fmt::{self, Write as _};
use std::io::{self, Write};

use tracesift_ask::events::{EventLine, Origin, write_hex};
use tracesift_ask::time_format::seconds;
use tracesift_json::Writer;

use crate::args::events::EventFormat;
use crate::output::cell::{clean, cut, cut_middle, width};
use crate::output::csv;

/// Columns of CSV.
const COLUMNS: [&str; 20] = [
    "file",
    "time_ns",
    "cpu",
    "pid",
    "tid",
    "process",
    "provider",
    "event",
    "id",
    "version",
    "opcode",
    "fields",
    "raw",
    "unverified",
    "level",
    "keyword",
    "activity",
    "related_activity",
    "user",
    "stack",
];

/// Columns of the process in a table, at most and at least: its name loses its middle where the terminal has less room.
const PROCESS: [usize; 2] = [28, 12];
/// Columns before the name of a frame.
const FRAME: usize = 17;

/// Writes events in one format. Keeps its memory from line to line.
pub(crate) struct EventWriter<'o> {
    out: &'o mut dyn Write,
    format: EventFormat,
    /// Columns of the terminal; lines are cut there.
    width: Option<usize>,
    line: String,
    file: String,
    /// Events of several recordings say which one they are from.
    alone: bool,
    has_cut: bool,
}

impl<'o> EventWriter<'o> {
    /// A writer; CSV gets its header at once.
    pub(crate) fn new(out: &'o mut dyn Write, format: EventFormat, width: Option<usize>) -> io::Result<Self> {
        if format == EventFormat::Csv {
            csv::record(out, COLUMNS.into_iter().map(str::to_owned))?;
        }
        Ok(Self { out, format, width, line: String::new(), file: String::new(), alone: true, has_cut: false })
    }

    /// Says which recording the next events are from. `alone`: there is only one.
    pub(crate) fn recording(&mut self, name: &str, alone: bool) -> io::Result<()> {
        name.clone_into(&mut self.file);
        self.alone = alone;
        match self.format {
            EventFormat::Table if !alone => writeln!(self.out, "{name}"),
            _ => Ok(()),
        }
    }

    /// Writes one event.
    pub(crate) fn event(&mut self, event: &EventLine<'_>) -> io::Result<()> {
        self.line.clear();
        match self.format {
            EventFormat::Table => self.table(event),
            EventFormat::Jsonl => self.jsonl(event),
            EventFormat::Csv => return self.csv(event),
        }
        self.out.write_all(self.line.as_bytes())
    }

    /// Everything is written: whether lines were cut.
    pub(crate) fn finish(self) -> io::Result<bool> {
        self.out.flush()?;
        Ok(self.has_cut)
    }

    fn table(&mut self, event: &EventLine<'_>) {
        let line = &mut self.line;
        let process = match (event.process, event.pid) {
            (Some(name), Some(pid)) => format!("{}({pid})", clean(name)),
            (None, Some(pid)) => format!("({pid})"),
            (_, None) => "-".to_owned(),
        };
        let tid = event.tid.map_or_else(|| "-".to_owned(), |tid| tid.to_string());
        let time = seconds(event.time, 7);
        let cpu = event.cpu.map_or_else(|| "-".to_owned(), |cpu| cpu.to_string());
        let [most, least] = PROCESS;
        let room = self.width.map_or(most, |columns| (columns / 5).clamp(least, most));
        let process = if self.width.is_some() { cut_middle(&process, room) } else { process.into() };
        let padding = room.saturating_sub(width(&process));
        let _ = write!(line, "{time:>14}  {cpu:>3}  {process}{:padding$}  {tid:>6}  ", "");
        let _ = write!(line, "{}/{} ", clean(event.provider), clean(event.event));
        for (name, value) in &event.fields.fields {
            let _ = write!(line, " {}={}", clean(name), clean(&value.to_string()));
        }
        if let Some(raw) = event.raw() {
            line.push_str(" raw=");
            let _ = write_hex(line, raw);
        }
        if event.origin == Some(Origin::Unverified) {
            line.push_str(" (unverified)");
        }
        if let Some(columns) = self.width.filter(|columns| width(line) > *columns) {
            *line = cut(line, columns).into_owned();
            self.has_cut = true;
        }
        line.push('\n');
        for frame in &event.stack {
            let room = self.width.map_or(usize::MAX, |columns| columns.saturating_sub(FRAME));
            let _ = writeln!(line, "{:FRAME$}{}", "", cut_middle(&clean(frame), room));
        }
    }

    fn jsonl(&mut self, event: &EventLine<'_>) {
        let mut json = Writer::new(&mut self.line);
        json.begin_object();
        json.key("time_ns");
        json.value(event.time);
        json.key("cpu");
        json.optional(event.cpu);
        json.key("pid");
        json.optional(event.pid);
        json.key("tid");
        json.optional(event.tid);
        json.key("process");
        match event.process {
            Some(process) => json.text(process),
            None => json.null(),
        }
        json.key("provider");
        json.text(event.provider);
        json.key("event");
        json.text(event.event);
        json.key("id");
        json.optional(event.id);
        json.key("version");
        json.value(event.version);
        json.key("opcode");
        json.value(event.opcode);
        json.key("fields");
        event.fields.write_to(&mut json);
        if let Some(raw) = event.raw() {
            json.key("raw");
            json.text_of(fmt::from_fn(|f| write_hex(f, raw)));
        }
        if event.origin == Some(Origin::Unverified) {
            json.key("unverified");
            json.value(true);
        }
        if let Some(level) = event.level {
            json.key("level");
            json.value(level);
        }
        if let Some(keyword) = event.keyword.filter(|keyword| *keyword != 0) {
            json.key("keyword");
            json.text_of(format_args!("{keyword:#x}"));
        }
        if let Some(activity) = event.activity {
            json.key("activity");
            json.text_of(activity);
        }
        if let Some(activity) = event.related_activity {
            json.key("related_activity");
            json.text_of(activity);
        }
        if let Some(user) = &event.user {
            json.key("user");
            json.text(user);
        }
        if !event.stack.is_empty() {
            json.key("stack");
            json.texts(event.stack.iter().copied());
        }
        if !self.alone {
            json.key("file");
            json.text(&self.file);
        }
        json.end_object();
        json.end_line();
    }

    fn csv(&mut self, event: &EventLine<'_>) -> io::Result<()> {
        let mut fields = String::new();
        event.fields.write_json(&mut fields);
        let mut raw = String::new();
        if let Some(bytes) = event.raw() {
            let _ = write_hex(&mut raw, bytes);
        }
        let number = |value: Option<u32>| value.map(|value| value.to_string()).unwrap_or_default();
        let cells = [
            csv::inert(self.file.clone()),
            event.time.to_string(),
            number(event.cpu.map(u32::from)),
            number(event.pid),
            number(event.tid),
            csv::inert(event.process.unwrap_or_default().to_owned()),
            csv::inert(event.provider.to_owned()),
            csv::inert(event.event.to_owned()),
            number(event.id.map(u32::from)),
            event.version.to_string(),
            event.opcode.to_string(),
            fields,
            raw,
            (event.origin == Some(Origin::Unverified)).to_string(),
            event.level.map(|level| level.to_string()).unwrap_or_default(),
            event.keyword.filter(|keyword| *keyword != 0).map(|keyword| format!("{keyword:#x}")).unwrap_or_default(),
            event.activity.map(|activity| activity.to_string()).unwrap_or_default(),
            event.related_activity.map(|activity| activity.to_string()).unwrap_or_default(),
            csv::inert(event.user.as_deref().unwrap_or_default().to_owned()),
            csv::inert(event.stack.join(";")),
        ];
        csv::record(self.out, cells.into_iter())
    }
}
