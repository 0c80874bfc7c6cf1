//! A server of a recording of the demo, and a client that can send anything.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use tracesift_archive::Watch;
use tracesift_ask::recording::Source;
use tracesift_ask::tag_files;
use tracesift_extract::Options;
use tracesift_scenario::story;
use tracesift_testing::recording::extract_file;
use tracesift_view::{Answered, Answers, Given, Refused, Server, Settings, Start, TagFile};

/// Answers with the words themselves; `wait` lasts until it is cancelled.
#[derive(Default)]
pub(crate) struct Echo {
    pub(crate) waiting: AtomicUsize,
    pub(crate) cancelled: AtomicUsize,
}

impl Answers for Echo {
    fn ask(&self, recordings: &[usize], words: &[String], watch: &Watch) -> Result<Answered, Refused> {
        match words.first().map(String::as_str) {
            Some("wait") => {
                self.waiting.fetch_add(1, Ordering::SeqCst);
                while !watch.is_cancelled() {
                    std::thread::sleep(Duration::from_millis(2));
                }
                self.waiting.fetch_sub(1, Ordering::SeqCst);
                self.cancelled.fetch_add(1, Ordering::SeqCst);
                Err(Refused::Cancelled)
            }
            Some("wrong") => Err(Refused::Words { error: "words: wrong".to_owned(), hint: Some("others".to_owned()) }),
            Some("failed") => Err(Refused::Failed("file: failed".to_owned())),
            _ => Ok(Answered {
                body: serde_json::to_vec(&(recordings, words)).unwrap(),
                command: words.join(" "),
                notes: vec!["a note, é".to_owned()],
            }),
        }
    }
}

/// A server that runs until it is dropped.
pub(crate) struct Running {
    pub(crate) port: u16,
    pub(crate) token: String,
    pub(crate) answers: Arc<Echo>,
    pub(crate) archive: PathBuf,
    pub(crate) address: std::net::SocketAddr,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    _directory: TempDir,
}

impl Running {
    /// A server of the shortest recording of the demo.
    pub(crate) fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let figures = story::figures().into_iter().min_by_key(|figures| story::scenario(figures).recording.end_ticks);
        let bytes = story::scenario(&figures.unwrap()).bytes().unwrap();
        let file = directory.path().join("demo.etl");
        std::fs::write(&file, bytes).unwrap();
        Self::of(extract_file(&file, &Options::default()).archive, directory)
    }

    /// A server of an archive, which is in a directory of its own.
    pub(crate) fn of(archive: PathBuf, directory: TempDir) -> Self {
        let tags = tag_files::load(&[], false, &mut |warning| panic!("{warning}")).unwrap();
        let settings = Settings {
            recordings: vec![Given { source: Source::archive(archive.clone()), file: "demo.sift".to_owned() }],
            tag_files: vec![TagFile { id: "builtin".to_owned(), name: "built-in".to_owned(), tags }],
            start: Start { recording: "r0".to_owned(), ..Start::default() },
            ..Settings::default()
        };
        let answers = Arc::new(Echo::default());
        let server = Server::new(settings, answers.clone()).unwrap();
        let address = server.address().unwrap();
        let token = server.url().rsplit_once("#token=").unwrap().1.to_owned();
        let is_over = Arc::new(AtomicBool::new(false));
        let ends = is_over.clone();
        let thread = std::thread::spawn(move || server.run(|| ends.load(Ordering::SeqCst)).unwrap());
        let port = address.port();
        Self { port, token, answers, archive, address, is_over, thread: Some(thread), _directory: directory }
    }

    /// Sends bytes and reads the response.
    pub(crate) fn raw(&self, request: &[u8]) -> Response {
        let mut stream = self.connect();
        // A server that has seen enough may close before it has read all.
        let _ = stream.write_all(request);
        Response::read(stream)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// The head of a request of the page.
    pub(crate) fn head(&self, first: &str, more: &str) -> String {
        format!(
            "{first} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\nTracesift-Token: {}\r\n{more}\r\n",
            self.port, self.token
        )
    }

    pub(crate) fn get(&self, path: &str) -> Response {
        self.raw(self.head(&format!("GET {path}"), "").as_bytes())
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Response {
        self.post_bytes(path, body.to_string().as_bytes())
    }

    pub(crate) fn post_bytes(&self, path: &str, body: &[u8]) -> Response {
        let more = format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
        let mut request = self.head(&format!("POST {path}"), &more).into_bytes();
        request.extend(body);
        self.raw(&request)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A response; status 0: none came.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Response {
    pub(crate) fn read(mut stream: TcpStream) -> Self {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
            return Self { status: 0, head: String::new(), body: bytes };
        };
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let body = bytes[end + 4..].to_vec();
        let body = if head.contains("transfer-encoding: chunked") { unchunked(&body) } else { body };
        Self { status, head, body }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

fn unchunked(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|window| window == b"\r\n") {
        let length = usize::from_str_radix(std::str::from_utf8(&rest[..end]).unwrap(), 16).unwrap();
        if length == 0 {
            break;
        }
        body.extend(&rest[end + 2..][..length]);
        rest = &rest[end + 2 + length + 2..];
    }
    body
}

/// A frame: its head, and its columns by the names of their series.
pub(crate) struct Frame {
    pub(crate) head: Value,
    pub(crate) columns: Vec<Vec<f64>>,
}

impl Frame {
    /// The frames of a body.
    pub(crate) fn all(bytes: &[u8]) -> Vec<Self> {
        let frames = tracesift_testing::frames::frames(bytes).into_iter();
        let of_names = |frame: tracesift_testing::frames::Frame| {
            let (head, mut columns) = (frame.head, frame.columns);
            let series = head["series"].as_array().unwrap().len() + head["peaks"].as_array().map_or(0, Vec::len);
            columns.resize(series, Vec::new());
            Self { head, columns }
        };
        frames.map(of_names).collect()
    }

    /// The peaks of a series: they stand behind the series.
    pub(crate) fn peaks(&self, name: &str) -> &[f64] {
        let place = self.head["peaks"].as_array().unwrap().iter().position(|peak| peak == name);
        let series = self.head["series"].as_array().unwrap().len();
        &self.columns[series + place.unwrap_or_else(|| panic!("no peaks of {name}: {}", self.head))]
    }

    pub(crate) fn column(&self, name: &str) -> &[f64] {
        let series = self.head["series"].as_array().unwrap();
        let place = series.iter().position(|series| series == name);
        &self.columns[place.unwrap_or_else(|| panic!("no series {name}: {}", self.head))]
    }
}
