//! Operations on files, from the class FileIo or from Microsoft-Windows-Kernel-File.

use std::fmt::Write as _;

use tracesift_etl::payload::{
    FileCreate, FileDirectory, FileInformation, FileOperation, FileOperationEnd, FileReadWrite, WideStr,
};
use tracesift_etl::schema::FieldText;
use tracesift_etl::{Record, event_fields};
use tracesift_trace::file_names::PathId;
use tracesift_trace::file_operations::{FileEnd, FileOperations};
use tracesift_trace::open_lives::OpenLives;
use tracesift_trace::rows::{FileIoRow, file_operations as operations};
use tracesift_trace::{FileId, HealthKind, RowSink, StackId, ThreadId};

use super::provider_fields::Fields;
use super::{SecondPass, cpu_number};
use crate::etl::file_sources::{self, FileSources, id};

/// File objects whose path is known, at most. Of more the oldest ones are forgotten.
const MAX_OBJECTS: usize = 4 << 20;
/// Characters of a search pattern that are kept.
const MAX_PATTERN: usize = 256;

event_fields! {
    /// What operations of the provider have; each kind has some of it.
    struct ProviderOperation<'a> {
        irp: u64 = "Irp",
        file_object: u64 = "FileObject",
        file_key: u64 = "FileKey",
        thread: u64 = "IssuingThreadId",
        old_thread: u64 = "ThreadId",
        options: i64 = "CreateOptions",
        name: FieldText<'a> = "FileName",
        path: FieldText<'a> = "FilePath",
        offset: u64 = "ByteOffset",
        size: i64 = "IOSize",
        flags: i64 = "IOFlags",
        length: i64 = "Length",
        info_class: i64 = "InfoClass",
        extra: u64 = "ExtraInformation",
        status: u64 = "Status",
    }
}

/// Operations on their way.
pub(super) struct FileIo {
    sources: FileSources,
    operations: FileOperations,
    /// Path of the last open of a file object.
    objects: OpenLives<u64, PathId>,
    /// Whether calls of filter drivers were met. They name requests; without them nobody asks for the request of an operation.
    pub(super) has_filter_calls: bool,
    fields: Fields<ProviderOperation<'static>>,
    text: String,
}

/// An operation as its event tells it.
#[derive(Clone, Copy, Debug, Default)]
struct Begun {
    irp: u64,
    operation: i8,
    file_object: u64,
    file_key: u64,
    thread: u32,
    offset: Option<i64>,
    size: Option<i64>,
    options: Option<i64>,
    io_flags: Option<i64>,
    info_class: Option<i64>,
    /// The event adds a path, or that a file is new, to an operation that has an event of its own.
    is_beside: bool,
}

