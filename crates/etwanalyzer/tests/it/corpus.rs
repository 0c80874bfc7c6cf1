//! The inputs that fuzzing starts from, in `fuzz/corpus/etwanalyzer_json`: small, and imported without a row left out. With
//! `WRITE_CORPUS=1` they are written.

use std::path::Path;

use serde_json::json;
use tracesift_trace::rows::{HealthRow, MethodSummaryRow, ModuleRow, ProcessRow};

use super::support::{Folder, document, imported, rows};

/// A document with something in every part.
pub(crate) fn small() -> String {
    document(json!({
        "MemorySizeMB": 100,
        "ETWMarks": [{ "Time": "2024-05-01T10:00:01Z", "MarkMessage": "m" }],
        "NetworkInterfaces": [{ "IpAddresses": "1", "PhysicalAddress": "48-DF" }],
        "Disk": { "DiskInformation": [{ "Model": "d", "CapacityGiB": 1.5, "Partitions": [{ "Drive": "C" }] }] },
        "Processes": [{ "ProcessID": 1, "ProcessName": "p", "ParentPid": 1, "StartTime": "2024-05-01T10:00:01Z", "EndTime": "2024-05-01T10:00:02Z", "ReturnCode": 0 }],
        "CPU": {
            "PerProcessCPUConsumptionInMs": { "p(1)2024-05-01T10:00:01Z": 3 },
            "PerProcessAvgCPUPriority": { "0": 8.5 },
            "PerProcessCoreUsage": { "0": [1, 2] },
            "PerProcessMethodCostsInclusive": {
                "MethodNames": ["a!b(c)", "a!d"], "ContainsAllCPUData": false, "HasCSwitchData": true,
                "MethodStatsPerProcess": [{ "Process": { "Name": "p", "Pid": 1, "StartTime": "2024-05-01T10:00:01Z" },
                    "CostsAsString": ["0 1 2 1.0 2.0 1 0 3 4 5", "1 1 2 1.0 2.0 1 0"] }]
            }
        },
        "SummaryStackTags": { "Stats": [{ "Key": { "Name": "p", "Pid": 1, "StartTime": "2024-05-01T10:00:01Z" },
            "Value": [{ "Stacktag": "t", "CPUInMs": 1, "FirstOccurence": "2024-05-01T10:00:01Z", "FirstLastOccurenceDuration": "00:00:00.5" }] }] }
    }))
}

/// The part with modules.
fn modules() -> String {
    json!({
        "Modules": [{ "ModuleAndPid": "0 1 -2 -2 -2 -2 -2 #0", "PdbIdx": 0 }],
        "UnresolvedPdbs": [{ "Pdb": "0a 1 a.pdb" }],
        "SharedStrings": { "Strings": ["C:\\", "a"] }
    })
    .to_string()
}

fn check(name: &str, content: &[u8]) {
    let path = format!("{}/../../fuzz/corpus/etwanalyzer_json/{name}", env!("CARGO_MANIFEST_DIR"));
    let path = Path::new(&path);
    if std::env::var_os("WRITE_CORPUS").is_some() {
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("made");
        std::fs::write(path, content).expect("written");
    }
    assert!(std::fs::read(path).is_ok_and(|found| found == content), "{name} is another; write it with WRITE_CORPUS=1");
}

#[test]
fn seeds() {
    let (main, part) = (small(), modules());
    let folder = Folder::new();
    folder.write("x_Derived_Modules.json", &part);
    let archive = imported(&folder.write("x.json", &main));
    assert_eq!(rows::<HealthRow>(&archive), []);
    assert_eq!(rows::<ProcessRow>(&archive).len(), 1);
    assert_eq!(rows::<MethodSummaryRow>(&archive).len(), 2);
    assert_eq!(rows::<ModuleRow>(&archive).len(), 1);

    check("document", main.as_bytes());
    check("with_modules", format!("{main}\0{part}").as_bytes());
    // Packed by whichever version of the library wrote it first: only what is in it counts.
    let packed = folder.pack("y.json7z", &[("y_Derived_Modules.json", part.as_bytes()), ("y.json", main.as_bytes())]);
    let seed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/etwanalyzer_json/json7z");
    if std::env::var_os("WRITE_CORPUS").is_some() {
        std::fs::copy(&packed, &seed).expect("written");
    }
    let seed = std::fs::read(seed).expect("written with WRITE_CORPUS=1");
    let packed = imported(&folder.write("z.json7z", seed));
    assert_eq!(rows::<ProcessRow>(&packed), rows::<ProcessRow>(&archive));
}
