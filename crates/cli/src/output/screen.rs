//! The overview of a recording on one screen: blocks of lines, below each the command that goes deeper.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style as Ansi};
use tracesift_ask::absence::Absence;
use tracesift_ask::answer::{Kind, Value};
use tracesift_ask::limit::{Limit, LimitKind};
use tracesift_ask::question::overview::{AbsentPart, CallPart, DiskPart, Overview, ProcessPart, WaitPart};
use tracesift_ask::time_format::{TimeFormat, TimeStyle};

use crate::output::cell::{self, cut_middle};
use crate::output::table::{self, Style};
use crate::output::wrap::wrapped;

/// No line is longer, however wide the terminal is.
const WIDEST: usize = 100;
/// A narrower terminal breaks lines itself.
const NARROWEST: usize = 60;
/// Names are not made shorter.
const SHORTEST_NAME: usize = 12;
/// Of a method so much is shown where a name beside it can be shorter.
const SHORTEST_METHOD: usize = 24;
/// Less is 0.0 ms, ns.
const SHORTEST_TIME: i64 = 50_000;
/// In front of what is told of the line above.
const BELOW: &str = "      ";
/// Nor are names of tags, with their share.
const SHORTEST_TAG: usize = 22;
/// Disks of which something is said.
const DISKS: usize = 3;

/// Writes the screen.
pub(crate) fn write(out: &mut dyn Write, overview: &Overview, style: &Style, is_wide: bool) -> io::Result<()> {
    let width = style.width.map_or(WIDEST, |terminal| terminal.clamp(NARROWEST, WIDEST));
    let mut screen = Screen { out, width: if is_wide { usize::MAX / 2 } else { width }, style, overview };
    screen.head()?;
    screen.completeness()?;
    screen.finding()?;
    screen.processes()?;
    screen.waits()?;
    screen.disks()?;
    screen.calls()?;
    screen.classes()?;
    screen.absent()
}

struct Screen<'a> {
    out: &'a mut dyn Write,
    width: usize,
    style: &'a Style,
    overview: &'a Overview,
}

