//! Power settings: payloads made byte by byte, and the settings that a scenario wrote.

use tracesift_etl::class::KERNEL_POWER;
use tracesift_etl::payload::PROCESSOR_POWER;
use tracesift_etl::write::PointerSize;
use tracesift_scenario::power::{self, ACTIVE_SCHEME, BALANCED, CHANGE, Data, Override, RUNDOWN, SCHEDULING};
use tracesift_scenario::providers::{self, Logged};
use tracesift_testing::recording::{Extracted, Recording};
use tracesift_trace::rows::{HealthRow, PowerSettingRow, power_sources};

const SECOND: i64 = 1_000_000_000;

fn extracted(pointer_size: PointerSize, events: Vec<Logged>) -> Extracted {
    let bytes = providers::write(pointer_size, 10, &[(4, "System")], events).expect("a recording");
    Recording::of("power.etl", &bytes).extract()
}

fn rows(extracted: &Extracted) -> Vec<PowerSettingRow> {
    extracted.archive.rows().expect("settings")
}

fn of_bytes(time: i64, id: u16, payload: &[u8]) -> Logged {
    Logged { time, cpu: 0, provider: KERNEL_POWER, id, version: 0, pid: 4, tid: 8, payload: payload.to_vec() }
}

/// SCHEDPOLICY as it stands in a payload: 93b8b6dc-0698-4d1c-9ee4-0644e900c85d.
const SCHEDPOLICY: [u8; 16] =
    [0xdc, 0xb6, 0xb8, 0x93, 0x98, 0x06, 0x1c, 0x4d, 0x9e, 0xe4, 0x06, 0x44, 0xe9, 0x00, 0xc8, 0x5d];

