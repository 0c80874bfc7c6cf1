//! Every record of the real recordings that a typed decoder exists for: it must decode, and end where the payload ends.

use std::collections::BTreeMap;
use std::fmt;

use tracesift_etl::class::{IMAGE_ID, SYSTEM_CONFIG_EX};
use tracesift_etl::payload::dotnet::{
    self, DomainModuleLoad, MethodIlToNativeMap, MethodLoad, MethodLoadVerbose, ModuleLoad, RuntimeInformation,
};
use tracesift_etl::payload::system_config::{
    Boot, Cpu, DeviceFamily, Dpi, FlightIds, IdeChannel, Irq, LogicalDisk, MachineId, NetworkAdapter, NumaNodes,
    PhysicalDisk, Platform, PlugAndPlay, Power, Processor, ProcessorGroups, ProcessorNumbers, Service, Virtualization,
};
use tracesift_etl::payload::*;
use tracesift_etl::{BufferReader, EtlFile, EventClass, Group, Guid, HeaderKind, Record};
use tracesift_fixtures::cases;

use crate::common;

/// The IL offsets are in order, and none is far away.
fn sound_map(map: &MethodIlToNativeMap<'_>) -> bool {
    let il: Vec<_> = map.il_offsets.iter().filter(|il| *il < u32::MAX - 2).collect();
    map.extent == 0
        && map.rejit_id == 0
        && map.pairs().all(|(native, _)| native < 1 << 20)
        && il.is_sorted()
        && il.iter().all(|il| *il < 1 << 20)
}

/// How many bytes a decoder left.
type Rest = Result<usize, PayloadError>;

fn rest<'a, T: Payload<'a>>(record: &Record<'a>) -> Rest {
    T::parse_with_rest(record.payload(), record.version(), record.pointer_size()).map(|(_, rest)| rest.len())
}

/// As [`rest`], for what is then looked at more closely.
fn looked_at<'a, T: Payload<'a> + fmt::Debug>(record: &Record<'a>, check: impl FnOnce(&T) -> bool) -> Rest {
    let (value, rest) = T::parse_with_rest(record.payload(), record.version(), record.pointer_size())?;
    assert!(check(&value), "{value:?}");
    Ok(rest.len())
}

fn decode(record: &Record<'_>) -> Option<Rest> {
    match record.class() {
        EventClass::Kernel { group, opcode, .. } => kernel(record, group, opcode),
        EventClass::Classic { guid: IMAGE_ID, opcode, .. } => image_id(record, opcode),
        EventClass::Classic { guid: SYSTEM_CONFIG_EX, opcode, .. } => system_config_ex(record, opcode),
        EventClass::Event { provider, id, .. } => event(record, provider, id),
        _ => None,
    }
}

fn kernel(record: &Record<'_>, group: Group, opcode: u8) -> Option<Rest> {
    Some(match (group, opcode) {
        (Group::EVENT_TRACE, 5 | 32) => rest::<HeaderExtension>(record),
        (Group::EVENT_TRACE, 66) => rest::<BuildLab<'_>>(record),
        (Group::EVENT_TRACE, 80) => rest::<PartitionInfo<'_>>(record),
        (Group::EVENT_TRACE, 82) => rest::<LastDroppedTimes<'_>>(record),
        (Group::PROCESS, 1..=4 | 39) => process(record),
        (Group::PROCESS, 11) => rest::<ProcessTermination>(record),
        (Group::PROCESS, 32 | 33) => {
            looked_at(record, |counters: &ProcessCounters| counters.virtual_size <= counters.peak_virtual_size)
        }
        (Group::THREAD, 1..=4) => looked_at(record, |thread: &Thread<'_>| {
            thread.stacks.is_some_and(|stacks| stacks.limit <= stacks.base)
                && thread.base_priority.is_some_and(|p| p < 32)
        }),
        (Group::THREAD, 36) => rest::<ContextSwitch>(record),
        (Group::THREAD, 50) => rest::<ReadyThread>(record),
        (Group::THREAD, 72) => rest::<ThreadName<'_>>(record),
        (Group::IMAGE, 2..=4 | 10) => image(record),
        (Group::PERF_INFO, 34) => looked_at(record, |mark: &Mark<'_>| {
            let text = mark.text.to_string();
            text.len() > 2 && text.chars().all(|c| !c.is_control())
        }),
        (Group::PERF_INFO, 46) => looked_at(record, |sample: &SampledProfile| sample.count == 1),
        (Group::PERF_INFO, 72..=74) => looked_at(record, |interval: &SampleInterval<'_>| {
            interval.new_interval >= 1_000 && interval.source_name.is_some_and(|name| !name.is_empty())
        }),
        (Group::STACK_WALK, 32) => {
            looked_at(record, |stack: &Stack<'_>| stack.event_timestamp.cast_signed() <= record.time())
        }
        (Group::STACK_WALK, 34..=36) => rest::<StackDefinition<'_>>(record),
        (Group::STACK_WALK, 37 | 38) => {
            looked_at(record, |stack: &StackReference| stack.event_timestamp.cast_signed() <= record.time())
        }
        (Group::DISK_IO, 10 | 11) => looked_at(record, |transfer: &DiskTransfer| {
            transfer.size.is_multiple_of(512) && io_priority(transfer.irp_flags) <= 5
        }),
        (Group::DISK_IO, 12 | 13 | 15) => rest::<DiskInit>(record),
        (Group::DISK_IO, 14) => rest::<DiskFlush>(record),
        (Group::FILE_IO, 0 | 32 | 35 | 36) => rest::<FileName<'_>>(record),
        (Group::MEMORY, 32) => looked_at(record, |fault: &HardFault| {
            fault.initial_time.cast_signed() <= record.time() && fault.byte_count > 0
        }),
        (Group::SYSTEM_CONFIG, _) => system_config(record, opcode)?,
        _ => return None,
    })
}

