//! System calls, from the tracepoints at their entry and exit.

mod descriptor_call;
mod descriptors;
mod end_names;
mod file_call;
mod heap;
mod memory_call;
mod names;
mod object;
mod paths;
mod socket_call;
mod views;

use rustc_hash::FxHashMap;
use tracesift_trace::HealthKind;
use tracesift_trace::dns::Caller;
use tracesift_trace::rows::{
    FileIoRow, FileRow, SocketCallRow, SyscallNameRow, SyscallRow, file_operations as operation,
};
use tracesift_trace::{FileId, ProcessId, RowSink, StackId, ThreadId};

use crate::perf::second_pass::call_chain::stack_of;
use crate::perf::second_pass::mapped_files::MappedFiles;
use crate::perf::second_pass::network::Network;
use crate::perf::second_pass::page_cache::{Added, PageCache};
use crate::perf::second_pass::rows::Rows;
use crate::perf::second_pass::sample_context::SampleContext;
use crate::perf::tracepoint::{Edge, HeapFields, SyscallFields, Tracepoint};
pub(crate) use descriptors::DescriptorLives;
pub(crate) use end_names::EndNames;
use file_call::Done;
use heap::HeapCalls;
use memory_call::{Mappings, MemoryCall};
pub(crate) use names::tables_of as tables_of_call;
use names::{Call, Names};
use socket_call::SocketCall;

/// Results from here on (as negative numbers) are errors.
const MAX_ERROR: i64 = 4095;
/// Names of calls that are kept, at most.
const MAX_NAMES: usize = 4096;

/// A call that has not returned.
struct Pending {
    start: i64,
    cpu: i16,
    number: i32,
    arguments: [u64; 6],
    stack: Option<StackId>,
}

/// Follows the calls of threads.
pub(crate) struct Syscalls {
    names: Names,
    /// Tracepoints of single calls are left out where those of all are recorded.
    only_raw: bool,
    pending: FxHashMap<ThreadId, Pending>,
    mappings: Mappings,
    heap: HeapCalls,
    pub(crate) descriptors: DescriptorLives,
    /// The calls that have rows, and how single tracepoints named those.
    used: FxHashMap<i32, Option<Box<str>>>,
    /// The flag of an open after which reads go past the page cache (`O_DIRECT`).
    direct: i64,
}

impl Syscalls {
    /// The calls of a machine with this architecture.
    pub(crate) fn new(arch: Option<&str>, tracepoints: &[Option<Tracepoint>]) -> Self {
        let is_raw = |at: &Option<Tracepoint>| matches!(at, Some(Tracepoint::Syscall(fields)) if fields.raw);
        Self {
            names: Names::of(arch),
            only_raw: tracepoints.iter().any(is_raw),
            pending: FxHashMap::default(),
            mappings: Mappings::default(),
            heap: HeapCalls::default(),
            descriptors: DescriptorLives::of(tracepoints),
            used: FxHashMap::default(),
            direct: match arch {
                Some(arch) if arch.starts_with("aarch64") || arch.starts_with("arm") => 0o200_000,
                _ => 0o40_000,
            },
        }
    }

    /// A call of the heap of the C library, or its return.
    pub(crate) fn heap<Sink: RowSink>(
        &mut self,
        fields: &HeapFields,
        at: &SampleContext<'_>,
        rows: &mut Rows<'_, Sink>,
    ) {
        heap::event((&mut self.heap, &mut self.mappings), fields, at, rows);
    }

    /// An entry or exit.
    pub(crate) fn event<Sink: RowSink>(
        &mut self,
        fields: &SyscallFields,
        at: &SampleContext<'_>,
        (network, page_cache): (&Network, &mut PageCache),
        rows: &mut Rows<'_, Sink>,
    ) {
        if self.only_raw && !fields.raw {
            return;
        }
        let number = at.sample.raw.and_then(|raw| i32::try_from(fields.number.get(raw)?).ok());
        let (Some(raw), Some(number)) = (at.sample.raw, number) else {
            return rows
                .health
                .count(HealthKind::INCOMPLETE_SYSCALLS, Some(at.ticks), || "without their fields".to_owned());
        };
        match &fields.edge {
            Edge::Enter(arguments) => {
                page_cache.call_begins(at.thread);
                let pending = Pending {
                    start: at.ticks,
                    cpu: at.cpu_or_none(),
                    number,
                    arguments: arguments.get(raw),
                    stack: stack_of(at, rows),
                };
                if self.call(number, fields).is_some_and(|call| call.never_returns) {
                    return self.syscall(&pending, at.thread, at.ticks, pending.cpu, None, rows);
                }
                if let Some(before) = self.pending.insert(at.thread, pending) {
                    self.without_exit(&before, at.ticks, rows);
                }
            }
            Edge::Exit(result) => match result.get(raw) {
                Some(result) => self.exit((number, result), fields, at, (network, page_cache), rows),
                None => {
                    rows.health.count(HealthKind::INCOMPLETE_SYSCALLS, Some(at.ticks), || "without result".to_owned())
                }
            },
        }
    }

