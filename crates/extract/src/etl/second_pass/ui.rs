//! Windows on the screen: who has the focus, and threads that do not look after their messages.

use tracesift_etl::schema::FieldText;
use tracesift_etl::{Record, event_fields};
use tracesift_trace::focus::Focus;
use tracesift_trace::message_pumps::{LEAST, MessagePumps, Stall};
use tracesift_trace::rows::{UiDelayRow, ui_delay_kinds as kinds};
use tracesift_trace::{HealthKind, ProcessId, RowSink, ThreadId};

use super::provider_fields::Fields;
use super::{SecondPass, cpu_number};

/// Event ids of Win32k.
mod id {
    pub(super) const FOCUS_THREAD: u16 = 2;
    pub(super) const FOCUS_HELD: u16 = 25;
    pub(super) const FOCUS_PROCESS: u16 = 26;
    pub(super) const WAIT_CURSOR: u16 = 35;
    /// What threads have not looked after, at a rundown and when a thread ends.
    pub(super) const RUNDOWN: u16 = 36;
    pub(super) const THREAD_EXIT: u16 = 45;
    pub(super) const INPUT_DELAY: u16 = 37;
    pub(super) const CHECK_DELAY: u16 = 38;
    pub(super) const FETCH_START: u16 = 76;
    pub(super) const FETCH_STOP: u16 = 77;
    pub(super) const DISPATCH_START: u16 = 92;
    pub(super) const DISPATCH_STOP: u16 = 93;
    /// The same as 37 and 38 of apps from the store.
    pub(super) const APP_INPUT_DELAY: u16 = 172;
    pub(super) const APP_CHECK_DELAY: u16 = 173;
}

event_fields! {
    /// A report of the system about a thread that does not look after its messages.
    struct Report<'a> {
        delay: u64 = "DelayTimeMs",
        removed: u64 = "TimeSinceInputRemoveMs",
        oldest: u64 = "TimeSinceOldestInputMs",
        checked: u64 = "TimeSinceInputCheckMs",
        shown: u64 = "DisplayTimeMs",
        thread: u64 = "ThreadId",
        cursor_thread: u64 = "CursorThreadId",
        class: FieldText<'a> = "ClassName",
        top_class: FieldText<'a> = "TopLevelClassName",
        message: u64 = "MessageId",
    }
}

event_fields! {
    /// A message is dispatched.
    struct Dispatch<'a> {
        message: u64 = "message",
    }
}

event_fields! {
    /// The focus moves, or stays where it is.
    struct Change<'a> {
        session: u64 = "SessionId",
        old_thread: u64 = "OldThreadId",
        new_thread: u64 = "NewThreadId",
        old_process: u64 = "OldProcessId",
        new_process: u64 = "NewProcessId",
        owner: u64 = "ProcessIdOwningFocus",
    }
}

/// The focus, and threads with messages.
pub(super) struct Windows {
    reports: Fields<Report<'static>>,
    dispatches: Fields<Dispatch<'static>>,
    changes: Fields<Change<'static>>,
    pumps: MessagePumps,
    focus: Focus,
    /// Events about the focus in sessions that nobody knows.
    without_session: i64,
}

impl Windows {
    /// Of a recording that begins at `start`, ns.
    pub(super) fn new(start: i64) -> Self {
        Self {
            reports: Fields::default(),
            dispatches: Fields::default(),
            changes: Fields::default(),
            pumps: MessagePumps::default(),
            focus: Focus::new(start),
            without_session: 0,
        }
    }

    /// Events were lost.
    pub(super) fn lost(&mut self) {
        self.pumps.lost();
    }
}

