//! Connections as Microsoft-Windows-TCPIP logs them, with losses that are known. No recording with such events is public, so the events
//! are made from their layouts.

use tracesift_etl::payload::TCPIP;
use tracesift_etl::write::PointerSize;
use tracesift_etl::write::payload::Bytes;

use crate::providers::Logged;
use crate::rng::SplitMix64;

const MS: i64 = 1_000_000;

/// One end: address and port.
pub type End = ([u8; 4], u16);

/// How a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// The process closes it.
    Closed,
    /// The other side resets it.
    Reset,
    /// Sent data is never acknowledged.
    TimedOut,
    /// It stays.
    Open,
}

/// One connection.
#[derive(Clone, Debug)]
pub struct Conversation {
    /// Process and thread.
    pub caller: (u32, u32),
    /// The kernel's address of it.
    pub tcb: u64,
    /// The own end.
    pub local: End,
    /// The other end.
    pub remote: End,
    /// Time of the request, nanoseconds since the start of the recording; `None`: it was there before.
    pub start: Option<i64>,
    /// Time of its first data.
    pub first_data: i64,
    /// Number of segments in each direction.
    pub segments: usize,
    /// First sequence number.
    pub sequence: u32,
    /// Seed of losses, sizes and pauses.
    pub seed: u64,
    /// How it ends.
    pub finish: Finish,
}

/// The figures of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Bytes that were sent, again ones among them.
    pub sent: i64,
    /// Bytes that were received, again ones among them.
    pub received: i64,
    /// Times and sizes of sent data.
    pub sends: Vec<(i64, i64)>,
    /// Times and sizes of received data.
    pub receives: Vec<(i64, i64)>,
    /// Time and delay of each retransmission.
    pub retransmits: Vec<(i64, i64)>,
    /// Time and delay of data that was received again.
    pub received_again: Vec<(i64, i64)>,
    /// Time at which it was established.
    pub connected: Option<i64>,
    /// Time of its end.
    pub end: Option<i64>,
}

impl Conversation {
    /// Logs the events of the connection, and gives its figures.
    pub fn log(&self, pointer_size: PointerSize, out: &mut Vec<Logged>) -> Figures {
        let mut log = Log { of: self, pointer_size, out };
        let mut random = SplitMix64::new(self.seed);
        let mut figures = Figures::default();
        if let Some(start) = self.start {
            log.requested(start);
            log.status(1031, start + MS / 100, 0);
            log.status(1033, start + 20 * MS, 0);
            log.template(start + 21 * MS);
            figures.connected = Some(start + 20 * MS);
        }
        let mut time = self.first_data;
        let (mut next, mut received) = (self.sequence, self.sequence ^ 0x5555_5555);
        for _ in 0..self.segments {
            // Now and then a pause in which a burst ends.
            time += if random.below(8) == 0 { 500 * MS } else { 2 * MS };
            let size = 1000 + random.below(400) as u32;
            log.sent(time, next, size);
            figures.sends.push((time, size.into()));
            let mut last = time;
            while random.below(6) == 0 {
                let again = last + 300 * MS + random.below(1000) as i64 * 1000;
                // Most losses have an event of their own in front of the data.
                if random.below(3) > 0 {
                    log.round(again - MS / 10, next);
                    figures.retransmits.push((again - MS / 10, again - MS / 10 - last));
                } else {
                    figures.retransmits.push((again, again - last));
                }
                log.sent(again, next, size);
                figures.sends.push((again, size.into()));
                last = again;
            }
            time = last;
            next = next.wrapping_add(size);
            time += MS;
            let size = 600 + random.below(900) as u32;
            log.received(time, received, size);
            figures.receives.push((time, size.into()));
            if random.below(7) == 0 {
                log.received(time + 40 * MS, received, size);
                figures.receives.push((time + 40 * MS, size.into()));
                figures.received_again.push((time + 40 * MS, 40 * MS));
                time += 40 * MS;
            }
            received = received.wrapping_add(size);
        }
        let sum = |packets: &[(i64, i64)]| packets.iter().map(|(_, size)| size).sum();
        (figures.sent, figures.received) = (sum(&figures.sends), sum(&figures.receives));
        let end = time + 5 * MS;
        match self.finish {
            Finish::Closed => log.status(1038, end, 0),
            Finish::Reset => log.with_ends(1184, end),
            Finish::TimedOut => log.status(1046, end, 0xc000_00b5),
            Finish::Open => {}
        }
        if self.finish != Finish::Open {
            figures.end = Some(end);
            log.summary(end + MS, &figures);
        }
        figures
    }
}