    /// What is known of a call: by its number, else by the name of its tracepoint, which is kept.
    fn call(&mut self, number: i32, fields: &SyscallFields) -> Option<Call> {
        if let Some(call) = self.names.get(number) {
            return Some(call);
        }
        let name = names::of_tracepoint(fields.name.as_deref()?);
        if self.used.len() < MAX_NAMES {
            self.used.entry(number).or_default().get_or_insert_with(|| name.into());
        }
        Some(Call::named(name))
    }

    fn exit<Sink: RowSink>(
        &mut self,
        (number, result): (i32, i64),
        fields: &SyscallFields,
        at: &SampleContext<'_>,
        (network, page_cache): (&Network, &mut PageCache),
        rows: &mut Rows<'_, Sink>,
    ) {
        let call = self.call(number, fields);
        let added = page_cache.call_ends(at.thread);
        let pending = self.pending.remove(&at.thread);
        // Who returns from a signal has lost the number.
        let Some(pending) = pending.filter(|pending| pending.number == number || number == -1) else {
            // A new thread begins with the return from the call that made it.
            if !(result == 0 && call.is_some_and(|call| call.starts_threads)) {
                let example = || format!("call {number} returned without having been made");
                rows.health.count(HealthKind::SYSCALLS_WITHOUT_ENTRY, Some(at.ticks), example);
            }
            return;
        };
        self.syscall(&pending, at.thread, at.ticks, at.cpu_or_none(), Some(result), rows);
        if let Some(memory) = call.and_then(|call| call.memory)
            && error(result).is_none()
        {
            let file = match memory {
                MemoryCall::Map => self.mapped(&pending.arguments, result, at, &page_cache.names),
                _ => None,
            };
            self.mappings.call(memory, (&pending.arguments, result), (pending.stack, file), at, rows);
        }
        if let Some(socket) = call.and_then(|call| call.socket) {
            let row = socket_row(&socket, &pending, at.thread, Some(result), rows);
            let connection = network.connection_of(at.thread, pending.start);
            rows.sink.socket_call(&SocketCallRow { time: rows.clock.ns(at.ticks), connection, ..row });
        }
        if let Some(call) = call {
            self.files(call, (&pending, result), at, (added, &mut page_cache.names), rows);
        }
    }

    /// What a call that returned did to a file, and to the descriptors of its process. `added`: pages that it added to the page cache.
    fn files<Sink: RowSink>(
        &mut self,
        call: Call,
        (pending, result): (&Pending, i64),
        at: &SampleContext<'_>,
        (added, names): (Option<Added>, &mut MappedFiles),
        rows: &mut Rows<'_, Sink>,
    ) {
        let done = call.file.and_then(|file| Some((file.operation, file.done(&pending.arguments, result)?)));
        let opens = done.as_ref().is_some_and(|(operation, _)| *operation == operation::OPEN);
        let path = if opens { self.descriptors.take_path(at.thread, &pending.arguments) } else { None };
        let number = done.as_ref().and_then(|(_, done)| done.handle);
        // A close takes the name away, an open gives it.
        let before = number.filter(|_| !opens).and_then(|number| self.descriptors.file(at.process, number));
        let time = rows.clock.ns(at.ticks);
        if let Some(descriptor) = call.descriptor
            && let Some(effect) = descriptor.effect(&pending.arguments, result)
        {
            let maker = Caller { time, process: Some(at.process), thread: Some(at.thread), stack: pending.stack };
            self.descriptors.call(descriptor, effect, path, (maker, at), rows);
        }
        let Some((operation, done)) = done else { return };
        let mut opened = || match path {
            Some(path) => Some(self.descriptors.file_of(path)),
            None => self.descriptors.file(at.process, number?),
        };
        let file = if opens { opened() } else { before };
        if let Some(number) = number.filter(|_| done.flags.is_some_and(|flags| flags & self.direct != 0)) {
            self.descriptors.is_direct(at.process, number);
        }
        let write = call.file.and_then(|file| file.write());
        let added = added.filter(|_| operation == operation::READ && write.is_none() && error(result).is_none());
        let (file, cache_read) = match number.zip(added) {
            Some((number, added)) => self.descriptors.read(at.process, number, (file, added), names),
            None => (file, None),
        };
        let row = operation_row((operation, &done, file), pending, result, at, rows);
        rows.sink.file_io(&FileIoRow { cache_read, ..row });
        // What the kernel moves from one file to another.
        if let Some(write) = write
            && let Some(done) = write.done(&pending.arguments, result)
        {
            let file = done.handle.and_then(|number| self.descriptors.file(at.process, number));
            rows.sink.file_io(&operation_row((write.operation, &done, file), pending, result, at, rows));
        }
    }

    /// The file that a call has mapped: by its descriptor, else as the record of the mapping says.
    fn mapped(
        &mut self,
        arguments: &[u64; 6],
        result: i64,
        at: &SampleContext<'_>,
        names: &MappedFiles,
    ) -> Option<FileId> {
        if !memory_call::has_file(arguments) {
            return None;
        }
        // Registers are wider than descriptors.
        let by_descriptor = self.descriptors.file(at.process, i64::from(arguments[4] as u32));
        by_descriptor.or_else(|| {
            let path = names.at(at.process, result.cast_unsigned())?;
            Some(self.descriptors.file_of(path))
        })
    }

