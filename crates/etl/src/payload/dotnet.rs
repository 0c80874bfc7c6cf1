//! Providers of the .NET runtime: which code belongs to which managed method, and which runtime ran.
//!
//! The runtime provider writes these events as things happen, the rundown provider at the start or the end of a session.
//! Both use the same layouts, though not all the same ids: module events are 151 (domain module), 152 and 153 in the runtime
//! provider, and 151, 152 (domain module) and 153, 154 in the rundown provider.

use super::array::Items;
use super::reader::Reader;
use super::text::WideStr;
use super::{Payload, PayloadError};
use crate::guid::Guid;

/// The provider Microsoft-Windows-DotNETRuntime.
pub const RUNTIME_PROVIDER: Guid = Guid::from_u128(0xe13c0d23_ccbc_4e12_931b_d9cc2eee27e4);
/// The provider Microsoft-Windows-DotNETRuntimeRundown.
pub const RUNDOWN_PROVIDER: Guid = Guid::from_u128(0xa669021c_c450_4609_a035_5af59af4df18);

/// The provider System.Threading.Tasks.TplEventSource: tasks of .NET.
pub const TASKS_PROVIDER: Guid = Guid::from_u128(0x2e5dba47_a3d2_4d16_8ee0_6671ffdcd7b5);
/// The provider System.Diagnostics.Eventing.FrameworkEventSource: the class library of .NET, its thread pool among it.
pub const FRAMEWORK_PROVIDER: Guid = Guid::from_u128(0x8e9f5090_2d75_4d03_8a81_e5afbf85daf1);

/// Bits of [`MethodCode::flags`].
pub mod method_flags {
    /// Made at run time (dynamic methods).
    pub const DYNAMIC: u32 = 0x1;
    /// A generic method.
    pub const GENERIC: u32 = 0x2;
    /// Code that instantiations share.
    pub const SHARED_GENERIC: u32 = 0x4;
    /// Compiled just in time; else the code was precompiled.
    pub const JITTED: u32 = 0x8;
    /// No method at all but a helper of the runtime, such as a write barrier.
    pub const JIT_HELPER: u32 = 0x10;
    /// Precompiled code (ReadyToRun) was there and could not be used.
    pub const READY_TO_RUN_REJECTED: u32 = 0x40;
}

/// The code of a method: the part that all method events have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodCode {
    /// Identity of the method in its process; with tiered compilation a method has several ranges of code.
    pub method_id: u64,
    /// Identity of its module in its process.
    pub module_id: u64,
    /// Address of the code.
    pub start_address: u64,
    /// Bytes of code.
    pub size: u32,
    /// Metadata token.
    pub token: u32,
    /// See [`method_flags`].
    pub flags: u32,
}

impl MethodCode {
    /// Was it compiled just in time?
    pub fn is_jitted(&self) -> bool {
        self.flags & method_flags::JITTED != 0
    }

    /// How it was compiled: 0 unknown, 1 not optimised, 2 optimised, 3 quickly (tier 0), 4 tier 1, 5 tier 1 by on-stack
    /// replacement, 6 quickly with instrumentation, 7 tier 1 with instrumentation.
    pub fn tier(&self) -> u8 {
        ((self.flags >> 7) & 7) as u8
    }

    /// Is it the second range of a method whose rarely used code lies elsewhere? Its first byte follows the last one of the first range where
    /// offsets in the native code are concerned.
    pub fn is_cold(&self) -> bool {
        self.flags >> 28 == 1
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, PayloadError> {
        Ok(Self {
            method_id: reader.u64("method id")?,
            module_id: reader.u64("module id")?,
            start_address: reader.u64("method start address")?,
            size: reader.u32("method size")?,
            token: reader.u32("method token")?,
            flags: reader.u32("method flags")?,
        })
    }
}

/// Events 141 (load) and 142 (unload), without names; versions 0 to 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodLoad {
    /// The code.
    pub code: MethodCode,
    /// Which runtime of the process. From version 1 on.
    pub clr_instance: Option<u16>,
    /// Identity of the body that a profiler put in. From version 2 on.
    pub rejit_id: Option<u64>,
}

impl MethodLoad {
    /// Event id: the code is there from now on (rundown: at the start).
    pub const LOAD_ID: u16 = 141;
    /// Event id: the code goes away (rundown: is there at the end).
    pub const UNLOAD_ID: u16 = 142;
}

impl<'a> Payload<'a> for MethodLoad {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            code: MethodCode::read(reader)?,
            clr_instance: clr_instance(reader, version),
            rejit_id: rejit_id(reader, version),
        })
    }
}

