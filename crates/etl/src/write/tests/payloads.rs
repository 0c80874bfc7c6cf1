//! Each payload that is written is read back field by field, to its last byte, with pointers of both sizes.

use crate::Guid;
use crate::payload::{self as read, Payload};
use crate::write::payload::{self as written, Bytes};
use crate::write::{Hook, PointerSize};

/// Encodes with pointers of 4 and of 8 bytes, and hands each form to `check` with its pointer size.
fn both(encode: impl Fn(&mut Bytes), check: impl Fn(&[u8], u8)) {
    for pointer_size in [PointerSize::Four, PointerSize::Eight] {
        let mut bytes = Bytes::new(pointer_size);
        encode(&mut bytes);
        check(bytes.as_slice(), pointer_size.bytes() as u8);
    }
}

/// Decodes all bytes.
fn whole<'a, T: Payload<'a>>(bytes: &'a [u8], version: u8, pointer_size: u8) -> T {
    let (value, rest) = T::parse_with_rest(bytes, version, pointer_size).expect("it can be read");
    assert_eq!(rest, [0u8; 0], "bytes are left");
    value
}

fn hook<'a, T: Payload<'a>>(bytes: &'a [u8], hook: Hook, pointer_size: u8) -> T {
    whole(bytes, hook.version, pointer_size)
}

/// An address that both pointer sizes can hold.
const ADDRESS: u64 = 0x8123_4560;

#[test]
fn processes_and_threads() {
    let user = written::Sid { authority: 5, sub_authorities: &[21, 7, 8, 1001] };
    for user in [None, Some(user), Some(written::Sid::LOCAL_SYSTEM)] {
        let process = written::Process {
            key: ADDRESS,
            pid: 4_711,
            parent_pid: 8,
            session: 1,
            exit_status: -5,
            flags: written::process_flags::WOW64,
            user,
            image: "FileWriter.exe",
            command_line: "FileWriter.exe -generate \u{fc}",
            package: "Package_1.0",
            application: "App",
        };
        both(
            |out| process.encode(out),
            |bytes, size| {
                let found: read::Process<'_> = hook(bytes, written::Process::START, size);
                assert_eq!((found.unique_process_key, found.process_id, found.parent_id), (Some(ADDRESS), 4_711, 8));
                assert_eq!((found.session_id, found.exit_status, found.flags), (Some(1), Some(-5), Some(2)));
                assert_eq!(found.image_file_name.to_text(), "FileWriter.exe");
                assert_eq!(found.command_line.expect("there"), "FileWriter.exe -generate \u{fc}");
                assert_eq!(found.package_full_name.expect("there"), "Package_1.0");
                assert_eq!(found.application_id.expect("there"), "App");
                let sub_authorities = found.user_sid.map(|sid| sid.sub_authorities().collect::<Vec<u32>>());
                assert_eq!(sub_authorities, user.map(|user| user.sub_authorities.to_vec()));
                assert!(found.user_sid.is_none_or(|sid| sid.authority() == 5));
            },
        );
    }
    for name in ["", "worker"] {
        let thread = written::Thread { pid: 1, tid: 2, start_address: ADDRESS, service_tag: 3, base_priority: 9, name };
        both(
            |out| thread.encode(out),
            |bytes, size| {
                let found: read::Thread<'_> = hook(bytes, written::Thread::DC_END, size);
                assert_eq!((found.process_id, found.thread_id), (1, 2));
                assert_eq!((found.win32_start_address, found.sub_process_tag), (Some(ADDRESS), Some(3)));
                assert_eq!(found.base_priority, Some(9));
                assert_eq!(
                    found.name.map(|name| name.to_string()),
                    Some(name.to_owned()).filter(|name| !name.is_empty())
                );
            },
        );
    }
}

