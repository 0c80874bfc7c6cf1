//! The text against `serde_json`.

use std::io;

use proptest::prelude::*;
use serde_json::{Map, Value};
use tracesift_json::Writer;

fn written(value: &Value) -> String {
    let mut text = String::new();
    write(&mut Writer::new(&mut text), value);
    text
}

fn write(json: &mut Writer<&mut String>, value: &Value) {
    match value {
        Value::Null => json.null(),
        Value::Bool(value) => json.value(value),
        Value::Number(number) => match number.as_i64() {
            Some(number) => json.value(number),
            None => json.float(number.as_f64().expect("a double")),
        },
        Value::String(text) => json.text(text),
        Value::Array(values) => {
            json.begin_array();
            values.iter().for_each(|value| write(json, value));
            json.end_array();
        }
        Value::Object(members) => {
            json.begin_object();
            for (key, value) in members {
                json.key(key);
                write(json, value);
            }
            json.end_object();
        }
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..8)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

proptest! {
    #[test]
    fn every_value_reads_back(value in any_value()) {
        prop_assert_eq!(serde_json::from_str::<Value>(&written(&value)).expect("JSON"), value);
    }

    #[test]
    fn numbers_have_the_digits_that_serde_json_gives_them(number in any::<f64>(), small in -1e-3..1e-3, large in 1e14..1e18) {
        for number in [number, small, large] {
            let value = Value::from(number);
            let (ours, theirs) = (written(&value), value.to_string());
            // A number in the middle of two shortest texts, such as 1876059594466144.25, may have either as its last digit.
            let is_tie = ours.len() == theirs.len() && ours.parse() == Ok(number) && theirs.parse() == Ok(number);
            prop_assert!(ours == theirs || is_tie, "{ours} {theirs}");
        }
    }

    #[test]
    fn a_number_in_the_middle_of_two_shortest_texts_reads_back(quarters in 1_i64 << 51..1 << 52) {
        let number = (quarters * 2 + 1) as f64 / 4.0;
        let text = written(&Value::from(number));
        prop_assert_eq!(text.parse(), Ok(number), "{}", text);
    }

    #[test]
    fn texts_without_rare_controls_are_escaped_as_serde_json_does(text in "[^\u{8}\u{c}\u{7f}]*") {
        let value = Value::from(text);
        prop_assert_eq!(written(&value), value.to_string());
    }

    #[test]
    fn a_text_of_parts_is_the_text(text in any::<String>(), number in any::<u32>()) {
        let (mut parts, mut whole) = (String::new(), String::new());
        Writer::new(&mut parts).text_of(format_args!("{text}_{number}"));
        Writer::new(&mut whole).text(&format!("{text}_{number}"));
        prop_assert_eq!(parts, whole);
    }
}

#[test]
fn all_controls_are_escaped() {
    let controls: String = (0..0x20_u8).chain([0x7f]).map(char::from).collect();
    let text = written(&Value::from(controls.as_str()));
    assert!(!text.chars().any(char::is_control), "{text:?}");
    assert!(text.contains("\\u0008") && text.contains("\\u007f"), "{text}");
    assert_eq!(serde_json::from_str::<String>(&text).expect("JSON"), controls);
}

#[test]
fn commas_and_lines() {
    let mut text = String::new();
    let mut json = Writer::new(&mut text);
    json.begin_object();
    json.key("a");
    json.values([1, 2]);
    json.new_line();
    json.key("b");
    json.begin_array();
    json.end_array();
    json.key_of(format_args!("{}{}", 'c', 1));
    json.texts(["x", "y"]);
    json.key("d");
    json.optional(Some(true));
    json.key("e");
    json.optional(None::<u8>);
    json.new_line();
    json.end_object();
    json.end_line();
    json.float(f64::NAN);
    assert_eq!(text, "{\"a\":[1,2],\n\"b\":[],\"c1\":[\"x\",\"y\"],\"d\":true,\"e\":null\n}\nnull");
}

#[test]
fn the_first_error_of_a_stream_is_told_once() {
    struct Full(usize);
    impl io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut json = Writer::to_bytes(Full(4));
    json.begin_array();
    json.value(1);
    json.check().expect("room for two bytes");
    json.value(2345);
    assert_eq!(json.check().expect_err("no room").kind(), io::ErrorKind::StorageFull);
    json.check().expect("told once");
}
