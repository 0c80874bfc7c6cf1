//! An archive stays within its bytes per row, on the data that `examples/bytes_per_row.rs` explains.

use tracesift_archive::{Archive, Table};
use tracesift_testing::archive::{create, finish};
use tracesift_testing::busy_machine::Machine;
use tracesift_trace::RowSink as _;
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow, FrameRow, StackRow};

#[test]
fn rows_take_no_more_bytes_than_the_budget_says() {
    let root = tempfile::tempdir().expect("temporary directory");
    let mut machine = Machine::default();
    let mut writer = create(&root.path().join("x.sift"));
    (0..300_000).for_each(|_| writer.context_switch(&machine.switch()));
    (0..150_000).for_each(|index| writer.cpu_sample(&machine.sample(index)));
    let (frames, stacks) = machine.stacks();
    frames.iter().for_each(|row| writer.frame(row));
    stacks.iter().for_each(|row| writer.stack(row));
    let archive = Archive::open(&finish(writer)).expect("opened");

    let per_row = [
        (bytes::<ContextSwitchRow>(&archive) / 300_000.0, 18.0, "switch"),
        (bytes::<CpuSampleRow>(&archive) / 150_000.0, 8.0, "sample"),
        (bytes::<StackRow>(&archive) / stacks.len() as f64, 60.0, "distinct stack of 30 frames"),
    ];
    for (bytes, budget, what) in per_row {
        assert!(bytes <= budget, "{bytes:.2} bytes per {what}, the budget is {budget}");
    }
    let tables = &archive.info().tables;
    let other: f64 = tables.iter().map(|table| table.bytes as f64).sum::<f64>()
        - bytes::<ContextSwitchRow>(&archive)
        - bytes::<CpuSampleRow>(&archive)
        - bytes::<StackRow>(&archive)
        - bytes::<FrameRow>(&archive);
    assert!(other <= 262_144.0, "{other} bytes for tables without a row");
}

fn bytes<T: Table>(archive: &Archive) -> f64 {
    let name = T::TABLE.name;
    archive.info().tables.iter().find(|table| table.name == name).map_or(0.0, |table| table.bytes as f64)
}
