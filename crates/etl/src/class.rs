//! Event classes: the groups of kernel hooks, and the GUIDs of classes that records name directly.

use crate::guid::Guid;

/// The high byte of a kernel hook; each group is one event class with a GUID of its own.
///
/// Unknown groups keep their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Group(pub u8);

macro_rules! groups {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $guid:literal;)*) => {
        impl Group {
            $($(#[$doc])* pub const $name: Self = Self($number);)*

            /// GUID of the event class; `None` for a group without a known class.
            #[must_use]
            pub const fn guid(self) -> Option<Guid> {
                match self.0 {
                    $($number => Some(Guid::from_u128($guid)),)*
                    _ => None,
                }
            }

            /// The group whose class has this GUID.
            #[must_use]
            pub const fn of(guid: Guid) -> Option<Self> {
                match guid.to_u128() {
                    $($guid => Some(Self::$name),)*
                    _ => None,
                }
            }
        }
    };
}

groups! {
    /// Trace header and rundown of the session itself.
    EVENT_TRACE = 0x00, 0x68fdd900_4a3e_11d1_84f4_0000f80464e3;
    /// Disk reads, writes and flushes.
    DISK_IO = 0x01, 0x3d6fa8d4_fe05_11d0_9dda_00c04fd7ba7c;
    /// Page faults, virtual allocations, heap ranges, memory figures.
    MEMORY = 0x02, 0x3d6fa8d3_fe05_11d0_9dda_00c04fd7ba7c;
    /// Processes. Its type 10 is an image load and belongs to [`Group::IMAGE`].
    PROCESS = 0x03, 0x3d6fa8d0_fe05_11d0_9dda_00c04fd7ba7c;
    /// File names and file operations.
    FILE_IO = 0x04, 0x90cbdc39_4a3e_11d1_84f4_0000f80464e3;
    /// Threads, context switches and ready events.
    THREAD = 0x05, 0x3d6fa8d1_fe05_11d0_9dda_00c04fd7ba7c;
    /// TCP.
    TCP_IP = 0x06, 0x9a280ac0_c8e0_11d1_84e2_00c04fb998a2;
    /// Job objects.
    JOB = 0x07, 0x3282fc76_feed_498e_8aa7_e70f459d430e;
    /// UDP.
    UDP_IP = 0x08, 0xbf3a50c5_a9c9_4988_a005_2df0b7c80f80;
    /// Registry.
    REGISTRY = 0x09, 0xae53722e_c863_11d2_8659_00c04fa321a1;
    /// Debug prints.
    DBG_PRINT = 0x0a, 0x13976d09_a327_438c_950b_7f03192815c7;
    /// Description of the machine.
    SYSTEM_CONFIG = 0x0b, 0x01853a65_418f_4f36_aefc_dc0f1d2fd235;
    /// Last branch records.
    LAST_BRANCH = 0x0c, 0x99134383_5248_43fc_834b_529454e75df3;
    /// Windows notification facility.
    NOTIFICATION = 0x0d, 0x42695762_ea50_497a_9068_5cbbb35e0b95;
    /// Pool allocations.
    POOL = 0x0e, 0x0268a8b6_74fd_4302_9dd0_6e8f1795c0cf;
    /// Samples, DPCs, interrupts, system calls, hardware counters, marks.
    PERF_INFO = 0x0f, 0xce1dbfb4_137e_4da6_87b0_3f59aa102cbc;
    /// User-mode heaps.
    HEAP = 0x10, 0x222962ab_6180_4b88_a825_346b75f2a24a;
    /// Kernel objects and handles.
    OBJECT = 0x11, 0x89497f50_effe_4440_8cf2_ce6b1cdcaca7;
    /// Power states.
    POWER = 0x12, 0xe43445e0_0903_48c3_b878_ff0fccebdd04;
    /// Binding of modules by the loader.
    MODULE_BOUND = 0x13, 0xa9152f00_3f58_4bee_92a1_70c7d079d5dd;
    /// Loaded images.
    IMAGE = 0x14, 0x2cb15d1d_5fc1_11d2_abe1_00a0c911f518;
    /// Deferred procedure calls.
    DPC = 0x15, 0xb2d14872_7c5b_463d_8419_ee9bf7d23e04;
    /// Cache manager.
    CACHE_MANAGER = 0x16, 0x7687a439_f752_45b8_b741_321aec0f8df9;
    /// User-mode critical sections.
    CRITICAL_SECTION = 0x17, 0x3ac66736_cc59_4cff_8115_8df50e39816b;
    /// Stacks of other records.
    STACK_WALK = 0x18, 0xdef2fe46_7bd6_4b80_bd94_f57fe20d0ce3;
    /// User-mode scheduling.
    USER_SCHEDULING = 0x19, 0x9aec974b_5b8e_4118_9b92_3186d8002ce5;
    /// Advanced local procedure calls.
    ALPC = 0x1a, 0x45d8cccd_539f_4b72_a8b7_5c683142609a;
    /// Split disk operations.
    SPLIT_IO = 0x1b, 0xd837ca92_12b9_44a5_ad6a_3a65b3578aa8;
    /// User-mode thread pools.
    THREAD_POOL = 0x1c, 0xc861d0e2_a2c1_4d36_9f9c_970bab943a12;
    /// Hypervisor trace.
    HYPERVISOR = 0x1d, 0x7f2a405c_69b5_4bf9_a1f5_30e8f1afab5e;
    /// Hypervisor callbacks.
    HYPERVISOR_CALLBACK = 0x1e, 0x2ce9a149_effe_42f0_a635_a1d39e26c8f2;
}

/// What a record is, whichever header it was written with.
///
/// Kernel records carry a hook (group and type); relogged files and user-mode loggers write the same classes with the
/// class GUID. Both come out as [`EventClass::Kernel`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EventClass {
    /// A class of the kernel. An image load (hook `030a`) has the group [`Group::IMAGE`] here.
    Kernel {
        /// Class.
        group: Group,
        /// Type of the event inside its class.
        opcode: u8,
        /// Version of the payload.
        version: u8,
    },
    /// A class known by GUID only.
    Classic {
        /// Class.
        guid: Guid,
        /// Type of the event inside its class.
        opcode: u8,
        /// Version of the payload.
        version: u8,
    },
    /// An event of a manifest, TraceLogging or EventSource provider.
    Event {
        /// Provider.
        provider: Guid,
        /// Number of the event; 0 for most TraceLogging events.
        id: u16,
        /// Version of the payload.
        version: u8,
    },
    /// A WPP message.
    Message {
        /// GUID of the source file's messages; zero when the record carries none.
        guid: Guid,
        /// Number of the message.
        number: u16,
    },
}

