//! Profiles made up for tests: with names as strangers would choose them, with deep stacks, and large ones.

#![allow(dead_code, unreachable_pub, reason = "each test uses a part")]

use tracesift_export::profile::{Marker, MarkerKind};
use tracesift_export::{
    About, Catalog, Frame, FrameId, Measure, Origin, Process, Profile, Sample, StackId, Thread, ThreadId,
};

/// Names that would break a format that does not escape them.
pub const HOSTILE: [&str; 12] = [
    "a;b",
    "line\nbreak\r\ttab",
    "</script><script>alert(1)</script>",
    "]]><script>alert(2)</script>",
    "<svg onload=\"alert(3)\">&amp;",
    "\" onclick='alert(4)'",
    "nul\0 esc\x1b[31m",
    "\u{202e}desrever\u{2066}",
    "\u{2028}\u{ffff}\u{feff}",
    "std::map<int, std::vector<char, std::allocator<char> > >::operator[](int const&)",
    "漢字の関数名🦀",
    "",
];

/// Numbers that look random and are always the same.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }
}

pub fn about(name: &str) -> About {
    About {
        start: Some(1_700_000_000_000_000_000),
        duration: Some(10_000_000_000),
        interval: Some(1_000_000),
        ..About::new(name, Measure::CPU)
    }
}

pub fn frame(catalog: &mut Catalog, module: &str, function: &str, origin: Origin) -> FrameId {
    let (function, module) = (catalog.string(function), catalog.string(module));
    catalog.frame(Frame { module, ..Frame::named(function, origin) })
}

pub fn thread(catalog: &mut Catalog, process: &str, pid: u32, name: &str, tid: u32) -> ThreadId {
    let name_of = catalog.string(process);
    let known = catalog.processes().iter().position(|row| row.pid == pid && row.name == name_of);
    let process = match known {
        Some(row) => catalog.threads().iter().find(|thread| thread.process.row() == row).unwrap().process,
        None => catalog.process(Process { name: name_of, pid, start: None, end: None }),
    };
    let name = catalog.string(name);
    catalog.thread(Thread { process, name, tid, start: None, end: None })
}

/// Two processes, three threads, every origin, inlined frames with lines, a sample without stack, waits and a mark.
pub fn small() -> Profile {
    let mut profile = Profile::new(about("small.etl"));
    let catalog = &mut profile.catalog;
    let main = thread(catalog, "server.exe", 4, "main", 8);
    let worker = thread(catalog, "server.exe", 4, "", 12);
    let client = thread(catalog, "client.exe", 16, "ui", 20);
    let start = frame(catalog, "ntdll.dll", "RtlUserThreadStart", Origin::User);
    let handle = frame(catalog, "server.exe", "handle_request", Origin::User);
    let file = catalog.string("/src/parse.rs");
    let parse = Frame { line: Some(42), address: Some(0x1234), file, ..catalog.frames()[handle.row()] };
    let parse = Frame { function: catalog.string("parse"), ..parse };
    let parse = catalog.frame(parse);
    let next =
        Frame { function: catalog.string("next_token"), line: Some(7), inlined: true, ..catalog.frames()[parse.row()] };
    let next = catalog.frame(next);
    let read = frame(catalog, "ntoskrnl.exe", "NtReadFile", Origin::Kernel);
    let collect = frame(catalog, "coreclr.dll", "GarbageCollect", Origin::Managed);
    let made = frame(catalog, "", "[jit] lambda_1", Origin::Jit);
    let unknown = frame(catalog, "driver.sys", "+0x1a2b", Origin::Unresolved);
    let stacks = [
        catalog.stack([start, handle, parse, next]),
        catalog.stack([start, handle, read]),
        catalog.stack([start, handle, read, unknown]),
        catalog.stack([start, collect, made]),
        StackId::NONE,
    ];
    let rows = [(main, 0, 40), (main, 1, 20), (worker, 2, 10), (worker, 3, 15), (client, 3, 10), (client, 4, 5)];
    let mut time = -1_000_000;
    for (thread, stack, samples) in rows {
        for _ in 0..samples {
            profile.samples.push(Sample { time, thread, stack: stacks[stack], weight: 1_000_000 });
            time += 1_000_000;
        }
    }
    let [reason, start_mark] = ["WrQueue", "Begin <test>"].map(|text| profile.catalog.string(text));
    let span = |kind, start: i64, end: i64, stack| Marker {
        kind,
        thread: Some(main),
        start,
        end: Some(end),
        name: reason,
        stack,
    };
    profile.markers.push(span(MarkerKind::Wait, 60_000_000, 90_000_000, Some(stacks[1])));
    profile.markers.push(span(MarkerKind::Ready, 90_000_000, 90_500_000, None));
    profile.markers.push(Marker {
        kind: MarkerKind::Mark,
        thread: None,
        start: 5_000_000,
        end: None,
        name: start_mark,
        stack: None,
    });
    profile
}

