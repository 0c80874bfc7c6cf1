//! Garbage collections of .NET, from the providers of its runtimes.

use tracesift_etl::payload::dotnet::RUNTIME_PROVIDER;
use tracesift_etl::payload::{Reader, WideStr};
use tracesift_etl::schema::FieldText;
use tracesift_etl::{Guid, Record, event_fields};
use tracesift_json::Writer;
use tracesift_trace::gc::{At, Collections, Finalized, Generation, HeapStats, History, Start};
use tracesift_trace::{HealthKind, RowSink};

use super::SecondPass;
use super::provider_fields::Fields;

/// The provider of programs that were compiled ahead of time. Its events are those of the runtime.
const NATIVE_AOT: Guid = Guid::from_u128(0x47c3ba0c_77f1_4eb0_8d4d_aef447f16a85);
/// The provider Microsoft-Windows-DotNETRuntimePrivate.
const PRIVATE: Guid = Guid::from_u128(0x763fd754_7086_4dfe_95eb_c01a46faf4ca);

/// Event ids of the runtime.
mod id {
    pub(super) const START: u16 = 1;
    pub(super) const STOP: u16 = 2;
    pub(super) const RESUMED: u16 = 3;
    pub(super) const HEAP_STATS: u16 = 4;
    pub(super) const RESTARTING: u16 = 7;
    pub(super) const SUSPENDED: u16 = 8;
    pub(super) const SUSPENDING: u16 = 9;
    pub(super) const ALLOCATION_TICK: u16 = 10;
    pub(super) const FINALIZERS_STOP: u16 = 13;
    pub(super) const BULK_TYPE: u16 = 15;
    pub(super) const FINALIZE_OBJECT: u16 = 29;
    pub(super) const TRIGGERED: u16 = 35;
    pub(super) const DYNAMIC: u16 = 39;
    pub(super) const MARKED: u16 = 202;
    pub(super) const HEAP_HISTORY: u16 = 204;
    pub(super) const GLOBAL_HISTORY: u16 = 205;
}

/// Event ids of the private provider.
mod private {
    pub(super) const HEAP_HISTORY: u16 = 4;
    pub(super) const GLOBAL_HISTORY: u16 = 5;
    pub(super) const FINALIZE_OBJECT: u16 = 192;
}

/// Which provider logged an event that tells of collections; `None`: it tells of something else.
pub(super) fn source(provider: Guid, id: u16) -> Option<Source> {
    match provider {
        RUNTIME_PROVIDER if is_of_runtime(id) => Some(Source::Runtime),
        NATIVE_AOT if is_of_runtime(id) => Some(Source::Native),
        PRIVATE if is_of_private(id) => Some(Source::Private),
        _ => None,
    }
}

/// Whether an event of a runtime tells of collections.
fn is_of_runtime(id: u16) -> bool {
    matches!(
        id,
        id::START
            | id::STOP
            | id::RESUMED
            | id::HEAP_STATS
            | id::RESTARTING
            | id::SUSPENDED
            | id::SUSPENDING
            | id::ALLOCATION_TICK
            | id::FINALIZERS_STOP
            | id::BULK_TYPE
            | id::FINALIZE_OBJECT
            | id::TRIGGERED
            | id::DYNAMIC
            | id::MARKED
            | id::HEAP_HISTORY
            | id::GLOBAL_HISTORY
    )
}

/// Whether an event of the private provider tells of collections.
fn is_of_private(id: u16) -> bool {
    matches!(id, private::HEAP_HISTORY | private::GLOBAL_HISTORY | private::FINALIZE_OBJECT)
}

event_fields! {
    /// What most events have.
    struct Step<'a> {
        runtime: i32 = "ClrInstanceID",
        count: i64 = "Count",
        depth: i32 = "Depth",
        reason: i32 = "Reason",
        kind: i32 = "Type",
    }
}

event_fields! {
    /// So many bytes were allocated.
    struct Tick<'a> {
        runtime: i32 = "ClrInstanceID",
        amount: i64 = "AllocationAmount",
        amount_64: i64 = "AllocationAmount64",
        kind: i32 = "AllocationKind",
    }
}

