//! The shared extracts: what stands in the archive is what stands in the JSON, read once more as values and by other code.

use std::collections::BTreeMap;
use std::io::Read as _;

use serde_json::Value;
use tracesift_archive::Archive;
use tracesift_etwanalyzer::{Options, Outcome, TagRow, TagSource, import};
use tracesift_fixtures::cases;
use tracesift_trace::ProcessId;
use tracesift_trace::rows::{
    ConnectionRow, DiskSummaryRow, ExceptionRow, FileRow, MemoryProcessRow, MemoryStateRow, MethodSummaryRow,
    NetworkIoRow, Origin, PowerSettingRow, ProcessRow, ProcessSummaryRow, StackRow, SymbolRow, TagSummaryRow,
    ThreadPoolRow, ThreadRow,
};

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

fn number(value: &Value) -> i64 {
    value.as_u64().map_or_else(|| value.as_i64().unwrap_or(i64::MIN), u64::cast_signed)
}

#[test]
fn connections_are_what_is_stored() {
    let folder = Folder::new();
    let Some((path, value)) = shared(&folder, LONG_TRACE) else { return };
    let archive = imported(&path);
    let zero = &value["SessionStart"];
    let part = &value["Network"]["TcpData"];
    let stored = part["Connections"].as_array().expect("a list");
    let again = part["Retransmissions"].as_array().expect("a list");
    let found: Vec<ConnectionRow> = rows(&archive);
    assert_eq!((found.len(), stored.len()), (2156, 2156));
    for (place, (row, stored)) in found.iter().zip(stored).enumerate() {
        let facts = &stored["Statistics"];
        assert_eq!(row.connection.index(), place);
        let process = stored["ProcessIdx"].as_i64().and_then(|index| usize::try_from(index).ok());
        assert_eq!(row.process.map(ProcessId::index), process, "connection {place}");
        assert_eq!(row.tcb, Some(number(&stored["Tcb"])));
        let end = |end: &Value| {
            let address = end["Address"].as_str().map(|text| text.trim_matches(['[', ']']).to_owned());
            (address, end["Port"].as_i64())
        };
        assert_eq!((row.local.clone(), row.local_port.map(i64::from)), end(&stored["LocalIpAndPort"]));
        assert_eq!((row.remote.clone(), row.remote_port.map(i64::from)), end(&stored["RemoteIpAndPort"]));
        assert_eq!(row.start, ns(&stored["TimeStampOpen"], zero));
        let (closed, aborted) = (ns(&stored["TimeStampClose"], zero), ns(&facts["RstReceivedTime"], zero));
        assert_eq!(row.end, aborted.or(closed), "an abort comes before the close");
        assert_eq!(row.end_kind.is_some(), aborted.is_some());
        assert_eq!(row.template.as_deref(), stored["LastTcpTemplate"].as_str());
        assert_eq!(
            (row.received, row.receive_events),
            (stored["BytesReceived"].as_i64(), stored["DatagramsReceived"].as_i64())
        );
        assert_eq!(row.send_events, stored["DatagramsSent"].as_i64());
        let sent = stored["BytesSent"].as_i64().filter(|sent| *sent > 0 || row.send_events == Some(0));
        assert_eq!(row.sent, sent);
        assert_eq!(row.stat_bytes_in, facts["DataBytesIn"].as_i64());
        assert_eq!(row.posted_events, facts["SendPostedPosted"].as_i64());
        assert_eq!(
            (row.last_sent, row.last_received),
            (ns(&facts["LastSent"], zero), ns(&facts["LastReceived"], zero))
        );
        let gap = facts["MaxReceiveDelayS"].as_f64().map(|gap| (gap * 1e9).round() as i64);
        assert_eq!(row.max_receive_gap, gap);
        let own = again.iter().filter(|again| again["ConnectionIdx"].as_u64() == Some(place as u64));
        let delays: Vec<i64> =
            own.filter_map(|again| Some(ns(&again["RetransmitTime"], zero)? - ns(&again["SendTime"], zero)?)).collect();
        assert_eq!(row.retransmits, i64::try_from(delays.len()).ok());
        assert_eq!(row.retransmit_delay, Some(delays.iter().sum()));
        assert_eq!(row.retransmit_delay_max, delays.iter().max().copied());
        assert_eq!(row.client_retransmits, None, "this version does not look for them");
    }
    assert_eq!(found.iter().filter_map(|row| row.received).sum::<i64>(), 1_594_239_333);

    let single: Vec<NetworkIoRow> = rows(&archive);
    assert_eq!((single.len(), again.len()), (4547, 4547));
    for (row, stored) in single.iter().zip(again) {
        assert_eq!(i64::from(row.connection.0), number(&stored["ConnectionIdx"]));
        assert_eq!(Some(row.time), ns(&stored["RetransmitTime"], zero));
        assert_eq!(Some(row.time - row.delay.expect("a delay")), ns(&stored["SendTime"], zero));
        assert_eq!((row.sequence, row.size), (stored["SequenceNumber"].as_i64(), number(&stored["NumBytes"])));
    }
    assert_eq!(found.iter().filter_map(|row| row.retransmits).sum::<i64>(), 4547);
}

