//! What a request may cost.

use std::io::{Read as _, Write as _};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Response, Running};

const PATHS: [&str; 6] = ["ask", "columns", "spans", "at", "flame", "search"];

#[test]
fn damaged_bodies_are_refused() {
    let server = Running::start();
    for path in PATHS {
        let path = format!("/api/1/{path}");
        for body in [
            &b""[..],
            b"{",
            b"[]",
            b"null",
            b"\xff\xfe",
            b"{}",
            br#"{"recording":"r0","unknown":1}"#,
            br#"{"recording":5}"#,
        ] {
            let response = server.post_bytes(&path, body);
            assert_eq!(response.status, 400, "{path} {body:?}: {response:?}");
            assert!(response.json()["error"].as_str().is_some_and(|error| error.starts_with("body: ")));
        }
        let deep = "[".repeat(60_000);
        assert_eq!(server.post_bytes(&path, deep.as_bytes()).status, 400);
        assert_eq!(server.post_bytes(&path, &vec![b' '; (64 << 10) + 1]).status, 413, "{path}");
        let head = server.head(&format!("POST {path}"), "Content-Length: 2\r\n");
        assert_eq!(server.raw(format!("{head}{{}}").as_bytes()).status, 415);
        // A body without a length that does not end.
        let head =
            server.head(&format!("POST {path}"), "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n");
        let chunk = format!("8000\r\n{}\r\n", " ".repeat(0x8000));
        assert_eq!(server.raw(format!("{head}{chunk}{chunk}{chunk}0\r\n\r\n").as_bytes()).status, 413);
    }
}

#[test]
fn values_out_of_range_are_refused() {
    let server = Running::start();
    let columns = |change: &dyn Fn(&mut Value)| {
        let mut body = json!({ "recording": "r0", "from": 0, "to": 1_000_000, "columns": 10, "lanes": ["processes"] });
        change(&mut body);
        server.post("/api/1/columns", &body).status
    };
    assert_eq!(columns(&|_| ()), 200);
    assert_eq!(columns(&|body| body["columns"] = 8_192.into()), 200);
    assert_eq!(columns(&|body| body["columns"] = 8_193.into()), 400);
    assert_eq!(columns(&|body| body["columns"] = 0.into()), 400);
    assert_eq!(columns(&|body| body["columns"] = (-1).into()), 400);
    assert_eq!(columns(&|body| body["from"] = 1e30.into()), 400);
    assert_eq!(columns(&|body| body["from"] = i64::MIN.into()), 200);
    assert_eq!(columns(&|body| body["to"] = 0.into()), 400);
    assert_eq!(columns(&|body| body["to"] = i64::MAX.into()), 200);
    assert_eq!(columns(&|body| body["lanes"] = json!([])), 400);
    assert_eq!(columns(&|body| body["lanes"] = json!(["nothing:1"])), 400);
    assert_eq!(columns(&|body| body["lanes"] = vec!["processes"; 501].into()), 400);
    assert_eq!(columns(&|body| body["measure"] = "weight".into()), 400);
    for name in ["", "r", "r1", "r01", "r+0", "R0", "r99999999999", "../x", "r0 "] {
        assert_eq!(columns(&|body| body["recording"] = name.into()), 404, "{name}");
    }
    let spans = |lane: &str, most: i64| {
        server
            .post("/api/1/spans", &json!({ "recording": "r0", "lane": lane, "from": 0, "to": 9, "most": most }))
            .status
    };
    assert_eq!(
        (spans("cpu:0", 20_000), spans("cpu:0", 20_001), spans("cpu:0", 0), spans("processes", 9)),
        (200, 400, 400, 400)
    );
    let ask =
        |recordings: Value| server.post("/api/1/ask", &json!({ "recordings": recordings, "words": ["x"] })).status;
    assert_eq!(
        (ask(json!(["r0"])), ask(json!([])), ask(json!(["r0", "r0"])), ask(json!(["r1"]))),
        (200, 400, 400, 404)
    );
}

#[test]
fn large_heads_are_refused() {
    let server = Running::start();
    let response = server.raw(server.head("GET /", &format!("X: {}\r\n", "a".repeat(20_000))).as_bytes());
    assert!([0, 431].contains(&response.status), "{response:?}");
    let response = server.raw(server.head(&format!("GET /{}", "a".repeat(20_000)), "").as_bytes());
    assert!([0, 414, 431].contains(&response.status), "{response:?}");
    assert_eq!(server.get("/").status, 200);
}

#[test]
fn slow_clients_are_dropped() {
    let server = Running::start();
    let since = Instant::now();
    let mut heads = server.connect();
    heads.write_all(b"GET / HTTP/1.1\r\nHost: ").unwrap();
    let mut bodies = server.connect();
    let head = server.head("POST /api/1/ask", "Content-Type: application/json\r\nContent-Length: 100\r\n");
    bodies.write_all(head.as_bytes()).unwrap();
    bodies.write_all(b"{").unwrap();
    let body = Response::read(bodies);
    assert!([0, 408].contains(&body.status), "{body:?}");
    let head = Response::read(heads);
    assert!([0, 408].contains(&head.status), "{head:?}");
    assert!(since.elapsed() < Duration::from_secs(40));
}