    /// Whether it matters that processes begin and start programs.
    pub(crate) fn follow_tasks(&self) -> bool {
        self.descriptors.are_followed() || self.mappings.are_followed()
    }

    /// A process starts another program.
    pub(crate) fn exec<Sink: RowSink>(&mut self, process: ProcessId, time: i64, rows: &mut Rows<'_, Sink>) {
        self.mappings.exec(process, time, rows);
    }

    fn syscall<Sink: RowSink>(
        &mut self,
        call: &Pending,
        thread: ThreadId,
        end: i64,
        cpu: i16,
        result: Option<i64>,
        rows: &mut Rows<'_, Sink>,
    ) {
        if self.used.len() < MAX_NAMES {
            self.used.entry(call.number).or_default();
        }
        rows.sink.syscall(&SyscallRow {
            time: rows.clock.ns(end),
            start: rows.clock.ns(call.start),
            cpu,
            process: rows.population.process_of(thread),
            thread,
            number: call.number,
            result,
            error: result.and_then(error),
            stack: call.stack,
            frame: None,
        });
    }

    fn without_exit<Sink: RowSink>(&self, call: &Pending, ticks: i64, rows: &mut Rows<'_, Sink>) {
        let example = || format!("call {} is followed by another one of its thread", call.number);
        rows.health.count(HealthKind::SYSCALLS_WITHOUT_EXIT, Some(ticks), example);
    }

    /// The end of the recording, in ticks: calls that have not returned, the names of all, and the files that rows name.
    pub(crate) fn finish<Sink: RowSink>(
        mut self,
        end: i64,
        rows: &mut Rows<'_, Sink>,
    ) -> (Vec<SyscallNameRow>, Vec<FileRow>) {
        let mut open: Vec<(ThreadId, Pending)> = std::mem::take(&mut self.pending).into_iter().collect();
        open.sort_unstable_by_key(|(thread, call)| (call.start, *thread));
        for (thread, call) in open {
            match rows.population.died(thread) {
                Some(ticks) => self.without_exit(&call, ticks, rows),
                None => {
                    self.syscall(&call, thread, end, call.cpu, None, rows);
                    let own = || self.used.get(&call.number)?.as_deref().map(Call::named);
                    if let Some(socket) = self.names.get(call.number).or_else(own).and_then(|call| call.socket) {
                        let row = socket_row(&socket, &call, thread, None, rows);
                        rows.sink.socket_call(&SocketCallRow { time: rows.clock.ns(end), ..row });
                    }
                }
            }
        }
        self.mappings.finish(end, rows);
        let files = self.descriptors.finish(rows.clock.ns(end), rows);
        let mut used: Vec<_> = self.used.iter().collect();
        used.sort_unstable_by_key(|(number, _)| **number);
        let named = |(number, own): (&i32, &Option<Box<str>>)| {
            let name = self.names.get(*number).map(|call| call.name).or(own.as_deref())?;
            Some(SyscallNameRow { number: *number, name: name.to_owned() })
        };
        (used.into_iter().filter_map(named).collect(), files)
    }
}

/// The row of what a call did to a file.
fn operation_row<Sink: RowSink>(
    (operation, done, file): (i8, &Done, Option<FileId>),
    pending: &Pending,
    result: i64,
    at: &SampleContext<'_>,
    rows: &Rows<'_, Sink>,
) -> FileIoRow {
    FileIoRow {
        time: rows.clock.ns(at.ticks),
        start: rows.clock.ns(pending.start),
        cpu: at.cpu_or_none(),
        process: at.process,
        thread: at.thread,
        operation,
        handle: done.handle,
        offset: done.offset,
        size: done.size,
        transferred: done.transferred,
        options: done.flags,
        error: error(result),
        file,
        syscall: Some(pending.number),
        stack: pending.stack,
        ..FileIoRow::default()
    }
}

/// A call of a socket, without its end.
fn socket_row<Sink: RowSink>(
    socket: &SocketCall,
    call: &Pending,
    thread: ThreadId,
    result: Option<i64>,
    rows: &Rows<'_, Sink>,
) -> SocketCallRow {
    SocketCallRow {
        start: rows.clock.ns(call.start),
        cpu: call.cpu,
        process: Some(rows.population.process_of(thread)),
        thread: Some(thread),
        stack: call.stack,
        operation: socket.operation,
        endpoint: socket.endpoint(&call.arguments, result),
        size: socket.size(&call.arguments),
        transferred: socket.transferred(result),
        status: result.map(|result| error(result).unwrap_or(0)),
        ..SocketCallRow::default()
    }
}

/// The error that a result stands for.
fn error(result: i64) -> Option<i64> {
    (-MAX_ERROR..0).contains(&result).then_some(-result)
}
