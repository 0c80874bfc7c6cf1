//! The files hold what the scenario says: every record, and every stack by the rules of the format.

use std::collections::HashMap;

use proptest::prelude::*;
use tracesift_etl::payload::{
    ContextSwitch, Payload, ReadyThread, SampledProfile, Stack, StackDefinition, StackReference,
};
use tracesift_etl::write::PointerSize;
use tracesift_etl::{EtlFile, Merge, MergeOptions, Record};
use tracesift_scenario::story;
use tracesift_scenario::{Event, Knobs, Scenario, Walk};

const SWITCH: u16 = 0x0524;
const READY: u16 = 0x0532;
const SAMPLE: u16 = 0x0F2E;
const STACK: u16 = 0x1820;
const KEY_CREATE: u16 = 0x1822;
const KEY_DELETE: u16 = 0x1823;
const KEY_RUNDOWN: u16 = 0x1824;
const KERNEL_KEY: u16 = 0x1825;
const USER_KEY: u16 = 0x1826;

/// An event that can have a stack: time, CPU, thread of the stack, and the rest of its payload.
type Key = (i64, u16, u32, String);

/// Time and thread of the event that a stack belongs to.
type StackOf = (i64, u32);
/// CPU of the first half that is found, and the frames of both.
type OnCpu = (u16, Vec<u64>);

/// What a file says.
#[derive(Debug, Default, PartialEq, Eq)]
struct Content {
    events: Vec<Key>,
    /// Stacks by time and thread of their event.
    stacks: HashMap<StackOf, Vec<OnCpu>>,
}

fn open(scenario: &Scenario) -> Vec<EtlFile> {
    let parts = scenario.parts().expect("the scenario can be written");
    parts.into_iter().map(|part| EtlFile::open(Box::new(part.bytes)).expect("it is a recording")).collect()
}

/// Definitions by kind of half and key; see the reader's rules for stack keys.
#[derive(Default)]
struct Keys {
    open: HashMap<(bool, u64), Vec<u64>>,
    pending: HashMap<(bool, u64), Vec<(StackOf, u16)>>,
}

fn read(scenario: &Scenario) -> Content {
    let files = open(scenario);
    let mut merge = Merge::new(&files, MergeOptions::default());
    let mut content = Content::default();
    let mut keys = Keys::default();
    let mut last_time = i64::MIN;
    while let Some(record) = merge.next() {
        assert!(record.time() >= last_time, "records come in time order");
        last_time = record.time();
        let (version, pointer_size) = (record.version(), record.pointer_size());
        let payload = record.payload();
        match record.hook() {
            Some(SWITCH) => {
                let switch = ContextSwitch::parse(payload, version, pointer_size).expect("a switch");
                let rest = format!(
                    "switch from {} in {} for {} {:?} {:?}",
                    switch.old_thread_id,
                    switch.old_thread_state,
                    switch.old_thread_wait_reason,
                    switch.previous_c_state,
                    record.counters().iter().collect::<Vec<u64>>()
                );
                content.events.push((record.time(), record.cpu(), switch.new_thread_id, rest));
            }
            Some(READY) => {
                let ready = ReadyThread::parse(payload, version, pointer_size).expect("a ready event");
                let rest = format!("ready {} {}", ready.adjust_reason, ready.flags);
                content.events.push((record.time(), record.cpu(), ready.thread_id, rest));
            }
            Some(SAMPLE) => {
                let sample = SampledProfile::parse(payload, version, pointer_size).expect("a sample");
                let rest = format!("sample {} × {} {:?}", sample.instruction_pointer, sample.count, sample.flags);
                content.events.push((record.time(), record.cpu(), sample.thread_id, rest));
            }
            Some(hook @ (STACK | KEY_CREATE | KEY_DELETE | KEY_RUNDOWN | KERNEL_KEY | USER_KEY)) => {
                stack(&record, hook, &mut keys, &mut content);
            }
            _ => {}
        }
    }
    for part in 0..files.len() {
        assert!(merge.damage(part).is_none_or(|damage| damage.is_empty()));
    }
    assert!(keys.pending.values().all(Vec::is_empty), "every key is defined");
    content
}

