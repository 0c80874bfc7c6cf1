//! Power settings, under the GUIDs of Windows.
//!
//! ETWAnalyzer writes 0 for some settings that the recording does not have: a 0 of these is left out. It has the lengths of checks as
//! times, though Windows has them as numbers of checks: these are left out, too, and so is the cooling policy, whose numbers differ.

use serde::Deserialize;
use tracesift_trace::RowSink;
use tracesift_trace::rows::{PowerSettingRow, power_sources};

use crate::document::Number;
use crate::values::Integer;

/// An element of `PowerConfiguration`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[expect(missing_docs, reason = "the settings have the names of the document; their meanings stand with the question")]
pub struct PowerConfiguration {
    pub time_since_trace_start_s: Number,
    pub increase_policy: Integer,
    pub increase_policy_class1: Integer,
    pub increase_threshold_percent: Integer,
    pub boost_mode: Integer,
    pub boost_policy_percent: Integer,
    pub base_profile: Integer,
    pub decrease_policy: Integer,
    pub decrease_threshold_percent: Integer,
    pub latency_sensitivity_performance_percent: Integer,
    pub max_throttling_frequency_percent: Integer,
    pub max_efficiency_class1_frequency: Integer,
    pub min_throttling_frequency_percent: Integer,
    pub min_throttling_frequency_percent_class1: Integer,
    pub max_throttling_frequency_class1_percent: Integer,
    pub max_efficiency_class0_frequency: Integer,
    pub throttle_policy: Integer,
    pub time_window_size: Integer,
    pub idle_configuration: Option<IdleConfiguration>,
    pub processor_parking_configuration: Option<ParkingConfiguration>,
    pub hetero_policy_in_effect: Integer,
    pub hetero_policy_thread_scheduling_short: Integer,
    pub hetero_policy_thread_scheduling: Integer,
    pub autonomous_mode: Integer,
    pub active_power_profile_guid: Option<String>,
    pub decrease_level_threshold_class1: Integer,
    pub decrease_level_threshold_class2: Integer,
    pub increase_threshold_percent_class1: Integer,
    pub increase_threshold_percent_class2: Integer,
    pub short_vs_long_thread_threshold_us: Integer,
    pub long_running_threads_lower_architecture_limit: Integer,
    pub energy_preference_percent: Integer,
    pub energy_preference_percent_class1: Integer,
    pub increase_stabilization_interval_class1: Integer,
}

/// `IdleConfiguration`.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[expect(missing_docs, reason = "the settings have the names of the document; their meanings stand with the question")]
pub struct IdleConfiguration {
    pub deepest_idle_state: Integer,
    pub demote_threshold_percent: Integer,
    pub enabled: Integer,
    pub promote_threshold_percent: Integer,
    pub scaling_enabled: Integer,
}

/// `ProcessorParkingConfiguration`.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[expect(missing_docs, reason = "the settings have the names of the document; their meanings stand with the question")]
pub struct ParkingConfiguration {
    pub concurrency_headroom_threshold_percent: Integer,
    pub concurrency_threshold_percent: Integer,
    pub max_efficiency_class1_unparked_processor_percent: Integer,
    pub max_unparked_processor_percent: Integer,
    pub min_efficiency_class1_unparked_processor_percent: Integer,
    pub min_unparked_processor_percent: Integer,
    pub over_utilization_threshold_percent: Integer,
    pub parking_performance_state: Integer,
    pub parking_policy: Integer,
    pub unparking_policy: Integer,
    pub utility_distribution_enabled: Integer,
    pub utility_distribution_threshold_percent: Integer,
    pub initial_performance_percent_class1: Integer,
    pub soft_park_latency_us: Integer,
}

/// GUID of the scheme in force.
const ACTIVE_SCHEME: &str = "31f9f286-5084-42fe-b720-2b0264993763";
/// GUID of the default scheme that it is based on.
const BASE_PROFILE: &str = "245d8541-3943-4422-b025-13a784f679b7";
/// A GUID that was not recorded.
const NO_GUID: &str = "00000000-0000-0000-0000-000000000000";

/// Known schemes, by ETWAnalyzer's number for them: GUID, name.
const SCHEMES: [(i64, &str, &str); 4] = [
    (1, "a1841308-3541-4fab-bc81-f71556f20b4a", "power saver"),
    (2, "381b4222-f694-41f0-9685-ff5bb260df2e", "balanced"),
    (3, "8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c", "high performance"),
    (4, "e9a42b02-d5df-448d-aa00-03f14749eb61", "ultimate performance"),
];

