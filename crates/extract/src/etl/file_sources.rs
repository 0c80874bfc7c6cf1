//! Which source of file operations a recording has, and whether it tells of their ends.

use tracesift_etl::payload::{FileCreate, FileInformation, FileOperationEnd};
use tracesift_trace::rows::file_operations as operations;

/// Event ids of Microsoft-Windows-Kernel-File.
pub(crate) mod id {
    pub(crate) const NAME_CREATE: u16 = 10;
    pub(crate) const NAME_DELETE: u16 = 11;
    pub(crate) const CREATE: u16 = 12;
    pub(crate) const CLEANUP: u16 = 13;
    pub(crate) const CLOSE: u16 = 14;
    pub(crate) const READ: u16 = 15;
    pub(crate) const WRITE: u16 = 16;
    pub(crate) const SET: u16 = 17;
    pub(crate) const DELETE: u16 = 18;
    pub(crate) const RENAME: u16 = 19;
    pub(crate) const ENUMERATE: u16 = 20;
    pub(crate) const FLUSH: u16 = 21;
    pub(crate) const QUERY: u16 = 22;
    pub(crate) const CONTROL: u16 = 23;
    pub(crate) const END: u16 = 24;
    pub(crate) const NOTIFY: u16 = 25;
    pub(crate) const DELETE_PATH: u16 = 26;
    pub(crate) const RENAME_PATH: u16 = 27;
    pub(crate) const SET_LINK_PATH: u16 = 28;
    pub(crate) const RENAME_AGAIN: u16 = 29;
    pub(crate) const CREATE_NEW: u16 = 30;
    pub(crate) const SET_SECURITY: u16 = 31;
    pub(crate) const QUERY_SECURITY: u16 = 32;
    pub(crate) const SET_ATTRIBUTES: u16 = 33;
    pub(crate) const QUERY_ATTRIBUTES: u16 = 34;
}

/// The operation of an opcode of FileIo that is about information.
pub(crate) fn operation_of_information(opcode: u8) -> i8 {
    match opcode {
        FileInformation::SET => operations::SET,
        FileInformation::DELETE | FileInformation::DELETE_PATH => operations::DELETE,
        FileInformation::RENAME | FileInformation::RENAME_PATH => operations::RENAME,
        FileInformation::QUERY => operations::QUERY,
        FileInformation::CONTROL => operations::CONTROL,
        FileInformation::SET_SECURITY => operations::SET_SECURITY,
        FileInformation::QUERY_SECURITY => operations::QUERY_SECURITY,
        FileInformation::SET_ATTRIBUTES | FileInformation::QUERY_ATTRIBUTES => operations::EXTENDED_ATTRIBUTES,
        _ => operations::CREATE,
    }
}

/// Whether an event of this opcode of FileIo is the path of an operation that has an event of its own.
pub(crate) fn is_path_of(opcode: u8) -> bool {
    matches!(opcode, FileInformation::DELETE_PATH..=FileInformation::SET_LINK_PATH)
}

/// The operation of an event id of the provider.
pub(crate) fn operation_of_id(id: u16) -> Option<i8> {
    Some(match id {
        id::CREATE | id::CREATE_NEW => operations::OPEN,
        id::CLEANUP => operations::CLEANUP,
        id::CLOSE => operations::CLOSE,
        id::READ => operations::READ,
        id::WRITE => operations::WRITE,
        id::SET => operations::SET,
        id::DELETE | id::DELETE_PATH => operations::DELETE,
        id::RENAME | id::RENAME_AGAIN | id::RENAME_PATH => operations::RENAME,
        id::ENUMERATE => operations::LIST,
        id::FLUSH => operations::FLUSH,
        id::QUERY => operations::QUERY,
        id::CONTROL => operations::CONTROL,
        id::NOTIFY => operations::WAIT,
        id::SET_LINK_PATH => operations::CREATE,
        id::SET_SECURITY => operations::SET_SECURITY,
        id::QUERY_SECURITY => operations::QUERY_SECURITY,
        id::SET_ATTRIBUTES | id::QUERY_ATTRIBUTES => operations::EXTENDED_ATTRIBUTES,
        _ => return None,
    })
}

/// Whether an event of the provider adds a path, or that a file is new, to an operation that has an event of its own.
pub(crate) fn is_beside(id: u16) -> bool {
    matches!(id, id::DELETE_PATH | id::RENAME_PATH | id::SET_LINK_PATH | id::CREATE_NEW)
}

/// What the first pass has seen of file operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileSources {
    kernel: Seen,
    provider: Seen,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seen {
    any: bool,
    ends: bool,
    /// A bit for each operation that has an event of its own.
    own: u32,
}

impl FileSources {
    /// An event of the class FileIo that names no file.
    pub(crate) fn meet_kernel(&mut self, opcode: u8) {
        match opcode {
            FileOperationEnd::OPCODE => self.kernel.ends = true,
            FileInformation::DELETE | FileInformation::RENAME | FileInformation::SET_LINK => {
                self.kernel.any = true;
                self.kernel.own |= 1 << operation_of_information(opcode);
            }
            FileCreate::OPCODE..=FileInformation::QUERY_ATTRIBUTES => self.kernel.any = true,
            _ => {}
        }
    }

    /// An event of Microsoft-Windows-Kernel-File.
    pub(crate) fn meet_provider(&mut self, id: u16) {
        if id == id::END {
            self.provider.ends = true;
        } else if let Some(operation) = operation_of_id(id) {
            self.provider.any = true;
            self.provider.own |= u32::from(!is_beside(id)) << operation;
        }
    }

    /// Whether the operations of the provider have rows: the class has none.
    pub(crate) fn takes_provider(self) -> bool {
        !self.kernel.any
    }

    fn taken(self) -> Seen {
        if self.takes_provider() { self.provider } else { self.kernel }
    }

    /// Whether ends of the operations that have rows are in the recording.
    pub(crate) fn has_ends(self) -> bool {
        self.taken().ends
    }

    /// Whether the recording has events of the operation that add nothing to other events.
    pub(crate) fn has_own_event(self, operation: i8) -> bool {
        self.taken().own & 1 << operation != 0
    }
}
