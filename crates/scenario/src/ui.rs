//! A program with a window that dispatches three messages, of which two take too long, and the focus that moves to it between them. No
//! recording with such events is public, so the events are made from their layouts.

use tracesift_etl::class::WIN32K;
use tracesift_etl::write::payload::{Bytes, Image, ReadyThread, Sample, Stack};
use tracesift_etl::write::{Hook, PointerSize, SessionOptions, WriteError};

use crate::interrupts::{switch, threads};
use crate::providers::{KernelRecord, Logged, write_with_kernel};

const MS: i64 = 1_000_000;
/// Length of the recording.
pub const SECONDS: i64 = 12;
/// Process and thread of the window.
pub const EDITOR: (u32, u32) = (7, 12);
/// Those for which it waits.
pub const SERVER: (u32, u32) = (9, 20);
/// Those that have the focus first, and in the end.
pub const SHELL: (u32, u32) = (11, 28);
/// The session.
pub const SESSION: u32 = 1;
/// Classes of the window, and of the one on top of it.
pub const CLASSES: [&str; 2] = ["EditorView", "EditorFrame"];

/// Offsets of the functions in the program.
pub mod functions {
    /// Waits for the server.
    pub const LOAD: u64 = 0x1000;
    /// Paints.
    pub const PAINT: u64 = 0x3000;
    /// Runs most in the long message.
    pub const PARSE: u64 = 0x4000;
}

/// Ids of the events.
pub mod ids {
    /// The focus goes to another thread.
    pub const FOCUS_THREAD: u16 = 2;
    /// Who has the focus.
    pub const FOCUS_HELD: u16 = 25;
    /// The focus goes to another process.
    pub const FOCUS_PROCESS: u16 = 26;
    /// The wait cursor is shown.
    pub const WAIT_CURSOR: u16 = 35;
    /// What a thread has not looked after.
    pub const RUNDOWN: u16 = 36;
    /// Input is not processed.
    pub const INPUT_DELAY: u16 = 37;
    /// Messages are not checked for.
    pub const CHECK_DELAY: u16 = 38;
    /// A thread with windows ends.
    pub const THREAD_EXIT: u16 = 45;
    /// A message is fetched.
    pub const FETCH: [u16; 2] = [76, 77];
    /// A message is dispatched.
    pub const DISPATCH: [u16; 2] = [92, 93];
    /// Of apps from the store: input is not processed.
    pub const APP_INPUT_DELAY: u16 = 172;
    /// Of apps from the store: messages are not checked for.
    pub const APP_CHECK_DELAY: u16 = 173;
}

/// A message: its number, when it is dispatched, and when it is done, ms.
pub const MESSAGES: [(u32, i64, i64); 3] = [(0x113, 1_000, 1_050), (15, 2_000, 2_250), (0x111, 5_000, 11_000)];
/// In the last one it waits from the first time to the second, and runs from the third on, ms.
pub const WAIT: [i64; 3] = [5_500, 9_500, 9_600];
/// The focus comes, and leaves, ms.
pub const FOCUS: [i64; 2] = [4_000, 11_500];

/// Base address of the program.
const PROGRAM: u64 = 0x40_0000;
/// Base address of the system's library.
const LIBRARY: u64 = 0x7700_0000;

/// An event of Win32k that a thread logs.
#[must_use]
pub fn event(time: i64, cpu: u16, by: (u32, u32), id: u16, payload: Bytes) -> Logged {
    Logged { time, cpu, provider: WIN32K, id, version: 0, pid: by.0, tid: by.1, payload: payload.into_vec() }
}

/// The payload of a begin or an end of a fetch or of a dispatch.
#[must_use]
pub fn pump(id: u16, message: u32, pointer_size: PointerSize) -> Bytes {
    let mut payload = Bytes::new(pointer_size);
    payload.u8(0);
    if ids::FETCH.contains(&id) {
        // GetMessage.
        payload.u32(1);
    } else {
        payload.u32(message);
    }
    if id == ids::FETCH[0] {
        payload.u32(0);
        payload.u32(0);
    }
    payload
}

/// The payload of 37, 38, 172 or 173: delay (38 and 173 only), time since input was removed, and age of the oldest input, ms.
#[must_use]
pub fn delay(id: u16, times: [u32; 3], message: u32, pointer_size: PointerSize) -> Bytes {
    let mut payload = Bytes::new(pointer_size);
    payload.u32(0);
    if matches!(id, ids::CHECK_DELAY | ids::APP_CHECK_DELAY) {
        payload.u32(times[0]);
    }
    payload.u32(times[1]);
    payload.u32(times[2]);
    CLASSES.iter().for_each(|class| payload.utf16(class));
    payload.utf16(r"C:\editor\editor.exe");
    if matches!(id, ids::APP_INPUT_DELAY | ids::APP_CHECK_DELAY) {
        payload.utf16("Editor!App");
    }
    payload.u32(message);
    payload.u64(0);
    payload
}

/// The payload of an event of 32-bit numbers: 2, 26, 35, 36, 45.
#[must_use]
pub fn numbers(values: &[u32], pointer_size: PointerSize) -> Bytes {
    let mut payload = Bytes::new(pointer_size);
    values.iter().for_each(|value| payload.u32(*value));
    payload
}

