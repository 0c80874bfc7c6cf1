//! Power settings, as the kernel logs them when the provider's state is captured and when they change.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use tracesift_etl::{Guid, Record, event_fields};
use tracesift_trace::rows::{PowerSettingRow, power_sources};
use tracesift_trace::{HealthKind, RowSink};

use super::SecondPass;
use super::provider_fields::Fields;

/// Event ids of the provider.
mod id {
    pub(super) const RUNDOWN: u16 = 111;
    pub(super) const CHANGE: u16 = 112;
}

/// Events of the provider Kernel-Processor-Power: a setting of a profile changes, and when the provider's state is captured.
pub(super) const OF_PROFILES: [u16; 2] = [105, 106];

/// Bytes of data that are kept of a setting whose value is neither a number nor a GUID.
const MAX_DATA: usize = 256;

/// Provider of settings of profiles, as messages name it.
const PROCESSOR: &str = "Kernel-Processor-Power";

/// Power schemes of the system.
const SCHEMES: [(Guid, &str); 4] = [
    (Guid::from_u128(0x381b4222_f694_41f0_9685_ff5bb260df2e), "balanced"),
    (Guid::from_u128(0x8c5e7fda_e8bf_4a96_9a85_a6e23a8c635c), "high performance"),
    (Guid::from_u128(0xa1841308_3541_4fab_bc81_f71556f20b4a), "power saver"),
    (Guid::from_u128(0xe9a42b02_d5df_448d_aa00_03f14749eb61), "ultimate performance"),
];

event_fields! {
    /// The value of a power setting. What follows the data is read by its length: writers disagree about it.
    struct PowerSetting<'a> {
        setting: Guid = "SettingGuid",
        size: u64 = "DataSize",
        data: &'a [u8] = "Data",
    }
}

event_fields! {
    /// The value that a profile has for a setting.
    struct ProfileSetting<'a> {
        profile: u64 = "ProfileId",
        condition: u64 = "Type",
        class: u64 = "Class",
        setting: Guid = "Guid",
        size: u64 = "ValueSize",
        data: &'a [u8] = "Value",
    }
}

/// Places of the fields, and memory for texts.
pub(super) struct PowerSettings {
    fields: Fields<PowerSetting<'static>>,
    of_profiles: Fields<ProfileSetting<'static>>,
    /// Names of profiles, by their numbers.
    profiles: BTreeMap<u8, String>,
    row: PowerSettingRow,
}

impl PowerSettings {
    pub(super) fn new(profiles: BTreeMap<u8, String>) -> Self {
        let (fields, of_profiles) = (Fields::default(), Fields::default());
        Self { fields, of_profiles, profiles, row: PowerSettingRow::default() }
    }
}

impl<Sink: RowSink> SecondPass<'_, Sink> {
    /// An event of the provider Kernel-Power.
    pub(super) fn power_setting(&mut self, record: &Record<'_>, id: u16) {
        let source = match id {
            id::RUNDOWN => power_sources::RUNDOWN,
            id::CHANGE => power_sources::CHANGE,
            _ => return,
        };
        let Some(event) = self.power_settings.fields.read(record, &self.schemas, &mut self.health) else { return };
        let (Some(setting), Some(data)) = (event.setting, event.data) else {
            return self.bad_power_setting(record, "Kernel-Power", "it has no setting, or no data");
        };
        if event.size.is_some_and(|size| size != data.len() as u64) {
            return self.bad_power_setting(record, "Kernel-Power", "the data have another size than stated");
        }
        let Ok(overrides) = overrides(behind(record.payload(), data)) else {
            return self.bad_power_setting(record, "Kernel-Power", "the field Override is cut");
        };
        let row = &mut self.power_settings.row;
        row.time = self.clock.ns(record.time());
        row.source = source;
        row.overrides = overrides;
        (row.condition, row.class) = (None, None);
        row.setting.clear();
        let _ = write!(row.setting, "{setting}");
        set_value(row, data);
        self.sink.power_setting(row);
    }

    /// An event about a setting of a profile.
    pub(super) fn profile_setting(&mut self, record: &Record<'_>) {
        let settings = &mut self.power_settings;
        let Some(event) = settings.of_profiles.read(record, &self.schemas, &mut self.health) else { return };
        let profile = event.profile.and_then(|profile| u8::try_from(profile).ok());
        let (Some(profile), Some(setting), Some(data)) = (profile, event.setting, event.data) else {
            return self.bad_power_setting(record, PROCESSOR, "it has no profile, no setting, or no value");
        };
        if event.size.is_some_and(|size| size != data.len() as u64) {
            return self.bad_power_setting(record, PROCESSOR, "the value has another size than stated");
        }
        let row = &mut settings.row;
        row.time = self.clock.ns(record.time());
        row.source = power_sources::PROFILE;
        row.overrides = None;
        row.condition = event.condition.and_then(|condition| i8::try_from(condition).ok());
        row.class = event.class.and_then(|class| i8::try_from(class).ok());
        row.setting.clear();
        let _ = write!(row.setting, "{setting}");
        set_value(row, data);
        let name = settings.profiles.get(&profile).filter(|name| !name.is_empty());
        row.profile = Some(name.cloned().unwrap_or_else(|| profile.to_string()));
        self.sink.power_setting(row);
    }

    fn bad_power_setting(&mut self, record: &Record<'_>, provider: &str, reason: &str) {
        self.health.count(HealthKind::FIELDS_NOT_AS_EXPECTED, Some(record.time()), || {
            let id = record.event_id().unwrap_or(0);
            format!("Microsoft-Windows-{provider} {id} version {}: {reason}", record.version())
        });
    }
}

/// The bytes of a payload behind a part of it.
fn behind<'a>(payload: &'a [u8], part: &[u8]) -> &'a [u8] {
    let end = (part.as_ptr() as usize + part.len()).saturating_sub(payload.as_ptr() as usize);
    payload.get(end..).unwrap_or_default()
}

/// The field Override: older versions lack it; newer ones write a truth value of one byte or of four.
fn overrides(rest: &[u8]) -> Result<Option<bool>, ()> {
    match *rest {
        [] => Ok(None),
        [byte] => Ok(Some(byte != 0)),
        [a, b, c, d, ..] => Ok(Some([a, b, c, d] != [0; 4])),
        _ => Err(()),
    }
}

/// Numbers are little-endian, and have no sign but for those of 8 bytes.
fn set_value(row: &mut PowerSettingRow, data: &[u8]) {
    row.value = match *data {
        [byte] => Some(byte.into()),
        [a, b] => Some(u16::from_le_bytes([a, b]).into()),
        [a, b, c, d] => Some(u32::from_le_bytes([a, b, c, d]).into()),
        _ => data.as_array().map(|bytes| i64::from_le_bytes(*bytes)),
    };
    let guid = data.as_array().map(|bytes| Guid::from_bytes(*bytes));
    row.text = None;
    row.profile = None;
    if let Some(guid) = guid {
        row.text = Some(guid.to_string());
        row.profile = SCHEMES.iter().find(|(known, _)| *known == guid).map(|(_, name)| (*name).to_owned());
    } else if row.value.is_none() {
        let mut digits = String::with_capacity(2 * data.len().min(MAX_DATA));
        data.iter().take(MAX_DATA).for_each(|byte| {
            let _ = write!(digits, "{byte:02x}");
        });
        row.text = Some(digits);
    }
}
