//! The built-in tables against bytes from other projects' tests with the field values that those projects state.

use std::fs;

use serde_json::Value as Json;
use tracesift_etl::schema::{Origin, Schemas, Value};
use tracesift_etl::{Guid, Record};
use tracesift_fixtures::cases;

/// Names of the cases that differ from those of the tables by more than their spelling.
const ALIASES: [(&str, &str); 24] = [
    ("EventTrace.cpu_speed_mhz", "CPUSpeed"),
    ("EventTrace.logger_name_ptr", "LoggerNamePointer"),
    ("EventTrace.log_file_name_ptr", "LogFileNamePointer"),
    ("EventTrace.file_name", "LogFileName"),
    ("EventTrace.event_version", "StructureVersion"),
    ("EventTrace.partition_id_guid", "PartitionId"),
    ("EventTrace.parent_id_guid", "ParentId"),
    ("Process.directory_table_base", "PageDirectoryBase"),
    ("Process.page_fault_count", "MemoryCount"),
    ("PerfInfo.source", "SampleSource"),
    ("PerfInfo.counter_names", "Counters"),
    ("PerfInfo.counter_status", "Counters"),
    ("StackWalk.process_id", "StackProcess"),
    ("StackWalk.thread_id", "StackThread"),
    ("SystemConfig.mem_size_mb", "MemSize"),
    ("SystemConfig.drive_letter", "DriveLetterString"),
    ("SystemConfig.volume_extent", "VolumeExt"),
    ("ImageID.guid", "GuidSig"),
    // Byte by byte in the cases, one number in the tables.
    ("EventTrace.os_version_major", ""),
    ("EventTrace.os_version_minor", ""),
    ("EventTrace.sp_version_major", ""),
    ("EventTrace.sp_version_minor", ""),
    // Two fields in the tables, and bytes without a meaning.
    ("PerfInfo.reserved", ""),
    ("EventTrace.reserved", ""),
];

/// Parts of a SYSTEMTIME, in order.
const DATE_PARTS: [&str; 8] = ["year", "month", "day_of_week", "day", "hour", "minute", "second", "milliseconds"];

/// How events of a class are known.
enum Class {
    /// By the group of a kernel class.
    Kernel(u8),
    /// By the GUID of another class.
    Classic(Guid),
    /// By a provider; the case's opcode is the event's id.
    Provider(Guid),
}

fn class(text: &str) -> Option<Class> {
    Some(match text.split_once(' ') {
        Some(("VsDiagnosticsHub", guid)) => Class::Provider(guid.parse().unwrap()),
        Some((_, guid)) => Class::Classic(guid.parse().unwrap()),
        None => Class::Kernel(match text {
            "EventTrace" => 0x00,
            "Process" => 0x03,
            "Thread" => 0x05,
            "SystemConfig" => 0x0b,
            "PerfInfo" => 0x0f,
            "Image" => 0x14,
            "StackWalk" => 0x18,
            _ => return None,
        }),
    })
}

fn small(case: &Json, key: &str) -> u8 {
    u8::try_from(case[key].as_u64().unwrap()).unwrap()
}

/// A record around the payload of a case.
fn record(case: &Json, class: &Class, payload: &[u8]) -> Vec<u8> {
    let wide = case["pointer_size"] == 8;
    let (opcode, version) = (small(case, "opcode"), small(case, "version"));
    let mut bytes = match class {
        Class::Kernel(group) => {
            let size = u16::try_from(32 + payload.len()).unwrap().to_le_bytes();
            let mut bytes = vec![version, 0, if wide { 2 } else { 1 }, 0xC0, size[0], size[1], opcode, *group];
            bytes.resize(32, 0);
            bytes
        }
        Class::Classic(guid) => {
            let size = u16::try_from(48 + payload.len()).unwrap().to_le_bytes();
            let mut bytes = vec![size[0], size[1], if wide { 0x14 } else { 0x0A }, 0xC0, opcode, 0, version, 0];
            bytes.resize(24, 0);
            bytes.extend(guid.to_bytes());
            bytes.resize(48, 0);
            bytes
        }
        Class::Provider(guid) => {
            let size = u16::try_from(80 + payload.len()).unwrap().to_le_bytes();
            let mut bytes = vec![size[0], size[1], if wide { 0x13 } else { 0x12 }, 0xC0];
            bytes.resize(24, 0);
            bytes.extend(guid.to_bytes());
            bytes.extend([opcode, 0, version]);
            bytes.resize(80, 0);
            bytes
        }
    };
    bytes.extend(payload);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes
}

fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
}

