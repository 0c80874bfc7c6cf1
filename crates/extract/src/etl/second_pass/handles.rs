//! Handles, kernel objects and mapped views: from events of their creation and end, and from rundowns.

use rustc_hash::FxHashMap;
use tracesift_etl::payload::{
    HandleDuplication, HandleOperation, HandleRundown, MappedView, ObjectOperation, ObjectReference,
};
use tracesift_etl::{Record, event_fields};
use tracesift_trace::allocations::write_tag;
use tracesift_trace::dns::Caller;
use tracesift_trace::handles::{
    Birth, End, Ended, Handle, Handles, Life, NameId, ObjectLife, ObjectNames, Objects, Source, Space, View, Views,
};
use tracesift_trace::rows::{HandleRow, MappedViewRow, ObjectReferenceRow, ObjectRow, handle_kinds};
use tracesift_trace::{HealthKind, ProcessId, RowSink};

use super::provider_fields::Fields;
use super::{SecondPass, cpu_number};

/// Pid of the process System, whose table has the handles of the kernel itself.
const SYSTEM: u32 = 4;
/// The bit of a handle's value that the kernel sets in its own.
const KERNEL_HANDLE: u32 = 1 << 31;

/// Ids of events of Win32k.
pub(super) mod id {
    /// Handles of the window manager: a handle is created, destroyed, gets a new owner.
    pub(in super::super) const USER_CREATED: u16 = 452;
    pub(super) const USER_DESTROYED: u16 = 453;
    pub(super) const USER_MOVED: u16 = 454;
    /// The same of GDI.
    pub(super) const GDI_CREATED: u16 = 455;
    pub(super) const GDI_DESTROYED: u16 = 456;
    pub(super) const GDI_MOVED: u16 = 457;
    /// A handle of GDI gets another value.
    pub(in super::super) const GDI_TRANSFORMED: u16 = 458;
}

event_fields! {
    /// A handle of the window manager or of GDI.
    struct SessionHandle<'a> {
        value: u64 = "HandleValue",
        previous: u64 = "PreviousHandleValue",
        new: u64 = "NewHandleValue",
        handle_type: u64 = "HandleType",
        session: u64 = "SessionId",
        owner: u64 = "OwnerProcessId",
    }
}

/// Open handles, objects and views, and memory for rows.
#[derive(Default)]
pub(super) struct HandleState {
    handles: Handles,
    objects: Objects,
    views: Views,
    names: ObjectNames,
    /// Names of the types of kernel objects.
    types: FxHashMap<u16, Box<str>>,
    session: Fields<SessionHandle<'static>>,
    handle_row: HandleRow,
    object_row: ObjectRow,
    reference_row: ObjectReferenceRow,
    text: String,
}

impl HandleState {
    pub(super) fn new(types: FxHashMap<u16, Box<str>>) -> Self {
        Self { types, ..Self::default() }
    }

    /// A name of an object, as an event has it.
    fn name(&mut self, name: Option<tracesift_etl::payload::WideStr<'_>>) -> Option<NameId> {
        let name = name.filter(|name| !name.is_empty())?;
        set_display(&mut self.text, name);
        self.names.number(&self.text)
    }
}

/// The name of the type of a handle, for all kinds.
fn type_name(types: &FxHashMap<u16, Box<str>>, kind: i8, number: u32, text: &mut String) {
    let words: &[&str] = match kind {
        handle_kinds::USER => USER_TYPES,
        handle_kinds::GDI => GDI_TYPES,
        _ => &[],
    };
    let of_kernel = || u16::try_from(number).ok().and_then(|number| types.get(&number)).map(|name| &**name);
    let known = match kind {
        handle_kinds::KERNEL => of_kernel(),
        _ => words.get(number as usize).copied().filter(|word| !word.is_empty()),
    };
    match known {
        Some(name) => set_display(text, name),
        None => set_display(text, format_args!("type {number}")),
    }
}

fn set_display(text: &mut String, value: impl std::fmt::Display) {
    use std::fmt::Write as _;
    text.clear();
    let _ = write!(text, "{value}");
}

fn set_optional(text: &mut Option<String>, value: Option<&str>) {
    match value {
        Some(value) => set_display(text.get_or_insert_default(), value),
        None => *text = None,
    }
}

