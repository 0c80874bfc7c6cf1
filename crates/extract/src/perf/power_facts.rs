//! Facts about the frequencies and the power of a Linux machine, as rows of `power_settings`.

use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{PowerSettingRow, power_sources};

/// Paths of these facts, or beginnings of such paths.
const PATHS: [&str; 5] = ["power.", "cpu.min_mhz", "cpu.max_mhz", "cpu.microcode", "cpu.hypervisor"];
/// Rows at most.
const MOST: usize = 1_000;

/// A row for each setting that `tracesift record` noted beside the recording. Items of a list are one setting.
pub(super) fn rows(info: &TraceInfo) -> Vec<PowerSettingRow> {
    let mut rows: Vec<PowerSettingRow> = Vec::new();
    let wanted = info.facts.iter().filter(|(path, _)| PATHS.iter().any(|known| path.starts_with(known)));
    for (path, value) in wanted.take(MOST) {
        let setting = path.trim_end_matches(|character: char| character.is_ascii_digit()).trim_end_matches('.');
        let is_item = setting.len() < path.len();
        match rows.last_mut().filter(|row| is_item && row.setting == setting) {
            Some(PowerSettingRow { text: Some(text), .. }) => {
                text.push_str(", ");
                text.push_str(value);
            }
            _ => rows.push(row(info.start_ns, setting, value, is_item)),
        }
    }
    rows
}

fn row(time: i64, setting: &str, value: &str, is_item: bool) -> PowerSettingRow {
    let number = match value {
        "true" => Some(1),
        "false" => Some(0),
        number => number.parse().ok(),
    };
    let number = number.filter(|_| !is_item);
    PowerSettingRow {
        time,
        setting: setting.to_owned(),
        value: number,
        text: number.is_none().then(|| value.to_owned()),
        source: power_sources::FACT,
        ..PowerSettingRow::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_become_settings() {
        let fact = |path: &str, value: &str| (path.to_owned(), value.to_owned());
        let info = TraceInfo {
            start_ns: 7,
            facts: vec![
                fact("cpu.model", "X"),
                fact("cpu.max_mhz", "4200"),
                fact("power.governors.0", "performance"),
                fact("power.governors.1", "powersave"),
                fact("power.driver", "acpi-cpufreq"),
                fact("power.boost", "true"),
                fact("kernel", "6.1"),
            ],
            ..TraceInfo::default()
        };
        let rows = rows(&info);
        let seen: Vec<_> = rows.iter().map(|row| (row.setting.as_str(), row.value, row.text.as_deref())).collect();
        let expected = [
            ("cpu.max_mhz", Some(4200), None),
            ("power.governors", None, Some("performance, powersave")),
            ("power.driver", None, Some("acpi-cpufreq")),
            ("power.boost", Some(1), None),
        ];
        assert_eq!(seen, expected);
        assert!(rows.iter().all(|row| row.time == 7 && row.source == power_sources::FACT));
    }
}