#[test]
fn scheduling() {
    let switch = written::ContextSwitch {
        new_tid: 1,
        old_tid: 2,
        new_priority: 15,
        old_priority: -1,
        previous_c_state: 2,
        wait_reason: 6,
        wait_mode: 1,
        old_state: written::thread_state::WAITING,
        ideal_cpu: 7,
        new_wait_ticks: 99,
        remaining_quantum: 5,
    };
    both(
        |out| switch.encode(out),
        |bytes, size| {
            let found: read::ContextSwitch = hook(bytes, written::ContextSwitch::HOOK, size);
            assert_eq!((found.new_thread_id, found.old_thread_id), (1, 2));
            assert_eq!((found.new_thread_priority, found.old_thread_priority), (15, -1));
            assert_eq!((found.previous_c_state, found.old_thread_wait_reason), (Some(2), 6));
            assert!(found.waits_in_user_mode());
            assert_eq!((found.old_thread_state, found.old_thread_ideal_processor), (5, 7));
            assert_eq!((found.new_thread_wait_time, found.old_thread_remaining_quantum), (Some(99), Some(5)));
        },
    );
    let ready = written::ReadyThread { tid: 3, adjust_reason: 1, adjust_increment: 2, flags: 9 };
    both(
        |out| ready.encode(out),
        |bytes, size| {
            let found: read::ReadyThread = hook(bytes, written::ReadyThread::HOOK, size);
            let fields = (found.thread_id, found.adjust_reason, found.adjust_increment, found.flags);
            assert_eq!(fields, (3, 1, 2, 9));
        },
    );
}

#[test]
fn samples_and_counters() {
    let sample = written::Sample { instruction: ADDRESS, tid: 4, count: 3, in_dpc: true, in_isr: true, priority: 31 };
    both(
        |out| sample.encode(out),
        |bytes, size| {
            let found: read::SampledProfile = hook(bytes, written::Sample::HOOK, size);
            assert_eq!((found.instruction_pointer, found.thread_id, found.count), (ADDRESS, 4, 3));
            let flags = found.flags.unwrap_or(0);
            assert_eq!(flags & (read::sample_flags::DPC | read::sample_flags::ISR), 3);
            assert_eq!(found.priority(), Some(31));
        },
    );
    let interval = written::SampleInterval { source: 2, new_interval: 65_536, old_interval: 1, name: "TotalIssues" };
    both(
        |out| interval.encode(out),
        |bytes, size| {
            let found: read::SampleInterval<'_> = hook(bytes, written::SampleInterval::SET, size);
            assert_eq!((found.source, found.new_interval, found.old_interval), (2, 65_536, 1));
            assert_eq!(found.source_name.expect("there"), "TotalIssues");
        },
    );
    both(
        |out| written::CounterSample { instruction: ADDRESS, tid: 5, source: 28 }.encode(out),
        |bytes, size| {
            let found: read::CounterSample = hook(bytes, written::CounterSample::HOOK, size);
            assert_eq!((found.instruction_pointer, found.thread_id, found.profile_source), (ADDRESS, 5, 28));
        },
    );
    both(
        |out| written::CounterNames { names: &["LLCMisses", "TotalCycles"] }.encode(out),
        |bytes, size| {
            let found: read::CounterConfiguration<'_> = hook(bytes, written::CounterNames::HOOK, size);
            assert!(found.names.iter().map(|name| name.to_string()).eq(["LLCMisses", "TotalCycles"]));
        },
    );
}

#[test]
fn stacks() {
    let frames = [ADDRESS, 0x1000, 0x2000];
    both(
        |out| written::Stack { event_time: 77, pid: 1, tid: 2, frames: &frames }.encode(out),
        |bytes, size| {
            let found: read::Stack<'_> = hook(bytes, written::Stack::HOOK, size);
            assert_eq!((found.event_timestamp, found.process_id, found.thread_id), (77, 1, 2));
            assert!(found.frames.iter().eq(frames));
        },
    );
    both(
        |out| written::StackReference { event_time: 77, pid: 1, tid: 2, key: ADDRESS }.encode(out),
        |bytes, size| {
            let found: read::StackReference = hook(bytes, written::StackReference::USER, size);
            assert_eq!((found.event_timestamp, found.process_id, found.thread_id), (77, 1, 2));
            assert_eq!(found.stack_key, ADDRESS);
        },
    );
    both(
        |out| written::StackDefinition { key: ADDRESS, frames: &frames }.encode(out),
        |bytes, size| {
            let found: read::StackDefinition<'_> = hook(bytes, written::StackDefinition::RUNDOWN, size);
            assert_eq!(found.stack_key, ADDRESS);
            assert!(found.frames.iter().eq(frames));
        },
    );
}

