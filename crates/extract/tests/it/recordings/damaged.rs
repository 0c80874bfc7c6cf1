//! Damaged recordings: everything that the damage did not touch is there, and the loss is in the health table.

use serde_json::Value;
use tracesift_fixtures::cases;
use tracesift_trace::rows::HealthRow;

use crate::recordings::support::extract_file;

#[test]
fn intact_buffers_are_read_and_the_loss_is_counted() {
    let Some(folder) = cases("expected") else { return };
    let text = std::fs::read_to_string(folder.join("etl-damaged.json")).expect("expected figures");
    let cases: Vec<Value> = serde_json::from_str(&text).expect("JSON");
    assert_eq!(cases.len(), 6);
    for case in cases {
        let file = folder.parent().expect("cases").join(case["file"].as_str().expect("file"));
        let number = |key: &str| case[key].as_u64().unwrap_or(0);
        let intact = number("records_in_intact_buffers")
            + number("records_in_intact_buffers_before")
            + number("records_in_intact_buffers_after");
        let damaged = number("records_in_damaged_buffer") + number("records_in_damaged_buffers");
        let extracted = extract_file(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let report = &extracted.reports[0];
        // What a reader saves of the damaged buffers is its own choice.
        let what = format!("{}: {} records", file.display(), report.records);
        assert!(report.records >= intact, "{what}, {intact} in intact buffers");
        if damaged > 0 {
            assert!(report.records <= intact + damaged, "{what}, {intact} + {damaged} in the whole file");
        }
        let health: Vec<HealthRow> = extracted.archives()[0].rows().expect("health");
        let losses = [
            "truncated_buffer",
            "bad_buffer_header",
            "undecodable_buffer",
            "zeroed_region",
            "missing_header_buffer",
            "missing_buffers",
        ];
        assert!(health.iter().any(|row| losses.contains(&row.kind.as_str()) && row.count > 0), "{what}: {health:?}");
    }
}
