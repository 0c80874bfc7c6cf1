//! Class Object: handles of the kernel, the objects behind them, and the names of types.

use super::reader::Reader;
use super::text::WideStr;
use super::{Payload, PayloadError};

/// Object 32 (`CreateHandle`) and 33 (`CloseHandle`): a process gets a handle, or gives it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandleOperation<'a> {
    /// Address of the object.
    pub object: u64,
    /// The handle.
    pub handle: u32,
    /// Number of the type, which [`ObjectTypeName`] names.
    pub object_type: u16,
    /// Name of the object; most builds leave it empty.
    pub name: Option<WideStr<'a>>,
}

impl HandleOperation<'_> {
    /// Opcode: a handle was made.
    pub const CREATE: u8 = 32;
    /// Opcode: a handle was closed.
    pub const CLOSE: u8 = 33;
}

impl<'a> Payload<'a> for HandleOperation<'a> {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            object: reader.pointer("object")?,
            handle: reader.u32("handle")?,
            object_type: reader.u16("object type")?,
            name: reader.optional(|reader| reader.wide("object name")),
        })
    }
}

/// Object 34 (`DuplicateHandle`): a process gets a handle to the object of a handle that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandleDuplication {
    /// Address of the object.
    pub object: u64,
    /// The handle that exists.
    pub source_handle: u32,
    /// The new handle.
    pub target_handle: u32,
    /// Process that gets the new handle.
    pub target_process_id: u32,
    /// Number of the type.
    pub object_type: u16,
    /// Process that has the handle that exists. From version 3 on.
    pub source_process_id: Option<u32>,
}

impl HandleDuplication {
    /// Opcode.
    pub const OPCODE: u8 = 34;
}

impl<'a> Payload<'a> for HandleDuplication {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            object: reader.pointer("object")?,
            source_handle: reader.u32("source handle")?,
            target_handle: reader.u32("target handle")?,
            target_process_id: reader.u32("target process id")?,
            object_type: reader.u16("object type")?,
            source_process_id: reader.optional(|reader| reader.u32("source process id")),
        })
    }
}

/// Object 36 (`TypeDCStart`) and 37 (`TypeDCEnd`): the name of a type, at the rundown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectTypeName<'a> {
    /// Number of the type.
    pub object_type: u16,
    /// Its name: `Event`, `File`, `Thread`.
    pub name: WideStr<'a>,
}

impl ObjectTypeName<'_> {
    /// Opcode: rundown at the start.
    pub const DC_START: u8 = 36;
    /// Opcode: rundown at the end.
    pub const DC_END: u8 = 37;
}

impl<'a> Payload<'a> for ObjectTypeName<'a> {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        let object_type = reader.u16("object type")?;
        reader.skip(2, "reserved field")?;
        Ok(Self { object_type, name: reader.wide("name of the type")? })
    }
}

/// Object 38 (`HandleDCStart`) and 39 (`HandleDCEnd`): a handle that is open at the rundown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandleRundown<'a> {
    /// Address of the object.
    pub object: u64,
    /// Process that has the handle.
    pub process_id: u32,
    /// The handle.
    pub handle: u32,
    /// Number of the type.
    pub object_type: u16,
    /// Name of the object.
    pub name: Option<WideStr<'a>>,
}

impl HandleRundown<'_> {
    /// Opcode: rundown at the start.
    pub const DC_START: u8 = 38;
    /// Opcode: rundown at the end.
    pub const DC_END: u8 = 39;
}

impl<'a> Payload<'a> for HandleRundown<'a> {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            object: reader.pointer("object")?,
            process_id: reader.u32("process id")?,
            handle: reader.u32("handle")?,
            object_type: reader.u16("object type")?,
            name: reader.optional(|reader| reader.wide("object name")),
        })
    }
}

/// Object 48 (`CreateObject`) and 49 (`DeleteObject`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectOperation {
    /// Address of the object.
    pub object: u64,
    /// Number of the type.
    pub object_type: u16,
}

impl ObjectOperation {
    /// Opcode: an object was made.
    pub const CREATE: u8 = 48;
    /// Opcode: an object was deleted.
    pub const DELETE: u8 = 49;
}

impl<'a> Payload<'a> for ObjectOperation {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self { object: reader.pointer("object")?, object_type: reader.u16("object type")? })
    }
}

/// Object 50 (`ReferenceObject`) and 51 (`DereferenceObject`): the count of references to an object changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectReference {
    /// Address of the object.
    pub object: u64,
    /// Four characters that tell who holds the reference.
    pub tag: [u8; 4],
    /// References that came or went.
    pub count: u32,
}

impl ObjectReference {
    /// Opcode: references came.
    pub const REFERENCE: u8 = 50;
    /// Opcode: references went.
    pub const DEREFERENCE: u8 = 51;
}

impl<'a> Payload<'a> for ObjectReference {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            object: reader.pointer("object")?,
            tag: *reader.block::<4>("tag")?,
            count: reader.u32("number of references")?,
        })
    }
}
