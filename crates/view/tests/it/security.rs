//! Who gets an answer, and what every response says.

use crate::support::Running;

/// The first line and the headers of a request, and the status that it gets.
type Case = (&'static str, String, u16);

const SESSION: &str = "GET /api/1/session";

/// Hosts, origins and sites.
fn askers(server: &Running) -> Vec<Case> {
    let (port, token) = (server.port, &server.token);
    let own = format!("Host: 127.0.0.1:{port}\r\n");
    let with = format!("{own}Tracesift-Token: {token}\r\n");
    let session = SESSION;
    vec![
        (session, with.clone(), 200),
        (session, format!("Host: localhost:{port}\r\nTracesift-Token: {token}\r\n"), 200),
        // Foreign hosts, as after rebinding of a name.
        (session, format!("Host: evil.test:{port}\r\nTracesift-Token: {token}\r\n"), 421),
        (session, format!("Host: 127.0.0.1.evil.test:{port}\r\nTracesift-Token: {token}\r\n"), 421),
        (session, format!("Host: 127.0.0.1\r\nTracesift-Token: {token}\r\n"), 421),
        (session, format!("Host: 127.0.0.1:{}\r\nTracesift-Token: {token}\r\n", port ^ 1), 421),
        (session, format!("Host: [::1]:{port}\r\nTracesift-Token: {token}\r\n"), 421),
        (session, format!("Tracesift-Token: {token}\r\n"), 421),
        (session, format!("{own}Host: evil.test\r\nTracesift-Token: {token}\r\n"), 421),
        ("GET http://evil.test/api/1/session", with.clone(), 421),
        ("GET /", "Host: evil.test\r\n".to_owned(), 421),
        // Foreign origins and sites.
        (session, format!("{with}Origin: http://127.0.0.1:{port}\r\n"), 200),
        (session, format!("{with}Origin: http://localhost:{port}\r\n"), 200),
        (session, format!("{with}Origin: http://evil.test\r\n"), 403),
        (session, format!("{with}Origin: https://127.0.0.1:{port}\r\n"), 403),
        (session, format!("{with}Origin: null\r\n"), 403),
        (session, format!("{with}Sec-Fetch-Site: same-origin\r\n"), 200),
        (session, format!("{with}Sec-Fetch-Site: none\r\n"), 200),
        (session, format!("{with}Sec-Fetch-Site: cross-site\r\n"), 403),
        (session, format!("{with}Sec-Fetch-Site: same-site\r\n"), 403),
        (session, format!("{with}Sec-Fetch-Site: none\r\nSec-Fetch-Site: cross-site\r\n"), 403),
        (
            session,
            format!("{with}Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n"),
            403,
        ),
        ("GET /assets/main.js", format!("{own}Sec-Fetch-Site: cross-site\r\n"), 403),
        // The file that the browser is opened with is another site.
        (
            "GET /",
            format!("{own}Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n"),
            200,
        ),
        (
            "GET /",
            format!("{own}Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\n"),
            403,
        ),
        (
            "GET /",
            format!("{own}Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: image\r\n"),
            403,
        ),
    ]
}

/// Tokens, methods and files.
fn others(server: &Running) -> Vec<Case> {
    let (session, token) = (SESSION, &server.token);
    let own = format!("Host: 127.0.0.1:{}\r\n", server.port);
    let with = format!("{own}Tracesift-Token: {token}\r\n");
    let mut other = token.clone();
    other.replace_range(..1, if token.starts_with('0') { "1" } else { "0" });
    vec![
        // Tokens.
        (session, own.clone(), 401),
        (session, format!("{own}Tracesift-Token: {other}\r\n"), 401),
        (session, format!("{own}Tracesift-Token: {}\r\n", &token[..63]), 401),
        (session, format!("{own}Tracesift-Token: {token}0\r\n"), 401),
        (session, format!("{own}Tracesift-Token:\r\n"), 401),
        (session, format!("{with}Tracesift-Token: {token}\r\n"), 401),
        (session, format!("{own}Cookie: token={token}\r\n"), 401),
        (session, format!("{own}Authorization: Bearer {token}\r\n"), 401),
        ("GET /api/1/nothing", own.clone(), 401),
        ("GET /api/1/nothing", with.clone(), 404),
        // Methods.
        ("OPTIONS /api/1/session", with.clone(), 405),
        ("OPTIONS *", own.clone(), 405),
        ("PUT /api/1/session", with.clone(), 405),
        ("DELETE /", own.clone(), 405),
        ("HEAD /", own.clone(), 405),
        ("POST /api/1/session", with.clone(), 405),
        ("GET /api/1/ask", with.clone(), 405),
        // The page and its files.
        ("GET /", own.clone(), 200),
        ("GET /assets/main.js", own.clone(), 200),
        ("GET /assets/../Cargo.toml", own.clone(), 404),
        ("GET /assets/..%2f..%2fCargo.toml", own.clone(), 404),
        ("GET /assets/%2e%2e/%2e%2e/etc/passwd", own.clone(), 404),
        ("GET /assets//etc/passwd", own.clone(), 404),
        ("GET /assets/main.js%00", own.clone(), 404),
        ("GET /assets/", own.clone(), 404),
        ("GET /index.html", own, 404),
    ]
}

/// The headers that every response has, in small letters: a part of the policy that is missing allows what it named.
const HEADERS: [(&str, &str); 8] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; \
         worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
         require-trusted-types-for 'script'; trusted-types tracesift",
    ),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-embedder-policy", "require-corp"),
    ("cross-origin-resource-policy", "same-origin"),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "deny"),
    ("referrer-policy", "no-referrer"),
    ("cache-control", "no-store"),
];

#[test]
fn only_our_page_gets_answers() {
    let server = Running::start();
    for (first, headers, expected) in askers(&server).into_iter().chain(others(&server)) {
        let response = server.raw(format!("{first} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n").as_bytes());
        assert_eq!(response.status, expected, "{first}\n{headers}\n{response:?}");
        for (name, value) in HEADERS {
            assert_eq!(response.header(name), Some(value), "{first}: {name}: {}", response.head);
        }
        assert!(!response.head.contains("access-control"), "{}", response.head);
        assert!(response.header("set-cookie").is_none());
        if expected >= 400 && !first.starts_with("HEAD") {
            assert!(response.json()["error"].is_string());
        }
    }
}

#[test]
fn a_token_in_the_address_is_none() {
    let server = Running::start();
    let request = format!(
        "GET /api/1/session?token={} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\r\n",
        server.token, server.port
    );
    assert_eq!(server.raw(request.as_bytes()).status, 401);
}

#[test]
fn it_listens_to_this_machine_alone() {
    let server = Running::start();
    assert_eq!(server.address.ip(), std::net::Ipv4Addr::LOCALHOST);
    let other = Running::start();
    assert_ne!(server.token, other.token);
}

#[cfg(unix)]
#[test]
fn the_file_that_leads_to_the_page_is_private_and_goes() {
    use std::os::unix::fs::PermissionsExt as _;
    let file = tracesift_view::UrlFile::new("http://127.0.0.1:1/#token=abc").unwrap();
    let path = file.path().to_owned();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(std::fs::read_to_string(&path).unwrap().contains("url=http://127.0.0.1:1/#token=abc"));
    drop(file);
    assert!(!path.exists());
}
