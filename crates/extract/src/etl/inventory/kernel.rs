//! Kernel classes: processes, threads, images, stacks, file names, sampling, system configuration.

use tracesift_etl::Record;
use tracesift_etl::class::Group;
use tracesift_etl::payload::{
    ContextSwitch, CounterConfiguration, FileName, HandleRundown, HeaderExtension, Image, LastDroppedTimes, MappedView,
    ObjectTypeName, Payload, Process, ReadyThread, RegistryOperation, SampleInterval, SampledProfile, SystemCallEnter,
    THREAD_STATE_TERMINATED, Thread, ThreadName, process_flags,
};
use tracesift_trace::HealthKind;
use tracesift_trace::file_names::FileEdge;
use tracesift_trace::modules::{ImageEdge, ImageMapping};
use tracesift_trace::population::{Edge, ProcessFacts, ThreadFacts};
use tracesift_trace::registry_keys::KeyEdge;

use super::Inventory;
use crate::etl::file_sources;

/// Characters of the name of a type of objects that are kept.
const MAX_TYPE_NAME: usize = 64;

impl Inventory {
    pub(super) fn kernel(&mut self, record: &Record<'_>, group: Group, opcode: u8, version: u8) {
        match group {
            Group::THREAD => self.thread(record, opcode, version),
            Group::PERF_INFO => self.perf_info(record, opcode, version),
            // Another thread takes them.
            Group::STACK_WALK => {}
            Group::PROCESS => self.process(record, opcode, version),
            Group::IMAGE => self.image(record, opcode, version),
            Group::FILE_IO => self.file_io(record, opcode, version),
            Group::OBJECT => self.object(record, opcode, version),
            Group::REGISTRY => self.registry(record, opcode, version),
            Group::SYSTEM_CONFIG => self.system_config(record, opcode, version),
            Group::EVENT_TRACE => self.event_trace(record, opcode, version),
            Group::TCP_IP | Group::UDP_IP => {
                self.live(record.time());
                self.network.meet_kernel(group, opcode);
            }
            _ => self.live(record.time()),
        }
    }

    fn thread(&mut self, record: &Record<'_>, opcode: u8, version: u8) {
        match opcode {
            ContextSwitch::OPCODE => {
                self.activity(record.time());
                let parsed = ContextSwitch::parse(record.payload(), version, record.pointer_size());
                // What does not decode is counted when it is used, in the second pass.
                let Ok(switch) = parsed else { return };
                if switch.old_thread_state == THREAD_STATE_TERMINATED {
                    let (ticks, tid) = (record.time(), switch.old_thread_id);
                    self.lifetimes.terminated(ticks, tid);
                    for lives in [&mut self.lifetimes, &mut self.twin] {
                        lives.left_for_good(ticks, tid, record.cpu());
                    }
                }
            }
            ReadyThread::OPCODE => self.activity(record.time()),
            Thread::START | Thread::END | Thread::DC_START | Thread::DC_END => {
                let edge = match opcode {
                    Thread::START => Edge::Start,
                    Thread::END => Edge::End,
                    Thread::DC_START => Edge::AliveAtStart,
                    _ => Edge::AliveAtEnd,
                };
                if matches!(edge, Edge::Start | Edge::End) {
                    self.live(record.time());
                }
                let Some(thread) = self.decode::<Thread<'_>>(record, version) else { return };
                let facts = ThreadFacts {
                    pid: thread.process_id,
                    name: thread.name.map(|name| name.to_string()),
                    base_priority: thread.base_priority.map(u8::cast_signed),
                    service_tag: thread.sub_process_tag,
                    start_address: thread.start_address,
                };
                self.lifetimes.thread(record.time(), thread.thread_id, edge, facts);
            }
            ThreadName::OPCODE => {
                self.live(record.time());
                let Some(named) = self.decode::<ThreadName<'_>>(record, version) else { return };
                self.lifetimes.thread_name(named.thread_id, named.process_id, &named.name.to_string());
            }
            _ => self.live(record.time()),
        }
    }