impl<Sink: RowSink> SecondPass<'_, Sink> {
    /// An event of Win32k that may be about the focus, or about messages.
    pub(super) fn window_event(&mut self, record: &Record<'_>, id: u16) {
        let wanted = self.wanted;
        match id {
            id::FOCUS_THREAD | id::FOCUS_HELD | id::FOCUS_PROCESS if wanted.focus => self.focus_event(record),
            id::FETCH_START | id::FETCH_STOP | id::DISPATCH_START | id::DISPATCH_STOP if wanted.ui_delays => {
                self.pump_event(record, id);
            }
            id::WAIT_CURSOR..=id::CHECK_DELAY | id::THREAD_EXIT | id::APP_INPUT_DELAY | id::APP_CHECK_DELAY
                if wanted.ui_delays =>
            {
                self.report(record, id);
            }
            _ => {}
        }
    }

    /// A thread fetches a message, or dispatches one.
    fn pump_event(&mut self, record: &Record<'_>, id: u16) {
        let (ticks, cpu) = (record.time(), record.cpu());
        let Some(tid) = record.tid() else { return };
        let thread = self.population.named_thread_at(tid, cpu, ticks);
        let time = self.clock.ns(ticks);
        let pumps = &mut self.windows.pumps;
        let stalls = match id {
            id::FETCH_START => pumps.fetch_begins(thread, time),
            id::FETCH_STOP => {
                pumps.fetch_ends(thread, time);
                [None; 2]
            }
            id::DISPATCH_START => {
                let fields = self.windows.dispatches.read(record, &self.schemas, &mut self.health);
                let message = fields.and_then(|fields| u32::try_from(fields.message?).ok()).unwrap_or(0);
                [self.windows.pumps.dispatch_begins(thread, time, message), None]
            }
            _ => [pumps.dispatch_ends(thread, time), None],
        };
        for stall in stalls.into_iter().flatten() {
            self.stall(thread, &stall, cpu_number(record), None);
        }
    }

    fn stall(&mut self, thread: ThreadId, stall: &Stall, cpu: i16, open: Option<bool>) {
        let row = UiDelayRow {
            time: stall.end,
            start: stall.start,
            cpu,
            process: Some(self.population.process_of(thread)),
            thread: Some(thread),
            kind: stall.kind,
            message: stall.message.map(i64::from),
            open,
            ..UiDelayRow::default()
        };
        self.sink.ui_delay(&row);
    }

    /// The system reports a thread that does not look after its messages.
    fn report(&mut self, record: &Record<'_>, id: u16) {
        let Some(event) = self.windows.reports.read(record, &self.schemas, &mut self.health) else { return };
        let (ticks, cpu) = (record.time(), record.cpu());
        // What never was has the largest number.
        let known = |ms: Option<u64>| ms.filter(|ms| *ms > 0 && *ms < u64::from(u32::MAX));
        let oldest = known(event.oldest);
        let (kind, ms) = match id {
            id::INPUT_DELAY | id::APP_INPUT_DELAY => (kinds::INPUT, known(event.removed)),
            id::CHECK_DELAY | id::APP_CHECK_DELAY => (kinds::NO_CHECK, known(event.delay)),
            id::WAIT_CURSOR => (kinds::WAIT_CURSOR, known(event.shown)),
            // A thread that nothing waits for may sleep as long as it likes.
            _ => (kinds::INPUT, oldest.zip(known(event.checked)).map(|(oldest, checked)| oldest.min(checked))),
        };
        let ns = |ms: u64| i64::try_from(ms).unwrap_or(i64::MAX).saturating_mul(1_000_000);
        let Some(length) = ms.map(ns) else { return };
        let is_state = matches!(id, id::RUNDOWN | id::THREAD_EXIT);
        if is_state && length < LEAST {
            return;
        }
        let named = event.thread.or(event.cursor_thread).and_then(|tid| u32::try_from(tid).ok());
        let Some(tid) = named.or(record.tid()).filter(|tid| *tid != 0) else { return };
        let thread = self.population.named_thread_at(tid, cpu, ticks);
        let time = self.clock.ns(ticks);
        let text = |text: Option<FieldText<'_>>| text.map(|text| text.to_string()).filter(|text| !text.is_empty());
        let row = UiDelayRow {
            time,
            start: time.saturating_sub(length).max(self.start).min(time),
            cpu: cpu_number(record),
            process: Some(self.population.process_of(thread)),
            thread: Some(thread),
            kind,
            message: event.message.and_then(|message| i64::try_from(message).ok()).filter(|message| *message != 0),
            class: text(event.class),
            top_class: text(event.top_class),
            input: oldest.map(ns),
            open: (id == id::RUNDOWN).then_some(true),
        };
        self.sink.ui_delay(&row);
    }

    /// The focus moves, or stays where it is.
    fn focus_event(&mut self, record: &Record<'_>) {
        let Some(event) = self.windows.changes.read(record, &self.schemas, &mut self.health) else { return };
        let (ticks, cpu) = (record.time(), record.cpu());
        let time = self.clock.ns(ticks);
        let number = |value: Option<u64>| value.and_then(|value| u32::try_from(value).ok()).filter(|value| *value != 0);
        let session = event.session.and_then(|session| i32::try_from(session).ok());
        let population = &mut self.population;
        let focus = &mut self.windows.focus;
        let row = if event.new_thread.is_some() {
            let threads = [event.old_thread, event.new_thread].map(|tid| {
                let thread = population.named_thread_at(number(tid)?, cpu, ticks);
                Some((population.process_of(thread), thread))
            });
            let of_threads = threads.iter().flatten().find_map(|(process, _)| population.session_of(*process));
            let Some(session) = session.or(of_threads).or_else(|| focus.only_session()) else {
                self.windows.without_session += 1;
                return;
            };
            focus.thread_changes(session, time, threads)
        } else {
            let mut process =
                |pid: Option<u64>| -> Option<ProcessId> { Some(population.process_at(number(pid)?, ticks)) };
            let [owner, old, new] = [event.owner, event.old_process, event.new_process].map(&mut process);
            match (session, owner) {
                (Some(session), Some(owner)) => focus.held(session, time, owner),
                (Some(session), None) if event.new_process.is_some() => {
                    focus.process_changes(session, time, [old, new])
                }
                _ => None,
            }
        };
        row.iter().for_each(|row| self.sink.focus(row));
    }

    /// The end of the recording, ns.
    pub(super) fn finish_windows(&mut self, end: i64) {
        for (thread, stall) in std::mem::take(&mut self.windows.pumps).finish(end) {
            // A thread that ended fetches no more.
            if self.population.died(thread).is_none() {
                self.stall(thread, &stall, -1, Some(true));
            }
        }
        let focus = std::mem::take(&mut self.windows.focus);
        let missing = focus.missing().saturating_add(self.windows.without_session);
        self.health.add(HealthKind::FOCUS_CHANGES_MISSING, missing, None, || "Win32k 2, 26".to_owned());
        focus.finish(end).iter().for_each(|row| self.sink.focus(row));
    }
}
