//! Receivers of the fields of an event: a JSON text, without any allocation, or a list of values.

use tracesift_etl::payload::PayloadError;
use tracesift_etl::schema::{DecodeError, Decoded, Reason, Value, json};
use tracesift_json::Writer;
use tracesift_perf::Malformed;

/// Takes fields in the order of the event; no two have one name.
pub trait FieldSink<'a> {
    /// A field with one value.
    fn value(&mut self, name: &'a str, value: Value<'a>);
    /// A field with many.
    fn list(&mut self, name: &'a str, values: impl Iterator<Item = Value<'a>>);
}

/// What no field shows.
#[derive(Clone, Debug, Default)]
pub struct Rest<'a> {
    /// The bytes behind the last field, those from the trouble on, or all where nobody describes the event.
    pub bytes: &'a [u8],
    /// Why the fields end before their description does.
    pub stopped: Option<DecodeError<'a>>,
}

/// A record that is too short for its kind or its event.
pub(super) fn malformed<'a>(error: &Malformed, bytes: &'a [u8]) -> Rest<'a> {
    let missing =
        PayloadError::Truncated { what: error.missing, offset: 0, needed: bytes.len() + 1, available: bytes.len() };
    Rest { bytes, stopped: Some(DecodeError { field: error.missing, reason: Reason::Payload(missing) }) }
}

/// The fields as members of one JSON object.
pub(crate) struct JsonFields<'o>(Writer<&'o mut String>);

impl<'o> JsonFields<'o> {
    pub(crate) fn new(out: &'o mut String) -> Self {
        let mut json = Writer::new(out);
        json.begin_object();
        Self(json)
    }

    pub(crate) fn finish(mut self) {
        self.0.end_object();
    }
}

impl<'a> FieldSink<'a> for JsonFields<'_> {
    #[inline]
    fn value(&mut self, name: &'a str, value: Value<'a>) {
        self.0.key(name);
        json::write_value(&mut self.0, &value);
    }

    fn list(&mut self, name: &'a str, values: impl Iterator<Item = Value<'a>>) {
        self.0.key(name);
        self.0.begin_array();
        for value in values {
            json::write_value(&mut self.0, &value);
        }
        self.0.end_array();
    }
}

/// The fields as values.
#[derive(Debug, Default)]
pub struct ValueFields<'a>(Vec<(&'a str, Value<'a>)>);

impl<'a> ValueFields<'a> {
    /// The event, taken apart.
    #[must_use]
    pub fn decoded(self, rest: Rest<'a>) -> Decoded<'a> {
        Decoded { fields: self.0, rest: rest.bytes, stopped: rest.stopped }
    }
}

impl<'a> FieldSink<'a> for ValueFields<'a> {
    fn value(&mut self, name: &'a str, value: Value<'a>) {
        self.0.push((name, value));
    }

    fn list(&mut self, name: &'a str, values: impl Iterator<Item = Value<'a>>) {
        self.0.push((name, Value::List(values.collect())));
    }
}