fn add(content: &mut Content, event: StackOf, cpu: u16, frames: &[u64]) {
    let halves = content.stacks.entry(event).or_default();
    // Kernel and user half are one stack; only idle threads share a time and an id.
    match halves.iter_mut().find(|half| event.1 != 0 || half.0 == cpu) {
        Some(half) if half.1.is_empty() || is_kernel(half.1[0]) => half.1.extend_from_slice(frames),
        Some(half) => half.1.splice(0..0, frames.iter().copied()).for_each(drop),
        None => halves.push((cpu, frames.to_vec())),
    }
}

fn is_kernel(address: u64) -> bool {
    address >= 0xFFFF_8000_0000_0000 || (0x8000_0000..0x1_0000_0000).contains(&address)
}

fn stack(record: &Record<'_>, hook: u16, keys: &mut Keys, content: &mut Content) {
    let (version, pointer_size) = (record.version(), record.pointer_size());
    match hook {
        STACK => {
            let stack = Stack::parse(record.payload(), version, pointer_size).expect("a stack");
            let frames: Vec<u64> = stack.frames.iter().collect();
            add(content, (stack.event_timestamp as i64, stack.thread_id), record.cpu(), &frames);
        }
        KERNEL_KEY | USER_KEY => {
            let reference = StackReference::parse(record.payload(), version, pointer_size).expect("a reference");
            let key = (hook == KERNEL_KEY, reference.stack_key);
            let event = (reference.event_timestamp as i64, reference.thread_id);
            match keys.open.get(&key) {
                Some(frames) => add(content, event, record.cpu(), frames),
                None => keys.pending.entry(key).or_default().push((event, record.cpu())),
            }
        }
        _ => {
            let definition = StackDefinition::parse(record.payload(), version, pointer_size).expect("a definition");
            let frames: Vec<u64> = definition.frames.iter().collect();
            let key = (is_kernel(frames[0]), definition.stack_key);
            for (event, cpu) in keys.pending.remove(&key).unwrap_or_default() {
                add(content, event, cpu, &frames);
            }
            if hook == KEY_CREATE {
                keys.open.insert(key, frames);
            } else {
                keys.open.remove(&key);
            }
        }
    }
}

/// What the scenario says, in the same form.
fn expected(scenario: &Scenario) -> Content {
    let machine = &scenario.machine;
    let mut content = Content::default();
    let mut records: Vec<_> = scenario.records.iter().collect();
    records.sort_by_key(|record| (record.ticks, record.cpu));
    for record in records {
        let tid = |thread: usize| machine.threads[thread].tid;
        let (shown, stack_of, walk, rest) = match &record.event {
            Event::Switch(switch) => {
                let rest = format!(
                    "switch from {} in {} for {} {:?} {:?}",
                    tid(switch.old),
                    switch.old_state,
                    switch.wait_reason,
                    Some(switch.previous_c_state),
                    switch.counters
                );
                (tid(switch.new), tid(switch.new), switch.walk, Some(rest))
            }
            Event::Ready(ready) => {
                let rest = format!("ready {} {}", ready.adjust_reason, ready.flags);
                (tid(ready.thread), tid(ready.by), ready.walk, Some(rest))
            }
            Event::Sample(sample) => {
                let flags = u8::from(sample.in_dpc) | u8::from(sample.in_isr) << 1 | sample.priority << 3;
                let address = machine.address(sample.function);
                let rest = format!("sample {address} × {} {:?}", sample.count, Some(flags));
                (tid(sample.thread), tid(sample.thread), sample.walk, Some(rest))
            }
            Event::CounterSample(sample) => (tid(sample.thread), tid(sample.thread), sample.walk, None),
            _ => continue,
        };
        if let Some(rest) = rest {
            content.events.push((record.ticks, record.cpu, shown, rest));
        }
        if let Some(Walk { kernel, user, .. }) = walk.filter(|walk| walk.kernel.or(walk.user).is_some()) {
            let halves = [kernel, user].into_iter().flatten().flat_map(|half| machine.stack(half));
            let frames = halves.map(|function| machine.address(*function)).collect();
            content.stacks.entry((record.ticks, stack_of)).or_default().push((record.cpu, frames));
        }
    }
    content
}