/// The text of an event's path.
#[derive(Clone, Copy)]
enum Text<'a> {
    /// The path that is opened.
    Opened(&'a dyn std::fmt::Display),
    /// The path of a file that is deleted, renamed or linked.
    Path(&'a dyn std::fmt::Display),
    /// What a directory is searched for.
    Pattern(&'a dyn std::fmt::Display),
    None,
}

impl FileIo {
    pub(super) fn new(sources: FileSources) -> Self {
        Self {
            sources,
            operations: FileOperations::default(),
            objects: OpenLives::new(MAX_OBJECTS),
            has_filter_calls: false,
            fields: Fields::default(),
            text: String::new(),
        }
    }

    /// The file of the operation that a request is used for.
    pub(super) fn file_of_request(&mut self, irp: u64) -> Option<FileId> {
        self.operations.file_of(irp)
    }
}

impl From<FileOperation> for Begun {
    fn from(event: FileOperation) -> Self {
        let FileOperation { irp, file_object, file_key, thread_id } = event;
        Self { irp, file_object, file_key, thread: thread_id, ..Self::default() }
    }
}

impl Begun {
    fn of_information(event: &FileInformation<'_>, opcode: u8) -> Self {
        Self {
            irp: event.irp,
            operation: file_sources::operation_of_information(opcode),
            file_object: event.file_object,
            file_key: event.file_key,
            thread: event.thread_id,
            info_class: Some(event.info_class.into()),
            is_beside: file_sources::is_path_of(opcode),
            ..Self::default()
        }
    }
}

/// Whether the figure of an operation's end is a number of bytes that were moved.
fn transfers(operation: i8) -> bool {
    matches!(operation, operations::READ | operations::WRITE | operations::LIST)
}

impl<Sink: RowSink> SecondPass<'_, Sink> {
    /// An operation of the class FileIo, or its end.
    pub(super) fn file_operation(&mut self, record: &Record<'_>, opcode: u8, version: u8) {
        let path: Option<WideStr<'_>>;
        let (begun, text) = match opcode {
            FileOperationEnd::OPCODE => {
                let Some(end) = self.decode::<FileOperationEnd>(record, version) else { return };
                return self.file_operation_end(record, end.irp, end.extra_info, end.status);
            }
            FileCreate::OPCODE => {
                let Some(event) = self.decode::<FileCreate<'_>>(record, version) else { return };
                let begun = Begun {
                    irp: event.irp,
                    operation: operations::OPEN,
                    file_object: event.file_object,
                    thread: event.thread_id,
                    options: Some(event.create_options.into()),
                    ..Begun::default()
                };
                path = Some(event.open_path);
                (begun, path.as_ref().map_or(Text::None, |path| Text::Opened(path)))
            }
            FileOperation::CLEANUP | FileOperation::CLOSE | FileOperation::FLUSH => {
                let Some(event) = self.decode::<FileOperation>(record, version) else { return };
                let operation = match opcode {
                    FileOperation::CLEANUP => operations::CLEANUP,
                    FileOperation::CLOSE => operations::CLOSE,
                    _ => operations::FLUSH,
                };
                (Begun { operation, ..event.into() }, Text::None)
            }
            FileReadWrite::READ | FileReadWrite::WRITE => {
                let Some(event) = self.decode::<FileReadWrite>(record, version) else { return };
                let operation = if opcode == FileReadWrite::READ { operations::READ } else { operations::WRITE };
                let begun = Begun {
                    operation,
                    offset: Some(event.offset.cast_signed()),
                    size: Some(event.size.into()),
                    io_flags: Some(event.flags.into()),
                    ..event.operation.into()
                };
                (begun, Text::None)
            }
            FileDirectory::ENUMERATE | FileDirectory::NOTIFY => {
                let Some(event) = self.decode::<FileDirectory<'_>>(record, version) else { return };
                let lists = opcode == FileDirectory::ENUMERATE;
                let begun = Begun {
                    operation: if lists { operations::LIST } else { operations::WAIT },
                    size: Some(event.length.into()),
                    info_class: Some(event.info_class.into()),
                    ..event.operation.into()
                };
                path = Some(event.name).filter(|_| lists);
                (begun, path.as_ref().map_or(Text::None, |pattern| Text::Pattern(pattern)))
            }
            FileInformation::SET_SECURITY..=FileInformation::QUERY_ATTRIBUTES
                if !FileInformation::has_length(record.payload(), version, record.pointer_size()) =>
            {
                // Its layout is not known.
                return;
            }
            FileInformation::SET..=FileInformation::RENAME
            | FileInformation::QUERY
            | FileInformation::CONTROL
            | FileInformation::DELETE_PATH..=FileInformation::QUERY_ATTRIBUTES => {
                let Some(event) = self.decode::<FileInformation<'_>>(record, version) else { return };
                let begun = Begun::of_information(&event, opcode);
                path = event.path.filter(|_| opcode >= FileInformation::DELETE_PATH);
                (begun, path.as_ref().map_or(Text::None, |path| Text::Path(path)))
            }
            _ => return,
        };
        self.file_operation_begin(record, begun, text, false);
    }

    /// An event of Microsoft-Windows-Kernel-File.
    pub(super) fn kernel_file(&mut self, record: &Record<'_>, id: u16) {
        if id == id::NAME_CREATE || id == id::NAME_DELETE {
            return;
        }
        if !self.file_io.sources.takes_provider() {
            return self.health.count(HealthKind::OTHER_FILE_SOURCE, Some(record.time()), || {
                format!("Microsoft-Windows-Kernel-File {id}")
            });
        }
        let Some(event) = self.file_io.fields.read(record, &self.schemas, &mut self.health) else { return };
        let Some(irp) = event.irp else { return };
        if id == id::END {
            let (extra, status) = (event.extra.unwrap_or(0), event.status.unwrap_or(0));
            return self.file_operation_end(record, irp, extra, status as u32);
        }
        let Some(operation) = file_sources::operation_of_id(id) else { return };
        let begun = Begun {
            irp,
            operation,
            file_object: event.file_object.unwrap_or(0),
            file_key: event.file_key.unwrap_or(0),
            thread: event.thread.or(event.old_thread).map_or(0, |thread| thread as u32),
            offset: event.offset.map(u64::cast_signed),
            size: event.size.or(event.length),
            options: event.options,
            io_flags: event.flags,
            info_class: event.info_class,
            is_beside: file_sources::is_beside(id),
        };
        let text = match (&event.name, &event.path) {
            (Some(name), _) if operation == operations::OPEN => Text::Opened(name),
            (Some(name), _) if operation == operations::LIST => Text::Pattern(name),
            (_, Some(path)) => Text::Path(path),
            _ => Text::None,
        };
        self.file_operation_begin(record, begun, text, true);
    }

    fn file_operation_begin(&mut self, record: &Record<'_>, begun: Begun, text: Text<'_>, is_provider: bool) {
        let path = match text {
            Text::Opened(path) | Text::Path(path) => self.absolute_path(path),
            Text::Pattern(_) | Text::None => None,
        };
        match (text, path) {
            (Text::Opened(_), Some(path)) => {
                self.file_io.objects.remove(&begun.file_object);
                if self.file_io.objects.insert(begun.file_object, None, path).is_some() {
                    self.health.count(HealthKind::FILE_NAMES_OVER_BUDGET, Some(record.time()), || {
                        format!("the oldest of {MAX_OBJECTS} open file objects")
                    });
                }
            }
            // The address belonged to another file before.
            (Text::Opened(_), None) => {
                self.file_io.objects.remove(&begun.file_object);
            }
            _ => {}
        }
        if begun.is_beside && self.takes_as_part(begun, path) {
            return;
        }
        let (ticks, cpu) = (record.time(), record.cpu());
        let stack = self.file_stack(record, begun.thread, is_provider);
        let thread: ThreadId = self.population.thread_at(begun.thread, cpu, ticks);
        let by_key = self.file(begun.file_key, ticks);
        let known = path.or_else(|| self.file_io.objects.get(&begun.file_object).copied());
        let file = by_key.or_else(|| known.map(|path| self.file_of(path)));
        if begun.operation == operations::CLOSE {
            self.file_io.objects.remove(&begun.file_object);
        }
        let start = self.clock.ns(ticks);
        let row = FileIoRow {
            time: start,
            start,
            cpu: cpu_number(record),
            process: self.population.process_of(thread),
            thread,
            operation: begun.operation,
            handle: Some(begun.file_object.cast_signed()),
            offset: begun.offset,
            size: begun.size,
            file,
            stack,
            options: begun.options,
            io_flags: begun.io_flags,
            info_class: begun.info_class,
            pattern: self.pattern(text),
            ..FileIoRow::default()
        };
        if !self.file_io.sources.has_ends() {
            return self.sink.file_io(&FileIoRow { open: Some(true), ..row });
        }
        for unended in self.file_io.operations.begin(begun.irp, row) {
            self.health.count(HealthKind::FILE_OPERATIONS_WITHOUT_END, Some(ticks), || {
                format!("request {:#x} is used for another operation", begun.irp)
            });
            self.sink.file_io(&unended);
        }
    }

    /// Whether an event belongs to an operation that has an event of its own, which may get its path from here.
    fn takes_as_part(&mut self, begun: Begun, path: Option<PathId>) -> bool {
        if !self.file_io.sources.has_ends() {
            return self.file_io.sources.has_own_event(begun.operation);
        }
        let named = path.map(|path| self.file_of(path));
        let pending = self.file_io.operations.pending(begun.irp, begun.operation);
        let Some(row) = pending.filter(|row| row.handle == Some(begun.file_object.cast_signed())) else { return false };
        row.file = row.file.or(named);
        true
    }

    fn file_operation_end(&mut self, record: &Record<'_>, irp: u64, extra: u64, status: u32) {
        let time = self.clock.ns(record.time());
        let end = FileEnd { time, cpu: cpu_number(record), bytes: extra.cast_signed(), status };
        match self.file_io.operations.end(irp, end, transfers) {
            Some(row) => {
                let irp = (self.file_io.has_filter_calls && irp != 0).then_some(irp.cast_signed());
                self.sink.file_io(&FileIoRow { irp, ..row });
            }
            None => self.health.count(HealthKind::FILE_OPERATION_ENDS_WITHOUT_START, Some(record.time()), || {
                format!("request {irp:#x}")
            }),
        }
    }

    /// The end of the recording, ns: operations that have not ended.
    pub(super) fn finish_file_io(&mut self, end: i64) {
        let mut count = 0;
        for row in self.file_io.operations.finish(end) {
            count += 1;
            self.sink.file_io(&row);
        }
        self.health.add(HealthKind::FILE_OPERATIONS_WITHOUT_END, count, None, || {
            "operations that were under way at the end of the recording".to_owned()
        });
    }

    /// The stack of the event. The payload names the thread: of the class FileIo the header may not.
    fn file_stack(&mut self, record: &Record<'_>, thread: u32, is_provider: bool) -> Option<StackId> {
        if is_provider {
            self.provider_stack(record)
        } else {
            self.stack_of(record, Some(record.tid().unwrap_or(thread)))
        }
    }

    /// The file that was last opened with a file object.
    pub(super) fn file_of_object(&mut self, object: u64) -> Option<FileId> {
        let path = self.file_io.objects.get(&object).copied()?;
        Some(self.file_of(path))
    }

    /// The number of an absolute path. What a relative one is relative to is not known.
    fn absolute_path(&mut self, path: &dyn std::fmt::Display) -> Option<PathId> {
        self.file_io.text.clear();
        let _ = write!(self.file_io.text, "{path}");
        if !self.file_io.text.starts_with('\\') {
            return None;
        }
        self.files.path_id(&self.file_io.text)
    }

    fn pattern(&mut self, text: Text<'_>) -> Option<String> {
        let Text::Pattern(pattern) = text else { return None };
        self.file_io.text.clear();
        let _ = write!(self.file_io.text, "{pattern}");
        let kept: String = self.file_io.text.chars().take(MAX_PATTERN).collect();
        (!kept.is_empty()).then_some(kept)
    }
}