event_fields! {
    /// Sizes after a collection.
    struct Stats<'a> {
        runtime: i32 = "ClrInstanceID",
        size_0: i64 = "GenerationSize0",
        size_1: i64 = "GenerationSize1",
        size_2: i64 = "GenerationSize2",
        size_3: i64 = "GenerationSize3",
        size_4: i64 = "GenerationSize4",
        promoted_0: i64 = "TotalPromotedSize0",
        promoted_1: i64 = "TotalPromotedSize1",
        promoted_2: i64 = "TotalPromotedSize2",
        promoted_3: i64 = "TotalPromotedSize3",
        promoted_4: i64 = "TotalPromotedSize4",
        finalization_promoted: i64 = "FinalizationPromotedSize",
        pinned: i64 = "PinnedObjectCount",
        sync_blocks: i64 = "SinkBlockCount",
        handles: i64 = "GCHandleCount",
    }
}

event_fields! {
    /// What a collection did to a heap.
    struct OfHeap<'a> {
        runtime: i32 = "ClrInstanceID",
        condemn_reasons: i64 = "CondemnReasons0",
        values: &'a [u8] = "Values",
    }
}

event_fields! {
    /// What a collection did to all heaps.
    struct OfHeaps<'a> {
        runtime: i32 = "ClrInstanceID",
        heaps: i32 = "NumHeaps",
        generation: i32 = "CondemnedGeneration",
        mechanisms: i32 = "GlobalMechanisms",
        pause_mode: i32 = "PauseMode",
        memory_pressure: i32 = "MemoryPressure",
    }
}

event_fields! {
    /// Roots led to objects. The runtime's own description has another name for the bytes.
    struct Marked<'a> {
        runtime: i32 = "ClrInstanceID",
        kind: i32 = "Type",
        promoted: i64 = "Promoted",
        bytes: i64 = "Bytes",
    }
}

event_fields! {
    /// An event without a fixed layout.
    struct Dynamic<'a> {
        runtime: i32 = "ClrInstanceID",
        name: FieldText<'a> = "Name",
        data: &'a [u8] = "Data",
    }
}

event_fields! {
    /// Names of types.
    struct Types<'a> {
        runtime: i32 = "ClrInstanceID",
        count: i32 = "Count",
        values: &'a [u8] = "Values",
    }
}

event_fields! {
    /// A finalizer ran.
    struct Object<'a> {
        runtime: i32 = "ClrInstanceID",
        type_id: u64 = "TypeID",
        type_name: FieldText<'a> = "TypeName",
    }
}

/// Places of the fields of one provider.
#[derive(Default)]
struct Layouts {
    steps: Fields<Step<'static>>,
    ticks: Fields<Tick<'static>>,
    stats: Fields<Stats<'static>>,
    of_heap: Fields<OfHeap<'static>>,
    of_heaps: Fields<OfHeaps<'static>>,
    marked: Fields<Marked<'static>>,
    dynamic: Fields<Dynamic<'static>>,
    types: Fields<Types<'static>>,
    objects: Fields<Object<'static>>,
}

/// Collections on their way.
#[derive(Default)]
pub(super) struct Gc {
    collections: Collections,
    finalized: Finalized,
    runtime: Layouts,
    native: Layouts,
    private: Layouts,
}

/// Which provider logged an event.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Runtime,
    Native,
    Private,
}

impl Gc {
    /// The name of a type.
    pub(super) fn named(&mut self, at: At, type_id: u64, name: WideStr<'_>) {
        self.finalized.name(at, type_id, || name.to_string());
    }

    fn layouts(&mut self, source: Source) -> &mut Layouts {
        match source {
            Source::Runtime => &mut self.runtime,
            Source::Native => &mut self.native,
            Source::Private => &mut self.private,
        }
    }
}

/// A small number; 0 where an old version lacks it, or where it does not fit.
fn small<T: TryFrom<i32> + Default>(number: Option<i32>) -> T {
    number.and_then(|number| T::try_from(number).ok()).unwrap_or_default()
}

