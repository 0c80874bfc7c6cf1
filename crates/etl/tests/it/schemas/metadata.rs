//! Metadata of the merge.

use tracesift_etl::schema::{Schemas, Value};
use tracesift_etl::{Guid, Record};

use crate::schemas::build::{Property, classic, event, map, metadata, wide};
use crate::schemas::shown;

#[test]
fn every_type_is_shown_by_its_meaning() {
    let mut payload = Vec::new();
    let mut properties = Vec::new();
    let mut add = |property: Property, bytes: &[u8]| {
        properties.push(property);
        payload.extend(bytes);
    };
    add(Property::new("Wide", 1, 0), &wide("é"));
    add(Property::new("Narrow", 2, 0), b"x\0");
    add(Property::new("I8", 3, 0), &[0xff]);
    add(Property::new("U16Hex", 6, 17), &[0x34, 0x12]);
    add(Property::new("I32", 7, 0), &(-2i32).to_le_bytes());
    add(Property::new("NtStatus", 7, 31), &0xc000_0005u32.to_le_bytes());
    add(Property::new("U64", 10, 0), &u64::MAX.to_le_bytes());
    add(Property::new("F32", 11, 0), &1.5f32.to_le_bytes());
    add(Property::new("F64", 12, 0), &(-0.25f64).to_le_bytes());
    add(Property::new("Yes", 13, 13), &[1, 0, 0, 0]);
    add(Property::new("Guid", 15, 0), &[0x11; 16]);
    add(Property::new("Pointer", 16, 0), &0x7ff6_0000_1000u64.to_le_bytes());
    add(Property::new("FileTime", 17, 0), &132_000_000_000_000_000i64.to_le_bytes());
    add(Property::new("SystemTime", 18, 0), &[0xe5, 7, 9, 0, 4, 0, 9, 0, 14, 0, 59, 0, 35, 0, 3, 0]);
    add(Property::new("Sid", 19, 0), &[1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0]);
    add(Property::new("Port", 6, 22), &[0x1f, 0x90]);
    add(Property::new("Ip4", 8, 23), &[192, 168, 0, 1]);
    add(Property::new("Ip6", 14, 24), &[0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    add(Property::new("Counted", 22, 0), &[4, 0, b'a', 0, b'b', 0]);
    add(Property { length: 3, ..Property::new("Fixed", 1, 0) }, &[b'f', 0, b'g', 0, 0, 0]);
    add(Property::new("Size", 8, 0), &2u32.to_le_bytes());
    add(Property { flags: 2, length: 20, ..Property::new("Blob", 14, 15) }, &[0xde, 0xad]);
    add(Property { flags: 4, count: 20, ..Property::new("Items", 4, 0) }, &[7, 8]);
    add(Property { count: 2, ..Property::new("Two", 6, 0) }, &[1, 0, 2, 0]);
    let top = properties.len() as u32;
    let text = shown(&[metadata(9, top, &properties), event(9, 0, &[], &payload)]);
    assert_eq!(
        text,
        "Test-Provider/Task/Start Wide=é Narrow=x I8=-1 U16Hex=0x1234 I32=-2 NtStatus=0xc0000005 \
         U64=18446744073709551615 F32=1.5 F64=-0.25 Yes=true Guid=11111111-1111-1111-1111-111111111111 \
         Pointer=0x7ff600001000 FileTime=2019-04-17T18:40:00.0000000Z SystemTime=2021-09-09T14:59:35.003 Sid=S-1-5-18 \
         Port=8080 Ip4=192.168.0.1 Ip6=fe80::1 Counted=ab Fixed=fg Size=2 Blob=dead Items=[7, 8] Two=[1, 2]"
    );
}

#[test]
fn maps_name_values_wherever_they_stand() {
    let properties = || {
        [
            Property { map: "Kind", ..Property::new("Kind", 8, 0) },
            Property { map: "Flags", ..Property::new("Flags", 20, 0) },
            Property { map: "Missing", ..Property::new("Other", 4, 0) },
        ]
    };
    let kind = map("Kind", false, &[(1, "One"), (2, "Two")]);
    let flags = map("Flags", true, &[(1, "A"), (4, "C"), (5, "AC")]);
    let payload = [2, 0, 0, 0, 13, 0, 0, 0, 3];
    let text = "Test-Provider/Task/Start Kind=Two Flags=A|C|0x8 Other=3";
    let event = || event(9, 0, &[], &payload);
    assert_eq!(shown(&[kind.clone(), flags.clone(), metadata(9, 3, &properties()), event()]), text);
    assert_eq!(shown(&[metadata(9, 3, &properties()), flags, kind, event()]), text);
}

#[test]
fn structures_hold_arrays_and_structures() {
    let structure = |name, first, members, count| Property { flags: 1, count, ..Property::new(name, first, members) };
    let properties = [
        structure("Outer", 2, 2, 2),
        Property::new("Last", 4, 0),
        Property::new("A", 4, 0),
        structure("Inner", 4, 1, 1),
        Property { count: 2, ..Property::new("B", 4, 0) },
    ];
    let text = shown(&[metadata(9, 2, &properties), event(9, 0, &[], &[1, 2, 3, 4, 5, 6, 7])]);
    assert_eq!(text, "Test-Provider/Task/Start Outer=[{A=1, Inner={B=[2, 3]}}, {A=4, Inner={B=[5, 6]}}] Last=7");
}

#[test]
fn other_versions_and_ids_have_other_schemas() {
    let described = metadata(9, 1, &[Property::new("A", 4, 0)]);
    assert_eq!(shown(&[described.clone(), event(9, 1, &[], &[1])]), "raw");
    assert_eq!(shown(&[described, event(8, 0, &[], &[1])]), "raw");
}

#[test]
fn shorter_longer_and_cut_payloads() {
    let described = metadata(9, 2, &[Property::new("A", 4, 0), Property::new("B", 8, 0)]);
    let text = |payload: &[u8]| shown(&[described.clone(), event(9, 0, &[], payload)]);
    assert_eq!(text(&[1]), "Test-Provider/Task/Start A=1");
    assert_eq!(text(&[1, 2, 0, 0, 0, 9, 9]), "Test-Provider/Task/Start A=1 B=2 rest 2");
    assert!(text(&[1, 2, 0]).starts_with("Test-Provider/Task/Start A=1 stopped: field B: payload ends"));
}

#[test]
fn names_of_negative_values_keep_the_number() {
    let property = Property { map: "Kind", ..Property::new("Kind", 7, 0) };
    let records = [map("Kind", false, &[(u32::MAX, "None")]), metadata(9, 1, &[property])];
    let mut schemas = Schemas::new();
    for bytes in &records {
        schemas.learn(&Record::parse(bytes, 0, 0).expect("a record"));
    }
    let bytes = event(9, 0, &[], &[0xff; 4]);
    let record = Record::parse(&bytes, 0, 0).expect("a record");
    let schema = schemas.find(&record).expect("a schema");
    assert_eq!(schema.decode(&record).fields, [("Kind", Value::Named(-1, "None".to_owned()))]);
}

#[test]
fn metadata_of_classic_events_goes_by_class_and_opcode() {
    let class = 0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10;
    let described = |opcode: u8, name: &'static str| {
        let mut bytes = metadata(0, 1, &[Property::new(name, 4, 0)]);
        let info = 48;
        bytes[info + 16..info + 32].copy_from_slice(&Guid::from_u128(class).to_bytes());
        (bytes[info + 37], bytes[info + 48]) = (opcode, 1);
        bytes
    };
    let records = |opcode| vec![described(10, "Ten"), described(11, "Eleven"), classic(class, opcode, 0, &[7])];
    assert_eq!(shown(&records(10)), "Test-Provider/Task/Start Ten=7");
    assert_eq!(shown(&records(11)), "Test-Provider/Task/Start Eleven=7");
    assert_eq!(shown(&records(12)), "raw");
}
