//! `view`: its answers have the bytes of the program's own.

mod columns;
mod words;

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;
use tracesift_ask::options::Registered;
use tracesift_ask::question;
use tracesift_scenario::story;

use crate::support::{archives, program, tracesift};

/// A server that ends with this value.
struct Server {
    process: Child,
    port: u16,
    token: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Server {
    fn start(directory: &Path, arguments: &[&str]) -> Self {
        let mut command = program(directory, &[&["view", "--no-open"], arguments].concat());
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut url).unwrap();
        let (address, token) = url.trim().split_once("/#token=").unwrap_or_else(|| panic!("no URL: {url}"));
        let port = address.strip_prefix("http://127.0.0.1:").unwrap().parse().unwrap();
        Self { process, port, token: token.to_owned() }
    }

    /// Status, head and body of a response.
    fn send(&self, first: &str, body: &str) -> (u16, String, Vec<u8>) {
        let mut request = format!("{first} HTTP/1.1\r\nHost: localhost:{}\r\nConnection: close\r\n", self.port);
        write!(request, "Tracesift-Token: {}\r\nContent-Length: {}\r\n", self.token, body.len()).unwrap();
        write!(request, "Content-Type: application/json\r\n\r\n{body}").unwrap();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head, bytes[end + 4..].to_vec())
    }

    fn ask(&self, recordings: &[&str], words: &[impl AsRef<str>]) -> (u16, String, Vec<u8>) {
        let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
        self.send("POST /api/1/ask", &json!({ "recordings": recordings, "words": words }).to_string())
    }
}

/// Words with a part of a recording, a choice of processes or another order where a question has such options.
fn variants(question: &Registered) -> Vec<Vec<String>> {
    let words = |more: &[&str]| question.command.split(' ').chain(more.iter().copied()).map(str::to_owned).collect();
    let mut all: Vec<Vec<String>> = question.ways().map(|way| words(&way)).collect();
    let of = [
        ("time", "--time=0.05s..0.2s"),
        ("process", "--process=*e*"),
        ("top", "--top=2"),
        ("zero_time", "--zero-time=process-start:*"),
    ];
    for (id, word) in of {
        if question.has_option(id) {
            all.push(words(&[word]));
        }
    }
    all.push(words(&["--columns=file"]));
    all
}

