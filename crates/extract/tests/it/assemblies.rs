//! Assemblies of .NET in real recordings, against what their events say one by one.

use tracesift_testing::recording::{Extracted, Recording};
use tracesift_trace::rows::{AssemblyRow, ProcessRow};

fn extracted(name: &str) -> Option<Extracted> {
    let path = tracesift_fixtures::cases(&format!("etl/{name}"))?;
    let bytes = std::fs::read(path).expect("a recording");
    Some(Recording::of(name, &bytes).extract())
}

/// The rows in the order of loads, with the names of their processes.
fn rows(extracted: &Extracted) -> Vec<(String, AssemblyRow)> {
    let processes: Vec<ProcessRow> = extracted.archive.rows().expect("processes");
    let mut rows: Vec<AssemblyRow> = extracted.archive.rows().expect("assemblies");
    assert!(rows.is_sorted_by_key(|row| row.time));
    rows.sort_by_key(|row| row.start);
    let name = |row: &AssemblyRow| processes[row.process.expect("a process").index()].name.clone();
    rows.into_iter().map(|row| (name(&row), row)).collect()
}

#[test]
fn lives_are_those_of_loads_unloads_and_the_rundown() {
    // Per recording: assemblies of the test program with begin and end, and those that the rundown alone has.
    for (name, program, lives, rundown) in [
        (
            "net.4.5.2.x64.etl.zip",
            "Test.x64.exe",
            [("mscorlib", 2_929_209_900, 8_201_596_300, 1), ("Test", 3_079_899_200, 8_200_709_700, 0)],
            27,
        ),
        (
            "net.4.5.2.x86.etl.zip",
            "Test.x86.exe",
            [("mscorlib", 2_816_230_800, 7_902_621_100, 1), ("Test", 2_840_389_000, 7_901_652_400, 0)],
            18,
        ),
    ] {
        let Some(extracted) = extracted(name) else { return };
        let rows = rows(&extracted);
        let loaded: Vec<_> = rows
            .iter()
            .filter(|(_, row)| row.there != Some(true))
            .map(|(process, row)| {
                let short = row.name.split(',').next().unwrap_or_default();
                assert!(row.thread.is_some() && row.stack.is_some() && row.open != Some(true), "{row:?}");
                (process.as_str(), (short, row.start, row.time, row.flags))
            })
            .collect();
        assert_eq!(loaded, lives.map(|life| (program, life)), "{name}");
        let there: Vec<_> = rows.iter().filter(|(_, row)| row.there == Some(true)).collect();
        assert_eq!(there.len(), rundown, "{name}");
        assert!(there.iter().all(|(process, row)| process == "PerfView.exe" && row.open == Some(true)), "{name}");
        assert!(there.iter().all(|(_, row)| row.path.is_some() || row.flags & 2 != 0), "a file has a path: {name}");
    }
}

#[test]
fn the_order_of_loads_is_that_of_the_events() {
    let Some(extracted) = extracted("diaghub-dotnetcore3.1-win-x64-diagsession.zip") else { return };
    let rows = rows(&extracted);
    let loaded: Vec<&str> = rows
        .iter()
        .filter(|(process, row)| process == "locProject.exe" && row.there != Some(true))
        .map(|(_, row)| row.name.split(',').next().unwrap_or_default())
        .collect();
    let first =
        ["System.Private.CoreLib", "locProject", "System.Runtime", "Microsoft.EntityFrameworkCore", "netstandard"];
    assert_eq!(loaded[..5], first);
}