impl<Sink: RowSink> SecondPass<'_, Sink> {
    /// Whether a table about collections is wanted.
    pub(super) fn wants_gc(&self) -> bool {
        self.wanted.gc_collections || self.wanted.gc_suspensions || self.wanted.gc_finalized
    }

    /// An event of a .NET runtime that tells of collections.
    pub(super) fn gc_event(&mut self, record: &Record<'_>, id: u16, source: Source) {
        match (source, id) {
            (Source::Private, private::HEAP_HISTORY) | (_, id::HEAP_HISTORY) => self.gc_heap_history(record, source),
            (Source::Private, private::GLOBAL_HISTORY) | (_, id::GLOBAL_HISTORY) => {
                self.gc_global_history(record, source);
            }
            (Source::Private, private::FINALIZE_OBJECT) | (_, id::FINALIZE_OBJECT) => self.gc_object(record, source),
            // Allocations are read where they have rows of their own.
            (Source::Private, _) | (Source::Runtime, id::ALLOCATION_TICK | id::BULK_TYPE) => {}
            (_, id::ALLOCATION_TICK) => self.gc_tick(record, source),
            (_, id::HEAP_STATS) => self.gc_stats(record, source),
            (_, id::MARKED) => self.gc_marked(record, source),
            (_, id::DYNAMIC) => self.gc_dynamic(record, source),
            (_, id::BULK_TYPE) => self.gc_types(record, source),
            (_, id) => self.gc_step(record, id, source),
        }
        self.gc_rows();
    }

    fn gc_rows(&mut self) {
        for row in self.gc.collections.take_suspensions() {
            self.sink.gc_suspension(&row);
        }
        while let Some(row) = self.gc.collections.next_collection() {
            self.sink.gc_collection(&row);
        }
    }

    pub(super) fn gc_at(&mut self, record: &Record<'_>, runtime: Option<i32>) -> Option<At> {
        let caller = self.caller(record);
        Some(At { time: caller.time, process: caller.process?, runtime: small(runtime), thread: caller.thread })
    }

    fn gc_step(&mut self, record: &Record<'_>, id: u16, source: Source) {
        let layouts = self.gc.layouts(source);
        let Some(event) = layouts.steps.read(record, &self.schemas, &mut self.health) else { return };
        let Some(at) = self.gc_at(record, event.runtime) else { return };
        let number = event.count.and_then(|count| i32::try_from(count).ok());
        let stack = if id == id::TRIGGERED { self.provider_stack(record) } else { None };
        let collections = &mut self.gc.collections;
        match (id, number) {
            (id::START, Some(number)) => {
                let (generation, reason, kind) = (small(event.depth), small(event.reason), small(event.kind));
                collections.started(at, Start { number, generation, reason, kind });
            }
            (id::STOP, Some(number)) if !collections.ended(at, number) => {
                self.health.count(HealthKind::GC_WITHOUT_BEGIN, Some(record.time()), || {
                    format!("collection {number} of runtime {}", at.runtime)
                });
            }
            (id::FINALIZERS_STOP, Some(count)) => collections.finalized(at, count.into()),
            (id::SUSPENDING, _) => collections.suspending(at, small(event.reason)),
            (id::SUSPENDED, _) => collections.suspended(at),
            (id::RESTARTING, _) => collections.restarting(at),
            (id::RESUMED, _) => collections.resumed(at),
            (id::TRIGGERED, _) => collections.triggered(at, small(event.reason), stack),
            _ => {}
        }
    }

    fn gc_tick(&mut self, record: &Record<'_>, source: Source) {
        let layouts = self.gc.layouts(source);
        let Some(event) = layouts.ticks.read(record, &self.schemas, &mut self.health) else { return };
        if let Some(bytes) = event.amount_64.or(event.amount) {
            self.gc_allocated(record, event.runtime, bytes, event.kind == Some(1));
        }
    }

    /// So many bytes were allocated, of objects on the heap of large ones or not.
    pub(super) fn gc_allocated(&mut self, record: &Record<'_>, runtime: Option<i32>, bytes: i64, is_large: bool) {
        if let Some(at) = self.gc_at(record, runtime).filter(|_| bytes >= 0) {
            self.gc.collections.allocated(at, bytes, is_large);
        }
    }

    fn gc_stats(&mut self, record: &Record<'_>, source: Source) {
        let layouts = self.gc.layouts(source);
        let Some(event) = layouts.stats.read(record, &self.schemas, &mut self.health) else { return };
        let Some(at) = self.gc_at(record, event.runtime) else { return };
        let stats = HeapStats {
            sizes: [event.size_0, event.size_1, event.size_2, event.size_3, event.size_4],
            promoted: [event.promoted_0, event.promoted_1, event.promoted_2, event.promoted_3, event.promoted_4],
            finalization_promoted: event.finalization_promoted,
            pinned: event.pinned,
            sync_blocks: event.sync_blocks,
            handles: event.handles,
        };
        self.gc.collections.heap_stats(at, &stats);
    }

    fn gc_heap_history(&mut self, record: &Record<'_>, source: Source) {
        let layouts = self.gc.layouts(source);
        let Some(event) = layouts.of_heap.read(record, &self.schemas, &mut self.health) else { return };
        let Some(at) = self.gc_at(record, event.runtime) else { return };
        let mut generations = [Generation::default(); 5];
        let known = generations_of(
            event.values.unwrap_or_default(),
            record.pointer_size(),
            source == Source::Private,
            &mut generations,
        );
        let condemn_reasons = event.condemn_reasons;
        self.gc.collections.history(at, &History::Heap { generations: &generations[..known], condemn_reasons });
    }

    fn gc_global_history(&mut self, record: &Record<'_>, source: Source) {
        let layouts = self.gc.layouts(source);
        let Some(event) = layouts.of_heaps.read(record, &self.schemas, &mut self.health) else { return };
        let Some(at) = self.gc_at(record, event.runtime) else { return };
        let history = History::Global {
            heaps: event.heaps,
            generation: event.generation.and_then(|generation| i8::try_from(generation).ok()),
            pause_mode: event.pause_mode.and_then(|mode| i8::try_from(mode).ok()),
            mechanisms: event.mechanisms,
            memory_pressure: event.memory_pressure,
        };
        self.gc.collections.history(at, &history);
    }

    fn gc_marked(&mut self, record: &Record<'_>, source: Source) {
        let layouts = self.gc.layouts(source);
        let Some(event) = layouts.marked.read(record, &self.schemas, &mut self.health) else { return };
        let Some(at) = self.gc_at(record, event.runtime) else { return };
        let kind = event.kind.and_then(|kind| usize::try_from(kind).ok());
        // Old events tell no bytes.
        if let (Some(kind), Some(bytes)) = (kind, event.promoted.or(event.bytes)) {
            self.gc.collections.marked(at, kind, bytes.max(0));
        }
    }

    fn gc_dynamic(&mut self, record: &Record<'_>, source: Source) {
        let layouts = self.gc.layouts(source);
        let Some(event) = layouts.dynamic.read(record, &self.schemas, &mut self.health) else { return };
        let Some(at) = self.gc_at(record, event.runtime) else { return };
        if let Some(name) = event.name {
            self.gc.collections.dynamic(at, &dynamic_event(&name.to_string(), event.data.unwrap_or_default()));
        }
    }

    fn gc_object(&mut self, record: &Record<'_>, source: Source) {
        let layouts = self.gc.layouts(source);
        let Some(event) = layouts.objects.read(record, &self.schemas, &mut self.health) else { return };
        let Some(at) = self.gc_at(record, event.runtime) else { return };
        match (event.type_name, event.type_id) {
            (Some(name), _) => self.gc.finalized.object_of(at, name.to_string()),
            (None, Some(type_id)) => self.gc.finalized.object(at, type_id),
            (None, None) => {}
        }
    }

    fn gc_types(&mut self, record: &Record<'_>, source: Source) {
        let layouts = self.gc.layouts(source);
        let Some(event) = layouts.types.read(record, &self.schemas, &mut self.health) else { return };
        let Some(at) = self.gc_at(record, event.runtime) else { return };
        let mut reader = Reader::new(event.values.unwrap_or_default(), record.pointer_size());
        for _ in 0..event.count.unwrap_or(0).max(0) {
            let Some((type_id, name)) = type_name(&mut reader) else { break };
            self.gc.finalized.name(at, type_id, || name.to_string());
        }
    }

    /// The end of the recording, ns: collections that have not ended.
    pub(super) fn finish_gc(&mut self, end: i64) {
        self.gc.collections.finish(end);
        self.gc_rows();
        for row in self.gc.finalized.finish() {
            self.sink.gc_finalized(&row);
        }
    }
}