/// Compares answers about recordings with those of the program.
fn compare(
    directory: &Path,
    server: &Server,
    recordings: &[(&str, &str)],
    asked: impl Iterator<Item = Vec<String>>,
) -> usize {
    let names: Vec<&str> = recordings.iter().map(|(name, _)| *name).collect();
    let mut compared = 0;
    for words in asked {
        let (named, options) = words.split_at(if words[0] == "dump" || words[0] == "symbols" { 2 } else { 1 });
        let mut arguments: Vec<&str> = named.iter().map(String::as_str).collect();
        arguments.extend(recordings.iter().map(|(_, file)| *file));
        arguments.extend(options.iter().map(String::as_str));
        arguments.extend(["--format", "json"]);
        let output = program(directory, &arguments).output().unwrap();
        let (status, head, body) = server.ask(&names, &words);
        if output.stdout.is_empty() {
            assert_ne!(status, 200, "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
            continue;
        }
        let text = String::from_utf8_lossy(&body);
        assert_eq!(status, 200, "{words:?}: {text}");
        assert_eq!(text, String::from_utf8_lossy(&output.stdout), "{words:?}");
        assert!(head.to_lowercase().contains("tracesift-command: tracesift%20"), "{head}");
        compared += 1;
    }
    compared
}

#[test]
fn answers_have_the_bytes_of_the_program() {
    let directory = archives();
    let [first, second] = ["Slow.sift", "Write_250ms_PC_CLT_TestStatus-Passed_20220404-101500.sift"];
    let server = Server::start(directory.path(), &[first, second]);
    let all = || question::all().flat_map(variants);
    assert!(compare(directory.path(), &server, &[("r1", second)], all()) > 100);
    let both = [("r0", first), ("r1", second)];
    compare(directory.path(), &server, &both, all().step_by(5));
}

/// The directory of a recording of the demo.
fn demo() -> TempDir {
    let directory = TempDir::new().unwrap();
    let shortest = story::figures().into_iter().min_by_key(|figures| story::scenario(figures).recording.end_ticks);
    std::fs::write(directory.path().join("demo.etl"), story::scenario(&shortest.unwrap()).bytes().unwrap()).unwrap();
    directory
}

#[test]
fn answers_about_the_demo_have_the_bytes_of_the_program() {
    let directory = demo();
    tracesift(directory.path(), &["extract", "demo.etl"]);
    let server = Server::start(directory.path(), &["demo.sift"]);
    assert!(compare(directory.path(), &server, &[("r0", "demo.sift")], question::all().flat_map(variants)) > 100);
}

#[test]
fn a_recording_is_extracted_first() {
    let directory = demo();
    let server = Server::start(directory.path(), &["demo.etl"]);
    let few = question::all().flat_map(variants).step_by(40).chain([vec!["dump".to_owned(), "stats".to_owned()]]);
    assert!(compare(directory.path(), &server, &[("r0", "demo.etl")], few) > 3);
    let (status, _, body) = server.send("GET /api/1/session", "");
    let session: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!((status, &session["recordings"][0]["file"]), (200, &json!("demo.etl")));
    assert!(!directory.path().join("demo.sift").exists());
}

#[test]
fn words_that_name_files_or_do_something_are_refused() {
    let directory = archives();
    std::fs::write(directory.path().join("x.stacktags"), tracesift_analysis::tags::BUILT_IN).unwrap();
    let server = Server::start(directory.path(), &["Slow.sift", "--tag-file", "x.stacktags"]);
    let refused = [
        "dump cpu --csv x.csv",
        "dump cpu -o x.json",
        "dump cpu --out=x.json",
        "dump cpu /etc/passwd",
        "dump cpu -- Slow.sift",
        "dump cpu -f *",
        "dump cpu --recursive",
        "dump cpu --format csv",
        "dump cpu --tag-file /etc/passwd",
        "dump cpu --tag-file=x.stacktags",
        "dump cpu --tag-file t1",
        "dump regions --region-file /etc/passwd",
        "dump cpu --region-file=/etc/passwd",
        "dump cpu --run-index 0",
        "dump cpu --wide",
        "dump cpu --no-such-option",
        "dump nothing",
        "dump",
        "",
        "--help",
        "dump cpu --help",
        "--version",
        "extract Slow.sift",
        "record -- true",
        "run plan.toml",
        "demo",
        "view Slow.sift",
        "symbols load",
        "symbols cache clear",
        "events",
        "export --format folded",
        "flame",
        "compare",
        "man --out x",
        "completions bash",
        "-dump CPU",
    ];
    for line in refused {
        let words: Vec<&str> = line.split(' ').collect();
        let (status, _, body) = server.ask(&["r0"], &words);
        assert_eq!(status, 400, "{line}: {}", String::from_utf8_lossy(&body));
        let answer: Value = serde_json::from_slice(&body).unwrap();
        assert!(answer["error"].as_str().is_some_and(|error| !error.is_empty()), "{line}");
    }
    let mut left: Vec<String> = std::fs::read_dir(directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.retain(|name| !name.ends_with(".sift") && name != "x.stacktags" && name != "cache");
    assert!(left.is_empty(), "{left:?}");
    let words = ["dump", "cpu", "--stacktags", "*", "--tag-file", "t0"];
    let (status, head, body) = server.ask(&["r0"], &words);
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&body));
    assert!(head.contains("--tag-file%20x.stacktags"), "{head}");
    let own = ["dump", "cpu", "--stacktags", "*", "--tag-file", "x.stacktags", "Slow.sift", "--format", "json"];
    assert_eq!(String::from_utf8_lossy(&body), tracesift(directory.path(), &own));
}

#[test]
fn a_flame_graph_has_the_figures_of_the_stacks() {
    let directory = demo();
    let server = Server::start(directory.path(), &["demo.etl"]);
    let body =
        json!({ "recordings": ["r0"], "words": ["dump", "stacks", "--min-share", "0", "--top", "1000"], "by": "cpu" });
    let (status, _, bytes) = server.send("POST /api/1/flame", &body.to_string());
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&bytes));
    let length = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
    let head: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let words =
        ["dump", "stacks", "demo.etl", "--min-share", "0", "--top", "1000", "--measure", "cpu", "--format", "json"];
    let lines: Vec<Value> = serde_json::from_str(&tracesift(directory.path(), &words)).unwrap();
    let sum: i64 = lines.iter().map(|line| line["self_ns"].as_i64().unwrap()).sum();
    assert!(sum > 0);
    assert_eq!(head["total"], sum);
    let processes = lines.iter().map(|line| line["pid"].to_string()).collect::<std::collections::BTreeSet<_>>().len();
    assert_eq!(head["frames"], lines.len() + processes);
}

