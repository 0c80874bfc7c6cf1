//! Extracts of strangers: an archive or an error of one line, and nothing else.

use proptest::prelude::*;
use serde_json::json;
use tracesift_archive::Archive;
use tracesift_etwanalyzer::{Options, Outcome, import};
use tracesift_trace::rows::{MethodSummaryRow, ProcessSummaryRow};

use super::corpus;
use super::support::{Folder, document, health, imported, refused, rows};

#[test]
fn wrong_types_are_told_with_their_place() {
    let folder = Folder::new();
    for (members, what) in [
        (json!({ "Processes": 5 }), "expected a list at line 1 column"),
        (json!({ "Processes": [{ "ProcessID": "x" }] }), "invalid type"),
        (json!({ "Processes": [{ "StartTime": "yesterday" }] }), "expected a time"),
        (json!({ "CPU": { "PerProcessCPUConsumptionInMs": [1] } }), "expected an object"),
        (json!({ "CPU": { "PerProcessCPUConsumptionInMs": { "a(1)": -5 } } }), "expected u64"),
        (
            json!({ "CPU": { "PerProcessMethodCostsInclusive": { "MethodStatsPerProcess": [{}] } } }),
            "missing field `Process`",
        ),
        (
            json!({ "CPU": { "PerProcessMethodCostsInclusive": { "MethodStatsPerProcess": [{ "Process": 0, "CostsAsString": [7] }] } } }),
            "a text of numbers",
        ),
        (json!({ "ETWMarks": [{ "Time": "\n\u{1b}[31m".repeat(500) }] }), "expected a time"),
    ] {
        let error = refused(&folder.write("x.json", document(members)));
        assert!(error.contains(what) && error.contains("line 1 column"), "{error}");
        assert!(!error.contains(char::is_control), "{error}");
    }
}

#[test]
fn rows_without_sense_are_counted() {
    let folder = Folder::new();
    let costs = [
        "0 1 0 0.0 1.0 1 0",
        "9 1 0 0.0 1.0 1 0",
        "4294967295 1 0 0.0 1.0 1 0",
        "0 1",
        "0 -1 0 0.0 1.0 1 0",
        "0 1 0 2.0 1.0 1 0",
    ];
    let archive = imported(&folder.write(
        "x.json",
        document(json!({ "Processes": [{ "ProcessID": 1 }], "CPU": {
            "PerProcessCPUConsumptionInMs": { "nobody": 1, "9223372036854775807": 2, "99": 3, "p(1)": u64::MAX, "": 4 },
            "PerProcessAvgCPUPriority": { "-9223372036854775808": 8 },
            "PerProcessMethodCostsInclusive": { "MethodNames": ["a!b"], "MethodStatsPerProcess": [
                { "Process": 0, "CostsAsString": costs },
                { "Process": 77, "CostsAsString": costs },
                { "Process": -5, "CostsAsString": costs }] } } })),
    ));
    assert_eq!(rows::<MethodSummaryRow>(&archive).len(), 1);
    assert_eq!(health(&archive, "unreadable_method_rows"), 5);
    assert_eq!(health(&archive, "rows_of_unknown_processes"), 5);
    assert_eq!(rows::<ProcessSummaryRow>(&archive)[0].cpu, i64::MAX);
    assert!(archive.info().caveats.iter().any(|caveat| caveat.contains("10 rows could not be used")));
}

#[test]
fn depth_is_bounded() {
    let folder = Folder::new();
    let deep = format!(r#"{{"SessionStart":"2024-05-01T10:00:00Z","Processes":{}"#, "[".repeat(1_000_000));
    assert!(refused(&folder.write("x.json", deep)).contains("line 1"));
    // What is passed over costs a bit per level.
    let passed = format!(
        r#"{{"SessionStart":"2024-05-01T10:00:00Z","Other":{}{}}}"#,
        "[".repeat(1_000_000),
        "]".repeat(1_000_000)
    );
    imported(&folder.write("y.json", passed));
}

/// What is read must not be many times as large as what was written: `""` became a row of 72 bytes, whose number only the document bounded.
#[test]
fn rows_are_bounded() {
    let folder = Folder::new();
    let rows = |row: &str, count: usize| format!("[{}{row}]", format!("{row},").repeat(count - 1));
    let document = |rows: &str| {
        let stats = format!(r#"{{"Process":0,"CostsAsString":{rows}}}"#);
        let stats = format!("{stats},{stats},{stats}");
        let cpu = format!(
            r#"{{"PerProcessMethodCostsInclusive":{{"MethodNames":["a!b"],"MethodStatsPerProcess":[{stats}]}}}}"#
        );
        format!(r#"{{"SessionStart":"2024-05-01T10:00:00Z","Processes":[{{}}],"CPU":{cpu}}}"#)
    };
    let archive = imported(&folder.write("x.json", document(&rows(r#""""#, 1_500_000))));
    assert_eq!(health(&archive, "unreadable_method_rows"), 4_500_000);
    let error = refused(&folder.write("y.json", document(&rows(r#""0 1 0 0 0 1 0""#, 1_000_000))));
    assert!(error.contains("more rows than any recording has"), "{error}");
}

#[test]
fn truncated_documents() {
    let folder = Folder::new();
    let whole = corpus::small();
    for end in 0..whole.len() {
        refused(&folder.write("x.json", &whole[..end]));
        assert!(!folder.path("x.sift").exists());
    }
    refused(&folder.write("x.json", format!("{whole}x")));
    let packed = std::fs::read(folder.pack("x.json7z", &[("x.json", whole.as_bytes())])).expect("read");
    for end in (0..packed.len()).step_by(7) {
        refused(&folder.write("y.json7z", &packed[..end]));
    }
}

/// Every value of every byte of the first chunk's header. The decoder goes round for ever if it is read again after it has refused one of these.
#[test]
fn damaged_headers_of_chunks() {
    let folder = Folder::new();
    let packed = std::fs::read(folder.pack("x.json7z", &[("x.json", corpus::small().as_bytes())])).expect("read");
    let mut refusals = 0;
    for place in 32..38 {
        for byte in (0..=255).step_by(5) {
            let mut damaged = packed.clone();
            damaged[place] = byte;
            if let Err(error) =
                import(&folder.write("y.json7z", damaged), &Options { overwrite: true, ..Options::default() })
            {
                refusals += 1;
                assert!(!error.to_string().contains("nothing has come out"), "byte {place} as {byte}: {error}");
            }
        }
    }
    assert!(refusals > 200, "{refusals}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Damage anywhere gives an archive or an error, and soon.
    #[test]
    fn damage(changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), packed in any::<bool>()) {
        let folder = Folder::new();
        let mut content = corpus::small().into_bytes();
        if packed {
            content = std::fs::read(folder.pack("p.json7z", &[("x.json", &content)])).expect("read");
        }
        for (place, byte) in &changes {
            let place = place.index(content.len());
            content[place] = *byte;
        }
        match import(&folder.write("x.json", &content), &Options::default()) {
            Ok(Outcome::Imported(report)) => Archive::open(&report.archive).expect("an archive").verify().expect("a sound one"),
            Ok(Outcome::UpToDate(_)) => panic!("nothing was there"),
            Err(error) => {
                let text = error.to_string();
                prop_assert!(!text.contains('\n') && !folder.path("x.sift").exists(), "{}", text);
            }
        }
    }
}
