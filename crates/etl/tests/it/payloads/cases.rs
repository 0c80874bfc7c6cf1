//! Bytes from other projects' tests with the field values that those projects state.

use std::path::Path;
use std::{env, fs};

use serde_json::Value;
use tracesift_etl::payload::{Payload, PayloadError};
use tracesift_fixtures::cases;
use tracesift_fixtures::payloads::decode_everything;

use crate::payloads::field::{Field, Fields};
use crate::payloads::{headers, kernel, merged};

/// One case of `kernel-payloads.json`.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) class: String,
    /// 0 for header structures.
    pub(crate) opcode: u8,
    /// 0 for header structures.
    pub(crate) version: u8,
    pub(crate) pointer_size: u8,
    pub(crate) payload: Vec<u8>,
    stated: Vec<(String, Value)>,
    bytes_after_layout: usize,
}

/// What a case decodes to: its fields, and how many bytes are left behind them.
pub(crate) type Decoded = Result<(Fields, usize), PayloadError>;

impl Case {
    /// Decodes the payload of the case and names the fields.
    pub(crate) fn parse<'a, T: Payload<'a>>(&'a self, fields: impl FnOnce(T) -> Fields) -> Decoded {
        let (value, rest) = T::parse_with_rest(&self.payload, self.version, self.pointer_size)?;
        Ok((fields(value), rest.len()))
    }
}

/// All cases; `None`, after saying so, when the folder is absent.
fn load() -> Option<Vec<Case>> {
    let text = fs::read_to_string(cases("")?.join("payloads/kernel-payloads.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
    Some(cases.iter().map(from_json).collect())
}

fn from_json(case: &Value) -> Case {
    let text = |key: &str| case[key].as_str().unwrap().to_owned();
    let small = |key: &str| u8::try_from(case[key].as_u64().unwrap_or(0)).unwrap();
    let stated = ["expected", "decoded_only"]
        .iter()
        .flat_map(|key| case[*key].as_object().unwrap())
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    Case {
        name: text("name"),
        // Classes that are known by GUID have it behind their name.
        class: text("class").split(' ').next().unwrap().to_owned(),
        opcode: small("opcode"),
        version: small("version"),
        pointer_size: small("pointer_size"),
        payload: from_hex(&text("payload_hex")),
        stated,
        bytes_after_layout: usize::try_from(case["bytes_after_layout"].as_u64().unwrap()).unwrap(),
    }
}

fn from_hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// Decodes a case by its class and opcode.
fn decode(case: &Case) -> Decoded {
    kernel::decode(case)
        .or_else(|| merged::decode(case))
        .or_else(|| headers::decode(case))
        .unwrap_or_else(|| panic!("{}: nothing decodes class {} opcode {}", case.name, case.class, case.opcode))
}

#[test]
fn every_stated_field_is_decoded() {
    let Some(cases) = load() else { return };
    assert!(cases.len() >= 53, "cases are missing");
    let mut wrong = Vec::new();
    for case in &cases {
        let (fields, rest) = decode(case).unwrap_or_else(|error| panic!("{}: {error}", case.name));
        assert!(!case.stated.is_empty(), "{}: nothing is stated", case.name);
        for (name, expected) in &case.stated {
            match fields.iter().find(|(field, _)| field == name) {
                None => wrong.push(format!("{}: no field for {name}", case.name)),
                Some((_, field)) if !field.is(expected) => {
                    wrong.push(format!("{}: {name} is {field:?}, not {expected}", case.name));
                }
                Some(_) => {}
            }
        }
        if rest != case.bytes_after_layout {
            wrong.push(format!("{}: {rest} bytes are left, not {}", case.name, case.bytes_after_layout));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Fuzzing starts from all cases: opcode, version, pointer size, payload. With `WRITE_CORPUS=1` they are written.
#[test]
fn the_corpus_has_all_cases() {
    let Some(cases) = load() else { return };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/payloads");
    for case in cases.iter().filter(|case| !headers::is_header(case)) {
        let letter = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' };
        let path = folder.join(case.name.chars().map(letter).collect::<String>());
        let bytes = [&[case.opcode, case.version, case.pointer_size], &case.payload[..]].concat();
        if env::var_os("WRITE_CORPUS").is_some() {
            fs::write(&path, &bytes).expect("it can be written");
        }
        assert_eq!(fs::read(&path).expect("it is there"), bytes, "{}: run `cargo regenerate corpus`", case.name);
        for length in 0..=case.payload.len() {
            decode_everything(&case.payload[..length], case.opcode, case.version, case.pointer_size);
        }
    }
}

#[test]
fn cut_payloads_give_an_error_or_absent_fields() {
    let Some(mut cases) = load() else { return };
    // Cut headers are the container's business.
    for case in cases.iter_mut().filter(|case| !headers::is_header(case)) {
        let (complete, _) = decode(case).unwrap();
        let whole = case.payload.clone();
        for length in 0..whole.len() {
            case.payload.truncate(length);
            if let Ok((fields, _)) = decode(case) {
                // Behind a zeroed TOKEN_USER an identifier is known only by its own bytes: cut there, it is none, and the
                // zeros are text.
                if fields.iter().any(|(name, sid)| *name == "user_sid" && *sid == Field::Absent) {
                    continue;
                }
                // A value whose missing fields are absent; the others must not change, apart from a last one that is cut.
                let different = fields.iter().zip(&complete).filter(|((_, cut), (_, complete))| cut != complete);
                let cut_off = different.filter(|((_, cut), _)| *cut != Field::Absent).count();
                assert!(cut_off <= 1, "{} cut to {length}: {fields:?}", case.name);
            }
            case.payload = whole.clone();
        }
    }
}
