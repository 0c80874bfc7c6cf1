//! Every field of every record, held against the reference decodes of quipper (`perf/golden/*.pb_text`).

use std::collections::BTreeMap;

use crate::common::pb::{Message, plain};
use tracesift_fixtures::cases;
use tracesift_perf::{FileId, Kind, Layout, MergeOptions, Payload, Record, SampleFormat, Values};

use crate::common;

/// The lines of a record as the reference writes them; `None` for kinds that it leaves out.
#[expect(clippy::too_many_lines, reason = "one arm per kind of record")]
fn lines(record: &Record<'_>) -> Option<Vec<String>> {
    let mut out = Lines(Vec::new());
    out.put("header.type", record.kind().number());
    out.put("header.misc", record.misc());
    out.put("header.size", record.size());
    out.put("timestamp", if record.kind() == Kind::Sample { record.time()? } else { record.time().unwrap_or(0) });
    match record.payload().expect("it is well-formed") {
        Payload::Sample(sample) => out.sample(&sample),
        Payload::Mapping(mapping) => {
            let event = "mmap_event.";
            out.ids(event, mapping.pid, mapping.tid);
            out.put("mmap_event.start", mapping.start);
            out.put("mmap_event.len", mapping.length);
            out.put("mmap_event.pgoff", mapping.file_offset);
            if let FileId::Inode { major, minor, inode, generation } = mapping.file {
                out.put("mmap_event.maj", major);
                out.put("mmap_event.min", minor);
                out.put("mmap_event.ino", inode);
                out.put("mmap_event.ino_generation", generation);
                out.put("mmap_event.prot", mapping.protection);
                out.put("mmap_event.flags", mapping.flags);
            }
            out.put("mmap_event.filename", plain(mapping.name));
            out.common(event, record);
        }
        Payload::Comm(comm) => {
            out.ids("comm_event.", comm.pid, comm.tid);
            out.put("comm_event.comm", plain(comm.name));
            out.common("comm_event.", record);
        }
        Payload::Fork(task) | Payload::Exit(task) => {
            let event = if record.kind() == Kind::Fork { "fork_event." } else { "exit_event." };
            out.ids(event, task.pid, task.tid);
            out.put(&format!("{event}ppid"), task.parent_pid.cast_unsigned());
            out.put(&format!("{event}ptid"), task.parent_tid.cast_unsigned());
            out.put(&format!("{event}fork_time_ns"), task.time);
            out.common(event, record);
        }
        Payload::LostSamples(lost) => {
            out.put("lost_samples_event.num_lost", lost.count);
            out.common("lost_samples_event.", record);
        }
        Payload::Throttle(throttle) | Payload::Unthrottle(throttle) => {
            out.put("throttle_event.time_ns", throttle.time);
            out.put("throttle_event.id", throttle.id);
            out.put("throttle_event.stream_id", throttle.stream_id);
            out.common("throttle_event.", record);
        }
        Payload::Switch(switch) => {
            out.put("context_switch_event.is_out", switch.out);
            if let Some((pid, tid)) = switch.other {
                out.put("context_switch_event.next_prev_pid", pid.cast_unsigned());
                out.put("context_switch_event.next_prev_tid", tid.cast_unsigned());
            }
            out.common("context_switch_event.", record);
        }
        Payload::Namespaces(namespaces) => {
            out.ids("namespaces_event.", namespaces.pid, namespaces.tid);
            for namespace in namespaces.iter() {
                out.put("namespaces_event.link_info.dev", namespace.device);
                out.put("namespaces_event.link_info.ino", namespace.inode);
            }
            out.common("namespaces_event.", record);
        }
        Payload::Aux(aux) => {
            out.put("aux_event.aux_offset", aux.offset);
            out.put("aux_event.aux_size", aux.size);
            out.put("aux_event.is_truncated", aux.flags & 1 != 0);
            out.put("aux_event.is_overwrite", aux.flags & 2 != 0);
            out.put("aux_event.is_partial", aux.flags & 4 != 0);
            out.common("aux_event.", record);
        }
        Payload::ItraceStart(pid, tid) => {
            out.ids("itrace_start_event.", pid, tid);
            out.common("itrace_start_event.", record);
        }
        Payload::Auxtrace(piece) => {
            out.put("auxtrace_event.size", piece.size);
            out.put("auxtrace_event.offset", piece.offset);
            out.put("auxtrace_event.reference", piece.reference);
            out.put("auxtrace_event.idx", piece.buffer);
            out.put("auxtrace_event.tid", piece.tid.cast_unsigned());
            out.put("auxtrace_event.cpu", piece.cpu);
        }
        Payload::AuxtraceInfo(info) => {
            out.put("auxtrace_info_event.type", info.kind);
            for parameter in info.parameters.iter() {
                out.put("auxtrace_info_event.unparsed_binary_blob_priv_data", parameter);
            }
        }
        Payload::ThreadMap(threads) => {
            for (tid, name) in threads.iter() {
                out.put("thread_map_event.entries.pid", tid.cast_unsigned());
                out.put("thread_map_event.entries.comm", plain(name));
            }
        }
        Payload::TimeConv(clock) => {
            out.put("time_conv_event.time_shift", clock.shift);
            out.put("time_conv_event.time_mult", clock.multiplier);
            out.put("time_conv_event.time_zero", clock.zero);
            if let Some(short) = clock.short {
                out.put("time_conv_event.time_cycles", short.cycles);
                out.put("time_conv_event.time_mask", short.mask);
                out.put("time_conv_event.cap_user_time_zero", short.zero_valid);
                out.put("time_conv_event.cap_user_time_short", short.short);
            }
        }
        _ => {}
    }
    Some(out.sorted())
}

