//! Fields that two kinds of records share: a decoder that takes a neighbouring field for a key finds no partner.

use std::collections::{HashMap, HashSet};

use tracesift_etl::class::IMAGE_ID;
use tracesift_etl::payload::*;
use tracesift_etl::{BufferReader, EtlFile, EventClass, Group, Record};
use tracesift_fixtures::cases;

use crate::common;

/// What one recording says of things that other records point at.
#[derive(Default)]
struct Keys {
    files: HashSet<u64>,
    file_users: Vec<u64>,
    disk_inits: HashMap<u64, Vec<u32>>,
    disk_completions: Vec<(u64, u32)>,
    images: HashSet<(i64, u64, u32)>,
    image_ids: Vec<(i64, u64, u32)>,
    stacks: HashSet<u64>,
    stack_users: Vec<u64>,
    times: HashSet<u64>,
    stack_times: Vec<u64>,
}

fn parse<'a, T: Payload<'a>>(record: &Record<'a>) -> T {
    T::parse(record.payload(), record.version(), record.pointer_size()).unwrap()
}

impl Keys {
    fn add(&mut self, record: &Record<'_>) {
        match record.class() {
            EventClass::Kernel { group, opcode, .. } => self.add_kernel(record, group, opcode),
            EventClass::Classic { guid: IMAGE_ID, opcode, .. } => {
                let id = ImageId::parse(record.payload(), opcode, record.version(), record.pointer_size()).unwrap();
                let (base, process) = match id {
                    ImageId::Info(info) => (info.image_base, info.process_id),
                    ImageId::NoDebugInfo(none) => (none.image_base, none.process_id),
                    ImageId::DbgFile(dbg) => (dbg.image_base, dbg.process_id),
                    ImageId::Pdb(pdb) | ImageId::ManagedPdb(pdb) => (pdb.image_base, pdb.process_id),
                    ImageId::PortablePdb(pdb) => (pdb.image_base, pdb.process_id),
                    ImageId::PortablePdbId(pdb) => (pdb.image_base, pdb.process_id),
                    ImageId::Deterministic(image) => (image.image_base, image.process_id),
                    ImageId::Failure(_) | ImageId::FileVersion(_) => return,
                };
                self.image_ids.push((record.time(), base, process));
            }
            _ => {
                self.times.insert(record.time().cast_unsigned());
            }
        }
    }

    fn add_kernel(&mut self, record: &Record<'_>, group: Group, opcode: u8) {
        match (group, opcode) {
            (Group::STACK_WALK, Stack::OPCODE) => self.stack_times.push(parse::<Stack<'_>>(record).event_timestamp),
            (Group::STACK_WALK, StackReference::KERNEL | StackReference::USER) => {
                let reference: StackReference = parse(record);
                self.stack_users.push(reference.stack_key);
                self.stack_times.push(reference.event_timestamp);
            }
            (Group::STACK_WALK, _) => {
                self.stacks.insert(parse::<StackDefinition<'_>>(record).stack_key);
            }
            _ => {
                self.times.insert(record.time().cast_unsigned());
            }
        }
        match (group, opcode) {
            (Group::FILE_IO, FileName::NAME | FileName::CREATE | FileName::DELETE | FileName::RUNDOWN) => {
                self.files.insert(parse::<FileName<'_>>(record).file_key);
            }
            (Group::DISK_IO, DiskInit::READ | DiskInit::WRITE | DiskInit::FLUSH) => {
                let init: DiskInit = parse(record);
                self.disk_inits.entry(init.irp).or_default().push(init.issuing_thread_id.unwrap());
            }
            (Group::DISK_IO, DiskTransfer::READ | DiskTransfer::WRITE) => {
                let transfer: DiskTransfer = parse(record);
                self.file_users.push(transfer.file_key);
                self.disk_completions.push((transfer.irp.unwrap(), transfer.issuing_thread_id.unwrap()));
            }
            (Group::DISK_IO, DiskFlush::OPCODE) => {
                let flush: DiskFlush = parse(record);
                self.disk_completions.push((flush.irp, flush.issuing_thread_id.unwrap()));
            }
            (Group::MEMORY, HardFault::OPCODE) => self.file_users.push(parse::<HardFault>(record).file_key),
            (Group::IMAGE, Image::UNLOAD..=Image::DC_END | Image::LOAD) => {
                let image: Image<'_> = parse(record);
                if let Some(process) = image.process_id {
                    self.images.insert((record.time(), image.base, process));
                }
            }
            _ => {}
        }
    }
}

#[test]
fn keys_of_one_record_are_found_in_another() {
    if cases("").is_none() {
        return;
    }
    let recordings = [
        ("etl/net.4.5.2.x64.etl.zip", Some("net.4.5.2.x64.etl")),
        ("etl/net.4.5.2.x86.etl.zip", Some("net.4.5.2.x86.etl")),
        ("etl/TraceLoggingTester.7z", Some("TraceLoggingTester.etl")),
    ];
    let mut joined = [0; 5];
    for (path, member) in recordings {
        let file = EtlFile::open(Box::new(common::read(path, member))).unwrap();
        let mut keys = Keys::default();
        let mut reader = BufferReader::new(0);
        for buffer in file.buffers() {
            reader.records(&file, buffer).for_each(|record| keys.add(&record));
        }
        assert!(keys.file_users.iter().all(|key| keys.files.contains(key)), "{path}: a file key has no name");
        assert!(
            keys.disk_completions.iter().all(|(irp, thread)| keys.disk_inits[irp].contains(thread)),
            "{path}: a disk operation completed for a thread that did not begin it"
        );
        assert!(keys.image_ids.iter().all(|id| keys.images.contains(id)), "{path}: an image id has no image");
        assert!(keys.stack_users.iter().all(|key| keys.stacks.contains(key)), "{path}: a stack key is not defined");
        assert!(keys.stack_times.iter().all(|time| keys.times.contains(time)), "{path}: a stack has no record");
        let counts = [
            keys.file_users.len(),
            keys.disk_completions.len(),
            keys.image_ids.len(),
            keys.stack_users.len(),
            keys.stack_times.len(),
        ];
        joined.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    assert!(joined.iter().all(|count| *count > 1_000), "too little was joined: {joined:?}");
}