/// The settings as rows.
#[derive(Debug, Default)]
pub(super) struct PowerRows(Vec<PowerSettingRow>);

impl PowerRows {
    pub(super) fn read(configurations: &[PowerConfiguration]) -> Self {
        let mut rows = Vec::new();
        for (place, configuration) in configurations.iter().enumerate() {
            let seconds = configuration.time_since_trace_start_s.0.filter(|seconds| seconds.is_finite());
            // The document has seven digits of it.
            let time = (seconds.unwrap_or(0.0).clamp(0.0, 1e8) * 1e6).round() as i64 * 1000;
            let row = |setting: &str| PowerSettingRow {
                time,
                setting: setting.to_owned(),
                source: power_sources::RUNDOWN,
                ..PowerSettingRow::default()
            };
            let mut number = |(setting, value): (&str, Option<i64>)| {
                rows.extend(value.map(|value| PowerSettingRow { value: Some(value), ..row(setting) }));
            };
            configuration.always().into_iter().for_each(&mut number);
            // ETWAnalyzer knows the others of the first configuration alone.
            if place == 0 {
                configuration.unless_zero().into_iter().for_each(&mut number);
                rows.extend(configuration.schemes().into_iter().flatten().map(|(setting, guid)| {
                    let known = SCHEMES.iter().find(|(_, known, _)| *known == guid);
                    PowerSettingRow {
                        text: Some(guid),
                        profile: known.map(|(.., name)| (*name).to_owned()),
                        ..row(setting)
                    }
                }));
            }
        }
        rows.sort_by_key(|row| row.time);
        Self(rows)
    }

    pub(super) fn write(&self, sink: &mut impl RowSink) {
        self.0.iter().for_each(|row| sink.power_setting(row));
    }
}

impl PowerConfiguration {
    /// Settings that each snapshot of Windows has, with their GUIDs.
    fn always(&self) -> Vec<(&'static str, Option<i64>)> {
        let mut settings = vec![
            ("465e1f50-b610-473a-ab58-00d1077dc418", self.increase_policy.count()),
            ("06cadf0e-64ed-448a-8927-ce7bf90eb35d", self.increase_threshold_percent.count()),
            ("be337238-0d82-4146-a960-4f3749d470c7", self.boost_mode.count()),
            ("45bcc044-d885-43e2-8605-ee0ec6e96b59", self.boost_policy_percent.count()),
            ("40fbefc7-2e9d-4d25-a185-0cfd8574bac6", self.decrease_policy.count()),
            ("12a0ab44-fe28-4fa9-b3bd-4b64f44960a6", self.decrease_threshold_percent.count()),
            ("619b7505-003b-4e82-b7a6-4dd29c300971", self.latency_sensitivity_performance_percent.count()),
            ("bc5038f7-23e0-4960-96da-33abaf5935ec", self.max_throttling_frequency_percent.count()),
            ("893dee8e-2bef-41e0-89c6-b55d0929964c", self.min_throttling_frequency_percent.count()),
            ("3b04d4fd-1cc7-4f23-ab1c-d1337819c4bb", self.throttle_policy.count()),
            ("7d24baa7-0b84-480f-840c-1b0743c00f5f", self.time_window_size.count()),
        ];
        if let Some(idle) = &self.idle_configuration {
            settings.extend([
                ("9943e905-9a30-4ec1-9b99-44dd3b76f7a2", idle.deepest_idle_state.count()),
                ("4b92d758-5a24-4851-a470-815d78aee119", idle.demote_threshold_percent.count()),
                // The setting says whether they are not used.
                ("5d76a2ca-e8c0-402f-a133-2158492d58ad", idle.enabled.count().map(|enabled| i64::from(enabled == 0))),
                ("7b224883-b3cc-4d79-819f-8374152cbe7c", idle.promote_threshold_percent.count()),
                ("6c2993b0-8f48-481f-bcc6-00dd2742aa06", idle.scaling_enabled.count()),
            ]);
        }
        if let Some(parking) = self.processor_parking_configuration.as_ref().filter(|parking| parking.is_known()) {
            settings.extend([
                ("f735a673-2066-4f80-a0c5-ddee0cf1bf5d", parking.concurrency_headroom_threshold_percent.count()),
                ("2430ab6f-a520-44a2-9601-f7f23b5134b1", parking.concurrency_threshold_percent.count()),
                ("ea062031-0e34-4ff1-9b6d-eb1059334028", parking.max_unparked_processor_percent.count()),
                (
                    "ea062031-0e34-4ff1-9b6d-eb1059334029",
                    parking.max_efficiency_class1_unparked_processor_percent.count(),
                ),
                ("0cc5b647-c1df-4637-891a-dec35c318583", parking.min_unparked_processor_percent.count()),
                (
                    "0cc5b647-c1df-4637-891a-dec35c318584",
                    parking.min_efficiency_class1_unparked_processor_percent.count(),
                ),
                ("943c8cb6-6f93-4227-ad87-e9a3feec08d1", parking.over_utilization_threshold_percent.count()),
                ("447235c7-6a8d-4cc0-8e24-9eaf70b96e2b", parking.parking_performance_state.count()),
                ("71021b41-c749-4d21-be74-a00f335d582b", parking.parking_policy.count()),
                ("c7be0679-2817-4d69-9d02-519a537ed0c6", parking.unparking_policy.count()),
                ("e0007330-f589-42ed-a401-5ddb10e785d3", parking.utility_distribution_enabled.count()),
                ("4bdaf4e9-d103-46d7-a5f0-6280121616ef", parking.utility_distribution_threshold_percent.count()),
            ]);
        }
        settings
    }