struct Lines(Vec<String>);

impl Lines {
    fn put(&mut self, path: &str, value: impl ToString) {
        self.0.push(format!("{path}: {}", value.to_string()));
    }

    fn put_some(&mut self, path: &str, value: Option<impl ToString>) {
        if let Some(value) = value {
            self.put(path, value);
        }
    }

    fn ids(&mut self, event: &str, pid: i32, tid: i32) {
        self.put(&format!("{event}pid"), pid.cast_unsigned());
        self.put(&format!("{event}tid"), tid.cast_unsigned());
    }

    /// The trailing fields.
    fn common(&mut self, event: &str, record: &Record<'_>) {
        if let Some((pid, tid)) = record.thread() {
            self.ids(&format!("{event}sample_info."), pid, tid);
        }
        let has_time = record.thread().is_some() && has(record.layout(), SampleFormat::TIME);
        self.put_some(&format!("{event}sample_info.sample_time_ns"), has_time.then(|| record.time().unwrap_or(0)));
        self.put_some(&format!("{event}sample_info.id"), record.id());
        self.put_some(&format!("{event}sample_info.cpu"), record.cpu());
    }

    fn sample(&mut self, sample: &tracesift_perf::Sample<'_>) {
        self.put_some("sample_event.ip", sample.ip);
        self.put_some("sample_event.pid", sample.pid.map(i32::cast_unsigned));
        self.put_some("sample_event.tid", sample.tid.map(i32::cast_unsigned));
        self.put_some("sample_event.sample_time_ns", sample.time);
        self.put_some("sample_event.id", sample.id);
        self.put_some("sample_event.period", sample.period);
        self.put_some("sample_event.cpu", sample.cpu);
        for address in sample.callchain.iter().flat_map(|chain| chain.iter()) {
            self.put("sample_event.callchain", address);
        }
        self.put_some("sample_event.raw_size", sample.raw.map(<[u8]>::len));
        self.put_some("sample_event.raw", sample.raw.map(plain));
        for branch in sample.tail().branches.iter().flat_map(|branches| branches.entries()) {
            let path = "sample_event.branch_stack.";
            self.put(&format!("{path}from_ip"), branch.from);
            self.put(&format!("{path}to_ip"), branch.to);
            self.put(&format!("{path}mispredicted"), branch.mispredicted());
            self.put(&format!("{path}predicted"), branch.predicted());
            self.put(&format!("{path}in_transaction"), branch.in_transaction());
            self.put(&format!("{path}abort"), branch.abort());
            self.put(&format!("{path}cycles"), branch.cycles());
            self.put(&format!("{path}type"), branch.kind());
            self.put(&format!("{path}spec"), branch.speculation());
        }
        assert_eq!(sample.values.as_ref().map(Values::counters).into_iter().flatten().count(), 0, "none was recorded");
    }

    /// By path, values of the same path in their order.
    fn sorted(mut self) -> Vec<String> {
        self.0.sort_by(|a, b| path(a).cmp(path(b)));
        self.0
    }
}

