//! Recordings become archives in the background: by a process of its own, which stands still while a test runs.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::process::{self, Ending};

/// Between two looks at whether it is through.
const TICK: Duration = Duration::from_millis(20);
/// What is at work when the user wants an end may take that long to become whole.
const PATIENCE: Duration = Duration::from_secs(5);

/// Extracts one recording after the other.
#[derive(Debug)]
pub struct Extraction {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<PathBuf>,
    child: Option<Child>,
    /// A test runs.
    held: bool,
    /// There will be no more.
    closed: bool,
    /// What was at work was ended.
    given_up: bool,
    failed: Vec<(PathBuf, String)>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Extraction {
    /// By this command, whose last argument is the recording.
    #[must_use]
    pub fn by(command: Vec<OsString>) -> Self {
        let shared = Arc::new(Shared::default());
        let others = Arc::clone(&shared);
        let thread = std::thread::spawn(move || work(&others, &command));
        Self { shared, thread: Some(thread) }
    }

    /// Extracts this recording when it is its turn.
    pub fn add(&self, recording: &Path) {
        self.shared.lock().waiting.push_back(recording.to_owned());
        self.shared.changed.notify_all();
    }

    /// Stands still. Where a process cannot be halted this waits until the one at work is through.
    pub(super) fn hold(&self) {
        let mut queue = self.shared.lock();
        queue.held = true;
        if let Some(child) = &queue.child {
            process::halt(child.id());
        }
        while !process::CAN_HALT && queue.child.is_some() {
            let waited = self.shared.changed.wait_timeout(queue, TICK);
            queue = waited.map_or_else(|poisoned| poisoned.into_inner().0, |(queue, _)| queue);
        }
    }

    /// Goes on.
    pub(super) fn release(&self) {
        let mut queue = self.shared.lock();
        queue.held = false;
        if let Some(child) = &queue.child {
            process::go_on(child.id());
        }
        self.shared.changed.notify_all();
    }

    /// Recordings that are not extracted yet.
    #[must_use]
    pub fn left(&self) -> usize {
        let queue = self.shared.lock();
        queue.waiting.len() + usize::from(queue.child.is_some())
    }

    /// Waits until all are extracted, or until the flag is set; what is at work then has a moment to become whole. Recordings that could
    /// not be extracted, with what was said.
    #[must_use]
    pub fn finish(mut self, cancel: &AtomicBool) -> Vec<(PathBuf, String)> {
        self.shared.lock().closed = true;
        self.release();
        while self.left() > 0 && !cancel.load(Ordering::Relaxed) {
            std::thread::sleep(TICK);
        }
        self.end();
        std::mem::take(&mut self.shared.lock().failed)
    }

    /// Nothing further is begun; what is at work has a moment to become whole.
    fn end(&mut self) {
        {
            let mut queue = self.shared.lock();
            queue.closed = true;
            queue.waiting.clear();
        }
        self.release();
        let start = Instant::now();
        while self.left() > 0 && start.elapsed() < PATIENCE {
            std::thread::sleep(TICK);
        }
        let mut queue = self.shared.lock();
        if let Some(pid) = queue.child.as_ref().map(Child::id) {
            queue.given_up = true;
            process::end(pid, Ending::Force);
        }
        drop(queue);
        if let Some(thread) = self.thread.take() {
            // It has nothing that could panic.
            let _ = thread.join();
        }
    }
}

impl Drop for Extraction {
    fn drop(&mut self) {
        self.end();
    }
}

fn work(shared: &Shared, command: &[OsString]) {
    let Some((program, arguments)) = command.split_first() else { return };
    loop {
        let recording = {
            let mut queue = shared.lock();
            loop {
                if queue.closed && queue.waiting.is_empty() {
                    return;
                }
                if !queue.held
                    && let Some(recording) = queue.waiting.pop_front()
                {
                    let mut command = Command::new(program);
                    command
                        .args(arguments)
                        .arg(&recording)
                        .stdin(Stdio::null())
                        .stdout(Stdio::null())
                        .stderr(Stdio::piped());
                    process::detach(&mut command);
                    match command.spawn() {
                        Ok(child) => {
                            queue.child = Some(child);
                            break recording;
                        }
                        Err(error) => queue.failed.push((recording, error.to_string())),
                    }
                    continue;
                }
                queue = shared.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
            }
        };
        let said = wait(shared);
        let mut queue = shared.lock();
        if let Some(said) = said.filter(|_| !queue.given_up) {
            queue.failed.push((recording, said));
        }
        queue.child = None;
        drop(queue);
        shared.changed.notify_all();
    }
}

/// Waits for the process at work. What it said where it failed.
fn wait(shared: &Shared) -> Option<String> {
    let said = shared.lock().child.as_mut().and_then(|child| child.stderr.take());
    // Read to its end, so that it never stands still for want of a reader.
    let said = said.and_then(|said| std::io::read_to_string(said).ok()).unwrap_or_default();
    loop {
        let status = match shared.lock().child.as_mut()?.try_wait() {
            Ok(None) => None,
            Ok(Some(status)) => Some(Ok(status)),
            Err(error) => Some(Err(error)),
        };
        match status {
            None => std::thread::sleep(TICK),
            Some(Ok(status)) if status.success() => return None,
            Some(Ok(status)) => {
                let line = said.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
                return Some(if line.is_empty() { status.to_string() } else { line.to_owned() });
            }
            Some(Err(error)) => return Some(error.to_string()),
        }
    }
}
