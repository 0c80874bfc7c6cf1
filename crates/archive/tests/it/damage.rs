//! Damaged and hostile archives give an error or rows, and never end the process.

use std::path::Path;
use std::sync::Once;

use tracesift_archive::{Archive, Error};
use tracesift_testing::archive::{Random, bless, readable, small_archive};
use tracesift_trace::every_table;
use tracesift_trace::rows::*;
use tracesift_trace::schema::Row;

/// Assertions that fail inside the decoder are caught and become errors; their messages would drown the tests' own.
fn silence_the_decoder() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let default = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let inside =
                |file: &str| ["parquet-", "arrow-", "bytes-", "/library/"].iter().any(|part| file.contains(part));
            if !panic.location().is_some_and(|location| inside(location.file())) {
                default(panic);
            }
        }));
    });
}

/// Reads a table of the archive in every way.
fn read(archive: &Path, table: &str) -> Result<usize, Error> {
    let archive = Archive::open(archive)?;
    let mut rows = 0;
    macro_rules! dispatch {
        ($($row:ident),+) => { $(
            if <$row as Row>::TABLE.name == table {
                let scanned = archive.scan(Some(-1_000_000..1_000_000), |_: &$row| {});
                rows = readable::<$row>(&archive)?;
                scanned?;
            }
        )+ };
    }
    every_table!(dispatch);
    Ok(rows)
}

#[test]
fn random_damage_is_an_error_or_rows() {
    silence_the_decoder();
    let root = tempfile::tempdir().expect("temporary directory");
    let path = root.path().join("x.sift");
    small_archive(&path);
    let mut random = Random(1);
    let mut errors = 0;
    for table in TABLES {
        let file = path.join(format!("{}.parquet", table.name));
        let intact = std::fs::read(&file).expect("table");
        for round in 0..150 {
            let mut damaged = intact.clone();
            match random.below(12) {
                0 => damaged.truncate(random.below(intact.len())),
                1 => damaged.extend_from_slice(&intact[..random.below(intact.len())]),
                _ => {
                    // The footer is where most of the structure is.
                    let from = if random.below(2) == 0 { intact.len() / 2 } else { 0 };
                    for _ in 0..=random.below(3) {
                        let at = from + random.below(intact.len() - from);
                        damaged[at] = if random.below(2) == 0 {
                            random.number() as u8
                        } else {
                            damaged[at] ^ (1 << random.below(8))
                        };
                    }
                }
            }
            std::fs::write(&file, &damaged).expect("written");
            if round % 10 == 0 && damaged != intact {
                assert!(matches!(read(&path, table.name), Err(Error::Corrupt { .. })), "the checksum shows it");
            }
            // Whoever forges a file forges its checksum too.
            bless(&path, table.name, None);
            errors += usize::from(read(&path, table.name).is_err());
        }
        std::fs::write(&file, &intact).expect("written");
        bless(&path, table.name, None);
        assert_eq!(read(&path, table.name).expect("intact again"), 50, "{}", table.name);
    }
    assert!(errors > 500, "only {errors} of {} damaged files were noticed", 150 * TABLES.len());
}