    /// Settings of which 0 stands for what was not recorded, too.
    fn unless_zero(&self) -> Vec<(&'static str, Option<i64>)> {
        let parking = self.processor_parking_configuration.unwrap_or_default();
        [
            ("465e1f50-b610-473a-ab58-00d1077dc419", self.increase_policy_class1),
            ("75b0ae3f-bce0-45a7-8c89-c9611c25e100", self.max_efficiency_class0_frequency),
            ("75b0ae3f-bce0-45a7-8c89-c9611c25e101", self.max_efficiency_class1_frequency),
            ("893dee8e-2bef-41e0-89c6-b55d0929964d", self.min_throttling_frequency_percent_class1),
            ("bc5038f7-23e0-4960-96da-33abaf5935ed", self.max_throttling_frequency_class1_percent),
            ("7f2f5cfa-f10c-4823-b5e1-e93ae85f46b5", self.hetero_policy_in_effect),
            ("bae08b81-2d5e-4688-ad6a-13243356654b", self.hetero_policy_thread_scheduling_short),
            ("93b8b6dc-0698-4d1c-9ee4-0644e900c85d", self.hetero_policy_thread_scheduling),
            ("8baa4a8a-14c6-4451-8e8b-14bdbd197537", self.autonomous_mode),
            ("f8861c27-95e7-475c-865b-13c0cb3f9d6b", self.decrease_level_threshold_class1),
            ("f8861c27-95e7-475c-865b-13c0cb3f9d6c", self.decrease_level_threshold_class2),
            ("b000397d-9b0b-483d-98c9-692a6060cfbf", self.increase_threshold_percent_class1),
            ("b000397d-9b0b-483d-98c9-692a6060cfc0", self.increase_threshold_percent_class2),
            ("d92998c2-6a48-49ca-85d4-8cceec294570", self.short_vs_long_thread_threshold_us),
            ("43f278bc-0f8a-46d0-8b31-9a23e615d713", self.long_running_threads_lower_architecture_limit),
            ("36687f9e-e3a5-4dbf-b1dc-15eb381c6863", self.energy_preference_percent),
            ("36687f9e-e3a5-4dbf-b1dc-15eb381c6864", self.energy_preference_percent_class1),
            ("984cf492-3bed-4488-a8f9-4286c97bf5ab", self.increase_stabilization_interval_class1),
            ("1facfc65-a930-4bc5-9f38-504ec097bbc0", parking.initial_performance_percent_class1),
            ("97cfac41-2217-47eb-992d-618b1977c907", parking.soft_park_latency_us),
        ]
        .map(|(setting, value)| (setting, value.count().filter(|value| *value != 0)))
        .to_vec()
    }

    /// The settings that are schemes.
    fn schemes(&self) -> [Option<(&'static str, String)>; 2] {
        let active = self.active_power_profile_guid.as_deref().map(str::to_lowercase).filter(|guid| guid != NO_GUID);
        let base = SCHEMES.iter().find(|(number, ..)| Some(*number) == self.base_profile.count());
        [active.map(|guid| (ACTIVE_SCHEME, guid)), base.map(|(_, guid, _)| (BASE_PROFILE, (*guid).to_owned()))]
    }
}

impl ParkingConfiguration {
    /// Without one in the recording ETWAnalyzer writes zeros. A machine of which no core may be unparked there is not.
    fn is_known(&self) -> bool {
        self.max_unparked_processor_percent.count().is_some_and(|percent| percent > 0)
    }
}
