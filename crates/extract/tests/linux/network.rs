//! Connections of other kernels, and events that are no connections, in recordings made byte by byte.

use tracesift_fixtures::perf_data::Bytes;
use tracesift_fixtures::perf_tracepoints::{Format, Recording};
use tracesift_perf::Endianness;
use tracesift_trace::rows::{ConnectionRow, NetworkIoRow, connection_ends, network_io_kinds as kinds};

use crate::extracted::Extracted;
use crate::synthetic::Extracting as _;

const STATE: Format = Format {
    system: "sock",
    name: "inet_sock_set_state",
    fields: "\tfield:const void * skaddr;\toffset:8;\tsize:8;\tsigned:0;\n\tfield:int oldstate;\toffset:16;\tsize:4;\tsigned:1;\n\
        \tfield:int newstate;\toffset:20;\tsize:4;\tsigned:1;\n\tfield:__u16 sport;\toffset:24;\tsize:2;\tsigned:0;\n\
        \tfield:__u16 dport;\toffset:26;\tsize:2;\tsigned:0;\n\tfield:__u16 family;\toffset:28;\tsize:2;\tsigned:0;\n\
        \tfield:__u16 protocol;\toffset:30;\tsize:2;\tsigned:0;\n\tfield:__u8 saddr[4];\toffset:32;\tsize:4;\tsigned:0;\n\
        \tfield:__u8 daddr[4];\toffset:36;\tsize:4;\tsigned:0;\n\tfield:__u8 saddr_v6[16];\toffset:40;\tsize:16;\tsigned:0;\n\
        \tfield:__u8 daddr_v6[16];\toffset:56;\tsize:16;\tsigned:0;\n",
};
const SEND: Format = Format {
    system: "sock",
    name: "sock_send_length",
    fields: "\tfield:void * sk;\toffset:8;\tsize:8;\tsigned:0;\n\tfield:__u16 family;\toffset:16;\tsize:2;\tsigned:0;\n\
        \tfield:__u16 protocol;\toffset:18;\tsize:2;\tsigned:0;\n\tfield:int ret;\toffset:20;\tsize:4;\tsigned:1;\n\
        \tfield:int flags;\toffset:24;\tsize:4;\tsigned:1;\n",
};
const RECEIVE: Format = Format { name: "sock_recv_length", ..SEND };
/// As kernels before 6.10 have it: without the address of the socket.
const PROBE: Format = Format {
    system: "tcp",
    name: "tcp_probe",
    fields: "\tfield:__u8 saddr[28];\toffset:8;\tsize:28;\tsigned:0;\n\tfield:__u8 daddr[28];\toffset:36;\tsize:28;\tsigned:0;\n\
        \tfield:__u16 data_len;\toffset:64;\tsize:2;\tsigned:0;\n\tfield:__u32 snd_wnd;\toffset:68;\tsize:4;\tsigned:0;\n\
        \tfield:__u32 srtt;\toffset:72;\tsize:4;\tsigned:0;\n",
};
const RETRANSMIT: Format = Format {
    system: "tcp",
    name: "tcp_retransmit_skb",
    fields: "\tfield:const void * skaddr;\toffset:8;\tsize:8;\tsigned:0;\n\tfield:int err;\toffset:16;\tsize:4;\tsigned:1;\n",
};
const RESET: Format = Format {
    system: "tcp",
    name: "tcp_send_reset",
    fields: "\tfield:const void * skaddr;\toffset:8;\tsize:8;\tsigned:0;\n\tfield:int state;\toffset:16;\tsize:4;\tsigned:1;\n",
};
const DESTROY: Format = Format {
    system: "tcp",
    name: "tcp_destroy_sock",
    fields: "\tfield:const void * skaddr;\toffset:8;\tsize:8;\tsigned:0;\n",
};

/// As kernels from 6.11 on have it.
const FREE: Format = Format {
    system: "skb",
    name: "kfree_skb",
    fields: "\tfield:void * skbaddr;\toffset:8;\tsize:8;\tsigned:0;\n\tfield:void * location;\toffset:16;\tsize:8;\tsigned:0;\n\
        \tfield:void * rx_sk;\toffset:24;\tsize:8;\tsigned:0;\n\tfield:unsigned short protocol;\toffset:32;\tsize:2;\tsigned:0;\n\
        \tfield:enum skb_drop_reason reason;\toffset:36;\tsize:4;\tsigned:0;\n",
};
/// As kernels before have it.
const OLD_FREE: Format = Format {
    fields: "\tfield:void * skbaddr;\toffset:8;\tsize:8;\tsigned:0;\n\tfield:void * location;\toffset:16;\tsize:8;\tsigned:0;\n\
        \tfield:unsigned short protocol;\toffset:24;\tsize:2;\tsigned:0;\n\
        \tfield:enum skb_drop_reason reason;\toffset:28;\tsize:4;\tsigned:0;\n",
    ..FREE
};

