//! A recording that has a bit of everything.

#![allow(dead_code, reason = "each test uses another part")]

use tracesift_fixtures::perf_data::{Attr, Bytes, SAMPLE_ID_ALL};
use tracesift_perf::{AttrFlags, Endianness};

/// Identifier, IP, TID, time, CPU, period, values, call chain, raw, branches, user registers, weight, cgroup, page size.
const SAMPLE_TYPE: u64 =
    1 << 16 | 1 | 2 | 4 | 1 << 7 | 1 << 8 | 1 << 4 | 1 << 5 | 1 << 10 | 1 << 11 | 1 << 12 | 1 << 14 | 1 << 21 | 1 << 22;
/// As above without what has a length, and with an id instead of the identifier.
const OTHER_TYPE: u64 = 1 << 6 | 1 | 2 | 4 | 1 << 7;

pub(crate) fn attrs() -> [Attr; 2] {
    let flags = SAMPLE_ID_ALL | 2 << 15 | AttrFlags::COMM.bits() | AttrFlags::BUILD_ID.bits();
    // Group, with id and time running.
    let read_format = 8 | 4 | 2;
    [
        Attr { kind: 2, config: 77, period: 4000, sample_type: SAMPLE_TYPE, read_format, flags, ids: vec![11, 12] },
        Attr { kind: 1, config: 0, period: 4000, sample_type: OTHER_TYPE, read_format: 0, flags, ids: vec![21, 22] },
    ]
}

const FORMAT: &[u8] = b"name: thing\nID: 77\nformat:\n\
    \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
    \tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\
    \tfield:int prio;\toffset:24;\tsize:4;\tsigned:1;\n\
    \tfield:__data_loc char[] path;\toffset:28;\tsize:4;\tsigned:0;\n\
    \tfield:__rel_loc u16[] list;\toffset:32;\tsize:4;\tsigned:0;\n\
    \tfield:unsigned long * pointer;\toffset:36;\tsize:8;\tsigned:0;\n\n\
    print fmt: \"%s\", REC->comm\n";

pub(crate) fn tracing_data(endian: Endianness) -> Vec<u8> {
    let mut out = Bytes::new(endian);
    out.raw(b"\x17\x08\x44tracing0.6\0").u8((endian == Endianness::BigEndian).into()).u8(8).u32(4096);
    out.raw(b"header_page\0").u64(0).raw(b"header_event\0").u64(0);
    out.u32(0).u32(1).raw(b"things\0").u32(1).u64(FORMAT.len() as u64).raw(FORMAT);
    out.u32(0).u32(0);
    let names = b"17 a name: with all\n";
    out.u64(names.len() as u64).raw(names);
    out.bytes
}

pub(crate) fn raw(endian: Endianness) -> Vec<u8> {
    let mut out = Bytes::new(endian);
    out.u16(77).u16(0).u32(0).text(b"a:b c", 16).u32((-5i32).cast_unsigned());
    // "/tmp" stands at 44, the list 8 bytes behind its own field's end.
    out.u32(5 << 16 | 44).u32(4 << 16 | 13).u64(0xffff_ffff_8000_0000);
    out.raw(b"/tmp\0").u16(300).u16(400);
    out.bytes.resize(out.bytes.len().next_multiple_of(8) + 4, 0);
    out.bytes
}

pub(crate) fn data(endian: Endianness) -> Vec<u8> {
    let mut out = Bytes::new(endian);
    let tail = |out: &mut Bytes, time: u64| {
        out.u32(1).u32(2).u64(time).u32(3).u32(0).u64(11);
    };
    out.record(3, 1 << 13, |out| {
        out.u32(1).u32(2).text(b"name: x", 16);
        tail(out, 1000);
    });
    out.record(10, 1 << 14 | 2, |out| {
        out.u32(1).u32(2).u64s(&[0x1000, 0x2000, 0x3000]).u8(20).raw(&[0; 3]).raw(&[0xab; 20]);
        out.u32(5).u32(2).text(b"/bin/x", 8);
        tail(out, 1010);
    });
    out.record(9, 2, |out| {
        out.u64(12).u64(0x1234).u32(1).u32(2).u64(1020).u32(3).u32(0).u64(4000);
        out.u64s(&[2, 900, 50, 11, 60, 12]);
        out.u64s(&[3, 0xffff_ffff_ffff_fe00, 0x1234, 0x1300]);
        let raw = raw(endian);
        out.u32(raw.len() as u32).raw(&raw);
        let flags: u64 = 1 | 8 | 500 << 4 | 3 << 20;
        let flags = if endian == Endianness::LittleEndian { flags } else { 1 << 63 | 1 << 60 | 500 << 44 | 3 << 40 };
        out.u64s(&[1, u64::MAX, 0x1111, 0x2222, flags]);
        out.u64s(&[2, 71, 73, 99, 4096, 8192]);
    });
    out.record(9, 1, |out| {
        out.u64(0x5678).u32(1).u32(2).u64(1030).u64(22).u32(3).u32(0);
    });
    out.record(68, 0, |_| {});
    out.bytes
}

pub(crate) fn features(endian: Endianness) -> Vec<(u32, Vec<u8>)> {
    let mut name = Bytes::new(endian);
    name.u32(64).text(b"machine", 64);
    let mut clock = Bytes::new(endian);
    clock.u32(1).u32(1).u64(1_700_000_000_000_000_000).u64(500);
    vec![(1, tracing_data(endian)), (3, name.bytes), (29, clock.bytes)]
}
