//! The fields of the kernel's records that are no samples.

use tracesift_etl::schema::Value;
use tracesift_perf::{Events, FileId, Mapping, Payload, Record};

use super::fields::{FieldSink, Rest, malformed};
use super::sample_fields::read_values;
use super::tracepoint::text;

/// What the kernel numbers 0, 1 … in a `NAMESPACES` record.
const NAMESPACES: [&str; 7] = ["net", "uts", "ipc", "pid", "user", "mnt", "cgroup"];

/// Hands out the fields in the order of the record; its thread, time and CPU stand beside them.
pub(super) fn read_record<'a>(
    record: &Record<'a>,
    events: &Events,
    names: &'a [String],
    sink: &mut impl FieldSink<'a>,
) -> Rest<'a> {
    let payload = match record.payload() {
        Ok(payload) => payload,
        Err(error) => return malformed(&error, record.fields()),
    };
    if let Payload::Read(pid, tid, values) = &payload {
        thread(*pid, *tid, sink);
        read_values(values, events, names, sink);
        return Rest::default();
    }
    if read_of_threads(&payload, sink) || read_of_events(&payload, sink) || read_of_kernel(&payload, sink) {
        return Rest::default();
    }
    Rest { bytes: record.fields(), stopped: None }
}

/// Records of threads and what they have; `false` for others.
fn read_of_threads<'a>(payload: &Payload<'a>, sink: &mut impl FieldSink<'a>) -> bool {
    match payload {
        Payload::Mapping(mapping) => read_mapping(mapping, sink),
        Payload::Comm(comm) => {
            thread(comm.pid, comm.tid, sink);
            sink.value("exec", Value::Bool(comm.exec));
            sink.value("comm", Value::Text(text(comm.name)));
        }
        Payload::Fork(task) | Payload::Exit(task) => {
            signed("pid", task.pid, sink);
            signed("parent_pid", task.parent_pid, sink);
            signed("tid", task.tid, sink);
            signed("parent_tid", task.parent_tid, sink);
        }
        Payload::Switch(switch) => {
            sink.value("out", Value::Bool(switch.out));
            sink.value("preempted", Value::Bool(switch.preempted));
            if let Some((pid, tid)) = switch.other {
                signed(if switch.out { "next_pid" } else { "prev_pid" }, pid, sink);
                signed(if switch.out { "next_tid" } else { "prev_tid" }, tid, sink);
            }
        }
        Payload::Namespaces(namespaces) => {
            thread(namespaces.pid, namespaces.tid, sink);
            sink.list(
                "namespaces",
                namespaces.iter().enumerate().map(|(number, namespace)| {
                    let name = NAMESPACES.get(number).copied().unwrap_or("other");
                    Value::Struct(vec![
                        ("namespace", Value::Text(name.into())),
                        ("device", Value::Unsigned(namespace.device)),
                        ("inode", Value::Unsigned(namespace.inode)),
                    ])
                }),
            );
        }
        Payload::ItraceStart(pid, tid) => thread(*pid, *tid, sink),
        _ => return false,
    }
    true
}

/// Records of the recorded events, their buffers and what was lost; `false` for others.
fn read_of_events<'a>(payload: &Payload<'a>, sink: &mut impl FieldSink<'a>) -> bool {
    match payload {
        Payload::Lost(lost) => {
            sink.value("id", Value::Unsigned(lost.id));
            sink.value("lost", Value::Unsigned(lost.count));
        }
        Payload::LostSamples(lost) => {
            sink.value("lost", Value::Unsigned(lost.count));
            sink.value("filtered", Value::Bool(lost.filtered));
        }
        Payload::Throttle(throttle) | Payload::Unthrottle(throttle) => {
            sink.value("id", Value::Unsigned(throttle.id));
            sink.value("stream_id", Value::Unsigned(throttle.stream_id));
        }
        Payload::Aux(aux) => {
            sink.value("offset", Value::Unsigned(aux.offset));
            sink.value("size", Value::Unsigned(aux.size));
            sink.value("flags", Value::Hex(aux.flags));
        }
        Payload::AuxOutputHwId(id) => sink.value("hw_id", Value::Hex(*id)),
        _ => return false,
    }
    true
}

/// Records of the kernel's own code and groups; `false` for others.
fn read_of_kernel<'a>(payload: &Payload<'a>, sink: &mut impl FieldSink<'a>) -> bool {
    match payload {
        Payload::Ksymbol(symbol) => {
            sink.value("address", Value::Hex(symbol.address));
            sink.value("length", Value::Unsigned(symbol.length.into()));
            sink.value("type", Value::Unsigned(symbol.kind.into()));
            sink.value("unregister", Value::Bool(symbol.unregister));
            sink.value("name", Value::Text(text(symbol.name)));
        }
        Payload::BpfEvent(event) => {
            sink.value("type", Value::Unsigned(event.kind.into()));
            sink.value("flags", Value::Hex(event.flags.into()));
            sink.value("id", Value::Unsigned(event.id.into()));
            let tag = event.tag.iter().fold(0, |tag, byte| tag << 8 | u64::from(*byte));
            sink.value("tag", Value::Hex(tag));
        }
        Payload::Cgroup(cgroup) => {
            sink.value("id", Value::Unsigned(cgroup.id));
            sink.value("path", Value::Text(text(cgroup.path)));
        }
        Payload::TextPoke(poke) => {
            sink.value("address", Value::Hex(poke.address));
            sink.value("old", Value::Bytes(poke.old));
            sink.value("new", Value::Bytes(poke.new));
        }
        Payload::CallchainDeferred(chain) => {
            sink.value("cookie", Value::Hex(chain.cookie));
            sink.list("chain", chain.chain.iter().map(Value::Hex));
        }
        _ => return false,
    }
    true
}

fn read_mapping<'a>(mapping: &Mapping<'a>, sink: &mut impl FieldSink<'a>) {
    thread(mapping.pid, mapping.tid, sink);
    sink.value("address", Value::Hex(mapping.start));
    sink.value("length", Value::Hex(mapping.length));
    sink.value("file_offset", Value::Hex(mapping.file_offset));
    match mapping.file {
        FileId::Unknown => {}
        FileId::Inode { major, minor, inode, generation } => {
            sink.value("major", Value::Unsigned(major.into()));
            sink.value("minor", Value::Unsigned(minor.into()));
            sink.value("inode", Value::Unsigned(inode));
            sink.value("inode_generation", Value::Unsigned(generation));
        }
        FileId::BuildId(id) => sink.value("build_id", Value::Text(id.to_string().into())),
    }
    sink.value("protection", Value::Hex(mapping.protection.into()));
    sink.value("flags", Value::Hex(mapping.flags.into()));
    sink.value("executable", Value::Bool(mapping.executable));
    sink.value("filename", Value::Text(text(mapping.name)));
}

fn thread<'a>(pid: i32, tid: i32, sink: &mut impl FieldSink<'a>) {
    signed("pid", pid, sink);
    signed("tid", tid, sink);
}

fn signed<'a>(name: &'a str, value: i32, sink: &mut impl FieldSink<'a>) {
    sink.value(name, Value::Signed(value.into()));
}
