//! Methods and modules of the .NET runtime; EVENT_HEADER records.

use super::Bytes;
use crate::guid::Guid;

/// The runtime's provider: what happens while it runs.
pub const DOTNET_PROVIDER: Guid = Guid::from_u128(0xe13c_0d23_ccbc_4e12_931b_d9cc_2eee_27e4);
/// The provider that lists what is there when a session ends.
pub const DOTNET_RUNDOWN_PROVIDER: Guid = Guid::from_u128(0xa669_021c_c450_4609_a035_5af5_9af4_df18);

/// Id of the runtime's event for a method that got code; version 2.
pub const METHOD_LOAD_VERBOSE: u16 = 143;
/// Id of the rundown's event for a method that has code; version 2.
pub const METHOD_DC_END_VERBOSE: u16 = 144;
/// Id of the runtime's event for a loaded module; version 2.
pub const MODULE_LOAD: u16 = 152;
/// Id of the rundown's event for a loaded module; version 2.
pub const MODULE_DC_END: u16 = 154;

/// Bits of [`Method::flags`].
pub mod method_flags {
    /// Compiled at run time; absent: precompiled code.
    pub const JITTED: u32 = 8;
}

/// One piece of code of a method, version 2.
#[derive(Clone, Copy, Debug)]
pub struct Method<'a> {
    /// Method id.
    pub method: u64,
    /// Module id; see [`ManagedModule`].
    pub module: u64,
    /// Address of the code.
    pub start: u64,
    /// Bytes of code.
    pub size: u32,
    /// Metadata token.
    pub token: u32,
    /// See [`method_flags`].
    pub flags: u32,
    /// Namespace and type.
    pub namespace: &'a str,
    /// Method.
    pub name: &'a str,
    /// Signature.
    pub signature: &'a str,
}

impl Method<'_> {
    /// Version of the payload.
    pub const VERSION: u8 = 2;

    /// Appends the payload.
    pub fn encode(&self, out: &mut Bytes) {
        out.u64(self.method);
        out.u64(self.module);
        out.u64(self.start);
        out.u32(self.size);
        out.u32(self.token);
        out.u32(self.flags);
        out.utf16(self.namespace);
        out.utf16(self.name);
        out.utf16(self.signature);
        out.u16(CLR_INSTANCE);
        out.u64(0); // first compilation
    }
}

/// A loaded managed module, version 2.
#[derive(Clone, Copy, Debug)]
pub struct ManagedModule<'a> {
    /// Module id.
    pub module: u64,
    /// Assembly id.
    pub assembly: u64,
    /// Path of the file with the intermediate code.
    pub path: &'a str,
    /// Signature of the managed PDB.
    pub pdb_guid: Guid,
    /// Age of the managed PDB.
    pub pdb_age: u32,
    /// Path of the managed PDB.
    pub pdb_path: &'a str,
}

impl ManagedModule<'_> {
    /// Version of the payload.
    pub const VERSION: u8 = 2;

    /// Appends the payload.
    pub fn encode(&self, out: &mut Bytes) {
        out.u64(self.module);
        out.u64(self.assembly);
        out.u32(8); // a manifest module
        out.u32(0);
        out.utf16(self.path);
        out.utf16("");
        out.u16(CLR_INSTANCE);
        out.guid(self.pdb_guid);
        out.u32(self.pdb_age);
        out.utf16(self.pdb_path);
        out.guid(Guid::ZERO);
        out.u32(0);
        out.utf16("");
    }
}

/// Number of the runtime in its process.
const CLR_INSTANCE: u16 = 8;