#[test]
fn claims_that_do_not_fit_the_file_are_refused() {
    silence_the_decoder();
    let root = tempfile::tempdir().expect("temporary directory");
    let path = root.path().join("x.sift");
    small_archive(&path);
    let file = path.join("marks.parquet");
    let intact = std::fs::read(&file).expect("table");
    let footer_size = intact.len() - 8;
    let mut claims: Vec<Vec<u8>> = vec![
        Vec::new(),
        b"PAR1".to_vec(),
        b"PAR1\0\0\0\0PAR1".to_vec(),
        b"PAR1\xff\xff\xff\xffPAR1".to_vec(),
        b"PAR1\xff\xff\xff\x7fPAR1".to_vec(),
    ];
    // A footer with 2^28 row groups: field 4, a list of structures.
    let mut footer = vec![0x15, 0x02, 0x39, 0xfc, 0x80, 0x80, 0x80, 0x80, 0x01, 0x00];
    footer.extend_from_slice(&10_u32.to_le_bytes());
    footer.extend_from_slice(b"PAR1");
    claims.push([b"PAR1".as_slice(), &footer].concat());
    // Nested structures without end.
    let mut nested = vec![0x1c; 200_000];
    nested.extend_from_slice(&200_000_u32.to_le_bytes());
    nested.extend_from_slice(b"PAR1");
    claims.push([b"PAR1".as_slice(), &nested].concat());
    let mut long_footer = intact.clone();
    long_footer[footer_size..footer_size + 4].copy_from_slice(&(intact.len() as u32).to_le_bytes());
    claims.push(long_footer);
    for claim in claims {
        std::fs::write(&file, &claim).expect("written");
        bless(&path, "marks", None);
        let error = read(&path, "marks").expect_err("refused");
        assert!(matches!(error, Error::Corrupt { .. }), "{error}");
    }
    std::fs::write(&file, &intact).expect("written");
    bless(&path, "marks", Some(51));
    assert!(read(&path, "marks").expect_err("refused").to_string().contains("it has 50 rows, trace.json says 51"));
}

#[test]
fn missing_and_changed_files_are_named() {
    let root = tempfile::tempdir().expect("temporary directory");
    let path = root.path().join("x.sift");
    let archive = small_archive(&path);
    std::fs::remove_file(path.join("stacks.parquet")).expect("removed");
    let error = archive.rows::<StackRow>().expect_err("missing").to_string();
    assert!(
        error.ends_with("stacks.parquet is damaged: trace.json lists it and it is missing; extract again"),
        "{error}"
    );
    assert!(archive.verify().is_err());
    std::fs::write(path.join("frames.parquet"), "short").expect("written");
    let error = archive.rows::<FrameRow>().expect_err("changed").to_string();
    assert!(error.contains("frames.parquet is damaged: it has 5 bytes, trace.json says "), "{error}");
}

#[test]
fn hostile_descriptions_are_refused() {
    let root = tempfile::tempdir().expect("temporary directory");
    let path = root.path().join("x.sift");
    small_archive(&path);
    let trace = path.join("trace.json");
    let intact = std::fs::read_to_string(&trace).expect("trace.json");
    let deep = "[".repeat(100_000);
    let refused = [
        "",
        "null",
        "{}",
        "[]",
        "\"schema\"",
        "{\"schema\": []}",
        "{\"schema\": 1}",
        "{\"schema\": [1]}",
        "{\"schema\": [-1, 0]}",
        "{\"schema\": [1, 0], \"tables\": 7}",
        "{\"schema\": [1, 0], \"cpu_count\": -1}",
        "{\"schema\": [99999999999999999999, 0]}",
        "\u{0}",
        &deep,
    ];
    for text in refused {
        std::fs::write(&trace, text).expect("written");
        let error = Archive::open(&path).expect_err(text);
        assert!(matches!(error, Error::Corrupt { .. }), "{text:.40}: {error}");
    }
    for name in ["../x", "/etc/passwd", "", "a/b", "stacks.parquet", "C:x"] {
        let mut value: serde_json::Value = serde_json::from_str(&intact).expect("JSON");
        value["tables"][0]["name"] = name.into();
        std::fs::write(&trace, value.to_string()).expect("written");
        assert!(matches!(Archive::open(&path).expect("opened").verify(), Err(Error::Corrupt { .. })), "{name}");
    }
    let mut random = Random(5);
    for _ in 0..2_000 {
        let mut damaged = intact.clone().into_bytes();
        let at = random.below(damaged.len());
        damaged[at] = random.number() as u8;
        std::fs::write(&trace, &damaged).expect("written");
        if let Ok(archive) = Archive::open(&path) {
            // Whatever it says now, reading by it ends.
            let _ = archive.rows::<MarkRow>();
        }
    }
}
