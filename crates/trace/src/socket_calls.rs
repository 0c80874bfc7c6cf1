//! Calls of sockets, from begin to end.
//!
//! Neither event carries an identity of the call. An end belongs to the newest open call of its thread with the same socket and operation;
//! where that thread has none, the call is asynchronous, and the end belongs to the oldest open call of the socket and operation.

use crate::ids::ThreadId;
use crate::overlapping::Overlapping;
use crate::rows::{SocketCallRow, socket_operations};

/// Open calls that are followed at most. Beyond that the oldest ones end without a status.
const MAX_OPEN: usize = 1 << 18;
/// Open calls of one socket and operation, at most: the oldest of them makes room.
const MAX_OF_ONE: usize = 1024;

/// The end of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallEnd {
    /// Nanoseconds since time zero.
    pub time: i64,
    /// Thread that logged it.
    pub thread: Option<ThreadId>,
    /// The operation.
    pub operation: i8,
    /// The socket.
    pub endpoint: i64,
    /// Status.
    pub status: Option<i64>,
    /// Bytes that were sent or received.
    pub transferred: Option<i64>,
    /// Address of the other side.
    pub address: Option<String>,
}

/// Follows calls. Fed in the order of time.
#[derive(Debug)]
pub struct SocketCalls {
    /// Open calls, by socket and operation.
    open: Overlapping<(i64, i8), SocketCallRow>,
}

impl Default for SocketCalls {
    fn default() -> Self {
        Self { open: Overlapping::new(MAX_OPEN, MAX_OF_ONE) }
    }
}

/// A socket that is created has no address before the end of the call.
fn key(endpoint: i64, operation: i8) -> (i64, i8) {
    if operation == socket_operations::CREATE { (0, operation) } else { (endpoint, operation) }
}

impl SocketCalls {
    /// A call begins: its row without what the end tells. Gives the row of a call that had to make room.
    #[must_use]
    pub fn begun(&mut self, call: SocketCallRow) -> Option<SocketCallRow> {
        let now = call.start;
        let row = self.open.begin(key(call.endpoint.unwrap_or(0), call.operation), call);
        row.map(|row| SocketCallRow { time: now.max(row.start), ..row })
    }

    /// A call ends. Gives its row; `None` where it began before the recording.
    pub fn ended(&mut self, end: CallEnd) -> Option<SocketCallRow> {
        let key = key(end.endpoint, end.operation);
        let is_its_thread = |(_, call): &(u64, &SocketCallRow)| end.thread.is_some() && call.thread == end.thread;
        let of_thread = self.open.of(&key).rev().find(is_its_thread);
        // A socket is created while its thread waits.
        let oldest = || self.open.of(&key).next().filter(|_| end.operation != socket_operations::CREATE);
        let (number, _) = of_thread.or_else(oldest)?;
        let row = self.open.take(number)?;
        Some(SocketCallRow {
            time: end.time,
            endpoint: Some(end.endpoint),
            status: end.status,
            transferred: end.transferred,
            address: end.address.or(row.address),
            ..row
        })
    }

    /// The rows of the calls that are open at the end of the recording, in the order of their begin.
    pub fn finish(&mut self, end: i64) -> Vec<SocketCallRow> {
        self.open.drain().map(|row| SocketCallRow { time: end.max(row.start), ..row }).collect()
    }

    /// Calls that ended without a status because more were open than are followed.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.open.dropped()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{CallEnd, MAX_OF_ONE, MAX_OPEN, SocketCalls};
    use crate::ids::ThreadId;
    use crate::rows::{SocketCallRow, socket_operations as operations};

    #[derive(Clone, Copy, Debug)]
    struct Step {
        begins: bool,
        thread: Option<i32>,
        operation: i8,
        endpoint: i64,
    }

    fn step() -> impl Strategy<Value = Step> {
        let operation = prop_oneof![Just(operations::CREATE), Just(operations::SEND), Just(operations::RECEIVE)];
        (any::<bool>(), prop::option::weighted(0.8, 0..3_i32), operation, 1..3_i64)
            .prop_map(|(begins, thread, operation, endpoint)| Step { begins, thread, operation, endpoint })
    }

    proptest! {
        #[test]
        fn calls_are_paired_as_a_plain_list_pairs_them(steps in prop::collection::vec(step(), 0..80)) {
            let mut calls = SocketCalls::default();
            let mut open: Vec<(i64, Step)> = Vec::new();
            for (time, step) in steps.iter().enumerate() {
                let time = time as i64;
                let thread = step.thread.map(ThreadId);
                if step.begins {
                    let endpoint = Some(step.endpoint).filter(|_| step.operation != operations::CREATE);
                    let call = SocketCallRow { start: time, thread, operation: step.operation, endpoint, ..SocketCallRow::default() };
                    prop_assert!(calls.begun(call).is_none());
                    open.push((time, *step));
                    continue;
                }
                let is_same = |(_, other): &&(i64, Step)| {
                    other.operation == step.operation
                        && (other.endpoint == step.endpoint || step.operation == operations::CREATE)
                };
                let of_thread = open.iter().rfind(|call| is_same(call) && step.thread.is_some() && call.1.thread == step.thread);
                let oldest = open.iter().find(|call| is_same(call) && step.operation != operations::CREATE);
                let expected = of_thread.or(oldest).copied();
                let end = CallEnd {
                    time,
                    thread,
                    operation: step.operation,
                    endpoint: step.endpoint,
                    status: Some(7),
                    ..CallEnd::default()
                };
                let row = calls.ended(end);
                prop_assert_eq!(row.as_ref().map(|row| row.start), expected.map(|(start, _)| start));
                if let (Some(row), Some(expected)) = (row, expected) {
                    prop_assert_eq!((row.time, row.endpoint, row.status), (time, Some(step.endpoint), Some(7)));
                    prop_assert_eq!(row.thread, expected.1.thread.map(ThreadId));
                    open.retain(|(start, _)| *start != expected.0);
                }
            }
            let rest: Vec<_> = calls.finish(1000).iter().map(|row| (row.start, row.time, row.status)).collect();
            prop_assert_eq!(rest, open.iter().map(|(start, _)| (*start, 1000, None)).collect::<Vec<_>>());
            prop_assert_eq!(calls.dropped(), 0);
        }
    }

    #[test]
    fn a_flood_of_calls_keeps_its_memory() {
        let mut calls = SocketCalls::default();
        let (mut rows, many) = (0, MAX_OPEN as i64 + 10_000);
        for number in 0..many {
            let endpoint = Some(if number % 2 == 0 { 0 } else { number });
            let call =
                SocketCallRow { start: number, endpoint, operation: operations::SEND, ..SocketCallRow::default() };
            rows += i64::from(calls.begun(call).is_some());
        }
        assert!(calls.open.of(&(0, operations::SEND)).count() <= MAX_OF_ONE);
        assert!(many - rows <= MAX_OPEN as i64);
        assert_eq!(calls.dropped().cast_signed(), rows);
        assert_eq!(rows + calls.finish(many).len() as i64, many, "each call has a row");
    }
}