#[test]
fn images_and_their_identities() {
    let path = r"\Device\HarddiskVolume3\Windows\System32\ntdll.dll";
    let image = written::Image { base: ADDRESS, size: 0x1000, pid: 4, checksum: 5, time_date_stamp: 6, path };
    both(
        |out| image.encode(out),
        |bytes, size| {
            let found: read::Image<'_> = hook(bytes, written::Image::LOAD, size);
            assert_eq!((found.base, found.size, found.process_id), (ADDRESS, 0x1000, Some(4)));
            assert_eq!((found.checksum, found.time_date_stamp), (Some(5), Some(6)));
            assert_eq!(found.file_name, path);
        },
    );
    let (opcode, version) = written::ImageInfo::KIND;
    let original_file_name = "ntdll.dll";
    let info = written::ImageInfo { base: ADDRESS, size: 0x1000, pid: 4, time_date_stamp: 6, original_file_name };
    both(
        |out| info.encode(out),
        |bytes, size| {
            let found: read::ImageInfo<'_> = whole(bytes, version as u8, size);
            assert_eq!(read::ImageId::parse(bytes, opcode, version as u8, size), Ok(read::ImageId::Info(found)));
            assert_eq!((found.image_base, found.image_size, found.process_id), (ADDRESS, 0x1000, 4));
            assert_eq!(found.time_date_stamp, 6);
            assert_eq!(found.original_file_name, original_file_name);
        },
    );
    let guid = Guid::from_u128(0x1234);
    let rsds = written::Rsds { base: ADDRESS, pid: 4, guid, age: 2, pdb_name: "ntdll.pdb" };
    for ((opcode, version), managed) in [(written::Rsds::KIND, false), (written::ManagedRsds::KIND, true)] {
        both(
            |out| if managed { written::ManagedRsds(rsds).encode(out) } else { rsds.encode(out) },
            |bytes, size| {
                let found: read::PdbId<'_> = whole(bytes, version as u8, size);
                let kind = if managed { read::ImageId::ManagedPdb(found) } else { read::ImageId::Pdb(found) };
                assert_eq!(read::ImageId::parse(bytes, opcode, version as u8, size), Ok(kind));
                assert_eq!((found.image_base, found.process_id, found.guid, found.age), (ADDRESS, 4, guid, 2));
                assert_eq!(found.pdb_file_name.to_text(), "ntdll.pdb");
            },
        );
    }
    let version_resource = written::FileVersion {
        size: 1,
        time_date_stamp: 2,
        original_file_name: "a",
        description: "b",
        file_version: "c",
        binary_file_version: "d",
        product_name: "e",
        company: "f",
        product_version: "g",
    };
    both(
        |out| version_resource.encode(out),
        |bytes, size| {
            let found: read::FileVersion<'_> = whole(bytes, written::FileVersion::KIND.1 as u8, size);
            assert_eq!((found.image_size, found.time_date_stamp), (1, 2));
            let texts = [
                found.original_file_name,
                found.file_description,
                found.file_version,
                found.binary_file_version,
                found.product_name,
                found.company_name,
                found.product_version,
            ];
            assert!(texts.iter().map(|text| text.to_string()).eq(["a", "b", "c", "d", "e", "f", "g"]));
        },
    );
}

