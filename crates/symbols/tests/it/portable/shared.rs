//! The shared portable PDBs, as `README.md` beside them describes them.

use std::sync::atomic::AtomicBool;

use tracesift_fixtures::cases;
use tracesift_symbols::fetch::{Options, Silence, Symbols};
use tracesift_symbols::portable::{self, EMBEDDED_MAGIC, read_embedded};
use tracesift_symbols::search::{Image, SearchPath, ShortNames, Why};
use tracesift_symbols::{Error, FormatReaders, Guid, PdbId, PortablePdb};

/// The data of type 17 that an image's debug directory leads to: found by their magic, which stands there once.
fn embedded_data(image: &[u8]) -> &[u8] {
    let mut places = image.windows(4).enumerate().filter(|(_, bytes)| *bytes == EMBEDDED_MAGIC);
    let (start, _) = places.next().unwrap();
    assert!(places.next().is_none());
    &image[start..]
}

/// Documents, methods, methods with points, points, hidden ones, and the paths.
fn counts(pdb: &PortablePdb) -> ((usize, u32, usize, usize, usize), Vec<String>) {
    let (mut with_points, mut points, mut hidden) = (0, 0, 0);
    for row in 1..=pdb.methods() {
        let all: Vec<_> = pdb.points(0x0600_0000 | row).map(Result::unwrap).collect();
        with_points += usize::from(!all.is_empty());
        points += all.len();
        hidden += all.iter().filter(|point| point.place.is_none()).count();
        assert!(all.is_sorted_by(|a, b| a.il_offset < b.il_offset));
        for place in all.iter().filter_map(|point| point.place) {
            assert!(place.line < 10_000 && pdb.document(place.document).is_some(), "{place:?}");
        }
    }
    let paths: Vec<_> = pdb.documents().map(|document| pdb.document(document).unwrap()).collect();
    ((paths.len(), pdb.methods(), with_points, points, hidden), paths)
}

fn guid(text: &str) -> Guid {
    text.parse().unwrap()
}

fn read(name: &str, wanted: &str) -> Option<PortablePdb> {
    let bytes = std::fs::read(cases("symbols")?.join(name)).unwrap();
    let other = PortablePdb::read(bytes.clone(), Some(guid("00000000-0000-0000-0000-000000000001")));
    assert!(matches!(other, Err(Error::OtherBinary { .. })));
    let pdb = PortablePdb::read(bytes, Some(guid(wanted))).unwrap();
    crate::portable::tables::assert_a_table_says_the_same(&pdb);
    Some(pdb)
}

fn names(paths: &[String]) -> Vec<&str> {
    paths.iter().map(|path| path.rsplit(['/', '\\']).next().unwrap()).collect()
}

#[test]
fn a_program() {
    let Some(pdb) = read("portable.pdb", "1D6929B4-468B-4DB8-9389-9A12BD257E1B") else { return };
    // Counted by a walk of the tables and blobs in another language.
    let (counted, paths) = counts(&pdb);
    assert_eq!(counted, (4, 10, 7, 64, 3));
    assert_eq!(paths[0], "/Users/swatinem/Coding/sentry-dotnet/samples/foo/Program.cs");
    let files = [
        "Program.cs",
        "foo.GlobalUsings.g.cs",
        ".NETCoreApp,Version=v6.0.AssemblyAttributes.cs",
        "foo.AssemblyInfo.cs",
    ];
    assert_eq!(names(&paths), files);
    assert_eq!(pdb.stamp(), u32::from_le_bytes([0x1e, 0xf3, 0x8c, 0xab]));
    assert_eq!(pdb.source_link(), None);
}

#[test]
fn a_library_with_source_link() {
    let Some(pdb) = read("ppdb-sourcelink-sample.pdb", "CCBCACCE-DCA5-467B-AE40-59282CE78BCE") else { return };
    let (counted, paths) = counts(&pdb);
    assert_eq!(counted, (3, 2, 1, 2, 0));
    let files =
        ["Class1.cs", ".NETStandard,Version=v2.0.AssemblyAttributes.cs", "ppdb-sourcelink-sample.AssemblyInfo.cs"];
    assert_eq!(names(&paths), files);
    let address = pdb.source_link().unwrap().address(&paths[0]).unwrap();
    let (host, path) = address.strip_prefix("https://").unwrap().split_once('/').unwrap();
    assert_eq!(host, "raw.githubusercontent.com");
    assert!(path.ends_with("/symbolic-testutils/fixtures/ppdb-sourcelink-sample/src/Class1.cs"), "{path}");
}

