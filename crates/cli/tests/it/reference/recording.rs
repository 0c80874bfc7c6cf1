//! A recording of 200 ms that was written record by record, so that every figure can be counted by hand.
//!
//! Two threads of `app.exe` work for some milliseconds and wait in the same function, mostly at the same time; `helper.exe` works
//! once. One slot is a millisecond, and every sample stands for one.

use std::path::Path;

use tempfile::TempDir;
use tracesift_scenario::{
    Code, Event, Function, Machine, ManagedModule, Method, MethodOrigin, PointerSize, Process, Ready, Record,
    Recording, Sample, Scenario, StackId, Switch, Thread, Walk,
};

/// Ticks of a millisecond at 10 MHz.
const MS: i64 = 10_000;
/// Idle threads of the two CPUs come first.
const IDLE: [usize; 2] = [0, 1];
const FIRST: usize = 2;
const SECOND: usize = 3;
const HELPER: usize = 4;
/// `UserRequest`
const USER_REQUEST: i8 = 6;
const WAITING: i8 = 5;
const RUNNING: i8 = 2;

/// Name of the recording without its ending.
pub(super) const NAME: &str = "Lock_120ms_TRACESIFT_SINGLE_TestStatus-Passed_20220404-101500";

/// A directory with the recording.
pub(super) fn directory() -> TempDir {
    let directory = TempDir::new().unwrap();
    write(&directory.path().join(format!("{NAME}.etl")));
    directory
}

fn write(path: &Path) {
    std::fs::write(path, scenario().bytes().unwrap()).unwrap();
}

/// Functions of `app.dll`, and stacks of them, leaf first.
struct Stacks {
    work: StackId,
    recursion: StackId,
    lock: StackId,
    help: StackId,
}

fn machine() -> (Machine, Stacks, Function) {
    let mut machine = Machine::new(2, 10_000_000, PointerSize::Eight);
    for (pid, name, command_line) in [(100, "app.exe", "app.exe -load"), (200, "helper.exe", "helper.exe")] {
        machine.processes.push(Process {
            pid,
            parent_pid: 4,
            name: name.to_owned(),
            command_line: command_line.to_owned(),
            session: 1,
            user: vec![21, 1, 2, 3, 1001],
            images: Vec::new(),
            start: None,
            end: None,
            exit_code: 0,
        });
    }
    for (process, tid) in [(1, 101), (1, 102), (2, 201)] {
        machine.threads.push(Thread {
            process,
            tid,
            name: String::new(),
            base_priority: 8,
            service_tag: 0,
            start: None,
            end: None,
        });
    }
    machine.managed_modules.push(ManagedModule {
        name: "app.dll".to_owned(),
        path: "C:\\app\\app.dll".to_owned(),
        id: 0x7fff_0000_1000,
    });
    let mut function = |process: usize, name: &str| {
        let number = machine.methods.len();
        machine.methods.push(Method {
            process,
            module: 0,
            namespace: "App.Program".to_owned(),
            name: name.to_owned(),
            signature: "void  ()".to_owned(),
            start: 0x7fff_2000_0000 + 0x1000 * number as u64,
            size: 0x100,
            origin: MethodOrigin::Rundown,
        });
        machine.add_function(Code::Managed { method: number })
    };
    let [main, work, again, lock, help] = [(1, "Main"), (1, "Work"), (1, "Again"), (1, "Lock"), (2, "Help")]
        .map(|(process, name)| function(process, name));
    let stacks = Stacks {
        work: machine.stack_id(&[work, main]),
        recursion: machine.stack_id(&[again, again, main]),
        lock: machine.stack_id(&[lock, main]),
        help: machine.stack_id(&[help]),
    };
    (machine, stacks, work)
}

/// The whole recording.
fn scenario() -> Scenario {
    let (machine, stacks, leaf) = machine();
    let at = |ms: i64| machine.zero_ticks + ms * MS;
    let walk = |stack: StackId, ticks: i64, cpu: u16| Walk {
        kernel: None,
        user: Some(stack),
        user_ticks: ticks,
        user_cpu: cpu,
    };
    let mut records = Vec::new();
    let mut switch = |ms: i64, cpu: u16, old: usize, new: usize, stack: Option<StackId>| {
        let ticks = at(ms);
        let idles = old == IDLE[usize::from(cpu)];
        records.push(Record {
            ticks,
            cpu,
            event: Event::Switch(Switch {
                old,
                new,
                old_state: if idles { RUNNING } else { WAITING },
                wait_reason: if idles { 0 } else { USER_REQUEST },
                user_mode_wait: true,
                new_priority: 8,
                old_priority: 8,
                previous_c_state: 0,
                walk: stack.map(|stack| walk(stack, ticks + 200, cpu)),
                counters: Vec::new(),
            }),
        });
    };
    switch(10, 0, IDLE[0], FIRST, None);
    switch(15, 1, IDLE[1], SECOND, None);
    switch(20, 0, FIRST, IDLE[0], None);
    switch(30, 1, SECOND, IDLE[1], None);
    switch(100, 1, IDLE[1], HELPER, None);
    switch(121, 0, IDLE[0], FIRST, Some(stacks.lock));
    switch(142, 1, HELPER, SECOND, Some(stacks.lock));
    switch(150, 0, FIRST, IDLE[0], None);
    switch(160, 1, SECOND, IDLE[1], None);
    for (ms, thread) in [(120, FIRST), (140, SECOND)] {
        records.push(Record {
            ticks: at(ms),
            cpu: 1,
            event: Event::Ready(Ready {
                thread,
                by: HELPER,
                adjust_reason: 1,
                adjust_increment: 1,
                flags: 0,
                walk: None,
            }),
        });
    }
    let mut sample = |ms: i64, cpu: u16, thread: usize, priority: u8, stack: StackId| {
        let ticks = at(ms) + MS / 2;
        records.push(Record {
            ticks,
            cpu,
            event: Event::Sample(Sample {
                thread,
                function: leaf,
                count: 1,
                in_dpc: false,
                in_isr: false,
                priority,
                walk: Some(walk(stack, ticks + 200, cpu)),
            }),
        });
    };
    (10..13).for_each(|ms| sample(ms, 0, FIRST, 8, stacks.work));
    (13..20).for_each(|ms| sample(ms, 0, FIRST, 8, stacks.recursion));
    (15..30).for_each(|ms| sample(ms, 1, SECOND, 10, stacks.recursion));
    (100..142).for_each(|ms| sample(ms, 1, HELPER, 9, stacks.help));
    let recording = Recording::new(at(200));
    Scenario { machine, records, recording }
}