fn find<'v>(fields: &'v [(&str, Value<'v>)], name: &str) -> Option<&'v Value<'v>> {
    fields.iter().find(|(known, _)| plain(known) == plain(name)).map(|(_, value)| value)
}

fn is(value: &Value<'_>, expected: &Json) -> bool {
    match (value, expected) {
        (Value::Struct(members), Json::Object(expected)) => {
            expected.iter().all(|(name, expected)| find(members, name).is_some_and(|value| is(value, expected)))
        }
        (Value::Struct(members), expected) => matches!(members.as_slice(), [(_, value)] if is(value, expected)),
        (Value::List(values), Json::Array(expected)) => {
            values.len() == expected.len() && values.iter().zip(expected).all(|(value, expected)| is(value, expected))
        }
        (Value::Double(value), Json::Number(expected)) => expected.as_f64() == Some(*value),
        (value, Json::Number(expected)) => value.number() == expected.as_i128(),
        (value, Json::String(text)) => match value.number() {
            Some(number) => match text.strip_prefix("0x") {
                Some(digits) => i128::from_str_radix(digits, 16) == Ok(number),
                None => text.parse() == Ok(number),
            },
            None => value.to_string() == *text,
        },
        _ => false,
    }
}

/// What the tables have for a field of a case: the value and whether it is the expected one. `None` where they hide it.
fn check(fields: &[(&str, Value<'_>)], class: &str, name: &str, expected: &Json) -> Option<Result<(), String>> {
    let wrong = |found: String| Some(Err(format!("{name} is {found}, not {expected}")));
    if let Some(zone_field) = name.strip_prefix("tz_") {
        let Some(Value::Struct(zone)) = find(fields, "TimeZoneInformation") else { return wrong("absent".to_owned()) };
        let (half, part) = zone_field.split_once('_').unwrap_or((zone_field, ""));
        return match DATE_PARTS.iter().position(|known| *known == part) {
            Some(at) => match find(zone, &format!("{half}Date")) {
                Some(Value::SystemTime(date)) if expected.as_u64() == Some(u64::from(date[at])) => Some(Ok(())),
                found => wrong(format!("{found:?}")),
            },
            None => match find(zone, zone_field) {
                Some(value) if is(value, expected) => Some(Ok(())),
                found => wrong(format!("{found:?}")),
            },
        };
    }
    let key = format!("{class}.{name}");
    let name_here = match ALIASES.iter().find(|(known, _)| *known == key) {
        Some((_, "")) => return None,
        Some((_, alias)) => alias,
        None => name,
    };
    match find(fields, name_here) {
        Some(value) if is(value, expected) => Some(Ok(())),
        // Reserved fields are not shown.
        None if name.starts_with("reserved") => None,
        found => wrong(format!("{found:?}")),
    }
}

#[test]
fn every_stated_field_is_in_the_tables() {
    let Some(cases) = cases("") else { return };
    let text = fs::read_to_string(cases.join("payloads/kernel-payloads.json")).unwrap();
    let cases: Vec<Json> = serde_json::from_str(&text).unwrap();
    let mut schemas = Schemas::new();
    let mut wrong = Vec::new();
    let (mut decoded_cases, mut checked) = (0, 0);
    for case in &cases {
        let (name, class_text) = (case["name"].as_str().unwrap(), case["class"].as_str().unwrap());
        // Headers are no payloads.
        if class_text.ends_with("Header") {
            continue;
        }
        let Some(class) = class(class_text) else { panic!("{name}: class {class_text}") };
        let hex = case["payload_hex"].as_str().unwrap();
        let payload: Vec<u8> =
            (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect();
        let bytes = record(case, &class, &payload);
        let record = Record::parse(&bytes, 0, 0).unwrap();
        assert_eq!(record.payload(), payload, "{name}");
        let Some(schema) = schemas.find(&record) else {
            wrong.push(format!("{name}: no table has it"));
            continue;
        };
        if schema.origin != Origin::BuiltIn {
            wrong.push(format!("{name}: {:?}", schema.origin));
        }
        let decoded = schema.decode(&record);
        if decoded.stopped.is_some() || !decoded.rest.is_empty() {
            wrong.push(format!("{name}: {:?}, {} bytes left", decoded.stopped, decoded.rest.len()));
        }
        decoded_cases += 1;
        let class_name = class_text.split(' ').next().unwrap();
        for (field, expected) in ["expected", "decoded_only"].iter().flat_map(|key| case[*key].as_object().unwrap()) {
            match check(&decoded.fields, class_name, field, expected) {
                None => {}
                Some(Ok(())) => checked += 1,
                Some(Err(text)) => wrong.push(format!("{name}: {text}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(decoded_cases >= 46 && checked > 400, "cases are missing: {decoded_cases}, {checked} fields");
}