impl Screen<'_> {
    fn heading(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out)?;
        self.painted(Ansi::new().bold(), text)
    }

    fn painted(&mut self, ansi: Ansi, text: &str) -> io::Result<()> {
        if self.style.color { writeln!(self.out, "{ansi}{text}{ansi:#}") } else { writeln!(self.out, "{text}") }
    }

    fn line(&mut self, text: &str) -> io::Result<()> {
        let text = cell::clean(text);
        let text = cut_middle(&text, self.width);
        writeln!(self.out, "{}", text.trim_end())
    }

    /// A line that ends with the name of a method: that is what is shortened.
    fn line_in(&mut self, text: String, method: Option<&str>) -> io::Result<()> {
        let Some(method) = method else { return self.line(&text) };
        let text = cell::clean(&text).into_owned() + " in ";
        let left = self.width.saturating_sub(cell::width(&text));
        // A few letters of a name say nothing.
        if left < SHORTEST_NAME {
            return self.line(text.trim_end_matches(" in "));
        }
        let line = format!("{text}{}", cut_middle(&cell::clean(method), left));
        self.line(&line)
    }

    /// The name of a thread, which may be as long as somebody liked.
    fn label(&self, label: &str) -> String {
        cut_middle(&cell::clean(label), self.width / 3).into_owned()
    }

    /// Parts behind each other, on as many lines as they need.
    fn parts(&mut self, parts: &[String]) -> io::Result<()> {
        let mut line = String::from("  ");
        for (place, part) in parts.iter().enumerate() {
            let part = if place + 1 < parts.len() { format!("{part};") } else { part.clone() };
            if cell::width(&line) > 2 && cell::width(&line) + 1 + cell::width(&part) > self.width {
                self.line(&line)?;
                line = String::from("  ");
            }
            if cell::width(&line) > 2 {
                line.push(' ');
            }
            line.push_str(&part);
        }
        self.line(&line)
    }

    /// The commands that go on from a block. They can be copied, so they are never cut.
    fn next(&mut self, of: &[&str]) -> io::Result<()> {
        let overview = self.overview;
        for next in overview.next.iter().filter(|next| of.contains(&next.of)) {
            self.command(&next.short)?;
        }
        Ok(())
    }

    fn command(&mut self, command: &str) -> io::Result<()> {
        let text = format!("  > {}", cell::clean(command));
        self.painted(Ansi::new().fg_color(Some(AnsiColor::Cyan.into())), &text)
    }

    /// The same, only of the command with these words.
    fn next_about(&mut self, of: &str, words: &str) -> io::Result<()> {
        let overview = self.overview;
        let one = overview.next.iter().find(|next| next.of == of && next.short.contains(words));
        one.map_or(Ok(()), |next| self.command(&next.short))
    }

    fn head(&mut self) -> io::Result<()> {
        let overview = self.overview;
        let name = cell::clean(&overview.file.name).into_owned();
        let name = cut_middle(&name, self.width).into_owned();
        self.painted(Ansi::new().bold(), &name)?;
        let length = overview.file.end.saturating_sub(overview.file.start);
        let local = TimeStyle { format: TimeFormat::Local, digits: 0 };
        let began = overview.file.zero.instant(0).map(|_| local.show(0, Some(overview.file.zero)));
        let cpus = match overview.cpu_count {
            0 => None,
            1 => Some("1 CPU".to_owned()),
            many => Some(format!("{many} CPUs")),
        };
        let first = [began, Some(format!("{} s", figure(length, Kind::Seconds)))];
        let machine = [overview.file.machine.clone(), overview.os.clone(), cpus];
        let joined = |parts: &[Option<String>]| parts.iter().flatten().cloned().collect::<Vec<_>>().join(", ");
        self.parts(
            &[joined(&first), joined(&machine)]
                .map(Some)
                .into_iter()
                .flatten()
                .filter(|it| !it.is_empty())
                .collect::<Vec<_>>(),
        )?;
        if let Some(command) = &overview.command {
            self.line(&format!("  recorded: {command}"))?;
        }
        let what = if overview.cpu.is_some() { "CPU" } else { "run time" };
        let Some(time) = overview.cpu.or(overview.run) else { return Ok(()) };
        let whole = length.saturating_mul(overview.cpu_count.into());
        let percent = |time: i64| time as f64 * 100.0 / whole as f64;
        // Recorders switch samples on later than switches, so that samples can be of a part of the recording.
        let differs = |run: &i64| overview.cpu.is_some_and(|cpu| percent(cpu.abs_diff(*run).cast_signed()) >= 5.0);
        let share = match overview.run.filter(differs) {
            _ if whole <= 0 => String::new(),
            Some(run) => format!(" ({:.0} % of the CPUs; {:.0} % by context switches)", percent(time), percent(run)),
            None => format!(" ({:.0} % of the CPUs)", percent(time)),
        };
        let processes = count(overview.process_count, "process", "processes");
        self.line(&format!("  {what} {} ms{share} in {processes}", figure(time, Kind::Milliseconds)))
    }

    fn completeness(&mut self) -> io::Result<()> {
        let overview = self.overview;
        if overview.file.is_imported {
            return Ok(());
        }
        self.heading("How complete")?;
        let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let limits = overview.file.warnings.iter().filter(|limit| limit.kind == LimitKind::CutShort);
        // Without its example, and without what it means.
        let short = |text: &str| text.split([',', ':']).next().unwrap_or_default().to_owned();
        let damage: Vec<String> = limits.map(|limit| short(&limit.text)).collect();
        let lost = match (overview.events_lost, overview.buffers_lost) {
            (0, 0) if damage.is_empty() => "no event was lost".to_owned(),
            (0, 0) => "the recorder lost no event".to_owned(),
            (0, buffers) => format!("{} lost", count(whole(buffers), "buffer", "buffers")),
            (events, 0) => format!("{} lost", count(whole(events), "event", "events")),
            (events, buffers) => format!(
                "{} and {} lost",
                count(whole(events), "event", "events"),
                count(whole(buffers), "buffer", "buffers")
            ),
        };
        let mut parts = vec![lost];
        parts.extend(damage);
        let is_told = |limit: &&Limit| matches!(limit.kind, LimitKind::Other | LimitKind::OpenDiskOperations);
        let what = |limit: &Limit| limit.text.split(':').next().unwrap_or_default().to_owned();
        parts.extend(overview.file.warnings.iter().filter(is_told).map(what));
        if overview.broken_chains > 0 {
            parts.push(format!("the chain of switches is broken {}", count(overview.broken_chains, "time", "times")));
        }
        if let (Some(samples), Some(without)) =
            (overview.samples.filter(|samples| *samples > 0), overview.samples_without_stack)
        {
            let with = samples.saturating_sub(without);
            parts.push(format!(
                "{} of {} samples have a stack",
                figure(with, Kind::Count),
                figure(samples, Kind::Count)
            ));
        }
        if let (Some(frames), Some(without)) = (overview.frames, overview.frames_without_name) {
            let with = frames.saturating_sub(without);
            parts.push(format!(
                "{} of {} code addresses have a name",
                figure(with, Kind::Count),
                figure(frames, Kind::Count)
            ));
        }
        self.parts(&parts)?;
        self.next(&["complete", "names"])
    }

    fn finding(&mut self) -> io::Result<()> {
        let overview = self.overview;
        let Some(finding) = &overview.finding else { return Ok(()) };
        self.heading("First finding")?;
        for line in wrapped(&cell::clean(&format!("  {}", finding.sentence)), 2, Some(self.width)) {
            self.line(&line)?;
        }
        self.next(&["finding"])
    }

    fn processes(&mut self) -> io::Result<()> {
        let overview = self.overview;
        if overview.processes.is_empty() {
            return Ok(());
        }
        self.heading("Most CPU")?;
        let with_wait = overview.processes.iter().any(|process| process.wait.is_some());
        let with_ready = overview.processes.iter().any(|process| process.ready.is_some());
        let title = if overview.cpu.is_some() { "CPU ms" } else { "Run ms" };
        let mut columns: Vec<Figures<'_>> = vec![(title, &|process| Some(process.time()))];
        if with_wait {
            columns.push(("Wait ms", &|process| process.wait));
        }
        if with_ready {
            columns.push(("Ready ms", &|process| process.ready));
        }
        let rows: Vec<Vec<String>> = overview
            .processes
            .iter()
            .map(|process| columns.iter().map(|(_, of)| optional(of(process), Kind::Milliseconds)).collect())
            .collect();
        let heads: Vec<String> = columns.iter().map(|(title, _)| (*title).to_owned()).collect();
        let widths = widths(&heads, &rows);
        // What the figures leave is shared by processes and tags.
        let left = self.width.saturating_sub(2 + widths.iter().map(|width| width + 2).sum::<usize>());
        let longest =
            overview.processes.iter().map(|process| cell::width(&cell::clean(&process.label))).max().unwrap_or(0);
        let for_label = longest.max(7).min(left / 2);
        let head = format!("  {}{}  Stack tags", right(&heads, &widths), left_aligned("Process", for_label));
        self.line(&head)?;
        for (process, figures) in overview.processes.iter().zip(&rows) {
            let label = cell::clean(&process.label).into_owned();
            let label = cut_middle(&label, for_label);
            let tags = tags(process, left.saturating_sub(for_label + 2));
            self.line(&format!("  {}{}  {tags}", right(figures, &widths), left_aligned(&label, for_label)))?;
        }
        self.next(&["processes", "tags"])
    }

    fn waits(&mut self) -> io::Result<()> {
        let overview = self.overview;
        if overview.waits.is_empty() {
            return Ok(());
        }
        self.heading("Longest waits of these processes")?;
        for wait in &overview.waits {
            let at = figure(wait.from, Kind::Seconds);
            let text = format!("  {:>9} ms from {at} s: ", figure(wait.wait, Kind::Milliseconds));
            let text = format!("{text}{}", self.label(&wait.label));
            self.line_in(text, wait.method.as_deref())?;
            let (text, method) = end_of(wait, self.width.saturating_sub(cell::width(BELOW)));
            self.line_in(format!("{BELOW}{text}"), method)?;
        }
        self.next(&["waits"])
    }

    fn disks(&mut self) -> io::Result<()> {
        let overview = self.overview;
        if overview.disks.is_empty() {
            return Ok(());
        }
        let from = overview.disks.len().saturating_sub(DISKS);
        let more = if from > 0 { format!(", the {DISKS} busiest of {}", overview.disks.len()) } else { String::new() };
        self.heading(&format!("Disks{more}"))?;
        for disk in overview.disks.get(from..).unwrap_or_default() {
            self.parts(&disk_parts(disk, overview.file.end.saturating_sub(overview.file.start)))?;
        }
        self.next(&["disks"])
    }

    fn calls(&mut self) -> io::Result<()> {
        let overview = self.overview;
        let (Some(calls), Some(failed)) = (overview.calls, overview.failed_calls) else { return Ok(()) };
        let text = format!("{} of {} system calls failed", figure(failed, Kind::Count), figure(calls, Kind::Count));
        self.heading(&text)?;
        for call in &overview.failing {
            self.line(&format!("  {}", call_text(call)))?;
        }
        self.next(&["failing_calls"])
    }

    fn classes(&mut self) -> io::Result<()> {
        let classes = &self.overview.classes;
        if classes.is_empty() {
            return Ok(());
        }
        self.heading("Also recorded")?;
        let (with_totals, without): (Vec<_>, Vec<_>) = classes.iter().partition(|class| !class.totals.is_empty());
        for class in with_totals {
            let total = |total| table::facts(std::slice::from_ref(total), self.style.time);
            let mut parts: Vec<String> = class.totals.iter().map(total).collect();
            if let Some(first) = parts.first_mut() {
                *first = format!("dump {}: {first}", class.question);
            }
            self.parts(&parts)?;
        }
        if !without.is_empty() {
            let questions: Vec<&str> = without.iter().map(|class| class.question).collect();
            self.line(&format!("  dump {}", questions.join(", dump ")))?;
        }
        let first = classes.first().map_or("", |class| class.question);
        self.next_about("classes", &format!(" dump {first} "))
    }

    fn absent(&mut self) -> io::Result<()> {
        let overview = self.overview;
        if overview.absent.is_empty() {
            return Ok(());
        }
        self.heading("Not in this recording")?;
        for (how, what) in by_remedy(&overview.absent) {
            self.line(&format!("  {}: {how}", what.join(", ")))?;
        }
        Ok(())
    }
}

