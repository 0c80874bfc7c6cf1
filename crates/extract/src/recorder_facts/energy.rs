//! Counters of energy, as the recorder read them.

use serde_json::Value;

use super::noted;

/// Counters that are read at most.
const MOST: usize = 1_000;

/// The counters, and their readings in the order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EnergyReadings {
    pub(crate) counters: Vec<EnergyCounter>,
    pub(crate) readings: Vec<EnergyReading>,
}

/// A counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EnergyCounter {
    /// What it is of: `package`, `cores`.
    pub(crate) name: String,
    /// The package that it is of.
    pub(crate) package: Option<i32>,
    /// Behind this value it starts at 0 again, µJ.
    pub(crate) highest: u64,
}

/// A reading of all counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EnergyReading {
    /// Ticks of the recording's clock.
    pub(crate) ticks: i64,
    /// By counter, µJ; `None` where one could not be read.
    pub(crate) values: Vec<Option<u64>>,
}

impl EnergyReadings {
    pub(super) fn of(document: &Value) -> Self {
        let counters: Vec<&Value> = document["counters"].as_array().into_iter().flatten().take(MOST).collect();
        let counter = |counter: &&Value| counter_of(counter, &counters);
        let reading = |reading: &Value| {
            let values = reading["values"].as_array()?.iter().map(Value::as_u64);
            Some(EnergyReading { ticks: reading["seen_ns"].as_i64()?, values: values.take(counters.len()).collect() })
        };
        Self {
            counters: counters.iter().map(counter).collect(),
            readings: noted(&document["readings"], reading, |reading| reading.ticks),
        }
    }
}

/// A zone of powercap. Its package is that of the outermost zone around it: `intel-rapl:0:1` lies in `intel-rapl:0`, whose name is
/// `package-0`, or `package-0-die-1` where a package has several dies.
fn counter_of(counter: &Value, all: &[&Value]) -> EnergyCounter {
    let text = |counter: &Value, key: &str| counter[key].as_str().unwrap_or_default().to_owned();
    let zone = text(counter, "zone");
    let outermost: Vec<&str> = zone.split(':').take(2).collect();
    let outermost = outermost.join(":");
    let around = all.iter().find(|counter| counter["zone"] == outermost.as_str());
    let around = around.map(|counter| text(counter, "name")).unwrap_or_default();
    let (package, die) = place(&around);
    let own = match text(counter, "name") {
        name if name.starts_with("package-") => "package".to_owned(),
        name if name == "core" => "cores".to_owned(),
        name => name,
    };
    let name = die.map_or_else(|| own.clone(), |die| format!("{own} die {die}"));
    EnergyCounter { name, package, highest: counter["highest_uj"].as_u64().unwrap_or(u64::MAX) }
}

/// The numbers of the package and of the die in a name.
fn place(name: &str) -> (Option<i32>, Option<u32>) {
    let Some(rest) = name.strip_prefix("package-") else { return (None, None) };
    let (package, die) = rest.split_once("-die-").map_or((rest, None), |(package, die)| (package, Some(die)));
    (package.parse().ok().filter(|package| *package >= 0), die.and_then(|die| die.parse().ok()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn zones_lie_in_packages() {
        let counter = |zone: &str, name: &str| json!({"zone": zone, "name": name, "highest_uj": 262_143_328_850_u64});
        let document = json!({
            "counters": [
                counter("intel-rapl:0", "package-0"),
                counter("intel-rapl:0:0", "core"),
                counter("intel-rapl:0:1", "dram"),
                counter("intel-rapl:1", "psys"),
                counter("intel-rapl:2", "package-1-die-3"),
                counter("intel-rapl:2:0", "uncore"),
                {"zone": 7},
            ],
            "readings": [{"seen_ns": 9, "values": [4, null, -1, 1.5, 5, 6, 7, 8]}, {"values": []}, {"seen_ns": 3, "values": [1]}],
        });
        let read = EnergyReadings::of(&document);
        let counters: Vec<_> = read.counters.iter().map(|counter| (counter.name.as_str(), counter.package)).collect();
        let expected = [
            ("package", Some(0)),
            ("cores", Some(0)),
            ("dram", Some(0)),
            ("psys", None),
            ("package die 3", Some(1)),
            ("uncore die 3", Some(1)),
            ("", None),
        ];
        assert_eq!(counters, expected);
        assert_eq!((read.counters[0].highest, read.counters[6].highest), (262_143_328_850, u64::MAX));
        let readings: Vec<_> = read.readings.iter().map(|reading| (reading.ticks, reading.values.as_slice())).collect();
        let last = [Some(4), None, None, None, Some(5), Some(6), Some(7)];
        assert_eq!(readings, [(3, &[Some(1)][..]), (9, &last[..])]);
        assert_eq!(EnergyReadings::of(&json!(null)), EnergyReadings::default());
    }
}