#[test]
fn links_of_several_repositories() {
    let Some(pdb) = read("source-links-only.pdb", "0C380A12-8221-4069-8565-BEE6B3AC196E") else { return };
    let (counted, paths) = counts(&pdb);
    assert_eq!(counted, (5, 9, 2, 7, 2));
    assert_eq!(names(&paths)[0], "Program.cs");
    let link = pdb.source_link().unwrap();
    let repository = |path: &str| link.address(path).unwrap().split('/').nth(4).unwrap().to_owned();
    assert_eq!(repository(&paths[0]), "sentry-dotnet");
    // The longer pattern decides.
    assert_eq!(repository(r"C:\dev\dotnet\modules\Ben.Demystifier\a.cs"), "Ben.Demystifier");
    assert_eq!(link.address(r"C:\dev\other\a.cs"), None);
}

#[test]
fn a_program_with_its_pdb_inside() {
    let Some(folder) = cases("symbols") else { return };
    let image = std::fs::read(folder.join("Sentry.Samples.Console.Basic-embedded-ppdb.dll")).unwrap();
    let wanted = guid("D8EB7DCA-4883-4B10-A1F7-048EA1EA388B");
    let pdb = read_embedded(embedded_data(&image), Some(wanted)).unwrap();
    let (counted, paths) = counts(&pdb);
    assert_eq!(counted, (5, 9, 2, 7, 2));
    assert_eq!(paths[0], r"C:\dev\sentry-dotnet\samples\Sentry.Samples.Console.Basic\Program.cs");
    // The time stamp of the CodeView entry.
    assert_eq!(pdb.stamp(), 0xcfb0_fc89);
    let lines =
        [(5, 0, Some(3)), (5, 37, Some(13)), (5, 48, None), (9, 0, Some(6)), (9, 17, Some(9)), (9, 18, Some(10))];
    for (method, offset, line) in lines {
        assert_eq!(pdb.place(0x0600_0000 | method, offset).map(|place| place.line), line, "{method} {offset}");
    }
}

/// Below the root of a file system the image is found by its recorded path, whatever its letters, and its PDB is used without asking anybody.
#[test]
fn the_search_looks_inside_of_images() {
    let Some(folder) = cases("symbols") else { return };
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("root");
    std::fs::create_dir_all(root.join("App")).unwrap();
    let (from, to) =
        ("Sentry.Samples.Console.Basic-embedded-ppdb.dll", root.join("App/Sentry.Samples.Console.Basic.dll"));
    std::fs::copy(folder.join(from), &to).unwrap();
    let find = |guid_digits: &str, name: &str| {
        let pdb = PdbId { name: "Sentry.Samples.Console.Basic.pdb".to_owned(), guid: guid(guid_digits), age: 1 };
        let image = Image {
            name: name.to_owned(),
            path: Some(format!(r"C:\app\{name}")),
            managed_pdb: Some(pdb),
            ..Image::default()
        };
        let options = Options { roots: vec![root.clone()], offline: true, ..Options::new(place.path().join("own")) };
        let symbols = Symbols::new(&SearchPath::parse("", &ShortNames::builtin()).unwrap(), options);
        symbols.resolve(&[image], &FormatReaders, &Silence, &AtomicBool::new(false)).remove(0)
    };
    let (right, name) = ("D8EB7DCA-4883-4B10-A1F7-048EA1EA388B", "Sentry.Samples.Console.Basic.dll");
    let other = find("0C380A12-8221-4069-8565-BEE6B3AC196E", name);
    assert!(
        other.managed.is_none() && other.tried.iter().any(|one| one.to_string().contains("belongs to")),
        "{other:?}"
    );
    for _ in 0..2 {
        let table = find(right, name).managed.expect("its lines");
        let at = |method: u32, offset| {
            let address = portable::address(&table, 0x0600_0000 | method, offset)?;
            table.frames(address).next()?.line
        };
        let lines = [(5, 0), (5, 37), (5, 48), (9, 0), (9, 17), (9, 18)].map(|(method, offset)| at(method, offset));
        assert_eq!(lines, [Some(3), Some(13), None, Some(6), Some(9), Some(10)]);
        // The second time it comes from the cache.
        let _ = std::fs::remove_file(&to);
    }
    // An image without one inside is no PDB, and no trouble.
    std::fs::copy(folder.join("crash.exe"), root.join("App/crash.exe")).unwrap();
    let none = find("3249D99D-0C40-4931-8610-F4E4FB0B6936", "crash.exe");
    assert!(none.managed.is_none() && none.tried.iter().all(|one| one.why == Why::Absent), "{none:?}");
}
