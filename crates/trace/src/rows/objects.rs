//! Handles, kernel objects and mapped views.

use crate::ids::{FileId, ProcessId, StackId, ThreadId};
use crate::row;

/// Values of `handles.kind`.
pub mod handle_kinds {
    /// A handle of the kernel's object manager.
    pub const KERNEL: i8 = 0;
    /// A handle of the window manager.
    pub const USER: i8 = 1;
    /// A handle of GDI.
    pub const GDI: i8 = 2;
    /// A file descriptor.
    pub const DESCRIPTOR: i8 = 3;
}

/// Values of `handles.made_by`.
pub mod handle_origins {
    /// Created or opened.
    pub const CREATED: i8 = 0;
    /// Duplicated from another handle.
    pub const DUPLICATED: i8 = 1;
    /// It was there before the recording.
    pub const THERE: i8 = 2;
    /// The process got it from its creator.
    pub const INHERITED: i8 = 3;
    /// Another process owned it before.
    pub const CHANGED_OWNER: i8 = 4;
}

row! {
    /// One life of a handle, from its creation to its close. A value that is used again is another row.
    /// It belongs to a time range when it touches it.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct HandleRow in "handles", always: false, since: 6, Span(start, time) {
        /// Time of the close; the end of the recording where `open`.
        time: i64, Delta, "ns", "Object/CloseHandle; Win32k 453, 456; sys_exit";
        /// Time of the creation; the start of the recording where `made_by` is 2; the start of the
        /// process where `made_by` is 3.
        start: i64, Plain, "ns", "Object/CreateHandle, DuplicateHandle; Win32k 452, 455; sys_exit, FORK";
        /// Process that made it; null where its creation is not in the recording.
        process: Option<ProcessId>, Dictionary, "", "header";
        /// Thread that made it.
        thread: Option<ThreadId>, Dictionary, "", "header";
        /// Stack of the creation.
        stack: Option<StackId>, Plain, "", "stack of the creation";
        /// Process that has the handle. Handles of the kernel itself (bit 31 is set) belong to System.
        owner: ProcessId, Dictionary, "", "header; DuplicateHandle TargetProcessID; Win32k OwnerProcessId";
        /// 0 kernel object, 1 window manager, 2 GDI, 3 file descriptor.
        kind: i8, Dictionary, "", "provider of the event";
        /// The value of the handle; the number of a descriptor.
        handle: i64, Plain, "", "Handle, TargetHandle; Win32k HandleValue; ret of sys_exit, arguments of sys_enter";
        /// Address of the object. Null for handles of the window manager and of GDI, and for
        /// descriptors.
        object: Option<i64>, Plain, "", "Object";
        /// Type of the object, such as `File`, `Event`, `Section`, `Window`, `Bitmap`; `type N` where the
        /// recording does not name the type. Of a descriptor `file`, `memfd`, `socket`, `pipe`, `eventfd`,
        /// or `anon_inode:` with the kernel's name of it.
        object_type: Option<String>, Dictionary, "", "ObjectType, named by Object/TypeDCStart, TypeDCEnd; Win32k HandleType; name of the system call, /proc/PID/fd";
        /// Name of the object; path of a file, `socket:[INODE]`, `pipe:[INODE]`.
        name: Option<String>, Dictionary, "", "Object/HandleDCStart, HandleDCEnd, CreateHandle ObjectName; probes of `tracesift record`, /proc/PID/fd";
        /// 0 created or opened, 1 duplicated, 2 there before the recording, 3 inherited, 4 taken over
        /// from another process.
        made_by: i8, Dictionary, "", "made by the extract";
        /// Process that had the handle from which this one was made.
        source_process: Option<ProcessId>, Dictionary, "", "DuplicateHandle SourceProcessID; creator of the process";
        /// The handle from which this one was made.
        source_handle: Option<i64>, Plain, "", "DuplicateHandle SourceHandle";
        /// Thread that closed it; null where the recording has no close.
        close_thread: Option<ThreadId>, Dictionary, "", "header of the close";
        /// Stack of the close.
        close_stack: Option<StackId>, Plain, "", "stack of the close";
        /// True where the end of its process closed it: the recording has no close before.
        by_exit: Option<bool>, Plain, "", "Process/End";
        /// True where it was not closed in the recording.
        open: Option<bool>, Plain, "", "made by the extract";
    }
}

