//! Descriptions that lie: each costs the event that it describes and nothing else.

use std::time::Instant;

use tracesift_etl::Record;
use tracesift_etl::schema::{Schemas, manifest};

use crate::schemas::build::{Property, described, event, manifest_events, map, metadata};
use crate::schemas::shown;

fn structure(name: &'static str, first: u16, members: u16, count: u16) -> Property {
    Property { flags: 1, count, ..Property::new(name, first, members) }
}

#[test]
fn structures_in_circles_end() {
    let properties = [structure("A", 0, 1, 65535), structure("B", 0, 2, 65535)];
    let text = shown(&[metadata(9, 2, &properties), event(9, 0, &[], &[1; 64])]);
    assert!(text.contains("more values than a payload can hold"), "{text}");
}

#[test]
fn members_that_are_not_there_end_it() {
    let text = shown(&[metadata(9, 1, &[structure("A", 7, 65535, 1)]), event(9, 0, &[], &[1; 64])]);
    assert!(text.contains("stopped: field A"), "{text}");
}

#[test]
fn empty_values_without_end_end() {
    // 65,535 times 65,535 structures of nothing.
    let properties = [structure("A", 1, 1, 65535), structure("B", 2, 0, 65535)];
    let started = Instant::now();
    let text = shown(&[metadata(9, 1, &properties), event(9, 0, &[], &[])]);
    assert!(text.contains("more values than a payload can hold"), "{text}");
    assert!(started.elapsed().as_secs() < 10, "that is bounded work");
}

#[test]
fn lengths_and_counts_of_fields_that_do_not_come_before() {
    for flags in [2, 4] {
        for index in [0, 1, 9] {
            let property = Property { flags, count: index, length: index, ..Property::new("A", 14, 0) };
            let text = shown(&[metadata(9, 2, &[property, Property::new("B", 4, 0)]), event(9, 0, &[], &[1; 64])]);
            assert!(text.contains("stopped: field A"), "{text}");
        }
    }
}

#[test]
fn counts_larger_than_the_recording() {
    let mut described = metadata(9, 1, &[Property::new("A", 4, 0)]);
    // The number of properties.
    described[48 + 100..48 + 104].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(shown(&[described, event(9, 0, &[], &[1])]), "raw");
    let mut many = map("M", false, &[(1, "One")]);
    many[48 + 16 + 8..48 + 16 + 12].copy_from_slice(&u32::MAX.to_le_bytes());
    let property = Property { map: "M", ..Property::new("A", 4, 0) };
    assert_eq!(shown(&[many, metadata(9, 1, &[property]), event(9, 0, &[], &[1])]).matches('=').count(), 1);
}

#[test]
fn long_names_do_not_multiply() {
    // An array of 60,000 values, each with a name of 20,000 characters.
    let name: &'static str = Box::leak("n".repeat(20_000).into_boxed_str());
    let property = Property { flags: 0, count: 60_000, map: "M", ..Property::new("A", 4, 0) };
    let records = [map("M", false, &[(1, name)]), metadata(9, 1, &[property]), event(9, 0, &[], &[1; 60_000])];
    let text = shown(&records);
    assert!(text.len() < 2 << 20, "{}", text.len());
    assert!(text.ends_with("1]"), "the numbers stand where the names do not");
}

#[test]
fn descriptions_in_descriptions_end() {
    // Structures within structures, deeper than any event is.
    let deep = b"S\0\x98\x01".repeat(3_000);
    assert_eq!(shown(&[event(0, 0, &described("Deep", &deep), &[1; 64])]), "raw");
}

#[test]
fn manifests_that_are_none() {
    let entities = "<!DOCTYPE x [<!ENTITY a \"aaaa\">]><provider name=\"&a;\" guid=\"\"/>";
    for text in ["", "<a", "<a/>", entities, &"<a>".repeat(50_000)] {
        assert!(manifest::parse(text).is_err(), "{}", &text[..text.len().min(20)]);
        let mut records = manifest_events(if text.is_empty() { " " } else { &text[..text.len().min(60_000)] }, 1);
        records.push(event(1, 0, &[], &[1]));
        assert_eq!(shown(&records), "raw");
    }
}

#[test]
fn problems_are_told() {
    let mut schemas = Schemas::new();
    for bytes in manifest_events("<a/>", 1) {
        schemas.learn(&Record::parse(&bytes, 0, 0).expect("a record"));
    }
    assert_eq!(schemas.problems().len(), 1);
}

#[test]
fn empty_arrays_without_end_end() {
    let members = (0..2_000).map(|_| Property { flags: 0x20, count: 0, ..Property::new("E", 4, 0) });
    let properties: Vec<Property> = std::iter::once(structure("A", 1, 2_000, 65_535)).chain(members).collect();
    let text = shown(&[metadata(9, 1, &properties), event(9, 0, &[], &[1; 60_000])]);
    assert!(text.contains("more values than a payload can hold"), "{}", text.len());
}

#[test]
fn maps_of_many_bits_are_quick() {
    let names: Vec<(u32, &str)> = (0..6_000).map(|value| (0x0003_0000 | value << 3 | 7, "x")).collect();
    let property = Property { count: 10_000, map: "M", ..Property::new("A", 8, 0) };
    let started = Instant::now();
    let text = shown(&[map("M", true, &names), metadata(9, 1, &[property]), event(9, 0, &[], &[0xff; 40_000])]);
    assert!(text.len() < 4 << 20 && started.elapsed().as_secs() < 20, "{}", text.len());
}

#[test]
fn manifests_with_too_many_attributes_are_refused() {
    let attributes: String = (0..20_000).map(|number| format!(" a{number}=\"\"")).collect();
    assert!(manifest::parse(&format!("<provider name=\">\"{attributes}/>")).is_err());
}

#[test]
fn metadata_without_end_is_not_kept() {
    let mut schemas = Schemas::new();
    let name: &'static str = Box::leak("m".repeat(10_000).into_boxed_str());
    let properties: Vec<Property> = (0..1_000).map(|_| Property { map: name, ..Property::new("A", 4, 0) }).collect();
    let described = metadata(9, 1, &properties[..1]);
    let record = Record::parse(&described, 0, 0).expect("a record");
    for _ in 0..20_000 {
        schemas.learn(&record);
    }
    assert_eq!(schemas.problems(), ["more event metadata than any recording needs"].repeat(schemas.problems().len()));
    assert!(!schemas.problems().is_empty());
}
