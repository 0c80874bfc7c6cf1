//! Windows: who has the focus, and threads that do not look after their messages.

use crate::ids::{ProcessId, ThreadId};
use crate::row;

/// Values of [`UiDelayRow::kind`]. More may come.
pub mod ui_delay_kinds {
    /// The thread fetched no message.
    pub const NO_FETCH: i8 = 0;
    /// Input was not processed, as the system reports.
    pub const INPUT: i8 = 1;
    /// Messages were not checked for, as the system reports.
    pub const NO_CHECK: i8 = 2;
    /// The wait cursor was shown.
    pub const WAIT_CURSOR: i8 = 3;
    /// The thread was busy with one message.
    pub const DISPATCH: i8 = 4;
}

row! {
    /// A time in which a process had the focus: the input from keyboard and mouse went to it.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct FocusRow in "focus", always: false, since: 7, Span(start, time) {
        /// Time at which the focus left. Where `open`: the end of the recording.
        time: i64, Delta, "ns", "Win32k 2, 26";
        /// Time at which the focus came; of what had it before the first event: the begin of the
        /// recording.
        start: i64, Delta, "ns", "Win32k 2, 25, 26";
        /// The process.
        process: Option<ProcessId>, Dictionary, "", "NewProcessId, OldProcessId, ProcessIdOwningFocus; `threads`";
        /// The thread whose windows have it; null where only the process is known.
        thread: Option<ThreadId>, Dictionary, "", "NewThreadId, OldThreadId";
        /// Terminal-services session. Each session has a focus of its own.
        session: i32, Dictionary, "", "SessionId; `processes`";
        /// True: it had the focus at the end of the recording, or the event of its end is missing.
        open: Option<bool>, Plain, "", "made by the extract";
    }
}

row! {
    /// A time in which a thread with windows did not look after its messages, by one of the sources
    /// that tell of it. Several rows can tell of the same time.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct UiDelayRow in "ui_delays", always: false, since: 7, Span(start, time) {
        /// End of the delay. Where `open`: the end of the recording, or the time of the report.
        time: i64, Delta, "ns", "Win32k 35, 36, 37, 38, 45, 76, 93, 172, 173";
        /// Begin of the delay, not before that of the recording.
        start: i64, Delta, "ns", "77, 92; time of the event − DelayTimeMs, TimeSinceInputRemoveMs, DisplayTimeMs";
        /// CPU of the event at the end; −1 where none tells the end.
        cpu: i16, Dictionary, "", "buffer that holds the event";
        /// Process of the thread.
        process: Option<ProcessId>, Dictionary, "", "`threads`";
        /// The thread.
        thread: Option<ThreadId>, Dictionary, "", "header of the event; ThreadId, CursorThreadId";
        /// 0 no message fetched, 1 input not processed, 2 no check for messages that the system
        /// reports, 3 wait cursor, 4 busy with one message. Of 0 and 4 at least 200 ms. More may come.
        kind: i8, Dictionary, "", "event id";
        /// Number of the window message, such as 15 of `WM_PAINT`; of 0 the first one that the thread
        /// dispatched in this time.
        message: Option<i64>, Dictionary, "", "MessageId; message of 92";
        /// Class of the window.
        class: Option<String>, Dictionary, "", "ClassName";
        /// Class of the window on top of it.
        top_class: Option<String>, Dictionary, "", "TopLevelClassName";
        /// How long the oldest input had waited.
        input: Option<i64>, Plain, "ns", "TimeSinceOldestInputMs";
        /// True: the delay lasts at the end of the recording, or at the time of the report.
        open: Option<bool>, Plain, "", "made by the extract";
    }
}