/// Events 143 (load) and 144 (unload), with names; versions 0 to 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodLoadVerbose<'a> {
    /// The code.
    pub code: MethodCode,
    /// Namespace and type (`System.IO.StreamWriter`).
    pub namespace: WideStr<'a>,
    /// Name of the method.
    pub name: WideStr<'a>,
    /// Return type and parameters.
    pub signature: WideStr<'a>,
    /// Which runtime of the process. From version 1 on.
    pub clr_instance: Option<u16>,
    /// Identity of the body that a profiler put in. From version 2 on.
    pub rejit_id: Option<u64>,
}

impl MethodLoadVerbose<'_> {
    /// Event id: the code is there from now on (rundown: at the start).
    pub const LOAD_ID: u16 = 143;
    /// Event id: the code goes away (rundown: is there at the end).
    pub const UNLOAD_ID: u16 = 144;
}

impl<'a> Payload<'a> for MethodLoadVerbose<'a> {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            code: MethodCode::read(reader)?,
            namespace: reader.wide("method namespace")?,
            name: reader.wide("method name")?,
            signature: reader.wide("method signature")?,
            clr_instance: clr_instance(reader, version),
            rejit_id: rejit_id(reader, version),
        })
    }
}

/// Event 145: the JIT compiler begins with a method; versions 0 and 1. The event of the code follows on the same thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodJittingStarted<'a> {
    /// Identity of the method in its process.
    pub method_id: u64,
    /// Identity of its module in its process.
    pub module_id: u64,
    /// Metadata token.
    pub token: u32,
    /// Bytes of intermediate language (IL).
    pub il_size: u32,
    /// Namespace and type (`System.IO.StreamWriter`).
    pub namespace: WideStr<'a>,
    /// Name of the method.
    pub name: WideStr<'a>,
    /// Return type and parameters.
    pub signature: WideStr<'a>,
    /// Which runtime of the process. From version 1 on.
    pub clr_instance: Option<u16>,
}

impl MethodJittingStarted<'_> {
    /// Event id of the runtime provider.
    pub const ID: u16 = 145;
}

impl<'a> Payload<'a> for MethodJittingStarted<'a> {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            method_id: reader.u64("method id")?,
            module_id: reader.u64("module id")?,
            token: reader.u32("method token")?,
            il_size: reader.u32("IL size")?,
            namespace: reader.wide("method namespace")?,
            name: reader.wide("method name")?,
            signature: reader.wide("method signature")?,
            clr_instance: clr_instance(reader, version),
        })
    }
}

/// Event 15: names of types, which other events name by their ids; version 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BulkTypes<'a> {
    /// Which runtime of the process.
    pub clr_instance: u16,
    count: u32,
    /// The types, as they are stored.
    rest: &'a [u8],
    pointer_size: u8,
}

/// A type of .NET.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeName<'a> {
    /// Identity of the type in its process.
    pub type_id: u64,
    /// Its name with namespace.
    pub name: WideStr<'a>,
}

impl<'a> BulkTypes<'a> {
    /// Event id of the runtime provider.
    pub const ID: u16 = 15;

    /// The types, as far as the payload has them.
    pub fn types(&self) -> impl Iterator<Item = TypeName<'a>> + use<'a> {
        let mut reader = Reader::new(self.rest, self.pointer_size);
        (0..self.count).map_while(move |_| described(&mut reader).ok())
    }
}

fn described<'a>(reader: &mut Reader<'a>) -> Result<TypeName<'a>, PayloadError> {
    let type_id = reader.u64("type id")?;
    reader.u64("module id")?;
    reader.u32("id of the type's name")?;
    reader.u32("type flags")?;
    reader.u8("element type")?;
    let name = reader.wide("type name")?;
    let parameters = reader.u32("number of type parameters")?;
    let _: Items<'a, u64> = reader.items(parameters, "type parameters")?;
    Ok(TypeName { type_id, name })
}

impl<'a> Payload<'a> for BulkTypes<'a> {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        let (count, clr_instance) = (reader.u32("number of types")?, reader.u16("runtime instance")?);
        Ok(Self { clr_instance, count, pointer_size: reader.pointer_size(), rest: reader.rest() })
    }
}