/// Writes the events of a connection.
struct Log<'a> {
    of: &'a Conversation,
    pointer_size: PointerSize,
    out: &'a mut Vec<Logged>,
}

impl Log<'_> {
    fn event(&mut self, time: i64, id: u16, fill: impl FnOnce(&mut Bytes)) {
        let mut payload = Bytes::new(self.pointer_size);
        fill(&mut payload);
        let (pid, tid) = self.of.caller;
        let (cpu, version) = ((tid % 2) as u16, 0);
        self.out.push(Logged { time, cpu, provider: TCPIP, id, version, pid, tid, payload: payload.into_vec() });
    }

    fn ends(&self, payload: &mut Bytes) {
        for (address, port) in [self.of.local, self.of.remote] {
            payload.u32(16);
            payload.u16(2);
            payload.u16(port.swap_bytes());
            address.into_iter().for_each(|byte| payload.u8(byte));
            payload.zeros(8);
        }
    }

    fn requested(&mut self, time: i64) {
        self.with_ends(1002, time);
    }

    /// Connection, ends, state and number of retransmissions.
    fn with_ends(&mut self, id: u16, time: i64) {
        let (tcb, mut ends) = (self.of.tcb, Bytes::new(self.pointer_size));
        self.ends(&mut ends);
        self.event(time, id, |payload| {
            payload.pointer(tcb);
            ends.as_slice().iter().for_each(|byte| payload.u8(*byte));
            [2, 0].into_iter().for_each(|value| payload.u32(value));
        });
    }

    /// Ends, status, process, compartment, connection.
    fn status(&mut self, id: u16, time: i64, status: u32) {
        let (tcb, pid, mut ends) = (self.of.tcb, self.of.caller.0, Bytes::new(self.pointer_size));
        self.ends(&mut ends);
        self.event(time, id, |payload| {
            ends.as_slice().iter().for_each(|byte| payload.u8(*byte));
            [status, pid, 1].into_iter().for_each(|value| payload.u32(value));
            payload.pointer(tcb);
            payload.u64(9);
        });
    }

    fn template(&mut self, time: i64) {
        let tcb = self.of.tcb;
        self.event(time, 1223, |payload| {
            payload.pointer(tcb);
            [1, 20, 0, 10, 5, 5, 2, 2, 1, 1].into_iter().for_each(|value| payload.u32(value));
        });
    }

    fn sent(&mut self, time: i64, sequence: u32, size: u32) {
        let (tcb, mut ends) = (self.of.tcb, Bytes::new(self.pointer_size));
        self.ends(&mut ends);
        self.event(time, 1332, |payload| {
            payload.pointer(tcb);
            let first =
                [10_000, 65_000, size, sequence, 20, 5, 300, 65_000, 0, 4, 0, sequence, sequence, sequence, 0, 0];
            first.into_iter().for_each(|value| payload.u32(value));
            ends.as_slice().iter().for_each(|byte| payload.u8(*byte));
        });
    }

    fn received(&mut self, time: i64, sequence: u32, size: u32) {
        let tcb = self.of.tcb;
        self.event(time, 1074, |payload| {
            payload.pointer(tcb);
            [size, sequence, 1].into_iter().for_each(|value| payload.u32(value));
        });
    }

    fn round(&mut self, time: i64, sequence: u32) {
        let tcb = self.of.tcb;
        self.event(time, 1351, |payload| {
            payload.pointer(tcb);
            [sequence, 1, 20, 300, sequence, sequence, 4, 0, 0, 0, 0].into_iter().for_each(|value| payload.u32(value));
        });
    }

    fn summary(&mut self, time: i64, figures: &Figures) {
        let tcb = self.of.tcb;
        let counts = [figures.sent + 1, figures.received + 2, 30, 40, 50, 60];
        self.event(time, 1477, |payload| {
            payload.pointer(tcb);
            counts.into_iter().for_each(|count| payload.u64(count.cast_unsigned()));
            // The fourth number is the bytes that were sent again.
            [0, 0, 0, 777, 0, 0, 0, 0, 0, 0, 0, 0].into_iter().for_each(|value| payload.u32(value));
            for _ in 0..2 {
                payload.u64(0);
                payload.u32(0);
                payload.u32(0);
            }
            payload.u64(0);
            payload.u64(1000);
            // Time stamps, then the round-trip time: usual, shortest, longest.
            [1, 21_000, 19_000, 300_000, 0, 5, 0].into_iter().for_each(|value| payload.u32(value));
        });
    }
}