impl<Sink: RowSink> SecondPass<'_, Sink> {
    /// An event of the class Object.
    pub(super) fn object(&mut self, record: &Record<'_>, opcode: u8, version: u8) {
        let (handles, objects) = (self.wanted.handles, self.wanted.objects);
        match opcode {
            HandleOperation::CREATE | HandleOperation::CLOSE if handles || objects => {
                self.handle_operation(record, opcode, version);
            }
            HandleDuplication::OPCODE if handles => self.handle_duplication(record, version),
            HandleRundown::DC_START | HandleRundown::DC_END if handles || objects => {
                self.handle_rundown(record, version);
            }
            ObjectOperation::CREATE | ObjectOperation::DELETE if objects => {
                self.object_operation(record, opcode, version);
            }
            ObjectReference::REFERENCE | ObjectReference::DEREFERENCE if objects || self.wanted.object_references => {
                self.object_reference(record, opcode, version);
            }
            _ => {}
        }
    }

    fn handle_operation(&mut self, record: &Record<'_>, opcode: u8, version: u8) {
        let Some(event) = self.decode::<HandleOperation<'_>>(record, version) else { return };
        let by = self.kernel_caller(record);
        let name = self.handles.name(event.name);
        self.handles.objects.described(event.object, event.object_type.into(), name);
        if !self.wanted.handles {
            return;
        }
        let is_of_kernel = event.handle & KERNEL_HANDLE != 0;
        let system = is_of_kernel.then(|| self.population.process_at(SYSTEM, record.time()));
        let Some(owner) = system.or(by.process) else {
            self.health.count(HealthKind::FIELDS_NOT_AS_EXPECTED, Some(record.time()), || {
                format!("Object {opcode}: nothing tells the process of a handle")
            });
            return;
        };
        let handle = kernel_handle(owner, event.handle, event.object, event.object_type, name);
        let ended = if opcode == HandleOperation::CREATE {
            self.handles.handles.made(&by, handle, None)
        } else {
            let birth = self.birth(owner);
            self.handles.handles.closed(&by, handle, birth)
        };
        self.put_handle(ended);
    }

    fn handle_duplication(&mut self, record: &Record<'_>, version: u8) {
        let Some(event) = self.decode::<HandleDuplication>(record, version) else { return };
        let by = self.kernel_caller(record);
        let ticks = record.time();
        let owner = self.population.process_at(event.target_process_id, ticks);
        let source = event.source_process_id.map(|pid| self.population.process_at(pid, ticks));
        let source = Source { process: source, handle: Some(event.source_handle.into()) };
        let handle = kernel_handle(owner, event.target_handle, event.object, event.object_type, None);
        let ended = self.handles.handles.made(&by, handle, Some(source));
        self.put_handle(ended);
    }

    fn handle_rundown(&mut self, record: &Record<'_>, version: u8) {
        let Some(event) = self.decode::<HandleRundown<'_>>(record, version) else { return };
        let name = self.handles.name(event.name);
        self.handles.objects.described(event.object, event.object_type.into(), name);
        if !self.wanted.handles {
            return;
        }
        let owner = self.population.process_at(event.process_id, record.time());
        let handle = kernel_handle(owner, event.handle, event.object, event.object_type, name);
        let (now, birth) = (self.clock.ns(record.time()), self.birth(owner));
        let ended = self.handles.handles.there(now, handle, birth);
        self.put_handle(ended);
    }

    fn object_operation(&mut self, record: &Record<'_>, opcode: u8, version: u8) {
        let Some(event) = self.decode::<ObjectOperation>(record, version) else { return };
        let by = self.kernel_caller(record);
        let objects = &mut self.handles.objects;
        let ended = if opcode == ObjectOperation::CREATE {
            objects.created(&by, event.object, event.object_type.into())
        } else {
            Some(objects.deleted(&by, event.object, event.object_type.into(), self.start))
        };
        self.put_object(ended);
    }

    fn object_reference(&mut self, record: &Record<'_>, opcode: u8, version: u8) {
        let Some(event) = self.decode::<ObjectReference>(record, version) else { return };
        let change = i64::from(event.count) * if opcode == ObjectReference::REFERENCE { 1 } else { -1 };
        let now = self.clock.ns(record.time());
        let mut number = None;
        if self.wanted.objects {
            let ended = self.handles.objects.referenced(now, event.object, change, self.start);
            self.put_object(ended);
            number = self.handles.objects.number(event.object);
        }
        if !self.wanted.object_references {
            return;
        }
        let by = self.kernel_caller(record);
        let row = &mut self.handles.reference_row;
        let mut tag = std::mem::take(&mut row.tag);
        write_tag(&mut tag, event.tag);
        *row = ObjectReferenceRow {
            time: now,
            cpu: cpu_number(record),
            process: by.process,
            thread: by.thread,
            object: number,
            address: event.object.cast_signed(),
            change,
            tag,
            stack: by.stack,
        };
        self.sink.object_reference(row);
    }

    /// An event of Win32k about a handle.
    pub(super) fn session_handle(&mut self, record: &Record<'_>, id: u16) {
        let Some(event) = self.handles.session.read(record, &self.schemas, &mut self.health) else { return };
        let Some(value) = event.value.or(event.new) else { return };
        let kind = if id < id::GDI_CREATED { handle_kinds::USER } else { handle_kinds::GDI };
        let session = event.session.map_or(0, |session| session as u32);
        let by = Caller { stack: self.provider_stack(record), ..self.caller(record) };
        let pid = event.owner.and_then(|pid| u32::try_from(pid).ok()).or(record.pid()).unwrap_or(0);
        let owner = self.population.process_at(pid, record.time());
        let object_type = event.handle_type.and_then(|number| u32::try_from(number).ok());
        let space = Space::Session { kind, session };
        let handle = Handle { space, value, owner, object: None, object_type, name: None };
        let birth = self.birth(owner);
        let handles = &mut self.handles.handles;
        let ended = match id {
            id::USER_CREATED | id::GDI_CREATED => handles.made(&by, handle, None),
            id::USER_DESTROYED | id::GDI_DESTROYED => handles.closed(&by, handle, birth),
            id::USER_MOVED | id::GDI_MOVED => handles.moved(&by, handle),
            _ => event.previous.and_then(|previous| handles.renamed(by.time, previous, handle, birth)),
        };
        self.put_handle(ended);
    }

    /// A view of a section is mapped or unmapped, or there at a rundown.
    pub(super) fn mapped_view(&mut self, record: &Record<'_>, opcode: u8, version: u8) {
        let Some(event) = self.decode::<MappedView>(record, version) else { return };
        let is_rundown = matches!(opcode, MappedView::DC_START | MappedView::DC_END);
        let now = self.clock.ns(record.time());
        let by = if is_rundown { Caller { time: now, ..Caller::default() } } else { self.kernel_caller(record) };
        let process = self.population.process_at(event.process_id, record.time());
        let there = opcode != MappedView::MAP;
        let view = View {
            process,
            base: event.base,
            size: event.size,
            offset: event.offset,
            object: event.file_key,
            file: self.file(event.file_key, record.time()),
            start: if there { self.birth(process).start.unwrap_or(self.start) } else { now },
            thread: by.thread.filter(|_| !there),
            stack: by.stack.filter(|_| !there),
            there,
        };
        let views = &mut self.handles.views;
        let ended = match opcode {
            MappedView::MAP => views.mapped(view),
            MappedView::UNMAP => views.unmapped(&by, view),
            _ => views.there(now, view),
        };
        self.put_view(ended);
    }

    /// A process ended: its handles, views and memory end with it.
    pub(super) fn handles_of_ended(&mut self, pid: u32, ticks: i64) {
        let Some(process) = self.population.known_process_at(pid, ticks) else { return };
        let time = self.clock.ns(ticks);
        if self.wanted.handles {
            for ended in self.handles.handles.process_ended(time, process) {
                self.put_handle(Some(ended));
            }
        }
        if self.wanted.mapped_views {
            for ended in self.handles.views.process_ended(time, process) {
                self.put_view(Some(ended));
            }
        }
        self.allocations_of_ended(time, process);
    }

    /// What is open at the end.
    pub(super) fn finish_handles(&mut self, end: i64) {
        while let Some(ended) = self.handles.handles.finish(end) {
            self.put_handle(Some(ended));
        }
        while let Some(ended) = self.handles.objects.finish(end) {
            self.put_object(Some(ended));
        }
        while let Some(ended) = self.handles.views.finish(end) {
            self.put_view(Some(ended));
        }
        let HandleState { handles, objects, views, .. } = &self.handles;
        let lost = i64::try_from(handles.lost() + objects.lost() + views.lost()).unwrap_or(i64::MAX);
        self.health.add(HealthKind::HANDLES_WITHOUT_END, lost, None, || {
            format!("{} handles, {} objects, {} views", handles.lost(), objects.lost(), views.lost())
        });
    }

    fn birth(&self, process: ProcessId) -> Birth {
        let (start, parent) = self.population.birth(process);
        Birth { begin: self.start, start, parent }
    }

    /// Who caused a record of the kernel: the header tells, else the switches do.
    pub(super) fn kernel_caller(&mut self, record: &Record<'_>) -> Caller {
        let (ticks, cpu) = (record.time(), record.cpu());
        let running = |pass: &Self| pass.running(cpu).map(|thread| pass.population.tid_of(thread));
        let tid = record.tid().or_else(|| running(self));
        let stack = self.stack_of(record, tid);
        let thread = tid.map(|tid| self.population.named_thread_at(tid, cpu, ticks));
        let process = match record.pid() {
            Some(pid) => Some(self.population.process_at(pid, ticks)),
            None => thread.map(|thread| self.population.process_of(thread)),
        };
        Caller { time: self.clock.ns(ticks), process, thread, stack }
    }

    fn put_handle(&mut self, ended: Option<Ended<Life>>) {
        let Some(Ended { life, time, end }) = ended else { return };
        let HandleState { handle_row: row, types, names, .. } = &mut self.handles;
        let handle = life.handle;
        let kind = match handle.space {
            Space::Process(_) => handle_kinds::KERNEL,
            Space::Session { kind, .. } => kind,
        };
        let (close_thread, close_stack) = closed_by(end);
        let mut object_type = row.object_type.take();
        match handle.object_type {
            Some(number) => type_name(types, kind, number, object_type.get_or_insert_default()),
            None => object_type = None,
        }
        let mut name = row.name.take();
        set_optional(&mut name, names.name(handle.name));
        *row = HandleRow {
            time,
            start: life.start,
            process: life.process,
            thread: life.thread,
            stack: life.stack,
            owner: handle.owner,
            kind,
            handle: handle.value.cast_signed(),
            object: handle.object.map(u64::cast_signed),
            object_type,
            name,
            made_by: life.made_by,
            source_process: life.source.process,
            source_handle: life.source.handle.map(u64::cast_signed),
            close_thread,
            close_stack,
            by_exit: Some(end == End::Exit),
            open: Some(end == End::Open),
        };
        self.sink.handle(row);
    }

    fn put_object(&mut self, ended: Option<Ended<ObjectLife>>) {
        let Some(Ended { life, time, end }) = ended else { return };
        let HandleState { object_row: row, types, names, .. } = &mut self.handles;
        let mut object_type = row.object_type.take();
        match life.object_type {
            Some(number) => type_name(types, handle_kinds::KERNEL, number, object_type.get_or_insert_default()),
            None => object_type = None,
        }
        let mut name = row.name.take();
        set_optional(&mut name, names.name(life.name));
        *row = ObjectRow {
            time,
            start: life.start,
            object: life.number,
            address: life.address.cast_signed(),
            object_type,
            name,
            process: life.process,
            stack: life.stack,
            end_stack: closed_by(end).1,
            references: life.references,
            dereferences: life.dereferences,
            there: Some(life.there),
            open: Some(end == End::Open),
        };
        self.sink.object(row);
    }

    fn put_view(&mut self, ended: Option<Ended<View>>) {
        let Some(Ended { life: view, time, end }) = ended else { return };
        self.sink.mapped_view(&MappedViewRow {
            time,
            start: view.start,
            process: view.process,
            thread: view.thread,
            base: view.base.cast_signed(),
            size: view.size.cast_signed(),
            offset: view.offset.map(u64::cast_signed),
            file: view.file,
            object: view.object.cast_signed(),
            stack: view.stack,
            end_stack: closed_by(end).1,
            there: Some(view.there),
            by_exit: Some(end == End::Exit),
            open: Some(end == End::Open),
        });
    }
}