/// Which intermediate language (IL) the native code of a method was compiled from; versions 0 and 1. The runtime provider logs it right behind the
/// event of the method, on the same thread, the rundown provider right in front of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodIlToNativeMap<'a> {
    /// Identity of the method in its process.
    pub method_id: u64,
    /// Identity of the body that a profiler put in.
    pub rejit_id: u64,
    /// Always 0: the whole method.
    pub extent: u8,
    /// Offsets in the IL, in order; −1 stands for no IL, −2 for a prolog, −3 for an epilog.
    pub il_offsets: Items<'a, u32>,
    /// Offset in the native code of each, in no order.
    pub native_offsets: Items<'a, u32>,
    /// Which runtime of the process.
    pub clr_instance: Option<u16>,
    /// Identity of the IL. From version 1 on.
    pub il_version_id: Option<u64>,
}

impl MethodIlToNativeMap<'_> {
    /// Event id of the runtime provider: compiled now.
    pub const ID: u16 = 190;
    /// Event id of the rundown provider: there at the start.
    pub const DC_START_ID: u16 = 149;
    /// Event id of the rundown provider: there at the end.
    pub const DC_END_ID: u16 = 150;

    /// Native offsets, each with its IL offset.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32)> {
        self.native_offsets.iter().zip(self.il_offsets.iter())
    }
}

impl<'a> Payload<'a> for MethodIlToNativeMap<'a> {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        let (method_id, rejit_id) = (reader.u64("method id")?, reader.u64("ReJIT id")?);
        let (extent, count) = (reader.u8("method extent")?, u32::from(reader.u16("number of map entries")?));
        Ok(Self {
            method_id,
            rejit_id,
            extent,
            il_offsets: reader.items(count, "IL offsets")?,
            native_offsets: reader.items(count, "native offsets")?,
            clr_instance: reader.optional(|r| r.u16("runtime instance")),
            il_version_id: if version >= 1 { reader.optional(|r| r.u64("IL version id")) } else { None },
        })
    }
}

/// Event 159 of the runtime provider: a precompiled method (ReadyToRun) is used for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryPoint<'a> {
    /// Identity of the method in its process.
    pub method_id: u64,
    /// Namespace and type.
    pub namespace: WideStr<'a>,
    /// Name of the method.
    pub name: WideStr<'a>,
    /// Return type and parameters.
    pub signature: WideStr<'a>,
    /// First address of its code.
    pub address: u64,
    /// Which runtime of the process.
    pub clr_instance: Option<u16>,
}

impl EntryPoint<'_> {
    /// Event id; that of the rundown provider with this number is of a thread.
    pub const ID: u16 = 159;
}

impl<'a> Payload<'a> for EntryPoint<'a> {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            method_id: reader.u64("method id")?,
            namespace: reader.wide("method namespace")?,
            name: reader.wide("method name")?,
            signature: reader.wide("method signature")?,
            address: reader.u64("entry point")?,
            clr_instance: reader.optional(|r| r.u16("runtime instance")),
        })
    }
}

/// Module loads, unloads and rundown; versions 0 to 2. See the module's documentation for the ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModuleLoad<'a> {
    /// Identity of the module in its process.
    pub module_id: u64,
    /// Identity of its assembly.
    pub assembly_id: u64,
    /// 1 domain-neutral, 2 native code, 4 dynamic, 8 manifest module.
    pub flags: u32,
    /// Nothing known.
    pub reserved: u32,
    /// Path of the assembly; empty or a name for dynamic ones.
    pub il_path: WideStr<'a>,
    /// Path of the separate precompiled image; empty when there is none.
    pub native_path: WideStr<'a>,
    /// Which runtime of the process. From version 1 on.
    pub clr_instance: Option<u16>,
    /// PDB of the assembly; zero GUID when there is none. From version 2 on.
    pub managed_pdb: Option<ModulePdb<'a>>,
    /// PDB of the precompiled image; zero GUID when there is none. From version 2 on.
    pub native_pdb: Option<ModulePdb<'a>>,
}

/// Identity of a module's PDB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModulePdb<'a> {
    /// GUID.
    pub signature: Guid,
    /// Age.
    pub age: u32,
    /// Path on the machine that built it, or its name.
    pub path: WideStr<'a>,
}

impl ModuleLoad<'_> {
    /// Event id of the runtime provider: a module is loaded.
    pub const LOAD_ID: u16 = 152;
    /// Event id of the runtime provider: a module is unloaded.
    pub const UNLOAD_ID: u16 = 153;
    /// Event id of the rundown provider: a module is loaded at the start.
    pub const DC_START_ID: u16 = 153;
    /// Event id of the rundown provider: a module is loaded at the end.
    pub const DC_END_ID: u16 = 154;
}

