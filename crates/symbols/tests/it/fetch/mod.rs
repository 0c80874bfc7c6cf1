//! Symbol files from folders and servers, also from servers that lie: nothing false is kept, and each says why.

mod bench;
mod caching;
mod hostile;
mod processes;
mod server;

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bench::{Doubles, Home, Listener, image, lines, name, pdb, pdb_id, resolve, stored};
use server::{Server, answer, serve};

#[test]
fn a_download_is_kept_in_the_store_and_its_table_in_the_cache() {
    let home = Home::new();
    let server = Server::with(&[(&format!("/s/{}", stored(1)), pdb(1, 300_000))]);
    let symbols = home.symbols(&format!("srv*{}/near*{}/s/", home.path().display(), server.url));
    let (found, listener) = resolve(&symbols, 1);
    assert_eq!(name(&found).as_deref(), Some("f_n1.pdb"), "{:?}", lines(&found));
    let key = format!("n1.pdb.{}.pdb", pdb_id(1).digits());
    assert_eq!(home.files(), [format!("near/{}", stored(1)), format!("own/tables/{key}.table")]);
    assert_eq!(std::fs::read(home.path().join("near").join(stored(1))).expect("a file"), pdb(1, 300_000));
    assert_eq!(listener.most.load(Ordering::Relaxed), 300_000);
    assert_eq!(listener.ended.load(Ordering::Relaxed), 1);
    assert_eq!(found.table.expect("a table").identity(), key);
    // Another run, and the server gone: neither it nor the PDB is needed.
    let asked = server.asked();
    assert_eq!(asked, [format!("/s/{}", stored(1))]);
    drop(server);
    let symbols = home.symbols("srv*http://127.0.0.1:9");
    let (readers, listener) = (Doubles::default(), Listener::default());
    let found = symbols.resolve(&[image(1), image(1)], &readers, &listener, &AtomicBool::new(false));
    assert!(found.iter().all(|one| name(one).as_deref() == Some("f_n1.pdb")));
    assert_eq!(readers.read.load(Ordering::Relaxed), 0);
    assert_eq!(listener.looked_up.load(Ordering::Relaxed), 1, "the same binary is looked up once");
}

#[test]
fn many_at_once_from_several_servers() {
    let home = Home::new();
    let files = |numbers: std::ops::Range<u32>| -> Vec<(String, Vec<u8>)> {
        numbers.map(|number| (format!("/{}", stored(number)), pdb(number, 50_000))).collect()
    };
    let serving = |files: Vec<(String, Vec<u8>)>| {
        Server::with(&files.iter().map(|(path, bytes)| (path.as_str(), bytes.clone())).collect::<Vec<_>>())
    };
    let (first, second) = (serving(files(0..20)), serving(files(20..40)));
    let symbols = home.symbols(&format!("srv*{};srv*{}", first.url, second.url));
    let images: Vec<_> = (0..45).map(image).collect();
    let listener = Listener::default();
    let found = symbols.resolve(&images, &Doubles::default(), &listener, &AtomicBool::new(false));
    for (number, found) in found.iter().enumerate() {
        let expected = (number < 40).then(|| format!("f_n{number}.pdb"));
        assert_eq!(name(found), expected, "{:?}", lines(found));
    }
    assert_eq!(listener.looked_up.load(Ordering::Relaxed), 45);
    assert_eq!(listener.trouble.lock().expect("no panic").len(), 0);
}

#[test]
fn gzip_on_the_way_and_cabinets_in_the_store() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&pdb(1, 100_000)).expect("memory");
    let gzip = gzip.finish().expect("memory");
    let cabinet = cabinet("n2.pdb", &pdb(2, 100_000));
    let compressed = stored(2).trim_end_matches('b').to_owned() + "_";
    let server = Server::new(move |asked, stream| match asked.path.trim_start_matches('/') {
        path if path == stored(1) => {
            assert_eq!(asked.headers["accept-encoding"], "gzip");
            answer(stream, "200 OK", &["Content-Encoding: gzip"], &gzip)
        }
        path if path == compressed => serve(asked, stream, &cabinet, cabinet.len()),
        _ => answer(stream, "404 Not Found", &[], b""),
    });
    let home = Home::new();
    let symbols = home.symbols(&format!("srv*{}", server.url));
    for number in [1, 2] {
        let (found, _) = resolve(&symbols, number);
        assert_eq!(name(&found), Some(format!("f_n{number}.pdb")), "{:?}", lines(&found));
        let kept = std::fs::read(home.path().join("own/files").join(stored(number))).expect("a file");
        assert!(kept == pdb(number, 100_000), "kept unpacked");
    }
    // A compressed file in a store of this machine is unpacked for each reading, and the store is left as it is.
    let store = home.path().join("store").join(stored(3)).with_file_name("n3.pd_");
    std::fs::create_dir_all(store.parent().expect("a directory")).expect("a directory");
    std::fs::write(&store, self::cabinet("n3.pdb", &pdb(3, 1_000))).expect("a file");
    let (found, _) = resolve(&home.symbols(&home.path().join("store").display().to_string()), 3);
    assert_eq!(name(&found).as_deref(), Some("f_n3.pdb"), "{:?}", lines(&found));
    assert!(!home.files().iter().any(|file| file.contains(".tmp") || file.contains("parts")), "{:?}", home.files());
}