type Figures<'a> = (&'a str, &'a dyn Fn(&ProcessPart) -> Option<i64>);

/// What is missing, by what would help.
fn by_remedy(absent: &[AbsentPart]) -> Vec<(String, Vec<&'static str>)> {
    let mut all: Vec<(String, Vec<&'static str>)> = Vec::new();
    for part in absent {
        let how = match part.profile {
            Some(profile) => format!("tracesift record --profile {profile}"),
            None if part.why == Absence::NotExtracted => "tracesift extract without --tables".to_owned(),
            None => part.why.to_string(),
        };
        match all.iter_mut().find(|(known, _)| *known == how) {
            Some((_, what)) => what.push(part.what),
            None => all.push((how, vec![part.what])),
        }
    }
    all
}

/// `Antivirus\Windows Defender 91 %, Other 5 %`, as many as there is room for, the largest first.
fn tags(process: &ProcessPart, room: usize) -> String {
    let whole = process.time();
    let mut text = String::new();
    for tag in process.tags.iter().rev() {
        let share = if whole > 0 { tag.cpu as f64 * 100.0 / whole as f64 } else { 0.0 };
        if share < 0.5 && !text.is_empty() {
            break;
        }
        let one = format!("{} {share:.0} %", cell::clean(&tag.tag));
        if text.is_empty() {
            text = cut_middle(&one, room).into_owned();
        } else {
            let left = room.saturating_sub(cell::width(&text) + 2);
            if left < cell::width(&one).min(SHORTEST_TAG) {
                break;
            }
            text.push_str(", ");
            text.push_str(&cut_middle(&one, left));
        }
    }
    text
}

/// Who ended a wait and what that one did meanwhile, and the method in which it waited itself.
fn end_of(wait: &WaitPart, width: usize) -> (String, Option<&str>) {
    let short = |label: &str| cut_middle(&cell::clean(label), width / 4).into_owned();
    let Some(end) = &wait.end else {
        let text = match wait.woken_by.as_deref() {
            None | Some("") => "who ended it is not known".to_owned(),
            Some("(nobody)") => "nobody ended it".to_owned(),
            Some("timer") => "the timer ended it".to_owned(),
            Some(other) => format!("ended by {}", short(other)),
        };
        return (text, None);
    };
    let mut parts = vec![format!("ran {} ms", figure(end.run, Kind::Milliseconds))];
    if end.ready >= SHORTEST_TIME {
        parts.push(format!("ready {} ms", figure(end.ready, Kind::Milliseconds)));
    }
    // Who worked is the answer; of who waited it is for whom.
    let mostly_waited = end.wait > end.run.saturating_add(end.ready);
    if end.wait >= SHORTEST_TIME {
        parts.push(format!("waited {} ms", figure(end.wait, Kind::Milliseconds)));
    }
    if let (Some(by), true, Some(last)) = (&end.woken_by, mostly_waited, parts.last_mut()) {
        last.push_str(&format!(" for {}", short(by)));
    }
    let chain = if wait.links > 1 { format!("end of a chain of {}: ", wait.links) } else { "ended by ".to_owned() };
    let method = end.method.as_deref().filter(|_| mostly_waited);
    let parts = parts.join(", ");
    // The figures stay; the name gets what they leave, but for a method behind them.
    let for_method = if method.is_some() { SHORTEST_METHOD } else { 0 };
    let left = width.saturating_sub(cell::width(&chain) + 2 + cell::width(&parts) + for_method).max(SHORTEST_NAME);
    (format!("{chain}{}: {parts}", cut_middle(&cell::clean(&end.label), left)), method)
}

fn disk_parts(disk: &DiskPart, length: i64) -> Vec<String> {
    let mut parts = Vec::new();
    let share =
        if length > 0 { format!(" ({:.0} %)", disk.busy as f64 * 100.0 / length as f64) } else { String::new() };
    parts.push(format!("disk {}: busy {} ms{share}", disk.name, figure(disk.busy, Kind::Milliseconds)));
    for (operations, bytes, one, many) in [
        (disk.reads, Some(disk.read_bytes), "read", "reads"),
        (disk.writes, Some(disk.written_bytes), "write", "writes"),
        (disk.flushes, None, "flush", "flushes"),
    ] {
        if operations > 0 {
            let bytes = bytes.map(|bytes| format!(" of {}", size(bytes))).unwrap_or_default();
            parts.push(format!("{}{bytes}", count(operations, one, many)));
        }
    }
    parts.push(format!(
        "{} ms in all, the longest {} ms",
        figure(disk.time, Kind::Milliseconds),
        figure(disk.longest, Kind::Milliseconds)
    ));
    parts
}

fn call_text(call: &CallPart) -> String {
    let errors: Vec<String> =
        call.errors.iter().take(4).map(|(error, count)| format!("{error} {}", figure(*count, Kind::Count))).collect();
    format!(
        "{:>9} of {}({}): {}, {}",
        figure(call.failed, Kind::Count),
        call.process,
        call.pid,
        call.call,
        errors.join(", ")
    )
}

fn size(bytes: i64) -> String {
    crate::command::extract::size(u64::try_from(bytes).unwrap_or(0))
}

fn figure(value: i64, kind: Kind) -> String {
    cell::text(&Value::Int(value), kind, TimeStyle::default(), None)
}

fn optional(value: Option<i64>, kind: Kind) -> String {
    value.map_or_else(String::new, |value| figure(value, kind))
}

fn count(number: i64, one: &str, many: &str) -> String {
    format!("{} {}", figure(number, Kind::Count), if number == 1 { one } else { many })
}

fn widths(heads: &[String], rows: &[Vec<String>]) -> Vec<usize> {
    let of_column = |place: usize, head: &String| {
        let cells = rows.iter().filter_map(|row| row.get(place)).map(|cell| cell::width(cell));
        cells.max().unwrap_or(0).max(cell::width(head))
    };
    heads.iter().enumerate().map(|(place, head)| of_column(place, head)).collect()
}

/// Right aligned, with the gap behind each.
fn right(cells: &[String], widths: &[usize]) -> String {
    cells
        .iter()
        .zip(widths)
        .map(|(text, width)| format!("{}{text}  ", " ".repeat(width.saturating_sub(cell::width(text)))))
        .collect()
}

fn left_aligned(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(cell::width(text))))
}
