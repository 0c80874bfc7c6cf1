//! Records about the machine, and about processes and modules before and after the recording.

use tracesift_etl::Guid;
use tracesift_etl::write::payload::{
    BuildInfo, CounterNames, CpuConfig, DOTNET_PROVIDER, DOTNET_RUNDOWN_PROVIDER, FileVersion, IMAGE_ID_CLASS, Image,
    ImageInfo, LogicalDisk, METHOD_DC_END_VERBOSE, METHOD_LOAD_VERBOSE, MODULE_DC_END, MODULE_LOAD, ManagedModule,
    Method, NetworkCard, PhysicalDisk, Process, Rsds, SYSTEM_CONFIG_EX_CLASS, SampleInterval, Sid, SystemPaths, Thread,
    VolumeMapping, method_flags,
};

use super::Rundown;
use super::list::{HeadKind, RecordList};
use crate::Scenario;
use crate::machine::MethodOrigin;
use crate::record::{Event, Record};

/// Exit status of what still runs.
const STILL_ACTIVE: i32 = 0x103;
const LOADER_KEYWORD: u64 = 0x8;
const JIT_KEYWORD: u64 = 0x10;

/// Time of the rundown at the start.
fn start_ticks(scenario: &Scenario) -> i64 {
    scenario.machine.zero_ticks + 1
}

/// Time of the rundown at the end.
pub(super) fn end_ticks(scenario: &Scenario) -> i64 {
    let recording = &scenario.recording;
    recording.end_ticks + if recording.rundown_after_end { scenario.machine.frequency / 50 } else { 0 }
}

/// The machine, its disks, card and volumes; sampling intervals and counter names.
pub(super) fn system(scenario: &Scenario, list: &mut RecordList) {
    let machine = &scenario.machine;
    let zero = start_ticks(scenario);
    let head = |hook| HeadKind::System { hook, pid: 4, tid: 8 };
    let cpu = CpuConfig {
        mhz: 3_000,
        cpus: u32::from(machine.cpus),
        memory_mib: 32_768,
        computer: &machine.name,
        domain: "WORKGROUP",
    };
    list.push(zero, 0, head(CpuConfig::HOOK), |out| cpu.encode(out));
    let disk = PhysicalDisk {
        disk: 0,
        cylinders: 62_260,
        manufacturer: "Synthetic SSD 512GB",
        partitions: 3,
        boot_drive: "C",
    };
    list.push(zero, 0, head(PhysicalDisk::HOOK), |out| disk.encode(out));
    let volume = LogicalDisk {
        offset: 554_696_704,
        size: 499_000_000_512,
        disk: 0,
        letter: "C:",
        partition: 3,
        file_system: "NTFS",
    };
    list.push(zero, 0, head(LogicalDisk::HOOK), |out| volume.encode(out));
    let card = NetworkCard {
        mac: [2, 0, 0, 0, 0, 1],
        description: "Synthetic Ethernet Adapter",
        addresses: "192.0.2.10",
        dns_servers: "192.0.2.53",
    };
    list.push(zero, 0, head(NetworkCard::HOOK), |out| card.encode(out));
    if let Some(interval) = scenario.recording.sample_interval {
        let payload = SampleInterval { source: 0, new_interval: interval, old_interval: interval, name: "Timer" };
        list.push(zero, 0, HeadKind::Perfinfo(SampleInterval::START), |out| payload.encode(out));
        let payload = SampleInterval { source: 2, new_interval: 65_536, old_interval: 65_536, name: "TotalIssues" };
        list.push(zero, 0, HeadKind::Perfinfo(SampleInterval::START), |out| payload.encode(out));
    }
    if !scenario.recording.counter_names.is_empty() {
        let names: Vec<&str> = scenario.recording.counter_names.iter().map(String::as_str).collect();
        let hook = HeadKind::Perfinfo(CounterNames::HOOK);
        list.push(zero, 0, hook, |out| CounterNames { names: &names }.encode(out));
    }
    injected(scenario, list);
}

