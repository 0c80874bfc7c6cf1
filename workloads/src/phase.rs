//! Phases: a mark at both ends, and a thread that waits in between.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};

use crate::measure::on_stack;
use crate::system::{self, mark};

/// A part of the work that goes on.
#[derive(Debug)]
pub(crate) struct Phase {
    name: String,
    begin: i64,
    cpu: i64,
    marked: bool,
    /// Absent where the system gave no thread; the phase has its marks then.
    waiting: Option<(Sender<()>, JoinHandle<()>)>,
}

/// A phase that has ended.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) begin: i64,
    pub(crate) end: i64,
    /// CPU time of the process meanwhile.
    pub(crate) cpu: i64,
    pub(crate) marked: bool,
}

impl Phase {
    pub(crate) fn begin(name: &str) -> Self {
        let (end, ended) = channel();
        let (start, started) = channel();
        let body = move || {
            // Nobody listens any more where the phase is over already.
            let _ = start.send(());
            wait_for_phase_end(&ended);
        };
        let thread = Builder::new().name(format!("phase:{name}")).spawn(body).ok();
        if thread.is_some() {
            let _ = started.recv();
        }
        let marked = mark(&format!("phase {name} begin"));
        let (begin, cpu) = (system::time_ns(), system::process_cpu_ns());
        Self { name: name.to_owned(), begin, cpu, marked, waiting: thread.map(|thread| (end, thread)) }
    }

    pub(crate) fn end(self) -> Told {
        let (end, cpu) = (system::time_ns(), system::process_cpu_ns());
        let marked = mark(&format!("phase {} end", self.name));
        if let Some((end, thread)) = self.waiting {
            drop(end);
            // It does nothing that could panic.
            let _ = thread.join();
        }
        Told { begin: self.begin, end, cpu: cpu - self.cpu, marked: self.marked && marked }
    }
}

/// Where the thread of a phase stands as long as the phase lasts.
#[inline(never)]
fn wait_for_phase_end(ended: &Receiver<()>) {
    // The other end is dropped, nothing is ever sent.
    let _ = on_stack(ended.recv());
}
