//! Assemblies of .NET programs, from events of the runtime and of its rundown.

use tracesift_etl::payload::dotnet::{RUNDOWN_PROVIDER, RUNTIME_PROVIDER};
use tracesift_etl::schema::FieldText;
use tracesift_etl::{Guid, Record, event_fields};
use tracesift_trace::RowSink;
use tracesift_trace::assemblies::Assemblies;
use tracesift_trace::rows::AssemblyRow;

use super::SecondPass;
use super::provider_fields::Fields;

event_fields! {
    /// An assembly is loaded, unloaded or there.
    struct Assembly<'a> {
        id: u64 = "AssemblyID",
        domain: u64 = "AppDomainID",
        flags: i64 = "AssemblyFlags",
        name: FieldText<'a> = "FullyQualifiedAssemblyName",
        runtime: i64 = "ClrInstanceID",
    }
}

event_fields! {
    /// A module of an assembly.
    struct Module<'a> {
        assembly: u64 = "AssemblyID",
        path: FieldText<'a> = "ModuleILPath",
    }
}

/// What an event tells. The two providers have numbers of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tells {
    Loaded,
    Unloaded,
    There,
    /// A module with its path; `true`: it is loaded now.
    Module(bool),
}

/// What an event of the runtime or of its rundown tells of assemblies.
pub(super) fn tells(provider: Guid, id: u16) -> Option<Tells> {
    match (provider, id) {
        (RUNTIME_PROVIDER, 154) => Some(Tells::Loaded),
        (RUNTIME_PROVIDER, 155) => Some(Tells::Unloaded),
        (RUNTIME_PROVIDER, 152) => Some(Tells::Module(true)),
        (RUNTIME_PROVIDER, 151 | 153) => Some(Tells::Module(false)),
        (RUNDOWN_PROVIDER, 155 | 156) => Some(Tells::There),
        (RUNDOWN_PROVIDER, 151..=154) => Some(Tells::Module(false)),
        _ => None,
    }
}

/// Assemblies that are loaded.
#[derive(Default)]
pub(super) struct LoadedAssemblies {
    fields: [Fields<Assembly<'static>>; 2],
    modules: [Fields<Module<'static>>; 2],
    lives: Assemblies,
}

impl<Sink: RowSink> SecondPass<'_, Sink> {
    /// An event about an assembly or a module.
    pub(super) fn assembly(&mut self, record: &Record<'_>, provider: Guid, tells: Tells) {
        let place = usize::from(provider == RUNDOWN_PROVIDER);
        if let Tells::Module(is_new) = tells {
            let fields = &mut self.assemblies.modules[place];
            let Some(event) = fields.read(record, &self.schemas, &mut self.health) else { return };
            let process = self.process_of_header(record);
            let path = event.path.map(|path| path.to_string()).filter(|path| !path.is_empty());
            if let (Some(process), Some(id), Some(path)) = (process, event.assembly, path) {
                self.assemblies.lives.path(process, id, is_new, || path);
            }
            return;
        }
        let Some(event) = self.assemblies.fields[place].read(record, &self.schemas, &mut self.health) else { return };
        let (Some(process), Some(id)) = (self.process_of_header(record), event.id) else { return };
        let key = (process, id, event.domain.unwrap_or(0));
        let is_load = tells == Tells::Loaded;
        let time = self.clock.ns(record.time());
        // Of a rundown the thread is the one that logs it: it has loaded nothing, and needs no row.
        let (thread, stack) =
            if is_load { (self.caller(record).thread, self.provider_stack(record)) } else { (None, None) };
        let born = self.population.birth(process).0.unwrap_or(self.start);
        let row = || AssemblyRow {
            start: if is_load { time } else { born },
            process: Some(process),
            thread,
            name: event.name.map(|name| name.to_string()).unwrap_or_default(),
            flags: event.flags.unwrap_or(0),
            domain: key.2.cast_signed(),
            runtime: event.runtime.and_then(|number| i32::try_from(number).ok()),
            there: Some(!is_load),
            stack,
            ..AssemblyRow::default()
        };
        let lives = &mut self.assemblies.lives;
        match tells {
            Tells::Loaded => lives.loaded(key, row()).for_each(|row| self.sink.assembly(&row)),
            Tells::Unloaded => self.sink.assembly(&lives.unloaded(key, time, row)),
            Tells::There | Tells::Module(_) => {
                lives.there(key, time, row).iter().for_each(|row| self.sink.assembly(row));
            }
        }
    }

    /// A process ended, and its assemblies with it.
    pub(super) fn assemblies_of_ended(&mut self, pid: u32, ticks: i64) {
        let Some(process) = self.population.known_process_at(pid, ticks) else { return };
        let rows = self.assemblies.lives.process_ended(process, self.clock.ns(ticks));
        rows.iter().for_each(|row| self.sink.assembly(row));
    }

    /// The end of the recording: assemblies that are loaded.
    pub(super) fn finish_assemblies(&mut self, end: i64) {
        std::mem::take(&mut self.assemblies.lives).finish(end).for_each(|row| self.sink.assembly(&row));
    }
}