#[test]
fn disks_and_files() {
    let transfer = written::DiskTransfer {
        disk: 1,
        irp_flags: 3 << 17,
        size: 4_096,
        offset: 1 << 40,
        file_key: ADDRESS,
        irp: ADDRESS + 8,
        response_ticks: 1_234,
        tid: 9,
    };
    both(
        |out| transfer.encode(out),
        |bytes, size| {
            let found: read::DiskTransfer = hook(bytes, written::DiskTransfer::WRITE, size);
            assert_eq!((found.disk, found.size, found.byte_offset), (1, 4_096, 1 << 40));
            assert_eq!(read::io_priority(found.irp_flags), 3);
            assert_eq!((found.file_key, found.irp), (ADDRESS, Some(ADDRESS + 8)));
            assert_eq!((found.response_time, found.issuing_thread_id), (Some(1_234), Some(9)));
        },
    );
    both(
        |out| written::DiskInit { irp: ADDRESS, tid: 9 }.encode(out),
        |bytes, size| {
            let found: read::DiskInit = hook(bytes, written::DiskInit::READ, size);
            assert_eq!((found.irp, found.issuing_thread_id), (ADDRESS, Some(9)));
        },
    );
    both(
        |out| written::FileName { key: ADDRESS, path: r"\Device\x" }.encode(out),
        |bytes, size| {
            let found: read::FileName<'_> = hook(bytes, written::FileName::RUNDOWN, size);
            assert_eq!((found.file_key, found.name.to_string().as_str()), (ADDRESS, r"\Device\x"));
        },
    );
    let fault = written::HardFault { start: 5, offset: 6, address: ADDRESS, file_key: ADDRESS + 8, tid: 7, size: 8 };
    both(
        |out| fault.encode(out),
        |bytes, size| {
            let found: read::HardFault = hook(bytes, written::HardFault::HOOK, size);
            assert_eq!((found.initial_time, found.read_offset, found.virtual_address), (5, 6, ADDRESS));
            assert_eq!((found.file_key, found.thread_id, found.byte_count), (ADDRESS + 8, 7, 8));
        },
    );
}

#[test]
fn the_machine() {
    use read::system_config::{Cpu, LogicalDisk, NetworkAdapter, PhysicalDisk};
    let cpu = written::CpuConfig { mhz: 1, cpus: 2, memory_mib: 3, computer: "BOX", domain: "HOME" };
    both(
        |out| cpu.encode(out),
        |bytes, size| {
            let found: Cpu<'_> = hook(bytes, written::CpuConfig::HOOK, size);
            assert_eq!((found.mhz, found.number_of_processors, found.memory_mib), (1, 2, 3));
            assert_eq!(found.computer_name, "BOX");
            assert_eq!(found.domain_name, "HOME");
            assert_eq!(found.memory_speed, Some(3_200));
        },
    );
    let disk = written::PhysicalDisk { disk: 1, cylinders: 100, manufacturer: "SSD", partitions: 3, boot_drive: "C" };
    both(
        |out| disk.encode(out),
        |bytes, size| {
            let found = PhysicalDisk::parse(bytes, 2, size).expect("it can be read");
            assert_eq!((found.disk_number, found.cylinders, found.partition_count), (1, 100, 3));
            assert_eq!(found.manufacturer, "SSD");
            assert_eq!(found.boot_drive_letter, "C");
            assert_eq!(bytes.len(), 568);
        },
    );
    let volume =
        written::LogicalDisk { offset: 1, size: 2 << 30, disk: 1, letter: "C:", partition: 3, file_system: "NTFS" };
    both(
        |out| volume.encode(out),
        |bytes, size| {
            let found = LogicalDisk::parse(bytes, 2, size).expect("it can be read");
            assert_eq!((found.start_offset, found.partition_size, found.disk_number), (1, 2 << 30, 1));
            assert_eq!(found.drive_letter, "C:");
            assert_eq!((found.partition_number, found.file_system.to_string().as_str()), (3, "NTFS"));
            assert_eq!(bytes.len(), 112);
        },
    );
    let card = written::NetworkCard {
        mac: [1, 2, 3, 4, 5, 6],
        description: "Card",
        addresses: "192.0.2.1;192.0.2.2",
        dns_servers: "192.0.2.3",
    };
    both(
        |out| card.encode(out),
        |bytes, size| {
            let found: NetworkAdapter<'_> = hook(bytes, written::NetworkCard::HOOK, size);
            let addresses = found.addresses.expect("there");
            assert_eq!(found.description, "Card");
            assert_eq!((addresses.physical_address, found.physical_address_length), (0x0605_0403_0201, 6));
            assert_eq!(addresses.ip_addresses, "192.0.2.1;192.0.2.2");
            assert_eq!(addresses.dns_servers, "192.0.2.3");
        },
    );
}