#[test]
fn payloads_of_each_size_with_and_without_override() {
    // Data with its size in front, and what follows it; the value, the text, whether it overrides.
    type Case = (&'static [u8], &'static [u8], Option<i64>, Option<&'static str>, Option<bool>);
    let cases: [Case; 10] = [
        (&[1, 0, 0, 0, 0xfe], &[], Some(0xfe), None, None),
        (&[2, 0, 0, 0, 0xfe, 0xff], &[], Some(0xfffe), None, None),
        (&[4, 0, 0, 0, 5, 0, 0, 0], &[], Some(5), None, None),
        (&[4, 0, 0, 0, 0xff, 0xff, 0xff, 0xff], &[1], Some(0xffff_ffff), None, Some(true)),
        (&[4, 0, 0, 0, 5, 0, 0, 0], &[0], Some(5), None, Some(false)),
        (&[4, 0, 0, 0, 5, 0, 0, 0], &[1, 0, 0, 0], Some(5), None, Some(true)),
        (&[4, 0, 0, 0, 5, 0, 0, 0], &[0, 0, 0, 0], Some(5), None, Some(false)),
        (&[8, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0], &[0, 0, 0, 0], Some(0x1_0000_0001), None, Some(false)),
        (
            &[
                16, 0, 0, 0, 0x22, 0x42, 0x1b, 0x38, 0x94, 0xf6, 0xf0, 0x41, 0x96, 0x85, 0xff, 0x5b, 0xb2, 0x60, 0xdf,
                0x2e,
            ],
            &[],
            None,
            Some("381b4222-f694-41f0-9685-ff5bb260df2e"),
            None,
        ),
        (&[3, 0, 0, 0, 1, 2, 0xab], &[0, 0, 0, 0], None, Some("0102ab"), Some(false)),
    ];
    for pointer_size in [PointerSize::Four, PointerSize::Eight] {
        let events = cases.iter().enumerate().map(|(index, (data, rest, ..))| {
            let payload = [&SCHEDPOLICY, *data, *rest].concat();
            of_bytes(index as i64 * SECOND / 10, if index % 2 == 0 { RUNDOWN } else { CHANGE }, &payload)
        });
        let extracted = extracted(pointer_size, events.collect());
        let rows = rows(&extracted);
        assert_eq!(rows.len(), cases.len());
        for (index, (row, (.., value, text, overrides))) in rows.iter().zip(cases).enumerate() {
            assert_eq!(row.time, index as i64 * SECOND / 10);
            assert_eq!(row.setting, "93b8b6dc-0698-4d1c-9ee4-0644e900c85d");
            assert_eq!((row.value, row.text.as_deref(), row.overrides), (value, text, overrides), "case {index}");
            let source = if index % 2 == 0 { power_sources::RUNDOWN } else { power_sources::CHANGE };
            assert_eq!(row.source, source);
            assert_eq!(row.profile.as_deref(), text.filter(|text| text.starts_with("381b")).map(|_| "balanced"));
        }
        assert_eq!(bad(&extracted), None);
    }
}

fn bad(extracted: &Extracted) -> Option<i64> {
    let health: Vec<HealthRow> = extracted.archive.rows().expect("health");
    health.iter().find(|row| row.kind == "fields_not_as_expected").map(|row| row.count)
}

#[test]
fn payloads_that_end_too_early_are_counted() {
    let whole = [&SCHEDPOLICY[..], &[4, 0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0]].concat();
    let events = (0..=whole.len()).map(|length| of_bytes(length as i64 * 1000, RUNDOWN, &whole[..length]));
    let extracted = extracted(PointerSize::Eight, events.collect());
    let rows = rows(&extracted);
    // Whole data, and no Override, or one of a byte or of four.
    let times: Vec<i64> = rows.iter().map(|row| row.time).collect();
    assert_eq!(times, [24_000, 25_000, 28_000]);
    assert!(rows.iter().all(|row| row.value == Some(5)));
    assert_eq!(bad(&extracted), Some(whole.len() as i64 + 1 - 3));
}

/// Events about profiles of the processor's power management, byte by byte.
fn of_processor(time: i64, id: u16, payload: &[u8]) -> Logged {
    Logged { provider: PROCESSOR_POWER, ..of_bytes(time, id, payload) }
}

/// A setting of a profile: number of the profile, mains or battery, class, value.
fn of_profile(profile: u8, condition: u8, class: u8, value: &[u8]) -> Vec<u8> {
    let head = [&[profile][..], b"SchedulingPolicy\0", &[condition, 0, 0, 0], &[class], &SCHEDPOLICY].concat();
    [&head[..], &(value.len() as u32).to_le_bytes(), value].concat()
}

#[test]
fn settings_of_profiles_have_the_profile_and_the_condition() {
    let mut name: Vec<u8> = "LowLatency".encode_utf16().flat_map(u16::to_le_bytes).collect();
    name.extend([0, 0, 3, 9]);
    for pointer_size in [PointerSize::Four, PointerSize::Eight] {
        let whole = of_profile(3, 1, 0, &[5, 0, 0, 0]);
        let events = vec![
            of_processor(SECOND, 106, &of_profile(3, 0, 1, &[5, 0, 0, 0])),
            of_processor(2 * SECOND, 105, &of_profile(3, 1, 0, &[7])),
            // Nothing tells the name of this one.
            of_processor(3 * SECOND, 106, &of_profile(4, 0, 0, &[1, 2, 3])),
            of_processor(4 * SECOND, 106, &whole[..whole.len() - 1]),
            // The name may come behind its settings.
            of_processor(5 * SECOND, 103, &name),
        ];
        let extracted = extracted(pointer_size, events);
        let row = |time, value, text: Option<&str>, profile: &str, condition, class| PowerSettingRow {
            time: time * SECOND,
            setting: "93b8b6dc-0698-4d1c-9ee4-0644e900c85d".to_owned(),
            value,
            text: text.map(str::to_owned),
            source: power_sources::PROFILE,
            profile: Some(profile.to_owned()),
            condition: Some(condition),
            class: Some(class),
            overrides: None,
        };
        let expected = [
            row(1, Some(5), None, "LowLatency", 0, 1),
            row(2, Some(7), None, "LowLatency", 1, 0),
            row(3, None, Some("010203"), "4", 0, 0),
        ];
        assert_eq!(rows(&extracted), expected);
        assert_eq!(bad(&extracted), Some(1));
    }
}

#[test]
fn every_setting_of_a_recording_has_a_row() {
    for pointer_size in [PointerSize::Four, PointerSize::Eight] {
        let mut events = power::windows_10(9 * SECOND, &[], pointer_size);
        events.push(power::event(SECOND, CHANGE, SCHEDULING, Data::U32(2), Override::Byte(true), pointer_size));
        let rows = rows(&extracted(pointer_size, events));
        assert_eq!(rows.len(), 57);
        assert_eq!((rows[0].time, rows[0].value, rows[0].overrides), (SECOND, Some(2), Some(true)));
        for (setting, value) in power::WINDOWS_10 {
            let mut of_setting = rows.iter().filter(|row| row.setting == setting.to_string() && row.time > SECOND);
            assert_eq!(of_setting.next().and_then(|row| row.value), Some(i64::from(value)), "{setting}");
            assert!(of_setting.next().is_none());
        }
        let scheme = rows.iter().find(|row| row.setting == ACTIVE_SCHEME.to_string()).expect("a scheme");
        assert_eq!((scheme.text.clone(), scheme.profile.as_deref()), (Some(BALANCED.to_string()), Some("balanced")));
    }
}

#[test]
fn a_recording_without_settings_has_no_table() {
    let extracted = extracted(PointerSize::Eight, Vec::new());
    assert!(!extracted.archive.path().join("power_settings.parquet").exists());
}