/// An event without a fixed layout, as an object of JSON.
fn dynamic_event(name: &str, data: &[u8]) -> String {
    /// The fields of `CommittedUsage` behind its version, 64 bits each: bytes of memory that is in use, that waits to be given back, that is
    /// free on the heaps and for all of them, and that the collector needs itself.
    const COMMITTED: [&str; 5] = [
        "TotalCommittedInUse",
        "TotalCommittedInGlobalDecommit",
        "TotalCommittedInFree",
        "TotalCommittedInGlobalFree",
        "TotalBookkeepingCommitted",
    ];
    let mut text = String::new();
    let mut json = Writer::new(&mut text);
    json.begin_object();
    json.key("name");
    json.text(name);
    let mut reader = Reader::new(data, 8);
    if name == "CommittedUsage"
        && reader.u16("version").is_ok_and(|version| version == 1)
        && data.len() >= 2 + 8 * COMMITTED.len()
    {
        for field in COMMITTED {
            json.key(field);
            json.optional(reader.u64(field).ok());
        }
    } else {
        json.key("data");
        json.text_of(Hexadecimal(data));
    }
    json.end_object();
    text
}

/// Bytes as two digits each.
struct Hexadecimal<'a>(&'a [u8]);

impl std::fmt::Display for Hexadecimal<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The next type of a list: its address and its name.
fn type_name<'a>(reader: &mut Reader<'a>) -> Option<(u64, WideStr<'a>)> {
    let type_id = reader.u64("type id").ok()?;
    // The module, the token of the name, flags, and a byte for the kind of the type.
    reader.skip(8 + 4 + 4 + 1, "type").ok()?;
    let name = reader.wide("type name").ok()?;
    let parameters = reader.u32("type parameters").ok()?;
    reader.skip((parameters as usize).checked_mul(8)?, "type parameters").ok()?;
    Some((type_id, name))
}