fn has(layout: &Layout, flag: SampleFormat) -> bool {
    layout.sample_format().contains(flag)
}

fn path(line: &str) -> &str {
    line.split_once(": ").expect("a field").0
}

/// Fields that are not in the recording, or that the reference makes up.
fn is_derived(line: &str) -> bool {
    let path = path(line);
    let name = path.rsplit('.').next().expect("a name");
    name.ends_with("md5_prefix") || ["root_path", "trace_data", "no_hw_idx", "branch_stack_hw_idx"].contains(&name)
}

/// The reference leaves these kinds out.
fn is_left_out(kind: Kind) -> bool {
    matches!(kind, Kind::EventUpdate | Kind::CpuMap | Kind::Attr | Kind::EventType)
}

/// The reference marks addresses outside of all mappings by their highest bit; those of the kernel have it anyway.
fn unmarked(address: u64) -> u64 {
    if address >> 47 == 0x1_ffff { address } else { address & !(1 << 63) }
}

fn unmark(line: String) -> String {
    let (path, value) = line.split_once(": ").expect("a field");
    if path.ends_with("callchain") || path.ends_with("_ip") || path.ends_with(".ip") {
        return format!("{path}: {}", unmarked(value.parse().expect("an address")));
    }
    line
}

/// Chrome moves the start of its code to anonymous pages, and the reference joins the two mappings into the one they were.
fn joined(pair: &[Vec<String>]) -> Option<Vec<String>> {
    let [file, anonymous] = pair else { return None };
    let value = |lines: &[String], name: &str| {
        lines.iter().find_map(|line| line.strip_prefix(&format!("mmap_event.{name}: ")).map(str::to_owned))
    };
    let number = |lines: &[String], name: &str| value(lines, name)?.parse::<u64>().ok();
    let length = number(file, "len")?;
    let follows = value(anonymous, "filename")? == "\"//anon\""
        && value(anonymous, "pid") == value(file, "pid")
        && number(anonymous, "start")? == number(file, "start")? + length;
    let whole = format!("mmap_event.len: {}", length + number(anonymous, "len")?);
    let replace = |line: &String| if line.starts_with("mmap_event.len") { whole.clone() } else { line.clone() };
    follows.then(|| file.iter().map(replace).collect())
}

#[test]
fn every_field_of_every_record_agrees() {
    if cases("").is_none() {
        return;
    }
    let (mut compared, mut fields) = (0, 0);
    for name in common::names() {
        let Some(text) = common::golden(&format!("{name}.pb_text")) else { continue };
        // Older decodes do not have the kind of a branch.
        let branch_kinds = text.contains(" spec: ");
        let golden = Message::parse(&text);
        let mut missing = BTreeMap::<Vec<String>, i64>::new();
        let mut times = Vec::new();
        for event in golden.all("events") {
            let mut lines: Vec<String> =
                event.lines().into_iter().filter(|line| !is_derived(line)).map(unmark).collect();
            lines.sort_by(|a, b| path(a).cmp(path(b)));
            fields += lines.len();
            times.extend(event.value("timestamp").map(|time| time.parse::<u64>().expect("a time")));
            *missing.entry(lines).or_default() += 1;
            compared += 1;
        }
        let file = common::open(&name);
        let mut records = file.merged(MergeOptions::default());
        let (mut more, mut order) = (Vec::new(), Vec::new());
        while let Some(record) = records.next() {
            let Some(mut lines) = lines(&record) else { continue };
            let branch_kind = |line: &String| line.contains("stack.type: ") || line.contains("stack.spec: ");
            lines.retain(|line| branch_kinds || !branch_kind(line));
            lines = lines.into_iter().map(unmark).collect();
            match missing.get_mut(&lines) {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    order.extend(record.time());
                }
                _ if is_left_out(record.kind()) => {}
                _ => more.push(lines),
            }
        }
        missing.retain(|_, count| *count > 0);
        for pair in more.chunks(2) {
            let whole = joined(pair).unwrap_or_else(|| panic!("{name}: {pair:?} of {missing:?}"));
            assert_eq!(missing.remove(&whole), Some(1), "{name}: {pair:?}");
        }
        assert!(missing.is_empty(), "{name}: {missing:?}");
        times.retain(|time| *time > 0);
        assert_eq!(order, times, "{name}: in the same order");
    }
    println!("{compared} records with {fields} fields compared");
    assert!(compared > 40_000);
}