fn cabinet(name: &str, content: &[u8]) -> Vec<u8> {
    let mut builder = cab::CabinetBuilder::new();
    builder.add_folder(cab::CompressionType::MsZip).add_file(name);
    let mut writer = builder.build(std::io::Cursor::new(Vec::new())).expect("memory");
    while let Some(mut file) = writer.next_file().expect("memory") {
        file.write_all(content).expect("memory");
    }
    writer.finish().expect("memory").into_inner()
}

#[test]
fn what_broke_off_is_gone_on_with() {
    let home = Home::new();
    let whole = pdb(1, 400_000);
    let server = Server::new(move |asked, stream| match asked.path == format!("/{}", stored(1)) {
        true => serve(asked, stream, &whole, 150_000),
        false => answer(stream, "404 Not Found", &[], b""),
    });
    let (found, _) = resolve(&home.symbols(&format!("srv*{}", server.url)), 1);
    assert_eq!(name(&found).as_deref(), Some("f_n1.pdb"), "{:?}", lines(&found));
    let path = format!("/{}", stored(1));
    let expected = [path.clone(), format!("{path} bytes=150000-"), format!("{path} bytes=300000-")];
    assert_eq!(server.asked(), expected);
}

#[test]
fn the_next_run_goes_on_where_the_last_one_was_ended() {
    static CANCEL: AtomicBool = AtomicBool::new(false);
    let home = Home::new();
    let whole = pdb(1, 400_000);
    let server = Server::new(move |asked, stream| {
        if asked.path != format!("/{}", stored(1)) {
            return answer(stream, "404 Not Found", &[], b"");
        }
        let is_first = !asked.headers.contains_key("range");
        serve(asked, stream, &whole, if is_first { 200_000 } else { 400_000 })?;
        if is_first {
            std::thread::sleep(Duration::from_secs(20));
        }
        Ok(())
    });
    let path = format!("srv*{}", server.url);
    let listener = Listener { cancel_at: Some((200_000, &CANCEL)), ..Listener::default() };
    let patient = |options: &mut tracesift_symbols::fetch::Options| options.limits.stall = Duration::from_secs(30);
    let begun = Instant::now();
    // What lies here is used although downloads are ended.
    let local = home.path().join("own/files").join(stored(2));
    std::fs::create_dir_all(local.parent().expect("a directory")).expect("a directory");
    std::fs::write(local, pdb(2, 1_000)).expect("a file");
    let symbols = home.symbols_with(&path, patient);
    let found = symbols.resolve(&[image(1), image(2)], &Doubles::default(), &listener, &CANCEL);
    assert!(begun.elapsed() < Duration::from_secs(10), "nobody waits for a server that sends nothing");
    assert_eq!(name(&found[0]), None);
    assert!(lines(&found[0]).iter().any(|line| line.contains("downloads were ended")), "{:?}", lines(&found[0]));
    let found = symbols.resolve(&[image(2), image(3)], &Doubles::default(), &listener, &CANCEL);
    assert_eq!(name(&found[0]).as_deref(), Some("f_n2.pdb"));
    assert!(lines(&found[1]).iter().any(|line| line.contains("downloads were ended")), "{:?}", lines(&found[1]));
    // The first one's thread still holds the part while the server is silent; a copy of the directory stands for another process after this one.
    let other = Home::new();
    std::fs::create_dir_all(other.path().join("own/parts")).expect("a directory");
    for file in home.files().iter().filter(|file| file.contains("parts")) {
        std::fs::copy(home.path().join(file), other.path().join(file)).expect("a copy");
    }
    let (found, _) = resolve(&other.symbols(&path), 1);
    assert_eq!(name(&found).as_deref(), Some("f_n1.pdb"), "{:?}", lines(&found));
    let asked: Vec<String> = server.asked().into_iter().filter(|line| line.contains(&stored(1))).collect();
    assert_eq!(asked[1..], [format!("/{} bytes=200000-", stored(1))]);
}

#[test]
fn what_was_not_there_is_not_asked_for_again() {
    let home = Home::new();
    let server = Server::with(&[]);
    let path = format!("srv*{}", server.url);
    let (found, _) = resolve(&home.symbols(&path), 1);
    let plain = format!("{}/{}: not there", server.url, stored(1));
    assert!(lines(&found).contains(&plain), "{:?}", lines(&found));
    let count = server.asked().len();
    let (found, _) = resolve(&home.symbols(&path), 1);
    assert!(lines(&found).iter().any(|line| line.contains("not asked again")), "{:?}", lines(&found));
    assert_eq!(server.asked().len(), count);
    let _ = resolve(&home.symbols_with(&path, |options| options.retry = true), 1);
    assert_eq!(server.asked().len(), 2 * count);
    let _ = resolve(&home.symbols_with(&path, |options| options.offline = true), 2);
    assert_eq!(server.asked().len(), 2 * count, "offline nobody is asked");
}

#[test]
fn other_paths_are_told_once_and_not_opened() {
    let home = Home::new();
    let symbols = home.symbols(r"srv*\\server\share*\\other\share;//third/share");
    let (_, listener) = resolve(&symbols, 1);
    let trouble = listener.trouble.lock().expect("no panic").clone();
    let expected = [r"\\server\share", r"\\other\share", "//third/share"]
        .map(|path| format!("{path}: is no path of this machine, which is never opened"));
    assert_eq!(trouble, expected);
}