    fn perf_info(&mut self, record: &Record<'_>, opcode: u8, version: u8) {
        match opcode {
            SampledProfile::OPCODE => self.activity(record.time()),
            SystemCallEnter::OPCODE => {
                self.has_system_calls = true;
                self.live(record.time());
            }
            SampleInterval::SET | SampleInterval::DC_START | SampleInterval::DC_END => {
                let Some(interval) = self.decode::<SampleInterval<'_>>(record, version) else { return };
                let source = self.sources.entry(interval.source).or_default();
                if let Some(name) = interval.source_name.filter(|name| !name.is_empty()) {
                    source.name = Some(name.to_string());
                }
                source.interval = interval.new_interval;
                if interval.source != SampleInterval::TIMER {
                    return;
                }
                // Intervals are in units of 100 ns.
                let (old, new) = (i64::from(interval.old_interval) * 100, i64::from(interval.new_interval) * 100);
                if opcode == SampleInterval::SET {
                    self.live(record.time());
                    self.intervals.change(record.time(), old, new);
                } else {
                    self.intervals.in_force(new);
                }
            }
            CounterConfiguration::OPCODE => {
                let Some(configuration) = self.decode::<CounterConfiguration<'_>>(record, version) else { return };
                if self.counters.is_empty() {
                    self.counters = configuration.names.iter().take(64).map(|name| name.to_string()).collect();
                }
            }
            _ => self.live(record.time()),
        }
    }

    fn process(&mut self, record: &Record<'_>, opcode: u8, version: u8) {
        let edge = match opcode {
            Process::START => Edge::Start,
            Process::END => Edge::End,
            Process::DC_START => Edge::AliveAtStart,
            Process::DC_END => Edge::AliveAtEnd,
            Process::DEFUNCT => Edge::Defunct(None),
            _ => return,
        };
        if matches!(edge, Edge::Start | Edge::End) {
            self.live(record.time());
        }
        let parsed = Process::parse_either(record.payload(), version, record.pointer_size());
        let Some(process) = self.checked(record, parsed) else { return };
        let edge = match edge {
            Edge::Defunct(_) => Edge::Defunct(process.exit_time.and_then(|time| self.ticks_of(time))),
            edge => edge,
        };
        let text = |text: Option<tracesift_etl::payload::WideStr<'_>>| text.map(|text| text.to_string());
        let facts = ProcessFacts {
            key: process.unique_process_key.unwrap_or(0),
            parent_pid: Some(process.parent_id),
            name: Some(process.image_file_name.to_string()),
            command_line: text(process.command_line),
            session: process.session_id.map(u32::cast_signed),
            user: process.user_sid.map(|sid| sid.to_string()),
            package: text(process.package_full_name),
            application: text(process.application_id),
            exit_code: process.exit_status.filter(|_| opcode == Process::END || opcode == Process::DEFUNCT),
            wow64: process.flags.map(|flags| flags & process_flags::WOW64 != 0),
            ..ProcessFacts::default()
        };
        self.has_kernel_processes = true;
        self.lifetimes.process(record.time(), process.process_id, edge, facts);
    }

    fn image(&mut self, record: &Record<'_>, opcode: u8, version: u8) {
        let edge = match opcode {
            Image::LOAD => ImageEdge::Load,
            Image::UNLOAD => ImageEdge::Unload,
            Image::DC_START => ImageEdge::AliveAtStart,
            Image::DC_END => ImageEdge::AliveAtEnd,
            _ => return,
        };
        if matches!(edge, ImageEdge::Load | ImageEdge::Unload) {
            self.live(record.time());
        }
        let parsed = Image::parse_either(record.payload(), version, record.pointer_size());
        let Some(image) = self.checked(record, parsed) else { return };
        let pid = image.process_id.or(record.pid()).unwrap_or(0);
        self.images.image(&ImageMapping {
            ticks: record.time(),
            pid,
            edge,
            base: image.base,
            size: image.size,
            checksum: image.checksum.unwrap_or(0),
            time_date_stamp: image.time_date_stamp.unwrap_or(0),
            path: &image.file_name.to_string(),
        });
    }

