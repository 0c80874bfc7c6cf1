//! Servers that lie, break off, or never end.

use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use super::bench::{Doubles, Home, Listener, image, lines, name, pdb, resolve, stored};
use super::server::{Asked, Server, answer, serve};

/// A server whose every answer is this one: there is a clear line, and nothing is left in store or cache.
fn refused(handler: impl Fn(&Asked, &mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static, expected: &str) {
    let home = Home::new();
    let server = Server::new(handler);
    let begun = Instant::now();
    let (found, listener) = resolve(&home.symbols(&format!("srv*{}", server.url)), 1);
    assert!(begun.elapsed() < Duration::from_secs(30), "{expected}: took {:?}", begun.elapsed());
    assert_eq!(name(&found), None, "{expected}");
    let mut told = lines(&found);
    told.extend(listener.trouble.lock().expect("no panic").iter().cloned());
    assert!(told.iter().any(|line| line.starts_with(&server.url) && line.contains(expected)), "{expected}: {told:?}");
    assert_eq!(home.files(), [""; 0], "{expected}");
}

#[test]
fn pages_and_texts_are_no_symbols() {
    let page = b"<!DOCTYPE html><html><body>Sign in</body></html>";
    refused(|_, stream| answer(stream, "200 OK", &["Content-Type: text/html"], page), "is a web page, not a PDB");
    refused(|_, stream| answer(stream, "200 OK", &[], page), "is a web page, not a PDB");
    refused(
        |_, stream| answer(stream, "200 OK", &[], b"Quota exceeded, come back tomorrow. Or never."),
        "is a text, not a PDB",
    );
    refused(|_, stream| answer(stream, "200 OK", &[], b""), "is empty, not a PDB");
    refused(|_, stream| answer(stream, "200 OK", &[], &[0; 5_000]), "is something else, not a PDB");
}

#[test]
fn the_wrong_guid() {
    refused(|asked, stream| serve(asked, stream, &pdb(2, 5_000), 5_000), "belongs to");
}

#[test]
fn a_file_that_is_damaged() {
    refused(
        |asked, stream| {
            let mut bytes = pdb(1, 5_000);
            bytes[4_000] ^= 1;
            serve(asked, stream, &bytes, 5_000)
        },
        "is malformed",
    );
}

#[test]
fn answers_that_end_early() {
    // It never sends more than the first half, whatever is asked.
    let bytes = pdb(1, 5_000);
    refused(
        move |_, stream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\nETag: \"x\"\r\n\r\n")?;
            stream.write_all(&bytes[..2_500])
        },
        "ends after 2500 of 5000 bytes",
    );
    // Without anything that tells versions apart.
    let bytes = pdb(1, 5_000);
    refused(
        move |_, stream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n")?;
            stream.write_all(&bytes[..2_500])
        },
        "ends after 2500 of 5000 bytes",
    );
    // In pieces, the last of which is missing.
    let bytes = pdb(1, 5_000);
    refused(
        move |_, stream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n800\r\n")?;
            stream.write_all(&bytes[..0x800])?;
            stream.write_all(b"\r\n800\r\nxyz")
        },
        "ends early",
    );
}

#[test]
fn answers_without_end() {
    refused(
        |_, stream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")?;
            stream.write_all(&pdb(1, 5_000))?;
            loop {
                stream.write_all(&[7; 10_000])?;
            }
        },
        "does not end after the 1048576 bytes",
    );
    refused(
        |_, stream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n")?;
            stream.write_all(&pdb(1, 5_000))
        },
        "is 99999999999 bytes long",
    );
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(&vec![0; 20 << 20]).expect("memory");
    let bomb = gzip.finish().expect("memory");
    assert!(bomb.len() < 100_000);
    refused(
        move |_, stream| answer(stream, "200 OK", &["Content-Encoding: gzip"], &bomb),
        "cannot be unpacked: unpacked, it is larger than allowed",
    );
}

#[test]
fn broken_encodings() {
    refused(|_, stream| answer(stream, "200 OK", &["Content-Encoding: gzip"], &pdb(1, 5_000)), "cannot be unpacked");
    refused(
        |_, stream| answer(stream, "200 OK", &["Content-Encoding: br"], &pdb(1, 5_000)),
        "in an encoding that nobody asked for",
    );
    refused(|_, stream| answer(stream, "206 Partial Content", &[], &pdb(1, 5_000)), "nobody asked for");
}

#[test]
fn redirects_without_end() {
    refused(|_, stream| answer(stream, "302 Found", &["Location: /"], b""), "redirects in a circle");
    refused(
        |asked, stream| answer(stream, "302 Found", &[&format!("Location: {}/x", asked.path)], b""),
        "redirects more than 8 times",
    );
    refused(
        |_, stream| answer(stream, "301 Moved", &["Location: file:///etc/passwd"], b""),
        "other than http or https",
    );
    refused(|_, stream| answer(stream, "301 Moved", &[], b""), "redirects to nowhere");
}

