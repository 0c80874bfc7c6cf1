//! The shared extracts: what stands in the archive is what stands in the JSON, read once more as values and by other code.

use std::collections::BTreeMap;
use std::io::Read as _;

use serde_json::Value;
use tracesift_archive::Archive;
use tracesift_etwanalyzer::{Options, Outcome, TagRow, TagSource, import};
use tracesift_fixtures::cases;
use tracesift_trace::rows::{MethodSummaryRow, ProcessRow, ProcessSummaryRow, TagSummaryRow};

use super::support::{Folder, health, imported, rows};

const CALLUP: &str = "CallupAdhocWarmReadingCT_3117msFO9DE01T0162PC.20200717-124447.json";
const LONG_TRACE: &str = "16_02_05.21LongTrace.json";

/// A shared extract, unpacked, and its content.
fn shared(folder: &Folder, name: &str) -> Option<(std::path::PathBuf, Value)> {
    let packed = std::fs::File::open(cases(&format!("etwanalyzer-json/{name}.xz"))?).expect("readable");
    let mut content = Vec::new();
    lzma_rust2::XzReader::new(packed, true).read_to_end(&mut content).expect("unpacked");
    let value = serde_json::from_slice(&content).expect("JSON");
    Some((folder.write(name, &content), value))
}

/// 100 ns since 1970 of a local time without its offset; all times of a document are compared with others of it.
fn ticks(text: &str) -> Option<i64> {
    let (date, time) = text.split_once('T')?;
    let date: Vec<i64> = date.split('-').map(|part| part.parse().expect("a number")).collect();
    // Day of the year 0 of March 1, as calendars count.
    let (year, month) = if date[1] < 3 { (date[0] - 1, date[1] + 9) } else { (date[0], date[1] - 3) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + date[2] - 719_469;
    let (clock, fraction) = time.get(..time.len() - 6)?.split_once('.').unwrap_or((&time[..8], "0"));
    let clock = clock.split(':').fold(0_i64, |sum, part| sum * 60 + part.parse::<i64>().expect("a number"));
    let fraction: i64 = format!("{fraction:0<7}").parse().expect("a number");
    (1900..9000).contains(&date[0]).then_some((days * 86_400 + clock) * 10_000_000 + fraction)
}

fn ns(value: &Value, zero: &Value) -> Option<i64> {
    Some((ticks(value.as_str()?)? - ticks(zero.as_str()?)?) * 100)
}

#[test]
fn processes_are_those_of_the_document() {
    let folder = Folder::new();
    for name in [CALLUP, LONG_TRACE] {
        let Some((path, value)) = shared(&folder, name) else { return };
        let archive = imported(&path);
        let found: Vec<ProcessRow> = rows(&archive);
        let listed = value["Processes"].as_array().expect("a list");
        assert_eq!(found.len(), listed.len());
        assert_eq!(health(&archive, "unlisted_processes"), 0);
        for (index, (row, listed)) in found.iter().zip(listed).enumerate() {
            assert_eq!(row.process.index(), index);
            assert_eq!(Some(row.pid), listed["ProcessID"].as_i64());
            assert_eq!(Some(row.name.as_str()), listed["ProcessName"].as_str());
            assert_eq!(row.command_line.as_deref(), listed["CmdLine"].as_str());
            assert_eq!(row.parent_pid, listed["ParentPid"].as_i64());
            assert_eq!(row.session.map(i64::from), listed["SessionId"].as_i64());
            assert_eq!(row.exit_code.map(i64::from), listed["ReturnCode"].as_i64());
            assert_eq!(row.start, ns(&listed["StartTime"], &value["SessionStart"]));
            assert_eq!(row.start.is_some(), listed["IsNew"].as_bool().expect("a flag"));
            assert_eq!(row.end, ns(&listed["EndTime"], &value["SessionStart"]));
            assert_eq!(row.end.is_some(), listed["HasEnded"].as_bool().expect("a flag"));
            if let Some(parent) = row.parent {
                assert_eq!(Some(found[parent.index()].pid), row.parent_pid);
            }
        }
        assert!(found.iter().filter(|row| row.parent.is_some()).count() > found.len() / 2);
    }
}

#[test]
fn cpu_of_processes_is_what_is_stored() {
    let folder = Folder::new();
    let Some((path, value)) = shared(&folder, CALLUP) else { return };
    let archive = imported(&path);
    let processes: Vec<ProcessRow> = rows(&archive);
    let summary: Vec<ProcessSummaryRow> = rows(&archive);
    let stored = value["CPU"]["PerProcessCPUConsumptionInMs"].as_object().expect("an object");
    let mut left: BTreeMap<&str, i64> =
        stored.iter().map(|(key, ms)| (key.as_str(), ms.as_i64().expect("a number"))).collect();
    assert_eq!(left.len(), 153);
    assert_eq!(summary.len(), 153);
    assert_eq!(summary.iter().filter(|row| row.cpu == 0).count(), 4, "those below 1 ms are there");
    for row in &summary {
        let process = &processes[row.process.index()];
        // No pid occurs twice in this extract.
        let begin = format!("{}({})", process.name, process.pid);
        let key = left.keys().copied().find(|key| key.starts_with(&begin));
        let expected = key.and_then(|key| left.remove(key)).expect("only what is stored");
        assert_eq!((row.process, row.cpu), (process.process, expected * 1_000_000), "{begin}");
        assert_eq!((row.priority, row.run, row.wait), (None, None, None));
        assert_eq!(row.methods, row.methods_kept);
    }
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(summary.iter().map(|row| row.methods).sum::<i64>(), 5546);
}

#[test]
fn methods_are_what_is_stored() {
    let folder = Folder::new();
    let Some((path, value)) = shared(&folder, CALLUP) else { return };
    let archive = imported(&path);
    let processes: Vec<ProcessRow> = rows(&archive);
    let mut found: BTreeMap<(i64, String), MethodSummaryRow> = BTreeMap::new();
    for row in rows::<MethodSummaryRow>(&archive) {
        let name = format!("{}!{}", row.module.as_deref().unwrap_or("<UnknownModule>"), row.function);
        let key = (processes[row.process.index()].pid, name);
        assert!(found.insert(key, row).is_none(), "a method has one row per process");
    }
    let part = &value["CPU"]["PerProcessMethodCostsInclusive"];
    let names: Vec<&str> = part["MethodNames"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    let mut shortened = 0;
    for process in part["MethodStatsPerProcess"].as_array().expect("a list") {
        let pid = process["Process"]["Pid"].as_i64().expect("a number");
        for cost in process["CostsAsString"].as_array().expect("a list") {
            let fields: Vec<f64> =
                cost.as_str().expect("a text").split(' ').map(|field| field.parse().expect("a number")).collect();
            let name = names[fields[0] as usize];
            let row = match found.remove(&(pid, name.replace("<UnknownMethod>", "[unknown]"))) {
                Some(row) => row,
                None => {
                    // Without arguments then, and these begin where the name of the row ends.
                    let is_its = |(key, _): &(&(i64, String), &MethodSummaryRow)| {
                        key.0 == pid
                            && name
                                .strip_prefix(&key.1)
                                .is_some_and(|rest| rest.starts_with('(') && rest.ends_with(')'))
                    };
                    let key = found.iter().find(is_its).map(|(key, _)| key.clone());
                    shortened += 1;
                    key.and_then(|key| found.remove(&key)).unwrap_or_else(|| panic!("{name} of {pid}"))
                }
            };
            let near = |ns: i64, seconds: f64| (ns as f64 / 1e9 - seconds).abs() < 1e-9;
            assert_eq!(row.cpu, fields[1] as i64 * 1_000_000, "{name} of {pid}");
            assert!(near(row.first, fields[3]) && near(row.last, fields[4]), "{name} of {pid}");
            assert_eq!(i64::from(row.threads), fields[5] as i64, "{name} of {pid}");
            // It was recorded without switches: their absence is no wait of 0.
            assert_eq!((row.wait, row.ready, row.switches), (None, None, None));
        }
    }
    assert!(found.is_empty(), "{found:?}");
    assert!(shortened > 100);
}

#[test]
fn tags_are_what_is_stored() {
    let folder = Folder::new();
    let Some((path, value)) = shared(&folder, CALLUP) else { return };
    let Outcome::Imported(report) = import(&path, &Options::default()).expect("imported") else { panic!("new") };
    let stats = value["SummaryStackTags"]["Stats"].as_array().expect("a list");
    let mut tags = report.extract.tags.iter();
    for process in stats {
        for stored in process["Value"].as_array().expect("a list") {
            let tag = tags.next().expect("a row per tag");
            let row = &report.extract.processes[tag.process.index()];
            assert_eq!(
                (Some(row.pid), Some(row.name.as_str())),
                (process["Key"]["Pid"].as_i64(), process["Key"]["Name"].as_str())
            );
            assert_eq!((tag.source, Some(tag.tag.as_str())), (TagSource::Summary, stored["Stacktag"].as_str()));
            assert_eq!(Some(tag.cpu / 1_000_000), stored["CPUInMs"].as_i64());
            assert_eq!(tag.wait, None);
            assert_eq!(tag.first, ns(&stored["FirstOccurence"], &value["SessionStart"]));
            assert!(tag.first <= tag.last && tag.last <= Some(report.extract.info.end_ns));
        }
    }
    assert!(tags.next().is_none());
    assert_eq!(report.extract.tags.len(), 706);
    let stored: Vec<TagSummaryRow> = rows(&Archive::open(&report.archive).expect("opened"));
    assert_eq!(stored, report.extract.tags.iter().map(TagRow::row).collect::<Vec<_>>());
    assert!(stored.iter().all(|row| row.tag_set.is_none() && row.wait.is_none() && row.threads.is_none()));
}

#[test]
fn descriptions() {
    let folder = Folder::new();
    let Some((path, _)) = shared(&folder, CALLUP) else { return };
    let callup = imported(&path);
    let info = callup.info();
    assert_eq!(info.kind, "etwanalyzer");
    assert_eq!(info.name, "CallupAdhocWarmReadingCT_3117msFO9DE01T0162PC.20200717-124447");
    assert_eq!((info.cpu_count, info.cpu_mhz, info.memory_mib), (8, Some(3500), Some(16_326)));
    assert_eq!(info.os_build.as_deref(), Some("10.0.19043"));
    assert_eq!(info.start_time_utc.as_deref(), Some("2021-11-14T20:11:54.4752345Z"));
    assert_eq!((info.utc_offset_minutes, info.end_ns), (-60, 38_447_596_000));
    assert!(!info.has_switches && info.machine.is_none());
    assert!(info.caveats.iter().any(|caveat| caveat.contains("-allCPU")), "{:?}", info.caveats);

    assert!(info.caveats.iter().any(|caveat| caveat.contains("events were lost")), "{:?}", info.caveats);

    let Some((path, _)) = shared(&folder, LONG_TRACE) else { return };
    let long = imported(&path);
    let info = long.info();
    assert_eq!(info.machine.as_deref(), Some("TestMachine"));
    assert_eq!(info.cpu_name.as_deref(), Some("Intel(R) Xeon(R) Gold 6226 CPU @ 2.70GHz"));
    assert_eq!(info.boot_time_utc.as_deref(), Some("2020-01-01T03:32:25.3923230Z"));
    assert_eq!(info.disks[0].drives, ["C:", "D:"]);
    assert_eq!(info.network_cards.len(), 4);
    assert_eq!(info.network_cards[0].mac, "48:df:37:e5:61:ec");
    assert!(rows::<ProcessSummaryRow>(&long).is_empty(), "it has no CPU part");
    assert!(info.caveats.iter().any(|caveat| caveat.contains("no CPU figures")), "{:?}", info.caveats);
}

#[test]
fn what_is_there_stays() {
    let folder = Folder::new();
    let Some((path, _)) = shared(&folder, CALLUP) else { return };
    let archive = imported(&path);
    let again = |options: &Options| import(&path, options).expect("fine");
    assert!(matches!(again(&Options::default()), Outcome::UpToDate(place) if place == archive.path()));
    let overwrite = Options { overwrite: true, ..Options::default() };
    let Outcome::Imported(report) = again(&overwrite) else { panic!("imported again") };
    assert_eq!(Archive::open(&report.archive).expect("an archive").info().id, archive.info().id);
    let elsewhere = Options { out: Some(folder.path("new/place")), ..Options::default() };
    let Outcome::Imported(report) = again(&elsewhere) else { panic!("imported") };
    assert!(report.archive.starts_with(folder.path("new/place")));
}