const ENDIANS: [Endianness; 2] = [Endianness::LittleEndian, Endianness::BigEndian];

const SYN_SENT: u32 = 2;
const SYN_RECV: u32 = 3;
const ESTABLISHED: u32 = 1;
const FIN_WAIT1: u32 = 4;
const TIME_WAIT: u32 = 6;
const CLOSE: u32 = 7;
const LISTEN: u32 = 10;

/// A change of the state of a socket on 10.0.0.1, port 5000 (or none yet), to 10.0.0.2, port 80.
fn state(out: &mut Bytes, socket: u64, [old, new]: [u32; 2], port: u16, family: u16, protocol: u16) {
    out.u64(socket).u32(old).u32(new).u16(port).u16(80).u16(family).u16(protocol);
    out.raw(&[10, 0, 0, 1]).raw(&[10, 0, 0, 2]);
    let mapped = |last| [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, last];
    out.raw(&mapped(1)).raw(&mapped(2));
}

fn data(out: &mut Bytes, socket: u64, family: u16, protocol: u16, bytes: i32, flags: u32) {
    out.u64(socket).u16(family).u16(protocol).u32(bytes.cast_unsigned()).u32(flags);
}

fn tables(extracted: &Extracted) -> (Vec<ConnectionRow>, Vec<NetworkIoRow>) {
    let mut connections: Vec<ConnectionRow> = extracted.archive.rows().expect("connections");
    connections.sort_by_key(|row| row.connection);
    (connections, extracted.archive.rows().expect("traffic"))
}

#[test]
fn a_connection_has_its_ends_when_the_kernel_knows_them() {
    for endian in ENDIANS {
        let mut recording = Recording::new(endian, vec![STATE, SEND, RECEIVE, DESTROY]);
        // The other side's packet comes while thread 9 runs.
        recording.sample(0, 7, 1000, 0, |out| state(out, 0xa0, [CLOSE, SYN_SENT], 0, 2, 6));
        recording.sample(0, 9, 3000, 0, |out| state(out, 0xa0, [SYN_SENT, ESTABLISHED], 5000, 2, 6));
        recording.sample(1, 7, 4000, 0, |out| data(out, 0xa0, 2, 6, 500, 0));
        // Looked at, an error, nothing, other families and protocols.
        recording.sample(2, 7, 4100, 0, |out| data(out, 0xa0, 2, 6, 40, 2));
        recording.sample(2, 7, 4200, 0, |out| data(out, 0xa0, 2, 6, -11, 0));
        recording.sample(2, 7, 4300, 0, |out| data(out, 0xa0, 2, 6, 0, 0));
        recording.sample(2, 7, 4400, 0, |out| data(out, 0xb0, 1, 0, 99, 0));
        recording.sample(2, 7, 4500, 0, |out| data(out, 0xb1, 10, 262, 99, 0));
        recording.sample(2, 7, 5000, 0, |out| data(out, 0xa0, 2, 6, 60, 0x40));
        recording.sample(0, 7, 6000, 0, |out| state(out, 0xa0, [ESTABLISHED, FIN_WAIT1], 5000, 2, 6));
        recording.sample(3, 9, 8000, 0, |out| {
            out.u64(0xa0);
        });
        // The same address is that of a listener, then of a connection that it accepts.
        recording.sample(0, 7, 8100, 0, |out| state(out, 0xa0, [CLOSE, LISTEN], 5000, 2, 6));
        recording.sample(0, 7, 8200, 0, |out| state(out, 0xa0, [LISTEN, CLOSE], 5000, 2, 6));
        recording.sample(0, 9, 9000, 0, |out| state(out, 0xa0, [LISTEN, SYN_RECV], 5000, 10, 6));
        recording.sample(0, 9, 9100, 0, |out| state(out, 0xa0, [SYN_RECV, ESTABLISHED], 5000, 10, 6));
        recording.sample(2, 8, 9200, 0, |out| data(out, 0xa0, 10, 6, 5, 0));
        let extracted = recording.extracted();
        let (connections, io) = tables(&extracted);
        let [asked, accepted] = &connections[..] else { panic!("{endian:?}: {connections:?}") };
        let zero = extracted.info.clock_zero;
        let pid = |row: &ConnectionRow| row.process.map(|process| extracted.processes[process.index()].pid);
        let times = |row: &ConnectionRow| [row.start, row.connected, row.end].map(|time| time.map(|time| time + zero));
        assert_eq!(times(asked), [Some(1000), Some(3000), Some(8000)]);
        assert_eq!((asked.sent, asked.received, asked.posted_events), (Some(500), Some(60), Some(1)));
        assert_eq!((pid(asked), asked.accepted, asked.tcb), (Some(7), Some(false), Some(0xa0)));
        assert_eq!((asked.retransmits, asked.end_kind), (None, Some(connection_ends::CLOSED)));
        assert_eq!(times(accepted), [Some(9000), Some(9100), None]);
        assert_eq!((pid(accepted), accepted.accepted, accepted.received), (Some(8), Some(true), Some(5)));
        for row in &connections {
            let ends = (row.local.as_deref(), row.local_port, row.remote.as_deref(), row.remote_port);
            assert_eq!(ends, (Some("10.0.0.1"), Some(5000), Some("10.0.0.2"), Some(80)), "{endian:?}");
        }
        let of_io: Vec<_> = io.iter().map(|row| (row.connection.0, row.kind, row.size)).collect();
        assert_eq!(of_io, [(0, kinds::SEND_POSTED, 500), (0, kinds::RECEIVED, 60), (1, kinds::RECEIVED, 5)]);
    }
}

