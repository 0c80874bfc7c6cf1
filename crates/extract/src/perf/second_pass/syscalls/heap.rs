//! Blocks of the heap of the C library, from the probes of `tracesift record --heap`.
//!
//! A function of the heap can call another one: `realloc` without a block calls `malloc`. The outermost call tells. Its stack pointer
//! is the largest, so calls whose return was lost are told from calls that go on.

use tracesift_trace::allocations::{Allocations, Area, Maker, Place};
use tracesift_trace::dns::Caller;
use tracesift_trace::open_lives::OpenLives;
use tracesift_trace::rows::allocation_kinds as kinds;
use tracesift_trace::{HealthKind, RowSink, StackId, ThreadId};

use super::memory_call::Mappings;
use crate::perf::second_pass::call_chain::{stack_of, stack_with_caller};
use crate::perf::second_pass::rows::Rows;
use crate::perf::second_pass::sample_context::SampleContext;
use crate::perf::tracepoint::{HeapEvent, HeapFields, HeapFunction};

/// Threads inside of a call, at most. Of more those that called first are forgotten.
const MOST_THREADS: usize = 1 << 16;
/// The C library has one heap for programs.
const HEAP: Area = Area::Heap(0);

/// The calls that threads are in, the outermost one of each.
pub(super) struct HeapCalls(OpenLives<ThreadId, Call>);

impl Default for HeapCalls {
    fn default() -> Self {
        Self(OpenLives::new(MOST_THREADS))
    }
}

#[derive(Clone, Copy, Debug)]
struct Call {
    function: HeapFunction,
    arguments: [u64; 2],
    stack_pointer: u64,
    stack: Option<StackId>,
}

impl HeapCalls {
    /// The call is the outermost one of its thread. A call of the same thread from before whose stack is gone has lost its return.
    fn begins(&mut self, thread: ThreadId, stack_pointer: u64) -> bool {
        let is_inside = self.0.get(&thread).is_some_and(|outer| outer.stack_pointer > stack_pointer);
        if !is_inside {
            self.0.remove(&thread);
        }
        !is_inside
    }

    /// The outermost call of a thread, if it is of the function that returns.
    fn returned(&mut self, thread: ThreadId, function: HeapFunction) -> Option<Call> {
        self.0.get(&thread).filter(|call| call.function == function)?;
        self.0.remove(&thread)
    }
}

/// A call or a return.
pub(super) fn event<Sink: RowSink>(
    (calls, mappings): (&mut HeapCalls, &mut Mappings),
    fields: &HeapFields,
    at: &SampleContext<'_>,
    rows: &mut Rows<'_, Sink>,
) {
    let Some(event) = at.sample.raw.and_then(|raw| fields.event(raw)) else {
        return rows.health.count(HealthKind::INCOMPLETE_HEAP_EVENTS, Some(at.ticks), || {
            format!("{:?} without its fields", fields.function)
        });
    };
    let time = rows.clock.ns(at.ticks);
    let by = |stack| Caller { time, process: Some(at.process), thread: Some(at.thread), stack };
    match event {
        HeapEvent::Call(arguments, stack_pointer, caller) => {
            if !calls.begins(at.thread, stack_pointer) {
                return;
            }
            let function = fields.function;
            let stack = match caller {
                Some(caller) => stack_with_caller(at, caller, rows),
                None => stack_of(at, rows),
            };
            // Of `realloc` the block is gone before the return: another thread may have its address then.
            if matches!(function, HeapFunction::Free | HeapFunction::Realloc) && arguments[0] != 0 {
                free(mappings.allocations(time, rows), arguments[0], &by(stack), at, rows);
            }
            if function != HeapFunction::Free {
                let call = Call { function, arguments, stack_pointer, stack };
                calls.0.insert(at.thread, None, call);
            }
        }
        HeapEvent::Return(block) => {
            if let Some(call) = calls.returned(at.thread, fields.function).filter(|_| block != 0) {
                let [first, second] = call.arguments;
                let size = match call.function {
                    HeapFunction::Malloc => first,
                    HeapFunction::Calloc => first.saturating_mul(second),
                    HeapFunction::Realloc | HeapFunction::Free => second,
                };
                let maker =
                    Maker { by: by(call.stack), process: at.process, kind: kinds::HEAP, tag: None, there: false };
                // No block is without bytes: each has an address of its own.
                let range = block..block.saturating_add(size.max(1));
                let place = Place { process: Some(at.process), area: HEAP };
                let allocations = mappings.allocations(time, rows);
                allocations.replace(place, range, &maker, &mut |row| rows.sink.allocation(row));
            }
        }
    }
}

/// A block is given back.
fn free<Sink: RowSink>(
    allocations: &mut Allocations,
    block: u64,
    by: &Caller,
    at: &SampleContext<'_>,
    rows: &mut Rows<'_, Sink>,
) {
    let place = Place { process: Some(at.process), area: HEAP };
    match allocations.at(place, block).filter(|range| range.start == block) {
        Some(range) => {
            allocations.cut(place, range, by, &mut |row| rows.sink.allocation(row));
        }
        None => rows.health.count(HealthKind::FREES_OF_UNKNOWN_MEMORY, Some(at.ticks), || {
            format!("free in the process of thread {}", rows.population.tid_of(at.thread))
        }),
    }
}
