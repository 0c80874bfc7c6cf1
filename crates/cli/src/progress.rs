//! Progress of extracts and of questions: bars on a terminal, nothing elsewhere.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use tracesift_archive::Watch;
use tracesift_extract::Step;

use crate::terminal;

/// How often a second bars are drawn.
const HZ: u8 = 8;
/// A question that takes no longer has no bar.
const SHORT: Duration = Duration::from_millis(200);

/// The bars of all recordings that are being extracted, and of the downloads for them.
#[derive(Clone)]
pub(crate) struct Progress {
    bars: MultiProgress,
    all: Option<ProgressBar>,
}

impl Progress {
    /// Bars for a number of recordings.
    pub(crate) fn new(recordings: usize) -> Self {
        let target = if terminal::stderr_shows_bars() {
            ProgressDrawTarget::stderr_with_hz(HZ)
        } else {
            ProgressDrawTarget::hidden()
        };
        let bars = MultiProgress::with_draw_target(target);
        let all = (recordings > 1).then(|| {
            let all = bars.add(ProgressBar::new(recordings as u64));
            all.set_style(style("{bar:30} {pos} of {len} recordings, {elapsed}"));
            all.enable_steady_tick(Duration::from_millis(500));
            all
        });
        Self { bars, all }
    }

    /// A bar for one recording.
    pub(crate) fn start(&self, name: &str) -> RecordingProgress {
        let bar = self.bars.add(ProgressBar::new(0));
        bar.set_style(style("{bar:30} {percent:>3} % {msg}"));
        RecordingProgress { bar, name: crate::output::cell::clean(name).into_owned(), phase: "" }
    }

    /// A bar for a download.
    pub(crate) fn download(&self, url: &str) -> ProgressBar {
        let bar = self.bars.add(ProgressBar::new(0));
        bar.set_style(style("{bytes:>12} of {total_bytes} {msg}"));
        bar.set_message(crate::output::cell::clean(url).into_owned());
        bar
    }

    /// One recording is through.
    pub(crate) fn done(&self) {
        if let Some(all) = &self.all {
            all.inc(1);
        }
    }

    /// Lets `print` write to the terminal without tearing the bars.
    pub(crate) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bars.suspend(print)
    }
}

/// The bar of one recording; it vanishes when the recording is through.
pub(crate) struct RecordingProgress {
    bar: ProgressBar,
    name: String,
    phase: &'static str,
}

impl RecordingProgress {
    /// The extract has come so far.
    pub(crate) fn step(&mut self, step: Step) {
        // Before the message: a bar without a length is drawn as a full one.
        self.bar.set_length(step.total);
        self.bar.set_position(step.done);
        if self.phase != step.phase {
            self.phase = step.phase;
            self.bar.set_message(format!("{} {}", step.phase, self.name));
        }
    }
}

impl Drop for RecordingProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Lets a question to so many archives be answered under a watch; if it takes long, a bar shows how far it is.
pub(crate) fn shown_while<T>(watch: &Watch, archives: usize, answer: impl FnOnce() -> T) -> T {
    if !terminal::stderr_shows_bars() {
        return answer();
    }
    thread::scope(|scope| {
        let (is_answered, ended) = mpsc::channel();
        scope.spawn(move || show(watch, archives, &ended));
        let answer = answer();
        drop(is_answered);
        answer
    })
}

/// Shows how far a question is until it has ended.
fn show(watch: &Watch, archives: usize, ended: &Receiver<()>) {
    let goes_on = |time| ended.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
    if !goes_on(SHORT) {
        return;
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(HZ));
    // The rows of many archives are not known before the last one is begun.
    let is_of_rows = archives == 1;
    bar.set_style(style(match is_of_rows {
        true => "{bar:30} {percent:>3} % of {human_len} rows",
        false => "{bar:30} {pos} of {len} recordings",
    }));
    loop {
        let progress = watch.progress();
        let (done, all) = if is_of_rows { (progress.done, progress.all) } else { (progress.archives, archives as u64) };
        // A bar without a length is drawn as a full one.
        if all > 0 {
            bar.set_length(all);
            bar.set_position(done);
        }
        if !goes_on(Duration::from_secs(1) / u32::from(HZ)) {
            break;
        }
    }
    bar.finish_and_clear();
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