#[test]
fn a_packet_that_is_dropped_is_an_event_of_its_connection() {
    for endian in ENDIANS {
        let free = |socket: u64, reason: u32| {
            move |out: &mut Bytes| {
                out.u64(0x50).u64(0xffff_ffff_8100_0000).u64(socket).u16(0x800).u16(0).u32(reason);
            }
        };
        let mut recording = Recording::new(endian, vec![STATE, FREE, OLD_FREE]);
        recording.sample(0, 7, 1000, 0, |out| state(out, 0xa0, [CLOSE, SYN_SENT], 0, 2, 6));
        recording.sample(0, 9, 3000, 0, |out| state(out, 0xa0, [SYN_SENT, ESTABLISHED], 5000, 2, 6));
        recording.sample(0, 7, 3100, 0, |out| state(out, 0xb0, [CLOSE, LISTEN], 5000, 2, 6));
        // Used, for nobody, for a listener, and two that are lost.
        recording.sample(1, 9, 4000, 0, free(0xa0, 1));
        recording.sample(1, 9, 4100, 0, free(0, 3));
        recording.sample(1, 9, 4200, 0, free(0xb0, 40));
        recording.sample(1, 9, 4300, 0, free(0xa0, 29));
        recording.sample(1, 7, 4400, 0, free(0xa0, 35));
        recording.sample(2, 9, 4500, 0, |out| {
            out.u64(0x50).u64(0xffff_ffff_8100_0000).u16(0x800).u16(0).u32(29);
        });
        recording.sample(0, 7, 6000, 0, |out| state(out, 0xa0, [ESTABLISHED, CLOSE], 5000, 2, 6));
        recording.sample(1, 9, 6100, 0, free(0xa0, 29));
        let extracted = recording.extracted();
        let (connections, io) = tables(&extracted);
        assert_eq!(connections.len(), 1, "{connections:?}");
        let zero = extracted.info.clock_zero;
        let found: Vec<_> = io.iter().map(|row| (row.time + zero, row.connection.0, row.kind, row.size)).collect();
        assert_eq!(found, [(4300, 0, kinds::DROPPED, 0), (4400, 0, kinds::DROPPED, 0)], "{endian:?}");
        // Another thread than one of the connection's process was interrupted.
        let tids: Vec<_> =
            io.iter().map(|row| row.thread.map(|thread| extracted.threads[thread.index()].tid)).collect();
        assert_eq!(tids, [None, Some(7)]);
        assert_eq!(extracted.health.get("incomplete_network_events"), 0, "{:?}", extracted.health);
    }
}