#[test]
fn what_the_merge_tool_adds_and_marks() {
    let build = written::BuildInfo { install_filetime: 1, build_lab: "lab", product: "Windows" };
    both(
        |out| build.encode(out),
        |bytes, size| {
            let found: read::BuildInfo<'_> = whole(bytes, written::BuildInfo::KIND.1 as u8, size);
            assert_eq!(found.install_date, 1);
            assert_eq!(found.build_lab, "lab");
            assert_eq!(found.product_name, "Windows");
        },
    );
    both(
        |out| written::SystemPaths { system: "s", windows: "w" }.encode(out),
        |bytes, size| {
            let found: read::SystemPaths<'_> = whole(bytes, written::SystemPaths::KIND.1 as u8, size);
            assert_eq!(found.system_directory, "s");
            assert_eq!(found.windows_directory, "w");
        },
    );
    both(
        |out| written::VolumeMapping { nt_prefix: "n", dos_prefix: "d" }.encode(out),
        |bytes, size| {
            let found: read::VolumeMapping<'_> = whole(bytes, written::VolumeMapping::KIND.1 as u8, size);
            assert_eq!(found.nt_path, "n");
            assert_eq!(found.dos_path, "d");
        },
    );
    both(
        |out| written::Mark { text: "CreateSerial start" }.encode(out),
        |bytes, size| {
            let found: read::Mark<'_> = hook(bytes, written::Mark::HOOK, size);
            assert_eq!(found.text.to_string(), "CreateSerial start");
        },
    );
}

#[test]
fn managed_code() {
    let method = written::Method {
        method: 1,
        module: 2,
        start: 3,
        size: 4,
        token: 5,
        flags: written::method_flags::JITTED,
        namespace: "System.IO.StreamWriter",
        name: "WriteLine",
        signature: "void ()",
    };
    both(
        |out| method.encode(out),
        |bytes, size| {
            let found: read::dotnet::MethodLoadVerbose<'_> = whole(bytes, written::Method::VERSION, size);
            assert_eq!((found.code.method_id, found.code.module_id, found.code.start_address), (1, 2, 3));
            assert_eq!((found.code.size, found.code.token, found.code.is_jitted()), (4, 5, true));
            assert_eq!(found.namespace, "System.IO.StreamWriter");
            assert_eq!(found.name, "WriteLine");
            assert_eq!(found.signature, "void ()");
        },
    );
    let guid = Guid::from_u128(0x77);
    let module =
        written::ManagedModule { module: 1, assembly: 2, path: "a.dll", pdb_guid: guid, pdb_age: 1, pdb_path: "a.pdb" };
    both(
        |out| module.encode(out),
        |bytes, size| {
            let found: read::dotnet::ModuleLoad<'_> = whole(bytes, written::ManagedModule::VERSION, size);
            assert_eq!((found.module_id, found.assembly_id), (1, 2));
            assert_eq!(found.il_path, "a.dll");
            let pdb = found.managed_pdb.expect("there");
            assert_eq!((pdb.signature, pdb.age, pdb.path.to_string().as_str()), (guid, 1, "a.pdb"));
        },
    );
}