    fn file_io(&mut self, record: &Record<'_>, opcode: u8, version: u8) {
        let edge = match opcode {
            FileName::NAME | FileName::CREATE => FileEdge::Begin,
            FileName::DELETE => FileEdge::End,
            FileName::RUNDOWN => FileEdge::Rundown,
            MappedView::DC_START | MappedView::DC_END => return,
            _ => {
                self.file_sources.meet_kernel(opcode);
                return self.live(record.time());
            }
        };
        let Some(file) = self.decode::<FileName<'_>>(record, version) else { return };
        if !self.files.name(record.time(), file.file_key, edge, &file.name.to_string()) {
            self.health.count(HealthKind::FILE_NAMES_OVER_BUDGET, Some(record.time()), || file.name.to_string());
        }
    }

    /// Microsoft-Windows-Kernel-File names keys, too.
    pub(super) fn kernel_file(&mut self, record: &Record<'_>, id: u16, version: u8) {
        self.file_sources.meet_provider(id);
        let edge = match id {
            file_sources::id::NAME_CREATE => FileEdge::Begin,
            file_sources::id::NAME_DELETE => FileEdge::End,
            _ => return,
        };
        let Some(file) = self.decode::<FileName<'_>>(record, version) else { return };
        if !self.files.name(record.time(), file.file_key, edge, &file.name.to_string()) {
            self.health.count(HealthKind::FILE_NAMES_OVER_BUDGET, Some(record.time()), || file.name.to_string());
        }
    }

    /// Names of key control blocks.
    fn registry(&mut self, record: &Record<'_>, opcode: u8, version: u8) {
        let edge = match opcode {
            // Version 0 has no blocks but handles.
            _ if version == 0 => return self.live(record.time()),
            RegistryOperation::KCB_CREATE if version > 1 => KeyEdge::Begin,
            RegistryOperation::KCB_DELETE => KeyEdge::End,
            RegistryOperation::KCB_CREATE
            | RegistryOperation::KCB_RUNDOWN_BEGIN
            | RegistryOperation::KCB_RUNDOWN_END => KeyEdge::There,
            _ => return self.live(record.time()),
        };
        if edge != KeyEdge::There {
            self.live(record.time());
        }
        let Some(block) = self.decode::<RegistryOperation<'_>>(record, version) else { return };
        let name = block.name.map(|name| name.to_string()).unwrap_or_default();
        if !self.registry_keys.named(record.time(), block.key, edge, &name) {
            self.health.count(HealthKind::REGISTRY_NAMES_OVER_BUDGET, Some(record.time()), || name);
        }
    }

    fn object(&mut self, record: &Record<'_>, opcode: u8, version: u8) {
        match opcode {
            ObjectTypeName::DC_START | ObjectTypeName::DC_END => {
                let Some(named) = self.decode::<ObjectTypeName<'_>>(record, version) else { return };
                let name: String = named.name.to_string().chars().take(MAX_TYPE_NAME).collect();
                if !name.is_empty() {
                    self.object_types.insert(named.object_type, name.into());
                }
            }
            HandleRundown::DC_START | HandleRundown::DC_END => {}
            _ => self.live(record.time()),
        }
    }

    fn event_trace(&mut self, record: &Record<'_>, opcode: u8, version: u8) {
        if matches!(opcode, HeaderExtension::START | HeaderExtension::END) {
            // Its version says nothing about the masks, which come first.
            if let Ok(extension) = HeaderExtension::parse(record.payload(), version, record.pointer_size()) {
                self.enabled.take(&extension);
            }
        }
        if opcode != LastDroppedTimes::OPCODE {
            return;
        }
        let Some(dropped) = self.decode::<LastDroppedTimes<'_>>(record, version) else { return };
        for (cpu, time) in dropped.times.iter().enumerate().filter(|(_, time)| *time != 0) {
            self.health
                .count(HealthKind::CPU_DROPPED_RECORDS, Some(time.cast_signed()), || format!("last on CPU {cpu}"));
        }
    }
}