#[test]
fn a_redirect_is_followed() {
    let home = Home::new();
    let target = Server::with(&[("/blob?sig=a%2Fb", pdb(1, 5_000))]);
    let to = format!("Location: {}/blob?sig=a%2Fb", target.url);
    let server = Server::new(move |_, stream| answer(stream, "302 Found", &[&to], b""));
    let (found, _) = resolve(&home.symbols(&format!("srv*{}", server.url)), 1);
    assert_eq!(name(&found).as_deref(), Some("f_n1.pdb"), "{:?}", lines(&found));
}

#[test]
fn refusals() {
    refused(|_, stream| answer(stream, "403 Forbidden", &[], b""), "answers 403 Forbidden");
    refused(|_, stream| answer(stream, "500 Oops", &[], b""), "answers 500");
    refused(|_, stream| stream.write_all(b"SSH-2.0-OpenSSH\r\n\r\n"), "not asked any more");
}

#[test]
fn servers_that_are_silent_cost_one_time_out_and_one_line() {
    let home = Home::new();
    // It takes connections and never answers; nobody listens at the other.
    let server = Server::new(|_, _| {
        std::thread::sleep(Duration::from_secs(20));
        Ok(())
    });
    let nobody = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let symbols = home.symbols(&format!("srv*{};srv*http://{nobody}", server.url));
    let images: Vec<_> = (0..30).map(image).collect();
    let listener = Listener::default();
    let begun = Instant::now();
    let found = symbols.resolve(&images, &Doubles::default(), &listener, &std::sync::atomic::AtomicBool::new(false));
    assert!(begun.elapsed() < Duration::from_secs(10), "took {:?}", begun.elapsed());
    assert_eq!(server.asked().len(), 1);
    let trouble = listener.trouble.lock().expect("no panic").clone();
    assert_eq!(trouble.len(), 2, "{trouble:?}");
    assert!(trouble.contains(&format!("{}: no answer in time; not asked any more", server.url)), "{trouble:?}");
    assert!(
        trouble.iter().any(|line| line.starts_with(&format!("http://{nobody}: Connection refused"))),
        "{trouble:?}"
    );
    for found in &found {
        assert!(lines(found).contains(&format!("{}: does not answer", server.url)), "{:?}", lines(found));
    }
    assert_eq!(home.files(), [""; 0]);
}

#[test]
fn a_drip_is_too_slow() {
    let home = Home::new();
    let server = Server::new(|_, stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n")?;
        for byte in pdb(1, 5_000) {
            stream.write_all(&[byte])?;
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    });
    let symbols = home.symbols_with(&format!("srv*{}", server.url), |options| {
        options.limits.grace = Duration::from_secs(1);
        options.limits.attempts = 2;
    });
    let begun = Instant::now();
    let (found, _) = resolve(&symbols, 1);
    assert!(lines(&found).iter().any(|line| line.contains("sends too slowly")), "{:?}", lines(&found));
    assert!(begun.elapsed() < Duration::from_secs(30), "took {:?}", begun.elapsed());
    assert_eq!(home.files(), [""; 0]);
}

#[test]
fn a_store_with_a_false_file_is_put_right() {
    let home = Home::new();
    let server = Server::with(&[(&format!("/{}", stored(1)), pdb(1, 5_000))]);
    let at = home.path().join("near").join(stored(1));
    std::fs::create_dir_all(at.parent().expect("a directory")).expect("a directory");
    std::fs::write(&at, &pdb(1, 5_000)[..4_000]).expect("a file");
    let (found, _) = resolve(&home.symbols(&format!("srv*{}/near*{}", home.path().display(), server.url)), 1);
    assert_eq!(name(&found).as_deref(), Some("f_n1.pdb"), "{:?}", lines(&found));
    assert!(std::fs::read(&at).expect("a file") == pdb(1, 5_000));
}

#[cfg(unix)]
#[test]
fn a_link_in_a_store_leads_nowhere() {
    let home = Home::new();
    let outside = home.path().join("outside");
    std::fs::create_dir_all(&outside).expect("a directory");
    std::fs::create_dir_all(home.path().join("near")).expect("a directory");
    std::os::unix::fs::symlink(&outside, home.path().join("near/n1.pdb")).expect("a link");
    let server = Server::with(&[(&format!("/{}", stored(1)), pdb(1, 5_000))]);
    let (found, _) = resolve(&home.symbols(&format!("srv*{}/near*{}", home.path().display(), server.url)), 1);
    assert_eq!(name(&found).as_deref(), Some("f_n1.pdb"), "what was downloaded is used although it cannot be kept");
    assert!(lines(&found).iter().any(|line| line.contains("a link or file stands where")), "{:?}", lines(&found));
    assert_eq!(std::fs::read_dir(&outside).expect("a directory").count(), 0);
}
