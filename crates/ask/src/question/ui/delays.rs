//! Delays: reports of one thread that overlap are one delay.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;
use tracesift_analysis::{MethodName, Span, pieces};
use tracesift_archive::Error;
use tracesift_trace::rows::{UiDelayRow, ui_delay_kinds as kinds};
use tracesift_trace::{ProcessId, StackId, ThreadId, view};

use super::Question;
use super::focus::FocusTimes;
use super::switches::FROM_SWITCHES;
use crate::question::waits::longest::WaitRow;
use crate::question::waits::windows::Windows;
use crate::recording::OpenRecording;
use crate::stack_names::StackNames;

/// Shorter times without a fetch are no delays, ns: the extract has rows of those that are longer.
const LEAST: i64 = 200_000_000;

view! {
    /// A report.
    #[derive(Clone, Debug)]
    pub(super) struct Report of UiDelayRow {
        time, start, process, thread, kind, message, class, top_class, input, open,
    }
}

impl Report {
    /// Its time.
    pub(super) fn span(&self) -> Span {
        Span::new(self.start, self.time)
    }
}

/// A time in which a thread did not look after its messages.
#[derive(Clone, Debug)]
pub(super) struct Delay {
    pub(super) process: Option<ProcessId>,
    pub(super) thread: ThreadId,
    /// When, cut to the time range.
    pub(super) span: Span,
    /// The kinds of its reports, ascending.
    pub(super) kinds: Vec<i8>,
    pub(super) message: Option<i64>,
    pub(super) class: Option<String>,
    pub(super) top_class: Option<String>,
    /// How long the oldest input had waited, ns.
    pub(super) input: Option<i64>,
    pub(super) open: bool,
    /// How long of it the process had the focus, ns; `None`: the recording does not tell.
    pub(super) focus: Option<i64>,
}

/// The word of a kind.
pub(super) fn kind(number: i8) -> String {
    match number {
        kinds::NO_FETCH => "no fetch",
        kinds::INPUT => "input",
        kinds::NO_CHECK => "no check",
        kinds::WAIT_CURSOR => "wait cursor",
        kinds::DISPATCH => "dispatch",
        FROM_SWITCHES => "switches",
        other => return other.to_string(),
    }
    .to_owned()
}

/// The reports of the kinds and processes that are asked for, in the time range. Times in which a thread waited for a message in another
/// way than to fetch one are cut out of those without a fetch.
pub(super) fn reports(
    recording: &OpenRecording,
    question: &Question,
    is_asked: impl Fn(&Report) -> bool,
    names: &mut StackNames,
) -> Result<Vec<Report>, Error> {
    let (start, end) = question.time.bounds();
    let range = (!question.time.is_everything()).then_some(start..end);
    let mut reports: Vec<Report> = Vec::new();
    recording.archive().scan(range, |row: &Report| {
        if question.has_kind(row) && row.thread.is_some() && is_asked(row) {
            reports.push(row.clone());
        }
    })?;
    without_pump_waits(recording, reports, names)
}

/// Overlapping reports of a thread, united and cut to the time range.
pub(super) fn unite(mut reports: Vec<Report>, range: Span, focus: &FocusTimes) -> Vec<Delay> {
    reports.sort_by_key(|report| (report.thread, report.start, report.time, report.kind));
    let mut delays = Vec::new();
    let mut rest = reports.as_slice();
    while let Some(first) = rest.first() {
        let mut end = first.time;
        let is_of = |end: i64, report: &Report| report.thread == first.thread && report.start < end;
        let mut count = 1;
        while let Some(next) = rest.get(count).filter(|next| is_of(end, next)) {
            end = end.max(next.time);
            count += 1;
        }
        let (together, later) = rest.split_at(count);
        rest = later;
        let span = Span::new(first.start, end).intersect(range);
        if let Some(thread) = first.thread.filter(|_| !span.is_empty()) {
            delays.push(delay(thread, span, together, focus));
        }
    }
    delays
}

