//! The fields of a sample of a counter: what was recorded beside time, CPU, thread and call chain, in the record's order.

use tracesift_etl::schema::Value;
use tracesift_perf::{BranchEntry, Events, Registers, Sample, SampleFormat, SampleTail, Values};

use super::fields::FieldSink;

/// Registers are numbered below that.
const REGISTERS: u32 = 64;

/// Hands out the fields. Copies of user stacks and pieces of instruction trace are there by their size only.
pub(super) fn read_sample<'a>(
    sample: &Sample<'a>,
    format: SampleFormat,
    events: &Events,
    names: &'a [String],
    sink: &mut impl FieldSink<'a>,
) {
    let hex = [("ip", sample.ip), ("address", sample.address)];
    hexadecimal(&hex, sink);
    if let Some(period) = sample.period {
        sink.value("period", Value::Unsigned(period));
    }
    if let Some(values) = &sample.values {
        read_values(values, events, names, sink);
    }
    if sample.has_tail() {
        read_tail(&sample.tail(), format, sink);
    }
}

fn read_tail<'a>(tail: &SampleTail<'a>, format: SampleFormat, sink: &mut impl FieldSink<'a>) {
    if let Some(branches) = &tail.branches {
        sink.list("branches", branches.entries().map(|entry| branch(&entry)));
    }
    registers("user_registers", tail.user_registers.as_ref(), sink);
    if let Some(stack) = &tail.user_stack {
        sink.value("user_stack_size", Value::Unsigned(stack.bytes.len() as u64));
    }
    if let Some(weight) = tail.weight {
        if format.contains(SampleFormat::WEIGHT_STRUCT) {
            // The kernel declares the parts so that the first is the low half on machines of both byte orders.
            sink.value("weight", Value::Unsigned(weight & 0xffff_ffff));
            sink.value("weight_2", Value::Unsigned(weight >> 32 & 0xffff));
            sink.value("weight_3", Value::Unsigned(weight >> 48));
        } else {
            sink.value("weight", Value::Unsigned(weight));
        }
    }
    hexadecimal(&[("data_source", tail.data_source), ("transaction", tail.transaction)], sink);
    registers("interrupt_registers", tail.interrupt_registers.as_ref(), sink);
    hexadecimal(&[("physical_address", tail.physical_address)], sink);
    let numbers = [
        ("cgroup", tail.cgroup),
        ("data_page_size", tail.data_page_size),
        ("code_page_size", tail.code_page_size),
        ("trace_size", tail.aux.map(|trace| trace.len() as u64)),
    ];
    for (name, number) in numbers {
        if let Some(number) = number {
            sink.value(name, Value::Unsigned(number));
        }
    }
}

/// Values of counters: of one alone, or of a group by the names of its events.
pub(super) fn read_values<'a>(
    values: &Values<'a>,
    events: &Events,
    names: &'a [String],
    sink: &mut impl FieldSink<'a>,
) {
    let times = [("time_enabled", values.time_enabled), ("time_running", values.time_running)];
    for (name, time) in times {
        if let Some(time) = time {
            sink.value(name, Value::Unsigned(time));
        }
    }
    let mut counters = values.counters();
    if !values.is_group() {
        if let Some(counter) = counters.next() {
            sink.value("value", Value::Unsigned(counter.value));
            if let Some(lost) = counter.lost {
                sink.value("lost", Value::Unsigned(lost));
            }
        }
        return;
    }
    sink.list(
        "values",
        counters.map(|counter| {
            let event = counter.id.and_then(|id| names.get(events.by_id(id)?));
            let name = event.map(|name| ("event", Value::Text(name.as_str().into())));
            let lost = counter.lost.map(|lost| ("lost", Value::Unsigned(lost)));
            let value = Some(("value", Value::Unsigned(counter.value)));
            Value::Struct([name, value, lost].into_iter().flatten().collect())
        }),
    );
}

fn branch(entry: &BranchEntry) -> Value<'static> {
    let mut members = vec![("from", Value::Hex(entry.from)), ("to", Value::Hex(entry.to))];
    let marks = [
        ("mispredicted", entry.mispredicted()),
        ("predicted", entry.predicted()),
        ("in_transaction", entry.in_transaction()),
        ("abort", entry.abort()),
    ];
    members.extend(marks.into_iter().filter(|(_, set)| *set).map(|(name, set)| (name, Value::Bool(set))));
    if entry.cycles() != 0 {
        members.push(("cycles", Value::Unsigned(entry.cycles().into())));
    }
    Value::Struct(members)
}

fn registers<'a>(name: &'a str, registers: Option<&Registers<'a>>, sink: &mut impl FieldSink<'a>) {
    if let Some(registers) = registers {
        let values = (0..REGISTERS).filter_map(|register| registers.get(register));
        sink.list(name, values.map(Value::Hex));
    }
}

fn hexadecimal<'a>(fields: &[(&'a str, Option<u64>)], sink: &mut impl FieldSink<'a>) {
    for (name, number) in fields {
        if let Some(number) = number {
            sink.value(name, Value::Hex(*number));
        }
    }
}