#[test]
fn an_old_kernel_tells_segments_by_their_ends() {
    for endian in ENDIANS {
        let segment = |port: u16, bytes: u16, srtt: u32| {
            move |out: &mut Bytes| {
                for (address, port) in [([10, 0, 0, 1], port), ([10, 0, 0, 2], 80)] {
                    out.u16(2).raw(&port.to_be_bytes()).raw(&address).raw(&[0; 20]);
                }
                out.u16(bytes).u16(0).u32(7000).u32(srtt);
            }
        };
        let mut recording = Recording::new(endian, vec![STATE, PROBE, RETRANSMIT]);
        recording.sample(0, 7, 1000, 0, |out| state(out, 0xa0, [CLOSE, SYN_SENT], 0, 2, 6));
        recording.sample(2, 9, 2000, 0, |out| {
            out.u64(0xa0).u32(0);
        });
        // It could not be sent.
        recording.sample(2, 9, 2100, 0, |out| {
            out.u64(0xa0).u32((-1_i32).cast_unsigned());
        });
        recording.sample(0, 9, 3000, 0, |out| state(out, 0xa0, [SYN_SENT, ESTABLISHED], 5000, 2, 6));
        recording.sample(1, 9, 4000, 0, segment(5000, 0, 0));
        recording.sample(1, 9, 5000, 0, segment(5000, 1448, 200));
        recording.sample(1, 9, 6000, 0, segment(5000, 52, 300));
        recording.sample(1, 9, 6100, 0, segment(5001, 999, 300));
        recording.sample(0, 9, 7000, 0, |out| state(out, 0xa0, [ESTABLISHED, CLOSE], 5000, 2, 6));
        recording.sample(1, 9, 7100, 0, segment(5000, 999, 300));
        let (connections, io) = tables(&recording.extracted());
        let [row] = &connections[..] else { panic!("{connections:?}") };
        assert_eq!((row.received, row.receive_events, row.sent, row.retransmits), (Some(1500), Some(2), None, Some(1)));
        assert_eq!((row.rtt_min, row.rtt_avg, row.rtt_max), (Some(200_000), Some(250_000), Some(300_000)));
        let windows: Vec<_> = io.iter().map(|row| (row.kind, row.window)).collect();
        let segment = |kind| (kind, Some(7000));
        let again = (kinds::RETRANSMITTED, None);
        assert_eq!(
            windows,
            [again, segment(kinds::SEGMENT_RECEIVED), segment(kinds::RECEIVED), segment(kinds::RECEIVED)],
            "{endian:?}"
        );
    }
}

#[test]
fn a_reset_aborts_its_connection_and_no_other_socket() {
    let mut recording = Recording::new(Endianness::LittleEndian, vec![STATE, RESET, DESTROY]);
    let reset = |socket: u64, state: u32| {
        move |out: &mut Bytes| {
            out.u64(socket).u32(state);
        }
    };
    // It was there before the recording.
    recording.sample(0, 7, 1000, 0, |out| state(out, 0xa0, [ESTABLISHED, CLOSE], 5000, 2, 6));
    recording.sample(1, 7, 1100, 0, reset(0xa0, CLOSE));
    // A request whose answer is wrong goes on.
    recording.sample(0, 7, 2000, 0, |out| state(out, 0xa1, [CLOSE, SYN_SENT], 5002, 2, 6));
    recording.sample(1, 7, 2100, 0, reset(0xa1, SYN_SENT));
    recording.sample(0, 7, 2200, 0, |out| state(out, 0xa1, [SYN_SENT, CLOSE], 5002, 2, 6));
    // No connections.
    recording.sample(1, 7, 3000, 0, reset(0, 0)).sample(1, 7, 3000, 0, reset(0xa1, LISTEN));
    recording.sample(1, 7, 3000, 0, reset(0xa1, TIME_WAIT)).sample(1, 7, 3000, 0, reset(0xa2, ESTABLISHED));
    recording.sample(2, 7, 3000, 0, |out| {
        out.u64(0xa3);
    });
    recording.sample(0, 7, 3000, 0, |out| state(out, 0xa4, [CLOSE, SYN_SENT], 5003, 2, 132));
    // Too short.
    recording.sample(0, 7, 4000, 0, |out| {
        out.u64(0xa5).u32(CLOSE);
    });
    let extracted = recording.extracted();
    let (connections, io) = tables(&extracted);
    let [before, asked] = &connections[..] else { panic!("{connections:?}") };
    let zero = extracted.info.clock_zero;
    assert_eq!((before.start, before.end_kind), (None, Some(connection_ends::ABORTED)));
    assert_eq!(before.local_port, Some(5000));
    assert_eq!((asked.end_kind, asked.end.map(|end| end + zero)), (Some(connection_ends::CLOSED), Some(2200)));
    assert_eq!(io.iter().map(|row| row.kind).collect::<Vec<_>>(), [kinds::RESET_SENT; 2]);
    assert_eq!(extracted.health.get("incomplete_network_events"), 1);
}