fn kernel_handle(owner: ProcessId, value: u32, object: u64, object_type: u16, name: Option<NameId>) -> Handle {
    Handle {
        space: Space::Process(owner),
        value: value.into(),
        owner,
        object: Some(object),
        object_type: Some(object_type.into()),
        name,
    }
}

fn closed_by(end: End) -> (Option<tracesift_trace::ThreadId>, Option<tracesift_trace::StackId>) {
    match end {
        End::Closed(thread, stack) | End::Moved(thread, stack) => (thread, stack),
        End::Exit | End::Lost | End::Open => (None, None),
    }
}

/// Types of handles of the window manager by number.
const USER_TYPES: &[&str] = &[
    "Free",
    "Window",
    "Menu",
    "Cursor",
    "WindowPosition",
    "Hook",
    "ClipboardData",
    "CallProcedure",
    "AcceleratorTable",
    "DdeAccess",
    "DdeConversation",
    "DdeTransaction",
    "Monitor",
    "KeyboardLayout",
    "KeyboardFile",
    "EventHook",
    "Timer",
    "InputContext",
    "HidData",
    "DeviceInfo",
    "TouchInput",
    "GestureInfo",
];

/// Types of handles of GDI by number; empty: not in use.
const GDI_TYPES: &[&str] = &[
    "Free",
    "DC",
    "",
    "",
    "Region",
    "Bitmap",
    "ClientObject",
    "Path",
    "Palette",
    "ColorSpace",
    "Font",
    "RealizedFont",
    "PhysicalFontEntry",
    "PhysicalFontTable",
    "ColorTransform",
    "Sprite",
    "Brush",
];
