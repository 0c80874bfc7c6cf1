//! One record of each kind that the machine does not write of itself, with fields as include/uapi/linux/perf_event.h and
//! tools/lib/perf/include/perf/event.h have them.

use super::fields::Fields;
use super::layout::{KERNEL_BASE, ZERO};
use super::rundown::sample_id;

const IDS: (i32, i32) = (1_000, 1_000);

pub(super) fn write(out: &mut Fields) {
    of_the_kernel(out);
    of_perf(out);
}

fn of_the_kernel(out: &mut Fields) {
    let mut kind = |number: u32, misc: u16, fields: &dyn Fn(&mut Fields)| {
        out.record(number, misc, |out| {
            fields(out);
            sample_id(out, IDS, ZERO, 0);
        });
    };
    // LOST, THROTTLE, UNTHROTTLE, READ.
    kind(2, 0, &|out| _ = out.u64s(&[1, 5]));
    kind(5, 0, &|out| _ = out.u64s(&[ZERO, 1, 1]));
    kind(6, 0, &|out| _ = out.u64s(&[ZERO, 1, 1]));
    kind(8, 0, &|out| _ = out.i32(IDS.0).i32(IDS.1).u64s(&[77, 1, 0]));
    // AUX, ITRACE_START, LOST_SAMPLES.
    kind(11, 0, &|out| _ = out.u64s(&[0, 64, 0]));
    kind(12, 0, &|out| _ = out.i32(IDS.0).i32(IDS.1));
    kind(13, 0, &|out| _ = out.u64(3));
    // SWITCH out, SWITCH_CPU_WIDE in.
    kind(14, 1 << 13, &|_| ());
    kind(15, 0, &|out| _ = out.i32(0).i32(0));
    // NAMESPACES, KSYMBOL, BPF_EVENT, CGROUP.
    kind(16, 0, &|out| _ = out.i32(IDS.0).i32(IDS.1).u64s(&[2, 4, 4_026_531_840, 4, 4_026_531_841]));
    kind(17, 0, &|out| _ = out.u64(KERNEL_BASE + 0x4000_0000).u32(256).u16(1).u16(0).padded("bpf_prog_1_x"));
    kind(18, 0, &|out| _ = out.u16(1).u16(0).u32(1).raw(&[7; 8]));
    kind(19, 0, &|out| _ = out.u64(42).padded("/system.slice"));
    // TEXT_POKE: lengths of the old and the new bytes, the bytes, padding.
    kind(20, 0, &|out| _ = out.u64(KERNEL_BASE + 64).u16(2).u16(2).raw(&[0x66, 0x90, 0xeb, 0x10]));
    // AUX_OUTPUT_HW_ID, CALLCHAIN_DEFERRED: cookie, length, context and addresses.
    kind(21, 0, &|out| _ = out.u64(1));
    kind(22, 0, &|out| _ = out.u64s(&[9, 2, (-512_i64).cast_unsigned(), 0x7f00_0000_1000]));
}

fn of_perf(out: &mut Fields) {
    // ID_INDEX of one entry: id, index, CPU, thread.
    out.record(69, 0, |out| _ = out.u64s(&[1, 1, 0, 0, u64::MAX]));
    // AUXTRACE_INFO of an unknown type, AUXTRACE_ERROR.
    out.record(70, 0, |out| _ = out.u32(0).u32(0).u64(0));
    out.record(72, 0, |out| _ = out.u32(1).u32(1).u32(0).i32(IDS.0).i32(IDS.1).u32(0).u64s(&[0, 0]).text("lost", 64));
    // AUXTRACE, whose data follow it.
    out.record(71, 0, |out| _ = out.u64s(&[64, 0, 1]).u32(0).i32(IDS.1).u32(0).u32(0)).raw(&[0x5a; 64]);
    // THREAD_MAP of no single thread, CPU_MAP, EVENT_UPDATE with a unit, TIME_CONV, FINISHED_INIT.
    out.record(73, 0, |out| _ = out.u64s(&[1, u64::MAX]).text("", 16));
    out.record(74, 0, |out| _ = out.u16(0).u16(1).u16(0).u16(0));
    out.record(78, 0, |out| _ = out.u64s(&[0, 1]).padded("ms"));
    out.record(79, 0, |out| _ = out.u64s(&[10, 1, ZERO, 0, u64::MAX]).u32(1).u32(0));
    // STAT_CONFIG, STAT, STAT_ROUND.
    out.record(75, 0, |out| _ = out.u64s(&[1, 0, 0]));
    out.record(76, 0, |out| _ = out.u64(1).u32(0).u32(0).u64s(&[5, 6, 7]));
    out.record(77, 0, |out| _ = out.u64s(&[0, ZERO]));
    out.record(82, 0, |_| ());
    // A kind that nobody knows yet.
    out.record(200, 0, |out| _ = out.u64(0));
}
