//! `HandleData`, as it stands in an extract.

use serde::Deserialize;

use crate::bounded::{Entries, List};
use crate::limits::{EVENTS, MODULES};
use crate::sections::stacks::StackList;
use crate::values::Integer;

/// `HandleData`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct HandleData {
    /// Names of the types of objects, by number.
    pub object_type_map: Entries<Option<String>, MODULES>,
    /// Lives of objects, and mapped views.
    pub object_references: List<ObjectTrace, EVENTS>,
    /// Their stacks, where they have no file of their own.
    pub stacks: Option<StackList>,
}

/// An element of `ObjectReferences`: what happened to an object, or to the addresses of a view.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ObjectTrace {
    /// Address of the object.
    pub object_ptr: Integer,
    /// Number of its type.
    pub object_type: Integer,
    /// Its name.
    pub name: Option<String>,
    /// Its creation, where it was recorded.
    pub create_event: Option<Change>,
    /// Its deletion.
    pub destroy_event: Option<Change>,
    /// Handles of it that were open at the end of the recording.
    pub existing: List<ExistingHandle, EVENTS>,
    /// Creations of handles.
    pub handle_create_events: List<HandleEvent, EVENTS>,
    /// Handles that were made from others.
    pub handle_duplicate_events: List<HandleEvent, EVENTS>,
    /// Closes of handles.
    pub handle_close_events: List<HandleEvent, EVENTS>,
    /// References that were taken or given back.
    pub ref_changes: List<Change, EVENTS>,
    /// Views that were mapped.
    pub file_map_events: List<ViewEvent, EVENTS>,
    /// Views that were unmapped.
    pub file_unmap_events: List<ViewEvent, EVENTS>,
}

/// An element of `Existing`.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ExistingHandle {
    /// The value.
    pub handle: Integer,
    /// Process that has it, by its place in the list of processes.
    pub process: Integer,
}

/// Something that happened to a handle. Times are in ns since the start of the session.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct HandleEvent {
    /// When.
    pub time_ns: Integer,
    /// The value.
    pub handle_value: Integer,
    /// The handle from which it was made.
    pub source_handle_value: Integer,
    /// The process that had this one.
    pub source_process_idx: Integer,
    /// Process, by its place in the list of processes.
    pub process_idx: Integer,
    /// Id of the thread.
    pub thread_id: Integer,
    /// Stack, by its place.
    pub stack_idx: Integer,
}

/// References that were taken or given back.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Change {
    /// When.
    pub time_ns: Integer,
    /// How many; below 0: given back.
    pub ref_count_change: Integer,
    /// Process, by its place in the list of processes.
    pub process_idx: Integer,
    /// Id of the thread.
    pub thread_id: Integer,
    /// Stack, by its place.
    pub stack_idx: Integer,
}

/// A view that was mapped or unmapped.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ViewEvent {
    /// When.
    pub time_ns: Integer,
    /// Address of the view.
    pub view_base: Integer,
    /// Key of the file.
    pub file_object: Integer,
    /// Size.
    pub view_size: Integer,
    /// Offset in the section; versions of ETWAnalyzer that do not read it write 0.
    pub byte_offset: Integer,
    /// Process, by its place in the list of processes.
    pub process_idx: Integer,
    /// Id of the thread.
    pub thread_id: Integer,
    /// Stack, by its place.
    pub stack_idx: Integer,
}
