//! Fields of the probes that `tracesift record --heap` sets in the C library of a process.

use super::fields::{Fields, Number};

/// What the names of the groups of these probes begin with.
pub(crate) const GROUP: &str = "tracesift_heap_";

/// A function of the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeapFunction {
    /// `malloc(size)`
    Malloc,
    /// `calloc(count, size)`
    Calloc,
    /// `realloc(block, size)`
    Realloc,
    /// `free(block)`
    Free,
}

/// A call of a function of the heap, or its return.
#[derive(Clone, Debug)]
pub(crate) struct HeapFields {
    pub(crate) function: HeapFunction,
    edge: Edge,
}

#[derive(Clone, Debug)]
enum Edge {
    Call(Box<Call>),
    /// Its result.
    Return(Number),
}

/// The arguments of a call, the stack pointer, and the address to which it returns.
#[derive(Clone, Debug)]
struct Call {
    arguments: [Number; 2],
    stack_pointer: Number,
    caller: Option<Number>,
}

/// What one event tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeapEvent {
    /// A call, with its arguments, the stack pointer, and the address to which it returns.
    Call([u64; 2], u64, Option<u64>),
    /// A return, with its result.
    Return(u64),
}

impl HeapFields {
    /// Whether [`of`](Self::of) may know a tracepoint.
    pub(crate) fn is_read_from(name: &str) -> bool {
        name.starts_with(GROUP)
    }

    pub(super) fn of(fields: &Fields<'_>, name: &str) -> Option<Self> {
        let (_, event) = name.split_once(':')?;
        let (event, is_return) = event.strip_suffix("__return").map_or((event, false), |event| (event, true));
        let function = match event {
            "malloc" => HeapFunction::Malloc,
            "calloc" => HeapFunction::Calloc,
            "realloc" => HeapFunction::Realloc,
            "free" => HeapFunction::Free,
            _ => return None,
        };
        let edge = if is_return {
            Edge::Return(fields.number("ret")?)
        } else {
            let arguments = [fields.number("first")?, fields.number("second")?];
            let (stack_pointer, caller) = (fields.number("sp")?, fields.number("caller"));
            Edge::Call(Box::new(Call { arguments, stack_pointer, caller }))
        };
        Some(Self { function, edge })
    }

    /// What an event tells; `None`: its fields are not there.
    pub(crate) fn event(&self, raw: &[u8]) -> Option<HeapEvent> {
        let number = |number: &Number| number.get(raw).map(i64::cast_unsigned);
        Some(match &self.edge {
            Edge::Call(call) => {
                let [first, second] = &call.arguments;
                let caller = call.caller.as_ref().and_then(number);
                HeapEvent::Call([number(first)?, number(second)?], number(&call.stack_pointer)?, caller)
            }
            Edge::Return(result) => HeapEvent::Return(number(result)?),
        })
    }
}