fn delay(thread: ThreadId, span: Span, reports: &[Report], focus: &FocusTimes) -> Delay {
    // A message that was dispatched tells more than the one that the system found.
    let weight = |report: &&Report| (report.span().length(), report.kind == kinds::DISPATCH, Reverse(report.kind));
    let longest = |has: fn(&Report) -> bool| reports.iter().filter(|report| has(report)).max_by_key(weight);
    let of_class = longest(|report| report.class.is_some());
    let mut kinds: Vec<i8> = reports.iter().map(|report| report.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let process = reports.iter().find_map(|report| report.process);
    let last = reports.iter().max_by_key(|report| report.time);
    Delay {
        process,
        thread,
        span,
        kinds,
        message: longest(|report| report.message.is_some()).and_then(|report| report.message),
        class: of_class.and_then(|report| report.class.clone()),
        top_class: of_class.and_then(|report| report.top_class.clone()),
        input: reports.iter().filter_map(|report| report.input).max(),
        open: last.is_some_and(|last| last.open == Some(true)),
        focus: focus.of(process, span),
    }
}

/// Cuts waits for messages out of the times without a fetch: `MsgWaitForMultipleObjects` waits for a message without fetching it. What is
/// left of such a time is a delay if it is long enough.
fn without_pump_waits(
    recording: &OpenRecording,
    reports: Vec<Report>,
    names: &mut StackNames,
) -> Result<Vec<Report>, Error> {
    let of_fetches: Vec<usize> = (0..reports.len()).filter(|place| reports[*place].kind == kinds::NO_FETCH).collect();
    if of_fetches.is_empty() || !recording.info().has_switches {
        return Ok(reports);
    }
    let spans = of_fetches.iter().map(|place| reports[*place].span());
    let start = spans.clone().map(|span| span.start).min().unwrap_or(0);
    let end = spans.map(|span| span.end).max().unwrap_or(0);
    let window = |place: &usize| Some((reports[*place].thread?, reports[*place].span()));
    let mut windows = Windows::new(of_fetches.iter().filter_map(window));
    let has_ready = recording.info().has_ready;
    let mut is_pump: FxHashMap<StackId, bool> = FxHashMap::default();
    let mut waits: FxHashMap<usize, Vec<Span>> = FxHashMap::default();
    recording.archive().scan(Some(start..end), |row: &WaitRow| {
        windows.touched(row.thread, row.off_time, row.time, |number| {
            let Some(stack) = row.wait_stack else { return };
            let (Some(place), Some(wait)) = (of_fetches.get(number), pieces(row, has_ready).wait) else { return };
            if *is_pump.entry(stack).or_insert_with(|| waits_for_messages(&names.of(stack))) {
                waits.entry(*place).or_default().push(wait);
            }
        });
    })?;
    if waits.is_empty() {
        return Ok(reports);
    }
    let mut left = Vec::with_capacity(reports.len());
    for (place, report) in reports.into_iter().enumerate() {
        match waits.remove(&place) {
            Some(waits) => left.extend(between(&report, waits)),
            None => left.push(report),
        }
    }
    Ok(left)
}

/// The parts of a report between these waits, which come in the order of their ends.
fn between(report: &Report, waits: Vec<Span>) -> impl Iterator<Item = Report> {
    let whole = report.span();
    let ends = waits.iter().map(|wait| wait.end.max(whole.start));
    let starts: Vec<i64> = std::iter::once(whole.start).chain(ends).collect();
    let stops = waits.into_iter().map(|wait| wait.start).chain([whole.end]);
    let parts: Vec<Span> =
        starts.into_iter().zip(stops).map(|(start, stop)| Span::new(start, stop.min(whole.end))).collect();
    let report = report.clone();
    parts.into_iter().filter(|part| part.length() >= LEAST).map(move |part| Report {
        start: part.start,
        time: part.end,
        open: report.open.filter(|_| part.end == whole.end),
        ..report.clone()
    })
}

/// Whether a stack is that of a thread that waits for messages. What the window does for a message inside of that is none.
pub(super) fn waits_for_messages(stack: &[MethodName]) -> bool {
    const WAITS: [&str; 4] = ["GetMessage", "PeekMessage", "MsgWaitForMultipleObjects", "WaitMessage"];
    const CALLED: [&str; 4] = ["KiUserCallbackDispatch", "DispatchMessage", "DispatchClientMessage", "UserCallWinProc"];
    for method in stack {
        let module = method.module.as_deref().unwrap_or_default().to_ascii_lowercase();
        if !["user32", "win32u", "win32k", "ntdll"].iter().any(|name| module.starts_with(name)) {
            continue;
        }
        let has = |names: &[&str]| names.iter().any(|name| method.function.contains(name));
        if has(&CALLED) {
            return false;
        }
        if has(&WAITS) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests;
