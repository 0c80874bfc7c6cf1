//! Several processes at once, and some that are killed: what is there is whole.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tracesift_symbols::fetch::{Options, Symbols};
use tracesift_symbols::search::{SearchPath, ShortNames};

use super::bench::{Doubles, Home, Listener, image, lines, name, pdb, resolve, stored, walk};
use super::server::{Server, answer, serve};

const IMAGES: u32 = 12;

/// Not a test: what the processes below do, with the directory and the search path from the environment.
#[test]
fn worker() {
    let (Ok(directory), Ok(path)) = (std::env::var("SYMBOLS_DIRECTORY"), std::env::var("SYMBOLS_PATH")) else { return };
    let path = SearchPath::parse(&path, &ShortNames::default()).expect("a path");
    let options = Options { use_proxy: false, ..Options::new(directory.into()) };
    let images: Vec<_> = (0..IMAGES).map(image).collect();
    let found = Symbols::new(&path, options).resolve(
        &images,
        &Doubles::default(),
        &Listener::default(),
        &AtomicBool::new(false),
    );
    for (number, found) in found.iter().enumerate() {
        assert_eq!(name(found), Some(format!("f_n{number}.pdb")), "{:?}", lines(found));
    }
}

fn start(home: &Home, path: &str) -> Child {
    Command::new(std::env::current_exe().expect("this test"))
        .args(["fetch::processes::worker", "--exact"])
        .env("SYMBOLS_DIRECTORY", home.path().join("own"))
        .env("SYMBOLS_PATH", path)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a process")
}

fn server() -> Server {
    Server::new(|asked, stream| {
        let number = (0..IMAGES).find(|number| asked.path == format!("/{}", stored(*number)));
        std::thread::sleep(Duration::from_millis(30));
        match number {
            Some(number) => serve(asked, stream, &pdb(number, 200_000), 150_000),
            None => answer(stream, "404 Not Found", &[], b""),
        }
    })
}

#[test]
fn several_processes_want_the_same_files() {
    let (home, server) = (Home::new(), server());
    let path = format!("srv*{}/near*{}", home.path().display(), server.url);
    let processes: Vec<Child> = (0..4).map(|_| start(&home, &path)).collect();
    for process in processes {
        let output = process.wait_with_output().expect("an end");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    check(&home);
    let whole = server.asked().iter().filter(|line| !line.contains("bytes=")).count();
    assert_eq!(whole, IMAGES as usize, "each file is downloaded once: {:?}", server.asked());
    let parts = home.files().into_iter().filter(|file| file.contains("parts")).collect::<Vec<_>>();
    assert_eq!(parts, [""; 0]);
}

#[test]
fn killed_processes_leave_nothing_half_written() {
    let (home, server) = (Home::new(), server());
    let path = format!("srv*{}/near*{}", home.path().display(), server.url);
    for round in 0..10 {
        let mut process = start(&home, &path);
        std::thread::sleep(Duration::from_millis(40 + 25 * round));
        process.kill().expect("killed");
        process.wait().expect("an end");
        check(&home);
    }
    let output = start(&home, &path).wait_with_output().expect("an end");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    check(&home);
    let (found, _) = resolve(&home.symbols(""), 0);
    assert!(name(&found).is_some(), "{:?}", lines(&found));
}

/// Every file in the store is whole, and every table is sound.
fn check(home: &Home) {
    let (store, tables) = (home.path().join("near"), home.path().join("own/tables"));
    if store.is_dir() {
        walk(&store, &mut |path: &Path| {
            let name = path.strip_prefix(&store).expect("below").display().to_string();
            if path.extension().is_some_and(|extension| extension == "tmp") {
                return;
            }
            let number = (0..IMAGES).find(|number| stored(*number) == name).expect("a file that was wanted");
            assert!(std::fs::read(path).expect("a file") == pdb(number, 200_000), "{name}");
        });
    }
    if tables.is_dir() {
        walk(&tables, &mut |path: &Path| {
            if path.extension().is_some_and(|extension| extension == "table") {
                let bytes = std::fs::read(path).expect("a file");
                let name = path.file_stem().expect("a name").len();
                let table = bytes[..bytes.len() - name - 12].to_vec();
                assert!(tracesift_symbols::Table::open(table.into()).is_ok(), "{}", path.display());
            }
        });
    }
}