/// Records that a program replayed through the 32-bit interface say nothing reliable of their pointer size.
fn is_replayed(record: &Record<'_>) -> bool {
    record.kind() == HeaderKind::Full32
}

fn process(record: &Record<'_>) -> Rest {
    let check = |process: &Process<'_>| {
        !process.image_file_name.is_empty()
            && process.image_file_name.as_bytes().iter().all(|byte| !byte.is_ascii_control())
            && process.user_sid.is_none_or(|sid| sid.to_string().starts_with("S-1-"))
    };
    if is_replayed(record) {
        let process = Process::parse_either(record.payload(), record.version(), record.pointer_size())?;
        assert!(check(&process) && process.user_sid.is_some(), "{process:?}");
        return Ok(0);
    }
    looked_at(record, check)
}

fn image(record: &Record<'_>) -> Rest {
    let check = |image: &Image<'_>| {
        image.size != 0
            && image.size.is_multiple_of(0x1000)
            && image.base.is_multiple_of(0x1000)
            && !image.file_name.is_empty()
    };
    if is_replayed(record) {
        let image = Image::parse_either(record.payload(), record.version(), record.pointer_size())?;
        assert!(check(&image) && image.file_name.to_string().starts_with(r"C:\"), "{image:?}");
        return Ok(0);
    }
    looked_at(record, check)
}

fn system_config(record: &Record<'_>, opcode: u8) -> Option<Rest> {
    Some(match opcode {
        10 => looked_at(record, |cpu: &Cpu<'_>| cpu.page_size == 4096 && cpu.processor_architecture == Some(9)),
        11 => looked_at(record, |disk: &PhysicalDisk<'_>| disk.bytes_per_sector == 512),
        12 => looked_at(record, |disk: &LogicalDisk<'_>| disk.bytes_per_sector == 512 && disk.size == 112),
        13 => rest::<NetworkAdapter<'_>>(record),
        // Stopped services are listed too; they have no process.
        15 => looked_at(record, |service: &Service<'_>| {
            let is_stopped = service.state == Some(1);
            !service.name.is_empty() && is_stopped == (service.process_id == 0)
        }),
        16 => rest::<Power>(record),
        21 => looked_at(record, |irq: &Irq<'_>| {
            irq.description_length as usize == irq.description.units().count() + 1 || irq.description_length == 0
        }),
        22 => rest::<PlugAndPlay<'_>>(record),
        23 => rest::<IdeChannel<'_>>(record),
        24 => looked_at(record, |numa: &NumaNodes<'_>| numa.nodes.iter().all(|node| node.mask != 0)),
        25 => rest::<Platform<'_>>(record),
        26 => looked_at(record, |groups: &ProcessorGroups<'_>| groups.active_masks.iter().all(|mask| mask != 0)),
        27 => looked_at(record, |numbers: &ProcessorNumbers<'_>| {
            numbers.processors.iter().enumerate().all(|(index, processor)| usize::from(processor.number) == index)
        }),
        28 => looked_at(record, |dpi: &Dpi| dpi.machine >= 96),
        30 => rest::<MachineId>(record),
        33 => looked_at(record, |family: &DeviceFamily| family.uap_version >> 48 == 10),
        34 => rest::<FlightIds<'_>>(record),
        35 => looked_at(record, |processor: &Processor<'_>| processor.vendor == "GenuineIntel"),
        36 => rest::<Virtualization>(record),
        37 => looked_at(record, |boot: &Boot| (1..=2).contains(&boot.firmware_type)),
        _ => return None,
    })
}

fn image_id(record: &Record<'_>, opcode: u8) -> Option<Rest> {
    Some(match opcode {
        ImageId::INFO => rest::<ImageInfo<'_>>(record),
        ImageId::NO_DEBUG_INFO => rest::<NoDebugInfo>(record),
        ImageId::DBG_FILE => looked_at(record, |dbg: &DbgFile<'_>| dbg.image_size.is_multiple_of(0x1000)),
        ImageId::PDB | ImageId::MANAGED_PDB => looked_at(record, |pdb: &PdbId<'_>| !pdb.guid.is_zero()),
        ImageId::PORTABLE_PDB => rest::<PortablePdb>(record),
        ImageId::PORTABLE_PDB_ID => rest::<PortablePdbId>(record),
        ImageId::DETERMINISTIC => rest::<Deterministic>(record),
        ImageId::FAILURE => rest::<ImageFailure<'_>>(record),
        ImageId::FILE_VERSION => rest::<FileVersion<'_>>(record),
        _ => return None,
    })
}

fn system_config_ex(record: &Record<'_>, opcode: u8) -> Option<Rest> {
    Some(match opcode {
        SystemConfigEx::BUILD_INFO => rest::<BuildInfo<'_>>(record),
        SystemConfigEx::SYSTEM_PATHS => rest::<SystemPaths<'_>>(record),
        SystemConfigEx::UNKNOWN_VOLUME => rest::<UnknownVolume<'_>>(record),
        SystemConfigEx::VOLUME_MAPPING => rest::<VolumeMapping<'_>>(record),
        SystemConfigEx::DEVICE_FAMILY => rest::<DeviceFamily>(record),
        _ => return None,
    })
}

fn event(record: &Record<'_>, provider: Guid, id: u16) -> Option<Rest> {
    let (runtime, rundown) = (provider == dotnet::RUNTIME_PROVIDER, provider == dotnet::RUNDOWN_PROVIDER);
    if runtime || rundown {
        return Some(match id {
            141 | 142 => rest::<MethodLoad>(record),
            143 | 144 => looked_at(record, |method: &MethodLoadVerbose<'_>| method.code.size != 0),
            149 | 150 if rundown => looked_at(record, sound_map),
            190 if runtime => looked_at(record, sound_map),
            151 => rest::<DomainModuleLoad<'_>>(record),
            152 if rundown => rest::<DomainModuleLoad<'_>>(record),
            152 | 153 => rest::<ModuleLoad<'_>>(record),
            154 if rundown => rest::<ModuleLoad<'_>>(record),
            187 => looked_at(record, |runtime: &RuntimeInformation<'_>| {
                let dll = runtime.runtime_dll.to_string();
                (1..=2).contains(&runtime.sku) && dll.to_lowercase().ends_with("clr.dll")
            }),
            _ => return None,
        });
    }
    match (provider, id) {
        (KERNEL_PROCESS, 1) => Some(rest::<KernelProcessStart<'_>>(record)),
        (KERNEL_PROCESS, 15) => Some(rest::<KernelProcessRundown<'_>>(record)),
        (KERNEL_PROCESS, 2) => Some(rest::<KernelProcessStop<'_>>(record)),
        (KERNEL_PROCESS, 3 | 4) => Some(rest::<KernelThread>(record)),
        (KERNEL_PROCESS, 5 | 6) => Some(rest::<KernelImage<'_>>(record)),
        (VS_DIAGNOSTICS_HUB, 1 | 2) => Some(rest::<DiagnosticsTarget>(record)),
        (VS_DIAGNOSTICS_HUB, 5) => Some(rest::<DiagnosticsMachine<'_>>(record)),
        (VS_DIAGNOSTICS_HUB, 6) => Some(rest::<DiagnosticsCounter>(record)),
        _ => None,
    }
}

#[test]
fn every_payload_is_decoded_to_its_last_byte() {
    if cases("").is_none() {
        return;
    }
    let mut decoded = BTreeMap::new();
    let mut wrong = BTreeMap::new();
    for entry in common::expected("etl-counts.json").as_array().unwrap() {
        if entry["bytes"] == 0 {
            continue;
        }
        let (path, member) = (entry["file"].as_str().unwrap(), entry["member"].as_str());
        let file = EtlFile::open(Box::new(common::read(path, member))).unwrap();
        let mut reader = BufferReader::new(0);
        for buffer in file.buffers() {
            for record in reader.records(&file, buffer) {
                let Some(result) = decode(&record) else { continue };
                *decoded.entry((record.class(), record.pointer_size())).or_insert(0_u32) += 1;
                if result != Ok(0) {
                    let example = (0_u32, path.to_owned(), record.payload().len(), result);
                    wrong.entry(record.class()).or_insert(example).0 += 1;
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // The recordings have these, so a decoder that is no longer reached shows.
    assert!(decoded.len() >= 100, "only {} layouts were seen: {decoded:#?}", decoded.len());
    assert!(decoded.values().sum::<u32>() >= 500_000);
}