/// The events of the window.
fn events(size: PointerSize) -> Vec<Logged> {
    let mut events = Vec::new();
    for (message, from, to) in MESSAGES {
        let mut put = |ms: i64, id: u16| events.push(event(ms * MS, 0, EDITOR, id, pump(id, message, size)));
        put(from, ids::FETCH[1]);
        put(from, ids::DISPATCH[0]);
        put(to, ids::DISPATCH[1]);
        put(to, ids::FETCH[0]);
    }
    let (message, from, to) = MESSAGES[2];
    let took = (to - from) as u32;
    for id in [ids::CHECK_DELAY, ids::INPUT_DELAY] {
        let payload = delay(id, [took, took - 10, 3_000], message, size);
        events.push(event(to * MS, 0, EDITOR, id, payload));
    }
    let [comes, leaves] = FOCUS;
    // The event about processes comes first, and then the other one.
    let of_processes = |ms: i64, [old, new]: [(u32, u32); 2]| {
        event(ms * MS, 1, SHELL, ids::FOCUS_PROCESS, numbers(&[SESSION, old.0, new.0], size))
    };
    let of_threads = |ms: i64, [old, new]: [(u32, u32); 2]| {
        event(ms * MS, 1, SHELL, ids::FOCUS_THREAD, numbers(&[old.1, new.1], size))
    };
    events.push(of_processes(comes, [SHELL, EDITOR]));
    events.push(of_threads(comes, [SHELL, EDITOR]));
    events.push(of_threads(leaves, [EDITOR, SHELL]));
    events.push(of_processes(leaves, [EDITOR, SHELL]));
    events
}

/// Records of the kernel: threads, images, switches, wake-ups, samples.
struct Kernel {
    size: PointerSize,
    records: Vec<KernelRecord>,
}

impl Kernel {
    fn put(&mut self, time: i64, cpu: u16, hook: Hook, by: (u32, u32), encode: impl FnOnce(&mut Bytes)) {
        let mut payload = Bytes::new(self.size);
        encode(&mut payload);
        self.records.push(KernelRecord { time, cpu, hook, caller: by, payload: payload.into_vec() });
    }

    fn image(&mut self, pid: u32, base: u64, path: &str) {
        let image = Image { base, size: 0x1_0000, pid, checksum: 0, time_date_stamp: 1, path };
        self.put(0, 0, Image::DC_START, (4, 8), |out| image.encode(out));
    }

    /// The stack of the event of that time, leaf first.
    fn stack(&mut self, time: i64, cpu: u16, by: (u32, u32), frames: &[u64]) {
        let options = SessionOptions::default();
        let ticks = (i128::from(time) * i128::from(options.frequency) / 1_000_000_000) as i64;
        let stack = Stack { event_time: options.zero_ticks + ticks, pid: by.0, tid: by.1, frames };
        self.put(time + 1_000, cpu, Stack::HOOK, by, |out| stack.encode(out));
    }

    fn switch(&mut self, ms: i64, cpu: u16, [old, new]: [u32; 2]) {
        self.records.push(switch((ms * MS, cpu, old, new), self.size));
    }

    /// Samples of a function every 10 ms.
    fn samples(&mut self, [from, to]: [i64; 2], offset: u64) {
        for ms in (from + 5..to).step_by(10) {
            let sample =
                Sample { instruction: PROGRAM + offset + 4, tid: EDITOR.1, count: 1, priority: 8, ..Sample::default() };
            self.put(ms * MS, 0, Sample::HOOK, (0, 0), |out| sample.encode(out));
            self.stack(ms * MS, 0, EDITOR, &[PROGRAM + offset + 4, PROGRAM + 0x2000]);
        }
    }
}

fn kernel(size: PointerSize) -> Vec<KernelRecord> {
    let mut kernel = Kernel { size, records: threads(&[EDITOR, SERVER, SHELL], size) };
    kernel.image(EDITOR.0, PROGRAM, r"\Device\HarddiskVolume2\editor\editor.exe");
    kernel.image(EDITOR.0, LIBRARY, r"\Device\HarddiskVolume2\Windows\System32\ntdll.dll");
    let (editor, server) = (EDITOR.1, SERVER.1);
    for (_, from, to) in &MESSAGES[..2] {
        kernel.switch(*from - 1, 0, [0, editor]);
        kernel.switch(*to + 1, 0, [editor, 0]);
    }
    let (_, from, to) = MESSAGES[1];
    kernel.samples([from, to], functions::PAINT);
    let (_, from, to) = MESSAGES[2];
    let [waits, ready, runs] = WAIT;
    kernel.switch(from - 1, 0, [0, editor]);
    kernel.samples([from, waits], functions::LOAD);
    kernel.switch(waits, 0, [editor, 0]);
    kernel.switch(waits - 100, 1, [0, server]);
    let wake_up = ReadyThread { tid: editor, adjust_reason: 1, adjust_increment: 0, flags: 0 };
    kernel.put(ready * MS, 1, ReadyThread::HOOK, (0, 0), |out| wake_up.encode(out));
    kernel.switch(ready + 1, 1, [server, 0]);
    kernel.switch(runs, 0, [0, editor]);
    kernel.stack(runs * MS, 0, EDITOR, &[LIBRARY + 0x100, PROGRAM + functions::LOAD + 8, PROGRAM + 0x2000]);
    kernel.samples([runs, to], functions::PARSE);
    kernel.switch(to + 1, 0, [editor, 0]);
    kernel.records
}

/// Writes the recording.
///
/// # Errors
/// A payload does not fit into a buffer.
pub fn write(pointer_size: PointerSize) -> Result<Vec<u8>, WriteError> {
    let options = SessionOptions { pointer_size, ..SessionOptions::default() };
    let processes = [(EDITOR.0, "editor.exe"), (SERVER.0, "server.exe"), (SHELL.0, "shell.exe")];
    write_with_kernel(options, SECONDS, &processes, events(pointer_size), kernel(pointer_size))
}