/// A client that takes nothing would keep an answer in memory, and a thread at work.
#[test]
fn clients_that_take_nothing_are_dropped() {
    let server = Running::start();
    let lanes = 500;
    let body =
        json!({ "recording": "r0", "from": 0, "to": 8_192_000, "columns": 8_192, "lanes": vec!["processes"; lanes] });
    let body = body.to_string();
    let more = format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
    let mut stream = server.connect();
    stream.write_all(format!("{}{body}", server.head("POST /api/1/columns", &more)).as_bytes()).unwrap();
    std::thread::sleep(Duration::from_secs(15));
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    assert!(bytes.len() < lanes * 8_192 * 8, "{} bytes", bytes.len());
    assert_eq!(server.get("/api/1/session").status, 200);
}

#[test]
fn there_are_64_connections_at_a_time() {
    let server = Running::start();
    let mut idle: Vec<_> = (0..64).map(|_| server.connect()).collect();
    let mut late = server.connect();
    late.write_all(server.head("GET /", "").as_bytes()).unwrap();
    late.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    let mut first = [0];
    assert!(late.read(&mut first).is_err(), "there is no place");
    drop(idle.pop());
    late.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    assert_eq!(late.read(&mut first).unwrap(), 1);
}

/// Sends a question that lasts until it is cancelled.
fn wait(server: &Running, id: &str) -> std::net::TcpStream {
    let body = json!({ "recordings": ["r0"], "words": ["wait"] }).to_string();
    let more = format!("Content-Type: application/json\r\nTracesift-Id: {id}\r\nContent-Length: {}\r\n", body.len());
    let mut stream = server.connect();
    stream.write_all(format!("{}{body}", server.head("POST /api/1/ask", &more)).as_bytes()).unwrap();
    stream
}

/// Whether a request of this name is under way.
fn is_known(server: &Running, id: &str) -> bool {
    let response = server.get(&format!("/api/1/progress?id={id}"));
    assert_eq!(response.status, 200);
    !response.json().is_null()
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let since = Instant::now();
    while !is_so() {
        assert!(since.elapsed() < Duration::from_secs(30), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn whoever_goes_away_cancels_the_work() {
    let server = Running::start();
    let count = |of: &std::sync::atomic::AtomicUsize| of.load(Ordering::SeqCst);
    let waiting: Vec<_> = (0..4).map(|number| wait(&server, &format!("w{number}"))).collect();
    until("two work", || count(&server.answers.waiting) == 2);
    until("all have names", || (0..4).all(|number| is_known(&server, &format!("w{number}"))));
    let progress = server.get("/api/1/progress?id=w0").json();
    assert_eq!(progress, json!({ "done": 0.0, "rows": 0, "of": 0 }));
    // No more than two at a time, and short requests are answered meanwhile.
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(count(&server.answers.waiting), 2);
    assert_eq!(server.get("/api/1/session").status, 200);
    drop(waiting);
    until("all ended", || count(&server.answers.waiting) == 0 && !is_known(&server, "w3"));
    until("the name is gone", || !is_known(&server, "w0"));
    assert!((2..=4).contains(&count(&server.answers.cancelled)));
    let body = json!({ "recordings": ["r0"], "words": ["x"] });
    assert_eq!(server.post("/api/1/ask", &body).status, 200);
}

#[test]
fn too_many_that_wait_are_sent_away() {
    let server = Running::start();
    let _working: Vec<_> = (0..2).map(|number| wait(&server, &format!("v{number}"))).collect();
    until("two work", || server.answers.waiting.load(Ordering::SeqCst) == 2);
    let _waiting: Vec<_> = (0..32).map(|number| wait(&server, &format!("w{number}"))).collect();
    until("all wait", || (0..32).all(|number| is_known(&server, &format!("w{number}"))));
    let body = json!({ "recordings": ["r0"], "words": ["x"] });
    until("no place is left", || server.post("/api/1/ask", &body).status == 503);
}

#[test]
fn names_of_requests_are_short() {
    let server = Running::start();
    let body = json!({ "recordings": ["r0"], "words": ["x"] }).to_string();
    let status = |id: &str| {
        let more =
            format!("Content-Type: application/json\r\nTracesift-Id: {id}\r\nContent-Length: {}\r\n", body.len());
        server.raw(format!("{}{body}", server.head("POST /api/1/ask", &more)).as_bytes()).status
    };
    assert_eq!((status("a-1"), status(""), status("a b"), status(&"a".repeat(65))), (200, 400, 400, 400));
    assert_eq!((server.get("/api/1/progress").status, server.get("/api/1/progress?x=1").status), (400, 400));
}
