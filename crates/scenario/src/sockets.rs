//! Calls of sockets, as the driver behind Winsock logs them. No recording with such events is public, so the events are made from their
//! layouts.

use tracesift_etl::class::WINSOCK_AFD;
use tracesift_etl::write::PointerSize;
use tracesift_etl::write::payload::Bytes;

use crate::providers::Logged;

const MS: i64 = 1_000_000;
const CLIENT: u32 = 7;
const SERVER: u32 = 9;

/// Processes of the [`story`].
pub const PROCESSES: [(u32, &str); 2] = [(CLIENT, "client.exe"), (SERVER, "server.exe")];

/// One call.
#[derive(Clone, Debug)]
pub struct Call {
    /// Process and thread that call.
    pub caller: (u32, u32),
    /// Process and thread that log the end.
    pub ender: (u32, u32),
    /// Start, nanoseconds since the start of the recording.
    pub start: i64,
    /// Duration in nanoseconds; `None`: it does not end in the recording.
    pub duration: Option<i64>,
    /// Event ids of begin and end.
    pub ids: [u16; 2],
    /// The kernel's address of the socket.
    pub endpoint: u64,
    /// The kernel's address of the socket that an acceptance makes; 0: none.
    pub accepted: u64,
    /// Bytes of the buffer.
    pub size: i64,
    /// Bytes that were transferred.
    pub transferred: Option<i64>,
    /// Status; `None`: it does not end in the recording.
    pub status: Option<u32>,
    /// Address and port of the other side.
    pub address: ([u8; 4], u16),
}

/// Layout of an event, as far as it differs.
fn has_buffer(id: u16) -> bool {
    (1003..=1015).contains(&id)
}

fn has_place(id: u16) -> bool {
    matches!(id, 1018 | 1021 | 1024 | 1027)
}

fn has_address(id: u16) -> bool {
    matches!(id, 1007 | 1009 | 1013 | 1015 | 1018 | 1021 | 1024 | 1027 | 1030)
}

impl Call {
    /// A call with times in milliseconds, that succeeds.
    #[must_use]
    pub fn new(caller: (u32, u32), start: i64, duration: i64, ids: [u16; 2], endpoint: u64) -> Self {
        Self {
            caller,
            ender: caller,
            start: start * MS,
            duration: Some(duration * MS),
            ids,
            endpoint,
            accepted: 0,
            size: 0,
            transferred: None,
            status: Some(0),
            address: ([10, 0, 0, 2], 443),
        }
    }

    /// The same call with these bytes of its buffer and of the transfer.
    #[must_use]
    pub fn with_data(self, size: i64, transferred: i64) -> Self {
        Self { size, transferred: Some(transferred), ..self }
    }

    /// The same call with this status.
    #[must_use]
    pub fn failing(self, status: u32) -> Self {
        Self { status: Some(status), ..self }
    }

    /// The word of the operation.
    #[must_use]
    pub fn operation(&self) -> &'static str {
        match self.ids[0] {
            1000 => "create",
            1002 => "close",
            1003 | 1007 => "send",
            1004 | 1006 => "receive",
            1018 | 1021 => "connect",
            1024 | 1036 => "accept",
            1030 => "bind",
            1037 => "listen",
            1035 => "option",
            _ => "shut down",
        }
    }

    /// The address, where an event of the call tells it.
    #[must_use]
    pub fn told_address(&self) -> Option<String> {
        let ([a, b, c, d], port) = self.address;
        self.ids.iter().any(|id| has_address(*id)).then(|| format!("{a}.{b}.{c}.{d}:{port}"))
    }

    /// The end; that of the recording for a call that does not end.
    #[must_use]
    pub fn end(&self, end: i64) -> i64 {
        self.duration.map_or(end, |duration| self.start + duration)
    }

    /// The events of the call.
    pub fn log(&self, pointer_size: PointerSize, out: &mut Vec<Logged>) {
        let event = |time: i64, (pid, tid): (u32, u32), is_end: bool| {
            let id = self.ids[usize::from(is_end)];
            let mut payload = Bytes::new(pointer_size);
            payload.u32(is_end.into());
            payload.u32(4000);
            payload.pointer(0xffff_8000);
            let is_new = id == 1000 && !is_end;
            payload.pointer(if is_new { 0 } else { self.endpoint });
            let status = if is_end { self.status.unwrap_or(0) } else { 0 };
            let length = if is_end { self.transferred.unwrap_or(0) } else { self.size } as u32;
            if has_buffer(id) {
                payload.u32(1);
            }
            if has_buffer(id) || has_place(id) {
                payload.pointer(0x1000);
                payload.u32(length);
            }
            match id {
                1000 => {
                    [2, 1, 6].into_iter().for_each(|value| payload.u32(value));
                    payload.pointer(pid.into());
                }
                1035 => [7, 1].into_iter().for_each(|value| payload.u32(value)),
                1037 => payload.u32(128),
                _ => {}
            }
            payload.u32(status);
            if has_address(id) {
                let (address, port) = self.address;
                payload.u32(16);
                payload.u16(2);
                payload.u16(port.swap_bytes());
                address.into_iter().for_each(|part| payload.u8(part));
                payload.zeros(8);
            }
            if id == 1024 {
                payload.pointer(self.accepted);
                payload.u32(0);
            }
            let cpu = (tid % 2) as u16;
            Logged { time, cpu, provider: WINSOCK_AFD, id, version: 0, pid, tid, payload: payload.into_vec() }
        };
        out.push(event(self.start, self.caller, false));
        if let Some(duration) = self.duration {
            out.push(event(self.start + duration, self.ender, true));
        }
    }
}

/// A client that asks a server, is refused and reset, and a server that waits.
#[must_use]
pub fn story() -> Vec<Call> {
    let (client, other, server) = ((CLIENT, 20), (CLIENT, 22), (SERVER, 30));
    let (near, far, third) = (0xffff_a000_u64, 0xffff_b000, 0xffff_c000);
    let mut calls = vec![
        Call::new(server, 5, 1, [1000, 1000], far),
        Call::new(server, 7, 1, [1030, 1030], far),
        Call::new(server, 9, 1, [1037, 1037], far),
        Call::new(client, 10, 2, [1000, 1000], near),
        // Two threads create sockets at once.
        Call::new(other, 11, 4, [1000, 1000], third),
        Call::new(client, 13, 1, [1035, 1035], near),
        Call::new(client, 20, 30, [1018, 1017], near),
        Call::new(server, 15, 34, [1036, 1036], far),
        Call::new(server, 50, 1, [1024, 1024], far),
        Call::new(other, 60, 200, [1021, 1020], third).failing(0xc000_0236),
        Call::new(client, 400, 5, [1003, 1003], near).with_data(5000, 5000),
        // The answer comes later: another thread logs the end.
        Call { ender: (4, 90), ..Call::new(client, 410, 90, [1004, 1004], near).with_data(65536, 1460) },
        // Another thread receives from the same socket meanwhile, and has its own.
        Call::new(other, 420, 20, [1004, 1004], near).with_data(100, 100),
        Call::new(client, 600, 1, [1007, 1007], third).with_data(40, 40),
        Call::new(client, 610, 1, [1006, 1006], third).with_data(512, 0).failing(0x103),
        Call::new(client, 700, 3, [1004, 1004], near).with_data(4096, 4096).failing(0xc000_020d),
        Call::new(client, 800, 1, [3006, 3006], near),
        Call::new(client, 810, 1, [1002, 1002], near),
    ];
    // It waits for a connection that never comes.
    calls.push(Call { duration: None, status: None, ..Call::new(server, 900, 0, [1036, 1036], far) });
    calls
}
