//! An HTTP server on loopback that does what it is told, also what no server should.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// What is asked.
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) headers: HashMap<String, String>,
}

type Handler = dyn Fn(&Asked, &mut TcpStream) -> std::io::Result<()> + Send + Sync;

/// A running server; it ends when dropped.
pub(crate) struct Server {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<String>>>,
    ended: Arc<AtomicBool>,
}

impl Server {
    /// Each connection is one request.
    pub(crate) fn new(handler: impl Fn(&Asked, &mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let (asked, ended) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let handler: Arc<Handler> = Arc::new(handler);
        let (log, is_ended) = (Arc::clone(&asked), Arc::clone(&ended));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if is_ended.load(Ordering::Relaxed) {
                    return;
                }
                let (handler, log) = (Arc::clone(&handler), Arc::clone(&log));
                std::thread::spawn(move || {
                    let mut stream = stream;
                    if let Some(request) = read(&stream) {
                        let range = request.headers.get("range").map(|range| format!(" {range}")).unwrap_or_default();
                        log.lock().expect("no panic").push(format!("{}{range}", request.path));
                        // Who is asked may hang up.
                        let _ = handler(&request, &mut stream);
                    }
                });
            }
        });
        Self { url, asked, ended }
    }

    /// A server with files, which knows ranges and validators.
    pub(crate) fn with(files: &[(&str, Vec<u8>)]) -> Self {
        let files: HashMap<String, Vec<u8>> =
            files.iter().map(|(path, bytes)| ((*path).to_owned(), bytes.clone())).collect();
        Self::new(move |asked, stream| match files.get(&asked.path) {
            Some(bytes) => serve(asked, stream, bytes, bytes.len()),
            None => answer(stream, "404 Not Found", &[], b"no such file"),
        })
    }

    /// What was asked for, in order.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("no panic").clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.url.trim_start_matches("http://"));
    }
}

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next()?.ok()?;
    let path = first.split(' ').nth(1)?.to_owned();
    let mut headers = HashMap::new();
    for line in lines {
        let line = line.ok()?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    Some(Asked { path, headers })
}

/// One answer.
pub(crate) fn answer(stream: &mut TcpStream, status: &str, headers: &[&str], body: &[u8]) -> std::io::Result<()> {
    let mut text = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n", body.len());
    headers.iter().for_each(|header| text.push_str(&format!("{header}\r\n")));
    stream.write_all(format!("{text}\r\n").as_bytes())?;
    stream.write_all(body)
}

/// A file, or the part of it that was asked for; at most `most` bytes are sent, however many were announced.
pub(crate) fn serve(asked: &Asked, stream: &mut TcpStream, bytes: &[u8], most: usize) -> std::io::Result<()> {
    let tag = format!("\"{:x}\"", bytes.len());
    let range =
        asked.headers.get("range").and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok());
    let start: usize = range.filter(|_| asked.headers.get("if-range") == Some(&tag)).unwrap_or(0);
    let (status, ranges) = match start {
        0 => ("200 OK", String::new()),
        _ if start >= bytes.len() => return answer(stream, "416 Range Not Satisfiable", &[], b""),
        _ => ("206 Partial Content", format!("Content-Range: bytes {start}-{}/{}\r\n", bytes.len() - 1, bytes.len())),
    };
    let rest = &bytes[start..];
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nETag: {tag}\r\n{ranges}Connection: close\r\n\r\n",
        rest.len()
    )?;
    stream.write_all(&rest[..rest.len().min(most)])
}