fn sorted(mut content: Content) -> Content {
    // The CPU of a stack only matters where threads share an id.
    for (event, stacks) in &mut content.stacks {
        if event.1 != 0 {
            assert_eq!(stacks.len(), 1, "one stack per event");
            stacks[0].0 = 0;
        }
        stacks.sort();
    }
    content
}

fn check(scenario: &Scenario) {
    let (found, expected) = (sorted(read(scenario)), sorted(expected(scenario)));
    assert_eq!(found.events.len(), expected.events.len());
    for (found, expected) in found.events.iter().zip(&expected.events) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.stacks.len(), expected.stacks.len());
    for (event, stacks) in &expected.stacks {
        assert_eq!(found.stacks.get(event), Some(stacks), "stack of {event:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn every_record_and_every_stack_is_in_the_file(seed: u64) {
        check(&Scenario::random(seed, &Knobs::random(seed)));
    }

    #[test]
    fn how_it_is_written_changes_nothing(seed: u64) {
        let knobs = Knobs { compress: false, rotate_buffers: 0, windows7: false, separate_rundown: false, ..Knobs::random(seed) };
        let plain = read(&Scenario::random(seed, &knobs));
        for knobs in [
            Knobs { compress: true, ..knobs.clone() },
            Knobs { rotate_buffers: 3, ..knobs.clone() },
            Knobs { windows7: true, ..knobs.clone() },
            Knobs { separate_rundown: true, ..knobs.clone() },
            Knobs { buffer_size: 4_096, ..knobs.clone() },
        ] {
            prop_assert!(read(&Scenario::random(seed, &knobs)) == plain, "{:?}", knobs);
        }
    }
}

#[test]
fn the_story_is_in_its_files() {
    for figures in story::figures().iter().take(3) {
        check(&story::scenario(figures));
    }
}

#[test]
fn headers_say_how_the_file_is_written() {
    let knobs = Knobs {
        cpus: 3,
        frequency: 2_337_949,
        pointer_size: PointerSize::Four,
        windows7: true,
        rotate_buffers: 2,
        separate_rundown: true,
        lost_switches_per_mille: 100,
        ..Knobs::default()
    };
    let scenario = Scenario::random(5, &knobs);
    let files = open(&scenario);
    let [main, managed] = files.as_slice() else { panic!("two parts") };
    let header = main.header();
    assert_eq!((header.cpu_count, header.pointer_size, header.performance_frequency), (3, 4, 2_337_949));
    assert_eq!((header.os_major, header.os_minor), (6, 1));
    assert_eq!(header.zero_ticks(), scenario.machine.zero_ticks);
    assert_eq!(header.start_time, scenario.machine.start_filetime);
    assert_eq!((header.end_time - header.start_time) * 100, scenario.truth().end);
    assert_eq!(header.events_lost, scenario.recording.events_lost);
    assert!(header.events_lost > 0);
    assert!(managed.header().zero_ticks() > header.zero_ticks());
    assert_eq!(managed.header().boot_time, header.boot_time);
    let sequence: Vec<i64> = main.buffers().iter().map(|buffer| buffer.sequence).collect();
    assert_eq!(sequence[0], 0);
    assert!(!sequence.is_sorted(), "circular: {sequence:?}");
}
