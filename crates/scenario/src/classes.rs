//! A recording of any length with all classes of data that scenarios know, beside samples: files, filter drivers, handles, memory, names,
//! sockets, connections, energy, clock rates, switches and power settings.

use tracesift_etl::write::{PointerSize, SessionOptions, WriteError};

use crate::energy::Machine;
use crate::providers::{KernelRecord, Logged, write_with_kernel};
use crate::tcp::{Conversation, Finish};
use crate::{allocations, dns, files, filters, handles, power, sockets};

/// Length of a round.
const ROUND: i64 = 60_000_000_000;
/// Process and thread of the events of providers.
const CALLER: (u32, u32) = (7, 12);
/// Connections in a round.
const CONNECTIONS: u64 = 20;

/// A recording and the number of its events.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The `.etl`.
    pub bytes: Vec<u8>,
    /// Number of events.
    pub events: usize,
}

/// Writes a recording of so many minutes. The same happens in each, with other times, sizes and losses.
///
/// # Errors
/// A payload does not fit into a buffer.
pub fn write(minutes: u32, pointer_size: PointerSize) -> Result<Recorded, WriteError> {
    let (mut kernel, mut events) = (Vec::new(), Vec::new());
    for round in 0..minutes {
        let (of_kernel, of_providers) = minute(round.into(), pointer_size);
        kernel.extend(of_kernel);
        events.extend(of_providers);
    }
    let count = kernel.len() + events.len();
    let mut processes: Vec<(u32, &str)> = files::PROCESSES.iter().map(|(pid, name, _)| (*pid, *name)).collect();
    processes.extend(handles::PROCESSES.iter().chain(&allocations::PROCESSES));
    processes.sort_by_key(|(pid, _)| *pid);
    processes.dedup_by_key(|(pid, _)| *pid);
    let options = SessionOptions { pointer_size, ..SessionOptions::default() };
    let bytes = write_with_kernel(options, i64::from(minutes) * ROUND / 1_000_000_000, &processes, events, kernel)?;
    Ok(Recorded { bytes, events: count })
}

fn minute(round: u64, size: PointerSize) -> (Vec<KernelRecord>, Vec<Logged>) {
    let shift = round.cast_signed() * ROUND;
    let seed = round + 1;
    let (mut kernel, mut events) = files::records(&files::operations(seed), files::Source::Class(3), size, true);
    let (of_handles, of_session) = handles::story().records(size);
    kernel.extend(of_handles);
    events.extend(of_session);
    let machine = Machine::of_two_cpus();
    if round == 0 {
        kernel.extend(machine.windows_threads(size));
    }
    kernel.extend(machine.windows_switches(size));
    // The counters go on from round to round.
    events.extend(machine.windows_readings(round << 32, size));
    events.extend(machine.windows_rates(size));
    dns::slow_browser(CALLER).iter().for_each(|lookup| lookup.log(size, &mut events));
    sockets::story().iter().for_each(|call| call.log(size, &mut events));
    for number in 0..CONNECTIONS {
        let conversation = conversation(round * CONNECTIONS + number, number);
        conversation.log(size, &mut events);
    }
    events.extend(power::windows_10(ROUND - 1_000_000, &[], size));
    kernel.iter_mut().for_each(|record| record.time += shift);
    events.iter_mut().for_each(|event| event.time += shift);
    // These have times in their payloads.
    kernel.extend(allocations::story().records(size, shift));
    let (mut operations, mut calls) = filters::calls(seed);
    for operation in &mut operations {
        (operation.start, operation.end) = (operation.start + shift, operation.end + shift);
    }
    for call in &mut calls {
        (call.start, call.end) = (call.start + shift, call.end + shift);
    }
    kernel.extend(filters::records(&operations, &calls, size, true));
    (kernel, events)
}

fn conversation(seed: u64, number: u64) -> Conversation {
    let start = number.cast_signed() * 1_000_000_000;
    Conversation {
        caller: CALLER,
        tcb: 0xffff_c000_0000_0000 + (number << 12),
        local: ([10, 0, 0, 7], 40_000 + number as u16),
        remote: ([10, 0, 0, number as u8], 443),
        start: Some(start),
        first_data: start + 100_000_000,
        segments: 100,
        sequence: seed as u32,
        seed,
        finish: Finish::Closed,
    }
}