/// Every hostile name as process, thread, module, function and file.
pub fn hostile() -> Profile {
    let mut profile = Profile::new(about(HOSTILE[2]));
    for (at, name) in HOSTILE.iter().enumerate() {
        let at = at as u32;
        let catalog = &mut profile.catalog;
        let thread = thread(catalog, name, at, name, at + 100);
        let text = catalog.string(name);
        let outer = catalog.frame(Frame::named(text, Origin::User));
        let inner =
            catalog.frame(Frame { module: text, file: text, line: Some(at), ..Frame::named(text, Origin::Jit) });
        let stack = catalog.stack([outer, inner]);
        profile.samples.push(Sample { time: i64::from(at), thread, stack, weight: 1_000 });
        profile.markers.push(Marker {
            kind: MarkerKind::Mark,
            thread: Some(thread),
            start: i64::from(at),
            end: None,
            name: text,
            stack: Some(stack),
        });
    }
    profile
}

/// One stack of as many frames, of a function that calls itself, and a shorter one.
pub fn deep(frames: usize) -> Profile {
    let mut profile = Profile::new(about("deep"));
    let catalog = &mut profile.catalog;
    let thread = thread(catalog, "deep", 1, "main", 1);
    let frame = frame(catalog, "deep", "recurse", Origin::User);
    let stacks = [catalog.stack(vec![frame; frames]), catalog.stack(vec![frame; frames / 2])];
    for (time, stack) in stacks.into_iter().enumerate() {
        profile.samples.push(Sample { time: time as i64, thread, stack, weight: 1_000_000 });
    }
    profile
}

/// A profile like a recording of a busy server: `threads` threads, call trees that share their outer frames, and a few functions
/// that take most of the time. `functions` of them, or different ones by `seed`.
pub fn large(samples: usize, stacks: usize, seed: u64) -> Profile {
    const MODULES: [(&str, Origin); 7] = [
        ("server.exe", Origin::User),
        ("ntdll.dll", Origin::User),
        ("KERNELBASE.dll", Origin::User),
        ("coreclr.dll", Origin::Managed),
        ("System.Private.CoreLib.dll", Origin::Managed),
        ("ntoskrnl.exe", Origin::Kernel),
        ("tcpip.sys", Origin::Kernel),
    ];
    const VERBS: [&str; 10] =
        ["Read", "Parse", "Handle", "Write", "Flush", "Lookup", "Acquire", "Compress", "Copy", "Schedule"];
    const NOUNS: [&str; 9] =
        ["Request", "Buffer", "Row<T>", "Index", "Page", "Lock", "Stream", "Dictionary<K,V>", "Session"];
    let mut random = Random::new(seed);
    let mut profile = Profile::new(about("large.etl"));
    let catalog = &mut profile.catalog;
    let mut threads = Vec::new();
    for process in 0..6 {
        let name =
            ["server.exe", "sqlservr.exe", "MsMpEng.exe", "svchost.exe", "System", "client.exe"][process as usize];
        for at in 0..4 {
            threads.push(thread(
                catalog,
                name,
                1_000 + process * 4,
                &format!("worker {at}"),
                2_000 + process * 100 + at,
            ));
        }
    }
    let mut frames = Vec::new();
    for at in 0..3_000_usize {
        let (module, origin) = MODULES[at * MODULES.len() / 3_000];
        let (verb, noun) = (VERBS[at % VERBS.len()], NOUNS[at / VERBS.len() % NOUNS.len()]);
        let suffix = at / (VERBS.len() * NOUNS.len());
        let function =
            if suffix.is_multiple_of(2) { format!("{verb}{noun}") } else { format!("{noun}::{verb}{suffix}") };
        let (function, origin) =
            if at.is_multiple_of(37) { (format!("+0x{:x}", at * 64), Origin::Unresolved) } else { (function, origin) };
        let (function, module) = (catalog.string(&function), catalog.string(module));
        frames.push(catalog.frame(Frame { module, address: Some(at as u64 * 64), ..Frame::named(function, origin) }));
    }
    let mut ids: Vec<StackId> = Vec::with_capacity(stacks);
    let mut path: Vec<FrameId> = Vec::new();
    for _ in 0..stacks {
        // The next stack shares a part of this one and goes on with calls that its caller often makes.
        let keep = random.below(path.len() as u64 + 1) as usize;
        path.truncate(keep.max(random.below(4) as usize));
        let depth = 6 + random.below(34) as usize;
        while path.len() < depth {
            let level = path.len() as u64;
            let choices = 1 + random.below(6);
            let choice = random.below(choices) * random.below(2);
            let caller = path.last().map_or(0, |frame| frame.row() as u64);
            path.push(frames[((caller * 31 + level * 97 + choice * 211) % 2_999) as usize]);
        }
        ids.push(catalog.stack(path.iter().copied()));
    }
    profile.samples.reserve(samples);
    for at in 0..samples {
        let pick = (0..4).fold(stacks as u64, |bound, _| random.below(bound) + 1);
        let stack = ids[pick as usize - 1];
        let busy = random.below(24);
        let thread = threads[(busy * random.below(24) / 24) as usize];
        profile.samples.push(Sample { time: at as i64 * 50_000, thread, stack, weight: 1_000_000 });
    }
    profile
}
