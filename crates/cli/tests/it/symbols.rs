//! Names from a symbol server: found through `srv*`, kept, and there again when the server is gone.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tempfile::TempDir;
use tracesift_archive::Archive;
use tracesift_fixtures::{have, windows_program};
use tracesift_scenario::{Code, Knobs, Pdb, Scenario};
use tracesift_symbols::pdb;
use tracesift_trace::rows::{FrameRow, ModuleRow, SymbolRow};

/// A server of files on loopback that counts what it is asked for.
struct Server {
    address: String,
    asked: Arc<AtomicUsize>,
}

impl Server {
    fn start(root: PathBuf) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                counter.fetch_add(1, Ordering::Relaxed);
                let root = root.clone();
                std::thread::spawn(move || answer(stream, &root));
            }
        });
        Self { address, asked }
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

/// One answer per connection.
fn answer(mut stream: TcpStream, root: &Path) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
    let request = lines.next().unwrap_or_default();
    lines.find(String::is_empty);
    let path = request.split(' ').nth(1).unwrap_or_default();
    let (status, body) = match std::fs::read(root.join(path.trim_start_matches('/'))) {
        Ok(bytes) => ("200 OK", bytes),
        Err(_) => ("404 Not Found", Vec::new()),
    };
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    // Whoever asked may be gone.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
}

/// A recording of a machine that ran the program in `image`, and where its code was sampled.
fn recording(directory: &Path, image: &Path) -> (PathBuf, String) {
    let pdb = image.with_extension("pdb");
    let opened = pdb::Pdb::read(std::fs::File::open(pdb).unwrap(), None).unwrap();
    let id = tracesift_symbols::PdbId { name: "program.pdb".to_owned(), guid: opened.guid(), age: opened.age() };
    let mut scenario = Scenario::random(11, &Knobs::random(11));
    let program = scenario.machine.images.iter().position(|image| !image.kernel).expect("a program");
    let recorded = &mut scenario.machine.images[program];
    recorded.pdb = Some(Pdb { guid: id.guid.to_string().parse().expect("a GUID"), age: id.age, name: id.name.clone() });
    let size = recorded.size;
    // The second byte of this and that stretch of the program's code: also the byte before it has a name.
    let table = opened.table("").unwrap();
    let named: Vec<u64> =
        table.code_ranges().filter(|(start, named)| *named && *start + 1 < size).map(|(start, _)| start + 1).collect();
    let mut next = 0;
    for function in &mut scenario.machine.functions {
        if let Code::Native { image, rva } = function
            && *image == program
        {
            *rva = named[next % named.len()];
            next += named.len() / 50 + 1;
        }
    }
    let path = directory.join("Run.etl");
    std::fs::write(&path, scenario.bytes().expect("a recording")).unwrap();
    (path, id.digits())
}

/// Function, file and line.
type Name = (String, Option<String>, Option<i32>);

/// The names of the program's frames, by offset: functions with their lines, innermost first.
fn names(archive: &Path) -> BTreeMap<i64, Vec<Name>> {
    let archive = Archive::open(archive).unwrap();
    archive.verify().unwrap();
    let modules: Vec<ModuleRow> = archive.rows().unwrap();
    let is_program =
        |row: &FrameRow| row.module.is_some_and(|id| modules[id.index()].pdb_name.as_deref() == Some("program.pdb"));
    let frames: BTreeMap<i32, i64> = archive
        .rows::<FrameRow>()
        .unwrap()
        .iter()
        .filter(|row| is_program(row))
        .map(|row| (row.frame.0, row.rva.unwrap()))
        .collect();
    let mut names: BTreeMap<i64, Vec<_>> = frames.values().map(|rva| (*rva, Vec::new())).collect();
    for row in archive.rows::<SymbolRow>().unwrap() {
        if let Some(rva) = frames.get(&row.frame.0) {
            assert_eq!(row.source, "pdb");
            names.get_mut(rva).unwrap().push((row.function, row.file, row.line));
        }
    }
    names
}

fn tracesift(directory: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracesift"));
    let output = command.current_dir(directory).args(arguments).env("XDG_CACHE_HOME", directory).output().unwrap();
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{arguments:?}: {text}");
    text
}

#[test]
fn a_server_is_asked_once() {
    if !have(&["clang", "lld-link"]) {
        return;
    }
    // Making the large one takes minutes.
    let plan = match std::env::var_os("TRACESIFT_BIG_PDB") {
        Some(_) => windows_program::BIG,
        None => windows_program::Plan { target: "x86_64-pc-windows-msvc", optimize: "-O2", units: 2, classes: 30 },
    };
    let place = TempDir::new().unwrap();
    let image = windows_program::make(place.path(), plan).expect("a program");
    let pdb = image.with_extension("pdb");
    let (_, digits) = recording(place.path(), &image);
    let served = place.path().join("served");
    let file = served.join("program.pdb").join(&digits).join("program.pdb");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::rename(&pdb, &file).unwrap();
    let size = std::fs::metadata(&file).unwrap().len();
    println!("a PDB of {} MB", size / 1_000_000);
    assert!(size >= 50_000_000 || std::env::var_os("TRACESIFT_BIG_PDB").is_none(), "{size} bytes");

    let server = Server::start(served);
    let path = format!("srv*store*{}", server.address);
    let extract = |out: &str| {
        let cache = ["--symbol-cache", "cache", "--symbols", &path];
        tracesift(place.path(), &[&["extract", "Run.etl", "--out", out][..], &cache].concat())
    };
    let said = extract("first");
    let first = names(&place.path().join("first/Run.sift"));
    assert!(server.asked() > 0);
    let named = first.values().filter(|names| !names.is_empty()).count();
    assert!(named == first.len() && named > 3, "{named} of {} named: {said}", first.len());

    // The names are those of the PDB itself, with inlined functions and lines.
    let table = pdb::Pdb::read(std::fs::File::open(&file).unwrap(), None).unwrap().table("").unwrap();
    for (rva, names) in &first {
        let of = |address: i64| -> Vec<_> {
            let frames = table.frames(address.cast_unsigned());
            frames
                .map(|frame| {
                    (frame.function.to_owned(), frame.file.map(str::to_owned), frame.line.map(u32::cast_signed))
                })
                .collect()
        };
        assert!(*names == of(*rva) || *names == of(rva - 1), "{rva:#x}: {names:?}");
    }

    // The file went into the store by its name there; without the server, the store and the PDB the names are the same.
    let stored = place.path().join("store/program.pdb").join(&digits).join("program.pdb");
    assert_eq!(std::fs::metadata(&stored).unwrap().len(), size);
    let asked = server.asked();
    std::fs::remove_dir_all(place.path().join("store")).unwrap();
    std::fs::remove_file(&file).unwrap();
    extract("second");
    assert_eq!(names(&place.path().join("second/Run.sift")), first);
    // What the server did not have is not asked again, either.
    assert_eq!(server.asked(), asked);

    // An archive without names gets the same ones later, offline.
    tracesift(place.path(), &["extract", "Run.etl", "--out", "third"]);
    let third = place.path().join("third/Run.sift");
    assert!(names(&third).values().all(Vec::is_empty));
    let cache = ["--symbol-cache", "cache", "--offline"];
    tracesift(place.path(), &[&["symbols", "load", "third/Run.sift", "--symbols", &path][..], &cache].concat());
    assert_eq!(names(&third), first);
}
