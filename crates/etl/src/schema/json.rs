//! Decoded fields as JSON text.
//!
//! Integers and floating-point numbers are numbers; what is written in hexadecimal (addresses, handles, bits), GUIDs, times,
//! addresses and security identifiers are texts; a value with a name is its name; bytes are hexadecimal digits; arrays are
//! arrays, structures objects. Infinities and what is absent are `null`. A name that recurs gets a number: `Name`, `Name_2`.

use std::fmt;

use rustc_hash::FxHashMap;
use tracesift_json::Writer;

use super::decode::Decoded;
use super::value::{HEX_TEXT, Value, hex_text};

impl Decoded<'_> {
    /// Appends the fields as one JSON object.
    pub fn write_json(&self, out: &mut String) {
        self.write_to(&mut Writer::new(out));
    }

    /// Writes the fields as one JSON object.
    pub fn write_to(&self, json: &mut Writer<impl fmt::Write>) {
        write_object(json, &self.fields);
    }
}

/// Members among which one of the same name is looked for one by one; more only a forged schema has.
const FEW_MEMBERS: usize = 64;

fn write_object(json: &mut Writer<impl fmt::Write>, members: &[(&str, Value<'_>)]) {
    let mut names: FxHashMap<&str, usize> = FxHashMap::default();
    json.begin_object();
    for (index, (name, value)) in members.iter().enumerate() {
        let earlier = if members.len() <= FEW_MEMBERS {
            members.iter().take(index).filter(|(other, _)| other == name).count()
        } else {
            let seen = names.entry(name).or_default();
            *seen += 1;
            *seen - 1
        };
        if earlier == 0 {
            json.key(name);
        } else {
            json.key_of(format_args!("{name}_{}", earlier + 1));
        }
        write_value(json, value);
    }
    json.end_object();
}

/// Writes one value.
pub fn write_value(json: &mut Writer<impl fmt::Write>, value: &Value<'_>) {
    match value {
        Value::Signed(value) => json.integer(*value),
        Value::Unsigned(value) => json.integer(*value),
        Value::Hex(value) => json.text(hex_text(*value, &mut [0; HEX_TEXT])),
        Value::Float(value) if value.is_finite() => json.value(value),
        Value::Double(value) if value.is_finite() => json.value(value),
        Value::Bool(value) => json.bool(*value),
        Value::Float(_) | Value::Double(_) | Value::Sid(None) => json.null(),
        Value::Text(text) => json.text(text),
        Value::Named(_, name) => json.text(name),
        Value::List(values) => {
            json.begin_array();
            for value in values {
                write_value(json, value);
            }
            json.end_array();
        }
        Value::Struct(members) => write_object(json, members),
        // Digits, letters, points, colons and brackets: nothing to escape.
        other => json.value(format_args!("\"{other}\"")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Decoded, Value};

    #[test]
    fn every_kind_of_value_is_valid_json() {
        let fields = vec![
            ("Text", Value::Text("a\"b\\\n\u{1}é".into())),
            ("Text", Value::Signed(-1)),
            ("Hex", Value::Hex(255)),
            ("Numbers", Value::List(vec![Value::Unsigned(u64::MAX), Value::Double(0.5), Value::Double(f64::NAN)])),
            ("Inner", Value::Struct(vec![("Yes", Value::Bool(true)), ("None", Value::Sid(None))])),
            ("Bytes", Value::Bytes(&[0, 171])),
            ("Named", Value::Named(3, "Third".to_owned())),
        ];
        let mut out = String::new();
        Decoded { fields, ..Decoded::default() }.write_json(&mut out);
        let expected = serde_json::json!({
            "Text": "a\"b\\\n\u{1}é", "Text_2": -1, "Hex": "0xff", "Numbers": [u64::MAX, 0.5, null],
            "Inner": {"Yes": true, "None": null}, "Bytes": "00ab", "Named": "Third",
        });
        assert_eq!(serde_json::from_str::<serde_json::Value>(&out).expect("valid JSON"), expected);
    }

    #[test]
    fn many_members_of_one_name_are_told_apart() {
        let fields =
            (0..300).map(|number| (if number % 3 == 0 { "A" } else { "B" }, Value::Unsigned(number))).collect();
        let mut out = String::new();
        Decoded { fields, ..Decoded::default() }.write_json(&mut out);
        let members: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&out).expect("valid JSON");
        assert_eq!(members.len(), 300);
        assert_eq!((&members["A"], &members["A_2"], &members["B_200"]), (&0.into(), &3.into(), &299.into()));
    }
}
