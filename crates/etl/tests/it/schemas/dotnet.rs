//! The .NET rundown's map from IL to machine code, whose two arrays share one count, byte by byte after the runtime's manifest
//! (ClrEtwAll.man, template MethodILToNativeMapRundown_V1).

use tracesift_etl::Guid;

use crate::schemas::build::event;
use crate::schemas::shown;

const RUNDOWN: u128 = 0xa669021c_c450_4609_a035_5af59af4df18;
/// `MethodDCEndILToNativeMap`.
const ID: u16 = 0x96;
const METHOD: u64 = 0x7ffb_1234_5678;
const IL_VERSION: u64 = 0x0102_0304_0506_0708;

/// A record of the event with this payload, from a process with 4 or 8 bytes per pointer.
fn record(version: u8, pointer_size: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = event(ID, version, &[], payload);
    bytes[2] = if pointer_size == 4 { 0x12 } else { 0x13 };
    bytes[24..40].copy_from_slice(&Guid::from_u128(RUNDOWN).to_bytes());
    bytes
}

/// What stands before the arrays: MethodID, ReJITID, MethodExtent, CountOfMapEntries.
fn head(count: u16) -> Vec<u8> {
    let mut payload = METHOD.to_le_bytes().to_vec();
    payload.extend(3u64.to_le_bytes());
    payload.push(1);
    payload.extend(count.to_le_bytes());
    payload
}

/// Both arrays, and ClrInstanceID and ILVersionID behind them.
fn whole(entries: &[(i32, u32)]) -> Vec<u8> {
    let mut payload = head(entries.len() as u16);
    payload.extend(entries.iter().flat_map(|(il, _)| il.to_le_bytes()));
    payload.extend(entries.iter().flat_map(|(_, native)| native.to_le_bytes()));
    payload.extend(9u16.to_le_bytes());
    payload.extend(IL_VERSION.to_le_bytes());
    payload
}

/// What is shown of such a head.
fn shown_head(count: u16) -> String {
    format!(
        "Microsoft-Windows-DotNETRuntimeRundown/Method/ILToNativeMapDCStop MethodID={METHOD} ReJITID=3 MethodExtent=1 \
        CountOfMapEntries={count}"
    )
}

#[test]
fn every_field_is_decoded() {
    // -2 and -3 stand for the code before and behind the method's own.
    let payload = whole(&[(-2, 0), (0, 0x1b), (7, 0x30), (-3, 0x41)]);
    let expected = format!(
        "{} ILOffsets=[-2, 0, 7, -3] NativeOffsets=[0, 27, 48, 65] ClrInstanceID=9 ILVersionID={IL_VERSION}",
        shown_head(4)
    );
    for pointer_size in [4, 8] {
        assert_eq!(shown(&[record(1, pointer_size, &payload)]), expected);
    }
}

#[test]
fn a_map_may_be_empty() {
    let expected = format!("{} ILOffsets=[] NativeOffsets=[] ClrInstanceID=9 ILVersionID={IL_VERSION}", shown_head(0));
    assert_eq!(shown(&[record(1, 8, &whole(&[]))]), expected);
}

#[test]
fn version_0_ends_before_the_version_of_the_il() {
    let payload = whole(&[(0, 5)]);
    let (version_0, il_version) = payload.split_at(payload.len() - 8);
    let expected = format!("{} ILOffsets=[0] NativeOffsets=[5] ClrInstanceID=9", shown_head(1));
    assert_eq!(shown(&[record(0, 8, version_0)]), expected);
    assert_eq!(shown(&[record(0, 8, &[version_0, il_version].concat())]), format!("{expected} rest 8"));
}

#[test]
fn a_count_that_the_payload_cannot_hold_costs_the_arrays_only() {
    for (count, behind) in [(1, 3), (2, 7), (0x100, 40), (u16::MAX, 8), (u16::MAX, 60_000)] {
        let mut payload = head(count);
        payload.resize(payload.len() + behind, 0);
        let text = shown(&[record(1, 8, &payload)]);
        assert!(text.starts_with(&format!("{} stopped: field ILOffsets: ", shown_head(count))), "{text}");
        assert!(text.ends_with(&format!(" rest {behind}")), "{text}");
    }
    // Enough for the first array, not for the second.
    let mut payload = head(3);
    payload.resize(payload.len() + 5 * 4, 1);
    let text = shown(&[record(1, 8, &payload)]);
    assert!(text.contains("ILOffsets=[16843009, 16843009, 16843009] stopped: field NativeOffsets: "), "{text}");
    assert!(text.ends_with(" rest 8"), "{text}");
}

#[test]
fn a_cut_payload_shows_what_it_holds() {
    let payload = whole(&[(1, 2), (3, 4)]);
    let fields =
        ["MethodID", "ReJITID", "MethodExtent", "CountOfMapEntries", "ILOffsets", "NativeOffsets", "ClrInstanceID"];
    let ends = [8, 16, 17, 19, 27, 35, 37, 45];
    for length in 0..payload.len() {
        let text = shown(&[record(1, 8, &payload[..length])]);
        let whole_fields = ends.iter().filter(|end| **end <= length).count();
        let shown_fields = fields.iter().filter(|field| text.contains(&format!(" {field}="))).count();
        assert_eq!(shown_fields, whole_fields, "cut to {length}: {text}");
        let stopped = length != 0 && !ends.contains(&length);
        assert_eq!(text.contains("stopped"), stopped, "cut to {length}: {text}");
    }
}