row! {
    /// One kernel object, from its creation to its deletion. An address that is used again is another
    /// row. It belongs to a time range when it touches it.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct ObjectRow in "objects", always: false, since: 6, Span(start, time) {
        /// Time of the deletion; the end of the recording where `open`.
        time: i64, Delta, "ns", "Object/DeleteObject";
        /// Time of the creation; the start of the recording where `there`.
        start: i64, Plain, "ns", "Object/CreateObject";
        /// Number of the object, in the order in which the recording first has it.
        object: i32, Plain, "", "made by the extract";
        /// Address of the object.
        address: i64, Plain, "", "Object";
        /// Type of the object; `type N` where the recording does not name the type.
        object_type: Option<String>, Dictionary, "", "ObjectType, named by Object/TypeDCStart, TypeDCEnd";
        /// Name of the object.
        name: Option<String>, Dictionary, "", "Object/HandleDCStart, HandleDCEnd ObjectName";
        /// Process that created it; null where `there`.
        process: Option<ProcessId>, Dictionary, "", "header";
        /// Stack of the creation.
        stack: Option<StackId>, Plain, "", "stack of the creation";
        /// Stack of the deletion.
        end_stack: Option<StackId>, Plain, "", "stack of the deletion";
        /// References that were taken in the recording.
        references: i64, Plain, "", "Object/ReferenceObject Count";
        /// References that were given back in the recording.
        dereferences: i64, Plain, "", "Object/DereferenceObject Count";
        /// True where it was there before the recording.
        there: Option<bool>, Plain, "", "made by the extract";
        /// True where it was not deleted in the recording.
        open: Option<bool>, Plain, "", "made by the extract";
    }
}

row! {
    /// References to a kernel object that were taken or given back at one time: one event of the
    /// kernel. The table is there only if the extract keeps all events (`--events all`): there are
    /// hundreds of these events for each created object.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct ObjectReferenceRow in "object_references", always: false, since: 6, At(time) {
        /// Time of the event.
        time: i64, Delta, "ns", "Object/ReferenceObject, DereferenceObject";
        /// CPU that logged the event.
        cpu: i16, Dictionary, "", "buffer that holds the event";
        /// Process of the thread.
        process: Option<ProcessId>, Dictionary, "", "header, else `threads`";
        /// Thread that took or gave back the references.
        thread: Option<ThreadId>, Dictionary, "", "header, else the thread that ran on the CPU";
        /// Number of the object in `objects`; null where that table is left out.
        object: Option<i32>, Plain, "", "made by the extract";
        /// Address of the object.
        address: i64, Plain, "", "Object";
        /// References that were taken; below 0: references that were given back.
        change: i64, Dictionary, "", "Count";
        /// Four characters for the code that has the references, such as `Dflt`. Bytes that are no
        /// printable ASCII are dots.
        tag: String, Dictionary, "", "Tag";
        /// Call stack.
        stack: Option<StackId>, Plain, "", "StackWalk/Stack of this event";
    }
}

row! {
    /// One view of a section in the address space of a process, from mapping to unmapping. It belongs
    /// to a time range when it touches it. On Linux a descriptor that a process maps; a part of it
    /// that is unmapped by itself, or that something else is mapped over, has a row of its own.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct MappedViewRow in "mapped_views", always: false, since: 6, Span(start, time) {
        /// Time of unmapping; the end of the recording where `open`.
        time: i64, Delta, "ns", "FileIo/UnmapFile; munmap, mmap, mremap, exec";
        /// Time of mapping; the start of the recording where `there`.
        start: i64, Plain, "ns", "FileIo/MapFile; mmap";
        /// Process that has the view.
        process: ProcessId, Dictionary, "", "ProcessID";
        /// Thread that mapped it; null where `there`.
        thread: Option<ThreadId>, Dictionary, "", "header";
        /// Address of the view.
        base: i64, Plain, "", "ViewBase";
        /// Size of the view.
        size: i64, Plain, "bytes", "ViewSize";
        /// Offset in the section.
        offset: Option<i64>, Plain, "bytes", "ByteOffset (from version 3); off of mmap";
        /// File behind the view.
        file: Option<FileId>, Dictionary, "", "FileKey; the file of the descriptor, else of MMAP2";
        /// Key of the file, or address of the section where no file is behind it; on Linux the
        /// descriptor.
        object: i64, Plain, "", "FileKey; fd of mmap";
        /// Stack of mapping.
        stack: Option<StackId>, Plain, "", "stack of FileIo/MapFile";
        /// Stack of unmapping.
        end_stack: Option<StackId>, Plain, "", "stack of FileIo/UnmapFile";
        /// True where it was there before the recording.
        there: Option<bool>, Plain, "", "FileIo/MapFileDCStart, MapFileDCStop";
        /// True where the end of its process unmapped it: the recording has no unmapping before.
        by_exit: Option<bool>, Plain, "", "Process/End";
        /// True where it was not unmapped in the recording.
        open: Option<bool>, Plain, "", "made by the extract";
    }
}
