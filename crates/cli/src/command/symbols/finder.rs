//! The search path of names, from the command line. Downloads show their progress, and Ctrl-C ends
//! them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use indicatif::ProgressBar;
use tracesift_extract::symbols::Finder;
use tracesift_record::interrupt::{self, INTERRUPTED};
use tracesift_symbols::fetch::{DownloadNumber, Observer, Options, default_directory, short_names};
use tracesift_symbols::search::SearchPath;

use crate::args::symbols::SearchArgs;
use crate::exit::UsageError;
use crate::progress::Progress;
use crate::terminal::Messages;

/// What stands for the value of the variable that Windows tools read.
const PATH: &str = "path";
/// What stands for nothing beyond this machine's files, which are searched anyway.
const LOCAL: &str = "local";
const VARIABLE: &str = "_NT_SYMBOL_PATH";

/// Makes a finder; `folders` are searched before everything else.
pub(crate) fn finder(
    symbols: &str,
    folders: &[PathBuf],
    sysroot: Option<&Path>,
    search: &SearchArgs,
    progress: &Progress,
    messages: &Messages,
) -> anyhow::Result<Finder> {
    let path = search_path(symbols, messages)?;
    for directory in path.directories().filter(|directory| !directory.is_dir()) {
        messages.warning(&format!("--symbols: there is no directory {}", directory.display()));
    }
    for place in path.unreachable() {
        messages.warning(&format!("--symbols: {place} is a path of the network or of Windows, and is not searched"));
    }
    if let Some(sysroot) = sysroot.filter(|sysroot| !sysroot.is_dir()) {
        messages.warning(&format!("--sysroot: there is no directory {}", sysroot.display()));
    }
    let mut options = Options::new(directory(search.symbol_cache.as_deref())?);
    options.offline = search.offline;
    options.retry = search.retry;
    options.beside = folders.to_vec();
    options.roots = sysroot.map(Path::to_owned).into_iter().collect();
    if cfg!(unix) {
        // Of this machine's files only those with the recorded build id are used.
        options.roots.push("/".into());
    }
    let downloads = Arc::new(Downloads::new(progress, *messages));
    if path.has_servers() && !search.offline {
        end_downloads_on_interrupt(Arc::clone(&downloads), *messages)?;
    }
    let cancel = Arc::clone(&downloads.cancel);
    Ok(Finder::new(path, options, downloads, cancel))
}

/// The directory of tables and downloads.
pub(super) fn directory(asked: Option<&Path>) -> anyhow::Result<PathBuf> {
    let directory = asked.map(Path::to_owned).or_else(default_directory);
    directory.context("there is no directory for caches in the environment; name one with --symbol-cache")
}

fn search_path(text: &str, messages: &Messages) -> anyhow::Result<SearchPath> {
    let (names, problem) = short_names();
    if let Some(problem) = problem {
        messages.warning(&problem);
    }
    let mut elements: Vec<String> = Vec::new();
    for element in text.split(';').map(str::trim) {
        if element.eq_ignore_ascii_case(PATH) {
            let hint = format!("set {VARIABLE}, or name servers and directories: --symbols 'msdl;C:\\symbols'");
            let value = std::env::var(VARIABLE).map_err(|_| UsageError::new(format!("{VARIABLE} is not set"), hint))?;
            elements.push(value);
        } else if !element.eq_ignore_ascii_case(LOCAL) {
            elements.push(element.to_owned());
        }
    }
    SearchPath::parse(&elements.join(";"), &names).map_err(|error| {
        let hint =
            format!("short names are path, local, {}; servers are written srv*STORE*URL", names.all().join(", "));
        UsageError::new(error.to_string(), hint).into()
    })
}

/// The first Ctrl-C ends the downloads, if there are any, and the work goes on with what is here.
fn end_downloads_on_interrupt(downloads: Arc<Downloads>, messages: Messages) -> anyhow::Result<()> {
    let handler = move || {
        let running = downloads.running.load(Ordering::Relaxed) > 0;
        if running && !downloads.cancel.swap(true, Ordering::Relaxed) {
            messages.note("downloads end; Ctrl-C again ends the program");
            return;
        }
        #[expect(clippy::exit, reason = "what Ctrl-C does where nobody handles it")]
        std::process::exit(INTERRUPTED.into());
    };
    interrupt::on_ctrl_c(handler).context("cannot watch for Ctrl-C")
}

/// The bars of running downloads.
struct Downloads {
    progress: Progress,
    messages: Messages,
    bars: Mutex<HashMap<DownloadNumber, ProgressBar>>,
    running: AtomicUsize,
    cancel: Arc<AtomicBool>,
}

impl Downloads {
    fn new(progress: &Progress, messages: Messages) -> Self {
        Self {
            progress: progress.clone(),
            messages,
            bars: Mutex::default(),
            running: AtomicUsize::new(0),
            cancel: Arc::default(),
        }
    }

    fn with_bars(&self, work: impl FnOnce(&mut HashMap<DownloadNumber, ProgressBar>)) {
        work(&mut self.bars.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Observer for Downloads {
    fn begun(&self, download: DownloadNumber, url: &str) {
        self.running.fetch_add(1, Ordering::Relaxed);
        self.with_bars(|bars| {
            bars.insert(download, self.progress.download(url));
        });
    }

    fn received(&self, download: DownloadNumber, bytes: u64, total: Option<u64>) {
        self.with_bars(|bars| {
            if let Some(bar) = bars.get(&download) {
                if let Some(total) = total {
                    bar.set_length(total);
                }
                bar.set_position(bytes);
            }
        });
    }

    fn ended(&self, download: DownloadNumber, _: bool) {
        self.running.fetch_sub(1, Ordering::Relaxed);
        self.with_bars(|bars| {
            if let Some(bar) = bars.remove(&download) {
                bar.finish_and_clear();
            }
        });
    }

    fn trouble(&self, line: &str) {
        self.progress.suspend(|| self.messages.warning(line));
    }
}
