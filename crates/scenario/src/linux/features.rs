//! The features of the header: facts about the machine and the recording, and the formats of
//! tracepoints.

use super::events::Event;
use super::fields::Fields;
use super::layout::{ATTR_SIZE, SWITCH_ID, WAKEUP_NEW_ID, WAKING_ID, ZERO};

/// `HEADER_TRACING_DATA`, which in a stream is a record of its own.
pub(super) const TRACING_DATA: u32 = 1;
const HOSTNAME: u32 = 3;
const OS_RELEASE: u32 = 4;
const ARCH: u32 = 6;
const CPUS: u32 = 7;
const EVENT_DESC: u32 = 12;
const CLOCK_DATA: u32 = 29;

/// `CLOCK_MONOTONIC`.
const MONOTONIC: u32 = 1;

/// ns of the wall clock since 1970 and ns of the recording's clock at one moment.
pub(super) const CLOCKS: (u64, u64) = (1_700_000_000_000_000_000, ZERO);

const COMMON: &str = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
    \tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\
    \tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n\
    \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

const SWITCH: &str = "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\
    \tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n\
    \tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n\
    \tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n\
    \tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n\
    \tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n\
    \tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n\n\
    print fmt: \"%d %s%s ==> %d\", REC->prev_pid, (REC->prev_state & 0xff) ? __print_flags(REC->prev_state & 0xff, \"|\", \
    { 0x0001, \"S\" }, { 0x0002, \"D\" }, { 0x0004, \"T\" }, { 0x0008, \"t\" }, { 0x0010, \"X\" }, { 0x0020, \"Z\" }, \
    { 0x0040, \"P\" }, { 0x0080, \"I\" }) : \"R\", REC->prev_state & 0x100 ? \"+\" : \"\", REC->next_pid\n";

const WAKING: &str = "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\
    \tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n\
    \tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n\
    \tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n\n\
    print fmt: \"%d\", REC->pid\n";

/// Layout of a page of the kernel's ring buffer, and of an entry in it: perf reads no format without them.
const HEADER_PAGE: &str = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
    \tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\
    \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\
    \tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";
const HEADER_EVENT: &str = "# compressed entry header\n\
    \ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n\tarray       :   32 bits\n\n\
    \tpadding     : type == 29\n\ttime_extend : type == 30\n\ttime_stamp : type == 31\n\tdata max type_len  == 28\n";

/// Features by number, in its order.
pub(super) fn features(cpus: u16, events: &[Event]) -> Vec<(u32, Vec<u8>)> {
    let feature = |number, write: &dyn Fn(&mut Fields)| {
        let mut fields = Fields::default();
        write(&mut fields);
        (number, fields.0)
    };
    vec![
        feature(TRACING_DATA, &|out| tracing_data(out, events)),
        feature(HOSTNAME, &|out| _ = out.header_string("scale")),
        feature(OS_RELEASE, &|out| _ = out.header_string("6.1.0")),
        feature(ARCH, &|out| _ = out.header_string("x86_64")),
        feature(CPUS, &|out| _ = out.u32(cpus.into()).u32(cpus.into())),
        feature(EVENT_DESC, &|out| event_desc(out, cpus, events)),
        feature(CLOCK_DATA, &|out| _ = out.u32(1).u32(MONOTONIC).u64(CLOCKS.0).u64(CLOCKS.1)),
    ]
}

fn event_desc(out: &mut Fields, cpus: u16, events: &[Event]) {
    out.u32(events.len() as u32).u32(ATTR_SIZE);
    for event in events {
        event.attr(out);
        out.u32(cpus.into()).header_string(event.name());
        (0..cpus).for_each(|cpu| _ = out.u64(event.id(cpu)));
    }
}

/// As tools/perf/util/trace-event-info.c writes it.
fn tracing_data(out: &mut Fields, events: &[Event]) {
    out.raw(b"\x17\x08\x44tracing0.6\0").raw(&[0, 8]).u32(4096);
    for (name, file) in [("header_page", HEADER_PAGE), ("header_event", HEADER_EVENT)] {
        out.raw(name.as_bytes()).raw(&[0]).u64(file.len() as u64).raw(file.as_bytes());
    }
    let formats: Vec<(&str, u16, &str)> = events
        .iter()
        .filter_map(|event| match event {
            Event::Switch => Some(("sched_switch", SWITCH_ID, SWITCH)),
            Event::Waking => Some(("sched_waking", WAKING_ID, WAKING)),
            Event::WakeupNew => Some(("sched_wakeup_new", WAKEUP_NEW_ID, WAKING)),
            Event::CpuClock | Event::Dummy => None,
        })
        .collect();
    // No formats of ftrace itself, those of one system.
    out.u32(0).u32(1).raw(b"sched\0").u32(formats.len() as u32);
    for (name, id, fields) in formats {
        let format = format!("name: {name}\nID: {id}\nformat:\n{COMMON}{fields}");
        out.u64(format.len() as u64).raw(format.as_bytes());
    }
    // No kernel symbols, formats of messages and names of threads.
    out.u32(0).u32(0).u64(0);
    out.0.resize(out.0.len().next_multiple_of(8), 0);
}
