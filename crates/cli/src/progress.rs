//! Progress of extracts: bars on a terminal, nothing elsewhere.

use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use tracesift_extract::Step;

/// The bars of all recordings that are being extracted, and of the downloads for them.
#[derive(Clone)]
pub(crate) struct Progress {
    bars: MultiProgress,
    all: Option<ProgressBar>,
}

impl Progress {
    /// Bars for a number of recordings.
    pub(crate) fn new(recordings: usize) -> Self {
        let target = if std::io::stderr().is_terminal() {
            ProgressDrawTarget::stderr_with_hz(8)
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

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
