//! Look-ups without files and without a network: a world of names, and what is asked of it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use tracesift_symbols::search::{
    Answer, Contents, FileNumber, Image, Lookup, Request, Scope, SearchPath, ShortNames, Source, Step, Surroundings,
};
use tracesift_symbols::{BuildId, Guid, ImageId, PdbId};

/// What lies where: below directories and at addresses.
#[derive(Default)]
struct World {
    content: HashMap<String, &'static str>,
    cached: Vec<String>,
    down: Vec<&'static str>,
    files: Vec<&'static str>,
    log: Vec<String>,
}

impl World {
    fn new(content: &[(&str, &'static str)]) -> Self {
        Self { content: content.iter().map(|(at, what)| ((*at).to_owned(), *what)).collect(), ..Self::default() }
    }

    fn at(&mut self, place: &str) -> Answer {
        match self.content.get(place) {
            Some(content) => {
                self.files.push(content);
                Answer::File(FileNumber(u32::try_from(self.files.len() - 1).expect("few files")))
            }
            None => Answer::Absent,
        }
    }

    /// A file says what it is: `good`, `bad`, `nothing`, `cab:WHAT`, `names:PDB GUID`, `needs`, or the text of a pointer.
    fn answer(&mut self, request: &Request) -> Answer {
        let file = |file: &FileNumber| self.files[file.0 as usize];
        match request {
            Request::Cached(key) if self.cached.contains(&key.to_string()) => Answer::Named,
            Request::Cached(_) => Answer::Absent,
            Request::Open(place) => self.at(&place.to_string()),
            Request::Download { server, .. } if self.down.contains(&&**server) => Answer::Unreachable,
            Request::Download { url, .. } => self.at(url),
            Request::HasTwoTiers(server) => match self.content.contains_key(&format!("{server}/index2.txt")) {
                true => Answer::Yes,
                false => Answer::Absent,
            },
            Request::Pointer(number) => Answer::Text(file(number).to_owned()),
            Request::Expand(number) => match file(number).strip_prefix("cab:") {
                Some(inner) => {
                    self.files.push(inner);
                    Answer::File(FileNumber(u32::try_from(self.files.len() - 1).expect("few files")))
                }
                None => Answer::Refused("no cabinet".to_owned()),
            },
            Request::Identify { file: number, .. } => match file(number).strip_prefix("names:") {
                Some(pdb) => Answer::Pdb(Some(pdb_id(pdb))),
                None if file(number) == "bad" => Answer::Refused("another image".to_owned()),
                None => Answer::Pdb(None),
            },
            Request::Read { file: number, shared, .. } => match (file(number), shared) {
                ("bad", _) => Answer::Refused("wrong GUID".to_owned()),
                ("nothing", _) => Answer::Absent,
                ("needs", None) => Answer::Needs(BuildId(vec![0xdd; 20]), "/usr/lib/debug/.dwz/x/a.debug".to_owned()),
                _ => Answer::Named,
            },
            Request::Keep { .. } | Request::Discard(_) => Answer::Yes,
        }
    }

    /// Drives a look-up; what was asked stands in the log.
    fn run(&mut self, mut lookup: Lookup) -> Result<(), Vec<String>> {
        for _ in 0..10_000 {
            match lookup.step() {
                Step::Done => return Ok(()),
                Step::Missing => return Err(lookup.tried().iter().map(ToString::to_string).collect()),
                Step::Ask(request) => {
                    let answer = self.answer(&request);
                    self.log.push(match &request {
                        Request::Cached(key) => format!("cached {key}"),
                        Request::Open(place) => format!("open {place}"),
                        Request::Download { url, contents, .. } => match contents {
                            Contents::Cabinet => format!("get cab {url}"),
                            Contents::Of(source) => format!("get {source:?} {url}"),
                        },
                        Request::HasTwoTiers(server) => format!("tiers {server}"),
                        Request::Read { source, shared, .. } => match shared {
                            None => format!("read {source:?}"),
                            Some(shared) => format!("read {source:?} with {}", shared.is_some()),
                        },
                        Request::Keep { places, .. } => {
                            let places: Vec<String> = places.iter().map(ToString::to_string).collect();
                            format!("keep {}", places.join(" "))
                        }
                        Request::Discard(_) => "discard".to_owned(),
                        Request::Identify { .. } => "identify".to_owned(),
                        Request::Expand(_) => "expand".to_owned(),
                        Request::Pointer(_) => "pointer".to_owned(),
                    });
                    lookup.answer(answer);
                }
            }
        }
        panic!("a look-up that does not end");
    }

    /// What was asked, but for files and tables that were not there.
    fn used(&self) -> Vec<&str> {
        let absent = |line: &&str| line.starts_with("cached") || line.starts_with("open");
        self.log.iter().map(String::as_str).filter(|line| !absent(line)).collect()
    }
}

const GUID: &str = "3249D99D0C4049318610F4E4FB0B6936";

fn pdb_id(name: &str) -> PdbId {
    PdbId { name: name.to_owned(), guid: GUID.parse::<Guid>().expect("a GUID"), age: 1 }
}

fn windows_image() -> Image {
    Image {
        name: "a.dll".to_owned(),
        path: Some(r"C:\x\a.dll".to_owned()),
        pdb: Some(pdb_id("a.pdb")),
        ..Image::default()
    }
}

fn scope(path: &str) -> Arc<Scope> {
    let path = SearchPath::parse(path, &ShortNames::builtin()).expect("a path");
    let surroundings = Surroundings { store: "/own".into(), roots: vec!["/root".into()], ..Surroundings::default() };
    Arc::new(Scope::new(&path, &surroundings))
}

fn url(rest: &str) -> String {
    format!("http://s/{rest}").replace("KEY", &format!("{GUID}1"))
}

#[test]
fn a_pdb_comes_from_the_server_and_stays_in_the_stores() {
    let mut world = World::new(&[(&url("a.pdb/KEY/a.pdb"), "good")]);
    assert_eq!(world.run(Lookup::new(&windows_image(), &scope("srv*/n*/f*http://s"))), Ok(()));
    let kept = format!("keep /n/a.pdb/{GUID}1/a.pdb /f/a.pdb/{GUID}1/a.pdb");
    assert_eq!(world.used(), [&format!("get Pdb {}", url("a.pdb/KEY/a.pdb")), "read Pdb", &kept]);
}

#[test]
fn what_is_cached_is_not_searched() {
    let mut world = World::new(&[]);
    world.cached.push(format!("a.pdb.{GUID}1.pdb"));
    assert_eq!(world.run(Lookup::new(&windows_image(), &scope("srv*http://s"))), Ok(()));
    assert_eq!(world.log, [format!("cached a.pdb.{GUID}1.pdb")]);
}

#[test]
fn a_wrong_file_is_no_end() {
    let near = format!("/n/a.pdb/{GUID}1/a.pdb");
    let mut world = World::new(&[(&near, "bad"), (&url("a.pdb/KEY/a.pd_"), "cab:good")]);
    assert_eq!(world.run(Lookup::new(&windows_image(), &scope("srv*/n*http://s"))), Ok(()));
    let expected = [
        "read Pdb",
        "discard",
        &format!("get Pdb {}", url("a.pdb/KEY/a.pdb")),
        &format!("get cab {}", url("a.pdb/KEY/a.pd_")),
        "expand",
        "read Pdb",
        &format!("keep {near}"),
    ];
    assert_eq!(world.used(), expected);
}

#[test]
fn a_store_of_two_tiers_says_so() {
    let tiers = "http://s/index2.txt";
    let mut world = World::new(&[(tiers, ""), (&url("a./a.pdb/KEY/a.pdb"), "good")]);
    assert!(
        world.run(Lookup::new(&windows_image(), &scope("srv*http://s"))).is_err(),
        "`a.` is no directory on Windows"
    );
    let mut image = windows_image();
    image.pdb = Some(pdb_id("ntdll.pdb"));
    let mut world = World::new(&[(tiers, ""), (&url("nt/ntdll.pdb/KEY/ntdll.pdb"), "good")]);
    assert_eq!(world.run(Lookup::new(&image, &scope("srv*http://s"))), Ok(()));
    let mut world = World::new(&[(&format!("/n/nt/ntdll.pdb/{GUID}1/ntdll.pdb"), "good")]);
    assert_eq!(world.run(Lookup::new(&image, &scope("/n"))), Ok(()));
    let mut world = World::new(&[]);
    assert!(world.run(Lookup::new(&image, &scope("srv*http://s"))).is_err());
    assert_eq!(world.used().iter().filter(|line| line.starts_with("tiers")).count(), 1);
}

#[test]
fn pointers_stay_in_their_store() {
    let pointer = format!("/n/a.pdb/{GUID}1/file.ptr");
    for (text, expected) in [
        ("PATH:/n/real/a.pdb", Ok(())),
        ("/n/real/a.pdb", Ok(())),
        (r"PATH:\\server\share\a.pdb", Err("a path of the network")),
        ("PATH:/elsewhere/a.pdb", Err("not below the same store")),
        ("PATH:/n/../etc/passwd", Err("not below the same store")),
        ("PATH:/nn/real/a.pdb", Err("not below the same store")),
        ("MSG: not\x1b[31m here", Err("says \"not[31m here\"")),
        ("", Err("not below the same store")),
    ] {
        let mut world = World::new(&[(&pointer, text), ("/n/real/a.pdb", "good"), ("/elsewhere/a.pdb", "good")]);
        let found = world.run(Lookup::new(&windows_image(), &scope("/n")));
        match expected {
            Ok(()) => assert_eq!(found, Ok(()), "{text}"),
            Err(why) => {
                let tried = found.expect_err(text);
                assert!(tried.iter().any(|line| line.starts_with(&pointer) && line.contains(why)), "{text}: {tried:?}");
            }
        }
    }
    // One that points at itself ends.
    let mut world = World::new(&[(&pointer, "PATH:/n/a.pdb/file.ptr"), ("/n/a.pdb/file.ptr", "bad")]);
    assert!(world.run(Lookup::new(&windows_image(), &scope("/n"))).is_err());
}

#[test]
fn plain_folders_and_what_lies_beside_the_image() {
    for place in ["/d/a.pdb", "/d/symbols/pdb/a.pdb", "/d/pdb/a.pdb", "/root/x/a.pdb", "/root/x/symbols/pdb/a.pdb"] {
        let mut world = World::new(&[(place, "good")]);
        assert_eq!(world.run(Lookup::new(&windows_image(), &scope("/d"))), Ok(()), "{place}");
        assert_eq!(world.used(), ["read Pdb"], "{place}");
    }
}

#[test]
fn an_image_without_pdb_gives_its_exports() {
    let mut world = World::new(&[("/root/x/a.dll", "good")]);
    assert_eq!(world.run(Lookup::new(&windows_image(), &scope("srv*http://s"))), Ok(()));
    assert_eq!(world.used().last(), Some(&"read Image"));
    assert!(
        !world.used().iter().any(|line| line.starts_with("get Image")),
        "no image is fetched for its exports alone"
    );
}

#[test]
fn an_image_names_its_pdb() {
    let id = ImageId { name: "a.dll".to_owned(), time_date_stamp: 0x5AB3, size: 0x9000 };
    let image = Image { name: "a.dll".to_owned(), image: Some(id), ..Image::default() };
    let at = "http://s/a.dll/00005AB39000/a.dll";
    let mut world = World::new(&[(at, "names:b.pdb"), (&url("b.pdb/KEY/b.pdb"), "good")]);
    assert_eq!(world.run(Lookup::new(&image, &scope("srv*http://s"))), Ok(()));
    let expected = [
        &format!("get Image {at}"),
        "identify",
        "keep /own/a.dll/00005AB39000/a.dll",
        &format!("get Pdb {}", url("b.pdb/KEY/b.pdb")),
        "read Pdb",
        &format!("keep /own/b.pdb/{GUID}1/b.pdb"),
    ];
    assert_eq!(world.used(), expected);
    for content in ["names:b.pdb", "good"] {
        let mut world = World::new(&[(at, content)]);
        assert_eq!(world.run(Lookup::new(&image, &scope("srv*http://s"))), Ok(()), "its exports are left");
        assert_eq!(world.used().last(), Some(&"read Image"));
    }
    let mut world = World::new(&[(at, "bad")]);
    let tried = world.run(Lookup::new(&image, &scope("srv*http://s"))).expect_err("another image");
    assert!(tried.contains(&format!("{at}: another image")), "{tried:?}");
}

#[test]
fn breakpad_comes_after_the_pdb() {
    let mut world = World::new(&[(&url("a.pdb/KEY/a.sym"), "good")]);
    assert_eq!(world.run(Lookup::new(&windows_image(), &scope("mozilla;srv*http://s"))), Ok(()));
    assert_eq!(world.used()[world.used().len() - 2..], ["read Breakpad", &format!("keep /own/a.pdb/{GUID}1/a.sym")]);
}

#[test]
fn portable_pdbs_have_a_key_of_their_own() {
    let at = format!("http://s/a.pdb/{GUID}FFFFFFFF/a.pdb");
    let mut world = World::new(&[(&at, "good")]);
    assert_eq!(world.run(Lookup::managed(&pdb_id("a.pdb"), &windows_image(), &scope("srv*http://s"))), Ok(()));
    assert_eq!(world.used()[0], format!("get Pdb {at}"));
}

#[test]
fn a_portable_pdb_may_be_inside_of_its_image() {
    let at = format!("http://s/a.pdb/{GUID}FFFFFFFF/a.pdb");
    let pdb = pdb_id("a.pdb");
    for place in ["/root/x/a.dll", "/d/a.dll", "/d/symbols/dll/a.dll"] {
        let find = |image: &'static str| {
            let mut world = World::new(&[(place, image), (&at, "good")]);
            assert_eq!(world.run(Lookup::managed(&pdb, &windows_image(), &scope("/d;srv*http://s"))), Ok(()));
            assert_eq!(world.log[0], format!("cached a.pdb.{GUID}1.embedded"));
            world.used().into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(find("good"), ["read Embedded"], "{place}");
        let kept = format!("keep /own/a.pdb/{GUID}FFFFFFFF/a.pdb");
        for without in ["nothing", "bad"] {
            assert_eq!(
                find(without),
                ["read Embedded", "discard", &format!("get Pdb {at}"), "read Pdb", &kept],
                "{place}"
            );
        }
    }
    // That most images have none inside is nothing to tell; that one is another build is.
    let why = |image: &'static str| {
        let mut world = World::new(&[("/root/x/a.dll", image)]);
        world.run(Lookup::managed(&pdb, &windows_image(), &scope("/d"))).expect_err("no PDB")
    };
    assert_eq!(why("nothing"), ["/root: not there", "/own: not there", "/d: not there"]);
    assert_eq!(why("bad"), ["/root/x/a.dll: wrong GUID", "/own: not there", "/d: not there", "/root: not there"]);
}

fn linux_image() -> Image {
    let build = BuildId((0..20).map(|n| 0xa0 + n).collect());
    Image {
        name: "libx.so".to_owned(),
        path: Some("/usr/lib/libx.so".to_owned()),
        build_id: Some(build),
        ..Image::default()
    }
}

const BUILD: &str = "a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3";

#[test]
fn elf_files_by_build_id() {
    let rest = &BUILD[2..];
    let breakpad = "libx.so/A3A2A1A0A5A4A7A6A8A9AAABACADAEAF0/libx.so.sym";
    for (place, source) in [
        (format!("/root/usr/lib/debug/.build-id/a0/{rest}.debug"), Source::Debug),
        ("/root/usr/lib/debug/usr/lib/libx.so.debug".to_owned(), Source::Debug),
        (format!("/d/.build-id/a0/{rest}.debug"), Source::Debug),
        (format!("/d/{BUILD}/debuginfo"), Source::Debug),
        (format!("http://d/buildid/{BUILD}/debuginfo"), Source::Debug),
        ("/root/usr/lib/libx.so".to_owned(), Source::Elf),
        ("/d/libx.so".to_owned(), Source::Elf),
        (format!("http://d/buildid/{BUILD}/executable"), Source::Elf),
        (format!("/d/{breakpad}"), Source::Breakpad),
    ] {
        let mut world = World::new(&[(&place, "good")]);
        let scope = scope("/d;srv*http://s;debuginfod*http://d");
        assert_eq!(world.run(Lookup::new(&linux_image(), &scope)), Ok(()), "{place}");
        assert!(world.used().contains(&format!("read {source:?}").as_str()), "{place}");
        let keeps = world.used().iter().any(|line| line.starts_with("keep /own/"));
        assert_eq!(keeps, place.starts_with("http"), "{place}");
    }
    let mut world = World::new(&[]);
    assert!(world.run(Lookup::new(&linux_image(), &scope("srv*http://s;debuginfod*http://d"))).is_err());
    let asked = world.used();
    let expected = ["debuginfo", "executable"].map(|file| format!("http://d/buildid/{BUILD}/{file}"));
    assert_eq!(asked.len(), 2, "each server for what it may have that can be used: {asked:?}");
    assert!(asked.iter().zip(&expected).all(|(asked, address)| asked.ends_with(address)), "{asked:?}");
}

#[test]
fn a_file_that_others_share_is_fetched_for_it() {
    let main = format!("http://d/buildid/{BUILD}/debuginfo");
    let other = format!("http://d/buildid/{}/debuginfo", "dd".repeat(20));
    let mut world = World::new(&[(&main, "needs"), (&other, "good")]);
    assert_eq!(world.run(Lookup::new(&linux_image(), &scope("debuginfod*http://d"))), Ok(()));
    let kept = format!("keep /own/.build-id/a0/{}.debug", &BUILD[2..]);
    let expected =
        [&format!("get Debug {main}"), "read Debug", &format!("get Debug {other}"), "read Debug with true", &kept];
    assert_eq!(world.used(), expected);
    let mut world = World::new(&[(&main, "needs"), ("/root/usr/lib/debug/.dwz/x/a.debug", "good")]);
    assert_eq!(world.run(Lookup::new(&linux_image(), &scope("debuginfod*http://d"))), Ok(()));
    assert!(world.used().contains(&"read Debug with true"));
    let mut world = World::new(&[(&main, "needs")]);
    assert_eq!(world.run(Lookup::new(&linux_image(), &scope("debuginfod*http://d"))), Ok(()), "it does without");
}

#[test]
fn a_server_that_is_down_is_left_alone() {
    let mut world = World::new(&[]);
    world.down.push("http://s");
    let tried = world.run(Lookup::new(&windows_image(), &scope("srv*http://s*http://t"))).expect_err("nothing there");
    let asked = world.used().iter().filter(|line| line.contains("http://s")).count();
    assert_eq!(asked, 2, "once for each kind of file: {:?}", world.used());
    assert_eq!(tried.iter().filter(|line| line.contains("http://s")).count(), 1, "{tried:?}");
    assert!(tried.contains(&"http://s: does not answer".to_owned()), "{tried:?}");
}

#[test]
fn without_identity_there_is_a_reason() {
    let image = Image { name: "x".to_owned(), ..Image::default() };
    let tried = World::new(&[]).run(Lookup::new(&image, &scope("/d"))).expect_err("nothing known");
    assert_eq!(tried, ["x: the recording says no identity of it"]);
}

proptest! {
    /// Whatever names a recording has, every path lies below a directory of the user's, and every address below a server's.
    #[test]
    fn nothing_leads_out(
        name in prop_oneof![any::<String>(), r"(\.\./|\.\.\\|/|\\\\|C:|nul\.|[a-z. ]){0,12}"],
        path in prop_oneof![any::<String>(), r"(\.\./|\.\.\\|/|\\\\|C:\\|[a-z. ]){0,12}"],
        build in prop::collection::vec(any::<u8>(), 0..80),
        content in prop_oneof![Just("bad"), Just("cab:bad"), Just("PATH:../../x"), Just("needs")],
    ) {
        let image = Image {
            name: name.clone(),
            path: Some(path),
            pdb: Some(pdb_id(&name)),
            managed_pdb: None,
            image: Some(ImageId { name, time_date_stamp: 1, size: 2 }),
            build_id: Some(BuildId(build)),
        };
        let scope = scope("/d;srv*/n*http://s;debuginfod*http://d");
        let mut without_pdb = image.clone();
        without_pdb.pdb = None;
        for image in [&image, &without_pdb] {
            for lookup in [Lookup::new(image, &scope), Lookup::managed(&pdb_id(&image.name), image, &scope)] {
                let mut lookup = lookup;
                let mut number = 0;
                while let Step::Ask(request) = lookup.step() {
                    let mut world = World { files: vec![content], ..World::default() };
                    lookup.answer(match &request {
                        Request::Open(place) => {
                            let joined = place.below.at(&place.root);
                            prop_assert!([Path::new("/d"), Path::new("/n"), Path::new("/own"), Path::new("/root")].contains(&&*place.root));
                            let parts: Vec<_> = joined.strip_prefix(&place.root).expect("below").components().collect();
                            prop_assert!(!parts.is_empty());
                            prop_assert!(parts.iter().all(|part| matches!(part, std::path::Component::Normal(_))));
                            prop_assert!(parts.iter().all(|part| part.as_os_str().len() <= 255));
                            Answer::File(FileNumber(0))
                        }
                        Request::Download { url, .. } => {
                            prop_assert!(url.starts_with("http://s/") || url.starts_with("http://d/"));
                            prop_assert!(url.split('/').skip(3).all(|part| !part.is_empty() && part != "." && part != ".."));
                            prop_assert!(url.bytes().all(|byte| byte.is_ascii_graphic()) && !url.contains(['\\', '?', '#']));
                            Answer::File(FileNumber(0))
                        }
                        Request::Cached(key) => {
                            prop_assert!(!key.as_str().contains(['/', '\\', '\0', ':']) && key.as_str().len() < 250);
                            let parts: Vec<_> = Path::new(key.as_str()).components().collect();
                            prop_assert!(matches!(parts[..], [std::path::Component::Normal(_)]), "{key}");
                            Answer::Absent
                        }
                        other => world.answer(other),
                    });
                    number += 1;
                    prop_assert!(number < 2_000, "a look-up that does not end");
                }
            }
        }
    }
}
