//! Allocations of .NET, as the runtime samples them.

use std::fmt::Write as _;

use rustc_hash::FxHashMap;
use tracesift_etl::payload::dotnet::BulkTypes;
use tracesift_etl::schema::FieldText;
use tracesift_etl::{Record, event_fields};
use tracesift_trace::rows::{ClrAllocationRow, clr_allocation_kinds as kinds, clr_allocation_sources as sources};
use tracesift_trace::{HealthKind, ProcessId, RowSink};

use super::provider_fields::Fields;
use super::{SecondPass, cpu_number};

/// Event ids of the runtime.
pub(super) mod id {
    /// So many bytes were allocated on heaps of a kind.
    pub(crate) const TICK: u16 = 10;
    /// A sampled object, of many samples.
    pub(crate) const SAMPLED_HIGH: u16 = 20;
    /// A sampled object, of few samples.
    pub(crate) const SAMPLED_LOW: u16 = 32;
    /// An object that was drawn at random.
    pub(crate) const RANDOM: u16 = 303;
}

event_fields! {
    /// An event about an allocation.
    struct Event<'a> {
        amount: i64 = "AllocationAmount",
        amount_64: i64 = "AllocationAmount64",
        kind: i64 = "AllocationKind",
        runtime: i32 = "ClrInstanceID",
        type_id: u64 = "TypeID",
        type_name: FieldText<'a> = "TypeName",
        heap: i32 = "HeapIndex",
        address: u64 = "Address",
        object_size: i64 = "ObjectSize",
        objects: i64 = "ObjectCountForTypeSample",
        total: i64 = "TotalSizeForTypeSample",
    }
}

/// Mean number of bytes between objects that are drawn.
const MEAN: f64 = 102_400.0;
/// Types whose names are kept, at most: of more the names stay unknown.
const MAX_TYPES: usize = 1 << 18;
/// Bytes of names of types, at most.
const MAX_NAMES: usize = 32 << 20;

/// What is known of types, and memory for the row in hand.
#[derive(Default)]
pub(super) struct ClrAllocations {
    fields: Fields<Event<'static>>,
    types: FxHashMap<(ProcessId, u64), Box<str>>,
    /// Bytes of their names.
    names: usize,
    row: ClrAllocationRow,
}

impl<Sink: RowSink> SecondPass<'_, Sink> {
    /// Names of types, which the runtime logs before it logs their first object. They name objects with finalizers, too.
    pub(super) fn clr_types(&mut self, record: &Record<'_>, version: u8) {
        let Some(event) = self.decode::<BulkTypes<'_>>(record, version) else { return };
        let Some(at) = self.gc_at(record, Some(event.clr_instance.into())) else { return };
        for described in event.types() {
            if self.wants_gc() {
                self.gc.named(at, described.type_id, described.name);
            }
            let known = &mut self.clr_allocations;
            if self.wanted.clr_allocations && known.types.len() < MAX_TYPES && known.names < MAX_NAMES {
                let name: Box<str> = described.name.to_string().into();
                known.names += name.len();
                if let Some(before) = known.types.insert((at.process, described.type_id), name) {
                    known.names -= before.len();
                }
            }
        }
    }

    /// An allocation. Ticks are also the bytes that were allocated between collections.
    pub(super) fn clr_allocation(&mut self, record: &Record<'_>, id: u16) {
        let Some(event) = self.clr_allocations.fields.read(record, &self.schemas, &mut self.health) else { return };
        let Some((amount, objects, source)) = stands_for(&event, id) else {
            return self.health.count(HealthKind::FIELDS_NOT_AS_EXPECTED, Some(record.time()), || {
                format!("Microsoft-Windows-DotNETRuntime {id}: it ends early")
            });
        };
        if id == id::TICK && self.wants_gc() {
            self.gc_allocated(record, event.runtime, amount, event.kind == Some(kinds::LARGE.into()));
        }
        if !self.wanted.clr_allocations {
            return;
        }
        let stack = self.provider_stack(record);
        let caller = self.caller(record);
        let ClrAllocations { types, row, .. } = &mut self.clr_allocations;
        let mut name = row.object_type.take().unwrap_or_default();
        name.clear();
        if let Some(text) = event.type_name {
            let _ = write!(name, "{text}");
        } else if let Some(known) =
            event.type_id.zip(caller.process).and_then(|(id, process)| types.get(&(process, id)))
        {
            name.push_str(known);
        }
        *row = ClrAllocationRow {
            time: caller.time,
            cpu: cpu_number(record),
            process: caller.process,
            thread: caller.thread,
            stack,
            runtime: event.runtime.and_then(|runtime| u16::try_from(runtime).ok()).map(u16::cast_signed),
            source,
            kind: event.kind.and_then(|kind| i8::try_from(kind).ok()),
            amount,
            objects,
            object_size: event.object_size,
            object_type: (!name.is_empty()).then_some(name),
            heap: event.heap,
            address: event.address.map(u64::cast_signed),
        };
        self.sink.clr_allocation(row);
    }
}

/// Bytes and objects that an event stands for, and its source; `None`: the event does not have them.
fn stands_for(event: &Event<'_>, id: u16) -> Option<(i64, Option<i64>, i8)> {
    match id {
        id::TICK => Some((event.amount_64.or(event.amount)?, None, sources::TICK)),
        id::RANDOM => {
            let size = event.object_size?.max(1) as f64;
            let probability = -(-size / MEAN).exp_m1();
            let (bytes, objects) = (size / probability, 1.0 / probability);
            Some((bytes.round() as i64, Some(objects.round() as i64), sources::RANDOM))
        }
        _ => Some((event.total?, Some(event.objects?), sources::SAMPLED)),
    }
}
