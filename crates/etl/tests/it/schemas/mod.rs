//! Events that describe themselves, made byte by byte: every kind of schema, every type, and hostile ones.

mod build;
mod corpus;
mod dotnet;
mod hostile;
mod kernel;
mod manifest;
mod metadata;
mod trace_logging;

use tracesift_etl::Record;
use tracesift_etl::schema::Schemas;

/// What is shown of the last record once all of them are known: `provider/event field=value …`, `raw` without a schema.
pub(crate) fn shown(records: &[Vec<u8>]) -> String {
    let mut schemas = Schemas::new();
    let records: Vec<Record<'_>> =
        records.iter().map(|bytes| Record::parse(bytes, 0, 0).expect("a whole record")).collect();
    records.iter().filter(|record| Schemas::has_schema(record)).for_each(|record| schemas.learn(record));
    let last = records.last().expect("a record");
    let Some(schema) = schemas.find(last) else { return "raw".to_owned() };
    let decoded = schema.decode(last);
    let mut text = format!("{}/{}", schema.provider_name.as_deref().unwrap_or("?"), schema.name());
    for (name, value) in &decoded.fields {
        text.push_str(&format!(" {name}={value}"));
    }
    if let Some(stopped) = &decoded.stopped {
        text.push_str(&format!(" stopped: {stopped}"));
    }
    if !decoded.rest.is_empty() {
        text.push_str(&format!(" rest {}", decoded.rest.len()));
    }
    text
}