impl<'a> Payload<'a> for ModuleLoad<'a> {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        let mut module = Self {
            module_id: reader.u64("module id")?,
            assembly_id: reader.u64("assembly id")?,
            flags: reader.u32("module flags")?,
            reserved: reader.u32("reserved field")?,
            il_path: reader.wide("assembly path")?,
            native_path: reader.wide("precompiled image path")?,
            clr_instance: clr_instance(reader, version),
            managed_pdb: None,
            native_pdb: None,
        };
        if version >= 2 {
            module.managed_pdb = reader.optional(ModulePdb::read);
            module.native_pdb = reader.optional(ModulePdb::read);
        }
        Ok(module)
    }
}

impl<'a> ModulePdb<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, PayloadError> {
        Ok(Self { signature: reader.guid("PDB GUID")?, age: reader.u32("PDB age")?, path: reader.wide("PDB path")? })
    }
}

/// A module comes into an application domain; versions 0 and 1. See the module's documentation for the ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DomainModuleLoad<'a> {
    /// Identity of the module in its process.
    pub module_id: u64,
    /// Identity of its assembly.
    pub assembly_id: u64,
    /// Identity of the application domain.
    pub app_domain_id: u64,
    /// As [`ModuleLoad::flags`].
    pub flags: u32,
    /// Nothing known.
    pub reserved: u32,
    /// Path of the assembly.
    pub il_path: WideStr<'a>,
    /// Path of the separate precompiled image; empty when there is none.
    pub native_path: WideStr<'a>,
    /// Which runtime of the process. From version 1 on.
    pub clr_instance: Option<u16>,
}

impl DomainModuleLoad<'_> {
    /// Event id of the runtime provider: loaded; of the rundown provider: there at the start.
    pub const LOAD_ID: u16 = 151;
    /// Event id of the rundown provider: there at the end.
    pub const DC_END_ID: u16 = 152;
}

impl<'a> Payload<'a> for DomainModuleLoad<'a> {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            module_id: reader.u64("module id")?,
            assembly_id: reader.u64("assembly id")?,
            app_domain_id: reader.u64("application domain id")?,
            flags: reader.u32("module flags")?,
            reserved: reader.u32("reserved field")?,
            il_path: reader.wide("assembly path")?,
            native_path: reader.wide("precompiled image path")?,
            clr_instance: clr_instance(reader, version),
        })
    }
}

/// Event 187: a runtime started, or runs (rundown).
///
/// Decoded, not used by tracesift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuntimeInformation<'a> {
    /// Which runtime of the process.
    pub clr_instance: u16,
    /// 1 desktop CLR, 2 CoreCLR.
    pub sku: u16,
    /// Version of the base class library: major, minor, build, revision.
    pub bcl_version: [u16; 4],
    /// Version of the runtime: major, minor, build, revision.
    pub vm_version: [u16; 4],
    /// Startup flags.
    pub startup_flags: u32,
    /// How it was started: 1 managed executable, 2 hosted, 4 C++/CLI, 8 COM, 16 other.
    pub startup_mode: u8,
    /// Command line of the process.
    pub command_line: WideStr<'a>,
    /// Class id, when it was started for a COM object.
    pub com_object: Guid,
    /// Path of the runtime.
    pub runtime_dll: WideStr<'a>,
}

impl RuntimeInformation<'_> {
    /// Event id.
    pub const ID: u16 = 187;
}

impl<'a> Payload<'a> for RuntimeInformation<'a> {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            clr_instance: reader.u16("runtime instance")?,
            sku: reader.u16("runtime kind")?,
            bcl_version: four(reader, "class library version")?,
            vm_version: four(reader, "runtime version")?,
            startup_flags: reader.u32("startup flags")?,
            startup_mode: reader.u8("startup mode")?,
            command_line: reader.wide("command line")?,
            com_object: reader.guid("COM object GUID")?,
            runtime_dll: reader.wide("runtime path")?,
        })
    }
}

fn four(reader: &mut Reader<'_>, what: &'static str) -> Result<[u16; 4], PayloadError> {
    Ok([reader.u16(what)?, reader.u16(what)?, reader.u16(what)?, reader.u16(what)?])
}

fn clr_instance(reader: &mut Reader<'_>, version: u8) -> Option<u16> {
    if version >= 1 { reader.optional(|r| r.u16("runtime instance")) } else { None }
}

fn rejit_id(reader: &mut Reader<'_>, version: u8) -> Option<u64> {
    if version >= 2 { reader.optional(|r| r.u64("ReJIT id")) } else { None }
}