#[test]
fn memory_is_what_is_stored() {
    let folder = Folder::new();
    for (name, commit, counts) in [(CALLUP, [18_314, 18_269], [276, 279]), (LONG_TRACE, [72_345, 72_754], [408, 410])] {
        let Some((path, value)) = shared(&folder, name) else { return };
        let archive = imported(&path);
        let part = &value["MemoryUsage"];
        let states: Vec<MemoryStateRow> = rows(&archive);
        let found = states.iter().map(|row| row.commit.map(|bytes| bytes >> 20)).collect::<Vec<_>>();
        assert_eq!(found, commit.map(Some), "{name}");
        let active = ["MachineActiveStartMiB", "MachineActiveEndMiB"].map(|key| part[key].as_i64());
        assert_eq!(states.iter().map(|row| row.active.map(|bytes| bytes >> 20)).collect::<Vec<_>>(), active);
        let processes: Vec<ProcessRow> = rows(&archive);
        let all: Vec<MemoryProcessRow> = rows(&archive);
        for ((key, count), time) in
            ["WorkingSetsAtStart", "WorkingSetsAtEnd"].into_iter().zip(counts).zip([0, archive.info().end_ns])
        {
            let stored = part[key].as_array().expect("a list");
            let found: Vec<&MemoryProcessRow> = all.iter().filter(|row| row.time == time).collect();
            assert_eq!((found.len(), stored.len()), (count, count), "{name}, {key}");
            let mut found: Vec<_> = found
                .into_iter()
                .map(|row| {
                    let process = &processes[row.process.index()];
                    let sizes = [row.commit, row.working_set, row.private_working_set, row.shared_commit];
                    (process.name.clone(), process.pid, sizes.map(|size| size.map(|bytes| bytes >> 20)))
                })
                .collect();
            let mut stored: Vec<_> = stored
                .iter()
                .map(|set| {
                    let process = &set["Process"];
                    let sizes = ["CommitInMiB", "WorkingSetInMiB", "WorkingsetPrivateInMiB", "SharedCommitSizeInMiB"];
                    let name = process["Name"].as_str().unwrap_or_default().to_owned();
                    (name, number(&process["Pid"]), sizes.map(|size| set[size].as_i64()))
                })
                .collect();
            found.sort();
            stored.sort();
            assert_eq!(found, stored, "{name}, {key}");
        }
        let parts = processes.iter().filter(|row| row.origin == Origin::Pseudo).count();
        assert!(processes.iter().all(|row| (row.origin == Origin::Pseudo) == (row.pid == 1)), "{parts}");
    }
}

#[test]
fn disk_sums_are_what_is_stored() {
    let folder = Folder::new();
    let Some((path, value)) = shared(&folder, CALLUP) else { return };
    let archive = imported(&path);
    let part = &value["Disk"];
    let files: Vec<FileRow> = rows(&archive);
    let sums: Vec<DiskSummaryRow> = rows(&archive);
    let mut left: BTreeMap<(&str, &str, &str), &Value> = BTreeMap::new();
    let mut paths = 0;
    for (drive, data) in part["DriveToPath"].as_object().expect("an object") {
        for (path, operations) in data["FilePathToDiskEvents"].as_object().expect("an object") {
            paths += 1;
            for (operation, figures) in operations.as_object().expect("an object") {
                left.insert((drive, path, operation), figures);
            }
        }
    }
    assert_eq!(
        (paths, sums.len(), files.len()),
        (1020, 1098, 1017),
        "two disks that were flushed, and one file without a path"
    );
    let mut of_operations = [0; 3];
    for row in &sums {
        let operation = ["Read", "Write", "Flush"][row.operation as usize];
        let key = match row.file.map(|file| files[file.index()].path.as_str()) {
            Some(path) => (&path[..1], path, operation),
            None if row.disk.is_some() => (if row.disk == Some(0) { "Id0" } else { "Id1" }, "Flush", operation),
            None => ("Unknown", "Unknown (0x0)", operation),
        };
        let stored = left.remove(&key).unwrap_or_else(|| panic!("{key:?}"));
        assert_eq!(
            (row.size, row.service),
            (number(&stored["SizeInBytes"]), number(&stored["DiskServiceTimeInus"]) * 1000)
        );
        let processes = stored["Processes"].as_array().expect("a list");
        assert!(row.process.is_none() || processes.len() == 1, "{key:?}");
        of_operations[row.operation as usize] += row.service / 1000;
    }
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(of_operations, [3_323_412, 395_782, 725_665]);
    assert_eq!(Some(of_operations.iter().sum()), part["TotalDiskServiceTimeInus"].as_i64());
}

