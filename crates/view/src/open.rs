//! The browser is opened with a file that leads to the page: every user of a machine sees the command lines of its processes.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::NamedTempFile;

/// A file that only its owner can read and that leads to the page. It is gone with this value.
#[derive(Debug)]
pub struct UrlFile(NamedTempFile);

impl UrlFile {
    /// Writes it.
    ///
    /// # Errors
    /// When there is no place for temporary files.
    pub fn new(url: &str) -> io::Result<Self> {
        // A temporary file has the mode 0600.
        let mut file = tempfile::Builder::new().prefix("tracesift-view-").suffix(".html").tempfile()?;
        let head = "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">";
        writeln!(file, "{head}<meta http-equiv=\"refresh\" content=\"0; url={url}\"><title>tracesift</title>")?;
        file.flush()?;
        Ok(Self(file))
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Shows it in the browser. False: there is none to be seen.
    #[must_use]
    pub fn show(&self) -> bool {
        let Some(mut command) = opener() else { return false };
        let command = command.arg(self.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let Ok(mut child) = command.spawn() else { return false };
        // What opens the browser ends at once, or is the browser.
        std::thread::spawn(move || child.wait());
        true
    }
}

/// The program that opens a file as the desktop does.
fn opener() -> Option<Command> {
    if cfg!(windows) {
        let mut command = Command::new("rundll32.exe");
        command.arg("url.dll,FileProtocolHandler");
        return Some(command);
    }
    if cfg!(target_os = "macos") {
        return Some(Command::new("open"));
    }
    let has_screen =
        ["WAYLAND_DISPLAY", "DISPLAY"].iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    has_screen.then(|| Command::new("xdg-open"))
}