/// The generations of a heap, each ten numbers of the size of a pointer. Gives how many there are.
fn generations_of(values: &[u8], pointer_size: u8, is_private: bool, generations: &mut [Generation]) -> usize {
    const NUMBERS: usize = 10;
    let mut known = 0;
    for (generation, bytes) in generations.iter_mut().zip(values.chunks_exact(NUMBERS * usize::from(pointer_size))) {
        let mut reader = Reader::new(bytes, pointer_size);
        let mut number = || reader.pointer("generation").map_or(0, |number| i64::try_from(number).unwrap_or(i64::MAX));
        let numbers: [i64; NUMBERS] = std::array::from_fn(|_| number());
        let [before, list_before, objects_before, after, list_after, objects_after, _, out, second, _] = numbers;
        *generation = Generation {
            before,
            free_before: list_before.saturating_add(objects_before),
            after,
            free_after: list_after.saturating_add(objects_after),
            // The runtime tells pinned and other objects apart; .NET Framework told their sum.
            survived: if is_private { out } else { out.saturating_add(second) },
        };
        known += 1;
    }
    known
}

#[cfg(test)]
mod tests {
    use tracesift_etl::payload::Reader;
    use tracesift_trace::gc::Generation;

    use super::{generations_of, type_name};

    /// Ten numbers of each generation, of both pointer sizes.
    #[test]
    fn generations_are_ten_numbers_each() {
        for size in [4_u8, 8] {
            let mut bytes = Vec::new();
            for number in 1..=20_u64 {
                bytes.extend_from_slice(&number.to_le_bytes()[..usize::from(size)]);
            }
            let mut generations = [Generation::default(); 5];
            assert_eq!(generations_of(&bytes, size, false, &mut generations), 2);
            let first = Generation { before: 1, free_before: 5, after: 4, free_after: 11, survived: 17 };
            assert_eq!((generations[0], generations[1].before), (first, 11));
            assert_eq!(generations_of(&bytes, size, true, &mut generations), 2);
            assert_eq!(generations[0].survived, 8);
            // A list that ends inside of a generation has those before it.
            assert_eq!(generations_of(&bytes[..bytes.len() - 1], size, true, &mut generations), 1);
        }
    }

    #[test]
    fn types_have_addresses_and_names() {
        let mut bytes = Vec::new();
        for (address, name, parameters) in [(0x10_u64, "A", 2_u32), (0x20, "Bc", 0)] {
            bytes.extend_from_slice(&address.to_le_bytes());
            bytes.extend_from_slice(&[7; 17]);
            name.encode_utf16().chain([0]).for_each(|unit| bytes.extend_from_slice(&unit.to_le_bytes()));
            bytes.extend_from_slice(&parameters.to_le_bytes());
            bytes.extend_from_slice(&vec![9; parameters as usize * 8]);
        }
        let mut reader = Reader::new(&bytes, 8);
        let mut next = || type_name(&mut reader).map(|(address, name)| (address, name.to_string()));
        assert_eq!(next(), Some((0x10, "A".to_owned())));
        assert_eq!(next(), Some((0x20, "Bc".to_owned())));
        assert_eq!(next(), None);
        let mut cut = Reader::new(&bytes[..bytes.len() - 1], 8);
        assert!(type_name(&mut cut).is_some() && type_name(&mut cut).is_none());
    }
}