/// The lanes below another one.
fn below(server: &Server, parent: &str) -> Vec<Value> {
    let (status, _, body) = server.send(&format!("GET /api/1/lanes?of=r0&parent={parent}"), "");
    assert_eq!(status, 200);
    serde_json::from_slice::<Value>(&body).unwrap()["lanes"].as_array().unwrap().clone()
}

#[test]
fn a_wait_has_what_the_question_about_waits_tells() {
    let directory = demo();
    tracesift(directory.path(), &["extract", "demo.etl"]);
    let server = Server::start(directory.path(), &["demo.sift"]);
    let words = ["dump", "waits", "demo.sift", "--top", "40", "--format", "json"];
    let waits: Vec<Value> = serde_json::from_str(&tracesift(directory.path(), &words)).unwrap();
    let threads: Vec<Value> = below(&server, "processes")
        .iter()
        .flat_map(|process| below(&server, process["id"].as_str().unwrap()))
        .collect();
    let mut with_chain = 0;
    for wait in &waits {
        let start = format!("{}({}) {}", wait["process"].as_str().unwrap(), wait["pid"], wait["tid"]);
        let lane = threads.iter().find(|lane| lane["name"].as_str().unwrap().starts_with(&start));
        let lane = lane.unwrap_or_else(|| panic!("no lane {start}"));
        let body = json!({ "recording": "r0", "lane": lane["id"], "ns": wait["from_ns"].as_i64().unwrap() + 1 });
        let (status, _, bytes) = server.send("POST /api/1/at", &body.to_string());
        let at: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(status, 200, "{at}");
        assert_eq!((&at["span"]["start_ns"], &at["span"]["end_ns"]), (&wait["from_ns"], &wait["to_ns"]), "{wait}");
        assert_eq!((&at["span"]["state"], &at["span"]["reason"]), (&json!("wait"), &wait["reason"]));
        assert_eq!(at["stack"], wait["wait_stack"]);
        assert_eq!(at["waker"]["stack"].is_null(), wait["waker_tid"].is_null());
        let links = at["chain"].as_array().unwrap();
        assert_eq!(links.len(), wait["chain"].as_array().map_or(0, Vec::len));
        for (link, of_wait) in links.iter().zip(wait["chain"].as_array().into_iter().flatten()) {
            assert_eq!((&link["tid"], &link["run_ns"]), (&of_wait["tid"], &of_wait["run_ns"]));
            assert!(link["lane"].as_str().is_some_and(|lane| lane.starts_with("thread:")), "{link}");
            with_chain += 1;
        }
    }
    assert!(!waits.is_empty() && with_chain > 0);
}

/// The files of a directory that lead to a page.
#[cfg(unix)]
fn url_files(directory: &Path) -> Vec<std::path::PathBuf> {
    let paths = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "html")).collect()
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_it_and_leaves_nothing() {
    use std::os::unix::fs::PermissionsExt as _;
    for signal in ["-INT", "-TERM"] {
        let (directory, temporary) = (archives(), TempDir::new().unwrap());
        let mut command = program(directory.path(), &["view", "Slow.sift", "--no-open"]);
        let command = command.env("TMPDIR", temporary.path()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        let mut url = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut url).unwrap();
        let files = url_files(temporary.path());
        let [file] = &files[..] else { panic!("{files:?}") };
        assert_eq!(std::fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(std::fs::read_to_string(file).unwrap().contains(url.trim()));
        let killed = std::process::Command::new("kill").args([signal, &process.id().to_string()]).status().unwrap();
        assert!(killed.success());
        assert_eq!(process.wait().unwrap().code(), Some(0), "{signal}");
        assert_eq!(url_files(temporary.path()), Vec::<std::path::PathBuf>::new());
    }
}

#[test]
fn wrong_ports_and_missing_files_are_told() {
    let directory = archives();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let output = program(directory.path(), &["view", "Slow.sift", "--no-open", "--port", &port]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains(&format!("port {port}: ")), "{text}");
    let output = program(directory.path(), &["view", "nothing.sift", "--no-open"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
}