/// What the merge tool adds about the system, at the end.
fn injected(scenario: &Scenario, list: &mut RecordList) {
    let end = end_ticks(scenario);
    let head = |kind| HeadKind::Full { class: SYSTEM_CONFIG_EX_CLASS, kind, pid: u32::MAX, tid: u32::MAX };
    let build = if scenario.recording.windows7 {
        BuildInfo {
            install_filetime: 129_000_000_000_000_000,
            build_lab: "7601.17514.amd64fre.win7sp1_rtm.101119-1850",
            product: "Windows 7 Professional",
        }
    } else {
        BuildInfo {
            install_filetime: 132_500_000_000_000_000,
            build_lab: "19041.1.amd64fre.vb_release.191206-1406",
            product: "Windows 10 Pro",
        }
    };
    list.push(end, 0, head(BuildInfo::KIND), |out| build.encode(out));
    let paths = SystemPaths { system: r"C:\Windows\system32\", windows: r"C:\Windows\" };
    list.push(end, 0, head(SystemPaths::KIND), |out| paths.encode(out));
    for (nt_prefix, dos_prefix) in [(r"\Device\HarddiskVolume3\", r"C:\"), (r"\SystemRoot\", r"C:\Windows\")] {
        let mapping = VolumeMapping { nt_prefix, dos_prefix };
        list.push(end, 0, head(VolumeMapping::KIND), |out| mapping.encode(out));
    }
}

/// Processes, threads and images that are there at the start.
pub(super) fn start(scenario: &Scenario, list: &mut RecordList) {
    if scenario.recording.rundown != Rundown::Full {
        return;
    }
    let zero = start_ticks(scenario);
    let machine = &scenario.machine;
    for index in (0..machine.processes.len()).filter(|index| machine.processes[*index].start.is_none()) {
        process(scenario, list, zero, 0, HeadKind::Perfinfo(Process::DC_START), index);
        for image_index in &machine.processes[index].images {
            image(scenario, list, zero, 0, HeadKind::Perfinfo(Image::DC_START), index, *image_index);
        }
    }
    for index in (0..machine.threads.len()).filter(|index| machine.threads[*index].start.is_none()) {
        thread(scenario, list, zero, 0, HeadKind::Perfinfo(Thread::DC_START), index);
    }
}

/// Everything that is there at the end, and the methods of all times.
pub(super) fn end(scenario: &Scenario, list: &mut RecordList) {
    let end = end_ticks(scenario);
    let machine = &scenario.machine;
    for index in (0..machine.processes.len()).filter(|index| machine.processes[*index].end.is_none()) {
        if scenario.recording.rundown != Rundown::Missing {
            process(scenario, list, end, 0, HeadKind::Perfinfo(Process::DC_END), index);
        }
        for image_index in &machine.processes[index].images {
            image(scenario, list, end, 0, HeadKind::Perfinfo(Image::DC_END), index, *image_index);
        }
    }
    if scenario.recording.rundown != Rundown::Missing {
        for index in (0..machine.threads.len()).filter(|index| machine.threads[*index].end.is_none()) {
            thread(scenario, list, end, 0, HeadKind::Perfinfo(Thread::DC_END), index);
        }
    }
    managed(scenario, list);
}

/// A process record with the given header.
pub(super) fn process(scenario: &Scenario, list: &mut RecordList, ticks: i64, cpu: u16, head: HeadKind, index: usize) {
    let life = &scenario.machine.processes[index];
    let ended = life.end.is_some_and(|end| end <= ticks);
    let mut user = vec![21, 1_004_336_348, 1_177_238_915, 682_003_330];
    user.extend_from_slice(&life.user);
    let payload = Process {
        key: super::kernel_base(scenario.machine.pointer_size) + 0x0010_0000 + index as u64 * 0x1000,
        pid: life.pid,
        parent_pid: life.parent_pid,
        session: life.session,
        exit_status: if ended { life.exit_code } else { STILL_ACTIVE },
        flags: 0,
        user: match (life.pid, life.user.is_empty()) {
            (0, _) => None,
            (_, true) => Some(Sid::LOCAL_SYSTEM),
            (_, false) => Some(Sid { authority: 5, sub_authorities: &user }),
        },
        image: &life.name,
        command_line: &life.command_line,
        package: "",
        application: "",
    };
    list.push(ticks, cpu, head, |out| payload.encode(out));
}

/// A thread record with the given header.
pub(super) fn thread(scenario: &Scenario, list: &mut RecordList, ticks: i64, cpu: u16, head: HeadKind, index: usize) {
    let machine = &scenario.machine;
    let life = &machine.threads[index];
    let process = &machine.processes[life.process];
    let start_image =
        process.images.iter().map(|image| &machine.images[*image]).find(|image| image.name == process.name);
    let payload = Thread {
        pid: process.pid,
        tid: life.tid,
        start_address: start_image.map_or(0, |image| image.base + 0x1000),
        service_tag: life.service_tag,
        base_priority: life.base_priority,
        name: &life.name,
    };
    list.push(ticks, cpu, head, |out| payload.encode(out));
}

/// An image record with the given header, and its injected identity where a merge tool adds one: loads and the rundown at the end.
pub(super) fn image(
    scenario: &Scenario,
    list: &mut RecordList,
    ticks: i64,
    cpu: u16,
    head: HeadKind,
    process: usize,
    index: usize,
) {
    let life = &scenario.machine.images[index];
    // Kernel modules are listed under pid 0, whoever runs the rundown.
    let pid = if life.kernel { 0 } else { scenario.machine.processes[process].pid };
    let identified = match &head {
        HeadKind::System { hook, .. } | HeadKind::Perfinfo(hook) => [Image::LOAD, Image::DC_END].contains(hook),
        _ => false,
    };
    if identified {
        let full = |kind| HeadKind::Full { class: IMAGE_ID_CLASS, kind, pid, tid: u32::MAX };
        if let Some(version) = &life.version
            && list.first_mention(index)
        {
            let payload = FileVersion {
                size: life.size as u32,
                time_date_stamp: life.time_date_stamp,
                original_file_name: &life.name,
                description: &version.description,
                file_version: &version.version,
                binary_file_version: &version.version,
                product_name: &version.product,
                company: &version.company,
                product_version: &version.version,
            };
            list.push(ticks, cpu, full(FileVersion::KIND), |out| payload.encode(out));
        }
        let info = ImageInfo {
            base: life.base,
            size: life.size,
            pid,
            time_date_stamp: life.time_date_stamp,
            original_file_name: if life.version.is_some() { &life.name } else { "" },
        };
        list.push(ticks, cpu, full(ImageInfo::KIND), |out| info.encode(out));
        if let Some(pdb) = &life.pdb {
            let rsds = Rsds { base: life.base, pid, guid: pdb.guid, age: pdb.age, pdb_name: &pdb.name };
            list.push(ticks, cpu, full(Rsds::KIND), |out| rsds.encode(out));
        }
    }
    let payload = Image {
        base: life.base,
        size: life.size,
        pid,
        checksum: life.checksum,
        time_date_stamp: life.time_date_stamp,
        path: &life.path,
    };
    list.push(ticks, cpu, head, |out| payload.encode(out));
}

/// Methods and their modules: with the runtime's events where the code was made, else in the rundown.
fn managed(scenario: &Scenario, list: &mut RecordList) {
    let machine = &scenario.machine;
    let mut described = Vec::new();
    for (index, method) in machine.methods.iter().enumerate() {
        let (ticks, cpu, provider, module_event, method_event) = match method.origin {
            MethodOrigin::Load { ticks, cpu } => (ticks, cpu, DOTNET_PROVIDER, MODULE_LOAD, METHOD_LOAD_VERBOSE),
            MethodOrigin::Rundown => {
                let (ticks, cpu) = last_moment(scenario, method.process);
                (ticks, cpu, DOTNET_RUNDOWN_PROVIDER, MODULE_DC_END, METHOD_DC_END_VERBOSE)
            }
        };
        let pid = machine.processes[method.process].pid;
        let tid = logging_thread(scenario, method.process, ticks);
        let head = |id, version, keyword| HeadKind::Event { provider, id, version, keyword, pid, tid };
        if !described.contains(&(method.process, method.module)) {
            described.push((method.process, method.module));
            let module = &machine.managed_modules[method.module];
            let payload = ManagedModule {
                module: module.id,
                assembly: module.id + 0x40,
                path: &module.path,
                pdb_guid: Guid::ZERO,
                pdb_age: 1,
                pdb_path: "",
            };
            let head = head(module_event, ManagedModule::VERSION, LOADER_KEYWORD);
            list.push(ticks, cpu, head, |out| payload.encode(out));
        }
        let payload = Method {
            method: 0x7FF8_0000_0000 + index as u64 * 0x28,
            module: machine.managed_modules[method.module].id,
            start: method.start,
            size: method.size,
            token: 0x0600_0001 + index as u32,
            flags: method_flags::JITTED,
            namespace: &method.namespace,
            name: &method.name,
            signature: &method.signature,
        };
        list.push(ticks, cpu, head(method_event, Method::VERSION, JIT_KEYWORD), |out| payload.encode(out));
    }
}

/// When the runtime lists its methods: at the end of its process, else of the session.
fn last_moment(scenario: &Scenario, process: usize) -> (i64, u16) {
    let ends = |record: &&Record| matches!(record.event, Event::ProcessEnd { process: ended, .. } if ended == process);
    let end = scenario.records.iter().find(ends);
    end.map_or((end_ticks(scenario), 0), |record| (record.ticks - 1, record.cpu))
}

/// A thread of the process that lives at that time.
fn logging_thread(scenario: &Scenario, process: usize, ticks: i64) -> u32 {
    let alive = |life: &&crate::Thread| {
        life.process == process
            && life.start.is_none_or(|start| start <= ticks)
            && life.end.is_none_or(|end| end >= ticks)
    };
    scenario.machine.threads.iter().find(alive).map_or(u32::MAX, |life| life.tid)
}