#[test]
fn power_settings_are_what_is_stored() {
    let folder = Folder::new();
    let Some((path, value)) = shared(&folder, LONG_TRACE) else { return };
    let archive = imported(&path);
    let part = value["PowerConfiguration"].as_array().expect("a list");
    assert_eq!(part.len(), 1);
    let found: Vec<PowerSettingRow> = rows(&archive);
    let times: std::collections::BTreeSet<i64> = found.iter().map(|row| row.time).collect();
    assert_eq!(times.into_iter().collect::<Vec<_>>(), [424_177_550_000], "one configuration");
    let setting = |guid: &str| found.iter().find(|row| row.setting == guid).map(|row| (row.value, row.text.as_deref()));
    let parking = &part[0]["ProcessorParkingConfiguration"];
    for (guid, stored) in [
        ("be337238-0d82-4146-a960-4f3749d470c7", &part[0]["BoostMode"]),
        ("893dee8e-2bef-41e0-89c6-b55d0929964c", &part[0]["MinThrottlingFrequencyPercent"]),
        ("7f2f5cfa-f10c-4823-b5e1-e93ae85f46b5", &part[0]["HeteroPolicyInEffect"]),
        ("0cc5b647-c1df-4637-891a-dec35c318583", &parking["MinUnparkedProcessorPercent"]),
        ("1facfc65-a930-4bc5-9f38-504ec097bbc0", &parking["InitialPerformancePercentClass1"]),
    ] {
        assert_eq!(setting(guid), Some((stored.as_i64(), None)), "{guid}");
    }
    let active = part[0]["ActivePowerProfileGuid"].as_str();
    assert_eq!(setting("31f9f286-5084-42fe-b720-2b0264993763"), Some((None, active)));
    assert_eq!(setting("97cfac41-2217-47eb-992d-618b1977c907"), None, "0 stands for what was not recorded, too");
}

#[test]
fn numbers_of_events_without_rows_are_kept() {
    let folder = Folder::new();
    for (name, exceptions, threads) in [(CALLUP, "11", None), (LONG_TRACE, "4469", Some("9811"))] {
        let Some((path, _)) = shared(&folder, name) else { return };
        let archive = imported(&path);
        let facts = &archive.info().facts;
        let fact = |path: &str| facts.iter().find(|(known, _)| known == path).map(|(_, value)| value.as_str());
        assert_eq!(fact("etwanalyzer.exceptions"), Some(exceptions));
        assert_eq!(fact("etwanalyzer.thread_pool_events"), threads);
        assert!(rows::<ThreadPoolRow>(&archive).is_empty(), "none is a starvation");
        let caveats = &archive.info().caveats;
        assert!(!caveats.iter().any(|caveat| caveat.contains("not imported")), "{caveats:?}");
    }
}

#[test]
fn exceptions_are_those_of_the_extract() {
    let folder = Folder::new();
    let Some((path, _)) = shared(&folder, CALLUP) else { return };
    let archive = imported(&path);
    let found: Vec<_> = rows::<ExceptionRow>(&archive)
        .into_iter()
        .map(|row| (row.process.map(|process| process.0), row.exception_type.unwrap_or_default(), row.stack))
        .collect();
    let count =
        |process, of: &str| found.iter().filter(|(by, name, _)| *by == Some(process) && name.ends_with(of)).count();
    assert_eq!(found.len(), 11);
    assert_eq!([count(62, "FileNotFoundException"), count(123, "FileNotFoundException")], [1, 1]);
    assert_eq!(
        [count(202, "ManagementException"), count(202, "SocketException"), count(202, "SnmpException")],
        [4, 4, 1]
    );
    assert!(found.iter().all(|(_, _, stack)| stack.is_none()), "no stacks were recorded");

    let Some((path, _)) = shared(&folder, LONG_TRACE) else { return };
    let archive = imported(&path);
    let [thrown] = rows::<ExceptionRow>(&archive).try_into().expect("one exception");
    assert_eq!(thrown.process, Some(ProcessId(188)));
    assert_eq!(thrown.exception_type.as_deref(), Some("System.ServiceModel.CommunicationException"));
    let functions: Vec<String> = rows::<SymbolRow>(&archive).into_iter().map(|row| row.function).collect();
    assert_eq!(functions[..2], ["ZwTraceEvent", "IL_Throw"]);
    assert_eq!(functions.last().map(String::as_str), Some("RtlUserThreadStart"));
    let [stack] = rows::<StackRow>(&archive).try_into().expect("one stack");
    assert_eq!(stack.frames.len(), 21);
    assert_eq!(rows::<ThreadRow>(&archive).iter().map(|row| row.tid).collect::<Vec<_>>(), [65040]);
}
