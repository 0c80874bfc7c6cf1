//! Compilations of .NET methods, from events of the runtime.

use tracesift_etl::Record;
use tracesift_etl::payload::Payload as _;
use tracesift_etl::payload::dotnet::{
    BulkTypes, MethodCode, MethodJittingStarted, MethodLoad, MethodLoadVerbose, method_flags,
};
use tracesift_trace::compilations::{Code, Compiler};
use tracesift_trace::rows::JitMethodRow;
use tracesift_trace::{HealthKind, RowSink};

use super::clr_allocations::id as allocation;
use super::{SecondPass, cpu_number, exceptions};

/// A batch of methods is compiled anew in the background, on the thread of the event.
const BATCH_BEGINS: u16 = 283;
/// The batch is over, for now.
const BATCH_ENDS: u16 = 284;

impl<Sink: RowSink> SecondPass<'_, Sink> {
    /// An event of the .NET runtime that may tell of a compilation, an allocation or an exception.
    pub(super) fn managed_code_record(&mut self, record: &Record<'_>, id: u16, version: u8) {
        let wanted = self.wanted;
        match id {
            MethodJittingStarted::ID if wanted.jit_methods => self.jitting_started(record, version),
            MethodLoad::LOAD_ID | MethodLoadVerbose::LOAD_ID if wanted.jit_methods => {
                self.method_loaded(record, id, version);
            }
            BATCH_BEGINS | BATCH_ENDS if wanted.jit_methods => self.jit_batch(record, id == BATCH_BEGINS),
            id if exceptions::is_about_exceptions(id) && wanted.exceptions => self.exception(record, id),
            BulkTypes::ID if wanted.clr_allocations || self.wants_gc() => self.clr_types(record, version),
            allocation::TICK if wanted.clr_allocations || self.wants_gc() => self.clr_allocation(record, id),
            allocation::SAMPLED_HIGH | allocation::SAMPLED_LOW | allocation::RANDOM if wanted.clr_allocations => {
                self.clr_allocation(record, id);
            }
            _ => {}
        }
    }

    /// The compiler begins with a method.
    fn jitting_started(&mut self, record: &Record<'_>, version: u8) {
        let Some(event) = self.decode::<MethodJittingStarted<'_>>(record, version) else { return };
        let stack = self.provider_stack(record);
        let caller = self.caller(record);
        let Some(thread) = caller.thread else { return };
        let module = caller
            .process
            .and_then(|process| self.stacks.managed_module(process, event.module_id, record.time()))
            .map(str::to_owned);
        let row = JitMethodRow {
            start: caller.time,
            cpu: cpu_number(record),
            process: caller.process,
            thread: caller.thread,
            stack,
            runtime: event.clr_instance.map(u16::cast_signed),
            module,
            namespace: event.namespace.to_string(),
            method: event.name.to_string(),
            arguments: event.signature.to_string(),
            il_size: event.il_size.into(),
            ..JitMethodRow::default()
        };
        let given_up = self.compilations.begin((caller.process, thread), event.method_id, row);
        given_up.iter().for_each(|row| self.sink.jit_method(row));
    }

    /// The code of a method is there. The first pass decodes the same event, and counts those that it cannot decode.
    fn method_loaded(&mut self, record: &Record<'_>, id: u16, version: u8) {
        let (payload, pointer_size) = (record.payload(), record.pointer_size());
        let decoded = if id == MethodLoad::LOAD_ID {
            MethodLoad::parse(payload, version, pointer_size).map(|load| (load.code, load.rejit_id))
        } else {
            MethodLoadVerbose::parse(payload, version, pointer_size).map(|load| (load.code, load.rejit_id))
        };
        let Ok((code, version)) = decoded else { return };
        // The second range of a method is no compilation of its own.
        let Some(thread) = self.compiler(record).filter(|_| !code.is_cold()) else { return };
        let code = code_of(&code, version, self.clock.ns(record.time()));
        let rows = self.compilations.end(thread, &code);
        rows.iter().for_each(|row| self.sink.jit_method(row));
    }

    /// A batch of the background begins or ends.
    fn jit_batch(&mut self, record: &Record<'_>, begins: bool) {
        if let Some(thread) = self.compiler(record) {
            self.compilations.batch(thread, begins);
        }
    }

    fn compiler(&mut self, record: &Record<'_>) -> Option<Compiler> {
        let caller = self.caller(record);
        Some((caller.process, caller.thread?))
    }

    /// Compilations without code at the end of the recording.
    pub(super) fn finish_compilations(&mut self, end: i64) {
        for row in self.compilations.finish(end) {
            self.sink.jit_method(&row);
        }
        let dropped = i64::try_from(self.compilations.dropped()).unwrap_or(i64::MAX);
        self.health.add(HealthKind::COMPILATIONS_OVER_BUDGET, dropped, None, || {
            "more compilations were under way than are followed".to_owned()
        });
    }
}

fn code_of(code: &MethodCode, version: Option<u64>, time: i64) -> Code {
    Code {
        time,
        method: code.method_id,
        size: code.size,
        tier: code.tier().cast_signed(),
        version,
        dynamic: code.flags & method_flags::DYNAMIC != 0,
        rejected: code.flags & method_flags::READY_TO_RUN_REJECTED != 0,
    }
}