impl EventClass {
    /// Normalises a kernel hook.
    #[must_use]
    pub const fn from_hook(hook: u16, version: u8) -> Self {
        let [opcode, group] = hook.to_le_bytes();
        let group = if group == Group::PROCESS.0 && opcode == 10 { Group::IMAGE } else { Group(group) };
        Self::Kernel { group, opcode, version }
    }

    /// Normalises a class GUID with its opcode.
    #[must_use]
    pub const fn from_guid(guid: Guid, opcode: u8, version: u8) -> Self {
        match Group::of(guid) {
            Some(group) => Self::from_hook(u16::from_le_bytes([opcode, group.0]), version),
            None => Self::Classic { guid, opcode, version },
        }
    }
}

/// The provider Microsoft-Windows-DNS-Client.
pub const DNS_CLIENT: Guid = Guid::from_u128(0x1c95126e_7eea_49a9_a3fe_a378b03ddb4d);
/// The provider Microsoft-Windows-Kernel-Power.
pub const KERNEL_POWER: Guid = Guid::from_u128(0x331c3b3a_2005_44c2_ac5e_77220c37d6b4);

/// The provider Microsoft-Windows-Winsock-AFD.
pub const WINSOCK_AFD: Guid = Guid::from_u128(0xe53c6823_7bb8_44bb_90dc_3f86090d48a6);

/// The provider Microsoft-Windows-Win32k.
pub const WIN32K: Guid = Guid::from_u128(0x8c416c79_d49b_4f01_a467_e56d3aa8234c);

/// Image identity, written by the merge tool: original names, time stamps, PDB signatures.
pub const IMAGE_ID: Guid = Guid::from_u128(0xb3e675d7_2554_4f18_830b_2762732560de);
/// Further system description, written by the merge tool: build, paths, volumes, network cards.
pub const SYSTEM_CONFIG_EX: Guid = Guid::from_u128(0x9b79ee91_b5fd_41c0_a243_4248e266e9d0);
/// Results of the Windows system assessment, written by the merge tool.
pub const WIN_SAT: Guid = Guid::from_u128(0xed54dff8_c409_4cf6_bf83_05e1e61a09c4);
/// Descriptions of manifest events and of their value maps, written by the merge tool.
pub const EVENT_METADATA: Guid = Guid::from_u128(0xbbccf6c1_6cd1_48c4_80ff_839482e37671);
/// The merge tool itself as a provider.
pub const KERNEL_TRACE_CONTROL: Guid = Guid::from_u128(0x28ad2447_105b_4fe2_9599_e59b2aa9a634);
/// Responsiveness scenarios, copied by the merge tool.
pub const PERF_TRACK: Guid = Guid::from_u128(0xbf6ef1cb_89b5_0490_80ac_b180cfbcff0f);
/// Session id of the NT kernel logger.
pub const SYSTEM_TRACE_CONTROL: Guid = Guid::from_u128(0x9e814aad_3204_11d2_9a82_006008a86939);
/// Heap ranges.
pub const HEAP_RANGE: Guid = Guid::from_u128(0xd781ca11_61c0_4387_b83d_af52d3d2dd6a);
/// Loss reports of real-time sessions: type 32 an event, 33 a buffer, 34 the backup file.
pub const LOST_EVENT: Guid = Guid::from_u128(0x6a399ae0_4bc6_4de9_870b_3657f8947e7e);
/// Intel processor trace.
pub const PROCESSOR_TRACE: Guid = Guid::from_u128(0xff1fd2fd_6008_42bb_9e75_00a20051f3be);
/// Kernel-EventTracing; its event 18 is the user half of a stack that was begun in an extended item.
pub const KERNEL_EVENT_TRACING: Guid = Guid::from_u128(0xb675ec37_bdb6_4648_bc92_f3fdc74d3ca2);

#[cfg(test)]
mod tests {
    use super::{EventClass, Group, IMAGE_ID};

    #[test]
    fn hooks_and_guids_give_the_same_class() {
        let load = EventClass::Kernel { group: Group::IMAGE, opcode: 10, version: 3 };
        assert_eq!(EventClass::from_hook(0x030a, 3), load);
        for group in [Group::IMAGE, Group::PROCESS] {
            assert_eq!(group.guid().map(|guid| EventClass::from_guid(guid, 10, 3)), Some(load));
        }
        assert_eq!(
            EventClass::from_guid(IMAGE_ID, 36, 2),
            EventClass::Classic { guid: IMAGE_ID, opcode: 36, version: 2 }
        );
    }

    #[test]
    fn every_group_is_found_by_its_guid() {
        for number in 0..=0x1e {
            assert_eq!(Group(number).guid().and_then(Group::of), Some(Group(number)));
        }
        assert_eq!(Group(0x1f).guid(), None);
    }
}
